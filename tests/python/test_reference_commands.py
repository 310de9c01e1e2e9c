"""Reference commands, such as ``umts params``, and their imports."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import umtslab
from conftest import FTP, Umts, command, short
from umtslab import _core
from umtslab.cli.keys import OTHER_NAMES
from umtslab.cli.params import params
from umtslab.cli.reference_list import MAX_BLOCKS, block
from umtslab.cli.verbs import VERBS
from umtslab.headline_metrics import ROWS
from umtslab.metrics import definitions, units
from umtslab.plot import KINDS, WATERFALL
from umtslab.text_table import Table

HEAVY_MODULES = {"polars", "numpy", "scipy", "matplotlib", "duckdb", "umtslab._core", "sqlite3"}


def imported_by(*words: object) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    python, *rest = command(*words)
    done = subprocess.run([python, "-X", "importtime", *rest], capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}


@pytest.mark.parametrize("words", [("--help",), ()])
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert imported_by(*words) & HEAVY_MODULES == set()


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, umtslab; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & HEAVY_MODULES == set()


def test_one_run_needs_no_library_of_numbers_or_figures(tmp_path: Path) -> None:
    imported = imported_by("run", FTP, "--duration", "1 s", "--out", tmp_path / "results")
    assert "umtslab.simulation" in imported
    assert imported & {"polars", "numpy", "scipy", "matplotlib", "duckdb"} == set()


def test_every_name_of_the_package_exists() -> None:
    assert all(getattr(umtslab, name) is not None for name in umtslab.__all__)
    # Importing a module must not replace the function of the same name.
    assert callable(umtslab.simulate)
    assert callable(umtslab.compare)


def test_params_are_filtered_by_key(umts: Umts) -> None:
    rows = json.loads(umts("params", "radio.bler", "--json").stdout)
    assert "radio.bler" in [row["key"] for row in rows]
    assert all("radio.bler" in row["key"] for row in rows)
    assert "radio.bler" in umts("params", "radio.bler").stdout


def test_params_are_found_by_topic(umts: Umts) -> None:
    rows = json.loads(umts("params", "PROMOTION from a PCH state", "--json").stdout)
    assert [row["key"] for row in rows] == ["rrc.power.promotion_from_idle"]


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("radio.blerr", "radio.bler"),
        ("cwnd", "tcp.initial_window"),
        ("MSS", "tcp.segment_payload"),
        ("queue", "rlc.buffer"),
        ("queue", "link.queue"),
        ("latency", "link.delay"),
    ],
)
def test_params_are_found_by_other_names(umts: Umts, word: str, key: str) -> None:
    assert key in [row["key"] for row in json.loads(umts("params", word, "--json").stdout)]


def test_other_names_refer_to_existing_keys() -> None:
    assert {key for keys in OTHER_NAMES.values() for key in keys} <= {row["key"] for row in _core.params()}


def test_every_metric_of_a_run_is_defined() -> None:
    [run] = umtslab.simulate(short())
    assert set(run.metrics) <= set(units())
    assert {row.name for row in ROWS} <= set(units())


def test_metrics_are_listed_with_their_meaning(umts: Umts) -> None:
    text = umts("metrics", "goodput_kbps").stdout
    assert "kbit/s" in text
    assert len(json.loads(umts("metrics", "--json").stdout)) == len(definitions())


@pytest.mark.parametrize(("verb", "word"), [("params", "tcp.variant"), ("metrics", "goodput")])
@pytest.mark.parametrize("width", [80, 100])
def test_few_rows_are_printed_as_blocks_without_broken_words(verb: str, word: str, width: int) -> None:
    rows = _core.params() if verb == "params" else definitions()
    entries = [row for row in rows if word in row.get("key", row.get("name", ""))]
    name, text = ("key", "description") if verb == "params" else ("name", "meaning")
    assert 0 < len(entries) <= MAX_BLOCKS
    for entry in entries:
        lines = list(block(entry, name, text, width))
        assert max(map(len, lines)) <= width
        # Every word of every value is in the block, and no word is divided between lines.
        shown = {word.removesuffix(":") for word in " ".join(lines).split()}
        values = [value for key, value in entry.items() if key not in (name, "label")]
        assert {word.removesuffix(":") for value in values for word in value.split()} <= shown


def test_entries_in_a_pipe_fit_80_columns(umts: Umts) -> None:
    assert max(map(len, umts("params", "tcp.variant").stdout.splitlines())) <= 80


def test_metrics_are_found_by_words_of_their_descriptions(umts: Umts) -> None:
    rows = json.loads(umts("metrics", "WEB PAGES", "--json").stdout)
    assert rows
    assert all("web pages" in f"{row['label']} {row['meaning']}".lower() for row in rows)
    assert "in its name or description" in umts("metrics", "xyzzy", status=2).stderr


def test_the_exact_name_of_a_key_or_metric_selects_only_this_one(umts: Umts) -> None:
    lines = umts("params", "rlc.buffer").stdout.splitlines()
    assert lines[0].startswith("rlc.buffer  ")
    assert [line.split()[0] for line in lines[-5:]] == ["type", "unit", "range", "default", "source"]
    assert "rlc.buffer_counts" not in "\n".join(lines)
    assert "rto_count_radio_leg" not in umts("metrics", "rto_count").stdout


def test_cards_of_all_keys_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for row in _core.params():
        params(row["key"], json=False)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"{row['key']}  {row['label']}"
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("verb", ["params", "metrics"])
def test_lists_on_a_terminal_of_80_columns_have_whole_names(verb: str) -> None:
    own_end, end_of_command = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen(command(verb), stdout=end_of_command, stdin=subprocess.DEVNULL, env=environment):
        os.close(end_of_command)
        written = b"".join(iter(lambda: _read_terminal(own_end), b"")).decode()
    os.close(own_end)
    # Without the control sequences of bold text.
    lines = re.sub(r"\x1b\[[0-9;]*m", "", written).splitlines()
    assert max(map(len, lines)) <= 80
    names = (
        {row["key"] for row in _core.params()}
        if verb == "params"
        else {entry["name"] for entry in definitions()}
    )
    assert names <= {line.split()[0] for line in lines if line.strip()}


def _read_terminal(terminal: int) -> bytes:
    """Read from a pseudo-terminal, which fails with an error at the end of its output."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_names_in_a_table_are_complete_if_they_fit() -> None:
    table = Table("name", "meaning")
    table.add_row("budget_application_idle_s", "The application is idle: all written data has arrived.")
    for width in (40, 60, 200):
        lines = list(table.lines(width))
        assert lines[1].split()[0] == "budget_application_idle_s"
        assert max(map(len, lines)) <= width


