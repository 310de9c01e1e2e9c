"""Reproductions: the experiments of a document are repeated, its figures drawn, its claims scored.

`reproductions/<paper>/` contains the data: ledger, plans, reasons. This package is the program that
reads them. `claims` and `plan` read the data. `study` runs the points. `conditions` and `results`
find the numbers for a claim. `compare`, `order`, `trend`, `course` and `verdict` judge. `figures`
and `report` write the output.
"""

from __future__ import annotations

from umtslab.reproduce.reproduction import Chapter, find_data, reproduce
from umtslab.reproduce.selection import select

__all__ = ["Chapter", "find_data", "reproduce", "select"]
