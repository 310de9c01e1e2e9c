"""Scenarios: files with overrides applied, checked by the core.

A `Scenario` keeps its origin. So it can be sent to another process, and each stored run can record
the command that repeats it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from umtslab import _core
from umtslab.overrides import OverridePairs, changes, changes_text, source_text
from umtslab.python_congestion import overrides_for as control_overrides
from umtslab.python_scheduler import overrides_for as scheduler_overrides
from umtslab.shipped import scenario_path

Overrides = Iterable[tuple[str, str]] | Mapping[str, object]
"""Pairs of dotted key and value (``("tcp.variant", "vegas")``), or a mapping, possibly nested."""


def normalise(overrides: Overrides) -> tuple[tuple[str, str], ...]:
    """Convert overrides to pairs of texts, in the given order."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides
    return tuple(pair for key, value in pairs for pair in _pairs(str(key), value))


def _pairs(key: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield a key with its value. For a mapping, yields each of its keys after this key and a dot."""
    if not isinstance(value, Mapping):
        yield key, _as_text(value)
        return
    for inner, content in value.items():
        yield from _pairs(f"{key}.{inner}", content)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


class Scenario:
    """A network, its users and their traffic.

    Build one with `load` or `parse`. Both raise `umtslab.ScenarioError` with a text that shows the
    line, states the rule and proposes a correction.
    """

    def __init__(
        self,
        core: _core.Scenario,
        *,
        path: str | None = None,
        text: str | None = None,
        label: str = "<text>",
        base_dir: str | None = None,
        overrides: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.core = core
        self.path = path
        self.overrides = overrides
        self._text = text
        self._label = label
        self._base_dir = base_dir

    @classmethod
    def load(cls, path: str | os.PathLike[str], overrides: Overrides = ()) -> Scenario:
        """Read a scenario file and apply overrides.

        A name without folder and ending, such as ``ftp-on-fach``, is a shipped scenario.
        """
        pairs = normalise(overrides)
        name = scenario_path(path)
        return cls(_core.Scenario.load(name, list(pairs)), path=name, overrides=pairs)

    @classmethod
    def parse(
        cls, text: str, *, name: str = "<text>", base_dir: str | None = None, overrides: Overrides = ()
    ) -> Scenario:
        """Read a scenario from TOML text.

        `base_dir` is the folder for files that the scenario names.
        """
        pairs = normalise(overrides)
        core = _core.Scenario.parse(text, name, base_dir, list(pairs))
        return cls(core, text=text, label=name, base_dir=base_dir, overrides=pairs)

    def with_overrides(self, overrides: Overrides) -> Scenario:
        """Return the scenario with more overrides, applied after the existing ones."""
        pairs = normalise(overrides)
        return Scenario(
            self.core.with_overrides(list(pairs)),
            path=self.path,
            text=self._text,
            label=self._label,
            base_dir=self._base_dir,
            overrides=self.overrides + pairs,
        )

    def with_congestion(self, control: type) -> Scenario:
        """Return the scenario with a class as its `umtslab.CongestionControl`.

        The class must be at the top level of a file. The file is read again for each run, and its
        content is part of the run's identity. Flows with a `variant` of their own keep it.
        """
        return self.with_overrides(control_overrides(control))

    def with_scheduler(self, scheduler: type, table: str = "cell.0.dsch") -> Scenario:
        """Return the scenario with a class as the scheduler of a shared channel.

        Parameters
        ----------
        scheduler : type
            The class: an `umtslab.Scheduler`, or for the DSCH of a layout an
            `umtslab.DschScheduler`. The requirements are those of `with_congestion`.
        table : str, default "cell.0.dsch"
            Table of the channel: ``"cell.0.dsch"`` for all cells of a layout, ``"cell.0.hs_dsch"``,
            ``"cell.0.fach"``, ``"cell.0.tdd.grant"`` or ``"bearer.0.downlink"``.
        """
        return self.with_overrides(scheduler_overrides(scheduler, table))

    @property
    def base_dir(self) -> str | None:
        """Folder for files that the scenario names. None is the working directory."""
        return self._base_dir if self.path is None else os.path.dirname(os.path.abspath(self.path))

    @property
    def name(self) -> str:
        """Short name, for example ``ftp-on-fach``."""
        return self.core.name

    @property
    def title(self) -> str:
        """Title in one line."""
        return self.core.title

    @property
    def source(self) -> str:
        """The document from which the scenario was taken."""
        return self.core.source

    @property
    def seed(self) -> int:
        """The scenario's own seed, used if the caller gives none."""
        return self.core.seed

    @property
    def duration_s(self) -> float:
        """Simulated time, in seconds."""
        return self.core.duration_s

    @property
    def warnings(self) -> list[str]:
        """Warnings that limit the trust in the results."""
        return self.core.warnings

    @cached_property
    def python_classes(self) -> list[tuple[str, bool]]:
        """Python classes in the scenario (``FILE:CLASS``), and whether an override names them."""
        if "python" not in self._toml:
            return []
        overridden = {text.strip("\"'") for key, text in self.overrides if key.rpartition(".")[2] == "python"}
        return [
            (name, name in overridden) for name in dict.fromkeys(named_classes(json.loads(self.to_json())))
        ]

    @property
    def capture_notes(self) -> list[str]:
        """Notes about users with captures of IP packets only, with the reason."""
        return self.core.capture_notes()

    @cached_property
    def content_hash(self) -> str:
        """Hash of the scenario after defaults and overrides, without comments."""
        return self.core.content_hash()

    def draw_traffic(
        self, flow: int, calls: int, *, seed: int | None = None, run: int = 0
    ) -> dict[str, float | None]:
        """Draw pages, files or packet calls of a flow without a network, and return their moments.

        Parameters
        ----------
        flow : int
            Number of the flow in the file, from 0.
        calls : int
            Number of pages, or of packet calls for a flow of datagrams.
        seed : int, optional
            Seed of the random streams; by default the scenario's own.
        run : int
            Number of the replication.

        Returns
        -------
        dict of str to float
            ``…_draws``, ``…_mean``, ``…_sd``, ``…_min``, ``…_max`` of ``main_object_bytes``,
            ``embedded_object_bytes``, ``embedded_objects_per_page``, ``reading_time_s``,
            ``parsing_time_s`` and ``segment_payload_bytes``. Sizes also have ``…_law_mean`` and
            ``…_law_sd``, the moments of the distribution itself. None if nothing was drawn. For
            packet calls the quantities are ``packet_bytes``, ``packet_interval_s``,
            ``packets_per_call`` and ``call_rate_kbps``, the rate within a call.

        Raises
        ------
        ValueError
            If there is no such flow, or it draws no pages.
        """
        moments = self.core.draw_traffic(flow, calls, self.seed if seed is None else seed, run)
        if moments is None:
            raise ValueError(
                f"{self.name}: flow {flow} draws no traffic: it fetches no pages, no files of random "
                "sizes and no packet calls"
            )
        return moments

    def draw_errors(self, blocks: int, *, seed: int | None = None, run: int = 0) -> dict[str, float | None]:
        """Send blocks to the first user without a network, and return statistics of their losses.

        Parameters
        ----------
        blocks : int
            Number of blocks, sent in consecutive full TTIs.
        seed : int, optional
            Seed of the random streams; by default the scenario's own.
        run : int
            Number of the replication.

        Returns
        -------
        dict of str to float
            ``blocks``, ``bler_pct``, ``mean_burst_blocks`` and ``mean_gap_blocks`` (mean lengths of
            sequences of lost and of received blocks), ``block_correlation`` (correlation of the
            losses of adjacent blocks).
        """
        return self.core.draw_errors(blocks, self.seed if seed is None else seed, run)

    def to_toml(self) -> str:
        """Return the whole scenario with defaults as TOML, which loads again."""
        return self._toml

    @cached_property
    def _toml(self) -> str:
        return self.core.to_toml()

    @cached_property
    def parameters(self) -> str:
        """The content of `to_toml` as one JSON object."""
        return self.core.parameters()

    def to_json(self) -> str:
        """Return the whole scenario with defaults as one JSON object."""
        return self.core.to_json()

    @property
    def changes(self) -> OverridePairs:
        """The overrides except those that only select what is recorded. Each key occurs once."""
        return changes(self.overrides)

    def _repr_html_(self) -> str:
        from umtslab.notebook import caption, folded, preformatted

        changed = self.changes
        duration = f"{self.name}, {self.duration_s:g} s, seed {self.seed}"
        lines = (duration, changes_text(changed), source_text(self.source, changed), *self.warnings)
        head = caption(self.title or self.name, *lines)
        return head + folded("all values, defaults included", preformatted(self.to_toml()))

    def __reduce__(self) -> tuple[object, ...]:
        path = None if self.path is None else os.path.abspath(self.path)
        return _restore, (path, self._text, self._label, self._base_dir, self.overrides)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, {self.content_hash[:12]})"


