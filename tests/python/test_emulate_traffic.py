"""Traffic of programs in ``umts emulate``: metrics, series, figures and the summary.

Programs use the kernel's TCP, so everything about them is derived from captured packets.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from conftest import Umts, command
from umtslab.emulate.network import dch_of, of_bearer
from umtslab.emulate.report import datagram_lines, first_connection_line, recovery_lines
from umtslab.emulate.traffic import whole_network
from umtslab.scenario import Scenario

ONE_USER = Path(__file__).parents[2] / "scenarios" / "ftp-on-dch-384-3gpp.toml"

BOTH_WAYS = """
import http.client, json, os, urllib.request
urllib.request.urlopen("http://some.example/bytes/40000").read()
server = http.client.HTTPConnection("10.1.1.1", 80)
server.request("POST", "/upload", bytes(20000))
server.getresponse().read()
own = {"page_ms": 3007, "udp_sent": 99, "../x": 1, "download_time_s": 2.5}
json.dump(own, open(os.environ["UMTS_METRICS"], "w"))
"""
"""A download from a host name, an upload to an address, and metrics of the program: two valid ones,
one that the emulation has itself, and one with an invalid name."""


@dataclass(frozen=True)
class Emulated:
    """The folder of an emulation's run, and its summary on standard error."""

    run: Path
    summary: str

    def metrics(self) -> dict[str, float | None]:
        metrics: dict[str, float | None] = json.loads((self.run / "metrics.json").read_text())
        return metrics

    def series(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.run / "series" / f"{name}.parquet")


@pytest.fixture(scope="module")
def both_ways(may_emulate: None, tmp_path_factory: pytest.TempPathFactory) -> Emulated:
    """The emulation of the two transfers over a switched bearer."""
    folder = tmp_path_factory.mktemp("both-ways")
    options = ["--bearer", "fach-dch:att-2010@ps-384", "--series", "--pcap", "--record"]
    words = command("emulate", *options, "--", sys.executable, "-c", BOTH_WAYS)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    (run,) = (folder / "results" / "runs").iterdir()
    return Emulated(run, done.stderr)


@pytest.mark.slow
def test_each_direction_is_measured_at_its_sender(both_ways: Emulated) -> None:
    rows = pl.read_parquet(both_ways.run / "connections.parquet").sort("connection")
    assert rows["sender"].to_list() == ["server", "client"]
    assert rows["position"].to_list() == ["sender", "sender"]
    assert rows["ue"].to_list() == [0, 0]
    # The round trip has TTIs of 10 and 20 ms and the core network. At the receiver it would be
    # below 1 ms.
    assert rows["min_rtt_s"].min() > 0.05  # type: ignore[operator]
    assert rows["acknowledged_bytes"].to_list() == pytest.approx([40_000, 20_000], rel=0.3)
    # The DNS query triggers the promotion of two seconds, so no connection opens before.
    assert rows["opened_s"].min() > 2  # type: ignore[operator]


@pytest.mark.slow
def test_unknown_metrics_are_null_and_known_ones_positive(both_ways: Emulated) -> None:
    metrics = both_ways.metrics()
    for name in ("cell_efficiency", "energy_j_per_mb", "udp_delay_ms", "udp_goodput_kbps"):
        value = metrics[name]
        assert value is not None, name
        assert value > 0, name
    # One DNS query, or one for each address family, with an answer to each.
    assert metrics["udp_sent_uplink"] == metrics["udp_received_uplink"] == metrics["udp_sent"] in (1, 2)
    for name in ("pages", "sessions", "page_time_s", "jain_fairness", "connections_with_dch_pct"):
        assert metrics[name] is None, name
    energy, acknowledged = metrics["energy_j"], metrics["acknowledged_bytes"]
    assert energy is not None
    assert acknowledged is not None
    assert metrics["energy_j_per_mb"] == pytest.approx(energy / acknowledged * 1e6)


@pytest.mark.slow
def test_a_program_can_add_metrics_but_not_replace_any(both_ways: Emulated) -> None:
    metrics = both_ways.metrics()
    assert (metrics["page_ms"], metrics["download_time_s"]) == (3007, 2.5)
    assert metrics["udp_sent"] != 99
    assert "../x" not in metrics
    assert "page_ms, reported by a program: 3007" in both_ways.summary
    assert "udp_sent is a metric of the emulation itself" in both_ways.summary
    assert "'../x' is not a valid name of a metric" in both_ways.summary


