"""Figures of the time budget: bars of a campaign or a run, and the waterfall of a connection.

A waterfall shows segments, RLC PDUs, RRC states and the causes of the budget on one time axis.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import FTP, Umts, overhanging
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from reproduce_synthetic import plan_in
from umtslab import Scenario, open_store, simulate
from umtslab.analyse.numbering import unwrapped
from umtslab.budget import causes, seconds
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.plot import draw_waterfall
from umtslab.plot.budget import draw_budget, per_connection
from umtslab.plot.campaign import draw_campaign
from umtslab.plot.causes import IN_PROXY, LOOKS
from umtslab.plot.run_budget import draw_run_budget
from umtslab.plot.tables import NobodyChosen, View
from umtslab.plot.waterfall import figure as waterfall_figure
from umtslab.reproduce.pictures import pictures
from umtslab.run import MissingSeries, Run

CONNECTION = 3
"""Number of the connection with a waterfall."""


@pytest.fixture(scope="session")
def budgeted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run in a store with time budgets and the waterfall of a connection."""
    settings = {"duration": "40 s", "measure.budget": True, "measure.waterfall": CONNECTION}
    scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), settings)
    with open_store(tmp_path_factory.mktemp("budgeted")) as store:
        return simulate(scenario, store=store, series=True)[0]


def campaign(*cells: Cell) -> Record:
    """Return the record of a campaign with these points."""
    return Record("c", "A campaign", tuple(cells[0].parameters), seed=1, cells=cells)


def test_every_cause_has_a_unique_style() -> None:
    assert tuple(LOOKS) == causes()
    looks = [*LOOKS.values(), *IN_PROXY.values()]
    assert len(set(looks)) == len(looks)


def test_bars_are_the_mean_time_of_a_connection(budgeted: Run) -> None:
    record = campaign(Cell({"radio.bler": 0.1}, (budgeted, budgeted)), Cell({"radio.bler": 0.2}, (budgeted,)))
    [axes] = draw_budget(record).axes
    of_first = [bar for bar in axes.patches if bar.get_x() < 0 < bar.get_x() + bar.get_width()]  # type: ignore[attr-defined]
    heights = [bar.get_height() for bar in of_first]  # type: ignore[attr-defined]
    spent = [budgeted.metrics[seconds(cause)] or 0.0 for cause in causes()]
    count = budgeted.connections().height
    assert heights == pytest.approx([time / count for time in spent if time > 0])
    assert sum(heights) == pytest.approx((budgeted.metrics["budget_total_s"] or 0.0) / count)
    assert axes.get_ylabel().endswith("(s)")
    assert axes.get_xlabel() == "Block error rate"
    assert per_connection(record.cells[1])["total"].n == 1


def test_a_second_parameter_is_panels_up_to_a_limit(budgeted: Run) -> None:
    def record(variants: int) -> Record:
        cells = (
            Cell({"radio.bler": bler, "tcp.variant": f"v{number}"}, (budgeted,))
            for bler in (0.1, 0.2)
            for number in range(variants)
        )
        return campaign(*cells)

    panels = draw_budget(record(2), "radio.bler").axes
    timers = (Cell({"radio.bler": 0.1, "rrc.inactivity": timer}, (budgeted,)) for timer in ("2 s", "8 s"))
    named = draw_budget(campaign(*timers), "radio.bler").axes
    assert [axes.get_title(loc="left") for axes in named] == ["Inactivity timer 2 s", "Inactivity timer 8 s"]
    assert [axes.get_title(loc="left") for axes in panels] == ["v0", "v1"]
    with pytest.raises(CampaignError, match="c@KEY=VALUE"):
        draw_budget(record(9), "radio.bler")
    with pytest.raises(CampaignError, match="does not vary"):
        draw_budget(record(2), "tcp.mss")


