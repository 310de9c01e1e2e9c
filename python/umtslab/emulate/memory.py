"""Large pages for the emulator's memory.

It sleeps between TTIs, and whatever ran meanwhile has taken the place of its pages in the processor's tables.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

_VARIABLE = "GLIBC_TUNABLES"
_LARGE = "glibc.malloc.hugetlb=1"
"""From glibc 2.35 on; others do not look at it. The kernel gives what its mode allows (`madvise`)."""


def with_large_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that is to have them, unless its user has set the C library otherwise."""
    return {_VARIABLE: _LARGE, **environment}


def forget(environment: MutableMapping[str, str]) -> None:
    """Take it out of the environment of a process that has begun: what it starts is not meant."""
    if environment.get(_VARIABLE) == _LARGE:
        del environment[_VARIABLE]
