//! Isolates the emulator in its own user, mount, process, host name and network namespaces. The
//! kernel removes them when it ends, and the host is unchanged. Programs run in
//! [sandboxes](super::sandbox) inside.
//!
//! Isolation takes two steps, because the kernel puts only the *children* of the caller into a new
//! process namespace. The launcher calls [`leave_host`] and starts the emulator, which calls
//! [`settle`]. The emulator is then process 1 of the namespace. When it ends, however it ends, the
//! kernel kills all processes that it started.

use std::fs;
use std::io;
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid};

/// Leaves the host's namespaces. The caller must have a single thread. Without root privileges, a
/// user namespace grants them, and this user appears as root in it. With `keep_network`, which
/// requires root, the host's network namespace is kept.
///
/// # Errors
/// An error with advice if the kernel does not allow it.
pub fn leave_host(keep_network: bool) -> io::Result<()> {
    let (user, group) = (Uid::effective(), Gid::effective());
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWUTS;
    if !keep_network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    if user.is_root() {
        return unshare(flags)
            .map_err(|error| refused(error, "root lacks CAP_SYS_ADMIN here (a container?)"));
    }
    let hint = "this kernel does not allow unprivileged users to create namespaces: set user.max_user_namespaces (and, on Ubuntu, \
                kernel.apparmor_restrict_unprivileged_userns=0), or run as root";
    unshare(flags | CloneFlags::CLONE_NEWUSER).map_err(|error| refused(error, hint))?;
    fs::write("/proc/thread-self/setgroups", "deny")?;
    fs::write("/proc/thread-self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/thread-self/gid_map", format!("0 {group} 1"))
}

fn refused(error: nix::Error, hint: &str) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("cannot create namespaces: {error}; {hint}"))
}

/// Adapts the mounts to the new namespaces: `/proc` shows their processes, and `/etc/resolv.conf`
/// names `name_server`.
///
/// # Errors
/// An error of `mount`.
pub fn settle(name_server: Option<&str>) -> io::Result<()> {
    // The launcher keeps its own mounts, because it must still see the host's processes.
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>)?;
    if is_root_outside(&fs::read_to_string("/proc/self/uid_map")?) {
        guard_switches()?;
    }
    let Some(address) = name_server else { return Ok(()) };
    replace_resolver(&format!("nameserver {address}\noptions timeout:20 attempts:3\n"))?;
    // The sockets of these services belong to no network namespace: they would answer with names of
    // the host's network.
    for socket in ["/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket"].map(Path::new) {
        if socket.exists() {
            mount(Some("/dev/null"), socket, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
        }
    }
    Ok(())
}

/// Whether the user map shows that root in this namespace is root of the machine.
fn is_root_outside(map: &str) -> bool {
    map.lines().any(|line| line.split_whitespace().take(2).eq(["0", "0"]))
}

/// Switches of the machine that the user root may change even without capabilities. Some kernels
/// lack some of them.
const SWITCHES: [&str; 5] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];

/// Switches of the current network namespace.
const OF_NETWORK: &str = "/proc/sys/net";

/// Mounts the machine's switches read-only, except the switches of the network.
fn guard_switches() -> io::Result<()> {
    let common =
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    for (place, flags) in SWITCHES
        .map(|place| (place, common | MsFlags::MS_RDONLY))
        .into_iter()
        .chain([(OF_NETWORK, common)])
        .filter(|(place, _)| Path::new(place).exists())
    {
        mount(Some(place), place, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
        mount(None::<&str>, place, None::<&str>, flags, None::<&str>)?;
    }
    Ok(())
}

/// Mounts another file over `/etc/resolv.conf` in this mount namespace.
fn replace_resolver(content: &str) -> io::Result<()> {
    let (resolver, scratch) = (Path::new("/etc/resolv.conf"), Path::new("/mnt"));
    if !resolver.exists() {
        return Ok(());
    }
    mount(Some("tmpfs"), scratch, Some("tmpfs"), MsFlags::empty(), Some("size=64k"))?;
    let file = scratch.join("resolv.conf");
    fs::write(&file, content)?;
    mount(Some(&file), resolver, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
    // The mounted file keeps the detached file system alive.
    umount2(scratch, MntFlags::MNT_DETACH)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_of_a_user_namespace_is_not_root_of_the_machine() {
        assert!(is_root_outside("         0          0 4294967295\n"));
        assert!(!is_root_outside("         0       1000          1\n"));
        assert!(!is_root_outside("0 100000 65536\n"));
    }
}