def test_titles_of_panels_do_not_overlap(budgeted: Run) -> None:
    cells = (
        Cell({"radio.bler": bler, "rlc.max_dat": number}, (budgeted,))
        for bler in (0.1, 0.2)
        for number in (2, 3, 9)
    )
    figure = draw_budget(campaign(*cells), "radio.bler")
    figure.draw_without_rendering()
    titles = [text for axes in figure.axes for text in axes.findobj(Text) if "MaxDAT" in text.get_text()]
    boxes = [title.get_window_extent() for title in titles]
    assert len(boxes) == 3
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_bars_are_sorted_if_their_labels_are_numbers(budgeted: Run) -> None:
    def ticks(*values: object) -> list[str]:
        [axes] = draw_budget(campaign(*(Cell({"key": value}, (budgeted,)) for value in values))).axes
        return [label.get_text() for label in axes.get_xticklabels()]

    assert ticks(6, 2, 10) == ["2", "6", "10"]
    assert ticks("20 ms", "10 ms") == ["10", "20"]
    assert ticks("1 s", "500 ms") == ["0.5", "1"]
    assert ticks("reno", "bbr") == ["Reno", "BBR"]


def test_an_axis_of_whole_numbers_has_no_ticks_between(budgeted: Run) -> None:
    cells = (Cell({"rlc.max_dat": number}, (budgeted,)) for number in (2, 3, 6))
    figure = draw_campaign(campaign(*cells), "goodput_kbps")
    figure.draw_without_rendering()
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_xticks())


def test_a_campaign_without_budgets_names_the_key(switched: Run) -> None:
    with pytest.raises(CampaignError, match=r"measure\.budget"):
        draw_budget(campaign(Cell({"radio.bler": 0.1}, (switched,)), Cell({"radio.bler": 0.2}, (switched,))))


def test_the_waterfall_has_all_layers_and_causes_on_one_time_axis(budgeted: Run) -> None:
    figure = draw_waterfall(budgeted)
    assert overhanging(figure) == []
    tcp, rlc, rrc, cause = figure.axes
    assert f"connection {CONNECTION}" in tcp.get_title(loc="left")
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert (tcp.get_ylabel(), cause.get_xlabel()) == ("TCP downlink (kB)", "time (s)")
    table = budgeted.series("waterfall")
    segments = table.filter(
        (pl.col("what") == "segment") & ~pl.col("lost") & (pl.col("direction") == "downlink")
    )
    label = "segment or PDU, sender to receiver"
    of_tcp, of_rlc = (
        {str(area.get_label()): len(area.get_paths()) for area in axes.collections} for axes in (tcp, rlc)
    )
    assert of_tcp[label] == len(segments)
    assert of_rlc[label] > len(segments)
    # The legend has one entry for each style, and no label twice.
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(set(entries)) == len(entries)
    assert {str(area.get_label()) for area in rrc.collections} == {
        "RRC: CELL_FACH",
        "RRC: CELL_DCH",
        "RRC: switch",
    }
    shown = sum(len(area.get_paths()) for area in cause.collections)
    intervals = budgeted.series("budget_intervals").filter(pl.col("connection") == CONNECTION)
    assert shown == len(intervals.filter(pl.col("end_s") > pl.col("start_s")))


def test_the_waterfall_of_a_split_transfer_has_both_connections_and_the_buffer(tmp_path: Path) -> None:
    file = FTP.with_name("split-download.toml")
    changes = {"measure.budget": "true", "link.0.loss": "0", "proxy.buffer": "16 kB"}
    tables = []
    for number in (0, 1):
        scenario = Scenario.load(file, {**changes, "measure.waterfall": str(number)})
        with open_store(tmp_path / str(number)) as store:
            run = simulate(scenario, series=True, store=store)[0]
        tables.append(run.series("waterfall"))
    assert tables[0].equals(tables[1]), "either connection gives the waterfall of the transfer"
    table = tables[0]
    assert set(table["layer"]) == {"tcp_server", "proxy", "tcp_radio", "rlc"}
    buffer = table.filter(pl.col("layer") == "proxy")
    assert buffer["first"].max() == run.metrics["proxy_buffer_max_octets"]
    stalled_s = (
        buffer.filter(pl.col("what") == "full").select((pl.col("end_s") - pl.col("time_s")).sum()).item()
    )
    assert stalled_s == pytest.approx(run.metrics["proxy_stalled_s"], abs=1e-6)
    figure = draw_waterfall(run)
    assert overhanging(figure) == []
    server, proxy, radio, pdus, cause = figure.axes
    assert [axes.get_ylabel() for axes in (server, proxy, radio, pdus)] == [
        "TCP server (kB)",
        "proxy (kB)",
        "TCP radio (kB)",
        "RLC PDU (number)",
    ]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert len(proxy.patches) == len(buffer.filter(pl.col("direction") == "downlink"))
    intervals = run.series("transfer_budget_intervals")
    shown = sum(len(area.get_paths()) for area in cause.collections)
    assert shown == len(intervals.filter(pl.col("end_s") > pl.col("start_s")))


