"""Campaigns of a store as tables: ``campaigns`` with a row each, ``points`` with a row per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.columns_of_keys import column
from umtslab.store.seal import unsealed

if TYPE_CHECKING:
    import polars as pl

_POINT_COLUMNS = ("campaign", "point", "label", "key")


def campaign_content(path: Path) -> dict[str, Any]:
    """Read the record of a campaign.

    Raises
    ------
    ValueError
        If it is damaged, or cannot be read.
    """
    content = unsealed(path)
    if not _is_record(content):
        raise ValueError(f"{path.name} is not a record of a campaign")
    return content


def _is_record(content: Mapping[str, Any]) -> bool:
    points = content.get("points")
    return (
        all(isinstance(content.get(key), str) for key in ("name", "title"))
        and isinstance(seed := content.get("seed"), int)
        and 0 <= seed < 2**64
        and _are_texts(content.get("axes"))
        and _are_texts(content.get("metrics", []))
        and isinstance(points, list)
        and all(
            isinstance(point, dict)
            and isinstance(point.get("parameters"), dict)
            and _are_texts(point.get("runs"))
            for point in points
        )
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def campaigns_frame(campaigns: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return one row per campaign: name, title, seed, keys, metrics, numbers of points and runs."""
    import polars as pl

    schema: dict[str, Any] = {
        "campaign": pl.String,
        "title": pl.String,
        "seed": pl.UInt64,
        "axes": pl.List(pl.String),
        "metrics": pl.List(pl.String),
        "points": pl.Int64,
        "runs": pl.Int64,
    }
    rows = [
        (
            campaign["name"],
            campaign["title"],
            campaign["seed"],
            list(campaign["axes"]),
            list(campaign.get("metrics", ())),
            len(campaign["points"]),
            sum(len(point["runs"]) for point in campaign["points"]),
        )
        for campaign in campaigns
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def points_frame(campaigns: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return one row per run of each point. A point without runs has one row with a null ``key``.

    Each varied key is a column, null if the campaign does not vary it. A quantity is a number in s,
    bit/s or B.
    """
    import polars as pl

    names, numbers, parameters, run_keys = [], [], [], []
    for campaign in campaigns:
        for number, point in enumerate(campaign["points"]):
            for run_key in point["runs"] or [None]:
                names.append(campaign["name"])
                numbers.append(number)
                parameters.append(point["parameters"])
                run_keys.append(run_key)
    labels = [", ".join(f"{key} = {value}" for key, value in values.items()) for values in parameters]
    content = {
        "campaign": pl.Series(names, dtype=pl.String),
        "point": pl.Series(numbers, dtype=pl.Int64),
        "label": pl.Series(labels, dtype=pl.String),
        "key": pl.Series(run_keys, dtype=pl.String),
    }
    axes = sorted({key for values in parameters for key in values}.difference(_POINT_COLUMNS))
    varied = {key: column(key, [values.get(key) for values in parameters]) for key in axes}
    return pl.DataFrame({**content, **varied})
