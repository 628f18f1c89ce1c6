"""Compiled kernels over flat arrays: the one implementation of the rules.

Importing the package points numba at cribai's own cache folder first, before numba loads.
"""

from cribai._numba_cache import configure

configure()