def test_drops_at_the_nodeb_are_not_losses_on_the_air(budgeted: Run) -> None:
    _, rlc, *_ = draw_waterfall(budgeted).axes
    marks = {str(line.get_label()): len(line.get_xdata()) for line in rlc.lines}  # type: ignore[arg-type]
    table = budgeted.series("waterfall").filter(
        (pl.col("layer") == "rlc") & (pl.col("direction") == "downlink")
    )
    data = table.filter(pl.col("what").is_in(["pdu", "pdu_again"]))
    for words, place in (
        ("PDU lost on the air", "air"),
        ("PDU dropped by the full Node B queue", "nodeb_queue"),
    ):
        rows = data.filter(pl.col("lost_at") == place)
        assert marks.get(words, 0) == len(rows)


def test_a_waterfall_of_a_part_of_the_time_shows_only_its_events(budgeted: Run) -> None:
    tcp, rlc, _, cause = draw_waterfall(budgeted, from_s=5.0, until_s=5.5).axes
    assert tcp.get_xlim() == (5.0, 5.5)
    for axes in (tcp, rlc):
        lines = [np.asarray(path.vertices) for area in axes.collections for path in area.get_paths()]
        assert lines
        assert all(line[0][0] <= 5.5 and line[-1][0] >= 5.0 for line in lines)
    everything = draw_waterfall(budgeted).axes[1]
    assert rlc.get_ylim()[0] > everything.get_ylim()[0]
    assert cause.collections


def test_a_waterfall_of_another_connection_is_an_error(budgeted: Run, switched: Run) -> None:
    with pytest.raises(MissingSeries, match=r"of connection 3: run it again with --waterfall 5"):
        draw_waterfall(budgeted, 5)
    with pytest.raises(MissingSeries, match=r"--waterfall 2"):
        draw_waterfall(switched, 2)


def test_a_waterfall_of_an_unknown_connection_is_a_warning_then_an_error(umts: Umts) -> None:
    words = ("--duration", "5 s", "--waterfall", 99, "--out", "none")
    message = "run 0 had connections 0 to 0, so connection 99 was not recorded"
    assert f"warning: {message}" in umts("run", FTP, *words).stderr
    assert umts("plot", "none", "waterfall", status=2).stderr == f"umts: {message}\n"


def test_the_command_draws_a_part_of_the_time(umts: Umts, budgeted: Run, tmp_path: Path) -> None:
    folder = budgeted.folder
    umts("plot", folder, "waterfall", "--connection", CONNECTION, "--from", 2, "--until", 6, "-o", "x.svg")
    assert b"<svg" in (tmp_path / "x.svg").read_bytes()
    umts("plot", folder, "waterfall", "--from", "2000 ms", "--until", "0.1 min", "-o", "y.svg")
    assert (tmp_path / "x.svg").read_bytes() == (tmp_path / "y.svg").read_bytes()
    for word in ("soon", "5 kB", "inf"):
        assert "--from takes seconds" in umts("plot", folder, "rrc", "--from", word, status=2).stderr
    assert "--until" in umts("plot", folder, "rrc", "--from", 6, "--until", 2, status=2).stderr
    errors = umts("plot", folder, "waterfall", "--connection", "1,2", status=2).stderr
    assert errors == "umts: the waterfall shows one connection: give --connection N once\n"


def unwrapped_numbers(*rows: tuple[str, int, int]) -> list[tuple[int, int]]:
    """Return the first and last PDU number of each block of PDUs.

    Each row has the kind of PDUs and the first and last sequence number of a block.
    """
    table = pl.DataFrame(rows, schema=["what", "first", "last"], orient="row")
    return unwrapped(table).select("first", "last").rows()


