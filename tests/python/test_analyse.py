"""``umts analyse`` on captures of runs: tables, JSON, figures, and files that are not captures."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import umtslab
from conftest import FTP, Umts, command
from umtslab import analyse_captures
from umtslab.captures import units
from umtslab.cli.capture_files import captures_of, command_for_pdus
from umtslab.cli.failures import UsageError
from umtslab.run import Run

PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
"""Magic number, version 2.4, time zone, accuracy, longest packet, and the type of IP packets."""


@pytest.fixture
def server(recorded: Run) -> Path:
    """The capture of a run at the server."""
    return next(file for file in recorded.captures() if file.name == "server.pcapng")


def test_metrics_of_a_capture_equal_the_metrics_of_the_run(recorded: Run, server: Path) -> None:
    [analysis] = analyse_captures([server])
    assert analysis.warnings == []
    for name in ("tcp_retransmissions", "rto_count", "total_packets", "mean_rtt_s", "dupack_runs"):
        assert analysis.metrics[name] == recorded.metrics[name], name
    goodput, run_goodput = analysis.metrics["goodput_kbps"], recorded.metrics["goodput_kbps"]
    assert goodput is not None
    assert run_goodput is not None
    # The duration of a capture is the time between its first and last packet. So the rates differ,
    # but not the bytes.
    assert goodput * analysis.duration_s == pytest.approx(run_goodput * recorded.duration_s)
    # Captures of runs begin on 1 January 2005.
    assert analysis.start_s == pytest.approx(1_104_537_600, abs=20)
    assert len(analysis.connections()) == analysis.connections()["connection"].n_unique() == 1
    assert set(units()) == set(analysis.metrics)


def test_one_capture_needs_no_list(server: Path) -> None:
    for capture in (server, str(server)):
        [analysis] = analyse_captures(capture)
        assert analysis.file == str(server)


def test_json_is_the_run_object_with_a_file_instead_of_the_seed(umts: Umts, server: Path) -> None:
    answer = json.loads(umts("analyse", server, server, "--json").stdout)
    assert list(answer) == ["scenario", "version", "runs", "summary"]
    assert [run["file"] for run in answer["runs"]] == [str(server)] * 2
    assert answer["runs"][0]["metrics"] == answer["runs"][1]["metrics"]
    [connection] = answer["runs"][0]["connections"]
    assert (connection["position"], connection["sender"]) == ("sender", "client")
    assert answer["summary"]["goodput_kbps"]["n"] == 2


def test_the_table_names_the_connection_and_has_units(umts: Umts, server: Path) -> None:
    text = umts("analyse", server).stdout
    assert "data from 198.18.0.1:5001" in text
    assert "captured at the sender" in text
    [goodput] = [line.split() for line in text.splitlines() if line.startswith("goodput_kbps")]
    assert goodput[-1] == "kbit/s"
    assert len(umts("analyse", server, "--all", "-c", 0).stdout) > len(text)


def test_standard_input_is_analysed_like_a_file(umts: Umts, server: Path) -> None:
    named = json.loads(umts("analyse", server, "--json").stdout)["runs"][0]
    words = command("analyse", "-", "--json")
    with server.open("rb") as capture:
        piped = subprocess.run(words, stdin=capture, capture_output=True, check=True)
    assert json.loads(piped.stdout)["runs"][0] == {**named, "file": "-"}
    with server.open("rb") as capture:
        words = command("analyse", "-", "--plot", "x.svg")
        drawn = subprocess.run(words, stdin=capture, capture_output=True, check=False)
    assert drawn.returncode == 2
    assert b"--plot needs --connection" in drawn.stderr


def test_the_figure_shows_the_requested_connection(umts: Umts, server: Path, tmp_path: Path) -> None:
    umts("analyse", server, "--plot", "one.svg", "--connection", 0)
    umts("analyse", server, "--plot", "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert b"<svg" in (tmp_path / "one.svg").read_bytes()


def test_without_a_number_the_connection_with_the_most_data_is_drawn(umts: Umts, tmp_path: Path) -> None:
    umts("run", FTP.with_name("ftp-fach-dch.toml"), "--duration", "20 s", "--pcap", "--out", "results")
    [capture] = tmp_path.glob("results/runs/*/captures/server.pcapng")
    [analysis] = analyse_captures(capture)
    table = analysis.connections().sort("payload_bytes", "acknowledged_bytes")
    number = table["connection"][-1]
    assert len(table) > 1
    assert number > 0
    for option, name in (("--ladder", "csv"), ("--plot", "svg")):
        umts("analyse", capture, option, f"chosen.{name}")
        umts("analyse", capture, option, f"given.{name}", "--connection", number)
        assert (tmp_path / f"chosen.{name}").read_bytes() == (tmp_path / f"given.{name}").read_bytes()


def test_a_ladder_is_drawn_or_written_as_a_table(umts: Umts, server: Path, tmp_path: Path) -> None:
    umts("analyse", server, "--ladder", "one.svg", "--packets", "5-30")
    assert b"<svg" in (tmp_path / "one.svg").read_bytes()
    umts("analyse", server, "--ladder", "all.csv")
    umts("analyse", server, "--ladder", "some.csv", "-c", 0, "--packets", "5-30")
    heading, *rows = (tmp_path / "all.csv").read_text().splitlines()
    assert heading.startswith("packet,time_s,sender,flags,seq,payload,ack,window_octets")
    [analysis] = analyse_captures(server)
    assert len(rows) == analysis.counts["tcp"]
    assert rows[0].startswith("1,0.000000000,client,SYN,0,0,,")
    assert (tmp_path / "some.csv").read_text().splitlines() == [heading, *rows[4:30]]
    done = umts("analyse", server, "--ladder", "x.svg", "--packets", "90001-90009", status=2)
    assert f"connection 0 has {len(rows)} packets" in done.stderr


def test_series_belong_to_one_connection(server: Path) -> None:
    [analysis] = analyse_captures([server], time_sequence=0)
    sent, acked = analysis.series("sent"), analysis.series("acked")
    assert sent["end"].max() == analysis.metrics["distinct_bytes"]
    assert acked["ack"].max() == analysis.metrics["acknowledged_bytes"]
    assert set(sent["cause"]) >= {"new"}
    assert (sent["retransmission"] == (sent["cause"] != "new")).all()
    [without] = analyse_captures([server])
    with pytest.raises(KeyError):
        without.series("sent")


def test_the_progress_callback_gets_rising_fractions_and_can_stop_the_analysis(tmp_path: Path) -> None:
    # Progress is reported every 8 MiB. A connection takes 56 bytes of the file.
    flood = tmp_path / "flood.pcap"
    write_flood(flood, 400_000)
    fractions: list[float] = []
    analyse_captures([flood], progress=fractions.append)
    assert len(fractions) >= 2
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] <= fractions[-1] <= 1

    def stop(_fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        analyse_captures([flood], progress=stop)


def test_a_truncated_capture_is_analysed_up_to_its_end(umts: Umts, server: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.pcapng").write_bytes(server.read_bytes()[:-7])
    done = umts("analyse", "cut.pcapng", "--json")
    assert "cut.pcapng: the file ends inside" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["metrics"]["total_packets"] > 0


def test_a_capture_without_tcp_has_no_table(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "head.pcap").write_bytes(PCAP_HEADER)
    summary = umts("analyse", "head.pcap").stdout
    assert summary == "head.pcap\n0 packets, 0 of TCP, in 0 s; 0 connections\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("missing.pcap",), "missing.pcap"),
        ((".",), "byte 0"),
        (("text.pcap",), "neither pcap nor pcapng"),
        (("empty.pcap",), "empty"),
        ((), "CAPTURE"),
        (("text.pcap", "--plot", "x.gif"), ".svg"),
        (("text.pcap", "text.pcap", "--plot", "x.png"), "one capture"),
        (("text.pcap", "--connection=-1"), "--connection"),
        (("text.pcap", "--ladder", "x.gif"), ".svg, .pdf, .csv"),
        (("text.pcap", "--ladder", "x.svg", "--packets", "1-201"), "at most 200 packets"),
        (("text.pcap", "--ladder", "x.svg", "--packets", "9-1"), "101-160"),
        (("text.pcap", "--packets", "1-9"), "--ladder FILE"),
        (("text.pcap", "--ladder", "x.svg", "--plot", "y.svg"), "one of them"),
        (("-", "--ladder", "x.svg"), "--ladder needs --connection"),
    ],
)
def test_wrong_input_exits_with_status_2(
    words: tuple[str, ...], message: str, umts: Umts, tmp_path: Path
) -> None:
    (tmp_path / "text.pcap").write_text("no capture")
    (tmp_path / "empty.pcap").touch()
    done = umts("analyse", *words, status=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_unknown_connection_is_an_error(umts: Umts, server: Path, tmp_path: Path) -> None:
    done = umts("analyse", server, "--connection", 7, "--plot", "x.png", status=2)
    assert "connections 0 to 0" in done.stderr
    assert not (tmp_path / "x.png").exists()


def test_errors_carry_file_and_offset(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no capture")
    with pytest.raises(umtslab.CaptureReadError) as caught:
        analyse_captures([tmp_path / "x"])
    assert (caught.value.file, caught.value.offset) == (str(tmp_path / "x"), 0)


def test_a_plain_call_imports_no_table_library(server: Path) -> None:
    code = (
        "import sys; from umtslab.cli import main; status = main(sys.argv[1:]);"
        "sys.exit(status or sorted(sys.modules.keys() & {'polars', 'sqlite3'}) or 0)"
    )
    words = [sys.executable, "-c", code, "analyse", str(server), "--json", "-q"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["runs"][0]["counts"]["packets"] > 0


def test_json_rows_equal_the_table(server: Path) -> None:
    [analysis] = analyse_captures([server])
    lines = analysis.core.connection_lines(0, 10).splitlines()
    assert [json.loads(line) for line in lines] == analysis.connections().to_dicts()
    assert analysis.core.connection_lines(len(lines), 10) == ""


def test_a_folder_or_a_result_selects_its_captures(umts: Umts, tmp_path: Path) -> None:
    scenario = FTP.with_name("ftp-on-fach-3gpp.toml")
    umts("run", scenario, "--duration", "20 s", "--pcap", "--out", "here")
    folder = next((tmp_path / "here" / "runs").iterdir())
    for words in (("here",), (folder,), (folder / "captures",), ("ftp-on-fach-3gpp", "--out", "here")):
        done = umts("analyse", *words, "--json")
        assert "captures of RLC PDUs or of the Iub contain no TCP and are skipped: wireshark" in done.stderr
        names = {Path(run["file"]).name for run in json.loads(done.stdout)["runs"]}
        assert names == {"server.pcapng", "rnc.pcapng", "ue.pcapng"}, words
    pdus = folder / "captures" / "rlc-downlink-air.pcapng"
    assert "contains RLC PDUs and no TCP: wireshark" in umts("analyse", pdus, status=2).stderr
    umts("run", scenario, "--duration", "1 s", "--out", "other")
    assert "other has no captures: run it again with --pcap" in umts("analyse", "other", status=2).stderr
    (tmp_path / "empty").mkdir()
    assert "empty has no captures" in umts("analyse", "empty", status=2).stderr


def test_a_capture_of_the_iub_is_skipped_with_its_command(tmp_path: Path) -> None:
    for name in ("server.pcapng", "iub.pcapng"):
        (tmp_path / name).touch()
    packets, pdus = captures_of([str(tmp_path)], tmp_path)
    assert ([path.name for path in packets], [path.name for path in pdus]) == (
        ["server.pcapng"],
        ["iub.pcapng"],
    )
    assert command_for_pdus(pdus[0]) == f"wireshark -o fp.call_mac:FALSE {tmp_path}/iub.pcapng"
    with pytest.raises(UsageError, match=r"iub\.pcapng contains frames of the Iub and no TCP: wireshark -o"):
        captures_of([str(pdus[0])], tmp_path)


def write_flood(file: Path, connections: int) -> None:
    """Write a capture of unanswered SYNs, each from a different address: one for each connection."""
    tcp = struct.pack(">HHIIBBHHH", 40_000, 80, 1, 0, 5 << 4, 2, 1024, 0, 0)
    with file.open("wb") as out:
        out.write(PCAP_HEADER)
        for number in range(connections):
            # From 11.0.0.0 on, to 10.0.0.1
            source, destination = 0x0B000000 + number, 0x0A000001
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40, number & 0xFFFF, 0, 64, 6, 0, source, destination)
            # A packet every 10 µs
            seconds, microseconds = number // 100_000, number % 100_000 * 10
            out.write(struct.pack("<IIII", seconds, microseconds, 40, 40) + ip + tcp)


def test_connections_beyond_the_limit_are_one_row(umts: Umts, tmp_path: Path) -> None:
    write_flood(tmp_path / "flood.pcap", 100)
    done = umts("analyse", "flood.pcap", "--connections-limit", 10, "--json")
    [limited] = json.loads(done.stdout)["runs"]
    assert [row["connection"] for row in limited["connections"]] == list(range(10))
    assert limited["rest"]["connections"] == 90
    assert "90 connections have no separate rows" in done.stderr
    text = umts("analyse", "flood.pcap", "--connections-limit", 10).stdout
    assert "100 connections" in text
    assert "90 more" in text
    assert "connection 77:" in umts("analyse", "flood.pcap", "--connections-limit", 10, "-c", 77).stdout
    [unlimited] = json.loads(umts("analyse", "flood.pcap", "--json").stdout)["runs"]
    assert "rest" not in unlimited
    assert len(unlimited["connections"]) == 100
    assert unlimited["metrics"] == limited["metrics"]
    assert "--connections-limit" in umts("analyse", "flood.pcap", "--connections-limit", 0, status=2).stderr


@pytest.mark.slow
def test_a_flood_of_connections_takes_bounded_memory(tmp_path: Path) -> None:
    write_flood(tmp_path / "flood.pcap", 1_500_000)
    words = command("analyse", tmp_path / "flood.pcap", "--quiet")
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    peak_kib = int(done.stdout)
    assert peak_kib < 300_000
