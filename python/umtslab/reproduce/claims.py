"""The claims of a document: all its checkable statements about results, read from `claims.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from umtslab.reproduce import toml
from umtslab.reproduce.errors import BadData, UnknownSelection
from umtslab.reproduce.labels import Label, load_labels
from umtslab.reproduce.reasons import Reason, load_reasons

Value = str | int | float
Kind = Literal["value", "ratio", "order", "trend", "bound"]
Confidence = Literal["stated", "read-from-text", "qualitative"]

_FIELDS = {
    "id",
    "where",
    "statement",
    "kind",
    "metric",
    "conditions",
    "expected",
    "tolerance",
    "confidence",
    "note",
}


@dataclass(frozen=True)
class Claim:
    """One statement of a document. ``reproductions/README.md`` describes the fields in detail."""

    id: str
    """Document, place in the document, and name: ``baiocchi2002.fig4.no-retr-increasing``."""
    where: str
    """Section or figure of the document."""
    statement: str
    kind: Kind
    metric: str
    """The quantity of the statement, a metric of a run or of the plan."""
    conditions: Mapping[str, Value | list[Value]]
    """Parameters with the values for which the statement is made."""
    expected: Value
    """The stated number, or a relation such as ``vegas > reno`` or ``decreasing(rho)``."""
    confidence: Confidence
    tolerance: float | None = None
    """Allowed deviation of the measured number, as a share of `expected`."""
    note: str = ""
    reasons: tuple[Reason, ...] = field(default=())
    """Known reasons why a reproduction differs."""
    label: Label | None = None
    """Verdict that replaces a pass."""

    @property
    def paper(self) -> str:
        """The document: the first word of the id."""
        return self.id.split(".")[0]

    @property
    def places(self) -> tuple[str, ...]:
        """The words of the id between document and statement: chapter and figure, or figure."""
        return tuple(self.id.split(".")[1:-1])


def papers(root: Path) -> list[str]:
    """Return the documents with a file of claims below `root`, in alphabetical order."""
    return sorted(path.parent.name for path in root.glob("*/claims.toml"))


def load_claims(root: Path, paper: str) -> list[Claim]:
    """Read the claims of one document, in order, with labels and reasons of known mismatches.

    Parameters
    ----------
    root : Path
        The folder ``reproductions``.
    paper : str
        Name of the document's folder.

    Raises
    ------
    UnknownSelection
        If there is no such document. The message lists the documents.
    BadData
        If a row lacks a field or has an unknown one, or an id appears twice.
    """
    path = root / paper / "claims.toml"
    if not path.is_file():
        raise UnknownSelection(f"there is no document {paper!r}; there are {', '.join(papers(root))}")
    labels, reasons = load_labels(path.with_name("labels.toml")), load_reasons(path.with_name("reasons.toml"))
    claims = [_claim(row, reasons, labels, path) for row in toml.read(path).get("claim", [])]
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise BadData(f"{path}: the id {claim.id} appears twice")
        seen.add(claim.id)
    for name, ids in (("reasons.toml", reasons.keys()), ("labels.toml", labels.keys())):
        if unknown := ids - seen:
            raise BadData(f"{path.with_name(name)}: no claim has the id {min(unknown)}")
    return claims


def _claim(
    row: dict[str, object],
    reasons: Mapping[str, list[Reason]],
    labels: Mapping[str, Label],
    path: Path,
) -> Claim:
    """Convert a row of a claims file. Its fields must be known, complete and of known kinds."""
    name = str(row.get("id", "without id"))
    if unknown := row.keys() - _FIELDS:
        raise BadData(f"{path}: claim {name} has the unknown field {min(unknown)}")
    if missing := _FIELDS - {"tolerance", "note"} - row.keys():
        raise BadData(f"{path}: claim {name} lacks the field {min(missing)}")
    if row["kind"] not in get_args(Kind):
        raise BadData(f"{path}: claim {name} has the unknown kind {row['kind']!r}")
    if row["confidence"] not in get_args(Confidence):
        raise BadData(f"{path}: claim {name} has the unknown confidence {row['confidence']!r}")
    tolerance = row.get("tolerance")
    return Claim(
        id=name,
        where=str(row["where"]),
        statement=str(row["statement"]),
        kind=cast(Kind, row["kind"]),
        metric=str(row["metric"]),
        conditions=cast(dict[str, Value | list[Value]], row["conditions"]),
        expected=cast(Value, row["expected"]),
        confidence=cast(Confidence, row["confidence"]),
        tolerance=None if tolerance is None else float(cast(float, tolerance)),
        note=str(row.get("note", "")),
        reasons=tuple(reasons.get(name, ())),
        label=labels.get(name),
    )
