"""The server, and the looks of causes in all figures of the page."""

from __future__ import annotations

from umtslab.serve.models.common import Model


class CauseLook(Model):
    """Colour of a cause: names of a hue and of a hatch."""

    name: str
    label: str
    hue: str
    hatch: str


class About(Model):
    """The server."""

    version: str
    # Path of the store, and whether there is a store.
    store: str
    has_store: bool
    # Whether visitors can only look and try: the server keeps no runs and accepts no uploads.
    read_only: bool
    # Whether scenarios may name Python classes.
    allow_code: bool
    # The looks of all causes of time budgets.
    causes: list[CauseLook]
