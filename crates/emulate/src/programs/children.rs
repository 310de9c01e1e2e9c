//! Child processes of the emulator: starts them, waits for them, and keeps their exit statuses.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::devices::net_namespace::NetNamespace;
use crate::programs::waiting::Waiting;

/// A program that was started, by its process number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChildId(i32);

/// A program and its environment.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Path of the program and its arguments.
    pub words: Vec<OsString>,
    /// Environment variables in addition to the environment of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether the program has the terminal. Other programs have no input and write to standard
    /// error.
    pub has_terminal: bool,
}

impl Program {
    /// Returns the command that starts the program in the namespaces of the caller.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.environment.iter().cloned());
        if !self.has_terminal {
            // Ctrl-C must reach only the command: the servers keep running while the command
            // reacts.
            command.process_group(0);
            command.stdin(Stdio::null()).stdout(io::stderr());
        }
        command
    }
}

/// A program of this project that starts in two steps and has completed the first one.
#[derive(Debug)]
pub struct HalfStarted {
    id: ChildId,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    name: String,
}

impl HalfStarted {
    /// Starts the second step and waits until it is done.
    ///
    /// # Errors
    /// An error if the program, or the process at the other end of `parent`, ends before.
    pub fn finish(mut self, parent: BorrowedFd<'_>) -> io::Result<ChildId> {
        self.input.write_all(b"\n")?;
        wait_for_line(&mut self.output, &self.name, parent)?;
        Ok(self.id)
    }
}

/// Waits for one line of a program's output, or for the end of the process at the other end of the
/// pipe `parent`.
fn wait_for_line(output: &mut BufReader<ChildStdout>, name: &str, parent: BorrowedFd<'_>) -> io::Result<()> {
    if output.buffer().is_empty() {
        let readable = |descriptor| PollFd::new(descriptor, PollFlags::POLLIN);
        let mut ends = [readable(output.get_ref().as_fd()), readable(parent)];
        while poll(&mut ends, PollTimeout::NONE) == Err(Errno::EINTR) {}
        if ends[1].any() == Some(true) {
            return Err(io::Error::other("the process of the user has ended"));
        }
    }
    match output.read_line(&mut String::new())? {
        0 => Err(io::Error::other(format!("{name} ended before it was ready"))),
        _ => Ok(()),
    }
}

/// All child processes of an emulation.
///
/// The emulator is process 1 of its namespace. Orphaned processes of programs therefore become its
/// children and are reaped too.
#[derive(Debug, Default)]
pub struct Children {
    /// Exit statuses of programs that have ended.
    ended: BTreeMap<ChildId, i32>,
    running: Vec<ChildId>,
}

/// Exit status of `env` and `umts emulate` for a program that cannot be executed.
pub const NOT_EXECUTABLE: i32 = 126;
/// Exit status of `env` and `umts emulate` for a program that does not exist.
pub const NOT_FOUND: i32 = 127;

impl Children {
    /// Lets a waiting program run.
    ///
    /// # Errors
    /// An error if the program does not exist or cannot be executed; [`exit_status_of`] gives the
    /// exit status.
    pub fn begin(&mut self, program: Waiting) -> io::Result<ChildId> {
        let process = program.begin()?;
        Ok(self.register(process))
    }

    /// Starts a program of this project in the namespaces of this process, without a sandbox.
    ///
    /// # Errors
    /// An error of starting the process.
    pub fn start_here(&mut self, program: &Program) -> io::Result<ChildId> {
        let child = spawn(&mut program.command())?;
        Ok(self.register(child.id() as i32))
    }

    /// Adds a process that was started.
    fn register(&mut self, process: i32) -> ChildId {
        let id = ChildId(process);
        self.running.push(id);
        id
    }

    /// Starts a program of this project in a network namespace, without a sandbox, and waits for
    /// its first line on standard output, which means that it is ready.
    ///
    /// # Errors
    /// An error if the program cannot be started, or if the program or the process at the other
    /// end of `parent` ends before the program is ready.
    pub fn start_and_wait(
        &mut self,
        namespace: &NetNamespace,
        program: &Program,
        parent: BorrowedFd<'_>,
    ) -> io::Result<ChildId> {
        self.start_first_step(namespace, program, parent).map(|started| started.id)
    }