def test_pdu_numbers_continue_when_sequence_numbers_wrap_around() -> None:
    """Numbers begin with 0 for the first new PDU. Retransmissions keep their numbers."""
    blocks = [("pdu", 4090, 4095), ("pdu", 0, 3), ("pdu_again", 4094, 4095), ("pdu", 4, 4)]
    assert unwrapped_numbers(*blocks) == [(0, 5), (6, 9), (4, 5), (10, 10)]
    # A retransmission of an earlier PDU, three before the first new one, has a negative number.
    assert unwrapped_numbers(("pdu_again", 4095, 4095), ("pdu", 2, 3)) == [(-3, -3), (0, 1)]
    # Unacknowledged mode has sequence numbers of seven bits.
    assert unwrapped_numbers(("pdu", 120, 127), ("pdu", 0, 0)) == [(0, 7), (8, 8)]
    # Options without a modulus have numbers above 4095, which do not wrap around.
    assert unwrapped_numbers(("pdu", 5000, 5001), ("pdu", 5002, 5002)) == [(0, 1), (2, 2)]
    assert unwrapped_numbers() == []


def test_pdus_recorded_out_of_order_do_not_count_as_wrap_around() -> None:
    late = [("pdu", 0, 9), ("pdu", 13, 13), ("pdu", 10, 12), ("pdu", 14, 14)]
    assert unwrapped_numbers(*late) == [(0, 9), (13, 13), (10, 12), (14, 14)]
    late_at_the_end = [("pdu", 4000, 4094), ("pdu", 0, 1), ("pdu", 4095, 4095), ("pdu", 2, 2)]
    assert unwrapped_numbers(*late_at_the_end) == [(0, 94), (96, 97), (95, 95), (98, 98)]


