"""HTML in notebooks, and lists of runs as tables."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest
from conftest import FTP, short
from umtslab import Progress, Runs, Scenario, Store, simulate, sweep
from umtslab.overrides import changes_of_command, changes_text, source_text
from umtslab.run import Identity, Run
from umtslab.version import CodeVersion


def made_up(metrics: Mapping[str, float | None], number: int = 0, **more: Any) -> Run:
    """Return a run that was not simulated, with these metrics."""
    return Run(
        "made-up",
        Identity("hash", CodeVersion("1", "c", "f"), seed=1, run=number),
        dict(metrics),
        events=1,
        duration_s=20.0,
        **more,
    )


@pytest.fixture(scope="module")
def runs() -> Runs:
    return simulate(short(("rlc.max_dat", "3"), ("measure.budget", "true")), runs=2, series=True)


def test_runs_are_a_table_with_differing_columns_first(runs: Runs) -> None:
    table = Runs([*runs, *simulate(short(("rlc.max_dat", "5")))]).to_frame()
    assert table.columns[:2] == ["rlc.max_dat", "key"]
    assert table.select("rlc.max_dat", "seed", "run").rows() == [(3, 1, 0), (3, 1, 1), (5, 1, 0)]
    assert table["goodput_kbps"].to_list()[:2] == [run.metrics["goodput_kbps"] for run in runs]
    assert runs.connections().select("seed", "run", "connection").rows() == [(1, 0, 0), (1, 1, 0)]
    assert runs.series("cwnd")["run"].unique().sort().to_list() == [0, 1]


def test_a_store_shows_its_path(store: Store) -> None:
    assert repr(store) == f"Store({str(store.path)!r})"


def test_changed_keys_are_shown_without_recording_options(runs: Runs, store: Store) -> None:
    expected = (("duration", "20 s"), ("radio.bler", "0.2"), ("rlc.max_dat", "3"))
    assert runs[0].changes == runs.changes == expected
    simulate(short(("rlc.max_dat", "3")), store=store)
    [stored] = store.runs()
    assert stored.changes == expected
    changes = "duration = 20 s, radio.bler = 0.2, rlc.max_dat = 3"
    assert stored.heading == f"ftp-on-fach, seed 1, run 0, with {changes}"


def test_a_key_that_is_changed_twice_is_shown_once() -> None:
    scenario = Scenario.load(FTP, {"duration": "1 s"}).with_overrides({"duration": "2 s"})
    assert simulate(scenario)[0].changes == (("duration", "2 s"),)


def test_changes_are_read_from_the_command_of_a_run() -> None:
    command = (
        "umts run a.toml --set 'duration=20 s' --set measure.budget=true --set tcp.python=a=b.py --seed 1"
    )
    assert changes_of_command(command) == (("duration", "20 s"), ("tcp.python", "a=b.py"))
    assert changes_of_command("umts run a.toml") == ()
    assert (
        changes_text((("ue.bearer", "ps-384"), ("radio.bler", "0.1")))
        == "with ue.bearer = ps-384, radio.bler = 0.1"
    )
    assert source_text("Dubois (2005), Table 6.1", ()) == "Dubois (2005), Table 6.1"
    assert source_text("Dubois (2005)", (("a", "1"),)) == "after Dubois (2005), changed"


def test_a_run_shows_its_metrics_and_changes(runs: Runs) -> None:
    html = runs[0]._repr_html_()
    assert "<b>ftp-on-fach</b>" in html
    assert "with duration = 20 s, radio.bler = 0.2, rlc.max_dat = 3" in html
    assert "value</th>" in html
    assert "mean</th>" not in html


def test_several_runs_show_means_and_intervals(runs: Runs) -> None:
    html = runs._repr_html_()
    assert "mean</th>" in html
    assert "± 95 %</th>" in html
    assert "2 runs, seed 1" in html
    assert "no runs" in Runs()._repr_html_()


def test_text_of_files_is_escaped_in_html() -> None:
    run = made_up({"total_packets": 1.0, "goodput_kbps": 2.0}, overrides=(("tcp.python", "<b>.py"),))
    assert "tcp.python = &lt;b&gt;.py" in run._repr_html_()


def test_a_scenario_shows_its_title_its_changes_and_every_value() -> None:
    html = short()._repr_html_()
    assert "after Dubois (2005), Table 6.1, changed" in html
    assert "with duration = 20 s, radio.bler = 0.2" in html
    assert "max_dat = " in html


def test_a_sweep_needs_no_store_and_is_a_table() -> None:
    axes: dict[str, list[object]] = {"radio.bler": [0.01, 0.3], "tcp.variant": ["reno", "tahoe"]}
    results = sweep(short(), axes, runs=2)
    table = results.to_frame()
    assert table.columns[:3] == ["radio.bler", "tcp.variant", "key"]
    assert table["radio.bler"].to_list() == [0.01] * 4 + [0.3] * 4
    assert table["run"].to_list() == [0, 1] * 4
    goodput = results.summary().filter(pl.col("metric") == "goodput_kbps")
    assert goodput.select("radio.bler", "tcp.variant", "n").row(0) == (0.01, "reno", 2)
    html = results._repr_html_()
    assert "radio.bler</th>" in html
    assert "goodput_kbps (kbit/s)</th>" in html
    assert "radio.bler = 0.01, tcp.variant = reno" in results[0]._repr_html_()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_line_in_a_terminal_and_nothing_in_a_file() -> None:
    terminal, file = _Terminal(), io.StringIO()
    for stream in (terminal, file):
        simulate(short(), runs=2, watch=Progress(stream))
    assert terminal.getvalue().endswith("2 of 2 runs, 100 %\x1b[K\n")
    assert file.getvalue() == ""


def test_progress_is_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython is replaced by modules that record what is displayed."""
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda bar: shown.append(bar._repr_html_()))
    shell, display = ModuleType("IPython"), ModuleType("IPython.display")
    monkeypatch.setattr(shell, "get_ipython", lambda: SimpleNamespace(kernel=object()), raising=False)
    monkeypatch.setattr(display, "display", lambda _bar, display_id: handle, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    sweep(short(), {"radio.bler": [0.1, 0.2]}, watch=Progress())
    assert shown[-1] == '<progress value="1.0000" max="1"></progress> 2 of 2 runs, 100 %'


def test_the_text_of_runs_is_one_line(runs: Runs) -> None:
    assert repr(runs[0]) == f"Run('ftp-on-fach', seed=1, run=0, key='{runs[0].key[:12]}')"
    assert repr(runs).startswith("Runs(2 runs of ftp-on-fach, seed 1, umtslab ")
    assert repr(Runs()) == "Runs(no runs)"
    assert len(str(runs)) < 120


def test_quantities_in_tables_are_numbers_with_a_unit() -> None:
    grid: dict[str, list[object]] = {"duration": ["5 s", "5100 ms"], "radio.bler": [0.1]}
    points = sweep(FTP, grid)
    frame = points.to_frame()
    assert frame["duration"].to_list() == [5.0, 5.1]
    assert points.key_units() == {"duration": "s"}
    assert repr(points) == "PointResults(2 points of duration, radio.bler)"
    runs = Runs(run for point in points for run in point.runs)
    assert runs.to_frame()["duration"].to_list() == [5.0, 5.1]
    assert runs.key_units() == {"duration": "s"}


def test_no_runs_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"runs must be at least 1 \(got 0\)"):
        simulate(FTP, runs=0)
    with pytest.raises(ValueError, match="first_run must be at least 0"):
        simulate(FTP, first_run=-1)
    with pytest.raises(ValueError, match="runs must be at least 1"):
        sweep(FTP, {"radio.bler": [0.1]}, runs=0)
