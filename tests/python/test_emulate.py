"""``umts emulate`` with real programs and the kernel's TCP, in network namespaces of its own.

The command after ``--`` runs on an emulated UE. Its packets cross the simulated UMTS network in real
time. Every name and address leads to a server of the emulation, at which ``/bytes/N`` is a download of
N bytes. The results of a simulation are stored, and ``emulation.json`` about the emulation itself.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import plain_user
import polars
import pytest
from conftest import Umts, command, started, write_and_seal
from umtslab.emulate import internet, meter
from umtslab.emulate.network import Core, of_bearer
from umtslab.emulate.session import Session
from umtslab.emulate.tcp import describe, settings
from umtslab.scenario import Scenario

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]

ONE_USER = Path(__file__).parents[2] / "scenarios" / "ftp-on-dch-384-3gpp.toml"

FETCH = "import urllib.request, sys; sys.stdout.write(str(len(urllib.request.urlopen(sys.argv[1]).read())))"


def fetch(url: str) -> list[str]:
    """Return a command that downloads `url` and prints the number of bytes."""
    return [sys.executable, "-c", FETCH, url]


def only_run(folder: Path) -> Path:
    """Return the folder of the only stored run."""
    (run,) = (folder / "results" / "runs").iterdir()
    return run


def test_a_download_completes_and_is_measured(umts: Umts, tmp_path: Path) -> None:
    done = umts("emulate", "--pcap", "--", *fetch("http://some.example/bytes/30000"))
    assert done.stdout == "30000"
    assert "fidelity" in done.stderr
    run = only_run(tmp_path)
    metrics = json.loads((run / "metrics.json").read_text())
    # The emulation ends with the command, at its last byte: the last acknowledgments never arrive.
    assert 20_000 < metrics["acknowledged_bytes"] <= metrics["payload_bytes"] < 40_000
    # A round trip over DCHs of 10 and 20 ms takes some TTIs and the core network's delay.
    assert metrics["min_rtt_s"] > 0.05
    assert {file.name for file in (run / "captures").iterdir()} == {
        "server.pcapng",
        "rnc.pcapng",
        "ue.pcapng",
        "rlc-downlink-air.pcapng",
        "rlc-uplink-air.pcapng",
        "rlc-downlink-delivery.pcapng",
        "rlc-uplink-delivery.pcapng",
    }
    assert "kernel TCP: cubic, initial window 10, SACK on" in done.stderr
    assert json.loads((run / "emulation.json").read_text())["tcp"]["route.congctl"] == "cubic"


BEARERS = (
    ("fach", ()),
    ("fach-dch:att-2010", ("--core-delay", "5 ms", "--core-jitter", "2 ms", "--core-loss", "0.001")),
    ("flat:wpt-3g-fast", ("--rlc-buffer", "50 kB")),
    ("trace:every-ms", ("--rlc-buffer", "50 kB")),
)
"""Names of bearers of each kind, and options that they accept."""


@pytest.mark.parametrize(("bearer", "options"), BEARERS)
def test_a_bearer_by_name_carries_a_program(
    umts: Umts, tmp_path: Path, bearer: str, options: tuple[str, ...]
) -> None:
    # A trace with one transmission opportunity per millisecond.
    (tmp_path / "every-ms").write_text("1\n")
    words = [*options, "--series", "--", *fetch("http://some.example/bytes/2000")]
    assert umts("emulate", "-q", "--bearer", bearer, *words).stdout == "2000"
    run = only_run(tmp_path)
    round_trips = polars.read_parquet(run / "series" / "program_rtt.parquet")
    assert set(round_trips["from"]) == {"ue", "server"}
    assert set(round_trips["kind"]) == {"tcp"}
    # Round trips of the first connection and request. None can be below the delays of the model.
    min_rtt_s = {"fach": 0.12, "flat:wpt-3g-fast": 0.15, "trace:every-ms": 0.12}.get(bearer, 0.01)
    assert min(round_trips["rtt_s"].to_list()) >= min_rtt_s
    if bearer.startswith("fach-dch"):
        states = polars.read_parquet(run / "series" / "rrc_state.parquet")
        assert states["state"][0] == "IDLE"
        assert "CELL_DCH" in set(states["state"])


def test_options_set_the_core_network_and_the_radio() -> None:
    core = Core(delay="20 ms", jitter="5 ms", loss="0.01", buffer="30 kB", bler="0.1")
    changed = scenario_of("ps-64", core)
    assert [link["delay"] for link in changed["link"]] == ["20 ms", "0 s", "0 s", "0 s"]
    assert (changed["link"][0]["jitter"], changed["link"][0]["loss"]) == ("5 ms", 0.01)
    assert changed["rlc"]["buffer"] == "30 kB"
    assert (changed["radio"]["bler"], changed["radio"]["uplink"]["bler"]) == (0.1, 0.1)
    assert scenario_of("flat:chrome-3g", core)["ue"][0]["flat"]["queue"] == "30 kB"


def test_an_hsdpa_bearer_has_the_largest_rlc_window() -> None:
    [user] = scenario_of("hsdpa-7.2", Core(loss="0.01"))["ue"]
    assert (user["bearer"], user["rlc"]["window"]) == ("hsdpa-7.2", 2047)


def scenario_of(bearer: str, core: Core) -> dict[str, Any]:
    """Return the scenario of an emulation with two UEs, as JSON."""
    scenario = Scenario.parse(of_bearer(bearer, 2), overrides=(("duration", "1 s"),))
    content: dict[str, Any] = json.loads(scenario.with_overrides(core.overrides(scenario)).core.to_json())
    assert content["ue"][0]["count"] == 2
    return content


def test_the_line_of_the_meter_is_cut_at_the_width_of_the_terminal() -> None:
    reading = {
        "at_s": 12345.67,
        "down_bps": 384_000.0,
        "up_bps": 64_000.0,
        "buffer_down": 100_000,
        "buffer_up": 0,
        "rtt_s": 1.234,
        "rlc_delay_s": 0.5,
        "state": "CELL_FACH",
        "towards": "CELL_DCH",
    }
    whole = meter.line_of(reading, 200)
    for part in ("12345.7 s", "CELL_FACH→CELL_DCH", "↓ 384.0", "↓ 100.0", "RTT 1234 ms", "RLC 500 ms"):
        assert part in whole
    for columns in range(1, 120):
        line = meter.line_of(reading, columns)
        assert len(line) <= columns
        assert whole.startswith(line)


def test_an_upload_over_ipv6_completes(umts: Umts) -> None:
    upload = (
        "import http.client, sys; c = http.client.HTTPConnection('2001:db8::5', 80); "
        "c.request('POST', '/upload', bytes(10000)); sys.stdout.write(c.getresponse().read().decode())"
    )
    assert umts("emulate", "-q", "--", sys.executable, "-c", upload).stdout == "10000\n"


# As in a shell, 127 is a command that does not exist, and 126 a file that is no program.
@pytest.mark.parametrize(
    ("words", "status"), [(("sh", "-c", "exit 7"), 7), (("no-such-command",), 127), (("/etc/passwd",), 126)]
)
def test_the_exit_status_is_the_commands(umts: Umts, words: tuple[str, ...], status: int) -> None:
    umts("emulate", "-q", "--", *words, status=status)


def test_a_signal_gives_the_exit_status_of_shells(umts: Umts) -> None:
    umts("emulate", "-q", "--", "sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)


def test_ctrl_c_ends_the_command_with_its_own_status(tmp_path: Path) -> None:
    program = (
        "import time\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt: raise SystemExit(7)"
    )
    words = command("emulate", "-q", "--", sys.executable, "-c", program)
    with started(words, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 7


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "put it after --"),
        (("--bearer", "ps-1000", "--", "true"), "there is no bearer `ps-1000`"),
        (("--bearer", "", "--", "true"), "there is no bearer ``"),
        (("--tcp", "vegas", "--", "true"), "there is no preset 'vegas'"),
        (("--bearer", "flat:wpt-3g-fats", "--", "true"), "did you mean flat:wpt-3g-fast?"),
        (("--bearer", "fach-dch:nosuch", "--", "true"), "there is no RRC profile `nosuch`"),
        (("--bearer", "trace:absent", "--", "true"), "cannot read"),
        (("--core-delay", "20", "--", "true"), "link.0.delay"),
        (("--tcp-set", "tcp_sack", "--", "true"), "is not NAME=VALUE"),
        (("--scenario", "absent.toml", "--", "true"), "absent.toml"),
        (("--scenario", "a.toml", "--bearer", "ps-64", "--", "true"), "give one of them"),
        (("--scenario", str(ONE_USER), "--ue", "true", "--", "true"), "has 1 UEs"),
        (("--tcp-set", "sack=0", "--", "true"), "sack is not a TCP setting of the kernel"),
        (("--tcp-set", "route.mtu=9", "--", "true"), "route.mtu cannot be set: routes have "),
        (("--host-services", "--", "true"), "--host-services requires --internet"),
        (("--seed", "-1", "--", "true"), "--seed takes a number"),
        (("--set", "duration=1 s", "--", "true"), "timeout 30 COMMAND"),
        (("--no-such-option", "--", "true"), "umts emulate has no option --no-such-option"),
        (("--out", "/dev/null/results", "--", "true"), "cannot store results in /dev/null/results"),
    ],
)
def test_wrong_input_is_reported_before_any_program_runs(
    umts: Umts, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = umts("emulate", *words, status=2)
    assert message in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_hosts_network_is_out_of_reach(umts: Umts) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = (
            "import socket\n"
            "def answer(host):\n"
            "    try: socket.create_connection((host, PORT), 5)\n"
            "    except OSError as error: return type(error).__name__\n"
            "    return 'reached'\n"
            "print(answer('127.0.0.1'), answer('198.51.100.7'))\n"
            "print(sorted(line.split(':')[0].strip() for line in open('/proc/net/dev').readlines()[2:]))"
        ).replace("PORT", str(port))
        done = umts("emulate", "-q", "--", sys.executable, "-c", reach)
    # The second address belongs to the server side, where no server listens on the port.
    assert done.stdout.splitlines() == ["ConnectionRefusedError ConnectionRefusedError", "['lo', 'umts0']"]


def test_two_ues_reach_a_user_supplied_server(umts: Umts) -> None:
    server = (
        f"exec {sys.executable} -c \"import socket; s = socket.create_server(('', 7000)); "
        "print('ready', flush=True)\n"
        'while True:\n c, a = s.accept(); c.sendall(a[0].encode()); c.close()"'
    )
    read = (
        "import socket, time\nc = socket.create_connection(('192.0.2.1', 7000)); print(c.recv(99).decode())"
    )
    other = f'exec {sys.executable} -c "{read}"'
    wait = f"{read}\ntime.sleep(2)"
    done = umts("emulate", "-q", "--server", server, "--ue", other, "--", sys.executable, "-c", wait)
    # The server sends each client its address. UEs have addresses from 10.45.0.2 on.
    assert done.stdout == "10.45.0.2\n"
    assert "10.45.0.3" in done.stderr


def test_a_recorded_session_replays_event_for_event(umts: Umts, tmp_path: Path) -> None:
    lossy = ["--set", "radio.bler=0.1", "--set", "radio.uplink.bler=0.1"]
    umts("emulate", "-q", "--record", *lossy, "--", *fetch("http://some.example/bytes/20000"))
    assert "every event was the same as in the emulation" in umts("replay", "results").stdout


def test_a_replay_with_another_digest_of_the_events_fails(umts: Umts, tmp_path: Path) -> None:
    umts("emulate", "-q", "--record", "--", *fetch("http://some.example/bytes/2000"))
    card = only_run(tmp_path) / "emulation.json"
    content = card.read_text()
    prefix = json.loads(content)["digest"].partition(":")[0] + ":"
    write_and_seal(card, content.replace(prefix, prefix + "0"))
    assert "the replay differs from the emulation" in umts("replay", "results", status=1).stderr
    # Digests of earlier versions have no prefix for the format.
    write_and_seal(card, content.replace(prefix, ""))
    assert "cannot verify the replay" in umts("replay", "results", status=1).stderr


def test_an_emulation_without_recording_cannot_be_replayed(umts: Umts) -> None:
    umts("emulate", "-q", "--", "true")
    assert "--record" in umts("replay", "results", status=2).stderr


def test_programs_do_not_inherit_the_emulators_memory_setting(
    umts: Umts, monkeypatch: pytest.MonkeyPatch
) -> None:
    print_setting = [sys.executable, "-c", "import os; print(os.environ.get('GLIBC_TUNABLES'))"]
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert umts("emulate", "-q", "--", *print_setting).stdout == "None\n"
    setting = "glibc.malloc.check=0"
    monkeypatch.setenv("GLIBC_TUNABLES", setting)
    assert umts("emulate", "-q", "--", *print_setting).stdout == f"{setting}\n"


def test_hostile_packets_are_counted_and_dropped(umts: Umts, tmp_path: Path) -> None:
    # Empty, cut, with wrong versions, with wrong lengths, with options, for no server, too large.
    flood = (
        "import socket, struct\n"
        "s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)\n"
        "def send(packet, kind=0x0800):\n"
        "    try: s.sendto(packet, ('umts0', kind))\n"
        "    except OSError: pass\n"
        "ends = bytes([10, 45, 0, 2]), bytes([9, 9, 9, 9])\n"
        "ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 40, 1, 0, 64, 17, 0, *ends)\n"
        "longer = b'\\x4f' + ip[1:] + bytes(20)\n"
        "for packet in (b'', b'\\x45', b'\\xf0' * 40, ip, ip[:19], longer, bytes(1500)): send(packet)\n"
        "send(b'\\x60' + bytes(39), 0x86dd)\n"
        "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "u.sendto(bytes(60000), ('9.9.9.9', 9))\n"
        "for n in range(3000): u.sendto(bytes(n % 200), ('9.9.9.9', 9))\n"
    )
    umts("emulate", "-q", "--", sys.executable, "-c", flood)
    packets = json.loads((only_run(tmp_path) / "emulation.json").read_text())["packets"]
    # The kernel itself drops some of the eight packets.
    assert packets["malformed"] >= 5
    assert packets["packets_in"] > packets["packets_out"]


FLOOD = """
import socket, sys, time
def flood(to):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        try: out.sendto(bytes(1400), to)
        except OSError: pass
