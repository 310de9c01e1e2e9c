"""Workflows, hooks and release checks: valid, equal to the project's versions, and calls of the Makefile."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PREPARATIONS = ("rustup ", "cargo install ", "gh release create ")
"""First words of the commands in workflows that the Makefile cannot contain."""

CHANGELOG = (
    "# Changelog\n\n## [1.2.3] - 2026-12-31\n\n### Results\n\nNone.\n\n## [1.2.2] - 2026-01-01\n\nOld.\n"
)
CITATION = "version: 1.2.3\ndate-released: 2026-12-31\n"
# The files of a complete release.
RELEASED = {
    "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n',
    "Cargo.lock": '[[package]]\nname = "umts-units"\nversion = "1.2.3"\n'
    '[[package]]\nname = "libm"\nversion = "0.2.0"\nsource = "registry"\n',
    "CITATION.cff": CITATION,
    "CHANGELOG.md": CHANGELOG,
    "README.md": "Version 1.2.3.\n",
}


def jobs(file: Path) -> dict[str, Any]:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    jobs_by_name: dict[str, Any] = content["jobs"]
    return jobs_by_name


def commands() -> list[str]:
    return [
        step["run"]
        for file in WORKFLOWS
        for job in jobs(file).values()
        for step in job.get("steps", ())
        if "run" in step
    ]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_step_of_a_workflow_calls_the_makefile() -> None:
    called = [run.split() for run in commands() if not run.startswith(PREPARATIONS)]
    assert len(called) >= 8
    assert all(words[0] == "make" and words[1] in targets() for words in called)


def test_ci_runs_every_part_of_the_tests() -> None:
    parts = re.findall(r"^PARTS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split()
    assert {f"make {part}" for part in parts} <= set(commands())


def test_ci_tests_the_lowest_versions_that_the_project_declares() -> None:
    ci_jobs = jobs(ROOT / ".github/workflows/ci.yml")
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert ci_jobs["test-rust"]["strategy"]["matrix"]["rust"] == ["stable", rust]
    versions = ci_jobs["test-python"]["strategy"]["matrix"]["python"]
    assert f">={versions[0]}" == python
    assert versions == [f"3.{minor}" for minor in range(11, 15)]


def test_workflows_are_valid() -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    if not checker.exists():
        pytest.skip("check-jsonschema is not installed: make lint-forge")
    words = [str(checker), "--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_workflows_pass_actionlint() -> None:
    if shutil.which("actionlint") is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run(["actionlint"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hooks_use_installed_tools_only() -> None:
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    assert all(hook["language"] == "system" for hook in repository["hooks"])


def test_every_dependency_has_an_allowed_licence() -> None:
    """Like `cargo deny check licenses`, for machines without cargo-deny."""
    words = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("cargo has no local copy of the registry")
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    packages = json.loads(done.stdout)["packages"]
    # Old packages write "MIT/Apache-2.0".
    refused = [
        package["name"]
        for package in packages
        if not permits(package["license"].replace("/", " OR "), allowed)
    ]
    assert refused == []


def permits(expression: str, allowed: set[str]) -> bool:
    """Whether the allowed licences satisfy an SPDX expression of AND, OR and parentheses."""
    words = re.findall(r"[()]|[\w.+-]+(?: WITH [\w.-]+)?", expression)
    # The same expression in Python, with True and False instead of the licences.
    operators = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    terms = [operators.get(word, str(word in allowed)) for word in words]
    return bool(eval(" ".join(terms)))


@pytest.mark.parametrize(
    ("expression", "answer"),
    [("MIT OR GPL-3.0", True), ("(MIT OR X) AND X", False), ("A WITH B OR X", False), ("MIT AND ISC", True)],
)
def test_licence_expressions_are_evaluated(expression: str, answer: bool) -> None:
    assert permits(expression, {"MIT", "ISC"}) is answer


def release_check(root: Path, *words: str, tag: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/release_check.py"), "--root", str(root), *words]
    environment = {"TAG": tag} if tag else {}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    for name, text in RELEASED.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_complete_release_passes(released: Path) -> None:
    done = release_check(released, tag="v1.2.3")
    assert (done.returncode, done.stderr) == (0, "")
    assert release_check(released, "--notes").stdout == "### Results\n\nNone.\n"


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("Cargo.lock", RELEASED["Cargo.lock"].replace("1.2.3", "1.2.2"), "umts-units has version 1.2.2"),
        ("CITATION.cff", CITATION.replace("1.2.3", "1.2.4"), "version 1.2.4, not 1.2.3"),
        ("CITATION.cff", "version: 1.2.3\n", "date-released is None"),
        ("CHANGELOG.md", CHANGELOG.replace("2026-12-31", "not released yet"), "must end with - YYYY-MM-DD"),
        ("CHANGELOG.md", CHANGELOG.replace("### Results", "### Fixed"), "no part ### Results"),
        ("README.md", "Version 1.2.3 is not released yet.", "not released yet"),
    ],
)
def test_an_incomplete_release_fails(released: Path, file: str, text: str, complaint: str) -> None:
    (released / file).write_text(text)
    done = release_check(released)
    assert done.returncode == 1
    assert f"{file}: " in done.stderr
    assert complaint in done.stderr


def test_the_tag_must_name_the_version(released: Path) -> None:
    assert "the tag is v1.2.4, not v1.2.3" in release_check(released, tag="v1.2.4").stderr


def test_versions_of_this_tree_are_equal() -> None:
    complaints = release_check(ROOT).stderr
    assert not re.search(r"version .*, not", complaints), complaints
