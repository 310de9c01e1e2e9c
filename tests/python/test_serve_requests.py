"""Requests that Schemathesis makes from the description of the addresses: none makes the server fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import FTP
from hypothesis import HealthCheck, settings
from serving import PATIENCE_S, Served, serving
from umtslab import Scenario, open_store, simulate

pytest.importorskip("fastapi", reason="the extra serve is not installed")
schemathesis = pytest.importorskip("schemathesis", reason="Schemathesis is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]


def description() -> Any:
    from umtslab.serve.app import openapi

    return schemathesis.openapi.from_dict(openapi())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a run, and with a scenario of one second."""
    folder = tmp_path_factory.mktemp("requests")
    scenario = Scenario.load(FTP, {"duration": "1 s", "measure.budget": True})
    with open_store(folder / "results") as store:
        simulate(scenario, store=store, series=True, pcap=True)
    (folder / "scenarios").mkdir()
    (folder / "scenarios/0.toml").write_text(FTP.read_text().replace('"1500 s"', '"1 s"'))
    with serving(folder, "results", "--scenarios", "scenarios") as server:
        yield server


@description().parametrize()  # type: ignore[untyped-decorator]
@settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_the_server_fail(case: Any, served: Served) -> None:
    headers = {"cookie": served.cookie, "origin": served.origin}
    answer = case.call(base_url=served.origin, headers=headers, timeout=PATIENCE_S)
    assert answer.status_code < 500, answer.text
