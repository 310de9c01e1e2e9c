//! Rights, laid down when nothing more is to be set up.

use std::io;

use caps::{CapSet, Capability, CapsHashSet};
use nix::errno::Errno;
use nix::sys::prctl::{set_keepcaps, set_no_new_privs, set_pdeathsig};
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Least {
    /// To have other hosts' addresses and ports. Such a process ends with its parent.
    Addresses,
    /// To undo what was set up, and to end who set it up.
    Undo,
}

impl Least {
    fn rights(self) -> CapsHashSet {
        match self {
            Least::Addresses => {
                [Capability::CAP_NET_RAW, Capability::CAP_NET_BIND_SERVICE].into_iter().collect()
            }
            Least::Undo => [Capability::CAP_NET_ADMIN, Capability::CAP_KILL].into_iter().collect(),
        }
    }
}

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

/// Lays down all other rights of this thread, and of those that it starts; root becomes nobody, where users are those of
/// the machine.
///
/// # Errors
/// The kernel's.
pub fn lay_down(least: Least) -> io::Result<()> {
    let kept = least.rights();
    let refused = |error: caps::errors::CapsError| io::Error::other(error.to_string());
    if Uid::effective().is_root() {
        set_keepcaps(true)?;
        // In a namespace that knows no other users root is nobody outside of it: there is nobody to become.
        if setgroups(&[]).is_ok() && setgid(Gid::from_raw(NOBODY)).is_ok() {
            match setuid(Uid::from_raw(NOBODY)) {
                Ok(()) | Err(Errno::EINVAL) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    let permitted = caps::read(None, CapSet::Permitted).map_err(refused)?;
    let kept: CapsHashSet = kept.intersection(&permitted).copied().collect();
    caps::clear(None, CapSet::Ambient).map_err(refused)?;
    caps::set(None, CapSet::Effective, &kept).map_err(refused)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(refused)?;
    caps::clear(None, CapSet::Inheritable).map_err(refused)?;
    if least == Least::Addresses {
        set_pdeathsig(Signal::SIGKILL)?;
    }
    Ok(set_no_new_privs()?)
}
