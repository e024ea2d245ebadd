"""What the garbage collector need not walk: the modules of a process, which live as long as it does."""

import gc
from functools import cache


@cache
def spare_what_is_loaded() -> None:
    """Keep all that exists now out of later collections; once in a process, when its imports are done.

    Two hundred thousand objects are walked at each full collection otherwise, a sixth of the CPU of a process
    that makes many model calls. Blocks for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
