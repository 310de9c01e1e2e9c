"""The server, and the colours of causes."""

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
    store: str
    has_store: bool
    read_only: bool
    allow_code: bool
    causes: list[CauseLook]
