"""``umts why`` explains timeouts, retransmissions and stalls of TCP by chains of causes.

A chain leads from the symptom to its root, the first cause. Most tests script the root, for example
a lost block, and check the chain. Others check that chains agree with the time budget, and that the
tables of the timeline, from which chains are built, fit together.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from conftest import FTP, Umts
from hypothesis import example, given
from hypothesis import strategies as st
from umtslab import Scenario, Store, simulate
from umtslab.run import Run
from umtslab.why import Chain, Explanation, MissingTimeline, explain
from umtslab.why.timeline import Row, Segments

PLAIN = """
version = 1
duration = "120 s"

[[bearer]]
name = "ps"
downlink = { rate = "64 kbit/s", tti = "20 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }

[tcp]
variant = "newreno"
advertised_window = "8 segments"

[[ue]]
name = "user"
bearer = "ps"

[[flow]]
ue = "user"
traffic = "file"
size = "12 kB"
start = "1 s"
"""
"""One user with a DCH fetches a file, without any problems."""

SWITCHED = """
version = 1
duration = "120 s"

[[bearer]]
name = "ps"
downlink = { rate = "128 kbit/s", tti = "20 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }

[[cell]]
name = "cell"
admission = { downlink = "2 Mbit/s" }

[rrc]
dch = ["ps"]
fach_to_dch = "0.1 s"

[tcp]
advertised_window = "8 segments"

[[ue]]
name = "user"
bearer = "switched"

[[flow]]
ue = "user"
traffic = "file"
size = "30 kB"
start = "5 s"
"""
"""One user on common channels. Admission grants it a DCH or refuses it."""

OTHER = """
[[ue]]
name = "other"
bearer = "switched"

[[flow]]
ue = "other"
start = "0 s"
"""

RECORDED = (("measure.budget", "true"), ("measure.timeline", "true"))


def recorded(
    folder: Path, text: str, lost: Iterable[int] = (), changes: Iterable[tuple[str, str]] = ()
) -> tuple[Run, Explanation]:
    """Run a scenario with these blocks of the downlink lost, and explain it."""
    blocks = set(lost)
    (folder / "down").write_text("".join("1" if block in blocks else "0" for block in range(100_000)))
    (folder / "case.toml").write_text(text)
    radio = (
        ("radio.model", "trace"),
        ("radio.file", "down"),
        ("radio.uplink.model", "error_free"),
    )
    scenario = Scenario.load(folder / "case.toml", (*radio, *changes, *RECORDED))
    (run,) = simulate(scenario, series=True)
    return run, explain(run)


def chains_with(explanation: Explanation, kind: str, label: str) -> list[Chain]:
    """Return the chains of this kind with this label."""
    chains = (*explanation.chains, *explanation.stall_chains)
    return [chain for chain in chains if (chain.kind, chain.label) == (kind, label)]


def kinds(chain: Chain) -> list[str]:
    return [link.kind for link in chain.links]


def drop(packet: str) -> tuple[str, str]:
    """Return the override that drops a packet: "data 3" is the third segment with data."""
    return ("impairment", f'[{{ packet = "{packet}", action = "drop" }}]')


def test_a_lost_block_is_the_first_cause_of_a_stall(tmp_path: Path) -> None:
    # `recorded` counts transport blocks in the order in which they are sent, here 4 per full TTI.
    # So these 70 lost blocks are all blocks of about 0.4 s, including retransmissions.
    _, explanation = recorded(tmp_path, PLAIN, range(60, 130), [("measure.stall", "0.3 s")])
    (chain,) = chains_with(explanation, "stall", "rlc_recovery")[:1]
    assert chain.root.kind == "block_lost"
    assert chain.root.identity["pdu"] >= 0
    assert "status" in kinds(chain)


def test_a_stall_after_the_loss_of_a_whole_window_of_blocks_names_the_misread_numbers(tmp_path: Path) -> None:
    # In 0.2 s some 33 blocks of a full HS-DSCH fail in three transmissions each: more than the receiver
    # window of 32, half of the 64 transmission sequence numbers. Later blocks look like earlier ones.
    file = tmp_path / "tunnel.toml"
    hsdpa = FTP.with_name("hsdpa.toml")
    cut = "".join(
        f'[[at]]\ntime = "{at}"\nset = {{ radio.cut = {value} }}\n'
        for at, value in (("2 s", "true"), ("2.2 s", "false"))
    )
    file.write_text(f'version = 1\nextends = "{hsdpa}"\nname = "tunnel"\nduration = "10 s"\n{cut}')
    (run,) = simulate(Scenario.load(file, RECORDED), series=True)
    (chain, *_) = explain(run).stall_chains
    (misread,) = [link for link in chain.links if link.kind == "tsn_misread"]
    events = run.series("timeline_events").filter(pl.col("kind") == "tsn_misread")["time_s"]
    assert len(events) == run.metrics["hs_tsn_misreads"]
    (repair,) = [link for link in chain.links if link.kind == "rlc_recovery"]
    assert misread.identity["blocks"] == (events <= repair.end_s).sum() > 0
    assert chain.root.kind == "block_lost"
    assert 2 - 0.02 < chain.root.time_s < 2.2


def test_a_discard_at_max_dat_is_the_cause_of_a_timeout(tmp_path: Path) -> None:
    # Each PDU may be sent once, so RLC discards the SDU of the lost block. Block 305 is in the last
    # segment but one. Only one follows, so three duplicate ACKs cannot precede the timeout.
    _, explanation = recorded(tmp_path, PLAIN, [305], [("rlc.max_dat", "1")])
    (chain,) = chains_with(explanation, "rto", "rlc_discard")
    *_, discard, lost_block = chain.links
    assert (discard.kind, lost_block.kind) == ("rlc_discard", "block_lost")
    assert "rlc.max_dat" in discard.text
    assert discard.identity["first_pdu"] <= lost_block.identity["pdu"] <= discard.identity["last_pdu"]


def test_lost_acknowledgments_and_lost_data_need_the_timer(tmp_path: Path) -> None:
    # In an upload an interruption loses the acknowledgments of earlier data and the data in flight.
    interruption = "".join(
        f'[[at]]\ntime = "{at}"\nset = {{ link.0.loss = {loss} }}\n'
        for at, loss in (("1.9 s", 1), ("2.6 s", 0))
    )
    _, explanation = recorded(tmp_path, PLAIN + interruption, (), [("flow.0.direction", "uplink")])
    (chain,) = chains_with(explanation, "rto", "core_loss")
    assert "The timeout was needed." in chain.links[0].text
    lost = [link for link in chain.links if "is lost in the fixed network" in link.text]
    assert len(lost) == 2, kinds(chain)
    assert "ack_loss" in kinds(chain)
    assert chain.root.cause == "core_loss"


def test_a_prohibited_status_is_the_cause_of_a_stall(tmp_path: Path) -> None:
    # TCP has one segment in flight, and waits while the receiving RLC may not report the missing PDU.
    changes = [("tcp.advertised_window", "1 segments"), ("rlc.timer_status_prohibit", "1 s")]
    _, explanation = recorded(tmp_path, PLAIN, [60, 90], [*changes, ("measure.stall", "0.3 s")])
    chains = chains_with(explanation, "stall", "status_prohibited")
    assert chains
    assert "status_prohibited" in kinds(chains[0])
    assert chains[0].root.kind == "block_lost"


def test_a_reset_is_the_cause_of_a_retransmission(tmp_path: Path) -> None:
    # RLC resets after MaxDAT transmissions if it must not discard the SDU (TS 25.322 §9.7.3.4).
    _, explanation = recorded(tmp_path, PLAIN, [60], [("rlc.max_dat", "1"), ("rlc.sdu_discard", "never")])
    chains = [chain for chain in explanation.chains if chain.label == "rlc_reset"]
    assert chains
    assert all("rlc_reset" in kinds(chain) for chain in chains)


def test_a_channel_switch_is_the_cause_of_a_timeout(tmp_path: Path) -> None:
    # The switch to the DCH takes longer than the retransmission timeout. With the default
    # `rto_initial` of 1 s, the UE's SYN+ACK would time out, too: its acknowledgment also waits for
    # the switch.
    changes = [
        ("tcp.rto_min", "200 ms"),
        ("tcp.rto_initial", "30 s"),
        ("tcp.rto_max", "60 s"),
        ("rrc.fach_to_dch", "2.1 s"),
    ]
    _, explanation = recorded(tmp_path, SWITCHED, (), changes)
    chains = chains_with(explanation, "rto", "channel_switch")
    assert chains
    root = chains[0].root
    assert root.kind == "rrc_switch"
    assert (root.identity["from"], root.identity["to"]) == ("CELL_FACH", "CELL_DCH")
    assert root.end_s - root.time_s == pytest.approx(2.1)
    assert root.time_s < chains[0].time_s
    assert "in_rlc" in kinds(chains[0])


def test_a_refused_dch_is_the_cause_of_a_wait(tmp_path: Path) -> None:
    # The cell admits one DCH of 128 kbit/s, and UE 1 has it.
    changes = [("cell.0.admission.downlink", "200 kbit/s"), ("measure.stall", "0.2 s")]
    _, explanation = recorded(tmp_path, SWITCHED + OTHER, (), changes)
    chains = chains_with(explanation, "stall", "dch_refused")
    assert chains
    assert chains[0].root.kind == "dch_request"
    assert chains[0].root.identity["holders"] == [1]


def test_a_drop_in_the_nodeb_queue_is_the_first_cause() -> None:
    # There are no block errors, so only the queue of the FACH can lose blocks.
    changes = (
        ("duration", "60 s"),
        ("flow.0.start", "0 s"),
        ("flow.1.start", "10 s"),
        ("radio.bler", "0"),
    )
    scenario = Scenario.load(FTP.with_name("ftp-on-fach-two-users.toml"), (*changes, *RECORDED))
    (run,) = simulate(scenario, series=True)
    explanation = explain(run)
    roots = {chain.root.kind for chain in (*explanation.chains, *explanation.stall_chains)}
    assert "nodeb_queue_drop" in roots
    assert "block_lost" not in roots


def test_a_loss_in_the_core_network_is_the_cause_of_a_retransmission(tmp_path: Path) -> None:
    _, explanation = recorded(tmp_path, PLAIN, (), [drop("data 3")])
    chains = chains_with(explanation, "retransmission", "core_loss")
    assert chains
    assert chains[0].root.kind == "core_loss"
    assert "duplicate_ack" in kinds(chains[0])


def test_a_lost_ack_is_the_cause_of_a_timeout(tmp_path: Path) -> None:
    _, explanation = recorded(tmp_path, PLAIN, (), [("tcp.advertised_window", "2 segments"), drop("ack 3")])
    (chain,) = chains_with(explanation, "rto", "ack_loss")
    assert kinds(chain) == ["rto", "no_ack", "ack_loss", "core_loss"]


def test_a_full_rlc_buffer_is_the_cause_of_a_loss(tmp_path: Path) -> None:
    # The advertised window of eight segments does not fit into the buffer.
    _, explanation = recorded(tmp_path, PLAIN, (), [("rlc.buffer", "3 kB")])
    chains = [chain for chain in explanation.chains if chain.label == "buffer_full"]
    assert chains
    assert {chain.root.kind for chain in chains} == {"buffer_full"}


def test_an_outage_is_the_cause_of_a_timeout(tmp_path: Path) -> None:
    _, explanation = recorded(tmp_path, PLAIN, (), [("link.0.outage", '[{ from = "1.3 s", to = "3 s" }]')])
    chains = [chain for chain in explanation.chains if chain.kind == "rto"]
    assert chains
    # Its acknowledgments are lost first.
    assert {chain.root.kind for chain in chains} == {"core_outage"}
    assert all(chain.root.identity["link"] == 0 for chain in chains)


@pytest.mark.parametrize(
    ("scenario", "duration"),
    [
        ("ftp-fach-dch", "120 s"),
        ("ftp-on-fach", "120 s"),
        ("web-cell", "60 s"),
        ("three-losses", ""),
        ("ftp-on-dch-64", "60 s"),
        ("tdd-ftp", "60 s"),
        ("split-download", ""),
    ],
)
def test_every_chain_of_shipped_scenarios_agrees_with_the_budget(scenario: str, duration: str) -> None:
    changes = (("duration", duration), *RECORDED) if duration else RECORDED
    (run,) = simulate(Scenario.load(FTP.with_name(f"{scenario}.toml"), changes), series=True)
    explanation = explain(run)
    for chain in explanation.chains:
        assert chain.agrees, (chain.kind, chain.time_s, chain.connection, chain.label, chain.links)
    if scenario != "tdd-ftp":  # Its metrics begin after a warm-up.
        assert len(explanation.stalls) == run.metrics["stalls"]
        assert sum(stall.length_s for stall in explanation.stalls) == pytest.approx(run.metrics["stalled_s"])


def test_the_command_lists_stalls_and_prints_chains(umts: Umts, tmp_path: Path) -> None:
    out = str(tmp_path / "demo")
    umts(
        "run", FTP.with_name("ftp-fach-dch.toml"), "--duration", "60 s", "--timeline", "--quiet", "--out", out
    )
    printed = umts("why", out).stdout
    assert "stalls of 0.5 s or more" in printed
    assert "← " in printed
    content = json.loads(umts("why", out, "--json").stdout)
    assert content["stalls"] == sorted(content["stalls"], key=lambda stall: -stall["length_s"])
    first = content["chains"][0]
    selection = ("--at", f"{first['time_s']} s", "--connection", str(first["connection"]))
    assert first["links"][0]["text"] in umts("why", out, *selection).stdout
    trace = tmp_path / "trace.json"
    umts("export", out, "--perfetto", str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    # Phases of the format: metadata, begin and end of a span, instant, counter.
    assert {event["ph"] for event in events} == {"M", "b", "e", "i", "C"}


def test_a_run_without_a_timeline_offers_the_command_that_records_it(umts: Umts, store: Store) -> None:
    """The errors of `explain` and ``umts why FOLDER`` name the missing option."""
    (run,) = simulate(Scenario.load(FTP, (("duration", "20 s"),)), store=store)
    with pytest.raises(MissingTimeline, match="--timeline"):
        explain(run)
    failed = umts("why", str(run.folder), status=2)
    assert failed.stderr.count("\n") <= 2
    assert "--timeline" in failed.stderr


def test_bad_selections_are_refused(umts: Umts, tmp_path: Path) -> None:
    out = str(tmp_path / "demo")
    umts("run", FTP, "--duration", "20 s", "--timeline", "--quiet", "--out", out)
    assert "not a time" in umts("why", out, "--at", "soon", status=2).stderr
    assert "outside the run" in umts("why", out, "--at", "21 s", status=2).stderr
    assert "connections 0 to 0" in umts("why", out, "--connection", "7", status=2).stderr


def test_lanes_are_listed(umts: Umts) -> None:
    lanes = json.loads(umts("lanes", "--json").stdout)
    assert {"segments", "pdus", "rrc"} <= {lane["name"] for lane in lanes}
    assert "timeline_segments" in umts("lanes").stdout


@pytest.mark.parametrize("scenario", ["ftp-fach-dch", "web-cell-3gpp", "split-download", "hsdpa"])
def test_a_recorded_run_gives_the_bits_of_the_plain_run(scenario: str) -> None:
    file = FTP.with_name(f"{scenario}.toml")
    changes = (("duration", "40 s"),)
    (plain,) = simulate(Scenario.load(file, changes))
    (run,) = simulate(Scenario.load(file, (*changes, *RECORDED)), series=True)
    assert run.events == plain.events
    assert {name: run.metrics[name] for name in plain.metrics} == plain.metrics
    columns = plain.connections().columns
    assert run.connections().select(columns).equals(plain.connections())


@pytest.fixture(scope="module")
def switched_run() -> Run:
    """A recorded run with FACH, DCH, and refused requests."""
    file = FTP.with_name("ftp-fach-dch.toml")
    return simulate(Scenario.load(file, (("duration", "60 s"), *RECORDED)), series=True)[0]


def test_tables_are_sorted_and_rows_end_after_they_begin(switched_run: Run) -> None:
    tables = [kind for kind in switched_run.series_kinds() if kind.startswith("timeline_")]
    assert len(tables) == 15
    for kind in tables:
        table = switched_run.series(kind)
        assert table["time_s"].is_sorted(), kind
        if "end_s" in table.columns:
            assert table.select((pl.col("end_s") >= pl.col("time_s")).fill_null(value=True).all()).item(), (
                kind
            )


def test_segments_sdus_pdus_and_block_sets_join(switched_run: Run) -> None:
    segments = switched_run.series("timeline_segments")
    again = segments.filter(pl.col("cause").is_in(["dup_ack", "rto", "tail_loss"]))
    downlink = again.filter(pl.col("direction") == "downlink")
    assert downlink.height == switched_run.metrics["tcp_retransmissions"]
    pairs = again.join(segments, left_on="repeats", right_on="packet", suffix="_before")
    assert pairs.height == again.height
    assert pairs.select(
        ((pl.col("time_s_before") < pl.col("time_s")) & (pl.col("seq_before") < pl.col("end"))).all()
    ).item()

    sdus = switched_run.series("timeline_sdus")
    pdus = switched_run.series("timeline_pdus")
    data = pdus.filter(pl.col("first").is_not_null())
    sent = data.filter(pl.col("direction") == "downlink").select((pl.col("last") - pl.col("first") + 1).sum())
    assert sent.item() == switched_run.metrics["pdu_transmissions"]
    arrived = {
        (ue, direction, number)
        for ue, direction, first, last, lost in data.select(
            "ue", "direction", "first", "last", "lost"
        ).iter_rows()
        if not lost
        for number in range(first, last + 1)
    }
    delivered = sdus.filter(pl.col("fate") == "delivered").select("ue", "direction", "first", "last")
    assert delivered.height > 100
    assert all(
        (ue, direction, number) in arrived
        for ue, direction, first, last in delivered.iter_rows()
        for number in range(first, last + 1)
    )
    sets = set(switched_run.series("timeline_block_sets")["block_set"])
    assert set(pdus["block_set"]) <= sets
    statuses = switched_run.series("timeline_status")
    assert set(statuses["block_set"]) <= sets
    assert (statuses["missing"] != "").any()


def test_requests_for_dchs_have_answers_and_holders(switched_run: Run) -> None:
    requests = switched_run.series("timeline_dch_requests")
    refused = requests.filter(pl.col("answer") == "refused")
    assert requests.height == switched_run.metrics["dch_requests"]
    assert refused.height == switched_run.metrics["dch_refusals"]
    assert (refused["holders"].str.split(" ").list.len() == refused["dchs"]).all()


def test_discards_have_reason_and_pdus() -> None:
    changes = (("duration", "60 s"), ("radio.bler", "0.3"), ("rlc.max_dat", "2"))
    (run,) = simulate(Scenario.load(FTP, (*changes, *RECORDED)), series=True)
    discards = run.series("timeline_discards").filter(pl.col("direction") == "downlink")
    assert discards.height == run.metrics["rlc_sdu_discards"]
    assert set(discards["reason"]) == {"max_dat"}
    assert (discards["first"] <= discards["last"]).all()


SENT = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9), st.integers(0, 20)), max_size=20)
"""First byte, length in bytes and time in seconds of segments."""


@example(sent=[(1, 1, 0), (0, 2, 0)], byte=1, at=0)
@given(SENT, st.integers(0, 70), st.integers(0, 20))
def test_copies_and_flight_equal_a_search_through_all_segments(
    sent: list[tuple[int, int, int]], byte: int, at: int
) -> None:
    sent = sorted(sent, key=lambda segment: segment[2])
    rows: list[Row] = [
        {"packet": number, "direction": "downlink", "seq": seq, "end": seq + length, "time_s": float(time_s)}
        for number, (seq, length, time_s) in enumerate(sent)
    ]
    # An acknowledgment of all bytes before `byte` arrives first.
    ack = {"packet": -1, "direction": "uplink", "seq": 0, "end": 0, "time_s": -1.0, "end_s": -0.5}
    segments = Segments([{**ack, "ack": byte, "lost": False, "kind": "ack"}, *rows])
    sent_until = [row for row in rows if row["time_s"] <= at]
    copies = [row for row in sent_until if row["seq"] <= byte < row["end"]]
    assert segments.copies("downlink", byte, at) == copies
    assert segments.in_flight("downlink", at) == len({row["seq"] for row in sent_until if row["end"] > byte})


def test_a_run_without_a_timeline_names_the_command_that_records_one(umts: Umts) -> None:
    """The command in the error of ``umts why`` works as printed. ``umts why`` then succeeds."""
    umts("run", FTP, "--duration", "10 s")
    [command] = re.findall("Record it: (.*)", umts("why", "results", status=2).stderr)
    assert command.endswith(" --timeline")
    umts(*shlex.split(command)[1:])
    assert "No stall" in umts("why", "results").stdout


def test_the_page_quotes_the_output_of_its_commands(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(FTP.parent)
    page = (FTP.parents[1] / "docs" / "why.md").read_text(encoding="utf-8")
    quoted = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    commands = [
        shlex.split(line)[1:]
        for line in page.splitlines()
        if line.startswith(("umts run scenarios/", "umts why demo"))
    ]
    run, *why = commands
    assert len(quoted) == 3
    assert why == [["why", "demo"], ["why", "demo", "--at", "7.28 s", "--connection", "11"]]
    umts(*run, "--quiet")
    printed = "".join(umts(*command).stdout for command in why)
    lines = [line for text in quoted for line in text.splitlines() if line != "…"]
    assert len(lines) > 20
    assert all(line in printed.splitlines() for line in lines), lines
