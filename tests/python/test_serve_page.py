"""The page of ``umts serve`` in a browser: content, behaviour, accessibility.

The browser is Chromium, which ``tools/install-chromium`` installs. Axe, the checker of accessibility
rules, comes with the page's own packages.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import CAMPAIGN, FTP, command
from live_stand_in import StandIn, emulated
from serving import PATIENCE_S, Served, serving
from umtslab import Scenario, analyse_captures, open_store, simulate
from umtslab.why import explain

pytest.importorskip("fastapi", reason="the extra serve is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "python/umtslab/serve/page/index.html"
AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.slow,
    # A test waits several times, each time for up to PATIENCE_S.
    pytest.mark.timeout(4 * PATIENCE_S),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: tools/install-chromium says why"),
    pytest.mark.skipif(not PAGE.exists(), reason="the page is not built: `make page` says why"),
]

ALONE = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Chromium without requests by itself, as root too."""

RULES = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
"""Rules of axe, those of WCAG 2.2 for the size of targets among them."""

STUDY = f"""
version = 1
name = "which-matters"
title = "What matters"
scenario = "{FTP}"
runs = 2
samples = 2
metrics = ["goodput_kbps"]
[set]
duration = "20 s"
[parameters]
radio.bler = {{ from = 0.0, to = 0.2 }}
tcp.rto_min = {{ from = "200 ms", to = "1000 ms" }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store: three runs with everything recorded, a plain run, a campaign and a study."""
    place = tmp_path_factory.mktemp("page")
    recorded = {"duration": "80 s", "measure.budget": True, "measure.timeline": True}
    scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), recorded)
    plain = Scenario.load(FTP.with_name("ftp-on-dch-64.toml"), {"duration": "20 s"})
    with open_store(place / "results") as store:
        simulate(plain, store=store)
        simulate(scenario, runs=3, store=store, series=True, pcap=True)
    (place / "two.toml").write_text(CAMPAIGN)
    (place / "study.toml").write_text(STUDY)
    for words in (("sweep", "two.toml"), ("sensitivity", "study.toml")):
        done = subprocess.run(
            command(*words, "--quiet"), cwd=place, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def emulation(folder: Path) -> Iterator[StandIn]:
    """A degraded emulation, which runs during all tests."""
    stand_in = StandIn()
    stand_in.is_degraded = True
    with emulated(folder / "results", stand_in, EMULATION):
        yield stand_in


@pytest.fixture(scope="module")
def served(folder: Path, emulation: StandIn) -> Iterator[Served]:
    with serving(folder, "results", "--scenarios", ROOT / "scenarios") as server:
        while not server.ask("/api/live").json()["emulations"]:
            time.sleep(0.05)
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=list(ALONE), timeout=1000 * PATIENCE_S
        )
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page of the browser. Errors, and requests to other origins, are collected."""

    page: Any
    served: Served
    errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    def open(self, path: str, shows: str = "h1") -> None:
        """Open an address, and wait until the page shows an element."""
        self.page.goto(self.served.origin + path)
        self.page.locator(shows).first.wait_for()

    def check(self) -> None:
        assert self.errors == []
        assert self.foreign_requests == [], "no request leaves the origin"

    def violations(self) -> list[str]:
        """Return the violations that axe finds."""
        self.page.evaluate(AXE.read_text())
        result = self.page.evaluate(f"axe.run(document, {json.dumps(RULES)})")
        return [f"{violation['id']}: {violation['nodes'][0]['html']}" for violation in result["violations"]]


@pytest.fixture
def tab(chromium: Any, served: Served) -> Iterator[Tab]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.origin)
    opened = watched(context.new_page(), served)
    opened.page.goto(f"{served.origin}/?token={served.token}")
    yield opened
    context.close()
    opened.check()


def watched(page: Any, served: Served) -> Tab:
    """Return a tab that collects the errors and foreign requests of a page."""
    tab = Tab(page, served)
    page.set_default_timeout(1000 * PATIENCE_S)
    own_origins = (served.origin, served.origin.replace("http", "ws"))

    def on_console(message: Any) -> None:
        if message.type in ("error", "warning"):
            tab.errors.append(message.text)

    def on_request(request: Any) -> None:
        if not request.url.startswith(own_origins):
            tab.foreign_requests.append(request.url)

    page.on("console", on_console)
    page.on("pageerror", lambda error: tab.errors.append(str(error)))
    page.on("request", on_request)
    return tab


def newest(served: Served, scenario: str) -> str:
    """Return the key of the newest run of a scenario."""
    rows = served.ask("/api/home").json()["runs"]
    return str(next(row["key"] for row in rows if row["scenario"] == scenario))


EMULATION = "e0000000a"
"""Name of the emulation that runs during all tests."""

SECOND_RUN = [{"key": "tcp.variant", "value": "sack"}]


def live_session(served: Served, scenario: str, beside: list[dict[str, str]] | None = None) -> str:
    """Return a live session of a scenario at 20 s, started once for all tests."""
    wanted = f"{scenario}{', beside' if beside else ''}"
    for row in served.ask("/api/live").json()["sessions"]:
        if row["title"].startswith(wanted):
            return str(row["id"])
    answer = served.post("/api/live", {"scenario": scenario, "beside": beside})
    assert answer.status == 200, answer.text
    identity = str(answer.json()["id"])
    order = {"order": {"action": "go", "time_s": 20}}
    assert served.post(f"/api/live/{identity}/control", order).status == 200
    return identity


def views(served: Served) -> dict[str, tuple[str, str]]:
    """Return the address of each view, and an element that comes last."""
    key = newest(served, "ftp-fach-dch")
    two_runs = live_session(served, "ftp-on-fach-two-users", SECOND_RUN)
    return {
        "home": ("/", ".list li"),
        "run": (f"/run/{key}", "tbody button"),
        "chain": (f"/run/{key}#e=stall-0", ".beside > .panel .chain button"),
        "run without a timeline": (f"/run/{newest(served, 'ftp-on-dch-64')}", "#main table"),
        "try": ("/try/ftp-on-fach?set=duration%3D20%20s&set=rlc.timer_poll%3D170", ".k.bad + *, dl.m"),
        "live": (f"/live/{live_session(served, 'ftp-fach-dch')}", ".events li"),
        "two live runs": (f"/live/{two_runs}", ".live + .live .cmd"),
        "live, to start": ("/live", "form.start button"),
        "live with an HS-DSCH": (f"/live/{live_session(served, 'hsdpa')}", ".events li"),
        "emulation": (f"/live/{EMULATION}", "section:has-text('Fidelity') dd"),
        "captures": (f"/captures?run={key}&name=server.pcapng", ".ladder tbody tr"),
        "campaign": ("/campaign/two", ".plot svg"),
        "study": ("/study/which-matters", ".plot svg"),
        "reproduction": ("/reproduction/hu-split", "tbody tr"),
    }


# ── Every view ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: `make page` says why")
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 320)])
def test_axe_finds_nothing_in_any_view(chromium: Any, served: Served, theme: str, width: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    tab = watched(context.new_page(), served)
    tab.page.goto(f"{served.origin}/?token={served.token}")
    violations = {}
    for name, (path, shows) in views(served).items():
        tab.open(path, shows)
        violations[name] = tab.violations()
        widest = tab.page.evaluate("document.documentElement.scrollWidth")
        assert widest <= width, f"{name} scrolls sideways"
    context.close()
    assert violations == {name: [] for name in violations}
    tab.check()


# ── Home ────────────────────────────────────────────────────────────────────────────────────────────


def test_home_finds_and_filters(tab: Tab) -> None:
    page = tab.page
    tab.open("/", ".list li")
    assert page.get_by_role("heading", name="Runs").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("ftp-fach-dch")
    page.get_by_text("rows match").wait_for()
    assert page.get_by_role("heading", name="Campaigns").count() == 0
    assert "q=ftp-fach-dch" in page.url
    page.get_by_label("Find a run, scenario or key").fill("nothing like this")
    page.get_by_text(
        'Nothing matches "nothing like this". Clear the search or choose another kind.'
    ).wait_for()
    page.get_by_label("Find a run, scenario or key").fill("")
    page.get_by_role("button", name="Studies").click()
    assert page.get_by_role("link", name="which-matters").count() == 1
    assert page.get_by_role("heading", name="Scenarios").count() == 0


def test_a_scenario_runs_from_home_and_its_run_opens(tab: Tab) -> None:
    tab.open("/?q=three-losses")
    tab.page.get_by_role("button", name="Run three-losses").click()
    tab.page.get_by_role("link", name="Open the run").click()
    tab.page.get_by_role("heading", level=1).filter(has_text="Three losses").wait_for()
    assert "/run/" in tab.page.url


# ── Run ─────────────────────────────────────────────────────────────────────────────────────────────


def test_numbers_of_a_run_are_those_of_the_command(tab: Tab, folder: Path) -> None:
    from umtslab.numbers import number

    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}")
    with open_store(folder / "results") as store:
        run = store.of_keys([key])[key]
    run_page = tab.served.ask(f"/api/runs/{key}").json()
    assert {metric["name"]: metric["value"] for metric in run_page["metrics"]} == {
        name: value
        for name, value in run.metrics.items()
        if value is not None and not name.startswith("budget_")
    }
    for headline in run_page["headlines"]:
        assert headline["value"] == run.metrics[headline["name"]]
        card = tab.page.locator("dl.m > div").filter(has_text=headline["label"]).first
        assert number(headline["value"]) in card.inner_text()
    seconds = sum(part["seconds"] for part in run_page["budget"]["parts"])
    assert seconds == pytest.approx(run.metrics["budget_total_s"])


def test_a_connection_is_chosen_by_keyboard_and_its_budget_appears(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}")
    page = tab.page
    page.get_by_role("button", name="0, UE 0", exact=True).wait_for()
    page.locator("table.stalls button").first.wait_for()
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent === '0, UE 0'"):
            break
    page.keyboard.press("Enter")
    page.get_by_role("columnheader", name="Conn. 0, s").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def why(folder: Path, key: str) -> Any:
    """Return what ``umts why --json`` says about a run."""
    words = command("why", folder / "results/runs" / key, "--json")
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shown_chain(tab: Tab) -> list[str]:
    """Wait for a chain of causes, and return the texts of its links."""
    links = tab.page.get_by_role("list", name="Links of the chain").get_by_role("button")
    links.first.wait_for()
    return [str(text) for text in links.all_inner_texts()]


def test_stalls_and_chains_equal_the_output_of_umts_why(tab: Tab, folder: Path) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    stalls = why(folder, key)["stalls"]
    tab.open(f"/run/{key}", "table.stalls tbody tr")
    rows = tab.page.locator("table.stalls tbody tr")
    assert rows.count() == len(stalls)
    for text, stall in zip(rows.all_inner_texts(), stalls, strict=True):
        assert f"{stall['start_s']:.3f} s" in text
        assert f"{stall['length_s']:.3f} s" in text
        assert f"{stall['connection']}, UE {stall['ue']}" in text
    for index in (0, len(stalls) - 1):
        rows.nth(index).get_by_role("button").click()
        chain = stalls[index]["chain"]
        title = f"Stall at {chain['time_s']:.4f} s"
        tab.page.get_by_role("heading", name=title, exact=True).wait_for()
        for text, link in zip(shown_chain(tab), chain["links"], strict=True):
            assert f"{link['time_s']:.4f} s" in text
            assert link["text"] in text
            assert (link["clause"] or "") in text
        assert "first cause" in shown_chain(tab)[-1]
        also = tab.page.locator("ul.also li").all_inner_texts()
        assert also == chain["also"]
    assert tab.page.url.endswith(f"e=stall-{len(stalls) - 1}")
    tab.page.go_back()
    title = f"Stall at {stalls[0]['start_s']:.4f} s"
    tab.page.get_by_role("heading", name=title, exact=True).wait_for()


def test_the_second_timeout_is_found_and_read_by_keyboard_alone(tab: Tab, folder: Path) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    chains = why(folder, key)["chains"]
    second = [chain for chain in chains if chain["kind"] == "rto"][1]
    tab.open(f"/run/{key}", "table.stalls tbody tr")
    page = tab.page
    for chain in chains[: chains.index(second) + 1]:
        page.keyboard.press("n")
        kind = {"rto": "Retransmission timeout", "retransmission": "Retransmission"}[chain["kind"]]
        links = page.get_by_role("list", name="Links of the chain").get_by_role("button")
        page.get_by_role("heading", name=f"{kind} at {chain['time_s']:.4f} s", exact=True).wait_for()
        links.first.wait_for()
    # The heading has the focus, and the links follow it.
    page.wait_for_function("() => document.activeElement.id === 'chain'")
    assert f"UE {second['ue']}, connection {second['connection']}" in page.get_by_role("status").inner_text()
    page.keyboard.press("Tab")
    for link in second["links"]:
        page.keyboard.press("Tab")
        text = page.evaluate("document.activeElement.innerText")
        assert link["text"] in text
        assert f"{link['time_s']:.4f} s" in text
    page.keyboard.press("p")
    previous = chains[chains.index(second) - 1]
    page.get_by_role("heading", name=re.compile(f"at {previous['time_s']:.4f} s")).wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("complementary", name="Chain of causes").wait_for(state="detached")


LANES = "#timeline canvas[data-shapes]"


def shown_range(tab: Tab) -> tuple[float, float]:
    """Return the time that the time line shows."""
    text = tab.page.locator("#timeline .read").inner_text()
    match = re.match(r"([\d.]+) s to ([\d.]+) s", text)
    assert match is not None, text
    return float(match[1]), float(match[2])


def second_download(folder: Path, key: str) -> tuple[Any, dict[str, Any]]:
    """Return the run, and the SDU of the first data segment in the second download of UE 11."""
    with open_store(folder / "results") as store:
        run = store.of_keys([key])[key]
    segments = run.series("timeline_segments").to_dicts()
    first = next(row for row in segments if row["connection"] == 27 and row["kind"] == "data")
    [sdu] = [row for row in run.series("timeline_sdus").to_dicts() if row["packet"] == first["packet"]]
    return run, sdu


def test_a_click_on_an_sdu_opens_the_chain_of_its_packet(tab: Tab, folder: Path) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    run, sdu = second_download(folder, key)
    # No other SDU begins earlier in this view, so this one is at the top of its lane.
    start, end = sdu["time_s"] - 0.02, sdu["end_s"] + 0.1
    tab.open(f"/run/{key}#c=27&t={start:.5f}-{end:.5f}", LANES)
    lane = tab.page.locator(".gutter div").filter(has_text="RLC SDUs").bounding_box()
    stage = tab.page.get_by_role("application").bounding_box()
    x = stage["width"] * (sdu["time_s"] + 0.2 - start) / (end - start)
    tab.page.get_by_role("application").click(position={"x": x, "y": lane["y"] - stage["y"] + 7})
    tab.page.locator("#timeline .read").filter(has_text=f"SDU of packet {sdu['packet']}").wait_for()
    chain = next(
        chain
        for chain in explain(run, 27).chains
        if sdu["packet"] in (chain.links[0].identity.get("packet"), chain.links[0].identity.get("repeats"))
    )
    tab.page.get_by_role("heading", name=f"Retransmission at {chain.time_s:.4f} s", exact=True).wait_for()
    assert shown_range(tab) == pytest.approx((start, end), abs=0.001)
    assert [link.text for link in chain.links] == [
        next(link.text for link in chain.links if link.text in text) for text in shown_chain(tab)
    ]


def test_links_of_a_chain_move_the_view_and_the_address_keeps_it(tab: Tab, folder: Path) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    stalls = why(folder, key)["stalls"]
    index = next(i for i, stall in enumerate(stalls) if stall["connection"] == 27)
    tab.open(f"/run/{key}#e=stall-{index}", LANES)
    assert tab.page.get_by_label("Connection of the time line").input_value() == "27"
    whole = shown_range(tab)
    links = tab.page.get_by_role("list", name="Links of the chain").get_by_role("button")
    links.first.wait_for()
    for number, link in enumerate(stalls[index]["chain"]["links"]):
        links.nth(number).click()
        tab.page.locator(f"ol.chain li:nth-child({number + 1}) button[aria-pressed=true]").wait_for()
        assert tab.page.url.endswith(f"l={number}")
        start, end = shown_range(tab)
        assert start <= link["time_s"] <= link["end_s"] <= end
        assert end - start <= (whole[1] - whole[0]) * 1.01
    moved = shown_range(tab)
    tab.page.reload()
    tab.page.locator(LANES).wait_for()
    links.first.wait_for()
    assert shown_range(tab) == moved


def test_the_time_line_is_moved_and_zoomed_by_keys_wheel_and_pointer(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}#c=27&t=65-69", LANES)
    page = tab.page
    stage = page.get_by_role("application")
    stage.focus()

    def after(act: Any, start: float, end: float) -> None:
        """Act, and wait until the time line shows this time."""
        act()
        text = f"{start:.3f} s to {end:.3f} s."
        page.locator("#timeline .read").filter(has_text=text).wait_for()

    after(lambda: page.keyboard.press("+"), 66, 68)
    after(lambda: page.keyboard.press("ArrowRight"), 66.2, 68.2)
    after(lambda: page.keyboard.press("Shift+ArrowLeft"), 65.2, 67.2)
    after(lambda: page.keyboard.press("-"), 64.2, 68.2)
    box = stage.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + 5)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - box["width"] / 4, middle[1], steps=4)
    after(page.mouse.up, 65.2, 69.2)
    page.mouse.move(*middle)
    after(lambda: page.mouse.wheel(0, -200), 66.2, 68.2)
    assert page.evaluate("location.hash") == "#c=27&t=66.2-68.2"
    page.get_by_role("button", name="Zoom in", exact=True).click()
    page.locator("#timeline .read").filter(has_text="66.700 s to 67.700 s.").wait_for()
    page.get_by_label("Find an instant, byte, packet, PDU or cause").fill("65.5 s")
    after(lambda: page.keyboard.press("Enter"), 65, 66)


def test_a_drag_redraws_the_lanes_in_each_frame_and_the_page_every_200_ms(tab: Tab) -> None:
    page = tab.page
    page.clock.install()
    tab.open(f"/run/{newest(tab.served, 'ftp-fach-dch')}#c=27&t=65-69", LANES)

    def drawn() -> str:
        return str(page.locator(LANES).evaluate("canvas => canvas.toDataURL()"))

    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    stage = page.get_by_role("application")
    stage.focus()
    box = stage.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + 5)
    page.mouse.move(*middle)
    page.mouse.down()
    pictures = {drawn()}
    for part in (8, 4):
        page.mouse.move(middle[0] - box["width"] / part, middle[1])
        page.clock.run_for(20)
        pictures.add(drawn())
    assert len(pictures) == 3
    assert shown_range(tab) == (65, 69)
    assert page.url.endswith("t=65-69")
    page.clock.run_for(200)
    page.locator("#timeline .read").filter(has_text="66.000 s to 70.000 s.").wait_for()
    assert page.url.endswith("t=66-70")
    page.mouse.up()


def test_a_frame_has_few_shapes_at_each_zoom(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    levels = set()
    for span in ("0-80", "0-20", "12-17", "12.5-13.5", "15-15.1"):
        tab.open(f"/run/{key}#c=11&t={span}", "h1")
        tab.page.reload()
        canvas = tab.page.locator(LANES)
        canvas.wait_for()
        assert 50 < int(canvas.get_attribute("data-shapes")) <= 10_000
        levels.add(canvas.get_attribute("data-level"))
    assert len(levels) == 5


def test_the_view_is_exported_as_svg_and_csv(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}#c=27&t=65-65.4", LANES)
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("button", name="SVG", exact=True).click()
    assert saved.value.suggested_filename == "connection-27-65.000-65.400.svg"
    drawing = ElementTree.parse(saved.value.path()).getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(drawing.iter())) > int(tab.page.locator(LANES).get_attribute("data-shapes"))
    assert "Ladder" in "".join(drawing.itertext())
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("link", name="CSV", exact=True).click()
    rows = saved.value.path().read_text().splitlines()
    assert rows[0].startswith("lane,start_s,end_s,packet")
    assert any(row.startswith("segments,") for row in rows)


def test_the_view_is_exported_as_png(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}#c=27&t=65-68", LANES)
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("button", name="PNG", exact=True).click()
    assert saved.value.suggested_filename == "connection-27-65.000-68.000.png"
    image = saved.value.path().read_bytes()
    assert image.startswith(b"\x89PNG")
    box = tab.page.locator(LANES).bounding_box()
    # The first chunk of a PNG has width and height in bytes 16 to 23.
    width, height = (int.from_bytes(image[offset : offset + 4], "big") for offset in (16, 20))
    # Two pixels per pixel of CSS.
    assert width == 2 * round(box["width"])
    assert height == pytest.approx(2 * box["height"], abs=2)


def test_a_search_moves_the_view_to_the_next_and_previous_match(tab: Tab, folder: Path) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    run, sdu = second_download(folder, key)
    segments = run.series("timeline_segments").to_dicts()
    byte = next(row["seq"] for row in segments if row["connection"] == 27 and row["repeats"] is not None)
    sent_at = [
        row["time_s"]
        for row in segments
        if (row["connection"], row["direction"]) == (27, "downlink") and row["seq"] <= byte < row["end"]
    ]
    tab.open(f"/run/{key}#c=27&t=0-1", LANES)
    field = tab.page.get_by_label("Find an instant, byte, packet, PDU or cause")
    field.fill(f"byte {byte}")
    # Forward to each match, then back to the one before the last.
    steps = [("Enter", time_s) for time_s in sent_at] + [("Shift+Enter", sent_at[-2])]
    for key_pressed, time_s in steps:
        field.press(key_pressed)
        text = f"{time_s - 0.5:.3f} s to {time_s + 0.5:.3f} s."
        tab.page.locator("#timeline .read").filter(has_text=text).wait_for()
    field.fill(f"pdu {sdu['first']}")
    tab.page.get_by_role("button", name="Next match").click()
    tab.page.locator("#timeline .read").filter(has_text=f"PDU {sdu['first']}").or_(
        tab.page.locator("#timeline .read").filter(has_text="PDUs")
    ).first.wait_for()
    field.fill("nothing like this")
    field.press("Enter")
    tab.page.get_by_text('Nothing of this connection matches "nothing like this".').first.wait_for()


def test_a_span_is_measured_with_the_numbers_of_the_server(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}#c=27&t=65-69", LANES)
    page = tab.page
    page.get_by_role("application").focus()
    box = page.get_by_role("application").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    panel = page.get_by_role("region", name="Measured")
    panel.get_by_text("Payload arrived").wait_for()
    assert shown_range(tab) == (65, 69)
    match = re.search(r"from ([\d.]+) s to ([\d.]+) s", panel.inner_text())
    assert match is not None
    # From a quarter to a half of the shown time, 65 s to 69 s.
    assert (float(match[1]), float(match[2])) == pytest.approx((66, 67), abs=0.02)
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    page.get_by_role("button", name="Measure", exact=True).click()
    panel.get_by_text("Payload arrived").wait_for()
    measured = tab.served.ask(f"/api/runs/{key}/timeline/27/measure?from_s=65&to_s=69").json()
    for number in measured["numbers"]:
        entry = panel.locator("dl > div").filter(has_text=number["label"]).filter(has_text=number["text"])
        assert entry.count() >= 1
    for cause in measured["causes"]:
        assert cause["text"] in panel.inner_text()


def test_a_second_run_is_drawn_in_grey_and_stays_in_the_address(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}#c=27&t=65-69", LANES)
    page = tab.page
    alone = int(page.locator(LANES).get_attribute("data-shapes"))
    chooser = page.get_by_label("Second run on the same axis")
    chooser.focus()
    runs = tab.served.ask(f"/api/runs/{key}/comparable").json()["runs"]
    assert key not in {run["key"] for run in runs}
    other = next(run for run in runs if run["label"].startswith("ftp-fach-dch"))
    chooser.locator(f'option[value="{other["key"]}"]').wait_for(state="attached")
    chooser.select_option(other["key"])
    page.get_by_text("grey: connection 27 of the second run").wait_for()
    page.wait_for_function(
        "alone => Number(document.querySelector('#timeline canvas').dataset.shapes) > alone", arg=alone
    )
    assert page.url.endswith(f"with={other['key']}")
    page.reload()
    page.get_by_text("grey: connection 27 of the second run").wait_for()
    chooser.select_option("")
    page.wait_for_function(
        "alone => Number(document.querySelector('#timeline canvas').dataset.shapes) === alone", arg=alone
    )


def test_the_heap_stays_level_over_300_zooms(chromium: Any, served: Served) -> None:
    """The page keeps a bounded number of tiles, whatever the visitor looks at."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    tab = watched(context.new_page(), served)
    tab.page.goto(f"{served.origin}/?token={served.token}")
    tab.open(f"/run/{newest(served, 'ftp-fach-dch')}#c=27&t=60-70", LANES)
    session = context.new_cdp_session(tab.page)

    def heap() -> int:
        session.send("HeapProfiler.collectGarbage")
        return int(session.send("Runtime.getHeapUsage")["usedSize"])

    def zooms(count: int) -> None:
        """Zoom in and out at changing places, and wait for each frame."""
        tab.page.get_by_role("application").focus()
        for number in range(count):
            before = tab.page.url
            # Six steps in, six steps out, then a step to the right or to the left.
            tab.page.keyboard.press("+" if number % 12 < 6 else "-")
            if number % 12 == 11:
                tab.page.keyboard.press("ArrowRight" if number % 24 == 11 else "Shift+ArrowLeft")
            tab.page.wait_for_function("before => location.href !== before", arg=before)

    zooms(60)
    after_sixty = heap()
    zooms(240)
    assert heap() <= 1.25 * after_sixty
    assert heap() <= 150_000_000
    context.close()
    tab.check()


