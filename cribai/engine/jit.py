"""How kernels are compiled: lazily, cached on disk, and the small ones inlined into the large.

`kernel` is for functions called from Python, `inlined` for the rules' steps that kernels call:
passing a record's array to a function that is not inlined costs as much as the step itself
(random play ran at 190,000 games a second without and 235,000 with).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])


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
