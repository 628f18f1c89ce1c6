"""Tells why the first run takes long: kernels are being compiled."""

import sys


def announce_compiling(kernel: str = "simulate.step_") -> None:
    """Prints a line on standard error when kernels are yet to be compiled.

    Args:
        kernel: How the files of one that the command needs begin; by default of one that plays.
    """
    from cribai._numba_cache import configure

    if not any(configure().rglob(f"{kernel}*.nbi")):
        print("Compiling the engine (once, about 10 s) ...", file=sys.stderr, flush=True)