def test_a_profile_is_printed_with_the_source_of_each_value(umts: Umts) -> None:
    profile = json.loads(umts("profiles", "linux-2.4", "--json").stdout)
    keys = {row["key"]: row for row in profile["keys"]}
    assert keys["segment_payload"]["value"] == '"530 B"'
    assert "Rendon" in keys["segment_payload"]["source"]
    assert all(row["source"] for row in profile["keys"])
    names = [profile["name"] for profile in json.loads(umts("profiles", "--json").stdout)]
    text = umts("profiles").stdout
    assert len(names) == 7
    assert all(name in text for name in names)
    assert "linux-2.4" in umts("profiles", "linux-9", status=2).stderr


def test_reference_bearers_are_listed_with_their_blocks(umts: Umts) -> None:
    [bearer] = json.loads(umts("bearers", "ps-384-20ms", "--json").stdout)
    assert bearer["downlink"]["block_bits"] == 336
    assert bearer["downlink"]["rate_bps"] == 384_000
    assert bearer["uplink"]["formats"] == [0, 1, 2, 3, 4]
    text = umts("bearers").stdout
    assert "ps-64" in text
    assert "UNSURE" in text


def test_bearers_lists_everything_that_emulate_accepts(umts: Umts) -> None:
    bearers = json.loads(umts("bearers", "--json").stdout)
    kinds = {bearer["name"]: bearer["kind"] for bearer in bearers}
    assert (kinds["ps-64"], kinds["fach"], kinds["fach-dch:att-2010"]) == ("reference", "common", "switched")
    assert (kinds["trace:FILE"], kinds["flat:wpt-3g-fast"]) == ("trace", "flat")
    flat = {bearer["name"]: bearer for bearer in bearers if bearer["kind"] == "flat"}
    fast = flat["flat:wpt-3g-fast"]
    assert (fast["downlink_bps"], fast["uplink_bps"], fast["rtt_s"]) == (1_600_000, 768_000, 0.15)
    assert all(bearer["source"] for bearer in flat.values())
    text = umts("bearers", "flat:").stdout
    assert "browserstack-umts-lossy" in text
    assert "ps-64" not in text


def test_rrc_profiles_are_listed_with_keys_and_source(umts: Umts) -> None:
    [profile] = json.loads(umts("rrc", "att", "--json").stdout)
    assert 'idle_to_dch = "2 s"' in profile["keys"]
    assert "IMC 2010" in profile["source"]
    assert "dubois2005-ch8" in umts("rrc").stdout
    assert umts("rrc", "no-such-network", status=2).stdout == ""


def test_the_schema_is_json(umts: Umts) -> None:
    assert json.loads(umts("schema").stdout) == json.loads(_core.schema())


def test_version_names_version_and_commit(umts: Umts) -> None:
    version = _core.version()
    assert umts("--version").stdout.strip() == f"umts {version['version']}+{version['commit']}"


def test_doctor_names_the_libraries(umts: Umts) -> None:
    rows = json.loads(umts("doctor", "--json").stdout)
    assert all(set(row) == {"what", "found", "remark"} for row in rows)
    text = umts("doctor").stdout
    assert all(row["what"] in text for row in rows)
    assert all(name in text for name in ("umtslab", "polars", "tshark", "optuna", "SALib", "distributed"))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(umts: Umts, verb: str) -> None:
    assert f"umts {verb}" in umts(verb, "--help").stdout


def test_the_help_of_plot_names_every_kind(umts: Umts) -> None:
    words = umts("plot", "--help").stdout.replace(",", " ").replace(";", " ").split()
    assert {*KINDS, WATERFALL} <= set(words)


def test_former_names_are_looked_up_under_their_current_names(umts: Umts) -> None:
    assert umts("params", "pep.buffer").stdout.startswith("proxy.buffer")
    assert umts("metrics", "pep_transfers").stdout.startswith("proxy_transfers")
