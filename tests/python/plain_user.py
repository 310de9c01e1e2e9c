"""Runs a command as an unprivileged user with access to ``/dev/net/tun``.

If the tests run as root, the command runs as user 65534 in its own mount namespace. There every
user may open the device, and the interpreter is accessible even below a home that is closed to
other users. Outside of the namespace nothing changes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PLAIN_ID = 65534
REPOSITORY = Path(__file__).parents[2]
DEVICE = "/dev/net/tun"


def run(
    words: Sequence[str], folder: Path, *, before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run `words` in `folder`. Root makes the folder writable for all and runs `before` first."""
    if os.geteuid() != 0:
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    folder.chmod(0o777)
    script = "\n".join([*_mounts(folder), *before, _drop(words, folder)])
    return subprocess.run(
        ["unshare", "--mount", "sh", "-ec", script], capture_output=True, text=True, check=False
    )


def missing(folder: Path) -> str | None:
    """Return why no command can run as such a user; None if it can."""
    if os.geteuid() == 0 and any(shutil.which(tool) is None for tool in ("unshare", "setpriv")):
        return "unshare and setpriv are needed to become a plain user"
    tried = run(["sh", "-c", f"exec unshare --user --net sh -c ': <> {DEVICE}'"], folder)
    return None if tried.returncode == 0 else f"a plain user may not emulate: {tried.stderr.strip()}"


def _mounts(folder: Path) -> list[str]:
    """Return shell commands that make device and files accessible in a new mount namespace.

    A folder that is closed to other users is replaced by an empty one, in which only the needed
    folders appear.
    """
    lines = [
        "mount --make-rprivate /",
        "mount -t tmpfs -o mode=755 none /mnt",
        "mknod -m 666 /mnt/tun c 10 200",
        f"mount --bind /mnt/tun {DEVICE}",
    ]
    needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix), REPOSITORY, folder}
    closed: dict[Path, list[Path]] = {}
    for path in sorted(needed):
        for ancestor in reversed(path.parents):
            if not ancestor.stat().st_mode & stat.S_IXOTH:
                closed.setdefault(ancestor, []).append(path)
                break
    for number, (ancestor, paths) in enumerate(closed.items()):
        original, replaced = f"/mnt/original{number}", shlex.quote(str(ancestor))
        lines += [
            f"mkdir {original}",
            f"mount --bind {replaced} {original}",
            f"mount -t tmpfs -o mode=755 none {replaced}",
        ]
        for path in paths:
            inside, name = shlex.quote(f"{original}/{path.relative_to(ancestor)}"), shlex.quote(str(path))
            lines += [f"mkdir -p {name}", f"mount --bind {inside} {name}"]
    return lines


def _drop(words: Sequence[str], folder: Path) -> str:
    """Return shell commands that run `words` in `folder` without privileges."""
    drop = f"setpriv --reuid {PLAIN_ID} --regid {PLAIN_ID} --clear-groups --inh-caps=-all --bounding-set=-all"
    return f"cd {shlex.quote(str(folder))}\nexport HOME=/nonexistent\nexec {drop} {shlex.join(words)}"
