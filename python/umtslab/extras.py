"""Optional libraries, their purpose, and how to install them."""

from __future__ import annotations

EXTRAS = {
    "distributed": ("umts sweep --dask", "dask"),
    "optuna": ("umts optimise", "optimise"),
    "SALib": ("umts sensitivity", "sensitivity"),
}
"""For each library the command that needs it, and the extra of this package that installs it."""


def how_to_install(library: str) -> str:
    """Return the command that installs a library from the source tree.

    The package is in no package index.
    """
    _, extra = EXTRAS[library]
    return f"pip install '.[{extra}]' in umtslab's source tree"


def missing_library_text(library: str, error: ImportError) -> str:
    """Return the error text for a command that needs a missing library."""
    needed_by, _ = EXTRAS[library]
    return f"{needed_by} needs {library}, which is not installed: {how_to_install(library)} ({error})"