def test_the_view_is_a_table_too(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/run/{key}#c=27&t=65-66", LANES)
    tab.page.get_by_text("The view as a table").click()
    rows = tab.page.get_by_role("region", name="Items in view").get_by_role("row")
    rows.nth(1).wait_for()
    address = f"/api/runs/{key}/timeline/27/rows?from_s=65&to_s=66"
    items = tab.served.ask(address).json()["rows"]
    # The first row has the headings.
    assert rows.count() == len(items) + 1
    assert items[0]["text"] in rows.nth(1).inner_text()


def test_a_run_without_a_timeline_offers_the_command_and_a_run_that_records_one(tab: Tab) -> None:
    tab.open(f"/run/{newest(tab.served, 'ftp-on-dch-64')}", "h1")
    page = tab.page
    page.get_by_text("This run recorded no timeline").wait_for()
    assert re.search(r"umts run .*ftp-on-dch-64\.toml .*--timeline", page.locator("main").inner_text())
    page.get_by_role("button", name="Run again with a timeline").click()
    # Jobs of other tests are listed, too.
    job = (
        page.get_by_label("Jobs").locator("div").filter(has_text="ftp-on-dch-64, run 0 with a timeline: done")
    )
    job.get_by_role("link", name="Open the run").click()
    page.get_by_role("heading", name="Time line", exact=True).wait_for()
    assert page.get_by_text("This run recorded no timeline").count() == 0


def test_a_figure_is_drawn_when_it_is_opened(tab: Tab) -> None:
    tab.open(f"/run/{newest(tab.served, 'ftp-fach-dch')}")
    tab.page.locator("summary", has_text="cwnd").click()
    picture = tab.page.locator("img")
    picture.wait_for()
    tab.page.wait_for_function("() => document.querySelector('img').naturalWidth > 300")


def test_back_and_forward_move_between_views(tab: Tab) -> None:
    tab.open("/")
    tab.page.get_by_role("link", name="ftp-fach-dch", exact=True).first.click()
    tab.page.locator("dl.m").wait_for()
    tab.page.go_back()
    tab.page.get_by_role("heading", name="Scenarios").wait_for()
    tab.page.go_forward()
    tab.page.locator("dl.m").wait_for()


def test_a_run_prints_on_paper_without_controls(tab: Tab) -> None:
    tab.open(f"/run/{newest(tab.served, 'ftp-fach-dch')}")
    tab.page.emulate_media(media="print")
    assert not tab.page.locator("header.top").is_visible()
    assert not tab.page.get_by_role("button", name="Copy").is_visible()
    assert tab.page.pdf(format="A4", prefer_css_page_size=True).startswith(b"%PDF")


# ── Try it ──────────────────────────────────────────────────────────────────────────────────────────


def goodput(tab: Tab) -> str:
    return str(tab.page.locator("dl.m > div").filter(has_text="Goodput").first.inner_text())


def test_a_slider_runs_the_scenario_and_keeps_the_previous_result_in_grey(tab: Tab) -> None:
    tab.open("/try/ftp-on-fach?set=duration%3D20%20s")
    page = tab.page
    page.locator("dl.m").wait_for()
    slider = page.get_by_role("slider", name="Block error rate")
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.get_by_text("before", exact=False).first.wait_for()
    # The command belongs to the result, which may be behind the slider.
    key = str(slider.get_attribute("aria-valuetext"))
    page.wait_for_function(
        "words => document.querySelector('.cmd code').textContent.includes(words)", arg=f"radio.bler={key} "
    )
    request = {
        "scenario": "ftp-on-fach",
        "overrides": [{"key": "duration", "value": "20 s"}, {"key": "radio.bler", "value": key}],
    }
    same = tab.served.post("/api/try", request).json()["result"]
    page.wait_for_function(
        "text => document.querySelector('dl.m').innerText.includes(text)", arg=same["metrics"][0]["text"]
    )


def test_a_mistake_is_shown_at_its_key_and_the_last_result_stays(tab: Tab) -> None:
    tab.open("/try/ftp-on-fach?set=duration%3D20%20s")
    page = tab.page
    page.locator("dl.m").wait_for()
    before = goodput(tab)
    field = page.locator("#k-rlc-timer_poll")
    field.fill("170")
    page.locator(".k.bad").get_by_text("`170` has no unit").wait_for()
    assert goodput(tab) == before
    assert field.get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="Use 170 ms").click()
    page.locator(".k.bad").wait_for(state="detached")
    assert field.input_value() == "170 ms"
    assert page.get_by_role("button", name="Run and keep").is_enabled()


