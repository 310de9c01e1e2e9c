//! Why a proxy does not run.

use std::io;

use thiserror::Error;

/// Why there is no proxy.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// What was asked for makes no sense, or not on this host; nothing has changed.
    #[error("{0}")]
    Wrong(String),
    /// The process that removes what was set up in the kernel's network was killed.
    #[error(
        "the process that removes what this proxy set up was killed: a policy rule is left (`ip rule` shows it as \
         proto 117), which leads to an empty table; `umts doctor --clean` or the next such proxy removes it"
    )]
    Orphaned,
    /// The system refused something while the proxy ran.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl ProxyError {
    /// What to exit with.
    pub fn exit_status(&self) -> i32 {
        match self {
            ProxyError::Wrong(_) => 2,
            ProxyError::System { .. } | ProxyError::Orphaned => 1,
        }
    }
}

/// An error of the system's, with `what` was to be done.
pub fn system(what: &'static str) -> impl Fn(io::Error) -> ProxyError {
    move |source| ProxyError::System { what, source }
}

/// An error about what was typed.
pub fn wrong(message: impl Into<String>) -> ProxyError {
    ProxyError::Wrong(message.into())
}
