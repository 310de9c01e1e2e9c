"""HTML for notebooks: captions and tables in the notebook's own style."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from umtslab.text_table import Table


def table(content: Table) -> str:
    """Return a table as HTML."""
    top = _row("th", content.headings, content.right)
    body = "".join(_row("td", cells, content.right) for cells in content.rows)
    return f"<table><thead>{top}</thead><tbody>{body}</tbody></table>"


def caption(title: str, *lines: str) -> str:
    """Return a title in bold with lines below it. Empty lines are left out."""
    return "<br>".join([f"<b>{escape(title)}</b>", *(escape(line) for line in lines if line)])


def folded(summary: str, content: str) -> str:
    """Return content that is shown when the user clicks on the summary."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def preformatted(text: str) -> str:
    """Return text with its spaces and line breaks preserved."""
    return f"<pre>{escape(text)}</pre>"


def _row(kind: str, cells: Sequence[str], right: Sequence[bool]) -> str:
    cell_html = (
        f'<{kind} style="text-align: {"right" if is_number else "left"}">{escape(cell)}</{kind}>'
        for cell, is_number in zip(cells, right, strict=True)
    )
    return f"<tr>{''.join(cell_html)}</tr>"
