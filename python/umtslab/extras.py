"""Libraries that not everybody needs: what each is for, and how to install it."""

from __future__ import annotations

EXTRAS = {
    "distributed": ("umts sweep --dask", "dask"),
    "optuna": ("umts optimise", "optimise"),
    "SALib": ("umts sensitivity", "sensitivity"),
}
"""By library: what needs it, and the extra of this package that brings it."""


def how_to_install(library: str) -> str:
    """The command, to be typed in the source tree: the package is in no index."""
    _, extra = EXTRAS[library]
    return f"pip install '.[{extra}]' in umtslab's source tree"


def lacking(library: str, error: ImportError) -> str:
    """The sentence for who asked for something that needs the library."""
    needed_by, _ = EXTRAS[library]
    return f"{needed_by} needs {library}, which is not installed: {how_to_install(library)} ({error})"
