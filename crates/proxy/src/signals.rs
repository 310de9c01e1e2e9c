//! Signals that end the proxy, as messages.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::pipe2;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// As long as this lives SIGTERM, SIGINT and SIGHUP interrupt nothing in this thread, nor in those that it starts.
#[derive(Debug)]
pub struct Blocked {
    before: SigSet,
    ends: SigSet,
}

/// Signals, heard.
#[derive(Debug)]
pub struct Signals {
    /// One message for each.
    pub arrived: UnboundedReceiver<()>,
    _wanted: OwnedFd,
    _blocked: Blocked,
}

impl Blocked {
    /// From now on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new() -> io::Result<Self> {
        let ends: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
        Ok(Blocked { before: ends.thread_swap_mask(SigmaskHow::SIG_BLOCK)?, ends })
    }

    /// Starts the thread that waits for them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn heard(self) -> io::Result<Signals> {
        let queue = SignalFd::with_flags(&self.ends, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let (over, wanted) = pipe2(OFlag::O_CLOEXEC)?;
        let (tell, arrived) = unbounded_channel();
        std::thread::spawn(move || listen(&queue, &over, &tell));
        Ok(Signals { arrived, _wanted: wanted, _blocked: self })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // It was the mask before, so the kernel takes it.
        let _ = self.before.thread_set_mask();
    }
}

/// Until nobody wants to know.
fn listen(queue: &SignalFd, over: &OwnedFd, tell: &UnboundedSender<()>) {
    loop {
        let mut events =
            [PollFd::new(queue.as_fd(), PollFlags::POLLIN), PollFd::new(over.as_fd(), PollFlags::POLLIN)];
        let found = poll(&mut events, PollTimeout::NONE);
        if found.is_ok() && events[1].any() == Some(true) {
            return;
        }
        while let Ok(Some(_)) = queue.read_signal() {
            if tell.send(()).is_err() {
                return;
            }
        }
    }
}
