//! The programs that run inside: started in the namespace of their UE or server, waited for, and their statuses kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::net_namespace::NetNamespace;

/// A program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChildId(i32);

/// What is to be started.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Variables of its environment, besides those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// It gets the terminal; another one reads nothing and writes to standard error.
    pub has_terminal: bool,
}

impl Program {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.environment.iter().cloned());
        if !self.has_terminal {
            command.stdin(Stdio::null()).stdout(io::stderr());
        }
        command
    }
}

/// All programs of an emulation.
///
/// The emulator is process 1 of its namespace, so orphans of programs become its children too, and are waited for.
#[derive(Debug, Default)]
pub struct Children {
    ended: BTreeMap<ChildId, i32>,
    running: Vec<ChildId>,
}

/// Exit statuses of `env` (and of `umts emulate`) for what could not be started.
pub const NOT_EXECUTABLE: i32 = 126;
/// As [`NOT_EXECUTABLE`]: there is no such program.
pub const NOT_FOUND: i32 = 127;

impl Children {
    /// Starts a program in a namespace.
    ///
    /// # Errors
    /// If it is not there or cannot be executed: [`exit_status_of`] tells what to exit with.
    ///
    /// # Panics
    /// If no word is given.
    pub fn start(&mut self, namespace: &NetNamespace, program: &Program) -> io::Result<ChildId> {
        let mut command = program.command();
        let child = namespace.within(|| command.spawn())?;
        Ok(self.note(&child))
    }

    fn note(&mut self, child: &Child) -> ChildId {
        let id = ChildId(child.id() as i32);
        self.running.push(id);
        id
    }

    /// Starts a program that says on its standard output when it is ready, and waits for its first line.
    ///
    /// # Errors
    /// If it cannot be started, or ends without a word.
    pub fn start_and_wait(&mut self, namespace: &NetNamespace, program: &Program) -> io::Result<ChildId> {
        let mut command = program.command();
        let mut child = namespace.within(|| command.stdout(Stdio::piped()).spawn())?;
        let id = self.note(&child);
        let output = child.stdout.take().expect("it was asked for");
        let mut line = String::new();
        if BufReader::new(output).read_line(&mut line)? == 0 {
            let name = program.words[0].to_string_lossy();
            return Err(io::Error::other(format!("{name} ended before it was ready")));
        }
        Ok(id)
    }

    /// Waits for whoever has ended, without blocking.
    pub fn reap(&mut self) {
        loop {
            let (pid, status) = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) => (pid, status),
                // As shells say it.
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return,
                Ok(_) | Err(_) => continue,
            };
            let id = ChildId(pid.as_raw());
            if let Some(place) = self.running.iter().position(|&running| running == id) {
                self.running.swap_remove(place);
                self.ended.insert(id, status);
            }
        }
    }

    /// The exit status of a program that has ended: 128 and the signal's number if a signal ended it.
    pub fn status(&self, child: ChildId) -> Option<i32> {
        self.ended.get(&child).copied()
    }
}

/// What to exit with if a program could not be started.
pub fn exit_status_of(error: &io::Error) -> i32 {
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}