@pytest.mark.slow
def test_series_of_programs_come_from_their_packets(both_ways: Emulated) -> None:
    rows = pl.read_parquet(both_ways.run / "connections.parquet").sort("connection")
    goodput = both_ways.series("goodput").group_by("connection").agg(pl.col("goodput_kbps").sum())
    # The sum of the rates of windows of a second, as bytes.
    bytes_of_series = (goodput.sort("connection")["goodput_kbps"] * 1e3 / 8).to_list()
    # The last window is shorter than a second, so its rate counts for more bytes than it has.
    for from_rates, acknowledged in zip(bytes_of_series, rows["acknowledged_bytes"], strict=True):
        assert from_rates >= acknowledged - 1
    outstanding = both_ways.series("outstanding").group_by("connection").max().sort("connection")
    maxima = outstanding["outstanding_segments"].to_list()
    assert maxima == pytest.approx(rows["max_outstanding_segments"].to_list(), abs=0.01)
    sent = both_ways.series("sent")
    assert sent["time_s"].is_sorted()
    assert sent.group_by("connection").agg(pl.col("end").max()).sort("connection")["end"].to_list() == [
        # The SYN has number 0. A FIN follows the payload unless the emulation ended before.
        pytest.approx(1 + octets, abs=1)
        for octets in rows["distinct_bytes"]
    ]
    # State of the kernel's TCP is not visible in packets.
    assert {"cwnd", "ssthresh", "srtt", "rto"}.isdisjoint(
        file.stem for file in (both_ways.run / "series").iterdir()
    )


@pytest.mark.slow
def test_figures_of_programs_show_their_packets(both_ways: Emulated) -> None:
    from umtslab.plot import draw
    from umtslab.run import MissingSeries
    from umtslab.store import open_store

    with open_store(both_ways.run.parent.parent) as store:
        (run,) = store.runs()
        for kind in ("rtt", "timeseq", "outstanding", "goodput", "throughput", "cell"):
            figure = draw(run, kind)
            for axes in figure.axes:
                assert axes.lines or axes.patches, kind
                assert axes.get_ylim()[1] > 0.06, kind
            assert all(letter not in run.scenario for letter in " ()")
        with pytest.raises(MissingSeries, match=r"not visible.* umts analyse .*server\.pcapng --plot"):
            draw(run, "cwnd")


@pytest.mark.slow
def test_the_summary_has_promotion_rate_and_folders(both_ways: Emulated) -> None:
    summary = both_ways.summary
    (before,) = (line for line in summary.splitlines() if "before the first connection" in line)
    assert "of which 2.00 s promotion (DNS)" in before
    assert "DCH of switched users: ps-384 (384 kbit/s down, 64 up)" in summary
    for line in (
        f"figures:  umts plot {both_ways.run} outstanding",
        "captures: rlc-downlink-air.pcapng",
        f"replay:   umts replay {both_ways.run}",
    ):
        assert line in summary
    assert json.loads((both_ways.run / "emulation.json").read_text())["before_first_connection"][
        "promotion_s"
    ] == pytest.approx(2.0)


@pytest.mark.slow
@pytest.mark.usefixtures("may_emulate")
def test_a_summary_without_tcp_has_no_tcp_metrics(umts: Umts, tmp_path: Path) -> None:
    summary = umts("emulate", "--series", "--", sys.executable, "-c", "import time; time.sleep(0.2)").stderr
    (run,) = (tmp_path / "results" / "runs").iterdir()
    metrics = json.loads((run / "metrics.json").read_text())
    unknown = ("goodput_kbps", "tcp_retransmissions", "mean_rtt_s", "cell_efficiency", "acknowledged_bytes")
    assert [metrics[name] for name in unknown] == [None] * len(unknown)
    assert "TCP retransmissions" not in summary
    assert "before the first connection" not in summary


@pytest.mark.slow
@pytest.mark.usefixtures("may_emulate")
def test_series_of_simulated_users_of_an_emulation_have_separate_names(umts: Umts, tmp_path: Path) -> None:
    options = ["-q", "--series", "--scenario", str(ONE_USER), "--keep-flows", "--set", "flow.start=0 s"]
    fetch = "import urllib.request; urllib.request.urlopen('http://10.1.1.1/bytes/2000').read()"
    umts("emulate", *options, "--", sys.executable, "-c", fetch)
    (run,) = (tmp_path / "results" / "runs").iterdir()
    programs, simulated = (
        pl.read_parquet(run / "series" / f"{name}.parquet") for name in ("sent", "simulated_sent")
    )
    # The download of the program has 2,000 bytes and headers.
    assert programs["end"].max() < 3000 < simulated["end"].max()  # type: ignore[operator]
    assert (run / "series" / "simulated_cwnd.parquet").is_file()
    assert not (run / "series" / "cwnd.parquet").exists()
    # The table of connections has the programs' connections only.
    assert pl.read_parquet(run / "connections.parquet")["server"].to_list() == ["10.1.1.1:80"]


def test_a_switched_bearer_takes_a_profile_and_the_dchs() -> None:
    for name, dch in (
        ("fach-dch", "ps-64 (64 kbit/s down, 64 up)"),
        ("fach-dch@ps-384", "ps-384 (384 kbit/s down, 64 up)"),
        ("fach-dch@hsdpa-3.6", "hsdpa-3.6 (3360 kbit/s down, 384 up)"),
        ("fach-dch:att-2010", "ps-64 (64 kbit/s down, 64 up)"),
        ("fach-dch:att-2010@ps-384,ps-64", "ps-384 (384 kbit/s down, 64 up), ps-64 (64 kbit/s down, 64 up)"),
        ("ps-384", None),
    ):
        scenario = Scenario.parse(of_bearer(name, 1), overrides=(("duration", "1 s"),))
        assert dch_of(scenario) == dch, name
        profile = json.loads(scenario.core.to_json()).get("rrc", {}).get("profile")
        assert (profile == "att-2010") == ("att-2010" in name)


