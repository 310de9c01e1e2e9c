"""The time budget from Python and from the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import FTP, Umts, short
from umtslab import Store, simulate
from umtslab.budget import MissingBudget, causes

BUDGET_S = 19.5
"""Time in seconds that the budget of a run of 20 s covers: FTP starts at 0.5 s."""


def test_a_requested_budget_covers_the_time_of_the_connection() -> None:
    (run,) = simulate(short(("measure.budget", "true")))
    budget = run.budget()
    assert budget["cause"].to_list() == list(causes())
    total = run.metrics["budget_total_s"]
    assert total == pytest.approx(BUDGET_S)
    assert budget["time_s"].sum() == pytest.approx(total)
    assert budget["share_pct"].sum() == pytest.approx(100)
    # A fifth of the blocks is lost, so RLC recovery takes a good part of the time.
    assert budget["time_s"].item(causes().index("rlc_recovery")) > 1


def test_a_run_has_no_budget_unless_requested() -> None:
    (run,) = simulate(short())
    with pytest.raises(MissingBudget, match="--budget"):
        run.budget()
    assert not any(name.startswith("budget_") for name in run.metrics)
    assert not any(name.startswith("budget_") for name in run.connections().columns)


def test_the_store_keeps_parts_intervals_and_waterfall(store: Store) -> None:
    scenario = short(("measure.budget", "true"), ("measure.waterfall", "0"))
    (run,) = simulate(scenario, store=store, series=True)
    connections = run.connections()
    parts = connections.select([f"budget_{cause}_s" for cause in causes()]).row(0)
    assert sum(parts) == pytest.approx(connections["budget_total_s"].item())

    intervals = run.series("budget_intervals")
    lengths = intervals["end_s"] - intervals["start_s"]
    assert lengths.sum() == pytest.approx(connections["budget_total_s"].item())
    # An interval of recovery has the sequence number of the missing PDU.
    recovery = intervals.filter(intervals["cause"] == "rlc_recovery")
    assert recovery["sn"].is_not_null().any()

    waterfall = run.series("waterfall")
    assert set(waterfall["layer"].unique()) == {"tcp", "rlc"}
    assert waterfall.filter(waterfall["lost"])["what"].is_in(["pdu", "pdu_again", "status"]).all()
    assert waterfall["lost"].sum() > 10


def test_the_command_prints_a_table_that_adds_up(umts: Umts) -> None:
    printed = umts("run", FTP, "--duration", "20 s", "--budget", "--quiet").stdout
    assert "time budget" in printed
    assert "serialisation" in printed
    answer = json.loads(umts("run", FTP, "--duration", "20 s", "--budget", "--json").stdout)
    metrics = answer["runs"][0]["metrics"]
    parts = [metrics[f"budget_{cause}_s"] for cause in causes()]
    assert sum(parts) == pytest.approx(metrics["budget_total_s"])
    connection = answer["runs"][0]["connections"][0]
    assert connection["budget_total_s"] == pytest.approx(BUDGET_S)


def test_a_full_rlc_window_is_the_reason_of_the_timeouts_in_its_time(umts: Umts) -> None:
    # Without polls no report moves the window of 32 PDUs, so the transfer stalls in its first second. The
    # timer starts at 0.94 s with 1 s and doubles: it expires at 1.94, 3.94 and 7.94 s.
    file = FTP.with_name("ftp-on-dch-384.toml")
    printed = umts("run", file, "--duration", "10 s", "--set", "rlc.window=32", "--budget", "--json").stdout
    metrics = json.loads(printed)["runs"][0]["metrics"]
    assert metrics["rto_count"] == metrics["budget_spurious_rtos_rlc_window"] == 3
    assert metrics["budget_rlc_window_s"] > 9


def test_needed_timeouts_are_split_by_loss_and_counted_for_both_ends(umts: Umts) -> None:
    file = FTP.with_name("three-losses.toml")
    printed = umts("run", file, "--budget", "--quiet").stdout.splitlines()
    # All needed timeouts follow a loss in the core network, so the row of this part has the same time as
    # the row "needed RTO". Only the latter ends with a percentage.
    needed = [line.split()[-2] for line in printed if line.strip().startswith("needed RTO")]
    after_loss = [line.split()[-1] for line in printed if line.strip().startswith("after core network loss")]
    assert needed == after_loss
    assert needed
    assert any(line.startswith("timeouts of both ends, by reason") for line in printed)
    assert any(line.split()[:-1] == ["Needed", "timeouts:", "core", "network", "loss"] for line in printed)


def test_the_option_for_a_waterfall_implies_the_budget_and_its_key_does_not(umts: Umts) -> None:
    umts("run", FTP, "--duration", "5 s", "--waterfall", "0", "--out", "results", "--quiet")
    # Without measure.budget = true the key is an error.
    umts("run", FTP, "--set", "measure.waterfall=0", "--quiet", status=2)


CAMPAIGN = """\
version = 1
scenario = "ftp.toml"
runs = 2

[set]
duration = "20 s"
measure.budget = true

[grid]
radio.bler = [0.05, 0.2]
"""


def test_a_campaign_sums_the_budgets_of_its_runs(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "ftp.toml").write_text(FTP.read_text())
    (tmp_path / "budgets.toml").write_text(CAMPAIGN)
    answer = json.loads(umts("sweep", "budgets.toml", "--json").stdout)
    # Two points with two runs each.
    assert sum(answer["budget_s"].values()) == pytest.approx(2 * 2 * BUDGET_S)
    recovery = [point["summary"]["budget_rlc_recovery_pct"]["mean"] for point in answer["points"]]
    assert recovery[0] < recovery[1]
    assert "time budget of all runs" in umts("sweep", "budgets.toml", "--quiet").stdout


def test_the_budget_of_split_transfers_adds_up(umts: Umts) -> None:
    words = ("run", FTP.with_name("split-download.toml"), "--budget", "--quiet")
    of_transfers = umts(*words).stdout.partition("time budget of transfers")[2].partition("\n\n")[0]
    rows = [line.rsplit(maxsplit=2) for line in of_transfers.splitlines()[1:]]
    times = {part.strip(): float(time) for part, time, _ in rows}
    total = times.pop("total")
    assert sum(times.values()) == pytest.approx(total, rel=0.01)
    assert {part.partition(":")[0] for part in times} >= {"server leg", "radio leg"}
    assert "of transfers" not in umts(*words, "--set", "proxy.mode=pass").stdout
