"""Security of ``umts serve``: which requests are answered, which files they reach, which limits they have.

Only a browser with the token, later a cookie, at a known host name is answered. Visitors can name
scenarios, but these reach no file outside their folder. Uploads, requests and jobs have limits.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from serving import PATIENCE_S, Served, serving
from umtslab import open_store, simulate
from umtslab.serve import guard, jobs
from umtslab.serve.guard import POLICY
from umtslab.serve.settings import LARGEST_UPLOAD, Settings
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket
from websockets.typing import Origin

ROOT = Path(__file__).parents[2]
FTP = ROOT / "scenarios/ftp-on-fach.toml"
SECRET = "root:x:0:0"
"""The beginning of /etc/passwd, and the content of a file above the folder of scenarios."""

SHORT = {"overrides": [{"key": "duration", "value": "5 s"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of one run, harmless scenarios, and scenarios that name forbidden files."""
    place = tmp_path_factory.mktemp("serve")
    with open_store(place / "results") as store:
        simulate_short(store)
    scenarios = place / "scenarios"
    scenarios.mkdir()
    (scenarios / "plain.toml").write_text(FTP.read_text())
    (scenarios / "outside.toml").write_text('version = 1\nextends = "/etc/passwd"\n')
    (scenarios / "above.toml").write_text('version = 1\nextends = "../secret.toml"\n')
    (scenarios / "linked.toml").symlink_to("/etc/passwd")
    (scenarios / "by-link.toml").write_text('version = 1\nextends = "linked.toml"\n')
    with_code = FTP.read_text().replace("[tcp]", '[tcp]\npython = "control.py:Control"', 1)
    (scenarios / "code.toml").write_text(with_code.replace('variant = "reno"', 'variant = "python"', 1))
    (scenarios / "control.py").write_text(
        "import pathlib\n"
        "from umtslab import CongestionControl\n"
        f"pathlib.Path({str(place / 'was-run')!r}).touch()\n"
        "class Control(CongestionControl):\n"
        "    pass\n"
    )
    (place / "secret.toml").write_text(SECRET)
    return place


def simulate_short(store: object) -> None:
    from umtslab import Scenario

    scenario = Scenario.load(FTP, {"duration": "20 s", "measure.budget": True})
    simulate(scenario, store=store, series=True, pcap=True)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    with serving(folder, "results", "--scenarios", "scenarios") as server:
        yield server


def files(folder: Path) -> dict[str, int]:
    """Return the size of every file of the store, except those of SQLite's shared memory."""
    return {
        str(path): path.stat().st_size
        for path in (folder / "results").rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def connect(served: Served, origin: str | None = None, cookie: str | None = None) -> ClientConnection:
    """Open a WebSocket."""
    address = f"ws://127.0.0.1:{served.port}/api/socket"
    return open_socket(
        address,
        origin=None if origin is None else Origin(origin),
        additional_headers={"Cookie": cookie} if cookie else None,
        open_timeout=PATIENCE_S,
        ping_timeout=None,
    )


# ── Requests that are answered ──────────────────────────────────────────────────────────────────────


def test_only_loopback_is_listened_to_by_default(served: Served) -> None:
    # A row has number, local address, remote address and state (0A: LISTEN), in hexadecimal.
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    listening = [row.split()[1] for row in table if row.split()[3] == "0A"]
    own = [address for address in listening if int(address.partition(":")[2], 16) == served.port]
    # 127.0.0.1 with the lowest byte first
    assert own == [f"0100007F:{served.port:04X}"]


def test_a_browser_without_the_token_gets_nothing(served: Served) -> None:
    for path in ("/", "/api/home", "/api/about", "/assets/x.js", "/run/abc"):
        assert served.ask(path, cookie=None).status == 401
        assert served.ask(path, cookie=f"umtslab_{served.port}=wrong").status == 401


def test_the_token_is_taken_once_and_becomes_a_strict_cookie(served: Served) -> None:
    entry = served.ask(f"/try/plain?set=a&token={served.token}", cookie=None)
    assert (entry.status, entry.headers["location"]) == (303, "/try/plain?set=a")
    cookie = entry.headers["set-cookie"]
    assert cookie.startswith(served.cookie)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert served.ask("/?token=wrong", cookie=None).status == 403
    assert "set-cookie" not in served.ask("/?token=wrong", cookie=None).headers
    assert served.ask(f"/api/home?token={served.token}", cookie=None).status == 401


def test_the_token_is_masked_in_the_log(served: Served) -> None:
    served.ask(f"/?token={served.token}", cookie=None)
    log = served.log.read_text()
    assert "token=***" in log
    assert served.token not in log


def test_the_token_leads_to_an_address_of_any_script(served: Served) -> None:
    path = "/campaign/%E4%B8%AD%20%3F%23%25"
    entry = served.ask(f"{path}?token={served.token}", cookie=None)
    assert entry.headers["location"] == path


def test_the_token_leads_to_no_other_site(served: Served) -> None:
    entry = served.ask(f"//example.org/x?token={served.token}", cookie=None)
    assert entry.headers["location"] == "/example.org/x"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:1", "example.org", "rebound.example:{port}", "127.0.0.1:{port}.example.org", ""],
)
def test_another_host_or_port_is_refused(served: Served, host: str) -> None:
    assert served.ask("/api/home", host=host.format(port=served.port)).status in (400, 421)


