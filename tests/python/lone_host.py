"""A separate host for ``umts emulate --internet``, and an Internet for it: network namespaces.

A test calls `inside` with the name of a function of this file, for example `reach`. The function runs
in a new process, the first of the namespaces, and prints its result as JSON. Nothing here reaches
the machine's own network.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

HOST, SERVER = "192.0.2.1", "192.0.2.2"
"""Addresses of the separate host, and of the name server and router on the Internet."""
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
WAIT_S = 60

ADDRESS_SERVER = (
    "import socket\n"
    "server = socket.create_server(('', 7000))\n"
    "while True:\n"
    "    connection, address = server.accept()\n"
    "    connection.sendall(address[0].encode())\n"
    "    connection.close()\n"
)
"""A server on the Internet that sends each client the client's address."""

ADDRESS_CLIENT = "import socket; print(socket.create_connection(('some.example', 7000)).recv(99).decode())"


def missing() -> str | None:
    """Return what this machine lacks for the namespaces; None if nothing."""
    if os.geteuid() != 0:
        return "it takes root"
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"it takes {tool}"
    return None


def inside(function: str, folder: Path, *words: str, file: str = __file__) -> Any:
    """Call a function of `file` with `words` on a separate host, in `folder`. Returns its result."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run(
        [*unshare, sys.executable, file, function, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def emulate(*words: str, **options: Any) -> subprocess.Popen[str]:
    """Start ``umts emulate --internet`` with these words."""
    return umts("emulate", "--internet", *words, **options)


def umts(*words: str, **options: Any) -> subprocess.Popen[str]:
    """Start ``umts`` with these words."""
    line = [sys.executable, "-m", "umtslab", *words]
    return subprocess.Popen(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def left_on_host() -> dict[str, Any]:
    """Return what emulations have on the host: forwarding setting, devices, holds, their folder.

    A hold is a file for each emulation that needs forwarding. The last one restores the setting.
    """
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    folder = Path("/run/umtslab/forwarding")
    return {
        "forwards": FORWARD.read_text().strip(),
        "devices": [line.split()[1].split("@")[0] for line in links.splitlines() if "umts" in line],
        "holds": sorted(file.name for file in folder.iterdir()) if folder.is_dir() else [],
        "folder": folder.parent.exists(),
    }


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until the condition is true. Fails after `WAIT_S`."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, left_on_host()
        time.sleep(0.05)


def reach(*options: str) -> dict[str, Any]:
    """Emulate a program that resolves a server's name and gets the program's address from the server."""
    emulation = emulate(*options, "--", sys.executable, "-c", ADDRESS_CLIENT)
    output, errors = emulation.communicate()
    return {
        "status": emulation.returncode,
        "output": output.strip(),
        "errors": errors,
        "left": left_on_host(),
    }


REACH_HOST = """
import socket, sys
for address in sys.argv[1:]:
    try:
        with socket.create_connection((address, 8000), 8) as connection:
            print(connection.recv(99).decode())
    except OSError as error:
        print(type(error).__name__, error.errno)
