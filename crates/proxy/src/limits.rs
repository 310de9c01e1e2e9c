//! Limits of a proxy: connections, and bytes per connection. Descriptors and memory are divided at
//! the start, so that stalled connections cannot exhaust the resources of others.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use umts_units::Bytes;

use crate::error::{ProxyError, wrong};
use crate::options::{LEAST_BUFFER, MOST_BUFFER, Options};
use crate::relay::pipes::{MOST_FULL, SIZE};

/// Descriptors of a connection: two sockets.
const OF_CONNECTION: usize = 2;
/// Descriptors of a worker: 8 for its listener, event queue and waker, and two for each pipe. At
/// most `MOST_FULL` pipes are full, and one is in use.
const OF_WORKER: usize = 8 + 2 * (MOST_FULL + 1);
/// Descriptors of the process: standard streams, log, metrics and their clients, the Python
/// interpreter.
const OF_PROCESS: usize = 64;
/// Buffer of a connection per direction, in bytes, if only `--memory` is set.
const USUAL_BUFFER: u64 = 64_000;
/// Largest number of bytes that one call moves: the capacity of a pipe.
const PIPE: u64 = SIZE as u64;
/// The proxy itself holds at most 1/`BETWEEN` of a buffer between its sockets.
const BETWEEN: u64 = 8;

/// Limits that follow from the options and the descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of simultaneous connections.
    pub connections: usize,
    /// Bytes that a connection may hold in the proxy per direction, kernel memory included. `None`:
    /// unlimited.
    pub buffer: Option<u64>,
    /// Bytes that one call moves at most.
    pub chunk: usize,
}

impl Limits {
    /// Derives the limits from the options and the number of available `descriptors`.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] if no connection fits, or fewer than the options request.
    pub fn of(options: &Options, descriptors: usize) -> Result<Limits, ProxyError> {
        let fit = descriptors.saturating_sub(OF_PROCESS + OF_WORKER * options.workers) / OF_CONNECTION;
        if let Some(requested) = options.connections.filter(|&requested| requested > fit) {
            let help = "raise the hard limit of open files, or choose fewer connections";
            return Err(wrong(format!(
                "--connections {requested}: {descriptors} descriptors suffice for {fit}; {help}"
            )));
        }
        let mut connections = options.connections.unwrap_or(fit);
        let mut buffer = options.buffer;
        if let Some(memory) = options.memory {
            let of_each = |octets: u64| usize::try_from(memory / (2 * octets)).unwrap_or(usize::MAX);
            if options.connections.is_none() {
                connections = connections.min(of_each(buffer.unwrap_or(USUAL_BUFFER)));
            }
            let share = memory / (2 * connections.max(1) as u64);
            let least = buffer.unwrap_or(LEAST_BUFFER);
            if connections == 0 || share < least {
                let (all, fit) = (Bytes(memory), of_each(least));
                let each = Bytes(2 * least);
                return Err(wrong(format!(
                    "--memory {all}: at {each} each it suffices for {fit} connections; choose more memory, or fewer connections"
                )));
            }
            buffer = buffer.or(Some(share));
        }
        if connections == 0 {
            return Err(wrong(format!(
                "{descriptors} descriptors are too few for a connection: raise the hard limit of open files"
            )));
        }
        let chunk = buffer.map_or(PIPE, |octets| (octets / BETWEEN).min(PIPE)) as usize;
        Ok(Limits { connections, buffer, chunk })
    }

    /// Kernel memory of a socket in bytes: receive buffer, send buffer. Together with the bytes
    /// between the sockets they make up one buffer.
    pub fn of_socket(&self) -> Option<[u64; 2]> {
        let octets = self.buffer.map(|octets| octets.min(MOST_BUFFER));
        octets.map(|octets| [octets / 2, octets - octets / 2 - octets / BETWEEN])
    }
}

/// Raises the soft limit of open descriptors to the hard limit. Returns that limit.
///
/// # Errors
/// An error of `getrlimit` or `setrlimit`.
pub fn raise_descriptors() -> io::Result<usize> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok(usize::try_from(hard).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[(&str, &str)]) -> Options {
        let least = [("--listen", "127.0.0.1:8080"), ("--to", "127.0.0.1:80"), ("--workers", "1")];
        let pairs = [&least[..], words].concat();
        let pairs: Vec<_> = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Options::from_pairs(&pairs).unwrap()
    }

    #[test]
    fn descriptors_limit_the_connections() {
        let room = Limits::of(&options(&[]), 20_000).unwrap();
        assert_eq!((room.connections, room.buffer, room.chunk), (9_931, None, 524_288));
        let error = Limits::of(&options(&[("--connections", "10000")]), 20_000).unwrap_err().to_string();
        assert!(
            error.starts_with("--connections 10000: 20000 descriptors suffice for 9931; raise"),
            "{error}"
        );
    }

    #[test]
    fn memory_limits_connections_or_buffers() {
        let room = Limits::of(&options(&[("--memory", "64 MB")]), 20_000).unwrap();
        assert_eq!((room.connections, room.buffer), (500, Some(64_000)));
        let room = Limits::of(&options(&[("--memory", "64 MB"), ("--connections", "1000")]), 20_000).unwrap();
        assert_eq!((room.connections, room.buffer), (1_000, Some(32_000)));
        let room = Limits::of(&options(&[("--memory", "64 MB"), ("--buffer", "320 kB")]), 20_000).unwrap();
        assert_eq!((room.connections, room.buffer, room.chunk), (100, Some(320_000), 40_000));
        let error = Limits::of(&options(&[("--memory", "1 MB"), ("--connections", "1000")]), 20_000);
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("--memory 1 MB: at 32 kB each it suffices for 31 connections"), "{error}");
    }

    #[test]
    fn parts_of_a_buffer_fit_into_it() {
        let room = Limits::of(&options(&[("--buffer", "100 kB")]), 20_000).unwrap();
        let [receive, send] = room.of_socket().unwrap();
        assert!(receive + send + room.chunk as u64 <= 100_000);
    }
}
