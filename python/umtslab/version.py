"""Which version runs: by itself, since who only tells it needs nothing else of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class CodeVersion:
    """Version, commit, and the fingerprint of the core's sources, which alone decides results."""

    version: str
    commit: str
    code: str

    def __str__(self) -> str:
        return f"{self.version}+{self.commit}"


@lru_cache(maxsize=1)
def code_version() -> CodeVersion:
    """The version that runs here."""
    from umtslab import _core

    found = _core.version()
    return CodeVersion(found["version"], found["commit"], found["code"])