"""
"""Connects to port 8000 of each address, and prints what it reads, or the error."""


def own_services() -> dict[str, Any]:
    """Results of connections to a server on this host, with and without ``--host-services``.

    While an emulation runs, this function serves the connections. It also notes the IPv6 addresses
    of the device that leads to the emulated network.
    """
    server = socket.create_server(("::", 8000), family=socket.AF_INET6, dualstack_ipv6=True)
    server.setblocking(False)
    # Two addresses of the host, and the broadcast address of its network.
    words = (sys.executable, "-c", REACH_HOST, HOST, "10.46.0.1", "192.0.2.255")
    results: dict[str, Any] = {}
    for name, options in (("without option", ()), ("with option", ("--host-services",))):
        emulation = emulate(*options, "--", *words)
        ipv6 = ""
        while emulation.poll() is None:
            with suppress(BlockingIOError):
                connection, _ = server.accept()
                connection.sendall(b"reached")
                connection.close()
            if left_on_host()["devices"] and not ipv6:
                # The device can vanish meanwhile, so a failure is not an error.
                show = ["ip", "-6", "-o", "address", "show", "dev", "umts-gi0"]
                ipv6 = subprocess.run(show, capture_output=True, text=True, check=False).stdout
            time.sleep(0.02)
        output, errors = emulation.communicate()
        results[name] = {
            "output": output.splitlines(),
            "errors": errors,
            "IPv6": ipv6,
            "left": left_on_host(),
        }
    return results


def two_at_once() -> list[dict[str, Any]]:
    """Run two emulations that overlap. Returns the state of the host after each of them ends."""
    first = emulate("-q", "--", "sleep", "1000")
    wait_for(lambda: left_on_host()["devices"] == ["umts-gi0"])
    second = emulate("-q", "--", sys.executable, "-c", ADDRESS_CLIENT)
    output = second.communicate()[0].strip()
    between = left_on_host()
    first.terminate()
    first.wait()
    # On SIGTERM the command does not wait for the processes that restore the host. The folder is
    # removed last.
    wait_for(lambda: left_on_host()["devices"] == [] and not left_on_host()["folder"])
    return [{"output": output, "left": between}, {"left": left_on_host()}]


VICTIMS = ("umtslab emulate", "emulate.launcher", "emulate.emulator")
"""Parts of the command lines by which the processes of an emulation are found. Each of the first two
processes restores the host if the other is killed."""

LATEST_S = 3.0
"""Latest time of a kill in seconds after the start: by then, the programs run."""


def killed() -> list[dict[str, Any]]:
    """What is left on the host after kills of an emulation, and after ``doctor --clean``.

    One process is killed at a time, then both that could restore the host.
    """
    states = [_kill((victim,)) for victim in VICTIMS]
    # Both are stopped before the kills, so that neither can restore the host.
    states.append(_kill(VICTIMS[:2], stopped=True))
    subprocess.run([sys.executable, "-m", "umtslab", "doctor", "--clean"], check=True, stdout=sys.stderr)
    states.append(left_on_host())
    return states


def make_hosts() -> None:
    """Create the devices ``left`` and ``right``, and a host behind each."""
    for name, number in (("left", 10), ("right", 20)):
        host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        wait_for_namespace(host.pid, own)
        # A path, because the emulator's PID namespace does not have this process.
        namespace = Path(f"/run/{name}")
        namespace.touch()
        run("mount", "--bind", f"/proc/{host.pid}/ns/net", str(namespace))
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        run("ip", "link", "set", name, "up")
        for words in (
            f"address add 198.51.100.{number}/24 dev eth0",
            f"address add 2001:db8::{number}/64 dev eth0 nodad",
            "link set eth0 up",
        ):
            run("nsenter", f"--net={namespace}", "ip", *words.split())


def killed_at_random(kills: str) -> list[dict[str, Any]]:
    """The state before, and after each of `kills` kills.

    Emulations with ``--internet`` alternate with emulations between attached devices.
    """
    make_hosts()
    # Wait for the link-local addresses of the three devices, which the kernel adds.
    wait_for(lambda: output_of("ip", "-6", "address").count("fe80") == 3)
    draws = random.Random(kills)
    states = [_state()]
    for number in range(int(kills)):
        options = ("--internet",) if number % 2 == 0 else ("--attach-ue", "left", "--attach-net", "right")
        emulation = umts("emulate", *options, "-q", "--", "sh", "-c", "sleep 1000 & sleep 1000")
        time.sleep(draws.uniform(0, LATEST_S))
        running = [pid for victim in VICTIMS for pid in processes(victim)] or [emulation.pid]
        os.kill(draws.choice(running), signal.SIGKILL)
        emulation.communicate()
        deadline = time.monotonic() + WAIT_S
        while _state() != states[0] and time.monotonic() < deadline:
            time.sleep(0.05)
        states.append(_state())
    return states


def _state() -> dict[str, Any]:
    """Return everything on the host that an emulation may leave or change."""
    devices = [
        [device["ifname"], device["flags"], device["mtu"], device.get("promiscuity"), device.get("txqlen")]
        + [address["local"] for address in device["addr_info"]]
        for device in json.loads(output_of("ip", "-j", "-d", "address"))
    ]
    return {
        **left_on_host(),
        "devices": devices,
        "routes": output_of("ip", "route"),
        "packet sockets": len(Path("/proc/net/packet").read_text().splitlines()),
        "mounts": len(Path("/proc/self/mounts").read_text().splitlines()),
        "processes": [pid for part in (*VICTIMS, "sleep 1000") for pid in processes(part)],
        "run": sorted(file.name for file in Path("/run").iterdir()),
    }


def output_of(*words: str) -> str:
    """Return the output of a command, which must succeed."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def names() -> str:
    """Result of a program that connects to the socket of the host's name service."""
    path = Path("/run/nscd/socket")
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(str(path))
        service.listen()
        connect = (
            "import socket\n"
            f"try: print(socket.socket(socket.AF_UNIX).connect({str(path)!r}))\n"
            "except OSError as error: print(type(error).__name__)"
        )
        return umts("emulate", "-q", "--", sys.executable, "-c", connect).communicate()[0]


