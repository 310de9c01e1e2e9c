"""``umts schema``: the JSON Schema of scenario files."""

from __future__ import annotations


def schema() -> int:
    """Print the JSON Schema of scenario files, for editors that complete and check as one types."""
    from umtslab import _core

    print(_core.schema())
    return 0
