"""``umts analyse A B --split``: both sides of a proxy, from captures of our own runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import FTP, Umts
from umtslab import Scenario, simulate
from umtslab.run import Run
from umtslab.split_captures import split_transfers
from umtslab.store import open_store

CLEAN = {"radio.bler": "0", "link.0.loss": "0"}


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = Scenario.load(FTP.with_name("split-download.toml"), list({**CLEAN, "ue.0.count": "2"}.items()))
    with open_store(tmp_path_factory.mktemp("proxied")) as store:
        return simulate(scenario, store=store, pcap=True)[0]


def sides(run: Run) -> tuple[Path, Path]:
    files = {file.stem: file for file in run.captures()}
    return files["pep-server"], files["pep-radio"]


def test_both_connections_of_each_transfer_are_paired(proxied: Run) -> None:
    found = split_transfers(sides(proxied))
    assert len(found) == 2
    for transfer in found:
        # The server of a transfer is one host, its user another.
        assert {transfer.first["client"], transfer.first["server"]} & {
            transfer.second["client"],
            transfer.second["server"],
        }
        assert transfer.octets >= 50_000
        assert transfer.first["ended"] == transfer.second["ended"] == "finished"


def test_what_the_proxy_keeps_is_what_the_run_says(proxied: Run) -> None:
    found = split_transfers(sides(proxied))
    ahead = [transfer.ahead_octets for transfer in found]
    told = proxied.metrics["pep_buffer_max_octets"]
    assert told is not None
    # Acknowledged to the server and not by the user: at least what the buffer held, which is what was read.
    assert max(octets or 0 for octets in ahead) == pytest.approx(told, abs=2 * 1460)
    for transfer in found:
        assert transfer.delay_s is not None
        assert transfer.longest_delay_s is not None
        assert 0 < transfer.delay_s < transfer.longest_delay_s < 2


def test_the_order_of_the_captures_decides_nothing(proxied: Run) -> None:
    server, radio = sides(proxied)
    forth, back = split_transfers((server, radio)), split_transfers((radio, server))
    key = [(transfer.first["client"], transfer.delay_s, transfer.ahead_octets) for transfer in forth]
    assert sorted(key) == sorted((t.first["client"], t.delay_s, t.ahead_octets) for t in back)


def test_it_is_printed(umts: Umts, proxied: Run) -> None:
    server, radio = sides(proxied)
    printed = umts("analyse", server, radio, "--split").stdout
    assert "2 transfers" in printed
    assert "finished, finished" in printed
    assert "pep-radio.pcapng" in printed
    told = json.loads(umts("analyse", server, radio, "--split", "--json").stdout)
    assert [len(transfer["connections"]) for transfer in told["transfers"]] == [2, 2]


def test_it_takes_two_captures(umts: Umts, proxied: Run) -> None:
    server, _ = sides(proxied)
    refused = umts("analyse", server, "--split", status=2)
    assert "name two captures, not 1" in refused.stderr