def closed_terminal() -> dict[str, Any]:
    """The state after a closed terminal, that is, after SIGHUP to the emulation's process group."""
    # Under nohup the tests would pass on an ignored SIGHUP, which an emulation leaves ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    emulation = emulate("-q", "--", "sleep", "1000", start_new_session=True)
    wait_for(lambda: left_on_host()["devices"] == ["umts-gi0"])
    os.killpg(emulation.pid, signal.SIGHUP)
    emulation.wait()
    wait_for(lambda: left_on_host()["devices"] == [] and not left_on_host()["folder"])
    return left_on_host()


def _kill(victims: tuple[str, ...], *, stopped: bool = False) -> dict[str, Any]:
    """Kill these processes of an emulation, with `stopped` all at the same time.

    Returns what is left on the host.
    """
    emulation = emulate("-q", "--", "sleep", "1000")
    wait_for(lambda: left_on_host()["devices"] == ["umts-gi0"])
    pids = [pid for victim in victims for pid in processes(victim)]
    assert len(pids) >= len(victims)
    for pid in pids if stopped else ():
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    emulation.wait()
    wait_for(lambda: left_on_host()["devices"] == [])
    if not stopped:
        wait_for(lambda: not left_on_host()["folder"])
    return left_on_host()


def processes(part: str) -> list[int]:
    """Return the processes with `part` in their command line, except process 1."""
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and folder.name != "1":
            try:
                words = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if part in words:
                pids.append(int(folder.name))
    return pids


def run(*words: str) -> None:
    """Run a command, which must succeed."""
    subprocess.run(words, check=True)


def wait_for_namespace(pid: int, other: str) -> None:
    """Wait until a process has another network namespace than `other`."""
    wait_for(lambda: os.readlink(f"/proc/{pid}/ns/net") != other)


def make() -> None:
    """Create the Internet: a network namespace with a router, a name server and servers.

    This host reaches it over the device ``wan``.
    """
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "none", "/run")
    Path("/run/resolv.conf").write_text(f"nameserver {SERVER}\n")
    run("mount", "--bind", "/run/resolv.conf", "/etc/resolv.conf")
    internet = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    own = os.readlink("/proc/self/ns/net")
    wait_for_namespace(internet.pid, own)
    on_internet = ["nsenter", "--net", "--target", str(internet.pid)]
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
        run(*on_internet, "ip", *words.split())
    # The built-in servers of the emulator include a name server.
    servers = [[sys.executable, "-m", "umtslab.emulate.internet"], [sys.executable, "-c", ADDRESS_SERVER]]
    for server in servers:
        subprocess.Popen([*on_internet, *server], stdout=subprocess.DEVNULL)
    reached = [sys.executable, "-c", "import socket; socket.create_connection(('some.example', 7000), 5)"]
    wait_for(lambda: subprocess.run(reached, check=False, stderr=subprocess.DEVNULL).returncode == 0)


def answer(functions: dict[str, Callable[..., Any]]) -> None:
    """Create the Internet, call the function that the command line names, and print the result."""
    make()
    print(json.dumps(functions[sys.argv[1]](*sys.argv[2:])))


if __name__ == "__main__":
    answer(
        {
            "reach": reach,
            "two_at_once": two_at_once,
            "own_services": own_services,
            "killed": killed,
            "killed_at_random": killed_at_random,
            "closed_terminal": closed_terminal,
            "names": names,
        }
    )
