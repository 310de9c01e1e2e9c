"""Writes the reference pages that are generated from the program: keys, commands, bearers, profiles, API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import umtslab
from umtslab import _core
from umtslab.cli.verbs import GROUPS

ROOT = Path(__file__).resolve().parents[2]
GENERATED = "*Generated from the program when the site is built.*"


def write(into: Path) -> None:
    """Write all generated reference pages below a folder."""
    folder = into / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in PAGES.items():
        (folder / name).write_text(text(), encoding="utf-8")


def keys() -> str:
    """Return the page of all scenario keys, by table of the scenario file."""
    parts = [
        "# Scenario keys",
        f"{GENERATED} `umts params WORD` finds a key by name or topic; [schema.md](schema.md) has the JSON "
        "Schema for editors.",
    ]
    groups: dict[str, list[Mapping[str, str]]] = {}
    for row in _core.params():
        name, dot, _ = row["key"].rpartition(".")
        groups.setdefault(name if dot else "", []).append(row)
    for name, rows in sorted(groups.items()):
        parts += [f"## `{name}`" if name else "## Top level"]
        parts += [_table(("key", "default", "range or words", "description and source"), map(_key, rows))]
    return "\n\n".join(parts) + "\n"


def _key(row: Mapping[str, str]) -> Sequence[str]:
    """Return a row of the table of keys: name, default, values, description with source."""
    default = "required" if row["required"] else (f"`{row['default']}`" if row["default"] else "")
    allowed = row["choices"] or row["range"]
    source = f" *{row['source']}*" if row["source"] else ""
    name = row["key"].rpartition(".")[2]
    return f"`{name}`", default, f"{row['kind']}; {allowed}".strip("; "), row["description"] + source


def commands() -> str:
    """Return the page with the help of each verb."""
    parts = [
        "# Commands",
        f"{GENERATED} `umts VERB --help` prints the same. [Exit status](../guide.md#use-it-in-a-script): "
        "0 done, 1 failed, 2 wrong usage or input, 130 interrupted.",
    ]
    for group, verbs in GROUPS.items():
        parts.append(f"## {group.capitalize()}")
        for verb in verbs:
            parts += [f"### umts {verb}", f"```text\n{_help(verb)}```"]
    return "\n\n".join(parts) + "\n"


def _help(verb: str) -> str:
    """Return the help text of a command."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "umtslab", verb, "--help"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _listed(verb: str) -> list[dict[str, object]]:
    """Return the rows of a command that lists something, such as `umts params`."""
    command = [sys.executable, "-m", "umtslab", verb, "--json"]
    rows: list[dict[str, object]] = json.loads(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    return rows


def bearers() -> str:
    """Return the page of bearers that have a name."""
    rows = [
        (f"`{bearer['name']}`", bearer["kind"], bearer.get("description", ""), bearer.get("source", ""))
        for bearer in _listed("bearers")
    ]
    table = _table(("name", "kind", "description", "source"), rows)
    return f"# Bearers\n\n{GENERATED} `umts bearers NAME` prints rates, TTIs and blocks.\n\n{table}\n"


def tcp_profiles() -> str:
    """Return the page of TCP profiles, with the source of each value."""
    parts = [
        "# TCP profiles",
        f"{GENERATED} Use one with `tcp.profile`; a key written beside it takes precedence.",
    ]
    for profile in _listed("profiles"):
        rows = [(f"`tcp.{row['key']}`", f"`{row['value']}`", row["source"]) for row in _rows(profile["keys"])]
        parts += [f"## {profile['name']}", str(profile["description"])]
        parts += [_table(("key", "value", "source"), rows)]
    return "\n\n".join(parts) + "\n"


def rrc_profiles() -> str:
    """Return the page of RRC profiles."""
    parts = ["# RRC profiles", f"{GENERATED} Use one with `rrc.profile`."]
    for profile in _listed("rrc"):
        parts += [f"## {profile['name']}", f"{profile['description']}. Source: {profile['source']}."]
        parts += [f"```toml\n{profile['keys']}\n```"]
    return "\n\n".join(parts) + "\n"


def _rows(value: object) -> list[Mapping[str, str]]:
    """Return a list of JSON objects, with its type."""
    assert isinstance(value, list)
    return value


def python_api() -> str:
    """Return the page from which mkdocstrings makes the reference of the Python package."""
    parts = ["# Python API", f"{GENERATED} [python.md](../python.md) shows how the parts are used together."]
    for name in umtslab.__all__:
        module = getattr(umtslab, name).__module__
        if module.startswith("umtslab._core"):
            parts += [f"## {name}", f"`umtslab.{name}`, an exception of the compiled core."]
        else:
            parts.append(f"::: {module}.{name}")
    return "\n\n".join(parts) + "\n"


def schema_page() -> str:
    """Return the page about the JSON Schema."""
    dialect = json.loads(_core.schema())["$schema"]
    return (
        f"# JSON Schema\n\n{GENERATED} Editors complete and check scenario files with "
        f'<a href="scenario.schema.json">scenario.schema.json</a>, which `umts schema` prints '
        f"(dialect `{dialect}`).\n\n"
        "In Visual Studio Code with the extension *Even Better TOML*, put this line at the start of a "
        "scenario:\n\n"
        "```toml\n#:schema scenario.schema.json\n```\n"
    )


def _table(heads: Sequence[str], rows: Iterator[Sequence[object]] | Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    lines += [" | ".join(_cell(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    """Return a value as text of a cell, with escaped separators."""
    return str(value).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


PAGES: Mapping[str, Callable[[], str]] = {
    "keys.md": keys,
    "commands.md": commands,
    "bearers.md": bearers,
    "tcp-profiles.md": tcp_profiles,
    "rrc-profiles.md": rrc_profiles,
    "python-api.md": python_api,
    "schema.md": schema_page,
    "scenario.schema.json": _core.schema,
}
"""Generated files below ``reference/``, by name."""
