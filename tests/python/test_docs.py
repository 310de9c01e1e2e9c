"""The code and tables of docs/python.md and docs/results.md are correct."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
import umtslab
from conftest import FTP
from umtslab import Scenario, Store, open_store, run_campaign, simulate
from umtslab.campaign import Campaign

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of code of a page that are in a language."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def table_rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of each row of the table with the first heading `heading`."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    _, _, after = text.partition(f"| {heading} ")
    lines = after.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a sweep like campaigns/fach-error-rate.toml."""
    with open_store(tmp_path_factory.mktemp("docs")) as store:
        grid: dict[str, list[str | int | float | bool]] = {
            "tcp.variant": ["reno", "newreno"],
            "radio.bler": [0.1, 0.2],
        }
        settings = {"duration": "20 s"}
        run_campaign(
            Campaign("fach-error-rate", FTP, runs=2, series=True, settings=settings, grid=grid), store=store
        )
        yield store


def test_the_examples_in_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("scenarios", "campaigns", "traces"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    code = blocks("python.md", "python")
    assert len(code) == 7
    # The blocks share their variables, as in one session.
    variables: dict[str, object] = {}
    for number, block in enumerate(code):
        exec(compile(block, f"python.md, block {number}", "exec"), variables)
    assert (tmp_path / "cwnd.pdf").is_file()
    assert (tmp_path / "goodput.svg").is_file()


def test_the_page_names_everything_that_the_package_offers() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    missing = [name for name in umtslab.__all__ if not re.search(rf"\b{name}\b", text)]
    assert missing == ["CaptureAnalysis", "Store"]  # Results of analyse_captures and open_store.


@pytest.mark.parametrize("recipe", blocks("results.md", "sql"))
def test_the_sql_recipes_of_the_page_return_rows(filled: Store, recipe: str) -> None:
    assert len(filled.query(recipe)) > 0


def test_all_six_sql_recipes_of_the_page_are_tested() -> None:
    assert len(blocks("results.md", "sql")) == 6


def test_columns_of_the_catalogue_on_the_page_exist(filled: Store) -> None:
    listed = [
        name for row in table_rows("results.md", "column of") for name in re.findall(r"`(\w+)`", row[0])
    ]
    with closing(sqlite3.connect(filled.path / "catalogue.sqlite")) as db:
        columns = {row[1] for row in db.execute("PRAGMA table_info(runs)")}
    assert set(listed) <= columns
    assert {"key", "parameters", "metrics", "command"} <= set(listed)


LAYOUT = """
version = 1
duration = "2 s"
[measure]
dsch = true
[layout]
[handover.soft]
[[ue]]
name = "user"
[[flow]]
ue = "user"
"""
ONLY_OF_A_LAYOUT = {"calls", "cells", "dsch", "handovers"}
"""Series that only runs with a ``[layout]`` record."""


def test_the_page_lists_the_columns_of_time_series(filled: Store) -> None:
    [first, *_] = filled.runs()
    [many_cells] = simulate(Scenario.parse(LAYOUT), series=True)
    for kinds, columns, _ in table_rows("results.md", "table | columns besides"):
        named = set(re.findall(r"`(\w+)`", columns))
        for kind in re.findall(r"`(\w+)`", kinds):
            run = many_cells if kind in ONLY_OF_A_LAYOUT else first
            recorded = set(run.series(kind).columns) - {"time_s"}
            assert recorded <= named, kind
            assert "connection" not in named or "connection" in recorded


def test_parquet_files_are_readable_by_polars(filled: Store, tmp_path: Path) -> None:
    filled.write_dataset(tmp_path / "data")
    runs = pl.read_parquet(tmp_path / "data" / "runs.parquet")
    assert runs.group_by("tcp.variant").len().sort("tcp.variant").rows() == [("newreno", 4), ("reno", 4)]
    assert FTP.stem == runs["scenario"][0]
