//! Errors of the proxy, and the exit statuses of `umts proxy`.

use std::io;

use thiserror::Error;

/// Error of a proxy.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// An option is invalid, or cannot be used on this host. The proxy has not started, and nothing
    /// is left changed.
    #[error("{0}")]
    Wrong(String),
    /// The parent process, which removes the network settings at the end, was killed.
    #[error(
        "the parent process, which restores the network settings at the end, was killed: a policy rule is left (`ip rule` shows \
         it as proto 117), which leads to an empty table; `umts doctor --clean` or the next such proxy removes it"
    )]
    Orphaned,
    /// A system call failed while the proxy ran.
    #[error("{action}: {source}")]
    System {
        /// The failed action.
        action: &'static str,
        /// The error of the system call.
        source: io::Error,
    },
}

impl ProxyError {
    /// Exit status of the command.
    pub fn exit_status(&self) -> i32 {
        match self {
            ProxyError::Wrong(_) => 2,
            ProxyError::System { .. } | ProxyError::Orphaned => 1,
        }
    }
}

/// Returns a function that maps an I/O error to [`ProxyError::System`].
pub fn system(action: &'static str) -> impl Fn(io::Error) -> ProxyError {
    move |source| ProxyError::System { action, source }
}

/// Creates an error about an option.
pub fn wrong(message: impl Into<String>) -> ProxyError {
    ProxyError::Wrong(message.into())
}
