"""The sandbox of ``umts emulate``: programs of root and of other users cannot reach the host."""

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

NAMED = "/run/umtslab-test/named"
"""A named network namespace that exists only in the mount namespace of a test."""

NAME_IT = (
    f"mkdir -p {Path(NAMED).parent}",
    f"mount -t tmpfs none {Path(NAMED).parent}",
    f"touch {NAMED}",
    f"unshare --net mount --bind /proc/self/ns/net {NAMED}",
)


@pytest.fixture(params=["root", "plain user"])
def inside(request: pytest.FixtureRequest, tmp_path: Path) -> Inside:
    """Run scripts as root and as an unprivileged user."""
    answers = {what: (answer, advice) for what, answer, advice in machine.needs()}
    for what in ("namespaces", "TUN devices"):
        if answers[what][0] != "yes":
            pytest.skip(f"this user may not emulate: {answers[what]}")
    for tool in ("nsenter", "unshare", "ip", "hostname"):
        if shutil.which(tool) is None:
            pytest.skip(f"it takes {tool}")
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("it takes root")
    lacks = plain_user.missing(tmp_path) if request.param == "plain user" else None
    if lacks is not None:
        pytest.skip(lacks)

    def run(script: str, before: Sequence[str] = (), options: Sequence[str] = ()) -> str:
        words = command("emulate", "-q", *options, "--", "sh", "-c", script)
        if request.param == "root":
            made = "; ".join(["set -e", *before, 'exec "$@"'])
            words = ["unshare", "--mount", "sh", "-c", made, "sh", *words]
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        else:
            done = plain_user.run(words, tmp_path, before=before)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_no_process_of_the_host_gives_access_to_its_network(inside: Inside) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        fetch = f"{sys.executable} -c 'import urllib.request; urllib.request.urlopen(\"{url}\")'"
        enter = f"nsenter --net=/proc/{os.getpid()}/ns/net {fetch}"
        said = inside(
            f"umount /proc || echo kept; umount -l /proc || echo kept; {enter} || echo refused;"
            "nsenter --net=/proc/1/ns/net true || echo refused; ls /proc/1/root/ || echo refused"
        )
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert said.split() == ["kept", "kept", "refused", "refused", "refused"]


def test_no_device_of_the_host_is_visible(inside: Inside) -> None:
    devices = Path("/sys/class/net")
    before = {device.name: (device / "mtu").read_text() for device in devices.iterdir() if device.is_dir()}
    change = "; ".join(f"echo 1333 > /sys/class/net/{name}/mtu && echo changed" for name in before)
    said = inside(
        f"{{ {change}; }} 2> /dev/null; umount /sys; mount -o remount,rw /sys; mount -t sysfs none /mnt;"
        "ls /sys/class/net; ip -o link | cut -d: -f2"
    )
    assert said.split() == ["lo", "umts0", "lo", "umts0"]
    assert {name: (devices / name / "mtu").read_text() for name in before} == before


def test_the_host_name_cannot_be_changed(inside: Inside) -> None:
    before = socket.gethostname()
    assert inside("hostname another || echo refused; hostname") == f"refused\n{before}\n"
    assert socket.gethostname() == before


def test_a_named_network_is_out_of_reach(inside: Inside) -> None:
    if os.geteuid() != 0:
        pytest.skip("it takes root to name a network")
    said = inside(
        f"test -e {NAMED} && echo there; nsenter --net={NAMED} true || echo refused;"
        f"unshare --user --map-root-user nsenter --net={NAMED} true || echo refused",
        NAME_IT,
    )
    assert said.split() == ["there", "refused", "refused"]


def test_the_resolver_configuration_cannot_be_unmounted(inside: Inside) -> None:
    said = inside(
        "umount /etc/resolv.conf || echo kept; mount --bind / /mnt || echo kept; cat /etc/resolv.conf;"
        "unshare --mount umount /etc/resolv.conf || echo kept"
    )
    kept, *resolver, still_kept = said.splitlines()
    assert (kept, resolver[0], still_kept) == ("kept", "kept", "kept")
    assert resolver[1:] == ["nameserver 10.45.0.1", "options timeout:20 attempts:3"]


def test_a_ue_cannot_enter_another_ue(inside: Inside) -> None:
    said = inside(
        "sleep 0.5; for process in /proc/[0-9]*; do"
        " nsenter --net=$process/ns/net ip -o -4 address show scope global; done 2> /dev/null"
        " | tr -s ' ' | cut -d ' ' -f 4 | sort -u",
        options=("--ue", "sleep 1000"),
    )
    assert said == "10.45.0.2/32\n"


def test_control_groups_give_no_access_to_processes_of_the_host(
    tmp_path: Path, umts: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """A program of root mounts all hierarchies of control groups, and kills every process there."""
    if os.geteuid() != 0:
        pytest.skip("it takes root")
    groups = list(control_groups.own_groups())
    if not any((group / "cgroup.controllers").exists() for group in groups):
        pytest.skip("control groups of the second version are not mounted")
    made = [group / "umts-test-host" for group in groups]
    # Emulations of other tests may have groups at the same time.
    before = {left for group in groups for left in group.glob(f"{control_groups.PREFIX}*")}
    victim = subprocess.Popen(["sleep", "600"])
    try:
        for group in made:
            group.mkdir(exist_ok=True)
            control_groups.copy_cpus(group)
            (group / "cgroup.procs").write_text(str(victim.pid))
        done = umts("emulate", "-q", "--", "sh", "-c", KILL_GROUPS)
        assert "host" not in done.stdout
        # The mounts succeeded, but they show only the program's own group.
        assert "mounted" in done.stdout
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
        for group in made:
            group.rmdir()
    after = {left for group in groups for left in group.glob(f"{control_groups.PREFIX}*")}
    numbers = [left.name.removeprefix(control_groups.PREFIX) for left in after - before]
    assert all(Path("/proc", number).exists() for number in numbers)


KILL_GROUPS = """
mkdir m
for kind in cgroup2 'cgroup -o freezer' 'cgroup -o pids' 'cgroup -o memory'; do
    mount -t $kind none m 2> /dev/null || unshare -C mount -t $kind none m 2> /dev/null || continue
    echo mounted
    find m -name 'umts-test-host' -exec echo host {} ';'
    echo 1 > m/umts-test-host/cgroup.kill
    echo FROZEN > m/umts-test-host/freezer.state
    umount m
done 2> /dev/null
true
"""


ROOT = """
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


def test_root_may_chown_files_but_not_change_the_machine(
    tmp_path: Path, umts: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("it takes root")
    sack = Path("/proc/sys/net/ipv4/tcp_sack")
    before = sack.read_text()
    done = umts("emulate", "-q", "--", sys.executable, "-c", ROOT)
    assert done.stdout.splitlines() == ["Read-only file system"] * 2 + ["Permission denied"]
    made = (tmp_path / "made").stat()
    assert (made.st_uid, made.st_gid) == (33, 34)
    assert sack.read_text() == before