def test_the_file_can_be_edited_and_a_mistake_is_shown_at_its_line(tab: Tab) -> None:
    tab.open("/try/ftp-on-fach?set=duration%3D20%20s")
    page = tab.page
    page.locator("dl.m").wait_for()
    page.get_by_role("button", name="File").click()
    page.get_by_role("textbox", name="Scenario file").click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("wrong = 1\n")
    page.get_by_text("Line 1:").wait_for()
    page.get_by_role("button", name="Reset the file").click()
    page.get_by_text("Line 1:").wait_for(state="detached")


# ── Captures, campaigns, studies ────────────────────────────────────────────────────────────────────


# ── Live ────────────────────────────────────────────────────────────────────────────────────────────


def instant(tab: Tab) -> float:
    return float(tab.page.locator(".clock .instant").inner_text().removesuffix(" s"))


def shows_instant(tab: Tab, text: str) -> None:
    tab.page.locator(".clock .instant").filter(has_text=text).wait_for()


def test_a_scenario_is_watched_from_home_by_keyboard_alone(tab: Tab) -> None:
    page = tab.page
    tab.open("/?q=ftp-fach-dch-3gpp")
    page.get_by_role("button", name="Open ftp-fach-dch-3gpp live").focus()
    page.keyboard.press("Enter")
    shows_instant(tab, "0.000 s")
    page.keyboard.press("s")
    shows_instant(tab, "1.000 s")
    page.keyboard.press("s")
    shows_instant(tab, "2.000 s")
    page.keyboard.press("t")
    shows_instant(tab, "2.010 s")
    page.keyboard.press("z")
    shows_instant(tab, "1.010 s")
    page.keyboard.press("w")
    page.locator(".events li").filter(has_text="A switch from").first.wait_for()
    first = instant(tab)
    assert first > 1.01
    page.get_by_label("Speed").select_option("100")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("p")
    page.get_by_role("button", name="Pause").wait_for()
    # A predicate is a function: the page's policy forbids to evaluate an expression repeatedly.
    page.wait_for_function(
        "after => parseFloat(document.querySelector('.instant').textContent) > after", arg=first + 5
    )
    page.keyboard.press("p")
    page.get_by_role("button", name="Play").wait_for()
    page.get_by_role("button", name="End session").click()
    page.get_by_role("heading", name="Open a scenario live").wait_for()
    tab.check()