def _restore(
    path: str | None,
    text: str | None,
    label: str,
    base_dir: str | None,
    overrides: tuple[tuple[str, str], ...],
) -> Scenario:
    if path is not None:
        return Scenario.load(path, overrides)
    return Scenario.parse(text or "", name=label, base_dir=base_dir, overrides=overrides)


def named_classes(content: object) -> Iterator[str]:
    """Yield the values of keys ``python``.

    In a table with a `variant`, only if it is ``python``.
    """
    if isinstance(content, list):
        for item in content:
            yield from named_classes(item)
    elif isinstance(content, dict):
        name = content.get("python")
        if isinstance(name, str) and name and content.get("variant", "python") == "python":
            yield name
        for item in content.values():
            yield from named_classes(item)


class CodeNotAllowed(ValueError):
    """A scenario names Python classes that the user has not allowed."""


def refuse_code(scenario: Scenario, *, allow_in_overrides: bool = True) -> None:
    """Refuse a scenario that names Python classes. They are programs with all rights of the user.

    Parameters
    ----------
    scenario : Scenario
        The scenario to run.
    allow_in_overrides : bool, default True
        Whether classes are allowed that an override names, for example on the command line.

    Raises
    ------
    CodeNotAllowed
        If the scenario names a class that is not allowed.
    """
    refused = [
        name for name, by_override in scenario.python_classes if not (by_override and allow_in_overrides)
    ]
    if refused:
        raise CodeNotAllowed(
            f"{scenario.name} names Python code, which runs as a program with your rights: "
            f"{', '.join(refused)}; read it, and add --allow-code if you trust it"
        )


def as_scenario(scenario: Scenario | str | os.PathLike[str]) -> Scenario:
    """Return a scenario unchanged, or load the file of this name."""
    return scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
