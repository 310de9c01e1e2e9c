"""Classes of the user, identified by file and name."""

from __future__ import annotations

import json
import os


def file_and_name(cls: type, argument: str) -> str:
    """Return file and name of a class in the form of a scenario value (``"FILE:CLASS"``).

    Parameters
    ----------
    cls : type
        The class.
    argument : str
        Name of the argument, for error messages.

    Raises
    ------
    TypeError
        If `cls` is not a class.
    ValueError
        If the class is not at the top level of a file, for example defined in a function or at a
        prompt.
    """
    import inspect

    if not inspect.isclass(cls):
        raise TypeError(f"{argument} must be a class, not {cls!r}")
    try:
        file = inspect.getsourcefile(cls)
    except TypeError:
        file = None
    if file is None or not os.path.isfile(file) or "." in cls.__qualname__:
        raise ValueError(
            f"{cls.__qualname__} must be defined in a file, outside functions and other classes: "
            "the content of that file identifies the run"
        )
    return json.dumps(f"{os.path.abspath(file)}:{cls.__name__}", ensure_ascii=False)