def test_the_summary_has_the_rate_of_a_scenarios_own_bearer() -> None:
    web_cell = Scenario.load(ONE_USER.parent / "web-cell-3gpp.toml")
    assert dch_of(web_cell) == "web-64 (64 kbit/s down, 32 up)"


def test_the_figure_of_an_emulated_cell_counts_simulated_users() -> None:
    from umtslab.plot import KINDS
    from umtslab.plot.programs import all_users
    from umtslab.plot.tables import WHOLE
    from umtslab.run import Identity, Run
    from umtslab.version import code_version

    row = {"time_s": [0.0], "connection": [0], "goodput_kbps": [20.0]}
    tables = {"goodput": row, "simulated_goodput": row}
    run = Run(
        "x",
        Identity("0", code_version(), seed=1, run=0),
        {},
        events=0,
        duration_s=1.0,
        folder=None,
        tables=tables,
    )
    for kind, total in (("cell", 40.0), ("goodput", 20.0)):
        assert all_users(run, KINDS[kind], "goodput", WHOLE)["goodput_kbps"].sum() == total


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fach-dch@ps-38", "did you mean fach-dch@ps-384?"),
        ("fach-dch:att@ps-384", "did you mean fach-dch:att-2010?"),
        ("fach-dch@fach", "there is no bearer `fach`"),
        ("fach-dch@", "there is no bearer ``"),
    ],
)
def test_an_unknown_dch_is_an_error(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="there is no") as error:
        of_bearer(name, 1)
    assert message in str(error.value)


def test_the_list_of_bearers_has_the_rates_of_switched_ones(umts: Umts) -> None:
    bearers = json.loads(umts("bearers", "fach-dch", "--json").stdout)
    (bearer,) = (bearer for bearer in bearers if bearer["name"] == "fach-dch:att-2010")
    dch, source = bearer["dch"], bearer["source"]
    assert dch == "ps-64 (64 kbit/s down, 64 up)"
    assert "DCH: Dubois (2005), Table 7.2" in source
    text = umts("bearers", "att-2010").stdout
    assert "ps-64 (64 kbit/s down, 64 up)" in text
    assert "@BEARER" in umts("bearers", "fach").stdout


def test_metrics_combine_programs_and_simulated_users() -> None:
    radio: dict[str, float | None] = {
        "goodput_kbps": 80.0,
        "cell_occupancy_kbps": 400.0,
        "energy_j": 5.0,
        "pages": 3.0,
    }
    programs: dict[str, float | None] = {"goodput_kbps": 200.0, "acknowledged_bytes": 100_000.0}
    with_flows = whole_network(radio, programs, 10.0, switched=2, has_flows=True)
    # Programs and simulated users transfer 100 kB each, over 400 kbit/s for ten seconds.
    assert (with_flows["cell_efficiency"], with_flows["energy_j_per_mb"]) == (0.4, 50.0)
    assert (with_flows["goodput_kbps"], with_flows["pages"]) == (200.0, 3.0)
    without_flows = whole_network(radio, programs, 10.0, switched=2, has_flows=False)
    assert (without_flows["cell_efficiency"], without_flows["energy_j_per_mb"], without_flows["pages"]) == (
        0.2,
        100.0,
        None,
    )
    nothing = whole_network(radio, {"acknowledged_bytes": None}, 10.0, switched=2, has_flows=False)
    assert (nothing["cell_efficiency"], nothing["energy_j_per_mb"]) == (None, None)


def test_summary_lines_have_the_expected_texts() -> None:
    assert first_connection_line(waited_s=2.2, promotion_s=2.0, used_dns=True) == (
        "before the first connection: 2.20 s, of which 2.00 s promotion (DNS)"
    )
    assert (
        first_connection_line(waited_s=0.35, promotion_s=0.0, used_dns=False)
        == "before the first connection: 0.35 s"
    )
    assert recovery_lines({"rlc_unrecoverable_errors": 0.0, "cell_updates": None}) == []
    failed = {"rlc_unrecoverable_errors": 2.0, "cell_updates": 1.0}
    assert recovery_lines(failed) == ["  RLC unrecoverable errors: 2, cell updates: 1"]
    assert datagram_lines({"udp_sent": 0.0, "udp_sent_uplink": 0.0}) == []
    counts = {"udp_sent": 5.0, "udp_received": 4.0, "udp_sent_uplink": 2.0, "udp_received_uplink": 2.0}
    assert datagram_lines(counts) == ["  UDP datagrams: 2 up, 5 down, 1 of them did not arrive"]