def test_a_report_shows_where_the_time_went_and_the_waterfall(budgeted: Run, tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    points = list(plan.points(plan.sweeps[0], quick=False))
    drawn = pictures(plan, points, lambda _: [budgeted])
    assert [picture.anchor.rpartition("-")[2] for picture in drawn] == ["budget", "rrc", "cell", "waterfall"]


def test_a_run_without_a_budget_names_the_option(umts: Umts) -> None:
    umts("run", FTP, "--duration", "20 s", "--quiet")
    refused = umts("plot", "results", "budget", status=2)
    assert "run it again with --budget" in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.fixture
def programs(budgeted: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose budget table is replaced by the one of an emulation.

    Its rows are a DNS lookup of 2.0 s and a TCP connection of 1.0 s, both of UE 0, and a UDP flow of
    3.5 s of UE 1.
    """
    spent = {seconds(cause): [0.0, 0.0, 0.0] for cause in causes()}
    spent[seconds("channel_switch")] = [2.0, 0.0, 0.5]
    spent[seconds("serialisation")] = [0.0, 1.0, 3.0]
    connections = {"connection": [0, 1, 2], "ue": [0, 0, 1], "protocol": ["dns", "tcp", "udp"]}
    table = pl.DataFrame({**connections, **spent})
    monkeypatch.setattr(Run, "series_kinds", lambda _: ["budget_connections"])
    monkeypatch.setattr(Run, "series", lambda _, _kind: table)
    return budgeted


def bars(axes: Axes) -> dict[str, float]:
    """Return the total length of each bar of a panel, over all causes."""
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    lengths = dict.fromkeys(names, 0.0)
    for bar in axes.patches:
        assert isinstance(bar, Rectangle)
        lengths[names[number_of(bar)]] += bar.get_width()
    return lengths


def number_of(bar: Rectangle) -> int:
    """Return the number of the label of a bar, which is at the middle of its height."""
    return round(bar.get_y() + bar.get_height() / 2)


def test_every_connection_flow_and_lookup_of_an_emulation_is_drawn(programs: Run) -> None:
    mean, each, users = draw_run_budget(programs).axes
    assert bars(mean) == {"3 connections": pytest.approx(6.5 / 3)}
    assert bars(each) == {"UDP flow 2": 3.5, "name lookup 0": 2.0, "connection 1": 1.0}
    assert bars(users) == {"UE 0, 2 connections": 1.5, "UE 1, 1 connection": 3.5}


def test_connections_and_ues_of_an_emulation_can_be_chosen(programs: Run) -> None:
    def chosen(view: View) -> list[str]:
        return list(bars(draw_run_budget(programs, view).axes[1]))

    assert chosen(View(connections=(1,))) == ["connection 1"]
    assert chosen(View(ues=(1,))) == ["UDP flow 2"]
    with pytest.raises(NobodyChosen, match="no connection 7: there are 0, 1, 2"):
        draw_run_budget(programs, View(connections=(7,)))


def test_a_late_acknowledgment_does_not_lower_the_line_of_acknowledgments() -> None:
    """The acknowledgment of 1,000 bytes arrives after the one of 2,000 bytes."""

    def row(time: float, end: float | None, direction: str, what: str, number: int) -> tuple[object, ...]:
        return (time, end, "tcp", direction, what, number, number, False, "")

    names = ["time_s", "end_s", "layer", "direction", "what", "first", "last", "lost", "lost_at"]
    rows = [
        # Times of sending and arrival in seconds. The last two packets are in flight at the end.
        row(0.0, 0.2, "downlink", "segment", 1000),
        row(0.2, 0.6, "uplink", "ack", 1000),
        row(0.3, 0.5, "uplink", "ack", 2000),
        row(0.7, None, "uplink", "ack", 9000),
        row(0.8, None, "downlink", "segment", 3000),
        row(0.4, 0.4, "uplink", "rto", 0),
    ]
    table = pl.DataFrame(rows, schema=names, orient="row")
    intervals = pl.DataFrame({"start_s": [0.0], "end_s": [1.0], "cause": ["serialisation"]})
    tcp = waterfall_figure(table, intervals).axes[0]
    lines = {str(line.get_label()): line for line in tcp.lines}
    assert list(lines["acknowledged"].get_ydata()) == [2.0, 2.0]  # type: ignore[arg-type]
    assert list(lines["in flight at the end"].get_xdata()) == [0.8]  # type: ignore[arg-type]
    assert list(lines["retransmission timeout of the receiver"].get_xdata()) == [0.4, 0.4]  # type: ignore[arg-type]


def test_a_split_transfer_has_its_own_bar_and_connections_name_their_leg() -> None:
    changes = {"measure.budget": "true", "link.0.loss": "0", "proxy.buffer": "8 kB", "flow.0.size": "300 kB"}
    (run,) = simulate(Scenario.load(FTP.with_name("split-download.toml"), changes))
    figure = draw_run_budget(run)
    assert overhanging(figure) == []
    means, each = figure.axes
    names = [[tick.get_text() for tick in axes.get_yticklabels()] for axes in (means, each)]
    assert names[0] == ["1 transfer", "server: 1", "radio: 1"]
    assert sorted(names[1]) == ["connection 0, server", "connection 1, radio"]
    of_transfer = [bar for bar in means.patches if isinstance(bar, Rectangle) and number_of(bar) == 0]
    total_s = sum(bar.get_width() for bar in of_transfer)
    assert total_s == pytest.approx(run.metrics["transfer_budget_total_s"])
    assert run.metrics["transfer_budget_proxy_queue_s"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "in the proxy" in legend
    longest = max(
        bar.get_bbox().x1 for axes in figure.axes for bar in axes.patches if isinstance(bar, Rectangle)
    )
    assert means.get_xlim()[1] > longest


def test_connections_that_bypass_the_proxy_have_a_separate_mean(tmp_path: Path) -> None:
    text = FTP.with_name("split-download.toml").read_text(encoding="utf-8")
    more = '[[flow]]\nue = "user"\ntraffic = "file"\nsize = "50 kB"\nport = 80\n'
    file = tmp_path / "both.toml"
    file.write_text(f"{text}\n{more}", encoding="utf-8")
    (run,) = simulate(Scenario.load(file, {"measure.budget": "true", "proxy.ports": "[80]"}))
    means, each = draw_run_budget(run).axes
    assert [tick.get_text() for tick in means.get_yticklabels()] == [
        "1 transfer",
        "passed: 1",
        "server: 1",
        "radio: 1",
    ]
    names = {tick.get_text().partition(",")[2].strip() for tick in each.get_yticklabels()}
    assert names == {"", "server", "radio"}
