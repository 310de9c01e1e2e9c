//! Pool of pipes for `splice`, so that larger amounts of data do not pass through this process's
//! memory.
//!
//! A connection takes a pipe when it has data to move, and returns it as soon as it is empty. A
//! pipe that a slow reader leaves full stays with its connection, up to `MAX_FULL` pipes. Beyond
//! that, the data are moved to memory and the pipe returns to the pool.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;

/// Pipes of one worker that may stay full. All pipes of an unprivileged user share 64 MiB; beyond
/// that the kernel makes new pipes small.
pub const MAX_FULL: usize = 32;

/// Data up to this number of bytes are copied: a pipe costs more than the copy.
pub const COPY_LIMIT: usize = 1 << 14;

/// Capacity of a pipe in bytes. Moving more at once takes fewer system calls: with four flows, half
/// of this capacity takes 1.5 times as long.
pub const SIZE: i32 = 1 << 19;

/// A non-blocking pipe.
#[derive(Debug)]
pub struct Pipe {
    /// End to read from.
    pub read: OwnedFd,
    /// End to write to.
    pub write: OwnedFd,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (read, write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        // If this user has many pipes already, the kernel leaves the capacity unchanged.
        let _ = fcntl(&write, FcntlArg::F_SETPIPE_SZ(SIZE));
        Ok(Pipe { read, write })
    }
}

/// Pipes of one worker.
#[derive(Debug)]
pub struct Pipes {
    pool: Mutex<Pool>,
    /// Buffer for small amounts of data, which are copied instead of spliced.
    copy_buffer: Mutex<[u8; COPY_LIMIT]>,
}

impl Default for Pipes {
    fn default() -> Self {
        Pipes { pool: Mutex::default(), copy_buffer: Mutex::new([0; COPY_LIMIT]) }
    }
}

#[derive(Debug, Default)]
struct Pool {
    spare: Vec<Pipe>,
    full: usize,
}

impl Pipes {
    /// Takes an empty pipe from the pool, or creates one.
    ///
    /// # Errors
    /// An error of the kernel if there are no descriptors left.
    pub fn take(&self) -> io::Result<Pipe> {
        self.pool().spare.pop().map_or_else(Pipe::new, Ok)
    }

    /// Returns an empty pipe to the pool.
    pub fn put_back(&self, pipe: Pipe) {
        self.pool().spare.push(pipe);
    }

    /// Whether one more pipe may stay full. If so, it is counted until [`Pipes::release_full`] is
    /// called.
    pub fn reserve_full(&self) -> bool {
        let mut pool = self.pool();
        let is_allowed = pool.full < MAX_FULL;
        pool.full += usize::from(is_allowed);
        is_allowed
    }

    /// Uncounts a pipe that was full.
    pub fn release_full(&self) {
        self.pool().full -= 1;
    }

    /// Buffer for copied data.
    pub fn copy_buffer(&self) -> MutexGuard<'_, [u8; COPY_LIMIT]> {
        self.copy_buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // A panic cannot leave the pool inconsistent.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_full_pipes_is_limited() {
        let pipes = Pipes::default();
        assert!((0..MAX_FULL).all(|_| pipes.reserve_full()));
        assert!(!pipes.reserve_full());
        pipes.release_full();
        assert!(pipes.reserve_full());
    }

    #[test]
    fn returned_pipe_is_reused() {
        let pipes = Pipes::default();
        let first = pipes.take().unwrap();
        let number = format!("{:?}", first.read);
        pipes.put_back(first);
        assert_eq!(format!("{:?}", pipes.take().unwrap().read), number);
    }
}
