"""Campaign files: a scenario, the keys that vary, and the number of runs of each point.

The file varies keys in ``[grid]`` (every combination), ``[zip]`` (lists that are combined value by
value) and ``[[list]]`` (single rows). ``where`` selects points. A point is one combination of values.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from umtslab.campaign.errors import CampaignError
from umtslab.campaign.table import Table, Value, location_in, no_overlap, read_toml
from umtslab.campaign.where import Where
from umtslab.metrics import units, unknown_metric_text
from umtslab.precision import Precision

SCENARIO = "scenario"
"""The only parameter that is not a scenario key: a scenario file."""

PARTS = ("grid", "zip", "list")
"""The tables of a campaign file that vary keys."""

MAX_POINTS = 1_000_000
MAX_RUNS = 10_000_000
"""Maximum number of runs of one campaign. More would take minutes to list and weeks to run."""


_MAX_NAME_LENGTH = 120
"""Maximum length of a name made of keys, in characters. Longer names end with a digest."""

_DIVIDE = "divide the campaign, and check the parts with --plan"


@dataclass(frozen=True)
class Campaign:
    """A campaign: scenario, parameters and number of runs.

    The points are every combination of a value of each key of `grid`, a row of `zipped` and a row
    of `listed` for which `where` holds. Within `grid`, the last key varies fastest.
    """

    name: str
    scenario: Path
    title: str = ""
    source: Path | None = None
    seed: int | None = None
    runs: int = 1
    precision: Precision | None = None
    series: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    zipped: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    listed: Sequence[Mapping[str, Value]] = ()
    where: str = ""
    metrics: tuple[str, ...] = ()
    """Metrics of tables, pages and figures; empty for the default, `umtslab.headline_metrics.main_metric`."""
    named: bool = True
    """Whether a user chose the name. Otherwise it is made of the varied keys."""
    allow_code: bool = True
    """Whether scenarios may name Python classes, which run as programs."""
    allow_typed_code: bool = False
    """Whether overrides may name Python classes if `allow_code` is false."""

    @property
    def axes(self) -> tuple[str, ...]:
        """Varied keys, in the order of the file."""
        return tuple(dict.fromkeys([*self.grid, *self.zipped, *(key for row in self.listed for key in row)]))

    def combination_count(self) -> int:
        """Return the number of combinations before `where` is applied."""
        zipped = next((len(values) for values in self.zipped.values()), 1)
        return math.prod(map(len, self.grid.values())) * zipped * (len(self.listed) or 1)

    def combinations(self) -> list[dict[str, Value]]:
        """Return the points as values by key.

        Raises
        ------
        CampaignError
            If `where` is not a condition, or no point fulfils it.
        """
        points = list(self.each_combination())
        if not points:
            count = self.combination_count()
            raise CampaignError(
                f"{self.location_of('where')}: where = {self.where!r} excludes all {count} points"
            )
        return points

    def each_combination(self) -> Iterator[dict[str, Value]]:
        """Yield the points one by one.

        Raises
        ------
        CampaignError
            If `where` is not a condition.
        """
        return (point for point in self.each_candidate() if point is not None)

    def each_candidate(self) -> Iterator[dict[str, Value] | None]:
        """Yield every combination, or None for one that `where` excludes.

        Raises
        ------
        CampaignError
            If `where` is not a condition.
        """
        try:
            condition = Where(self.where, self.axes) if self.where else None
            for point in self._all_combinations():
                yield point if condition is None or condition.holds(point) else None
        except CampaignError as error:
            raise CampaignError(f"{self.location_of('where')}: {error}") from error

    def _all_combinations(self) -> Iterator[dict[str, Value]]:
        """Yield every combination."""
        zipped = [dict(zip(self.zipped, row, strict=True)) for row in zip(*self.zipped.values(), strict=True)]
        products = itertools.product(*self.grid.values(), zipped or [{}], self.listed or [{}])
        return (self._point(list(values)) for values in products)

    def check_size(self) -> None:
        """Refuse a campaign with too many points or runs.

        Raises
        ------
        CampaignError
            If it has more than `MAX_POINTS` or `MAX_RUNS`.
        """
        points = self.combination_count()
        runs_per_point = self.runs if self.precision is None else self.precision.most
        if points > MAX_POINTS:
            raise CampaignError(f"{self}: {points:,} points exceed the limit of {MAX_POINTS:,}: {_DIVIDE}")
        if points * runs_per_point > MAX_RUNS:
            raise CampaignError(
                f"{self}: {points * runs_per_point:,} runs exceed the limit of {MAX_RUNS:,}: {_DIVIDE}"
            )

    def with_parameters(self, parameters: Mapping[str, Sequence[Value]]) -> Campaign:
        """Return the campaign with more keys of the grid, or other values for them."""
        varied_keys = [*self.zipped, *(key for row in self.listed for key in row)]
        if (key := no_overlap(parameters, varied_keys)) is not None:
            raise CampaignError(f"{self}: {key} is in [zip] or [[list]] and cannot be varied with -P")
        settings = {key: value for key, value in self.settings.items() if key not in parameters}
        return replace(self, grid={**self.grid, **parameters}, settings=settings)._named_by_keys()

    def _named_by_keys(self) -> Campaign:
        """Return a copy named after its scenario and varied keys, unless a user chose its name."""
        return self if self.named else replace(self, name=name_of_keys(self.scenario.stem, self.axes))

    def with_settings(self, settings: Iterable[tuple[str, Value]]) -> Campaign:
        """Return the campaign with other values for keys that are not varied."""
        chosen = dict(settings)
        if (key := no_overlap(chosen, self.axes)) is not None:
            raise CampaignError(f"{self}: {key} is varied; use -P {key}={chosen[key]} to give it one value")
        return replace(self, settings={**self.settings, **chosen})

    def with_condition(self, condition: str) -> Campaign:
        """Return the campaign with only those points that fulfil a further condition.

        Raises
        ------
        CampaignError
            If the text is not a condition over the varied keys.
        """
        Where(condition, self.axes)
        return replace(self, where=f"({self.where}) and ({condition})" if self.where else condition)

    def _point(self, values: list[object]) -> dict[str, Value]:
        """Merge a combination into a point: the values of `grid`, a row of `zipped`, a row of `listed`."""
        *grid_values, zipped, listed = values
        point = dict(zip(self.grid, grid_values, strict=True))
        for row in (zipped, listed):
            assert isinstance(row, Mapping), "rows come last"
            point.update(row)
        return {key: point[key] for key in self.axes if key in point}  # type: ignore[misc]

    def location_of(self, key: str) -> str:
        """Return file and line of a key, if known."""
        if self.source is None:
            return self.name
        return location_in(self.source, key, ("", *PARTS, "set"))

    def __str__(self) -> str:
        return str(self.source or self.name)


def load_campaign(path: Path) -> Campaign:
    """Read a campaign file. A scenario file is a campaign without varied keys.

    Raises
    ------
    CampaignError
        If the file cannot be read, a key is unknown, or a value is wrong.
    """
    table = read_toml(path)
    if SCENARIO not in table and not any(part in table for part in PARTS):
        return Campaign(name_of_keys(path.stem, ()), path, named=False)
    table.version()
    campaign = Campaign(
        name=table.text("name", path.stem),
        scenario=Path(os.path.normpath(path.parent / table.text(SCENARIO))),
        title=table.text("title", ""),
        source=path,
        seed=table.whole("seed", None) if "seed" in table else None,
        runs=table.whole("runs", 1, minimum=1),
        precision=read_precision(table),
        series=table.boolean("series", False),
        settings=table.table("set").values(),
        grid=table.table("grid").lists(),
        zipped=table.table("zip").lists(may_repeat=True),
        listed=[row.values() for row in table.rows("list")],
        where=table.text("where", ""),
        metrics=read_metrics(table),
    )
    check_name(table, campaign.name)
    table.done()
    _check(table, campaign)
    return campaign


def name_of_keys(scenario: str, keys: Sequence[str]) -> str:
    """Return the name of a campaign without a file: ``ftp-on-fach-by-radio.bler-tcp.variant``."""
    name = f"{scenario}-by-{'-'.join(keys)}" if keys else f"{scenario}-sweep"
    return shortened(re.sub(r"[^\w.+-]", "_", name), name)


def shortened(text: str, name: str) -> str:
    """Shorten a text that is part of a file name.

    A long text is cut and followed by a digest of `name`.
    """
    if len(text) <= _MAX_NAME_LENGTH:
        return text
    return f"{text[:_MAX_NAME_LENGTH]}-{blake2b(name.encode(), digest_size=4).hexdigest()}"


def read_precision(table: Table) -> Precision | None:
    """Read the table ``[precision]``, if there is one."""
    if "precision" not in table:
        return None
    inner = table.table("precision")
    relative = inner.text("relative")
    metric = inner.text("metric", "goodput_kbps")
    target = Precision(
        _share(inner, relative),
        metric,
        least=inner.whole("least", default=5, minimum=2),
        most=inner.whole("most", default=200, minimum=2),
    )
    inner.done()
    check_metric(inner, "metric", metric)
    if target.most < target.least:
        raise inner.wrong("most", f"the maximum of {target.most} runs is below the minimum of {target.least}")
    return target


def read_metrics(table: Table) -> tuple[str, ...]:
    """Read the key ``metrics``, if there is one: names of metrics without repetitions."""
    if "metrics" not in table:
        return ()
    names = [str(name) for name in table.listed("metrics")]
    for name in names:
        check_metric(table, "metrics", name)
        if names.count(name) > 1:
            raise table.wrong("metrics", f"{name} is listed twice")
    return tuple(names)


def check_metric(table: Table, key: str, metric: str) -> None:
    """Refuse a metric that does not exist."""
    if metric not in units():
        raise table.wrong(key, unknown_metric_text(metric))


def check_name(table: Table, name: str) -> None:
    """Refuse a name that cannot be a file name."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise table.wrong("name", f"{name!r} cannot be used as a file name")


