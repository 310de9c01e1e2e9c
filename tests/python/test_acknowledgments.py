"""Round-trip times and bytes in flight that follow from segments and acknowledgments."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import FTP
from umtslab import Scenario, open_store, simulate
from umtslab.analyse.acknowledgments import in_flight, round_trips
from umtslab.captures import analyse_captures


@pytest.mark.parametrize("name", ["three-losses", "ftp-on-fach"])
def test_samples_of_a_capture_are_those_that_the_analysis_counts(tmp_path: Path, name: str) -> None:
    scenario = Scenario.load(FTP.with_name(f"{name}.toml"), {"duration": "60 s"})
    with open_store(tmp_path) as store:
        [run] = simulate(scenario, store=store, pcap=True)
    assert run.folder is not None
    [analysis] = analyse_captures(run.folder / "captures/server.pcapng", time_sequence=0)
    sent, acked = analysis.series("sent"), analysis.series("acked")
    rtts_s, octets = round_trips(sent, acked)["rtt_s"], in_flight(sent, acked)["octets"]
    row = analysis.connections().row(0, named=True)
    measured = {"mean": rtts_s.mean(), "min": rtts_s.min(), "max": rtts_s.max()}
    assert measured == pytest.approx({kind: row[f"{kind}_rtt_every_ack_s"] for kind in measured}, rel=1e-9)
    assert octets.max() == row["max_outstanding_bytes"]
    assert len(rtts_s) > 50
    if name == "three-losses":
        assert sent["retransmission"].sum() == 3


def frames(
    segments: list[tuple[float, int, int, bool]], acks: list[tuple[float, int]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return tables of segments and of acknowledgments.

    Parameters
    ----------
    segments : list of tuple
        Time, first byte, end, and whether it is a retransmission.
    acks : list of tuple
        Time, and the next byte that the receiver expects.
    """
    sent = pl.DataFrame(segments, schema=["time_s", "seq", "end", "retransmission"], orient="row")
    return sent, pl.DataFrame(acks, schema=["time_s", "ack"], orient="row")


def test_an_acknowledgment_that_covers_a_retransmission_has_no_sample() -> None:
    sent, acked = frames(
        [(0.0, 0, 10, False), (1.0, 10, 20, False), (2.0, 20, 30, False), (5.0, 10, 20, True)],
        [(0.5, 10), (3.0, 10), (6.0, 30)],
    )
    # Each row is the time of an acknowledgment and the round-trip time in s.
    assert round_trips(sent, acked).rows() == [(0.5, 0.5)]
    # The same bytes, acknowledged one segment at a time.
    sent, acked = frames(sent.rows(), [(0.5, 10), (6.0, 20), (6.5, 30)])
    assert round_trips(sent, acked).rows() == [(0.5, 0.5), (6.5, 4.5)]


def test_one_acknowledgment_of_several_segments_has_the_time_of_the_last_one() -> None:
    sent, acked = frames([(0.0, 0, 10, False), (1.0, 10, 20, False), (2.0, 20, 30, False)], [(3.0, 25)])
    assert round_trips(sent, acked).rows() == [(3.0, 2.0)]


def test_bytes_in_flight_have_one_value_per_instant_and_are_never_negative() -> None:
    sent, acked = frames([(0.0, 0, 10, False), (1.0, 10, 20, False)], [(1.0, 10), (2.0, 40)])
    # Each row is a time and the number of bytes in flight from then on.
    assert in_flight(sent, acked).rows() == [(0.0, 10), (1.0, 10), (2.0, 0)]
