//! Pipes through which octets are spliced, so that they never come into this process's memory unless they are few.
//!
//! A connection takes one when there is something to move and gives it back as soon as it is empty. One that a slow reader
//! leaves full stays with its connection, but only so many: beyond that its octets are moved to memory, and the pipe is
//! free again for those who go on.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;

/// Pipes of one worker that may stand full: all pipes of a user without rights share 64 MiB, then they become small.
pub const MOST_FULL: usize = 32;

/// Octets that are copied rather than spliced: of so few the pipe is dearer than the copy.
pub const FEW: usize = 1 << 14;

/// Octets that one can hold. The fewer turns for the same octets the less the kernel does: with four flows, half of this takes
/// half as much time again.
pub const SIZE: i32 = 1 << 19;

/// Two descriptors, and what is in between.
#[derive(Debug)]
pub struct Pipe {
    /// Where octets come out.
    pub read: OwnedFd,
    /// Where they go in.
    pub write: OwnedFd,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (read, write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        // Where this user has many pipes already the kernel leaves it as large as it is.
        let _ = fcntl(&write, FcntlArg::F_SETPIPE_SZ(SIZE));
        Ok(Pipe { read, write })
    }
}

/// Those of one worker.
#[derive(Debug)]
pub struct Pipes {
    pool: Mutex<Pool>,
    few: Mutex<[u8; FEW]>,
}

impl Default for Pipes {
    fn default() -> Self {
        Pipes { pool: Mutex::default(), few: Mutex::new([0; FEW]) }
    }
}

#[derive(Debug, Default)]
struct Pool {
    spare: Vec<Pipe>,
    full: usize,
}

impl Pipes {
    /// An empty one.
    ///
    /// # Errors
    /// If there are no descriptors left.
    pub fn take(&self) -> io::Result<Pipe> {
        self.pool().spare.pop().map_or_else(Pipe::new, Ok)
    }

    /// Gives an empty one back.
    pub fn give(&self, pipe: Pipe) {
        self.pool().spare.push(pipe);
    }

    /// Whether one more may stand full; if so it is counted until [`Pipes::emptied`].
    pub fn may_stand_full(&self) -> bool {
        let mut pool = self.pool();
        let may = pool.full < MOST_FULL;
        pool.full += usize::from(may);
        may
    }

    /// One that stood full does no more.
    pub fn emptied(&self) {
        self.pool().full -= 1;
    }

    /// Where a few octets are between being read and being written.
    pub fn few(&self) -> MutexGuard<'_, [u8; FEW]> {
        self.few.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // One thread uses it; whatever it did before a panic, the numbers are whole.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_stand_full() {
        let pipes = Pipes::default();
        assert!((0..MOST_FULL).all(|_| pipes.may_stand_full()));
        assert!(!pipes.may_stand_full());
        pipes.emptied();
        assert!(pipes.may_stand_full());
    }

    #[test]
    fn an_empty_pipe_is_used_again() {
        let pipes = Pipes::default();
        let first = pipes.take().unwrap();
        let number = format!("{:?}", first.read);
        pipes.give(first);
        assert_eq!(format!("{:?}", pipes.take().unwrap().read), number);
    }
}
