"""Writes the description of the page's addresses: ``python -m umtslab.serve.openapi web/openapi.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from umtslab.serve.app import openapi


def text() -> str:
    """Return the description as JSON."""
    return json.dumps(openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
