"""Phases of a connection, and their marks in figures."""

from __future__ import annotations

import pytest
from conftest import FTP, Umts
from umtslab import Scenario, simulate
from umtslab.figure_kinds import ANNOTATED
from umtslab.plot import NobodyChosen, View, draw
from umtslab.plot.phases import Phases, phases
from umtslab.run import MissingSeries, Run

LOSSES = FTP.with_name("three-losses.toml")
WHOLE = View()


def losses(variant: str = "reno", **changes: object) -> Run:
    settings = {"duration": "60 s", "tcp.variant": variant, **changes}
    return simulate(Scenario.load(LOSSES, settings), series=True)[0]


@pytest.fixture(scope="module")
def newreno() -> Run:
    """One connection that loses three segments of a window."""
    return losses("newreno")


@pytest.mark.parametrize("variant", ["tahoe", "reno", "newreno", "sack", "vegas", "cubic"])
@pytest.mark.parametrize("changes", [{}, {"radio.bler": 0.3, "rlc.max_dat": 3}], ids=["script", "radio"])
def test_timeouts_are_the_counted_ones(variant: str, changes: dict[str, object]) -> None:
    run = losses(variant, **changes)
    assert len(phases(run, WHOLE).timeouts) == run.metrics["rto_count"]


def test_a_recovery_begins_with_a_retransmission_and_ends_with_its_acknowledgment(newreno: Run) -> None:
    of_run = phases(newreno, WHOLE)
    [(start_s, end_s)] = of_run.recovery
    assert of_run.fast_retransmits == [start_s]
    assert of_run.timeouts == []
    sent, acked = newreno.series("sent"), newreno.series("acked")
    retransmissions = sent.filter(sent["retransmission"])
    assert retransmissions["time_s"].min() == start_s
    assert end_s in acked["time_s"]
    # The recovery ends when everything is acknowledged that was sent before it.
    sent_before = sent.filter(sent["time_s"] <= start_s)["end"].max()
    acked_before_end = acked.filter(acked["time_s"] < end_s)["ack"].max()
    acked_at_end = acked.filter(acked["time_s"] == end_s)["ack"].max()
    assert acked_before_end < sent_before <= acked_at_end  # type: ignore[operator]


def test_slow_start_lasts_while_the_window_is_below_the_threshold(newreno: Run) -> None:
    [(first_start_s, first_end_s), *_] = phases(newreno, WHOLE).slow_start
    [(lost_s, _)] = phases(newreno, WHOLE).recovery
    assert first_start_s == newreno.series("acked")["time_s"][0]
    assert first_end_s == lost_s
    tahoe = losses("tahoe")  # After the loss, the window begins again at one segment.
    [(start_s, end_s)] = phases(tahoe, WHOLE).slow_start
    windows, threshold = tahoe.series("cwnd"), tahoe.series("ssthresh")["ssthresh_segments"][-1]
    assert start_s < lost_s < end_s
    assert windows.filter(windows["time_s"] == end_s)["cwnd_segments"][0] >= threshold
    later = windows.filter((windows["time_s"] > lost_s) & (windows["time_s"] < end_s))
    assert (later["cwnd_segments"] < threshold).all()


def test_switches_of_the_ue_are_marked(switched: Run) -> None:
    switches = phases(switched, View(connections=(9,))).switches
    states = switched.series("rrc_state")
    [ue] = {row["ue"] for row in switched.connection_rows() if row["connection"] == 9}
    towards = states.filter((states["ue"] == ue) & (states["towards"] != ""))
    assert [start for start, _ in switches] == towards["time_s"].to_list()
    assert all(start < end for start, end in switches)


def test_one_connection_must_be_chosen(switched: Run) -> None:
    with pytest.raises(NobodyChosen, match="16 are chosen: give --connection N once"):
        phases(switched, WHOLE)
    with pytest.raises(NobodyChosen, match="has no connection 99"):
        phases(switched, View(connections=(99,)))


def test_a_run_without_series_has_no_phases() -> None:
    [run] = simulate(Scenario.load(LOSSES, {"duration": "1 s"}))
    with pytest.raises(MissingSeries, match="no time series"):
        phases(run, WHOLE)


@pytest.mark.parametrize("kind", ANNOTATED)
def test_the_legend_names_the_marks(newreno: Run, kind: str) -> None:
    def entries(annotated: bool) -> list[str]:
        figure = draw(newreno, kind, View(until_s=6), annotated=annotated)
        [legend] = figure.legends
        assert figure.axes[0].get_xlim() == (0, 6)
        return [text.get_text() for text in legend.get_texts()]

    marks = {"slow start", "recovery from a loss", "fast retransmit after duplicate ACKs"}
    assert set(entries(annotated=True)) - set(entries(annotated=False)) == marks


def test_a_figure_of_several_runs_or_another_kind_is_not_annotated(newreno: Run) -> None:
    with pytest.raises(ValueError, match="goodput cannot be annotated: timeseq, cwnd"):
        draw(newreno, "goodput", annotated=True)
    with pytest.raises(ValueError, match="one result can be annotated, not 2"):
        draw({"a": newreno, "b": newreno}, "cwnd", annotated=True)


def test_the_command_refuses_other_figures(umts: Umts) -> None:
    for out in ("one", "two"):
        umts("run", LOSSES, "--duration", "5 s", "--series", "--quiet", "--out", out)
    assert umts("plot", "one", "cwnd", "--annotate").stdout.endswith("-cwnd.png\n")
    for words in (("goodput",), ("cwnd", "--mean"), ("budget",)):
        refused = umts("plot", "one", *words, "--annotate", status=2).stderr
        assert refused == "umts: --annotate applies to timeseq, cwnd, outstanding, rtt without --mean\n"
    refused = umts("plot", "one", "two", "cwnd", "--annotate", status=2).stderr
    assert refused == "umts: --annotate applies to one result, not to 2\n"


def test_without_losses_only_slow_start_is_found() -> None:
    [run] = simulate(Scenario.load(FTP, {"duration": "30 s", "radio.bler": 0}), series=True)
    of_run = phases(run, WHOLE)
    assert of_run == Phases(
        slow_start=of_run.slow_start, recovery=[], fast_retransmits=[], timeouts=[], switches=[]
    )
    assert len(of_run.slow_start) == 1
