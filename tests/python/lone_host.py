"""A host of its own for ``umts emulate --internet``: namespaces of a test, one of them the Internet.

Run by `inside` as process 1 of them; nothing here reaches the machine's own network.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOST, SERVER = "192.0.2.1", "192.0.2.2"
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
WAIT_S = 60

WHO_ASKS = (
    "import socket\n"
    "server = socket.create_server(('', 7000))\n"
    "while True:\n"
    "    connection, address = server.accept()\n"
    "    connection.sendall(address[0].encode())\n"
    "    connection.close()\n"
)

ASK = "import socket; print(socket.create_connection(('some.example', 7000)).recv(99).decode())"


def missing() -> str | None:
    """What this machine lacks for it; None if nothing."""
    if os.geteuid() != 0:
        return "it takes root"
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"it takes {tool}"
    return None


def inside(what: str, folder: Path) -> Any:
    """What the function `what` of this file returns, called on a host of its own, in `folder`."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run(
        [*unshare, sys.executable, __file__, what], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def emulate(*words: str, **options: Any) -> subprocess.Popen[str]:
    """``umts emulate --internet`` with these words, at work."""
    return _umts("emulate", "--internet", *words, **options)


def _umts(*words: str, **options: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "umtslab", *words]
    return subprocess.Popen(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def left() -> dict[str, Any]:
    """What there is on the host of an emulation."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    folder = Path("/run/umtslab/forwarding")
    return {
        "forwards": FORWARD.read_text().strip(),
        "devices": [line.split()[1].split("@")[0] for line in links.splitlines() if "umts" in line],
        "holds": sorted(file.name for file in folder.iterdir()) if folder.is_dir() else [],
    }


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so, or fail."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, left()
        time.sleep(0.05)


def reach() -> dict[str, Any]:
    """Ask a server on the Internet who asks it; a name is resolved on the way."""
    asking = emulate("--", sys.executable, "-c", ASK)
    said, told = asking.communicate()
    return {"status": asking.returncode, "said": said.strip(), "told": told, "left": left()}


FETCH = "import sys, urllib.request as r; print(len(r.urlopen(sys.argv[1]).read()))"


def between() -> dict[str, Any]:
    """A radio between two devices, with a host behind each: what comes through, and what is refused."""
    for name, last in (("left", 10), ("right", 20)):
        host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        _wait_for_namespace(host.pid, own)
        # Its number means nothing in the namespace of the emulator.
        place = Path(f"/run/{name}")
        place.touch()
        _run("mount", "--bind", f"/proc/{host.pid}/ns/net", str(place))
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        _run("ip", "link", "set", name, "up")
        for words in (
            f"address add 198.51.100.{last}/24 dev eth0",
            f"address add 2001:db8::{last}/64 dev eth0 nodad",
            "link set eth0 up",
        ):
            _run("nsenter", f"--net={place}", "ip", *words.split())
    server = ["nsenter", "--net=/run/right", sys.executable, "-m", "umtslab.emulate.internet"]
    subprocess.Popen(server, stdout=subprocess.DEVNULL)
    attach = ("--attach-ue", "left", "--attach-net", "right")
    fetch = ["nsenter", "--net=/run/left", sys.executable, "-c", FETCH]
    said: list[list[Any]] = []
    for host_name in ("198.51.100.20", "[2001:db8::20]"):
        command = [*fetch, f"http://{host_name}/bytes/30000"]
        out = f"results{len(said)}"
        at_work = _umts("emulate", *attach, "--record", "--out", out, "--", *command)
        said.append([*at_work.communicate(), at_work.returncode])
    replayed = _umts("replay", "results0").communicate()
    refused = []
    for wrong, change in (
        (("left", "left"), ""),
        (("left", "absent"), ""),
        (("left", "right"), "address add 192.0.2.77/24 dev right"),
        (("left", "right"), "link set left mtu 9000"),
        (("left", "right"), "link set left down"),
    ):
        if change:
            _run("ip", "address", "flush", "dev", "right")
            _run("ip", *change.split())
        at_work = _umts("emulate", "--attach-ue", wrong[0], "--attach-net", wrong[1], "--", "true")
        refused.append([at_work.communicate()[1], at_work.returncode])
        if "mtu" in change:
            _run("ip", "link", "set", "left", "mtu", "1500")
    return {"said": said, "replayed": replayed, "refused": refused}


def two_at_once() -> list[dict[str, Any]]:
    """Two emulations that overlap: what each is told, and what is left."""
    first = emulate("-q", "--", "sleep", "1000")
    wait_for(lambda: left()["devices"] == ["umts-gi0"])
    second = emulate("-q", "--", sys.executable, "-c", ASK)
    said = second.communicate()[0].strip()
    between = left()
    first.terminate()
    first.wait()
    wait_for(lambda: left()["devices"] == [])
    return [{"said": said, "left": between}, {"left": left()}]


def killed() -> list[dict[str, Any]]:
    """What is left when one process of it is killed, and then when all are that set back."""
    victims = ("umtslab emulate", "emulate.launcher", "emulate.emulator")
    found = [_kill((victim,)) for victim in victims]
    # At once, so that none of them has the time.
    found.append(_kill(("umtslab emulate", "emulate.launcher"), stopped=True))
    subprocess.run([sys.executable, "-m", "umtslab", "doctor", "--clean"], check=True, stdout=sys.stderr)
    found.append(left())
    return found


def _kill(victims: tuple[str, ...], *, stopped: bool = False) -> dict[str, Any]:
    emulation = emulate("-q", "--", "sleep", "1000")
    wait_for(lambda: left()["devices"] == ["umts-gi0"])
    pids = [pid for victim in victims for pid in _processes(victim)]
    for pid in pids if stopped else ():
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    emulation.wait()
    wait_for(lambda: left()["devices"] == [])
    if not stopped:
        wait_for(lambda: left()["holds"] == [])
    return left()


def _processes(part: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and folder.name != "1":
            try:
                words = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if part in words:
                found.append(int(folder.name))
    assert found, part
    return found


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


def _wait_for_namespace(pid: int, other: str) -> None:
    wait_for(lambda: os.readlink(f"/proc/{pid}/ns/net") != other)


def _make() -> None:
    run = _run
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "none", "/run")
    Path("/run/resolv.conf").write_text(f"nameserver {SERVER}\n")
    run("mount", "--bind", "/run/resolv.conf", "/etc/resolv.conf")
    internet = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    own = os.readlink("/proc/self/ns/net")
    _wait_for_namespace(internet.pid, own)
    there = ["nsenter", "--net", "--target", str(internet.pid)]
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "wan", "type", "veth", "peer", "name", "isp", "netns", str(internet.pid))
    run("ip", "address", "add", f"{HOST}/24", "dev", "wan")
    run("ip", "link", "set", "wan", "up")
    run("ip", "route", "add", "default", "via", SERVER)
    for words in (
        "address add 192.0.2.2/24 dev isp",
        "link set isp up",
        "link set lo up",
        "route add local 198.18.0.0/15 dev lo",
    ):
        run(*there, "ip", *words.split())
    servers = [[sys.executable, "-m", "umtslab.emulate.internet"], [sys.executable, "-c", WHO_ASKS]]
    for server in servers:
        subprocess.Popen([*there, *server], stdout=subprocess.DEVNULL)
    reached = [sys.executable, "-c", "import socket; socket.create_connection(('some.example', 7000), 5)"]
    wait_for(lambda: subprocess.run(reached, check=False, stderr=subprocess.DEVNULL).returncode == 0)


if __name__ == "__main__":
    _make()
    CALLED: dict[str, Callable[[], Any]] = {
        "reach": reach,
        "two_at_once": two_at_once,
        "killed": killed,
        "between": between,
    }
    print(json.dumps(CALLED[sys.argv[1]]()))
