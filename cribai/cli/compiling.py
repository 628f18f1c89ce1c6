"""Tells why the first game takes long: the engine's kernels are being compiled."""

import sys


def announce_compiling() -> None:
    """Prints a line on standard error when the kernels that play games are yet to be compiled."""
    from cribai._numba_cache import configure

    if not any(configure().rglob("simulate.step_*.nbi")):
        print("Compiling the engine (once, about 10 s) ...", file=sys.stderr, flush=True)
