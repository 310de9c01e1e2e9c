//! Sandboxes of programs. Each UE, and the server side, looks like a separate host to its programs.
//!
//! The sandbox of such a host is called a [`Place`]. A place has a user namespace, and in that
//! namespace a network, mount, IPC and cgroup namespace. Root in a place has root's capabilities over
//! the place's network, so that `tcpdump`, `ping` and `ip link` work, but not over anything that
//! existed before: the kernel checks capabilities in the namespace that owns an object. User numbers
//! are unchanged, so files keep their owners. Mounts of the emulator are locked in a place, because
//! unmounting them would uncover the directories beneath.
//!
//! Only a single-threaded process can enter a user namespace, and no process can leave one.
//! Therefore a separate builder process creates the namespaces around itself, step by step, and the
//! emulator completes each step with the privileges that the builder lacks:
//!
//! ```text
//!   builder                                   emulator
//!   own users            ──── done ────▶      writes the user and group maps
//!   own network, IPC …   ──── done ────▶      mounts its devices on /sys
//!   own mounts           ──── done ────▶      opens all namespaces, unmounts its own /sys
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

/// Namespaces of a place in the order of entry: the first one grants the privileges for the others.
const KINDS: [(&str, CloneFlags); 5] = [
    ("user", CloneFlags::CLONE_NEWUSER),
    ("net", CloneFlags::CLONE_NEWNET),
    ("ipc", CloneFlags::CLONE_NEWIPC),
    ("cgroup", CloneFlags::CLONE_NEWCGROUP),
    ("mnt", CloneFlags::CLONE_NEWNS),
];

/// Mount point of sysfs, which shows devices.
const DEVICES: &str = "/sys";

/// The sandbox of one host. The namespaces exist as long as a process or a descriptor holds them.
#[derive(Debug)]
pub struct Place {
    /// Descriptors of the namespaces, in the order of [`KINDS`].
    namespaces: Vec<File>,
    /// The prepared network namespace.
    pub network: NetNamespace,
}

/// Builds a place around this process, which must have a single thread. The process at the other
/// end of `emulator` must call [`Place::around`]. This process ends afterwards; the place remains.
///
/// # Errors
/// An error of the kernel. The other end receives them too.
pub fn build(emulator: &UnixStream) -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWCGROUP;
    for step in [CloneFlags::CLONE_NEWUSER, own, CloneFlags::CLONE_NEWNS] {
        report_step(emulator, unshare(step).map_err(io::Error::from))?;
        receive::<1>(emulator)?;
    }
    Ok(())
}

impl Place {
    /// Completes the place that the process with number `builder` builds around itself. `stream` is
    /// connected to the builder.
    ///
    /// # Errors
    /// An error with advice if the kernel does not allow it.
    pub fn around(builder: i32, stream: &UnixStream) -> io::Result<Self> {
        let of_builder = |file: &str| format!("/proc/{builder}/{file}");
        receive_result(stream).map_err(|error| {
            let hint = "programs run in user namespaces: set user.max_user_namespaces, and allow them in a container";
            io::Error::new(error.kind(), format!("cannot create namespaces: {error}; {hint}"))
        })?;
        for map in ["uid_map", "gid_map"] {
            let known = fs::read_to_string(Path::new("/proc/self").join(map))?;
            fs::write(of_builder(map), as_outside(&known))?;
        }
        confirm_step(stream)?;
        receive_result(stream)?;
        let network = NetNamespace::prepared(File::open(of_builder("ns/net"))?)?;
        let is_shown = network.within(show_devices)?;
        confirm_step(stream)?;
        receive_result(stream)?;
        if is_shown {
            umount2(DEVICES, MntFlags::MNT_DETACH)?;
        }
        let open = |(kind, _): (&str, CloneFlags)| File::open(of_builder(&format!("ns/{kind}")));
        let namespaces = KINDS.into_iter().map(open).collect::<io::Result<_>>()?;
        confirm_step(stream)?;
        Ok(Place { namespaces, network })
    }

    /// Enters the place. The process cannot leave it, and must have a single thread.
    ///
    /// # Errors
    /// An error of the kernel, or if the working directory does not exist in the place.
    pub fn enter(&self) -> io::Result<()> {
        let folder = env::current_dir()?;
        for (file, (_, flag)) in self.namespaces.iter().zip(KINDS) {
            setns(file, flag)?;
        }
        // By name: the current directory still refers to the mounts outside.
        env::set_current_dir(folder)
    }
}

/// Mounts a sysfs of this thread's network namespace, if the mount point exists. Returns whether it
/// did.
///
/// The mount is read-only, because sysfs also contains switches of the machine that the user root
/// may change even without capabilities.
fn show_devices() -> io::Result<bool> {
    if !Path::new(DEVICES).is_dir() {
        return Ok(false);
    }
    let flags = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    match mount(Some("sysfs"), DEVICES, Some("sysfs"), flags, None::<&str>) {
        Ok(()) => {}
        // A container that shows only a part of sysfs does not allow a mount that shows all. Then
        // an empty directory is mounted.
        Err(Errno::EPERM) => mount(Some("tmpfs"), DEVICES, Some("tmpfs"), flags, Some("size=4k"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

/// Converts the user map of this namespace into the identity map for a namespace below it. The
/// outer numbers are not needed.
fn as_outside(map: &str) -> String {
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (first, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

/// Reports the result of a step to the emulator, and returns it.
fn report_step(mut stream: &UnixStream, step: io::Result<()>) -> io::Result<()> {
    let code = step.as_ref().map_or_else(|error| error.raw_os_error().unwrap_or(Errno::EIO as i32), |()| 0);
    stream.write_all(&code.to_ne_bytes())?;
    step
}

fn receive_result(stream: &UnixStream) -> io::Result<()> {
    match i32::from_ne_bytes(receive(stream)?) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

fn confirm_step(mut stream: &UnixStream) -> io::Result<()> {
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
    fn identity_map_keeps_user_numbers() {
        assert_eq!(as_outside("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(as_outside("         0       1000          1\n"), "0 0 1\n");
        assert_eq!(as_outside("0 100000 1000\n1000 1000 1\n"), "0 0 1000\n1000 1000 1\n");
        assert_eq!(as_outside(""), "");
    }

    #[test]
    fn failed_step_is_reported_with_its_error() {
        let (builder, emulator) = UnixStream::pair().unwrap();
        report_step(&builder, Ok(())).unwrap();
        assert!(receive_result(&emulator).is_ok());
        report_step(&builder, Err(Errno::ENOSPC.into())).unwrap_err();
        assert_eq!(receive_result(&emulator).unwrap_err().raw_os_error(), Some(Errno::ENOSPC as i32));
        drop(builder);
        assert_eq!(receive_result(&emulator).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
