//! Delivers SIGTERM, SIGINT and SIGHUP to the proxy's event loop as messages of a channel. A thread
//! reads the signals from a signalfd.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::pipe2;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The meaning of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// SIGTERM, SIGINT; SIGHUP when the terminal is closed.
    End,
    /// SIGHUP otherwise: reopen the log, and read the limits again.
    Reload,
}

/// Signals that end the proxy.
const ENDS: [Signal; 2] = [Signal::SIGTERM, Signal::SIGINT];

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in threads that it starts. Dropping it
/// restores the mask. A signal that is ignored, for example under `nohup`, stays ignored.
#[derive(Debug)]
pub struct Blocked {
    previous_mask: SigSet,
    handled: SigSet,
}

/// Receives signals until it is dropped.
#[derive(Debug)]
pub struct Signals {
    /// One message per signal.
    pub arrived: UnboundedReceiver<Request>,
    /// The write end of a pipe. Closing it stops the thread that waits for signals.
    _stop_writer: OwnedFd,
    _blocked: Blocked,
}

impl Blocked {
    /// Blocks the signals.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn new() -> io::Result<Self> {
        let ignored = ignored(&fs::read_to_string("/proc/thread-self/status")?);
        let is_delivered = |signal: &Signal| ignored >> (*signal as u32 - 1) & 1 == 0;
        let handled: SigSet = ENDS.into_iter().chain([Signal::SIGHUP]).filter(is_delivered).collect();
        Ok(Blocked { previous_mask: handled.thread_swap_mask(SigmaskHow::SIG_BLOCK)?, handled })
    }

    /// Starts the thread that waits for the signals. Signals that came since they were blocked are
    /// delivered too.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn start_receiving(self) -> io::Result<Signals> {
        let queue = SignalFd::with_flags(&self.handled, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let (stop, stop_writer) = pipe2(OFlag::O_CLOEXEC)?;
        let (sender, arrived) = unbounded_channel();
        let had_terminal = has_terminal();
        std::thread::spawn(move || listen(&queue, &stop, &sender, had_terminal));
        Ok(Signals { arrived, _stop_writer: stop_writer, _blocked: self })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // Cannot fail: the previous mask is valid.
        let _ = self.previous_mask.thread_set_mask();
    }
}

/// Signals that a process ignores, from the text of its `/proc/PID/status`: bit n − 1 is signal n.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Whether this process has an open controlling terminal.
fn has_terminal() -> bool {
    OpenOptions::new().read(true).open("/dev/tty").is_ok()
}

/// Sends requests until the receiver or the other end of `stop` is dropped.
fn listen(queue: &SignalFd, stop: &OwnedFd, sender: &UnboundedSender<Request>, had_terminal: bool) {
    loop {
        let mut events =
            [PollFd::new(queue.as_fd(), PollFlags::POLLIN), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
        let polled = poll(&mut events, PollTimeout::NONE);
        let [_, stop_event] = &events;
        if polled.is_ok() && stop_event.any() == Some(true) {
            return;
        }
        while let Ok(Some(signal)) = queue.read_signal() {
            let is_hangup = signal.ssi_signo == Signal::SIGHUP as u32;
            let has_lost_terminal = had_terminal && !has_terminal();
            let reloads = is_hangup && !has_lost_terminal;
            let request = if reloads { Request::Reload } else { Request::End };
            if sender.send(request).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_of_a_process() {
        let status = "Name:\tx\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        let ignored = ignored(status);
        assert_eq!((ignored & 1, ignored >> (Signal::SIGINT as u32 - 1) & 1), (1, 0));
        assert_eq!(super::ignored(""), 0);
    }
}
