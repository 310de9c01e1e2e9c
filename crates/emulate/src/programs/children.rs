//! The programs that run inside: begun, waited for, and their statuses kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::devices::net_namespace::NetNamespace;
use crate::programs::waiting::Waiting;

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
    /// What starts it, in the place and the namespaces of whoever does.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.environment.iter().cloned());
        if !self.has_terminal {
            // Ctrl-C is for the command alone: servers are there until it has made something of it.
            command.process_group(0);
            command.stdin(Stdio::null()).stdout(io::stderr());
        }
        command
    }
}

/// A program of our own that begins in two steps.
#[derive(Debug)]
pub struct Half {
    id: ChildId,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    name: String,
}

impl Half {
    /// Has it take the second step.
    ///
    /// # Errors
    /// If it ends without a word.
    pub fn finish(mut self) -> io::Result<ChildId> {
        self.input.write_all(b"\n")?;
        heard(&mut self.output, &self.name)?;
        Ok(self.id)
    }
}

/// Waits for a line of a program.
fn heard(output: &mut BufReader<ChildStdout>, name: &str) -> io::Result<()> {
    match output.read_line(&mut String::new())? {
        0 => Err(io::Error::other(format!("{name} ended before it was ready"))),
        _ => Ok(()),
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
    /// Lets a program begin.
    ///
    /// # Errors
    /// If it is not there or cannot be executed: [`exit_status_of`] tells what to exit with.
    pub fn begin(&mut self, program: Waiting) -> io::Result<ChildId> {
        let process = program.begin()?;
        Ok(self.note(process))
    }

    /// Starts a program of our own in the present namespace, without walls.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start_here(&mut self, program: &Program) -> io::Result<ChildId> {
        let child = spawn(&mut program.command())?;
        Ok(self.note(child.id() as i32))
    }

    fn note(&mut self, process: i32) -> ChildId {
        let id = ChildId(process);
        self.running.push(id);
        id
    }

    /// Starts a program of our own in a namespace, without walls. It says on its standard output when it is ready; its first
    /// line is waited for.
    ///
    /// # Errors
    /// If it cannot be started, or ends without a word.
    pub fn start_and_wait(&mut self, namespace: &NetNamespace, program: &Program) -> io::Result<ChildId> {
        self.start_half(namespace, program).map(|half| half.id)
    }

    /// As [`Children::start_and_wait`], of a program that begins in two steps: after the first one it waits for a line on its
    /// standard input.
    ///
    /// # Errors
    /// If it cannot be started, or ends without a word.
    pub fn start_half(&mut self, namespace: &NetNamespace, program: &Program) -> io::Result<Half> {
        let mut command = program.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = namespace.within(|| spawn(&mut command))?;
        let id = self.note(child.id() as i32);
        let name = program.words[0].to_string_lossy().into_owned();
        let input = child.stdin.take().expect("it was asked for");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        heard(&mut output, &name)?;
        Ok(Half { id, input, output, name })
    }

    /// Lets a server begin of whose making nothing is known, and waits until it listens or has ended, for a while at most.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn begin_server(&mut self, namespace: &NetNamespace, program: Waiting) -> io::Result<ChildId> {
        let before = namespace.within(listening_sockets)?;
        let id = self.begin(program)?;
        let deadline = Instant::now() + LONGEST_START;
        while namespace.within(listening_sockets)? <= before
            && self.status(id).is_none()
            && Instant::now() < deadline
        {
            sleep(Duration::from_millis(10));
            self.reap();
        }
        Ok(id)
    }

    /// Has a program of our own end, and waits for that, for a while at most.
    pub fn end(&mut self, child: ChildId) {
        // One that has ended is not there.
        let _ = kill(Pid::from_raw(child.0), Signal::SIGTERM);
        let deadline = Instant::now() + LONGEST_END;
        self.reap();
        while self.status(child).is_none() && Instant::now() < deadline {
            sleep(Duration::from_millis(5));
            self.reap();
        }
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

/// Starts a process that has no signal blocked, whatever this one has. A signal of a child that comes meanwhile is lost, so
/// [`Children::reap`] is to be asked once afterwards.
fn spawn(command: &mut Command) -> io::Result<Child> {
    let ours = SigSet::thread_get_mask()?;
    SigSet::empty().thread_set_mask()?;
    let child = command.spawn();
    ours.thread_set_mask()?;
    child
}

/// How long a server is waited for that does not listen: it may not be one that does.
const LONGEST_START: Duration = Duration::from_secs(5);

/// How long a program of our own is waited for that was told to end.
const LONGEST_END: Duration = Duration::from_secs(2);

/// Sockets of this namespace that take connections or datagrams.
fn listening_sockets() -> io::Result<usize> {
    let mut count = 0;
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}"))?;
        // A heading, then a line for each socket; the fourth column is its state: 0A listens, 07 is an open UDP one.
        let states = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3));
        count += states.filter(|state| ["0A", "07"].contains(state)).count();
    }
    Ok(count)
}
