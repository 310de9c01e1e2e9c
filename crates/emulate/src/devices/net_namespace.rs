//! Network namespaces without names: they are gone with the last process and descriptor that holds them.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::sched::{CloneFlags, setns};

use umts_netlink::Netlink;

/// One of them.
#[derive(Debug)]
pub struct NetNamespace {
    file: File,
}

impl NetNamespace {
    /// The one that `file` holds, its loopback up. Nothing of its own accord is sent in it: no router solicitation, no
    /// address of its own making, which would wake a radio bearer.
    ///
    /// # Errors
    /// If this process has no rights there.
    pub fn prepared(file: File) -> io::Result<Self> {
        let namespace = NetNamespace { file };
        namespace.within(|| {
            for (key, value) in
                [("accept_ra", "0"), ("autoconf", "0"), ("addr_gen_mode", "1"), ("accept_dad", "0")]
            {
                set_sysctl(&format!("net/ipv6/conf/default/{key}"), value)?;
            }
            Netlink::open()?.set_up(LOOPBACK)
        })?;
        Ok(namespace)
    }

    /// A new one, of the users of this process's namespace.
    ///
    /// # Errors
    /// If this process may not make namespaces.
    pub fn new() -> io::Result<Self> {
        let home = current()?;
        nix::sched::unshare(CloneFlags::CLONE_NEWNET)?;
        let made = current();
        setns(&home, CloneFlags::CLONE_NEWNET)?;
        NetNamespace::prepared(made?)
    }

    /// The same one, held once more.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn again(&self) -> io::Result<Self> {
        Ok(NetNamespace { file: self.file.try_clone()? })
    }

    /// Does something inside: sockets, devices and processes made there stay there.
    ///
    /// # Errors
    /// Those of `action`, and of changing namespaces.
    pub fn within<R>(&self, action: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let home = current()?;
        setns(&self.file, CloneFlags::CLONE_NEWNET)?;
        let result = action();
        setns(&home, CloneFlags::CLONE_NEWNET)?;
        result
    }
}

impl AsFd for NetNamespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Index of the loopback device in every namespace.
pub const LOOPBACK: u32 = 1;

fn current() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

/// Sets a kernel variable of the namespace in which this thread is: `net/ipv4/tcp_sack`.
///
/// # Errors
/// If there is no such variable or the kernel does not take the value; the message names both.
pub fn set_sysctl(key: &str, value: &str) -> io::Result<()> {
    fs::write(Path::new("/proc/sys").join(key), value)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot set {key} to {value}: {error}")))
}
