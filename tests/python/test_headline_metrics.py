"""Result tables show the metrics that matter for a scenario, and the scope of each number."""

from __future__ import annotations

import json

import pytest
from conftest import DSCH, FTP, Umts
from umtslab import Run, Scenario, simulate
from umtslab.headline_metrics import headline_names, main_metric, scope_of
from umtslab.tables import connections_table


def run(name: str, duration: str) -> Run:
    """Return a run of a shipped scenario."""
    return simulate(Scenario.load(FTP.with_name(f"{name}.toml"), {"duration": duration}))[0]


@pytest.fixture(scope="module")
def many() -> Run:
    """A run with 16 downloads over FACH and DCHs."""
    return run("ftp-fach-dch", "40 s")


def test_voice_shows_datagrams_both_ways_and_no_fach() -> None:
    names = headline_names(run("voice-beside-download", "20 s").metrics)
    assert {"udp_delay_ms", "udp_p95_delay_ms", "udp_jitter_ms", "udp_loss_pct"} <= set(names)
    assert "udp_delay_ms_uplink" in names
    assert "goodput_kbps" in names
    assert not {"fach_queue_drops", "jain_fairness", "rrc_switches", "pages"} & set(names)
    assert not {"rlc_unrecoverable_errors", "rlc_reestablishments", "cell_updates"} & set(names)


def test_connections_that_never_open_are_shown(umts: Umts) -> None:
    words = ("run", FTP, "--duration", "10 s", "--budget")
    lines = umts(*words, "--set", 'at=[{ time = "0 s", set = { radio.cut = true } }]').stdout.splitlines()
    values = {line.split()[0]: line.split()[1] for line in lines if len(line.split()) > 2}
    assert values["goodput_kbps"] == "0"
    assert float(values["tcp_retransmissions"]) > 0
    assert "mean_rtt_s" not in values
    # Without any connection there is no table of causes.
    idle = umts(*words, "--set", "flow.0.start=20 s").stdout
    assert "no connection was open, so no time has a cause" in idle
    assert "time budget" not in idle


def test_a_measured_radio_has_no_rlc() -> None:
    names = headline_names(run("measured-radio", "20 s").metrics)
    assert {"udp_delay_ms", "sdu_delay_ms"} <= set(names)
    assert not {"rlc_throughput_iub_kbps", "residual_loss_pct", "bler_pct"} & set(names)


@pytest.mark.parametrize("reaction", ["cell_update", "ignored"])
def test_a_failed_bearer_is_named(reaction: str) -> None:
    outage = FTP.parents[1] / "crates" / "simulate" / "tests" / "outage.toml"
    changes = {"duration": "60 s", "seed": 2, "rrc.rlc_unrecoverable_error": reaction}
    metrics = simulate(Scenario.load(outage, changes))[0].metrics
    assert (metrics["rlc_unrecoverable_errors"] or 0) > 0
    names = headline_names(metrics)
    assert "rlc_unrecoverable_errors" in names
    assert ("rlc_reestablishments" in names) == (reaction == "cell_update")


def test_the_web_shows_pages_and_the_cell() -> None:
    names = headline_names(run("web-cell", "100 s").metrics)
    assert {"pages", "page_time_s", "packet_call_time_s"} <= set(names)
    assert {"cell_efficiency", "rrc_switches", "energy_j", "fach_queue_drops"} <= set(names)


def test_many_cells_show_power_and_waiting_requests(many_cells: Run, many: Run) -> None:
    names = headline_names(many_cells.metrics)
    of_layouts = {
        "load_factor_pct",
        "tx_power_dbm",
        "mean_calls",
        "call_bler_pct",
        "mean_sf",
        "dsch_postponed_pct",
    }
    assert of_layouts <= set(names)
    assert not of_layouts & set(headline_names(many.metrics))
    assert scope_of("dsch_users_per_tti") == "all cells"


def test_blocking_and_legs_of_calls_are_shown_if_calls_have_codes_and_soft_handover(many_cells: Run) -> None:
    changes = {
        "duration": "4 s",
        "measure.from": "1 s",
        "cell.0.dch.codes": "one_tree",
        "handover.soft.add": "3 dB",
        "handover.soft.drop": "5 dB",
    }
    of_calls = {"calls_blocked_pct", "mean_legs"}
    assert of_calls <= set(headline_names(simulate(Scenario.load(DSCH, changes))[0].metrics))
    assert not of_calls & set(headline_names(many_cells.metrics))


def test_a_network_without_switching_has_no_cell(scenario: Scenario) -> None:
    names = headline_names(simulate(scenario)[0].metrics)
    assert not {"cell_efficiency", "energy_j", "udp_delay_ms", "link_drops"} & set(names)


def test_fairness_while_active_differs_from_fairness_of_equal_downloads(many: Run) -> None:
    # All users download files of one size, which takes them different times.
    assert many.metrics["jain_fairness"] == 1
    assert many.metrics["jain_fairness_active"] == pytest.approx(0.94, abs=0.05)
    assert {"jain_fairness", "jain_fairness_active"} <= set(headline_names(many.metrics))


