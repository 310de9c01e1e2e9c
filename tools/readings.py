"""Print tables of the verdicts on a document's claims under each interpretation of its open points.

    python tools/readings.py baiocchi2002 --out results/readings
    python tools/readings.py rendon2004 --jobs 1
    python tools/readings.py rendon2004 --of decision --of speed

An open point is a value or a rule that the document leaves open. ``reproductions/PAPER/readings.toml``
lists interpretations of such points, called readings there, other than the ones of the scenario
files. A reading changes settings, as ``umts reproduce PAPER --quick --set KEY=VALUE`` does, or
computes metrics of the same runs by other formulas. The file may set the number and the length of
the runs (``[runs]``), and define groups of claims (``[[group]]``). For each kind of group there is
a table of the numbers of claims that pass, fail and are inconclusive under each reading, and of
our mean. Runs are stored in the output folder, and stored runs are not repeated.
"""

from __future__ import annotations

import argparse
import fnmatch
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from umtslab.numbers import number
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.expression import parse
from umtslab.reproduce.plan import Metric, Plan
from umtslab.reproduce.report import changed_verdicts
from umtslab.reproduce.reproduction import Chapter, reproduce
from umtslab.reproduce.selection import Part, select
from umtslab.reproduce.verdict import Scored
from umtslab.store import Store, open_store

ROOT = Path(__file__).parents[1]

# The order of the numbers in a cell of the groups' tables.
_VERDICTS = [Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE]


