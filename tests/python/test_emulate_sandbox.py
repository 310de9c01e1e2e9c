"""The sandbox of ``umts emulate``: programs of root and of other users cannot reach the host.

Most tests run a shell script in the sandbox. It tries to break out, and prints "refused" or "kept" if
an attempt fails.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import plain_user
import pytest
from conftest import command
from umtslab.emulate import control_groups, machine

pytestmark = pytest.mark.slow

Inside = Callable[..., str]
"""``inside(script)`` runs a shell script in ``umts emulate`` and returns its output; it must
succeed."""

NAMED_NETWORK = "/run/umtslab-test/named"
"""File of a network namespace that exists only in the mount namespace of a test."""

CREATE_NAMED_NETWORK = (
    f"mkdir -p {Path(NAMED_NETWORK).parent}",
    f"mount -t tmpfs none {Path(NAMED_NETWORK).parent}",
    f"touch {NAMED_NETWORK}",
    f"unshare --net mount --bind /proc/self/ns/net {NAMED_NETWORK}",
)


@pytest.fixture(params=["root", "plain user"])
def inside(request: pytest.FixtureRequest, tmp_path: Path) -> Inside:
    """Run scripts as root and as an unprivileged user.

    Root runs the commands `before` first, outside of the sandbox.
    """
    answers = {component: (answer, advice) for component, answer, advice in machine.needs()}
    for component in ("namespaces", "TUN devices"):
        if answers[component][0] != "yes":
            pytest.skip(f"this user may not emulate: {answers[component]}")
    for tool in ("nsenter", "unshare", "ip", "hostname"):
        if shutil.which(tool) is None:
            pytest.skip(f"the test needs {tool}")
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("the test needs root")
    missing = plain_user.missing(tmp_path) if request.param == "plain user" else None
    if missing is not None:
        pytest.skip(missing)

    def run_in_sandbox(script: str, before: Sequence[str] = (), options: Sequence[str] = ()) -> str:
        words = command("emulate", "-q", *options, "--", "sh", "-c", script)
        if request.param == "root":
            prepare = "; ".join(["set -e", *before, 'exec "$@"'])
            words = ["unshare", "--mount", "sh", "-c", prepare, "sh", *words]
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        else:
            done = plain_user.run(words, tmp_path, before=before)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run_in_sandbox


def test_no_process_of_the_host_gives_access_to_its_network(inside: Inside) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        fetch = f"{sys.executable} -c 'import urllib.request; urllib.request.urlopen(\"{url}\")'"
        enter = f"nsenter --net=/proc/{os.getpid()}/ns/net {fetch}"
        output = inside(
            f"umount /proc || echo kept; umount -l /proc || echo kept; {enter} || echo refused;"
            "nsenter --net=/proc/1/ns/net true || echo refused; ls /proc/1/root/ || echo refused"
        )
        # No connection reached the server on the host.
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert output.split() == ["kept", "kept", "refused", "refused", "refused"]


def test_no_device_of_the_host_is_visible(inside: Inside) -> None:
    devices = Path("/sys/class/net")
    before = {device.name: (device / "mtu").read_text() for device in devices.iterdir() if device.is_dir()}
    change = "; ".join(f"echo 1333 > /sys/class/net/{name}/mtu && echo changed" for name in before)
    output = inside(
        f"{{ {change}; }} 2> /dev/null; umount /sys; mount -o remount,rw /sys; mount -t sysfs none /mnt;"
        "ls /sys/class/net; ip -o link | cut -d: -f2"
    )
    # Both lists have the sandbox's own devices, and nothing says "changed".
    assert output.split() == ["lo", "umts0", "lo", "umts0"]
    assert {name: (devices / name / "mtu").read_text() for name in before} == before


def test_the_host_name_cannot_be_changed(inside: Inside) -> None:
    before = socket.gethostname()
    assert inside("hostname another || echo refused; hostname") == f"refused\n{before}\n"
    assert socket.gethostname() == before


def test_a_named_network_is_out_of_reach(inside: Inside) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can name a network")
    output = inside(
        f"test -e {NAMED_NETWORK} && echo exists; nsenter --net={NAMED_NETWORK} true || echo refused;"
        f"unshare --user --map-root-user nsenter --net={NAMED_NETWORK} true || echo refused",
        CREATE_NAMED_NETWORK,
    )
    assert output.split() == ["exists", "refused", "refused"]


def test_the_resolver_configuration_cannot_be_unmounted(inside: Inside) -> None:
    output = inside(
        "umount /etc/resolv.conf || echo kept; mount --bind / /mnt || echo kept; cat /etc/resolv.conf;"
        "unshare --mount umount /etc/resolv.conf || echo kept"
    )
    assert output.splitlines() == [
        "kept",
        "kept",
        "nameserver 10.45.0.1",
        "options timeout:20 attempts:3",
        "kept",
    ]


def test_a_ue_cannot_enter_another_ue(inside: Inside) -> None:
    # The addresses of all network namespaces that the program can enter.
    output = inside(
        "sleep 0.5; for process in /proc/[0-9]*; do"
        " nsenter --net=$process/ns/net ip -o -4 address show scope global; done 2> /dev/null"
        " | tr -s ' ' | cut -d ' ' -f 4 | sort -u",
        options=("--ue", "sleep 1000"),
    )
    assert output == "10.45.0.2/32\n"


def test_control_groups_give_no_access_to_processes_of_the_host(tmp_path: Path) -> None:
    """A program of root mounts all hierarchies of control groups, and kills every process there.

    The process `victim` is in one control group of the host and must stay alive. The command
    ``umts emulate`` is in another, which must be empty afterwards.
    """
    if os.geteuid() != 0:
        pytest.skip("the test needs root")
    own = list(control_groups.own_groups())
    if not any((group / "cgroup.controllers").exists() for group in own):
        pytest.skip("control groups of the second version are not mounted")
    of_victim = [group / "umts-test-host" for group in own]
    of_command = [group / "umts-test-command" for group in own]
    victim = subprocess.Popen(["sleep", "600"])
    try:
        for group in of_victim + of_command:
            group.mkdir(exist_ok=True)
            control_groups.copy_cpus(group)
        for group in of_victim:
            (group / "cgroup.procs").write_text(str(victim.pid))
        emulate = command("emulate", "-q", "--", "sh", "-c", KILL_GROUPS)
        done = subprocess.run(
            ["sh", "-c", RUN_IN_GROUPS, "sh", *map(str, of_command), "--", *emulate],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        # The mounts succeeded, but they show only the program's own group.
        assert "mounted" in done.stdout
        assert "found group of the host" not in done.stdout
        assert victim.poll() is None
        # The emulation had a group below each of the command's groups and has removed them.
        assert [child for group in of_command for child in group.iterdir() if child.is_dir()] == []
    finally:
        victim.kill()
        victim.wait()
        control_groups.remove([str(group) for group in of_victim + of_command])


RUN_IN_GROUPS = """
while [ "$1" != -- ]; do
    echo 0 > "$1/cgroup.procs" || exit 99
    shift
