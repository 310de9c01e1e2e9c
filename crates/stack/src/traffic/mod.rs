//! What users ask for: when a flow opens its connection, what is written at which end, and when it closes.
//!
//! A model is told what happened to its flow ([`Traffic::handle_start`], [`Traffic::handle_event`]) and then says what
//! to do ([`Traffic::poll_action`], until it gives nothing more). A model that waits (a web user's reading time) will
//! say until when, as every other entity does.

mod ftp;

pub use ftp::Ftp;

use crate::ids::End;
use crate::tcp::TcpEvent;

/// What a flow wants done to its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// `end` opens a new connection.
    Open {
        /// Who sends the SYN.
        end: End,
    },
    /// The application at `end` writes.
    Write {
        /// Who writes.
        end: End,
        /// How many bytes; `u64::MAX` for ever.
        bytes: u64,
    },
    /// The application at `end` has nothing more to write.
    Close {
        /// Who closes.
        end: End,
    },
}

/// The traffic models.
#[derive(Debug, Clone)]
pub enum Traffic {
    /// See [`Ftp`].
    Ftp(Ftp),
}

impl Traffic {
    /// A greedy transfer from `sender`, which never runs out of data.
    pub fn ftp(sender: End) -> Self {
        Traffic::Ftp(Ftp::new(sender, u64::MAX))
    }

    /// A file of `bytes` from `sender`, after which the connection closes.
    pub fn file(sender: End, bytes: u64) -> Self {
        Traffic::Ftp(Ftp::new(sender, bytes))
    }

    /// The flow starts.
    pub fn handle_start(&mut self) {
        match self {
            Traffic::Ftp(ftp) => ftp.handle_start(),
        }
    }

    /// TCP has told the application at `end` something.
    pub fn handle_event(&mut self, end: End, event: TcpEvent) {
        match self {
            Traffic::Ftp(ftp) => ftp.handle_event(end, event),
        }
    }

    /// The next thing to do now.
    pub fn poll_action(&mut self) -> Option<Action> {
        match self {
            Traffic::Ftp(ftp) => ftp.poll_action(),
        }
    }
}