def test_live_numbers_equal_the_state_of_the_server(tab: Tab) -> None:
    identity = live_session(tab.served, "ftp-fach-dch")
    tab.open(f"/live/{identity}", ".users tbody tr")
    page = tab.page
    page.get_by_label("Go to").fill("26.5")
    page.keyboard.press("Enter")
    shows_instant(tab, "26.500 s")
    [column] = tab.served.ask(f"/api/live/{identity}").json()["columns"]
    rows = page.locator(".users tbody tr")
    assert rows.count() == len(column["ues"]) == 16
    for number, ue in enumerate(column["ues"]):
        cells = [text.split("\n")[0] for text in rows.nth(number).locator("td").all_inner_texts()]
        assert cells[0].split()[0] == ue["state"]
        assert cells[1] == ", ".join(channel or "–" for channel in (ue["downlink"], ue["uplink"]))
        assert cells[2] == ue["rate"]
        assert ue["buffer"] in cells
    holders = page.locator(".chip.dch").all_inner_texts()
    assert holders == [f"UE {ue}" for ue in column["cells"][0]["holders"]]
    assert page.locator(".events li b").first.inner_text() == column["notable"][0]["time"]
    tab.check()


def test_two_runs_are_started_from_the_form_and_keep_one_clock(tab: Tab) -> None:
    page = tab.page
    tab.open("/live", "form.start select")
    page.get_by_label("Scenario").select_option("ftp-on-fach")
    page.get_by_label("Changed keys").fill("duration = 30 s\nradio.bler = 0.2")
    page.get_by_label("Second run").fill("tcp.variant = renoo")
    page.get_by_role("button", name="Open live").click()
    page.get_by_role("alert").filter(has_text="reno").wait_for()
    # Chromium reports the refused request itself.
    assert "status of 400" in tab.errors.pop()
    page.get_by_label("Second run").fill("tcp.variant = sack")
    page.get_by_role("button", name="Open live").click()
    page.get_by_role("heading", name="TCP version SACK").wait_for()
    page.get_by_label("Speed").select_option("most")
    page.get_by_role("button", name="Play").click()
    shows_instant(tab, "30.000 s")
    page.locator(".clock [role=status]").filter(has_text="The run has ended.").wait_for()
    assert page.get_by_role("button", name="Play").is_disabled()
    page.get_by_role("button", name="Back 1 s").click()
    shows_instant(tab, "29.000 s")
    page.get_by_role("button", name="End session").click()
    page.get_by_role("heading", name="Open a scenario live").wait_for()
    tab.check()


