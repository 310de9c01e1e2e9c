//! Pipes through which octets are spliced, so that they never come into this process's memory.
//!
//! A connection takes one when there is something to move and gives it back as soon as it is empty. One that a slow reader
//! leaves full stays with its connection, but only so many: beyond that its octets are moved to memory, and the pipe is
//! free again for those who go on.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;

/// Pipes of one worker that may stand full.
pub const MOST_FULL: usize = 64;

/// Octets that one can hold: the fewer turns for the same octets, the less the kernel does.
pub const SIZE: i32 = 1 << 18;

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
#[derive(Debug, Default)]
pub struct Pipes {
    pool: Mutex<Pool>,
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
