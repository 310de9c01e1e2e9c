"""A store with random damage, and checks that the commands restore it."""

from __future__ import annotations

import io
import random
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from conftest import FTP, tree
from umtslab.cli import main
from umtslab.store import read_store

CAMPAIGN = f"""
version = 1
scenario = "{FTP}"
runs = 2
[set]
duration = "10 s"
[grid]
radio.bler = [0.1, 0.3]
"""
"""Four runs: two at each of two points."""

RUN = ("run", FTP, "--set", "duration=10 s", "--set", "radio.bler=0.2", "--runs", 3, "--series", "--pcap")
"""Three more runs, with series and captures."""


@dataclass(frozen=True)
class SoundStore:
    """An undamaged store, and the commands that create it."""

    folder: Path
    campaign: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def commands(self, out: Path) -> list[tuple[object, ...]]:
        """Return commands that create the runs that `out` lacks."""
        return [
            (*RUN, "--resume", "--out", out, "--quiet"),
            ("sweep", self.campaign, "--out", out, "--quiet"),
        ]


def make(folder: Path) -> SoundStore:
    """Create a store: runs of every kind of file, a campaign, leftovers of a killed writer."""
    campaign = folder / "pair.toml"
    campaign.write_text(CAMPAIGN)
    original = SoundStore(folder, campaign)
    for words in original.commands(original.store):
        finished(words)
    (original.store / ".staging" / "0123.lock").touch()
    (original.store / ".staging" / "0123").mkdir()
    (original.store / ".staging" / "0123" / "metrics.json").write_text("{")
    return original


def finished(words: tuple[object, ...], *statuses: int) -> str:
    """Run a command, which must exit with one of `statuses` (default 0). Returns its errors.

    It runs in this process to save time. Unexpected exceptions are passed on.
    """
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        status = main([str(word) for word in words])
    assert status in (statuses or (0,)), (words, status, out.getvalue(), errors.getvalue())
    return errors.getvalue()


def damage(store: Path, draws: random.Random) -> str:
    """Damage a random file. Returns a description of the damage."""
    file = draws.choice(sorted(path for path in store.rglob("*") if path.is_file()))
    content = bytearray(file.read_bytes())
    # Kind "log" is a damaged SQLite log beside the catalogue, as a killed writer could leave it.
    kind = draws.choice(["flip", "cut", "delete", "garbage", "insert", "log"])
    if kind == "log":
        file = store / f"catalogue.sqlite-{draws.choice(['wal', 'shm', 'journal'])}"
        content = bytearray(draws.randbytes(draws.choice([1, 32, 4096])))
    elif kind == "delete":
        file.unlink()
        return f"{kind} {file.name}"
    elif kind == "flip" and content:
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
    elif kind == "cut":
        del content[draws.randrange(len(content) + 1) :]
    else:
        start = draws.randrange(len(content) + 1)
        garbage = draws.randbytes(draws.randrange(1, 200))
        content[start : start if kind == "insert" else start + len(garbage)] = garbage
    file.write_bytes(content)
    return f"{kind} {file.relative_to(store)}"


def damage_and_restore(original: SoundStore, out: Path, changes: int, draws: random.Random) -> None:
    """Damage a copy of a store, use it, and check that the commands restore every byte."""
    shutil.copytree(original.store, out)
    damages = [damage(out, draws) for _ in range(changes)]
    try:
        _use_and_restore(original, out, with_repair=draws.random() < 0.5)
    except Exception as error:
        raise AssertionError(f"after {damages}: {error!r}") from error
    shutil.rmtree(out)


def _use_and_restore(original: SoundStore, out: Path, *, with_repair: bool) -> None:
    """Use the damaged store `out`, repair it if `with_repair`, and restore it by its commands.

    Until the restoration, readers get exactly the runs with intact files.
    """
    whole = tree(original.store / "runs")
    intact = intact_runs(whole, tree(out / "runs"))
    assert readable_runs(out) == intact
    use: list[tuple[object, ...]] = [
        ("export", out, "--csv"),
        ("export", "pair", "--csv", "--out", out),
        ("compare", out, out, "--json"),
        ("report", "pair", "--out", out, "-o", out.with_suffix(".html")),
        ("plot", out, "cwnd", "-o", out.with_suffix(".png")),
    ]
    for words in use:
        finished(words, 0, 2)
    if with_repair:
        finished(("doctor", out, "--repair"))
        finished(("doctor", out))
    assert intact_runs(whole, tree(out / "runs")) == intact
    assert readable_runs(out) == intact
    for words in original.commands(out):
        finished(words)
    assert tree(out / "runs") == whole
    assert tree(out / "campaigns") == tree(original.store / "campaigns")
    finished(("doctor", out))


def readable_runs(store: Path) -> set[str]:
    """Return the keys of the runs that a reader gets. All their tables must be readable."""
    with read_store(store, tell=lambda _: None) as reader:
        runs = reader.runs()
    for run in runs:
        run.connections()
        for kind in run.series_kinds():
            run.series(kind)
    return {run.key for run in runs}


def intact_runs(whole: dict[str, bytes], present: dict[str, bytes]) -> set[str]:
    """Return the keys of the runs of which all files are present and equal to the ones in `whole`."""
    keys = {name.partition("/")[0] for name in whole}
    return {
        key
        for key in keys
        if all(present.get(name) == content for name, content in whole.items() if name.startswith(key))
    }
