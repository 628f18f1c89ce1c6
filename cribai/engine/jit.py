"""How kernels are compiled: lazily, cached on disk, and the small ones inlined into the large.

`kernel` is for functions called from Python, `inlined` for the rules' steps that kernels call:
passing a record's array to a function that is not inlined costs as much as the step itself
(random play ran at 190,000 games a second without and 235,000 with).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast

from numba import njit
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])

VARIED_MARK: Final = "varied"
"""The field by which the record of varied rules is another type to the compiler."""


def kernel(function: F) -> F:
    """Compiles a function on its first call and keeps the result on disk."""
    return cast("F", njit(cache=True)(function))


def inlined(function: F) -> F:
    """Compiles a function into whichever kernel calls it, and by itself if Python calls it.

    An overload needs no entry from Python, and a constant argument gives it no further version:
    the first compile of a tournament takes a third less than with kernels that call kernels.
    """
    compiled = kernel(function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return compiled(*arguments)

    options: Any = {"forceinline": True, "no_cfunc_wrapper": True}
    overload(call, jit_options=options, strict=False)(lambda *_: function)
    return cast("F", call)


def varied(absent: int) -> Callable[[F], F]:
    """Makes a step that only varied rules have, see `Rules.is_varied`.

    Under other rules, which the compiler tells by the type of their record, a call of it is a
    constant, so that the standard game neither waits for the variants nor compiles them.

    Args:
        absent: What a call returns under rules that are not varied.
    """

    def decorate(function: F) -> F:
        compiled = kernel(function)

        @wraps(function)
        def call(*arguments: Any) -> Any:
            marks = (getattr(getattr(value, "dtype", None), "names", None) for value in arguments)
            if any(VARIED_MARK in (names or ()) for names in marks):
                return compiled(*arguments)
            return absent

        def choose(*types: Any) -> Any:
            if any(VARIED_MARK in getattr(kind, "fields", ()) for kind in types):
                return function
            return lambda *_: absent

        options: Any = {"no_cfunc_wrapper": True}
        overload(call, jit_options=options, strict=False)(choose)
        return cast("F", call)

    return decorate


@varied(absent=False)
def is_varied(rules: Any) -> bool:  # noqa: ARG001 -- its type is what matters
    """Tells whether a RULES record is that of varied rules; a constant to the compiler."""
    return True