def test_several_results_show_the_metrics_of_any_of_them(many: Run, scenario: Scenario) -> None:
    assert "energy_j" in headline_names(simulate(scenario)[0].metrics, many.metrics)


def test_the_scope_of_a_metric_has_aggregation_and_direction() -> None:
    assert scope_of("goodput_kbps") == "sum over connections"
    assert scope_of("mean_rtt_s") == "mean over samples"
    assert scope_of("bler_pct") == "downlink, of blocks"
    assert scope_of("rlc_resets_uplink") == "uplink, all users"
    assert scope_of("udp_sent") == "downlink, all users"


def test_connections_are_listed_in_order_with_their_goodput_while_active(many: Run) -> None:
    table = connections_table(many.connection_rows())
    assert [row[0] for row in table.rows] == [str(number) for number in range(16)]
    assert table.headings[2] == "goodput_active_kbps (kbit/s)"
    assert len({row[2] for row in table.rows}) > 10


def test_both_connections_of_a_split_transfer_show_their_leg(umts: Umts) -> None:
    lines = umts("run", FTP.with_name("split-download.toml")).stdout.splitlines()
    heading = next(n for n, line in enumerate(lines) if line.startswith("connection"))
    assert [line.split()[:3] for line in lines[heading : heading + 3]] == [
        ["connection", "leg", "ue"], ["0", "server", "0"], ["1", "radio", "0"],
    ]  # fmt: skip
    # The transfer time covers the whole transfer, not only the connection to the user.
    assert [line.split()[0] for line in lines if "_time_s" in line.split(" ")[0]] == ["transfer_time_s"]
    rows = json.loads(umts("run", FTP.with_name("split-download.toml"), "--json").stdout)["runs"][0]
    assert [(row["transfer"], row["leg"]) for row in rows["connections"]] == [(0, "server"), (0, "radio")]


def test_a_tdd_cell_shows_slots_and_waits(umts: Umts) -> None:
    changes = ("--set", "duration=30 s", "--set", "measure.from=0 s")
    names = {
        line.split(" ")[0]
        for line in umts("run", FTP.with_name("tdd-ftp.toml"), *changes).stdout.splitlines()
    }
    assert {
        "segment_air_time_s",
        "uplink_tdd_slots",
        "uplink_capacity_wait_s",
        "uplink_sdus_per_grant",
    } <= names


def test_the_command_prints_the_changed_keys(umts: Umts) -> None:
    lines = umts("run", FTP, "--set", "radio.bler=0.2", "--duration", "5 s", "--budget").stdout.splitlines()
    assert lines[1].startswith("after Dubois (2005), Table 6.1, changed; 1 run of 5 s")
    assert lines[2] == "with radio.bler = 0.2, duration = 5 s"
    assert lines[4].split() == ["metric", "value", "unit", "scope"]
    answer = json.loads(umts("run", FTP, "--set", "radio.bler=0.2", "--duration", "5 s", "--json").stdout)
    assert answer["changes"] == {"radio.bler": "0.2", "duration": "5 s"}
    unchanged = umts("run", FTP.with_name("three-losses.toml"), "--out", "other").stdout.splitlines()
    assert not any(line.startswith("with ") for line in unchanged)


def test_equal_runs_have_an_interval_of_zero(umts: Umts) -> None:
    words = ("run", FTP, "--duration", "60 s", "--precision", "5%", "--set", "radio.bler=0")
    rows = {line.split()[0]: line.split() for line in umts(*words).stdout.splitlines() if line}
    assert rows["goodput_kbps"][2] == "0"


def test_chosen_metrics_keep_the_usual_order() -> None:
    """Chosen metrics are shown in the usual order, without those that the run lacks."""
    metrics = run("voice-beside-download", "20 s").metrics
    some = ("pages", "mean_rtt_s", "udp_loss_pct", "goodput_kbps")
    assert headline_names(metrics, among=some) == [name for name in headline_names(metrics) if name in some]
    assert headline_names(metrics, among=some) == ["goodput_kbps", "mean_rtt_s", "udp_loss_pct"]


def test_the_first_metric_is_the_time_that_users_wait_or_their_goodput() -> None:
    assert headline_names(run("ftp-on-fach", "20 s").metrics)[0] == "goodput_kbps"
    split = run("split-download", "60 s").metrics
    assert (headline_names(split)[0], main_metric(split)) == ("transfer_time_s", "transfer_time_s")
    web = run("web-cell", "100 s").metrics
    assert (headline_names(web)[0], main_metric(web)) == ("page_time_s", "page_time_s")
    file = simulate(Scenario.load(FTP, {"flow.0.traffic": "file", "flow.0.size": "10 kB"}))[0].metrics
    assert (headline_names(file)[0], main_metric(file)) == ("download_time_s", "download_time_s")
    assert main_metric({"goodput_kbps": 1.0}) == main_metric() == "goodput_kbps"
