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

RUNS = 3

CAMPAIGN = f"""
version = 1
scenario = "{FTP}"
runs = 2
[set]
duration = "10 s"
[grid]
radio.bler = [0.1, 0.3]
"""

RUN = ("run", FTP, "--set", "duration=10 s", "--set", "radio.bler=0.2", "--runs", RUNS, "--series", "--pcap")


@dataclass(frozen=True)
class Kept:
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


def make(folder: Path) -> Kept:
    """Create a store: runs of every kind of file, a campaign, leftovers of a killed writer."""
    campaign = folder / "pair.toml"
    campaign.write_text(CAMPAIGN)
    kept = Kept(folder, campaign)
    for words in kept.commands(kept.store):
        finished(words)
    (kept.store / ".staging" / "0123.lock").touch()
    (kept.store / ".staging" / "0123").mkdir()
    (kept.store / ".staging" / "0123" / "metrics.json").write_text("{")
    return kept


def finished(words: tuple[object, ...], *statuses: int) -> str:
    """Run a command, which must exit with one of `statuses` (default 0). Returns its errors.

    It runs in this process to save time. Unexpected exceptions are passed on.
    """
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        status = main([str(word) for word in words])
    assert status in (statuses or (0,)), (words, status, out.getvalue(), errors.getvalue())
    return errors.getvalue()


def damage(store: Path, draw: random.Random) -> str:
    """Damage a random file. Returns a description of the damage."""
    file = draw.choice(sorted(path for path in store.rglob("*") if path.is_file()))
    content = bytearray(file.read_bytes())
    # Kind "log" is a damaged SQLite log beside the catalogue, as a killed writer could leave it.
    kind = draw.choice(["flip", "cut", "delete", "garbage", "insert", "log"])
    if kind == "log":
        file = store / f"catalogue.sqlite-{draw.choice(['wal', 'shm', 'journal'])}"
        content = bytearray(draw.randbytes(draw.choice([1, 32, 4096])))
    elif kind == "delete":
        file.unlink()
        return f"{kind} {file.name}"
    elif kind == "flip" and content:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    elif kind == "cut":
        del content[draw.randrange(len(content) + 1) :]
    else:
        first = draw.randrange(len(content) + 1)
        rubbish = draw.randbytes(draw.randrange(1, 200))
        content[first : first if kind == "insert" else first + len(rubbish)] = rubbish
    file.write_bytes(content)
    return f"{kind} {file.relative_to(store)}"


def must_heal(kept: Kept, out: Path, changes: int, draw: random.Random) -> None:
    """Damage a copy of a store, use it, and check that the commands restore every byte."""
    shutil.copytree(kept.store, out)
    done = [damage(out, draw) for _ in range(changes)]
    try:
        _must_heal(kept, out, is_repaired=draw.random() < 0.5)
    except Exception as error:
        raise AssertionError(f"after {done}: {error!r}") from error
    shutil.rmtree(out)


def _must_heal(kept: Kept, out: Path, *, is_repaired: bool) -> None:
    whole = tree(kept.store / "runs")
    still = sound(whole, tree(out / "runs"))
    assert readable(out) == still
    use: list[tuple[object, ...]] = [
        ("export", out, "--csv"),
        ("export", "pair", "--csv", "--out", out),
        ("compare", out, out, "--json"),
        ("report", "pair", "--out", out, "-o", out.with_suffix(".html")),
        ("plot", out, "cwnd", "-o", out.with_suffix(".png")),
    ]
    for words in use:
        finished(words, 0, 2)
    if is_repaired:
        finished(("doctor", out, "--repair"))
        finished(("doctor", out))
    assert sound(whole, tree(out / "runs")) == still
    assert readable(out) == still
    for words in kept.commands(out):
        finished(words)
    assert tree(out / "runs") == whole
    assert tree(out / "campaigns") == tree(kept.store / "campaigns")
    finished(("doctor", out))


def readable(store: Path) -> set[str]:
    """Return the keys of the runs that a reader gets. All their tables must be readable."""
    with read_store(store, tell=lambda _: None) as reader:
        runs = reader.runs()
    for run in runs:
        run.connections()
        for kind in run.series_kinds():
            run.series(kind)
    return {run.key for run in runs}


def sound(whole: dict[str, bytes], there: dict[str, bytes]) -> set[str]:
    """Return the keys of the runs with intact files only."""
    keys = {name.partition("/")[0] for name in whole}
    return {
        key
        for key in keys
        if all(there.get(name) == content for name, content in whole.items() if name.startswith(key))
    }
