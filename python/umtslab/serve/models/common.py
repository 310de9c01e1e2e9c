"""Parts that the answers of several views share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(max_length=4000)]


class Model(BaseModel):
    """A model without unknown members."""

    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    """Why a request failed, in one sentence."""

    detail: str


class Part(Model):
    """One cause of a time budget."""

    cause: str
    label: str
    seconds: float
    text: str
    share_pct: float
    share_text: str


class Metric(Model):
    """A metric with the value as text."""

    name: str
    label: str
    unit: str
    value: float | None
    text: str


class Column(Model):
    """Heading of a column of metrics."""

    name: str
    label: str
    unit: str


class Curve(Model):
    """Values over time."""

    time_s: list[float]
    value: list[float]
