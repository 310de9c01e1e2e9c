"""Labels that replace the verdict *pass* of a claim, read from `labels.toml` beside `claims.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from umtslab.reproduce import toml
from umtslab.reproduce.errors import BadData
from umtslab.reproduce.verdict_kind import LABELS, Verdict

_FIELDS = {"is", "claims", "reason"}
_OPTIONAL = {"control"}


@dataclass(frozen=True)
class Label:
    """A verdict that replaces a pass, and its reason.

    `control` contains conditions under which the cause named in the document is absent, so that the
    claim should not hold. If it holds there too, the pass does not confirm the cause, and the label
    replaces the pass. Without a control, the label always replaces it.
    """

    verdict: Verdict
    reason: str
    control: Mapping[str, Any] = field(default_factory=dict)


def load_labels(path: Path) -> dict[str, Label]:
    """Read the labels of one document, by claim. Empty if there is no such file.

    Raises
    ------
    BadData
        If a label lacks a field, has an unknown field or kind, or a claim has two labels.
    """
    if not path.is_file():
        return {}
    labels: dict[str, Label] = {}
    for row in toml.read(path).get("label", []):
        label = _label(row, path)
        for claim in row["claims"]:
            if claim in labels:
                raise BadData(f"{path}: claim {claim} has two labels")
            labels[claim] = label
    return labels


def _label(row: dict[str, Any], path: Path) -> Label:
    if unknown := row.keys() - _FIELDS - _OPTIONAL:
        raise BadData(f"{path}: a label has the unknown field {min(unknown)}")
    if missing := _FIELDS - row.keys():
        raise BadData(f"{path}: a label lacks the field {min(missing)}")
    kinds = {str(verdict): verdict for verdict in LABELS}
    if row["is"] not in kinds:
        raise BadData(f"{path}: {row['is']!r} is not a label; there are {', '.join(kinds)}")
    return Label(kinds[row["is"]], str(row["reason"]), row.get("control", {}))
