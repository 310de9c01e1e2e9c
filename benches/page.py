"""Times of the page of ``umts serve`` in Chromium: home, time line, zoom, panning.

Runs a scenario with a timeline, serves it, and steers Chromium without a GPU. Prints medians and
95th percentiles. There is no pass or fail. Usage: page.py [--duration SECONDS] [--repeats N].
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import figures

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios/twenty-on-dch-64.toml"
CONNECTIONS = 20
"""Connections of the scenario, one of each user."""

PAGE = ROOT / "python/umtslab/serve/page/index.html"
LANES = "#timeline canvas[data-shapes]"
PATIENCE_MS = 600_000
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")

# Pans for a second by events of the pointer, one per frame, and returns frames per second.
PANNED = """async () => {
    const stage = document.querySelector('#timeline .stage');
    const box = stage.getBoundingClientRect();
    const send = (type, x) => stage.dispatchEvent(new PointerEvent(type, {
        clientX: box.left + x, clientY: box.top + 8, pointerId: 1, bubbles: true }));
    stage.setPointerCapture = () => {};
    const start = performance.now();
    let frames = 0;
    send('pointerdown', box.width / 2);
    while (performance.now() - start < 1000) {
        send('pointermove', box.width / 2 + 40 * Math.sin(frames / 10));
        await new Promise(requestAnimationFrame);
        frames += 1;
    }
    send('pointerup', box.width / 2);
    return 1000 * frames / (performance.now() - start);
}"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the store of a folder. Yields the address with the token."""
    words = [sys.executable, "-m", "umtslab", "serve", "results", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def timed(act: Callable[[], Any]) -> float:
    """Return the time of a call in ms."""
    start = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - start)


def measure(page: Any, origin: str, key: str, repeats: int) -> dict[str, list[float]]:
    """Measure all actions, in ms, and panning in frames per second."""
    figures_of_actions: dict[str, list[float]] = {}

    def open_home() -> None:
        page.goto(f"{origin}/")
        page.locator(".list li").first.wait_for()

    figures_of_actions["home painted, ms"] = [timed(open_home) for _ in range(repeats)]
    page.goto(f"{origin}/run/{key}")
    page.locator(LANES).wait_for()
    drawn = []
    for number in range(repeats):
        connection = str(number % CONNECTIONS)
        start = time.perf_counter()
        page.get_by_label("Connection of the time line").select_option(connection)
        page.locator(f'[aria-label^="Time line of connection {connection}."]').wait_for()
        drawn.append(1000 * (time.perf_counter() - start))
    figures_of_actions["time line of another connection drawn, ms"] = drawn
    zooms = []
    for number in range(repeats):
        # Five steps in, then five steps out
        name = "Zoom in" if number % 10 < 5 else "Zoom out"
        level = page.locator(LANES).get_attribute("data-level")
        button = page.get_by_role("button", name=name, exact=True)
        start = time.perf_counter()
        button.click()
        page.wait_for_function(
            "before => document.querySelector('#timeline canvas').dataset.level !== before", arg=level
        )
        zooms.append(1000 * (time.perf_counter() - start))
    figures_of_actions["zoom by two, sharp, ms"] = zooms
    figures_of_actions["panning, frames/s"] = [page.evaluate(PANNED) for _ in range(repeats)]
    return figures_of_actions


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--duration", default=300, type=int, metavar="SECONDS", help="simulated time")
    parser.add_argument("--repeats", default=20, type=int, metavar="N")
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None or not PAGE.exists():
        print("Chromium or the built page is missing: tools/install-chromium and make page say why")
        return 0
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = (
            "run",
            SCENARIO,
            "--duration",
            f"{options.duration} s",
            "--timeline",
            "--quiet",
            "--out",
            "results",
        )
        start = time.perf_counter()
        command = [sys.executable, "-m", "umtslab", *map(str, words)]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        recorded_s = time.perf_counter() - start
        [run] = (folder / "results/runs").iterdir()
        octets = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
        print(
            f"{options.duration} s of {SCENARIO.name}: recorded in {recorded_s:.1f} s, {octets / 1e6:.1f} MB"
        )
        figures.add("size", f"timeline of {options.duration} s, {SCENARIO.stem}, MB", f"{octets / 1e6:.1f}")
        with served(folder) as address, sync_playwright() as started:
            browser = started.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE_MS)
            page.goto(address)
            origin = re.sub(r"/\?token=.*", "", address)
            for action, values in measure(page, origin, run.name, options.repeats).items():
                ordered = sorted(values)
                # Of a rate the smallest is the worst.
                worst = ordered[0] if "frames" in action else ordered[int(0.95 * (len(ordered) - 1))]
                print(f"{action:<45}{statistics.median(values):8.0f} (95th percentile {worst:.0f})")
                figures.add("time", f"page, {action}", f"{statistics.median(values):.0f}")
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
