//! Walls around programs: every UE, and the server side, is a host of its own to those who run in it.
//!
//! A place has a user namespace, and in that network, mounts, IPC and control groups of its own. Whoever is root in it has
//! root's rights over its network, so that `tcpdump`, `ping` and `ip link` work, and over nothing that was there before:
//! the kernel asks for rights in the namespace to which a thing belongs. Users keep their numbers, so files are whose they
//! were. What the emulator has mounted lies locked in a place: taking it away would show what is beneath.
//!
//! The kernel lets only a process of one thread into a user namespace, and none out of it. So somebody else builds a place
//! from within, step by step, and the emulator does at each step what takes rights outside of it:
//!
//! ```text
//!   builder                                   emulator
//!   own users            ──── done ────▶      says who is who
//!   own network, IPC …   ──── done ────▶      mounts its devices on /sys
//!   own mounts           ──── done ────▶      takes hold of all, takes the devices off its own /sys
//! ```

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};

use crate::devices::net_namespace::NetNamespace;

/// The namespaces of a place, in the order in which one goes in: the first gives the rights for the others.
const KINDS: [(&str, CloneFlags); 5] = [
    ("user", CloneFlags::CLONE_NEWUSER),
    ("net", CloneFlags::CLONE_NEWNET),
    ("ipc", CloneFlags::CLONE_NEWIPC),
    ("cgroup", CloneFlags::CLONE_NEWCGROUP),
    ("mnt", CloneFlags::CLONE_NEWNS),
];

/// Where the kernel shows devices.
const DEVICES: &str = "/sys";

/// What is behind walls. It is gone with the last process and descriptor that holds it.
#[derive(Debug)]
pub struct Place {
    namespaces: Vec<File>,
    /// Its network, made ready.
    pub network: NetNamespace,
}

/// Builds a place around this process, which has one thread; at the other end of `emulator` somebody calls
/// [`Place::around`]. The process ends afterwards: the place stays.
///
/// # Errors
/// The kernel's, which the other end is told too.
pub fn build(emulator: &UnixStream) -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWCGROUP;
    for step in [CloneFlags::CLONE_NEWUSER, own, CloneFlags::CLONE_NEWNS] {
        tell(emulator, unshare(step).map_err(io::Error::from))?;
        receive::<1>(emulator)?;
    }
    Ok(())
}

impl Place {
    /// The one that process `builder` builds around itself, at the other end of `stream`.
    ///
    /// # Errors
    /// Where the kernel does not allow it; the message says what to do.
    pub fn around(builder: i32, stream: &UnixStream) -> io::Result<Self> {
        let of_builder = |file: &str| format!("/proc/{builder}/{file}");
        hear(stream).map_err(|error| {
            let hint = "programs run in user namespaces: set user.max_user_namespaces, and in a container allow them";
            io::Error::new(error.kind(), format!("cannot make namespaces: {error}; {hint}"))
        })?;
        for map in ["uid_map", "gid_map"] {
            let known = fs::read_to_string(Path::new("/proc/self").join(map))?;
            fs::write(of_builder(map), as_outside(&known))?;
        }
        agree(stream)?;
        hear(stream)?;
        let network = NetNamespace::prepared(File::open(of_builder("ns/net"))?)?;
        let is_shown = network.within(show_devices)?;
        agree(stream)?;
        hear(stream)?;
        if is_shown {
            umount2(DEVICES, MntFlags::MNT_DETACH)?;
        }
        let open = |(kind, _): (&str, CloneFlags)| File::open(of_builder(&format!("ns/{kind}")));
        let namespaces = KINDS.into_iter().map(open).collect::<io::Result<_>>()?;
        agree(stream)?;
        Ok(Place { namespaces, network })
    }

    /// Goes in, for good; the process has one thread.
    ///
    /// # Errors
    /// The kernel's; or the working directory is not to be found there.
    pub fn enter(&self) -> io::Result<()> {
        let folder = env::current_dir()?;
        for (file, (_, flag)) in self.namespaces.iter().zip(KINDS) {
            setns(file, flag)?;
        }
        // By name: the folder that this process is in is among the mounts outside.
        env::set_current_dir(folder)
    }
}

/// Mounts the devices of this thread's network where the kernel shows them, unless there is no such folder; whether it did.
///
/// They can only be looked at: below them are switches of the machine, which belong to root, whatever his rights.
fn show_devices() -> io::Result<bool> {
    if !Path::new(DEVICES).is_dir() {
        return Ok(false);
    }
    let flags = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    match mount(Some("sysfs"), DEVICES, Some("sysfs"), flags, None::<&str>) {
        Ok(()) => {}
        // In a container that shows a part of it, nothing may be mounted that shows all. Then nothing is shown.
        Err(Errno::EPERM) => mount(Some("tmpfs"), DEVICES, Some("tmpfs"), flags, Some("size=4k"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

/// The map by which users of a namespace are the same in one below it: what it says of its outside is not told.
fn as_outside(map: &str) -> String {
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (first, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

/// Says that a step is done, or why not.
fn tell(mut stream: &UnixStream, step: io::Result<()>) -> io::Result<()> {
    let code = step.as_ref().map_or_else(|error| error.raw_os_error().unwrap_or(Errno::EIO as i32), |()| 0);
    stream.write_all(&code.to_ne_bytes())?;
    step
}

fn hear(stream: &UnixStream) -> io::Result<()> {
    match i32::from_ne_bytes(receive(stream)?) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

fn agree(mut stream: &UnixStream) -> io::Result<()> {
    stream.write_all(&[1])
}

fn receive<const OCTETS: usize>(mut stream: &UnixStream) -> io::Result<[u8; OCTETS]> {
    let mut octets = [0; OCTETS];
    stream.read_exact(&mut octets)?;
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_keep_their_numbers() {
        assert_eq!(as_outside("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(as_outside("         0       1000          1\n"), "0 0 1\n");
        assert_eq!(as_outside("0 100000 1000\n1000 1000 1\n"), "0 0 1000\n1000 1000 1\n");
        assert_eq!(as_outside(""), "");
    }

    #[test]
    fn the_other_end_learns_why_a_step_failed() {
        let (builder, emulator) = UnixStream::pair().unwrap();
        tell(&builder, Ok(())).unwrap();
        assert!(hear(&emulator).is_ok());
        tell(&builder, Err(Errno::ENOSPC.into())).unwrap_err();
        assert_eq!(hear(&emulator).unwrap_err().raw_os_error(), Some(Errno::ENOSPC as i32));
        drop(builder);
        assert_eq!(hear(&emulator).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