def test_localhost_is_answered_and_two_hosts_are_not(served: Served) -> None:
    assert served.ask("/api/about", host=f"localhost:{served.port}").status == 200
    request = (
        f"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nHost: example.org\r\n"
        f"Cookie: {served.cookie}\r\n\r\n"
    )
    assert b" 200 " not in raw(served.port, request.encode()).splitlines()[0]


def test_ipv6_loopback_is_answered_under_its_name_in_brackets(folder: Path) -> None:
    settings = Settings(store=folder, scenarios=folder, port=8765, address="::1")
    assert "[::1]:8765" in settings.hosts
    assert settings.url.startswith("http://[::1]:8765/?token=")
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    with serving(folder, "results", "--scenarios", "scenarios", "--listen", "::1") as server:
        head = f"GET /api/about HTTP/1.1\r\nHost: [::1]:{server.port}\r\nCookie: {server.cookie}\r\n\r\n"
        assert b" 200 " in raw(server.port, head.encode(), "::1").splitlines()[0]
        wrong = head.replace(f"[::1]:{server.port}", "[::1]:1")
        assert b" 421 " in raw(server.port, wrong.encode(), "::1").splitlines()[0]


@pytest.mark.parametrize(
    "origin", [None, "null", "http://example.org", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
def test_a_post_from_elsewhere_is_refused(served: Served, origin: str | None) -> None:
    origin_header = None if origin is None else origin.format(port=served.port)
    answer = served.post("/api/try", {"scenario": "plain"}, origin=origin_header)
    assert answer.status == 403


@pytest.mark.parametrize("origin", [None, "http://example.org", "http://rebound.example:{port}"])
def test_a_websocket_from_elsewhere_is_refused(served: Served, origin: str | None) -> None:
    origin_header = None if origin is None else origin.format(port=served.port)
    with pytest.raises(InvalidStatus) as refused:
        connect(served, origin_header, served.cookie)
    assert refused.value.response.status_code == 403


def test_a_websocket_needs_the_cookie_and_gets_the_latest_state(served: Served) -> None:
    with pytest.raises(InvalidStatus):
        connect(served, served.origin)
    with connect(served, served.origin, served.cookie) as channel:
        assert '"jobs"' in str(channel.recv(PATIENCE_S))


def test_other_addresses_need_listen_and_warn_without_tls(folder: Path) -> None:
    with serving(folder, "results", "--scenarios", "scenarios", "--listen", "127.0.0.2") as server:
        assert "warning" not in server.log.read_text(), "127.0.0.2 is this machine too"
    words = ("--listen", "0.0.0.0", "--name", "lab.example")
    with serving(folder, "results", "--scenarios", "scenarios", *words) as server:
        assert "other machines can read" in server.log.read_text()
        assert server.ask("/api/about", host=f"lab.example:{server.port}").status == 200
        assert server.ask("/api/about", host=f"other.example:{server.port}").status == 421


def test_tls_makes_the_cookie_secure_and_needs_no_warning(folder: Path, tmp_path: Path) -> None:
    certificate, key = certificate_in(tmp_path)
    words = ("--listen", "127.0.0.1", "--tls-certificate", certificate, "--tls-key", key)
    with serving(folder, "results", "--scenarios", "scenarios", *words) as server:
        assert "warning" not in server.log.read_text()
        context = ssl.create_default_context(cafile=str(certificate))
        context.check_hostname = False
        with (
            socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as plain,
            context.wrap_socket(plain) as secure,
        ):
            secure.sendall(
                f"GET /?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
            )
            answer = secure.recv(4096)
        assert b" 303 " in answer
        assert b"; Secure" in answer


def certificate_in(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x"
    try:
        subprocess.run([*words.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return certificate, key


# ── Effects of requests ────────────────────────────────────────────────────────────────────────────


def test_get_and_head_change_nothing(served: Served, folder: Path) -> None:
    key = served.ask("/api/home").json()["runs"][0]["key"]
    before = files(folder)
    paths = (
        "/",
        "/api/about",
        "/api/home",
        f"/api/runs/{key}",
        f"/api/runs/{key}/lanes",
        f"/api/runs/{key}/connections",
        f"/api/runs/{key}/captures/server.pcapng/analysis",
        "/api/scenarios/plain",
        "/api/jobs",
    )
    for path in paths:
        for method in ("GET", "HEAD"):
            served.ask(path, method)
    assert served.ask("/api/try").status == 405
    assert served.ask("/api/jobs", "DELETE").status == 405
    assert served.ask("/api/jobs/1/stop").status == 405
    assert files(folder) == before
    assert served.ask("/api/jobs").json() == {"jobs": []}


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../app.py",
        "/assets/..%2fapp.py",
        "/assets/%2e%2e/app.py",
        "/api/reports/..%2f..%2fsecret",
        "/api/scenarios/..%2fsecret",
        "/api/scenarios/a%00b",
        "/api/scenarios/a%5cb",
        "/api/campaigns/..%2fx",
        "/api/studies/%2fetc%2fpasswd",
        "/api/reproductions/..%2f..",
    ],
)
def test_no_path_leads_out_of_its_folder(served: Served, path: str) -> None:
    answer = served.ask(path)
    assert answer.status in (400, 404)
    assert SECRET not in answer.text


def test_symbolic_links_out_of_a_folder_are_not_followed(served: Served, folder: Path) -> None:
    reports = folder / "results/reports"
    reports.mkdir(exist_ok=True)
    (reports / "linked.html").symlink_to(folder / "secret.toml")
    try:
        assert served.ask("/api/reports/linked").status == 404
    finally:
        (reports / "linked.html").unlink()
    assert served.ask("/api/scenarios/linked").status == 404


@pytest.mark.parametrize("name", ["outside", "above", "by-link"])
def test_a_scenario_that_extends_a_file_outside_is_refused_without_printing_it(
    served: Served, name: str
) -> None:
    for answer in (
        served.post("/api/try", {"scenario": name}),
        served.post("/api/jobs", {"scenario": name}),
        served.ask(f"/api/scenarios/{name}"),
    ):
        assert "outside the scenarios' folder" in answer.text
        assert SECRET not in answer.text
        assert "/etc/passwd" not in answer.text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("extends", "/etc/passwd"),
        ("radio.file", "/etc/passwd"),
        ("radio.file", '"../secret.toml"'),
        ("radio.file", '"\\u002fetc/passwd"'),
        ("radio", '{ model = "trace", file = "/etc/passwd" }'),
        ("cell.power.tables", "/etc/passwd"),
    ],
)
def test_overrides_name_no_file_outside(served: Served, key: str, value: str) -> None:
    request = {"scenario": "plain", "overrides": [{"key": key, "value": value}]}
    answer = served.post("/api/try", request)
    assert "outside the scenarios' folder" in answer.text
    assert SECRET not in answer.text


def test_an_address_without_a_view_is_reported_by_the_page(served: Served) -> None:
    for path, media_type in (("/nowhere", "text/html"), ("/api/nowhere", "application/json")):
        answer = served.ask(path)
        assert answer.status == 404
        # Without a built page the answer is a text.
        assert answer.headers["content-type"].startswith((media_type, "text/plain"))


def test_files_that_are_no_scenarios_are_reported(served: Served, folder: Path) -> None:
    scenarios = folder / "scenarios"
    (scenarios / "latin.toml").write_bytes(b'title = "f\xfcr"')
    (scenarios / "empty-value.toml").write_text("version = \n")
    (scenarios / "long.toml").write_text(f'version = 1\nextends = "{"a" * 300}.toml"\n')
    (scenarios / "loop.toml").write_text('version = 1\nextends = "loop.toml"\n')
    for name, message in (
        ("latin", "The file is not UTF-8 text: write it in UTF-8 (byte 11 is wrong)."),
        ("empty-value", "Invalid value (line 1)."),
        ("long", "Cannot read"),
        ("loop", "Loop.toml extends itself in a circle"),
    ):
        answer = served.ask(f"/api/scenarios/{name}")
        assert answer.status == 400, answer.text
        assert answer.json()["detail"].startswith(message)
        assert "\n" not in answer.json()["detail"]
        tried = served.post("/api/try", {"scenario": name, "overrides": []})
        assert len(tried.json()["mistakes"]) == 1


def test_links_out_of_the_folder_and_names_that_are_not_unicode_are_not_listed(
    served: Served, folder: Path
) -> None:
    os.close(os.open(bytes(folder / "scenarios") + b"/\xff.toml", os.O_CREAT, 0o600))
    listed = [row["name"] for row in served.ask("/api/home").json()["scenarios"]]
    assert "plain" in listed
    assert "linked" not in listed
    assert all(name.isprintable() for name in listed)


@pytest.mark.parametrize("body", [b'{"scenario": "\\ud800"}', b'{"scenario": "' + b"x" * 900_000 + b'"}'])
def test_a_wrong_request_is_refused_without_its_values(served: Served, body: bytes) -> None:
    answer = served.ask("/api/try", "POST", body)
    assert answer.status == 422
    assert len(answer.body) < 1000
    assert answer.json()["detail"][0]["loc"] == ["body", "scenario"]


def test_a_figure_that_a_run_has_not_is_reported(served: Served) -> None:
    [run] = served.ask("/api/home").json()["runs"]
    answer = served.ask(f"/api/runs/{run['key']}/figures/nothing.svg")
    assert (answer.status, answer.json()["detail"][:26]) == (404, "There is no figure 'nothin")


def test_the_name_of_a_saved_file_may_have_any_script() -> None:
    from fastapi import Response
    from umtslab.serve.routes.stored import download_as

    for name, header in (
        ("ftp-server.pcapng", 'attachment; filename="ftp-server.pcapng"'),
        ('中"\n.pcapng', "attachment; filename*=UTF-8''%E4%B8%AD%22%0A.pcapng"),
    ):
        assert Response(headers=download_as(name)).headers["content-disposition"] == header


def test_the_editor_cannot_name_files_outside_the_folder(served: Served) -> None:
    answer = served.post("/api/try", {"scenario": "plain", "text": 'version = 1\nextends = "/etc/passwd"\n'})
    assert answer.json()["result"] is None
    assert "outside the scenarios' folder" in answer.text
    assert SECRET not in answer.text


def test_python_code_needs_allow_code(served: Served, folder: Path) -> None:
    override = {"key": "tcp.python", "value": "control.py:Control"}
    for request in (
        {"scenario": "code", **SHORT},
        {"scenario": "plain", "overrides": [override, {"key": "tcp.variant", "value": "python"}]},
    ):
        answer = served.post("/api/try", request)
        assert "names Python code" in answer.text
    assert not (folder / "was-run").exists()
    with serving(folder, "results", "--scenarios", "scenarios", "--allow-code") as trusting:
        trusting.post("/api/try", {"scenario": "code", **SHORT})
        assert (folder / "was-run").exists()


def test_a_read_only_page_tries_but_keeps_nothing(folder: Path) -> None:
    with serving(folder, "results", "--scenarios", "scenarios", "--read-only") as server:
        before = files(folder)
        assert server.post("/api/jobs", {"scenario": "plain"}).status == 403
        assert server.post("/api/runs/0/timeline", {}).status == 403
        assert server.ask("/api/captures", "POST", b"x").status == 403
        tried = server.post("/api/try", {"scenario": "plain", **SHORT})
        assert tried.json()["result"]["metrics"]
        assert files(folder) == before


def test_stored_reports_are_sandboxed(served: Served, folder: Path) -> None:
    reports = folder / "results/reports"
    reports.mkdir(exist_ok=True)
    (reports / "bad.html").write_text("<style>p { color: red }</style><script>alert(1)</script>")
    answer = served.ask("/api/reports/bad")
    policy = answer.headers["content-security-policy"]
    assert answer.status == 200
    assert policy.endswith("; sandbox")
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy


def test_the_policy_allows_nothing_unsafe(served: Served) -> None:
    for path in ("/", "/api/home", "/nowhere"):
        headers = served.ask(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


def test_texts_of_the_store_are_data_and_not_markup(served: Served, folder: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    text = FTP.read_text().replace('title = "One FTP user on FACH"', f'title = "{name}"')
    answer = served.post("/api/try", {"scenario": "plain", "text": text, **SHORT})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["title"] == name


# ── Limits ──────────────────────────────────────────────────────────────────────────────────────────


def test_an_upload_is_checked_while_it_streams(served: Served) -> None:
    declared = served.ask("/api/captures", "POST", b"", **{"content-length": str(LARGEST_UPLOAD + 1)})
    assert declared.status == 413
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as client:
        client.sendall(head(served, "/api/captures", "Transfer-Encoding: chunked"))
        # The length of a chunk is hexadecimal: 0x100000 bytes are 1 MiB.
        chunk = b"100000\r\n" + bytes(2**20) + b"\r\n"
        sent = 0
        with suppress(OSError):  # the server closes the connection
            for _ in range(LARGEST_UPLOAD // 2**20 + 8):
                client.sendall(chunk)
                sent += 2**20
        try:
            answer = client.recv(4096)
        except ConnectionResetError:
            answer = b""
    assert answer == b"" or b" 413 " in answer
    # Not refused long before the limit. Buffers may still hold a part of what was sent.
    assert sent > LARGEST_UPLOAD - 64 * 2**20
    assert served.ask("/api/about").status == 200


def test_other_bodies_are_at_most_a_megabyte(served: Served) -> None:
    # Refused by the length, before the body is sent.
    large = served.ask("/api/try", "POST", b"", **{"content-length": str(2**20 + 1)})
    assert large.status == 413


def test_a_slow_head_is_cut(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: ")
        # The server closes the connection, else `recv` times out.
        with suppress(ConnectionResetError):
            assert client.recv(100) == b""


def test_a_slow_body_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(guard, "BODY_S", 0.05)

    async def never() -> dict[str, object]:
        await asyncio.sleep(60)
        return {}

    async def body() -> None:
        scope = {"type": "http", "method": "POST", "path": "/api/try"}
        with pytest.raises(guard.TooSlow):
            await guard.Body(scope, never).whole()

    asyncio.run(body())


def test_an_oversized_head_or_message_is_cut(served: Served) -> None:
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nX: {'x' * 200_000}\r\n\r\n"
    assert b" 200 " not in raw(served.port, request.encode())
    with connect(served, served.origin, served.cookie) as channel:
        channel.recv(PATIENCE_S)
        channel.send("x" * 200_000)
        with pytest.raises(ConnectionClosed):
            list(channel)  # up to the end: a state may still arrive
    assert served.ask("/api/about").status == 200


def spin(report: jobs.Report) -> None:
    while True:
        pass


def sleep(report: jobs.Report) -> None:
    time.sleep(3600)


def fill_memory(report: jobs.Report) -> None:
    blocks = []
    while True:
        blocks.append(bytes(2**24))


def write_large(path: Path, report: jobs.Report) -> str:
    with path.open("wb") as file:
        file.write(bytes(2**23))
    return "written"


def crash(report: jobs.Report) -> None:
    os.abort()


@pytest.mark.parametrize(
    ("job", "cpu_s", "wall_s", "says"),
    [
        (spin, 1, 300.0, "processor time"),
        (sleep, 60, 2.0, "more than 2 s"),
        (fill_memory, 60, 300.0, "of memory"),
        (crash, 60, 300.0, "ended"),
    ],
)
def test_a_job_dies_at_its_limits_and_the_caller_lives(
    job: object, cpu_s: int, wall_s: float, says: str
) -> None:
    limits = jobs.Limits(cpu_s, wall_s, memory=2**30, file_size=2**20)
    with pytest.raises(jobs.JobFailed, match=says):
        jobs.perform(job, limits=limits)  # type: ignore[arg-type]


def test_a_job_writes_no_large_file(tmp_path: Path) -> None:
    limits = jobs.Limits(cpu_s=60, wall_s=300.0, memory=2**30, file_size=2**20)
    with pytest.raises(OSError, match="too large"):
        jobs.perform(write_large, tmp_path / "large", limits=limits)


def test_an_endless_scenario_dies_and_the_server_lives(served: Served) -> None:
    request = {"scenario": "plain", "overrides": [{"key": "duration", "value": "100000 h"}]}
    answer = served.post("/api/try", request)
    assert answer.status == 409
    assert "was ended" in answer.text
    assert served.ask("/api/about").status == 200


def test_the_number_of_waiting_jobs_is_limited(folder: Path) -> None:
    with serving(folder, "results", "--scenarios", "scenarios") as server:
        request = {"scenario": "plain", "overrides": [{"key": "duration", "value": "10000 h"}]}
        statuses = [server.post("/api/jobs", request).status for _ in range(10)]
        assert statuses.count(200) == jobs._MAX_WAITING
        assert statuses[-1] == 503
        for job in server.ask("/api/jobs").json()["jobs"]:
            assert server.ask(f"/api/jobs/{job['id']}/stop", "POST").status == 200


def test_a_busy_port_and_a_missing_store_are_reported(folder: Path, served: Served) -> None:
    words = [sys.executable, "-m", "umtslab", "serve", "results", "--port", str(served.port)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"port {served.port} is in use" in done.stderr
    with serving(folder, "nowhere", "--scenarios", "scenarios") as server:
        about = server.ask("/api/about").json()
        assert about["has_store"] is False
        assert server.ask("/api/home").json()["runs"] == []
    assert not (folder / "nowhere").exists()


def raw(port: int, request: bytes, address: str = "127.0.0.1") -> bytes:
    """Send bytes, and return the beginning of the answer."""
    with socket.create_connection((address, port), PATIENCE_S) as client:
        client.sendall(request)
        try:
            return client.recv(4096) or b"closed"
        except ConnectionResetError:
            return b"closed"


def head(served: Served, path: str, *headers: str) -> bytes:
    """Return the head of a POST with cookie and origin."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}",
        f"Cookie: {served.cookie}",
        f"Origin: {served.origin}",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