def test_an_emulation_is_controlled_by_keyboard_alone(tab: Tab, emulation: StandIn) -> None:
    page = tab.page
    tab.open("/live", "form.start select")
    page.get_by_role("link", name=str(emulation.about["command"])).focus()
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="DEGRADED: 3 % of the instants").wait_for()
    choice = page.get_by_label("Coverage")
    choice.focus()
    assert choice.input_value() == "0"
    page.keyboard.press("ArrowDown")
    page.wait_for_function(
        "() => document.querySelector('[aria-label=Network] label:last-child select').value === '1'"
    )
    page.get_by_label("Rate down").select_option("32 kbit/s")
    page.get_by_label("Rate down").select_option("as in the scenario (64 kbit/s)")
    while len(emulation.orders.orders) < 3:
        page.wait_for_timeout(50)
    assert emulation.orders.orders == [
        ("page-coverage", '{ "radio.cut" = true }'),
        ("page-rate", '{ "bearer.ps-64-20ms.downlink.rate" = "32000 bit/s" }'),
        ("page-rate", None),
    ]
    tab.check()


def test_numbers_of_an_emulation_equal_the_state_of_the_server(tab: Tab) -> None:
    tab.open(f"/live/{EMULATION}", ".users tbody tr")
    state = tab.served.ask(f"/api/emulations/{EMULATION}").json()
    rows = tab.page.locator(".users tbody tr")
    assert rows.count() == len(state["column"]["ues"])
    for number, ue in enumerate(state["column"]["ues"]):
        cells = [text.split("\n")[0] for text in rows.nth(number).locator("td").all_inner_texts()]
        assert ue["rate"] in cells
        assert ue["buffer"] in cells
    # The first user has the program.
    assert rows.nth(0).locator("td").all_inner_texts()[-2:] == ["–", "–"]
    shown = tab.page.locator("section:has-text('Fidelity') dd").all_inner_texts()
    assert shown == [value["value"] for value in state["fidelity"]["values"]]
    tab.check()


