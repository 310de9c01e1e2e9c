"""The lessons run, their solutions are right, and wrong answers get a hint.

``UMTS_BLESS=1`` writes the expected answers into the teacher's notes.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("marimo", reason="marimo is not installed: make docs")
LESSONS = Path(__file__).resolve().parents[2] / "lessons"
sys.path.append(str(LESSONS))

pytestmark = pytest.mark.slow

NAMES = sorted(file.stem for file in LESSONS.glob("lesson_*.py"))
SOLUTIONS: Mapping[str, Sequence[float | str]] = tomllib.loads((LESSONS / "solutions.toml").read_text())
NOTES = LESSONS / "TEACHER.md"
TABLE = re.compile(r"(?<=-->\n).*?(?=\n## )", re.DOTALL)


def app(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, LESSONS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.app


@pytest.fixture(scope="module")
def questions() -> Mapping[str, Any]:
    """The questions of each lesson, after a run of the notebook without answers."""
    questions_of_lesson = {}
    for name in NAMES:
        _, variables = app(name).run()
        # Each lesson has three questions.
        assert [verdict.state for verdict in variables["verdicts"]] == ["missing"] * 3, name
        questions_of_lesson[name] = variables["questions"]
    return questions_of_lesson


def test_there_are_eight_lessons_with_solutions() -> None:
    assert [name.split("_")[1] for name in NAMES] == [str(number) for number in range(1, 9)]
    assert list(SOLUTIONS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_solutions_are_right(questions: Mapping[str, Any], name: str) -> None:
    import lab

    verdicts = lab.check(questions[name], SOLUTIONS[name])
    assert [verdict.state for verdict in verdicts] == ["right"] * 3, verdicts


@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_get_a_hint(questions: Mapping[str, Any], name: str) -> None:
    import lab

    for question, verdict in zip(questions[name], lab.check(questions[name], [-7, -7, -7]), strict=True):
        assert verdict.state == "wrong"
        assert question.hint
        assert verdict.text == f"-7 is not right. Hint: {question.hint}"


def test_a_notebook_with_answers_shows_right_verdicts() -> None:
    name = NAMES[-1]
    answers = {f"answer_{number}": answer for number, answer in enumerate(SOLUTIONS[name], 1)}
    _, variables = app(name).run(defs=answers)
    assert [verdict.state for verdict in variables["verdicts"]] == ["right"] * 3


def test_the_notes_list_the_computed_answers(questions: Mapping[str, Any]) -> None:
    rows = ["", "| lesson | question | answer |", "|---|---|---|"]
    for name in NAMES:
        for number, question in enumerate(questions[name], 1):
            answer = question.answer()
            answer_text = f"{answer:.3g}" if isinstance(answer, float) else answer
            rows.append(
                f"| {name.split('_')[1]}.{number} | {question.text} | {answer_text} {question.unit} |"
            )
    expected = TABLE.sub(lambda _: "\n".join([*rows, ""]), NOTES.read_text(encoding="utf-8"), count=1)
    if os.environ.get("UMTS_BLESS") == "1":
        NOTES.write_text(expected, encoding="utf-8")
    assert NOTES.read_text(encoding="utf-8") == expected


def test_every_lesson_is_listed_in_the_readme() -> None:
    text = (LESSONS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((lesson_\w+)\.py\)", text) == NAMES


def test_the_command_of_the_readme_exports_a_lesson(tmp_path: Path) -> None:
    [command] = re.findall(
        r"`marimo (export html [^`]*) -o lesson\.html`", (LESSONS / "README.md").read_text()
    )
    page = tmp_path / "lesson.html"
    words = [sys.executable, "-m", "marimo", *command.split(), "-o", str(page)]
    subprocess.run(words, cwd=LESSONS.parent, check=True, capture_output=True)
    assert "no answer yet" in page.read_text(encoding="utf-8")
