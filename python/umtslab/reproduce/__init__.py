"""Reproductions: a document's experiments run again, its figures drawn, its claims scored.

`reproductions/<paper>/` holds the data (ledger, plans, reasons); this package is the machine that reads it.
The way through it: `claims` and `plan` read the data, `study` runs the points, `conditions` and `results`
find the numbers that a claim is about, `compare`, `order`, `trend`, `course` and `verdict` judge, `figures`
and `report` show.
"""

from __future__ import annotations

from umtslab.reproduce.reproduction import Chapter, find_data, reproduce
from umtslab.reproduce.selection import select

__all__ = ["Chapter", "find_data", "reproduce", "select"]
