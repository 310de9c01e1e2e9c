"""The quick form of the commands in reasons prints every number that the reason names.

A reason explains why a claim of a document does not match. It names a command that shows it, options
for a quicker run (`quick`), and numbers of its output.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from shown_numbers import number_in
from umtslab.cli import main
from umtslab.reproduce.claims import load_claims, papers
from umtslab.reproduce.reasons import Shown

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REPRODUCTIONS = ROOT / "reproductions"


def _shown() -> Iterator[tuple[str, Shown]]:
    """Yield each command that a reason names, with the document."""
    for paper in papers(REPRODUCTIONS):
        reasons = [reason for claim in load_claims(REPRODUCTIONS, paper) for reason in claim.reasons]
        for reason in dict.fromkeys(reasons):
            yield from ((paper, shown) for shown in reason.shown)


SHOWN = list(_shown())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared store, so that commands with equal points share runs."""
    return tmp_path_factory.mktemp("reasons")


@cache
def _printed(words: tuple[str, ...], store: Path) -> str:
    """Return the output of a command.

    Status 1 is allowed: `umts reproduce` uses it for a failed claim.
    """
    name = ["--name", f"reason-{abs(hash(words))}"] if words[0] == "sweep" else []
    with redirect_stdout(StringIO()) as printed:
        status = main([*words, *name, "--quiet", "--out", str(store)])
    assert status in {0, 1}, words
    return printed.getvalue()


@pytest.mark.parametrize(
    ("paper", "shown"), SHOWN, ids=[f"{paper}-{n}" for n, (paper, _) in enumerate(SHOWN)]
)
def test_a_command_prints_the_numbers_of_its_reason(
    paper: str, shown: Shown, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    program, *words = shlex.split(f"{shown.command} {shown.quick}")
    assert program == "umts"
    printed = _printed(tuple(words), store)
    for number in shown.numbers:
        value = number_in(printed, number.row, number.column)
        assert value == pytest.approx(number.stated, rel=number.within, abs=1e-9), (shown.command, number)


def test_every_checked_number_is_in_the_text() -> None:
    """The reason has the number as stated, with more digits, or as an integer with its unit."""
    for paper in papers(REPRODUCTIONS):
        for claim in load_claims(REPRODUCTIONS, paper):
            for reason in claim.reasons:
                text = reason.text.replace(",", "")
                for number in (number for shown in reason.shown for number in shown.numbers):
                    assert f"{number.stated:g}" in text, (claim.id, number)
