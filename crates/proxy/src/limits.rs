//! Limits of a proxy: connections, and bytes per connection. Descriptors and memory are divided at
//! the start, so that stalled connections cannot exhaust the resources of others.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use umts_units::Bytes;

use crate::error::{ProxyError, wrong};
use crate::options::{MAX_BUFFER, MIN_BUFFER, Options};
use crate::relay::pipes::{MAX_FULL, SIZE};

/// Descriptors of a connection: two sockets.
const DESCRIPTORS_PER_CONNECTION: usize = 2;
/// Descriptors of a worker: 8 for its listener, event queue and waker, and two for each pipe. At
/// most `MAX_FULL` pipes are full, and one is in use.
const DESCRIPTORS_PER_WORKER: usize = 8 + 2 * (MAX_FULL + 1);
/// Descriptors of the process: standard streams, log, metrics and their clients, the Python
/// interpreter.
const DESCRIPTORS_OF_PROCESS: usize = 64;
/// Buffer of a connection per direction, in bytes, if only `--memory` is set.
const DEFAULT_BUFFER: u64 = 64_000;
/// Largest number of bytes that one call moves: the capacity of a pipe.
const PIPE_CAPACITY: u64 = SIZE as u64;
/// The proxy itself holds at most 1/`PIPE_DIVISOR` of a buffer between its sockets.
const PIPE_DIVISOR: u64 = 8;

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
        let max_connections = descriptors
            .saturating_sub(DESCRIPTORS_OF_PROCESS + DESCRIPTORS_PER_WORKER * options.workers)
            / DESCRIPTORS_PER_CONNECTION;
        if let Some(requested) = options.connections.filter(|&requested| requested > max_connections) {
            let help = "raise the hard limit of open files, or choose fewer connections";
            return Err(wrong(format!(
                "--connections {requested}: {descriptors} descriptors suffice for {max_connections}; {help}"
            )));
        }
        let mut connections = options.connections.unwrap_or(max_connections);
        let mut buffer = options.buffer;
        if let Some(memory) = options.memory {
            let connections_with = |octets: u64| usize::try_from(memory / (2 * octets)).unwrap_or(usize::MAX);
            if options.connections.is_none() {
                connections = connections.min(connections_with(buffer.unwrap_or(DEFAULT_BUFFER)));
            }
            let share = memory / (2 * connections.max(1) as u64);
            let min_buffer = buffer.unwrap_or(MIN_BUFFER);
            if connections == 0 || share < min_buffer {
                let (memory, sufficient_for) = (Bytes(memory), connections_with(min_buffer));
                let per_connection = Bytes(2 * min_buffer);
                return Err(wrong(format!(
                    "--memory {memory}: at {per_connection} each it suffices for {sufficient_for} connections; \
                     choose more memory, or fewer connections"
                )));
            }
            buffer = buffer.or(Some(share));
        }
        if connections == 0 {
            return Err(wrong(format!(
                "{descriptors} descriptors are too few for a connection: raise the hard limit of open files"
            )));
        }
        let chunk =
            buffer.map_or(PIPE_CAPACITY, |octets| (octets / PIPE_DIVISOR).min(PIPE_CAPACITY)) as usize;
        Ok(Limits { connections, buffer, chunk })
    }

    /// Kernel memory of a socket in bytes: receive buffer, send buffer. The buffer of a direction is
    /// divided into 1/2 for the receive buffer, 1/`PIPE_DIVISOR` for the bytes between the sockets,
    /// and the rest for the send buffer.
    pub fn of_socket(&self) -> Option<[u64; 2]> {
        let octets = self.buffer.map(|octets| octets.min(MAX_BUFFER));
        octets.map(|octets| [octets / 2, octets - octets / 2 - octets / PIPE_DIVISOR])
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

    fn options(pairs: &[(&str, &str)]) -> Options {
        let required = [("--listen", "127.0.0.1:8080"), ("--to", "127.0.0.1:80"), ("--workers", "1")];
        let pairs = [&required[..], pairs].concat();
        let pairs: Vec<_> = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Options::from_pairs(&pairs).unwrap()
    }

    #[test]
    fn descriptors_limit_the_connections() {
        let limits = Limits::of(&options(&[]), 20_000).unwrap();
        // 64 descriptors of the process, 74 of the worker and two per connection:
        // (20,000 - 64 - 74) / 2 = 9,931. A chunk is the capacity of a pipe, 2^19 bytes.
        assert_eq!((limits.connections, limits.buffer, limits.chunk), (9_931, None, 524_288));
        let error = Limits::of(&options(&[("--connections", "10000")]), 20_000).unwrap_err().to_string();
        assert!(
            error.starts_with("--connections 10000: 20000 descriptors suffice for 9931; raise"),
            "{error}"
        );
    }

    #[test]
    fn memory_limits_connections_or_buffers() {
        // memory = 2 directions · connections · buffer. A chunk is 1/8 of a buffer.
        let limits = Limits::of(&options(&[("--memory", "64 MB")]), 20_000).unwrap();
        assert_eq!((limits.connections, limits.buffer), (500, Some(64_000)));
        let limits =
            Limits::of(&options(&[("--memory", "64 MB"), ("--connections", "1000")]), 20_000).unwrap();
        assert_eq!((limits.connections, limits.buffer), (1_000, Some(32_000)));
        let limits = Limits::of(&options(&[("--memory", "64 MB"), ("--buffer", "320 kB")]), 20_000).unwrap();
        assert_eq!((limits.connections, limits.buffer, limits.chunk), (100, Some(320_000), 40_000));
        let error = Limits::of(&options(&[("--memory", "1 MB"), ("--connections", "1000")]), 20_000);
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("--memory 1 MB: at 32 kB each it suffices for 31 connections"), "{error}");
    }

    #[test]
    fn parts_of_a_buffer_fit_into_it() {
        let limits = Limits::of(&options(&[("--buffer", "100 kB")]), 20_000).unwrap();
        let [receive, send] = limits.of_socket().unwrap();
        assert!(receive + send + limits.chunk as u64 <= 100_000);
    }
}
