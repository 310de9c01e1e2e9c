"""Version of the program. Separate module, so that printing the version imports little."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class CodeVersion:
    """Version, commit, and a hash of the core's sources, which determine the results."""

    version: str
    commit: str
    code: str

    def __str__(self) -> str:
        return f"{self.version}+{self.commit}"


@lru_cache(maxsize=1)
def code_version() -> CodeVersion:
    """Return the version of the running program."""
    from umtslab import _core

    fields = _core.version()
    return CodeVersion(fields["version"], fields["commit"], fields["code"])
