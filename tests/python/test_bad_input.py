"""Wrong input: a clear message, the right exit status, and no partial output."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import FTP, Umts

EXAMPLE = FTP.read_text(encoding="utf-8")

# Texts of scenarios, each with a part of the error message.
WRONG_FILES = {
    "unknown key": (EXAMPLE.replace("max_dat = ", "max_dta = "), "max_dat"),
    "missing unit": (EXAMPLE.replace('duration = "1500 s"', "duration = 1500"), "duration"),
    "unit of something else": (EXAMPLE.replace('tti = "10 ms"', 'tti = "10 kbit/s"'), "tti"),
    "TTI of 15 ms": (EXAMPLE.replace('tti = "10 ms"', 'tti = "15 ms"'), "10, 20, 40"),
    "negative rate": (EXAMPLE.replace('rate = "32 kbit/s"', 'rate = "-32 kbit/s"'), "rate"),
    "BLER of 1.5": (EXAMPLE.replace("bler = 0.01", "bler = 1.5"), "bler"),
    "not TOML": ("version = = 1\n", "wrong.toml"),
    "not text": ("\udcff\udcfe", "wrong.toml"),
    "empty": ("", "wrong.toml"),
}

CAMPAIGNS = FTP.parents[1] / "campaigns"
PLAN = FTP.parents[1] / "reproductions" / "dubois2005" / "ch6.toml"

# Command lines that must fail, each with a part of the error message.
WRONG_USAGE = {
    "missing file": (("run", "missing.toml"), "missing.toml"),
    "a folder as scenario": (("run", "."), ""),
    "unknown key in --set": (("run", FTP, "--set", "tcp.varient=reno"), "variant"),
    "--set without a value": (("run", FTP, "--set", "tcp.variant"), "KEY=VALUE"),
    "--duration without a unit": (("run", FTP, "--duration", "10"), "duration"),
    "unknown option": (("run", FTP, "--sed", "1"), "--sed"),
    "unknown verb": (("rnu", FTP), "rnu"),
    "no scenario": (("run",), "SCENARIO"),
    "no runs": (("run", FTP, "--runs", "0"), "--runs"),
    "a number of runs that is not a number": (("run", FTP, "--runs", "many"), "many"),
    "a first run beyond the range of a database": (
        ("run", FTP, "--first-run", 2**63 - 1, "--runs", 2),
        "numbers of runs end at 2^63 - 1",
    ),
    "a device as scenario": (("run", "/dev/zero"), "it is a device"),
    "a device as campaign": (("sweep", "/dev/zero"), "it is a device"),
    "a device as error trace": (
        ("run", FTP, "--set", "radio.model=trace", "--set", "radio.file=/dev/zero"),
        "/dev/zero: it is a device",
    ),
    "repair without a folder": (("doctor", "--repair"), "umts doctor FOLDER --repair"),
    "doctor of a file": (("doctor", "here.txt"), "not a results folder"),
    "no workers": (("run", FTP, "--jobs", "0"), "--jobs"),
    "negative seed": (("run", FTP, "--seed=-1"), "--seed"),
    "runs and precision": (("run", FTP, "--runs", "5", "--precision", "5%"), "--precision"),
    "precision of 0": (("run", FTP, "--precision", "0%"), "--precision"),
    "precision of an unknown metric": (("run", FTP, "--precision", "5%", "--metric", "speed"), "speed"),
    "a file as results folder": (("run", FTP, "--out", "here.txt"), "here.txt"),
    "a results folder below a file": (("run", FTP, "--out", "here.txt/results"), "here.txt"),
    "a results folder in /proc": (("run", FTP, "--out", "/proc/results"), "/proc/results"),
    "no such result": (("plot", "nothing", "cwnd"), "nothing"),
    "no such figure": (("plot", "nothing", "pie"), "timeseq"),
    "no such format": (("plot", "nothing", "cwnd", "-o", "cwnd.gif"), ".svg"),
    "no such folder for a figure": (
        ("plot", "nothing", "cwnd", "-o", "no/x.png"),
        "no/x.png: the folder no does not exist",
    ),
    "no such folder for a table": (
        ("export", "nothing", "--csv", "-o", "no/x.csv"),
        "no/x.csv: the folder no does not exist",
    ),
    "no such folder for effects": (
        ("sensitivity", "no.toml", "-o", "no/x.png"),
        "no/x.png: the folder no does not exist",
    ),
    "export without a format": (("export", "nothing"), "--csv"),
    "no such key": (("params", "nonsense"), "nonsense"),
    "a campaign for umts run": (
        ("run", CAMPAIGNS / "fach-error-rate.toml"),
        "fach-error-rate.toml is a campaign: umts sweep /",
    ),
    "an optimisation for umts sweep": (
        ("sweep", CAMPAIGNS / "rlc-best-goodput.toml"),
        "an optimisation study: umts optimise /",
    ),
    "a sensitivity analysis for umts sweep": (
        ("sweep", CAMPAIGNS / "rlc-sensitivity.toml"),
        "umts sensitivity /",
    ),
    "a campaign for umts optimise": (("optimise", CAMPAIGNS / "fach-error-rate.toml"), "umts sweep /"),
    "a scenario for umts sensitivity": (("sensitivity", FTP), "is a scenario: umts run /"),
    "a plan of a reproduction for umts sweep": (("sweep", PLAN), "umts reproduce dubois2005/ch6"),
    "a key without its table": (("run", FTP, "--set", "bler=0.1"), "did you mean radio.bler"),
    "per cent for a probability": (("run", FTP, "--set", "radio.bler=10%"), "│ radio.bler=10%"),
    "per cent in a sweep": (("sweep", FTP, "-P", "radio.bler=10%"), "help: write 0.1"),
    "a range without a step": (
        ("sweep", FTP, "-P", "radio.bler=0..0.3"),
        "'0..0.3' has no step: write FIRST:LAST:STEP",
    ),
    "several values of a run": (
        ("run", FTP, "--set", "tcp.variant=reno,vegas"),
        "only one value is allowed; `umts sweep FILE -P KEY=…` varies it",
    ),
    "a metric without its unit": (
        ("run", FTP, "--precision", "5%", "--metric", "goodput"),
        "there is no metric 'goodput'; did you mean goodput_kbps?",
    ),
    "an option of emulate without a unit": (
        ("emulate", "--core-delay", "20", "--", "true"),
        "--core-delay 20 sets the scenario key link.0.delay",
    ),
    "an option of emulate in per cent": (
        ("emulate", "--bler", "10%", "--", "true"),
        "--bler 10% sets the scenario key radio.bler",
    ),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_an_error_in_a_scenario_is_named_and_writes_nothing(case: str, umts: Umts, tmp_path: Path) -> None:
    text, message = WRONG_FILES[case]
    assert text != EXAMPLE
    (tmp_path / "wrong.toml").write_text(text, encoding="utf-8", errors="surrogateescape")
    done = umts("run", "wrong.toml", "--json", status=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert os.listdir(tmp_path) == ["wrong.toml"]


@pytest.mark.parametrize("case", WRONG_USAGE)
def test_wrong_usage_is_named_and_writes_nothing(case: str, umts: Umts, tmp_path: Path) -> None:
    words, message = WRONG_USAGE[case]
    (tmp_path / "here.txt").write_text("a text")
    done = umts(*words, status=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert os.listdir(tmp_path) == ["here.txt"]
    assert (tmp_path / "here.txt").read_text() == "a text"


def test_a_message_points_at_the_line_and_proposes_the_repair(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(WRONG_FILES["TTI of 15 ms"][0], encoding="utf-8")
    line = WRONG_FILES["TTI of 15 ms"][0].splitlines().index('tti = "15 ms"') + 1
    message = umts("run", "wrong.toml", status=2).stderr
    assert f"wrong.toml:{line}:" in message
    assert "help:" in message


def test_a_figure_without_series_names_the_option_that_records_them(umts: Umts) -> None:
    umts("run", FTP, "--duration", "5 s")
    assert "--series" in umts("plot", "results", "cwnd", status=2).stderr


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(("--series",), id="series"),
        pytest.param(("--pcap",), id="pcap"),
        # The disk fills up in the middle of a run, with parts of its tables.
        pytest.param(("--series", "--duration", "100000 s"), id="parts"),
    ],
)
def test_a_full_disk_keeps_complete_runs_only(
    small_disk: Path, umts: Umts, recording: tuple[str, ...]
) -> None:
    out = small_disk / "results"
    done = umts("run", FTP, "--runs", "200", *recording, "--out", out, "--jobs", "2", status=1)
    assert "No space left" in done.stderr or "full" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in (out / ".staging").iterdir() if path.name != "lock"] == []
    runs = list((out / "runs").iterdir())
    assert all((folder / "metrics.json").is_file() for folder in runs)
    # On a disk with enough space, a copy without the catalogue has all these runs.
    copy = small_disk.parent / "copy"
    shutil.copytree(out, copy, ignore=shutil.ignore_patterns("catalogue*"))
    (copy / ".staging").mkdir(exist_ok=True)
    if runs:
        exported = umts("export", "copy", "--csv").stdout
        assert exported.count("\n") == len(runs) + 1


def test_a_disk_full_at_the_start_fails_before_any_run(small_disk: Path, umts: Umts) -> None:
    # A file larger than the disk fills it; the part that fits stays.
    with pytest.raises(OSError, match="No space"):
        (small_disk / "filler").write_bytes(bytes(2**21))
    done = umts("run", FTP, "--out", small_disk / "results", status=1)
    assert "cannot store results" in done.stderr


def test_writing_to_a_write_protected_store_exits_with_status_1(small_disk: Path, umts: Umts) -> None:
    words = ("run", FTP, "--duration", "5 s", "--out")
    umts(*words, small_disk / "results")
    read_only = ["mount", "-o", "remount,ro", str(small_disk)]
    subprocess.run(read_only, check=True)
    for out in ("results", "new"):
        done = umts(*words, small_disk / out, status=1)
        assert "cannot store results" in done.stderr
        assert "Traceback" not in done.stderr
    assert umts("export", small_disk / "results", "--csv").stdout.count("\n") == 2


def test_a_trace_above_the_maximum_size_is_refused(umts: Umts, tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as file:
        file.truncate(10**12)
    words = ("--set", "radio.model=trace", "--set", f"radio.file={tmp_path}/long.txt")
    done = umts("run", FTP, *words, status=2)
    assert "long.txt: it has more than 16000000 octets" in done.stderr
