"""Large pages for the emulator's memory.

The emulator sleeps between TTIs. Meanwhile other processes evict its pages from the TLB of the
processor. Fewer, larger pages need fewer TLB entries.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

_VARIABLE = "GLIBC_TUNABLES"
_LARGE = "glibc.malloc.hugetlb=1"
"""Lets `malloc` advise huge pages. Needs glibc 2.35; other C libraries ignore the variable. The
kernel follows the advice if its mode of transparent huge pages is `madvise`."""


def with_large_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """Environment of a process with large pages. The user's own setting takes precedence."""
    return {_VARIABLE: _LARGE, **environment}


def forget(environment: MutableMapping[str, str]) -> None:
    """Remove the setting from the environment, so that child processes do not inherit it."""
    if environment.get(_VARIABLE) == _LARGE:
        del environment[_VARIABLE]
