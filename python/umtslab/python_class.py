"""Classes of the user's that the core finds again by their names."""

from __future__ import annotations

import json
import os


def place_of(given: type, argument: str) -> str:
    """The file of a class and its name in it, as scenarios have it; `argument` is what it was given as.

    Raises
    ------
    TypeError
        If it is no class.
    ValueError
        If it cannot be found again by its name in a file: made inside of a function, or typed at a prompt.
    """
    import inspect

    if not inspect.isclass(given):
        raise TypeError(f"{argument} is a class, not {given!r}")
    try:
        file = inspect.getsourcefile(given)
    except TypeError:
        file = None
    if file is None or not os.path.isfile(file) or "." in given.__qualname__:
        raise ValueError(
            f"{given.__qualname__} must stand in a file, outside of functions and other classes: "
            "a run is kept by what that file says"
        )
    return json.dumps(f"{os.path.abspath(file)}:{given.__name__}", ensure_ascii=False)