def test_node_b_queues_equal_the_state_of_the_server(tab: Tab) -> None:
    identity = live_session(tab.served, "hsdpa")
    tab.open(f"/live/{identity}", ".events li")
    tab.page.get_by_label("Go to").fill("10")
    tab.page.keyboard.press("Enter")
    shows_instant(tab, "10.000 s")
    [column] = tab.served.ask(f"/api/live/{identity}").json()["columns"]
    heads = tab.page.locator(".users thead th").all_inner_texts()
    first = next(number for number, text in enumerate(heads) if text.startswith("Node B queue")) - 1
    assert any(ue["nodeb_queue"]["pdus"] != "0" for ue in column["ues"])
    for number, ue in enumerate(column["ues"]):
        cells = tab.page.locator(".users tbody tr").nth(number).locator("td").all_inner_texts()
        assert cells[first : first + 3] == [ue["nodeb_queue"][name] for name in ("pdus", "octets", "credits")]
    tab.check()


def test_a_read_only_page_has_no_controls_of_an_emulation(
    chromium: Any, folder: Path, emulation: StandIn
) -> None:
    with serving(folder, "results", "--scenarios", ROOT / "scenarios", "--read-only") as server:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        tab = watched(context.new_page(), server)
        tab.page.goto(f"{server.origin}/?token={server.token}")
        tab.open(f"/live/{EMULATION}", ".users tbody tr")
        tab.page.get_by_text("This page is read-only: it has no controls of the network.").wait_for()
        assert tab.page.locator("[aria-label=Network]").count() == 0
        context.close()
        tab.check()


