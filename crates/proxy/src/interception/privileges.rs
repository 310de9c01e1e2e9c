//! Drops privileges after the setup.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use caps::{CapSet, Capability, CapsHashSet};
use nix::errno::Errno;
use nix::sys::prctl::{set_keepcaps, set_no_new_privs};
use nix::unistd::{Gid, Uid, User, getpid, setgid, setgroups, setuid};

/// Privileges to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptPrivileges {
    /// Use of addresses and ports of other hosts.
    Addresses,
    /// Removal of network settings, and signals to the process that set them up.
    Undo,
}

impl KeptPrivileges {
    fn capabilities(self) -> CapsHashSet {
        match self {
            KeptPrivileges::Addresses => {
                [Capability::CAP_NET_RAW, Capability::CAP_NET_BIND_SERVICE].into_iter().collect()
            }
            KeptPrivileges::Undo => [Capability::CAP_NET_ADMIN, Capability::CAP_KILL].into_iter().collect(),
        }
    }
}

/// Range of user IDs without names, which systemd also assigns to services (systemd.io/UIDS-GIDS).
/// With the user ID of a service, the proxy could be killed by that service.
const FIRST_USER: u32 = 61_184;
const LAST_USER: u32 = 65_519;
const USER_COUNT: u32 = LAST_USER - FIRST_USER + 1;

/// Drops all other privileges of this thread and of threads that it starts later. Root changes to a
/// user ID that no other process uses, unless the user namespace has no other users.
///
/// # Errors
/// An error of the kernel.
pub fn drop_privileges(keep: KeptPrivileges) -> io::Result<()> {
    let required = keep.capabilities();
    let refused = |error: caps::errors::CapsError| io::Error::other(error.to_string());
    if Uid::effective().is_root() {
        set_keepcaps(true)?;
        become_user(free_user(getpid().as_raw() as u32, &active_users()))?;
    }
    let permitted = caps::read(None, CapSet::Permitted).map_err(refused)?;
    let kept: CapsHashSet = required.intersection(&permitted).copied().collect();
    caps::clear(None, CapSet::Ambient).map_err(refused)?;
    caps::set(None, CapSet::Effective, &kept).map_err(refused)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(refused)?;
    caps::clear(None, CapSet::Inheritable).map_err(refused)?;
    Ok(set_no_new_privs()?)
}

/// Changes to `user`. In a user namespace without other users, root is unprivileged outside of it
/// and stays root.
fn become_user(user: u32) -> io::Result<()> {
    match setgid(Gid::from_raw(user)).and_then(|()| setgroups(&[])).and_then(|()| setuid(Uid::from_raw(user)))
    {
        // The namespace has no other users.
        Ok(()) | Err(Errno::EINVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the first user ID without a name and without a process. The search starts at an offset
/// of `start`, so that two proxies that start simultaneously find different IDs.
fn free_user(start: u32, taken: &BTreeSet<u32>) -> u32 {
    let is_free =
        |user: &u32| !taken.contains(user) && matches!(User::from_uid(Uid::from_raw(*user)), Ok(None));
    let users = (0..USER_COUNT).map(|step| FIRST_USER + (start % USER_COUNT + step) % USER_COUNT);
    users.clone().find(is_free).or_else(|| users.clone().next()).unwrap_or(FIRST_USER)
}

/// User IDs of all visible processes.
fn active_users() -> BTreeSet<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.metadata().ok()).map(|metadata| metadata.uid()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_user_has_no_process() {
        let first = free_user(0, &BTreeSet::new());
        assert!((FIRST_USER..=LAST_USER).contains(&first));
        let second = free_user(0, &BTreeSet::from([first]));
        assert!(second > first, "{second}");
        assert_ne!(free_user(1234, &BTreeSet::new()), free_user(1235, &BTreeSet::new()));
        // The search wraps around.
        assert_eq!(free_user(USER_COUNT, &BTreeSet::new()), first);
    }
}