    /// Like [`Children::start_and_wait`], but for a program that starts in two steps. After the
    /// first step it waits for a line on its standard input.
    ///
    /// # Errors
    /// An error if the program cannot be started, or if the program or the process at the other
    /// end of `parent` ends before the program is ready.
    pub fn start_first_step(
        &mut self,
        namespace: &NetNamespace,
        program: &Program,
        parent: BorrowedFd<'_>,
    ) -> io::Result<HalfStarted> {
        let mut command = program.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = namespace.within(|| spawn(&mut command))?;
        let id = self.register(child.id() as i32);
        let name = program.words[0].to_string_lossy().into_owned();
        let input = child.stdin.take().expect("requested above");
        let mut output = BufReader::new(child.stdout.take().expect("requested above"));
        wait_for_line(&mut output, &name, parent)?;
        Ok(HalfStarted { id, input, output, name })
    }

    /// Lets a server of the user run. Waits until a new socket listens, the server has ended, or
    /// `MAX_START` has passed.
    ///
    /// # Errors
    /// An error if the server cannot be started.
    pub fn begin_server(&mut self, namespace: &NetNamespace, program: Waiting) -> io::Result<ChildId> {
        let before = namespace.within(listening_sockets)?;
        let id = self.begin(program)?;
        let deadline = Instant::now() + MAX_START;
        while namespace.within(listening_sockets)? <= before
            && self.status(id).is_none()
            && Instant::now() < deadline
        {
            sleep(Duration::from_millis(10));
            self.reap();
        }
        Ok(id)
    }

    /// Sends SIGTERM to a program, and waits at most `MAX_END` for its end.
    pub fn end(&mut self, child: ChildId) {
        // Fails if the program has already ended.
        let _ = kill(Pid::from_raw(child.0), Signal::SIGTERM);
        let deadline = Instant::now() + MAX_END;
        self.reap();
        while self.status(child).is_none() && Instant::now() < deadline {
            sleep(Duration::from_millis(5));
            self.reap();
        }
    }

    /// Reaps all children that have ended, without blocking.
    pub fn reap(&mut self) {
        loop {
            let (pid, status) = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) => (pid, status),
                // The convention of shells.
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return,
                Ok(_) | Err(_) => continue,
            };
            let id = ChildId(pid.as_raw());
            if let Some(index) = self.running.iter().position(|&running| running == id) {
                self.running.swap_remove(index);
                self.ended.insert(id, status);
            }
        }
    }

    /// Exit status of a program that has ended: 128 plus the signal number if a signal ended it.
    pub fn status(&self, child: ChildId) -> Option<i32> {
        self.ended.get(&child).copied()
    }
}

/// Exit status for a program that could not be started.
pub fn exit_status_of(error: &io::Error) -> i32 {
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}

/// Starts a process without blocked signals, whatever this process blocks. A SIGCHLD that arrives
/// meanwhile is lost, so the caller must call [`Children::reap`] once afterwards.
fn spawn(command: &mut Command) -> io::Result<Child> {
    let previous_mask = SigSet::thread_get_mask()?;
    SigSet::empty().thread_set_mask()?;
    let child = command.spawn();
    previous_mask.thread_set_mask()?;
    child
}

/// Longest wait for a server that opens no socket: it may not be one that listens.
const MAX_START: Duration = Duration::from_secs(5);

/// Longest wait for the end of a program after SIGTERM.
const MAX_END: Duration = Duration::from_secs(2);

/// Number of listening TCP sockets and unconnected UDP sockets in this namespace.
fn listening_sockets() -> io::Result<usize> {
    let mut count = 0;
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}"))?;
        // After a heading, one line per socket. The fourth column is its state: 0A for a listening
        // TCP socket, 07 for an unconnected UDP socket.
        let states = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3));
        count += states.filter(|state| ["0A", "07"].contains(state)).count();
    }
    Ok(count)
}