done
shift
exec "$@"
"""
"""Shell script that enters the control groups before ``--`` and then runs the command after it. In
``cgroup.procs`` 0 stands for the writing process."""

KILL_GROUPS = """
mkdir m
for kind in cgroup2 'cgroup -o freezer' 'cgroup -o pids' 'cgroup -o memory'; do
    mount -t $kind none m 2> /dev/null || unshare -C mount -t $kind none m 2> /dev/null || continue
    echo mounted
    find m -name 'umts-test-host' -exec echo found group of the host {} ';'
    echo 1 > m/umts-test-host/cgroup.kill
    echo FROZEN > m/umts-test-host/freezer.state
    umount m
done 2> /dev/null
true
"""


PROGRAM_OF_ROOT = """
import os, socket
frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
frames.bind(("umts0", 0))
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
socket.create_server(("", 80)).close()
with open("made", "w") as file:
    os.fchown(file.fileno(), 33, 34)
open("/proc/sys/net/ipv4/tcp_sack", "w").write("0")
for switch in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness"):
    try: open(switch, "w")
    except OSError as error: print(error.strerror)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try: open("made", "a")
except OSError as error: print(error.strerror)
"""
"""Uses what root may do in the sandbox: raw sockets, a low port, other owners of files and settings of
the program's own network. Then the program tries to change settings of the machine, and to write the
file as user 65534."""


def test_root_may_chown_files_but_not_change_the_machine(
    tmp_path: Path, umts: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("the test needs root")
    sack = Path("/proc/sys/net/ipv4/tcp_sack")
    before = sack.read_text()
    done = umts("emulate", "-q", "--", sys.executable, "-c", PROGRAM_OF_ROOT)
    assert done.stdout.splitlines() == ["Read-only file system"] * 2 + ["Permission denied"]
    file = (tmp_path / "made").stat()
    assert (file.st_uid, file.st_gid) == (33, 34)
    assert sack.read_text() == before