@pytest.mark.parametrize("address", ["/nowhere", "/run", "/run/%zz", "/campaign/%E4%A"])
def test_a_wrong_address_shows_the_page(chromium: Any, served: Served, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    page.goto(f"{served.origin}/?token={served.token}")
    # Not a `Tab`: the browser reports the status 404 as an error.
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(served.origin + address)
    page.locator("#main").get_by_text(
        re.compile("There is no view at this address|The store has no")
    ).wait_for()
    assert failures == []
    context.close()


def test_a_live_session_that_does_not_exist_is_reported(tab: Tab) -> None:
    tab.open("/live/nothing", ".banner")
    assert "no such live session" in tab.page.locator(".banner").inner_text()


def test_a_dropped_capture_is_analysed_as_the_command_does(tab: Tab, folder: Path) -> None:
    [capture] = (folder / "results/runs" / newest(tab.served, "ftp-fach-dch")).glob("captures/server.pcapng")
    tab.open("/captures")
    tab.page.get_by_label("Drop a capture here").set_input_files(capture)
    tab.page.get_by_text("TCP stream graphs of connection 0").wait_for()
    tab.page.get_by_text(re.compile(r"segment, \d+ in all")).wait_for()
    identity = tab.page.url.partition("id=")[2]
    shown = tab.served.ask(f"/api/captures/{identity}").json()
    done = subprocess.run(command("analyse", capture, "--json"), capture_output=True, text=True, check=True)
    [analysed] = json.loads(done.stdout)["runs"]
    assert {metric["name"]: metric["value"] for metric in shown["metrics"]} == {
        name: value for name, value in analysed["metrics"].items() if value is not None
    }
    tab.page.get_by_role("button", name="Throughput").click()
    tab.page.get_by_text("payload sent, means of").wait_for()
    for graph, text, unit in (
        ("Round Trip Time", "from a segment that was sent once to its acknowledgment", "s"),
        ("Window Scaling", "bytes out: sent and not acknowledged", "byte"),
    ):
        tab.page.get_by_role("button", name=graph).click()
        tab.page.get_by_text(text).wait_for()
        tab.page.get_by_role("img", name=f"{graph} in {unit}: {text}").locator("canvas").wait_for()
    graphs = tab.served.ask(f"/api/captures/{identity}/connections/0").json()
    [row] = [one for one in analysed["connections"] if one["connection"] == 0]
    times = graphs["round_trips"]["value"]
    assert max(times) == pytest.approx(row["max_rtt_every_ack_s"], rel=1e-9)
    assert max(graphs["in_flight"]["value"]) == row["max_outstanding_bytes"]


def ladder_pages(served: Served, address: str) -> list[Any]:
    """Return all pages of a ladder, which are bounded."""
    pages: list[Any] = []
    first: int | None = 1
    while first is not None:
        answer = served.ask(f"{address}?first={first}")
        assert answer.status == 200, answer.text
        assert len(answer.body) <= 65_536
        pages.append(answer.json())
        first = pages[-1]["next"]
    return pages


def test_the_ladder_of_a_connection_is_read_by_keyboard(tab: Tab) -> None:
    page, key = tab.page, newest(tab.served, "ftp-fach-dch")
    capture = f"/api/runs/{key}/captures/server.pcapng"
    rows = tab.served.ask(f"{capture}/analysis").json()["rows"]
    # The fourth value of a row is the number of retransmissions.
    number = max(rows, key=lambda row: (int(row["values"][3]), -row["connection"]))["connection"]
    address = f"{capture}/connections/{number}/ladder"
    pages = ladder_pages(tab.served, address)
    packets = [packet for one in pages for packet in one["rows"]]
    assert [packet["packet"] for packet in packets] == list(range(1, pages[0]["packets"] + 1))
    again = [packet["packet"] for packet in packets if packet["kind"] == "retransmission"]
    assert len(again) == pages[0]["retransmissions"] >= 2
    table = tab.served.ask(f"{address}.csv")
    assert len(table.text.splitlines()) == 1 + len(packets)
    assert tab.served.ask(f"{address}.svg").body.startswith(b"<?xml")

    tab.open(f"/captures?run={key}&name=server.pcapng", ".ladder tbody tr")
    page.get_by_role("button", name=str(number), exact=True).press("Enter")
    page.get_by_role("heading", name=f"Flow ladder of connection {number}", exact=True).wait_for()
    region = page.get_by_role("region", name="Ladder of packets")
    region.locator("tbody tr").first.wait_for()
    assert region.locator("tbody tr").count() == len(pages[0]["rows"])
    assert region.locator("svg *").count() <= 10_000
    for packet in again[:2]:
        page.get_by_role("button", name="Next retransmission").press("Enter")
        row = region.locator("tr.on")
        row.get_by_role("rowheader", name=str(packet), exact=True).wait_for()
        assert page.evaluate("document.activeElement.textContent") == str(packet)
        assert "retransmission" in row.inner_text()
    page.get_by_role("button", name="Previous retransmission").press("Enter")
    region.locator("tr.on").get_by_role("rowheader", name=str(again[0]), exact=True).wait_for()
    time_s = packets[-3]["time"]
    page.get_by_label("From time").fill(time_s)
    page.get_by_label("From time").press("Enter")
    first = tab.served.ask(f"{address}?from_s={time_s}").json()["rows"][0]["packet"]
    # Times are rounded to 1 µs.
    assert float(packets[first - 2]["time"]) <= float(time_s) <= float(packets[first - 1]["time"])
    page.get_by_text(f"Packets {first} to {len(packets)} of {len(packets)}").wait_for()


def test_the_address_of_a_capture_holds_connection_graph_and_ladder(tab: Tab) -> None:
    page, key = tab.page, newest(tab.served, "ftp-fach-dch")
    capture = f"/captures?run={key}&name=server.pcapng"
    heading = page.get_by_role("heading", name=re.compile("^Flow ladder of connection"))
    packets = page.locator("[aria-label='Packets of the ladder'] [role=status]")
    graph = page.locator("[aria-label=Graph] [aria-pressed=true]")
    marked = page.locator(".ladder tr.on th")

    def state() -> list[str]:
        """Return the visible parts when the ladder has the packets of its address."""
        first = re.search(r"[&?]first=(\d+)", page.url)
        page.get_by_text(re.compile(rf"^Packets {first[1] if first else 1} to")).wait_for()
        visible: list[str] = [part.inner_text() for part in (heading, graph, packets)]
        return visible + list(marked.all_inner_texts())

    rows = tab.served.ask(f"/api/runs/{key}/captures/server.pcapng/analysis").json()["rows"]
    # The fourth value of a row is the number of retransmissions.
    number = max(rows, key=lambda row: (int(row["values"][3]), -row["connection"]))["connection"]
    tab.open(capture, ".ladder tbody tr")
    states = [(page.url, state())]
    for name in (str(number), "Round Trip Time", "Next retransmission", "First", "0"):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_url(lambda url: url != states[-1][0])
        page.locator(".ladder tbody tr").first.wait_for()
        states.append((page.url, state()))
    assert len({url for url, _ in states}) == len(states)
    assert [shown[1] for _, shown in states[1:3]] == ["Time Sequence (tcptrace)", "Round Trip Time"]
    assert len(states[3][1]) == 4
    for url, shown in reversed(states[:-1]):
        page.go_back()
        page.wait_for_url(url)
        assert state() == shown
    page.go_forward()
    assert state() == states[1][1]
    for url, shown in states[3:]:
        tab.open(url.removeprefix(tab.served.origin), ".ladder tbody tr")
        page.reload()
        assert state() == shown


def test_values_of_a_capture_s_address_that_cannot_be_right_are_ignored(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    wrong = "&c=-1&graph=constructor&first=x&from=-2&packet=%3Cb%3E"
    tab.open(f"/captures?run={key}&name=server.pcapng{wrong}", ".ladder tbody tr")
    tab.page.get_by_role("heading", name="Flow ladder of connection 0").wait_for()
    tab.page.get_by_text("Packets 1 to").wait_for()
    assert tab.page.locator(".ladder tr.on").count() == 0


def test_hidden_texts_of_a_ladder_do_not_lengthen_the_page(tab: Tab) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    tab.open(f"/captures?run={key}&name=server.pcapng", ".ladder tbody tr")
    height = tab.page.evaluate("document.documentElement.scrollHeight")
    footer = tab.page.evaluate("document.querySelector('footer').getBoundingClientRect().bottom + scrollY")
    assert abs(height - footer) < 40


def test_the_receive_window_is_drawn_if_its_scale_is_known(tab: Tab, folder: Path) -> None:
    key = newest(tab.served, "ftp-fach-dch")
    graphs = tab.served.ask(f"/api/runs/{key}/captures/server.pcapng/connections/0").json()
    [capture] = (folder / "results/runs" / key).glob("captures/server.pcapng")
    [analysis] = analyse_captures(capture, time_sequence=0)
    *windows, last = graphs["receive_window"]["value"]
    assert windows == analysis.series("window")["window_octets"].to_list()
    assert last == windows[-1]
    assert graphs["receive_window"]["time_s"][-1] == analysis.series("acked")["time_s"].max()
    assert graphs["receive_window_note"] == ""
    tab.open(f"/captures?run={key}&name=server.pcapng", ".uplot")
    tab.page.get_by_role("button", name="Window Scaling").click()
    tab.page.get_by_text("receive window: advertised by the receiver").wait_for()


def test_a_campaign_shows_slices_a_heat_map_and_opens_its_runs(tab: Tab) -> None:
    tab.open("/campaign/two")
    page = tab.page
    page.locator(".plot svg").nth(1).wait_for()
    page.get_by_label("Metric").select_option("mean_rtt_s")
    page.get_by_role("heading", name="Mean RTT over Block error rate").wait_for()
    assert "metric=mean_rtt_s" in page.url
    shown = tab.served.ask("/api/campaigns/two?metric=mean_rtt_s").json()
    assert len(shown["points"]) == 4
    page.get_by_role("link", name="Run 0 of").first.click()
    page.locator("dl.m").wait_for()


def test_names_and_titles_show_as_text(tab: Tab) -> None:
    tab.open("/campaign/two")
    assert tab.page.get_by_role("heading", level=1).inner_text() == "Two versions & two error rates"
    tab.open("/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    tab.page.get_by_text('Nothing matches "<img src=x onerror=alert(1)>"').wait_for()
    assert tab.page.locator("img").count() == 0


def test_a_study_shows_effects(tab: Tab) -> None:
    tab.open("/study/which-matters")
    tab.page.locator(".plot svg").wait_for()
    assert "Goodput depends most on" in tab.page.locator("main").inner_text()


def test_claims_are_filtered(tab: Tab) -> None:
    tab.open("/reproduction/hu-split")
    tab.page.get_by_label("Find a claim").fill("no claim has these words")
    tab.page.get_by_text("0 of 30 claims").wait_for()


# ── The file ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: `make page` says why")
def test_the_report_of_a_run_is_one_small_file_that_everybody_can_read(
    chromium: Any, served: Served, folder: Path
) -> None:
    recorded = {"duration": "30 s", "measure.budget": True, "measure.timeline": True}
    with open_store(folder / "short") as store:
        [run, _] = simulate(
            Scenario.load(FTP.with_name("ftp-fach-dch.toml"), recorded), runs=2, store=store, series=True
        )
    words = command("report", f"short/runs/{run.key}", "-o", "run.html")
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    file = folder / "run.html"
    assert file.stat().st_size <= 5_000_000
    assert all(html.escape(link.text) in file.read_text() for link in explain(run).stall_chains[0].links)
    for theme, width in (("light", 1280), ("dark", 320)):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        requests: list[str] = []
        page.on("request", lambda sent, requests=requests: requests.append(sent.url))
        page.goto(file.as_uri())
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
        assert Tab(page, served).violations() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()


def test_a_stopped_server_is_reported(chromium: Any, folder: Path) -> None:
    with serving(folder, "results", "--scenarios", ROOT / "scenarios") as short:
        context = chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        page.goto(f"{short.origin}/?token={short.token}")
        page.get_by_role("heading", name="Scenarios").wait_for()
        short.process.terminate()
        page.get_by_text("The server stopped. Values are as of").wait_for()
        context.close()