def main() -> None:
    """Run every reading and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper")
    parser.add_argument(
        "--out", type=Path, default=Path("results/readings"), help="results folder for the runs"
    )
    parser.add_argument("--jobs", type=int, default=2, help="workers")
    parser.add_argument(
        "--of", action="append", help="only the interpretations of this open point; may be repeated"
    )
    options = parser.parse_args()
    readings = Readings.load(options.paper)
    if unknown := set(options.of or []) - set(readings.open_points):
        parser.error(
            f"no interpretation concerns {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(readings.open_points)}"
        )
    readings = readings.only(options.of or readings.open_points)
    outcomes = []
    print("| open point | interpretation | changed verdicts |\n|---|---|---|", flush=True)
    with open_store(options.out) as store:
        for reading in readings.readings:
            outcome = Outcome(reading, readings.outcome(reading, store, options.jobs))
            print(outcome.row(), flush=True)
            outcomes.append(outcome)
    for line in readings.tables(outcomes):
        print(line)


@dataclass(frozen=True)
class Outcome:
    """The claims that a reading concerns, scored without and with the reading."""

    reading: Mapping[str, Any]
    chapters: Sequence[Chapter]

    def row(self) -> str:
        """Return a row of the table: the claims with a changed verdict, by old and new verdict."""
        names_by_change: dict[str, dict[str, None]] = {}
        for chapter in self.chapters:
            for scored, changed in changed_verdicts(chapter):
                name = scored.claim.id.removeprefix(f"{chapter.paper}.")
                names_by_change.setdefault(f"{scored.verdict} → {changed.verdict}", {})[f"`{name}`"] = None
        parts = [f"{change}: {', '.join(names)}" for change, names in sorted(names_by_change.items())]
        return f"| {self.reading['of']} | {self.reading['is']} | {'; '.join(parts) or 'none'} |"


@dataclass(frozen=True)
class Readings:
    """Content of a document's ``readings.toml``: readings, runs and groups of claims."""

    paper: str
    readings: Sequence[Mapping[str, Any]]
    runs: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]

    @classmethod
    def load(cls, paper: str) -> Readings:
        """Load the readings of a document, in the order of its file."""
        path = ROOT / "reproductions" / paper / "readings.toml"
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(paper, content["reading"], content.get("runs", {}), content.get("group", []))

    @property
    def open_points(self) -> list[str]:
        """Open points that the readings concern, each once."""
        return list(dict.fromkeys(str(reading["of"]) for reading in self.readings))

    def only(self, points: Collection[str]) -> Readings:
        """Return a copy with only the readings of these open points."""
        return replace(self, readings=[reading for reading in self.readings if reading["of"] in points])

    # ── Running ─────────────────────────────────────────────────────────────────────────────────────────────

    def outcome(self, reading: Mapping[str, Any], store: Store, jobs: int) -> list[Chapter]:
        """Return the document's chapters, scored without and with a reading."""
        selection = [f"{self.paper}/{chapter}" for chapter in reading.get("only", [])] or [self.paper]
        parts = [_each_plan(part, self.with_runs) for part in select(ROOT / "reproductions", selection)]

        def run(parts: Sequence[Part], changes: Sequence[tuple[str, str]] = ()) -> list[Chapter]:
            return reproduce(parts, store=store, data=ROOT, quick=True, jobs=jobs, changes=changes)

        if "set" in reading:
            return run(parts, list(reading["set"].items()))
        changed_parts = [_with_formulas(part, reading["measured"]) for part in parts]
        pairs = zip(run(parts), run(changed_parts), strict=True)
        return [replace(chapter, changed=changed.scored) for chapter, changed in pairs]

    def with_runs(self, plan: Plan) -> Plan:
        """Return a plan with the number and length of runs from the file."""
        settings = {**plan.quick_settings, **self.runs.get("set", {})}
        return replace(plan, quick_runs=self.runs.get("number", plan.quick_runs), quick_settings=settings)

    # ── Tables ──────────────────────────────────────────────────────────────────────────────────────────────

    def tables(self, outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Yield the lines of the tables of groups of claims, one table for each `of`."""
        chapters = [chapter for outcome in outcomes for chapter in outcome.chapters]
        # A claim is in the chapters of several readings.
        scored = list({entry.claim.id: entry for chapter in chapters for entry in chapter.scored}.values())
        for of in dict.fromkeys(group["of"] for group in self.groups):
            groups = [group for group in self.groups if group["of"] == of]
            yield ""
            yield f"| {of} | " + " | ".join(group["is"] for group in groups) + " |"
            yield "|---" * (1 + len(groups)) + "|"
            yield self.line("the document", groups, scored, _document_mean)
            yield self.line("as scored", groups, scored, _counts)
            for outcome in outcomes:
                changed = [entry for chapter in outcome.chapters for entry in chapter.changed]
                if any(self.members(group, changed) for group in groups):
                    name = f"{outcome.reading['of']}: {outcome.reading['is']}"
                    yield self.line(name, groups, changed, _counts)

    def line(
        self,
        name: str,
        groups: Iterable[Mapping[str, Any]],
        entries: Sequence[Scored],
        summarise: Callable[[Sequence[Scored]], str],
    ) -> str:
        """Return a row of a table of groups. `summarise` formats the claims of a group."""
        return f"| {name} | " + " | ".join(summarise(self.members(group, entries)) for group in groups) + " |"

    def members(self, group: Mapping[str, Any], entries: Sequence[Scored]) -> list[Scored]:
        """Return the claims of a group."""
        patterns = [f"{self.paper}.{pattern}" for pattern in group["claims"]]
        return [
            entry
            for entry in entries
            if any(fnmatch.fnmatchcase(entry.claim.id, pattern) for pattern in patterns)
        ]


def _each_plan(part: Part, change: Callable[[Plan], Plan]) -> Part:
    return replace(part, plans=tuple(change(plan) for plan in part.plans))


def _with_formulas(part: Part, formulas: Mapping[str, str]) -> Part:
    """Return a part in which some metrics are computed by other formulas."""

    def change(plan: Plan) -> Plan:
        return replace(plan, metrics=tuple(changed(metric) for metric in plan.metrics))

    def changed(metric: Metric) -> Metric:
        formula = formulas.get(metric.name)
        return metric if formula is None or metric.inputs else replace(metric, expr=parse(formula))

    return _each_plan(part, change)


def _counts(entries: Sequence[Scored]) -> str:
    """Return how many claims pass, fail and are inconclusive, then our mean if all are numbers."""
    if not entries:
        return ""
    counted = Counter(entry.verdict for entry in entries)
    text = " / ".join(str(counted[verdict]) for verdict in _VERDICTS)
    values = [entry.ours[0].summary.mean for entry in entries if len(entry.ours) == 1]
    known = [value for value in values if value is not None]
    has_mean = all(entry.claim.kind == "value" for entry in entries) and len(known) == len(entries)
    return f"{text}: {number(sum(known) / len(known), 3)}" if has_mean else text


def _document_mean(entries: Sequence[Scored]) -> str:
    """Return the mean of the document's values if all are numbers."""
    values = [entry.claim.expected for entry in entries if entry.claim.kind == "value"]
    known = [value for value in values if not isinstance(value, str)]
    return number(sum(known) / len(known), 3) if known and len(known) == len(entries) else ""


if __name__ == "__main__":
    main()
