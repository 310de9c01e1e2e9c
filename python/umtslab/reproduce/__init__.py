"""Reproductions: the experiments of a document are repeated, its figures drawn, its claims scored.

`reproductions/<paper>/` contains the data of a document. The ledger `claims.toml` has its checkable
statements, the *claims*. Plans describe its experiments, and `reasons.toml` explains known
mismatches. `claims` and `plan` read the data. `study` runs the points of a plan. `conditions` and
`measure` find the numbers for a claim. `compare`, `order`, `trend`, `time_course` and `verdict` judge
the claim. `figures` and `report` write the output.
"""

from __future__ import annotations

from umtslab.reproduce.reproduction import Chapter, find_data, reproduce
from umtslab.reproduce.selection import select

__all__ = ["Chapter", "find_data", "reproduce", "select"]
