//! Limits that can change while the proxy runs.

use std::path::PathBuf;
use std::sync::RwLock;
use std::time::Duration;

use crate::error::ProxyError;
use crate::limits::Limits;
use crate::limits_file::FileLimits;
use crate::options::Options;

/// Limits of connections. A change applies to connections that begin later; open ones continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveLimits {
    /// Maximum number of simultaneous connections. If more are open, no client is accepted.
    pub connections: usize,
    /// Time limit for a connection to a server, and for a SOCKS5 request.
    pub connect_timeout: Duration,
    /// How long a connection may transfer nothing.
    pub idle_timeout: Duration,
    /// How long open connections may continue after the first signal.
    pub drain: Duration,
}

/// The current limits, and the file that they are read from.
#[derive(Debug)]
pub struct LimitsInForce {
    current: RwLock<LiveLimits>,
    file: Option<LimitsFile>,
}

/// A file of limits, with what is needed to check it again.
#[derive(Debug)]
struct LimitsFile {
    path: PathBuf,
    /// Options of the command line, with the buffer of a connection that was allocated at the start.
    options: Options,
    descriptors: usize,
}

const NO_PANIC: &str = "no thread panics while it has the lock";

impl LiveLimits {
    fn new(options: &Options, limits: &Limits) -> Self {
        LiveLimits {
            connections: limits.connections,
            connect_timeout: options.connect_timeout,
            idle_timeout: options.idle_timeout,
            drain: options.drain,
        }
    }
}

impl LimitsInForce {
    /// Reads the file of `--limits`, if there is one. Returns the options with its limits, and the
    /// limits of buffers and connections.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] if the file is invalid, or its limits need more descriptors or memory
    /// than there are.
    pub fn read(options: Options, descriptors: usize) -> Result<(Self, Options, Limits), ProxyError> {
        let path = options.limits.clone();
        let replaced = match &path {
            Some(path) => FileLimits::read(path)?.replace_in(options.clone()),
            None => options.clone(),
        };
        let limits = Limits::of(&replaced, descriptors)?;
        let options = Options { buffer: limits.buffer, ..options };
        let file = path.map(|path| LimitsFile { path, options, descriptors });
        let current = RwLock::new(LiveLimits::new(&replaced, &limits));
        Ok((LimitsInForce { current, file }, replaced, limits))
    }

    /// Limits that stay as they are.
    #[cfg(test)]
    pub fn fixed(limits: LiveLimits) -> Self {
        LimitsInForce { current: RwLock::new(limits), file: None }
    }

    pub fn current(&self) -> LiveLimits {
        *self.current.read().expect(NO_PANIC)
    }

    /// Reads the file again. `None`: there is no file. After an error, the limits stay as they are.
    pub fn reload(&self) -> Option<Result<LiveLimits, ProxyError>> {
        let file = self.file.as_ref()?;
        Some(file.read().inspect(|limits| *self.current.write().expect(NO_PANIC) = *limits))
    }
}

impl LimitsFile {
    fn read(&self) -> Result<LiveLimits, ProxyError> {
        let options = FileLimits::read(&self.path)?.replace_in(self.options.clone());
        let limits = Limits::of(&options, self.descriptors)?;
        Ok(LiveLimits::new(&options, &limits))
    }
}
