"""Print the verdicts on a document's claims under each reading of its open points, in tables.

    python tools/readings.py baiocchi2002 --out results/readings
    python tools/readings.py rendon2004 --jobs 1
    python tools/readings.py rendon2004 --of decision --of speed

``reproductions/PAPER/readings.toml`` lists the readings. A reading changes settings, as ``umts
reproduce PAPER --quick --set KEY=VALUE`` does, or measures the same runs in another way. The file
may set the number and the length of the runs (``[runs]``), and define groups of claims
(``[[group]]``). For each kind of group there is a table of the numbers of claims that pass, fail
and are inconclusive under each reading, and of our mean. Runs are stored in the output folder, and
stored runs are not repeated.
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

# The order in a cell of the groups' tables.
_COUNTED = [Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE]


def main() -> None:
    """Run every reading and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper")
    parser.add_argument("--out", type=Path, default=Path("results/readings"), help="where the runs are kept")
    parser.add_argument("--jobs", type=int, default=2, help="workers")
    parser.add_argument("--of", action="append", help="only the readings of this open point; may be repeated")
    words = parser.parse_args()
    listed = Listed.of(words.paper)
    if unknown := set(words.of or []) - set(listed.open_points):
        parser.error(
            f"no reading is of {', '.join(sorted(unknown))}; there are: {', '.join(listed.open_points)}"
        )
    listed = listed.only(words.of or listed.open_points)
    outcomes = []
    print("| open point | reading | changed verdicts |\n|---|---|---|", flush=True)
    with open_store(words.out) as store:
        for reading in listed.readings:
            outcome = Outcome(reading, listed.outcome(reading, store, words.jobs))
            print(outcome.row(), flush=True)
            outcomes.append(outcome)
    for line in listed.tables(outcomes):
        print(line)


@dataclass(frozen=True)
class Outcome:
    """The claims that a reading concerns, as scored and with the reading."""

    reading: Mapping[str, Any]
    chapters: Sequence[Chapter]

    def row(self) -> str:
        """Return a row of the table: the claims with a changed verdict, by old and new verdict."""
        ways: dict[str, dict[str, None]] = {}
        for chapter in self.chapters:
            for scored, changed in changed_verdicts(chapter):
                name = scored.claim.id.removeprefix(f"{chapter.paper}.")
                ways.setdefault(f"{scored.verdict} → {changed.verdict}", {})[f"`{name}`"] = None
        words = [f"{way}: {', '.join(names)}" for way, names in sorted(ways.items())]
        return f"| {self.reading['of']} | {self.reading['is']} | {'; '.join(words) or 'none'} |"


@dataclass(frozen=True)
class Listed:
    """The readings of a document, with the runs and groups of claims in its file."""

    paper: str
    readings: Sequence[Mapping[str, Any]]
    runs: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, paper: str) -> Listed:
        """Load the readings of a document, in the order of its file."""
        path = ROOT / "reproductions" / paper / "readings.toml"
        top = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(paper, top["reading"], top.get("runs", {}), top.get("group", []))

    @property
    def open_points(self) -> list[str]:
        """Open points that the readings concern, each once."""
        return list(dict.fromkeys(str(reading["of"]) for reading in self.readings))

    def only(self, points: Collection[str]) -> Listed:
        """Return a copy with only the readings of these open points."""
        return replace(self, readings=[reading for reading in self.readings if reading["of"] in points])

    # ── Running ─────────────────────────────────────────────────────────────────────────────────────────────

    def outcome(self, reading: Mapping[str, Any], store: Store, jobs: int) -> list[Chapter]:
        """Return the document's chapters, as scored and with a reading."""
        selection = [f"{self.paper}/{place}" for place in reading.get("only", [])] or [self.paper]
        parts = [self.part(part) for part in select(ROOT / "reproductions", selection)]

        def run(parts: Sequence[Part], changes: Sequence[tuple[str, str]] = ()) -> list[Chapter]:
            return reproduce(parts, store=store, data=ROOT, quick=True, jobs=jobs, changes=changes)

        if "set" in reading:
            return run(parts, list(reading["set"].items()))
        measured = [_measured_otherwise(part, reading["measured"]) for part in parts]
        both = zip(run(parts), run(measured), strict=True)
        return [replace(as_scored, changed=otherwise.scored) for as_scored, otherwise in both]

    def part(self, part: Part) -> Part:
        """Return a part of the document with the number and length of runs from the file."""
        return _each_plan(part, self.with_runs)

    def with_runs(self, plan: Plan) -> Plan:
        """Return a plan with the number and length of runs from the file."""
        settings = {**plan.quick_settings, **self.runs.get("set", {})}
        return replace(plan, quick_runs=self.runs.get("number", plan.quick_runs), quick_settings=settings)

    # ── Tables ──────────────────────────────────────────────────────────────────────────────────────────────

    def tables(self, outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Yield the lines of the tables of groups of claims, one table for each `of`."""
        for of in dict.fromkeys(group["of"] for group in self.groups):
            groups = [group for group in self.groups if group["of"] == of]
            scored = list({e.claim.id: e for o in outcomes for c in o.chapters for e in c.scored}.values())
            yield ""
            yield f"| {of} | " + " | ".join(group["is"] for group in groups) + " |"
            yield "|---" * (1 + len(groups)) + "|"
            yield self.line("the document", groups, scored, _stated)
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
        tell: Callable[[Sequence[Scored]], str],
    ) -> str:
        """Return a row of such a table."""
        return f"| {name} | " + " | ".join(tell(self.members(group, entries)) for group in groups) + " |"

    def members(self, group: Mapping[str, Any], entries: Sequence[Scored]) -> list[Scored]:
        """Return the claims of a group."""
        patterns = [f"{self.paper}.{pattern}" for pattern in group["claims"]]
        return [e for e in entries if any(fnmatch.fnmatchcase(e.claim.id, like) for like in patterns)]


def _each_plan(part: Part, change: Callable[[Plan], Plan]) -> Part:
    return replace(part, plans=tuple(change(plan) for plan in part.plans))


def _measured_otherwise(part: Part, formulas: Mapping[str, str]) -> Part:
    """Return a part in which some metrics are computed by other formulas."""

    def change(plan: Plan) -> Plan:
        return replace(plan, metrics=tuple(otherwise(metric) for metric in plan.metrics))

    def otherwise(metric: Metric) -> Metric:
        formula = formulas.get(metric.name)
        return metric if formula is None or metric.inputs else replace(metric, expr=parse(formula))

    return _each_plan(part, change)


def _counts(entries: Sequence[Scored]) -> str:
    """Return how many claims pass, fail and are inconclusive, then our mean if all are numbers."""
    if not entries:
        return ""
    counted = Counter(entry.verdict for entry in entries)
    words = " / ".join(str(counted[verdict]) for verdict in _COUNTED)
    values = [entry.ours[0].summary.mean for entry in entries if len(entry.ours) == 1]
    known = [value for value in values if value is not None]
    is_number = all(entry.claim.kind == "value" for entry in entries) and len(known) == len(entries)
    return f"{words}: {number(sum(known) / len(known), 3)}" if is_number else words


def _stated(entries: Sequence[Scored]) -> str:
    """Return the mean of the document's values if all are numbers."""
    values = [entry.claim.expected for entry in entries if entry.claim.kind == "value"]
    known = [value for value in values if not isinstance(value, str)]
    return number(sum(known) / len(known), 3) if known and len(known) == len(entries) else ""


if __name__ == "__main__":
    main()