def _share(table: Table, text: str) -> float:
    """Read a percentage or a fraction, as in "5%" or "0.05"."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise table.wrong("relative", f'{text!r} is not a percentage between 0 and 100, such as "5%"')
    return value


def _check(table: Table, campaign: Campaign) -> None:
    """Check the parts of a campaign against each other: lengths, overlapping keys, forbidden keys."""
    lengths = {len(values) for values in campaign.zipped.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"{key} has {len(values)}" for key, values in campaign.zipped.items())
        raise table.wrong(
            "zip", f"the lists are combined value by value, so they must have equal lengths: {listed}"
        )
    rows = Counter(tuple(map(str, row)) for row in zip(*campaign.zipped.values(), strict=True))
    if repeated := [", ".join(row) for row, count in rows.items() if count > 1]:
        raise table.wrong(
            "zip", f"the row {repeated[0]} is listed twice: rows must differ in at least one key"
        )
    if any(not row for row in campaign.listed):
        raise table.wrong("list", "a row of [[list]] is empty")
    parts = {
        "set": set(campaign.settings),
        "grid": set(campaign.grid),
        "zip": set(campaign.zipped),
        "list": {key for row in campaign.listed for key in row},
    }
    for first, second in itertools.combinations(parts, 2):
        if (key := no_overlap(sorted(parts[first]), parts[second])) is not None:
            raise CampaignError(
                f"{campaign.location_of(key)}: {key}: values are given both in [{first}] and in [{second}]"
            )
    if any("seed" in keys for keys in parts.values()):
        raise table.wrong("seed", "the seed cannot be varied, because all points use the same random streams")
    if SCENARIO in campaign.settings:
        raise table.wrong(SCENARIO, "`scenario` belongs at the top of the file, not in [set]")