if sys.argv[1] == "server":
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", 7))
    flood(server.recvfrom(100)[1])
    time.sleep(60)
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.sendto(b"flood me", ("9.9.9.9", 7))
time.sleep(0.5)
flood(("9.9.9.9", 9))
"""
"""Sends datagrams for a second without pause, in both directions at about the same time. The server
starts when it gets a datagram of the client."""

MAX_GROWTH = 24 << 20
"""Maximum growth of the emulator's memory by the flood, in bytes. At most 4096 packets of 1,500 bytes
wait for the event loop (6 MB), and the network holds much less."""


def test_a_flood_in_both_directions_takes_bounded_memory_and_is_counted(umts: Umts, tmp_path: Path) -> None:
    program = tmp_path / "flood.py"
    program.write_text(FLOOD)
    server = f"exec {sys.executable} {program} server"
    peaks = []
    for words in (("true",), (sys.executable, str(program), "ue")):
        printed = json.loads(umts("emulate", "-q", "--json", "--server", server, "--", *words).stdout)
        peaks.append(printed["emulation"]["fidelity"]["peak_memory_bytes"])
    without_flood, with_flood = peaks
    packets, fidelity = printed["emulation"]["packets"], printed["emulation"]["fidelity"]
    assert packets["packets_in"] + fidelity["tun_drops"] > 3000
    assert packets["buffer_full"] > 1000
    reasons = (
        "malformed",
        "unroutable",
        "too_large",
        "lost_in_core",
        "buffer_full",
        "lost_on_air",
        "refused",
    )
    lost = sum(packets[reason] for reason in reasons)
    assert packets["packets_in"] == packets["packets_out"] + packets["inside_at_end"] + lost
    assert 1 << 20 < with_flood < without_flood + MAX_GROWTH


def test_json_goes_to_standard_output_and_the_commands_output_to_standard_error(umts: Umts) -> None:
    done = umts("emulate", "-q", "--json", "--budget", "--", "sh", "-c", "echo output; exit 3", status=3)
    printed = json.loads(done.stdout)
    assert (done.stderr, printed["emulation"]["status"]) == ("output\n", 3)
    assert printed["runs"][0]["metrics"]["budget_total_s"] == 0
    assert {"scenario", "version", "summary"} < printed.keys()


def test_simulated_users_have_a_time_budget_in_an_emulation(umts: Umts, tmp_path: Path) -> None:
    words = ["--budget", "--series", "--scenario", str(ONE_USER), "--keep-flows", "--set", "flow.start=0 s"]
    done = umts("emulate", *words, "--", *fetch("http://some.example/bytes/2000"))
    assert "simulated users" in done.stderr
    run = only_run(tmp_path)
    rows = polars.read_parquet(run / "series" / "simulated_connections.parquet")
    assert len(rows) == 1, rows
    intervals = polars.read_parquet(run / "series" / "simulated_budget_intervals.parquet")
    duration_s = max(intervals["end_s"].to_list()) - min(intervals["start_s"].to_list())
    causes = [name for name in rows.columns if name.startswith("budget_") and name.endswith("_s")]
    parts = sum(rows[name][0] for name in causes if name != "budget_total_s")
    assert parts == pytest.approx(rows["budget_total_s"][0]) == pytest.approx(duration_s)
    # A budget from packets would have time in which the causes are not visible.
    assert rows["budget_serialisation_s"][0] > 0
    assert rows["budget_not_visible_s"][0] in (0, None)
    metrics = json.loads((run / "metrics.json").read_text())
    of_programs = polars.read_parquet(run / "series" / "budget_connections.parquet")
    assert set(of_programs["server_port"]) == {80}
    assert metrics["budget_serialisation_s"] == pytest.approx(of_programs["budget_serialisation_s"].sum())


@pytest.mark.parametrize("change", ["link del umts0", "link set umts0 name other"])
def test_a_program_may_remove_its_device_without_ending_the_emulation(
    umts: Umts, tmp_path: Path, change: str
) -> None:
    if shutil.which("ip") is None:
        pytest.skip("it takes ip")
    umts("emulate", "-q", "--", "sh", "-c", f"ip {change} && sleep 0.2 && exit 5", status=5)
    card = json.loads((only_run(tmp_path) / "emulation.json").read_text())
    assert (card["fidelity"]["devices_lost"], card["degraded"]) == (1, True)


def test_malformed_dns_queries_do_not_stop_the_name_server(umts: Umts) -> None:
    program = (
        "import socket, struct\n"
        "raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)\n"
        "query = bytes.fromhex('0001010000010000000000000161000001') + bytes([0, 1])\n"
        "for source in (0, 1):\n"
        "    raw.sendto(struct.pack('!HHHH', source, 53, 8 + len(query), 0) + query, ('10.45.0.1', 0))\n"
        "for odd in (b'', b'x', query[:13], query * 20): raw.sendto(\n"
        "    struct.pack('!HHHH', 5, 53, 8 + len(odd), 0) + odd, ('10.45.0.1', 0))\n"
        "print(socket.gethostbyname('some.example'))\n"
    )
    done = umts("emulate", "-q", "--", sys.executable, "-c", program)
    assert done.stdout.strip() == internet.address_of("some.example", 4)


def test_arguments_that_are_not_utf8_reach_the_command_and_the_results(umts: Umts, tmp_path: Path) -> None:
    words = command("emulate", "-q", "--", "printf", "%s")
    done = subprocess.run([*map(os.fsencode, words), b"\xff"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"\xff"), done.stderr
    assert only_run(tmp_path).is_dir()


def test_invalid_metrics_of_a_program_are_ignored(tmp_path: Path) -> None:
    from umtslab.emulate.results import read_program_metrics

    file = tmp_path / "metrics.json"
    for content, accepted in (
        (f'{{"a": 1, "b": {10**400}, "c": "x", "d": true}}', {"a": 1.0}),
        ("[" * 100_000, {}),
        ("[1]", {}),
    ):
        file.write_text(content)
        assert read_program_metrics(file) == accepted
        assert not file.exists()


def test_a_plain_user_may_emulate(tmp_path: Path) -> None:
    if (missing := plain_user.missing(tmp_path)) is not None:
        pytest.skip(missing)
    print_user_and_make_file = "import os; print(os.getuid(), end=' ', flush=True); open('made', 'w')"
    download = shlex.join(fetch("http://some.example/bytes/3000"))
    script = f"{shlex.join([sys.executable, '-c', print_user_and_make_file])} && {download}"
    done = plain_user.run(command("emulate", "-q", "--", "sh", "-c", script), tmp_path)
    user = os.geteuid() or plain_user.PLAIN_ID
    # The program is root inside the namespace. Its files belong to the user outside.
    assert (done.returncode, done.stdout) == (0, "0 3000"), done.stderr
    assert (tmp_path / "made").stat().st_uid == user
    refused = plain_user.run(command("emulate", "--internet", "--", "true"), tmp_path)
    assert refused.returncode == 2
    assert "requires root" in refused.stderr
    assert only_run(tmp_path).stat().st_uid == user


def test_a_name_always_has_the_same_address() -> None:
    import dns.message

    for kind, version in (("A", 4), ("AAAA", 6)):
        query = dns.message.make_query("Some.Example.", kind)
        answer = internet.answer(query.to_wire())
        assert answer is not None
        (record,) = dns.message.from_wire(answer).answer[0]
        assert record.to_text() == internet.address_of("some.example", version)
        assert internet.answer(answer) is None
    # Neither an answer nor other bytes get an answer.
    assert internet.answer(b"no query") is None


def test_single_settings_override_a_preset() -> None:
    chosen = dict(settings("linux-2.4-like", ["tcp_sack=0", "route.congctl=cubic"]))
    # The preset has SACK, Reno and no window scaling.
    assert (chosen["tcp_sack"], chosen["route.congctl"], chosen["tcp_window_scaling"]) == ("0", "cubic", "0")


def test_the_kernel_accepts_the_linux_2_4_preset(umts: Umts, tmp_path: Path) -> None:
    words = ["--tcp", "linux-2.4-like", "--tcp-set", "tcp_sack=0", "--", "true"]
    summary = umts("emulate", *words).stderr
    assert "reno, initial window 2, SACK off, timestamps on, window scaling off" in summary
    used = json.loads((only_run(tmp_path) / "emulation.json").read_text())["tcp"]
    chosen = dict(settings("linux-2.4-like", ["tcp_sack=0"]))
    assert {name: used[name] for name in chosen} == chosen


def test_the_kernel_applies_the_minimum_rto_of_a_route(umts: Umts) -> None:
    """TCP_INFO begins with eight bytes of states and options, then the timeout in µs."""
    print_timeout = (
        "import socket, struct\n"
        "s = socket.create_connection(('10.45.0.1', 80))\n"
        "print(struct.unpack_from('I', s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 8)[0])"
    )
    words = [
        "--bearer",
        "ps-384",
        "--tcp-set",
        "route.rto_min=3000",
        "--",
        sys.executable,
        "-c",
        print_timeout,
    ]
    assert int(umts("emulate", *words).stdout) >= 3_000_000


def test_kernel_settings_are_described_in_a_line() -> None:
    values = {
        "tcp_sack": "1",
        "tcp_rto_min_us": "300000",
        "tcp_congestion_control": "bbr",
        "tcp_rmem": "1 2 3",
    }
    line = describe(values, "kernel TCP")
    assert "\n" not in line
    assert all(part in line for part in ("bbr", "SACK on", "minimum RTO 300 ms", "rmem 1 2 3"))


def test_a_session_is_unchanged_after_a_round_trip_through_json() -> None:
    session = Session(
        scenario="version = 1",
        base_dir="/",
        seed=5,
        command=("a", "b"),
        ues=("c",),
        tcp=(("tcp_sack", "1"),),
        strict=True,
    )
    assert Session.from_json(session.to_json()) == session
