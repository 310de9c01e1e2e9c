//! Network namespaces without names. A namespace exists as long as a process or a descriptor holds
//! it.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::sched::{CloneFlags, setns};

use umts_netlink::Netlink;

/// A network namespace, held by a descriptor.
#[derive(Debug)]
pub struct NetNamespace {
    file: File,
}

impl NetNamespace {
    /// Prepares the namespace of `file`: sets loopback up, and disables router solicitations and
    /// automatic addresses. Their packets would wake a radio bearer.
    ///
    /// # Errors
    /// An error if this process has no privileges in the namespace.
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

    /// Creates a namespace that belongs to the user namespace of this process.
    ///
    /// # Errors
    /// An error if this process may not create namespaces.
    pub fn new() -> io::Result<Self> {
        let home = current()?;
        nix::sched::unshare(CloneFlags::CLONE_NEWNET)?;
        let created = current();
        setns(&home, CloneFlags::CLONE_NEWNET)?;
        NetNamespace::prepared(created?)
    }

    /// Creates another descriptor of the same namespace.
    ///
    /// # Errors
    /// An error if there is no free descriptor.
    pub fn again(&self) -> io::Result<Self> {
        Ok(NetNamespace { file: self.file.try_clone()? })
    }

    /// Runs `action` in the namespace. Sockets, devices and processes that it creates belong to the
    /// namespace.
    ///
    /// # Errors
    /// An error of `action` or `setns`.
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

/// Sets a sysctl of the current network namespace, for example `net/ipv4/tcp_sack`.
///
/// # Errors
/// An error with key and value if the sysctl does not exist or the kernel rejects the value.
pub fn set_sysctl(key: &str, value: &str) -> io::Result<()> {
    fs::write(Path::new("/proc/sys").join(key), value)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot set {key} to {value}: {error}")))
}
