//! Traffic models, which act as the applications of a flow: they decide when the flow opens and
//! closes TCP connections, how many bytes each end writes, and when UDP datagrams are sent. The
//! hosts (`hosts`) perform these actions.
//!
//! The caller notifies a model of events of its flow (`handle_*`), then calls
//! [`Traffic::poll_action`] until it returns `None`, and [`Traffic::poll_timeout`] for the next
//! wake-up. Each flow and purpose has a random stream of its own, so that runs with different TCP
//! versions have the same pages and pauses.

mod browsing;
pub mod etsi_www;
mod frames;
mod ftp;
pub mod laws;
mod replay;

pub use browsing::{Browsing, BrowsingConfig, Draws, EmbeddedObjects, MixedSegments, Pace};
pub use etsi_www::{EtsiWww, EtsiWwwConfig, FirstSession, SizeOf};
pub use frames::{Frames, FramesConfig, Spurts};
pub use ftp::Ftp;
pub use replay::{Record, Replay, ReplayConfig, Transport};

use umts_kernel::random::Streams;
use umts_units::Time;

use crate::ids::{End, FlowId};
use crate::tcp::TcpEvent;

/// A connection of a flow, by the order in which the flow opened them, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ConnectionIndex(pub u32);

/// An action that the host performs for a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// `end` opens the next connection.
    Open {
        /// One more than the number of the connection before.
        connection: ConnectionIndex,
        /// The end that sends the SYN.
        end: End,
        /// Payload of full segments in bytes. `None`: the value of the flow's TCP.
        segment_payload: Option<u32>,
    },
    /// The application at `end` writes.
    Write {
        connection: ConnectionIndex,
        end: End,
        /// `u64::MAX`: without end.
        bytes: u64,
    },
    /// The application at `end` has nothing more to write.
    Close { connection: ConnectionIndex, end: End },
    /// `end` sends a UDP datagram.
    Send {
        end: End,
        /// Payload.
        bytes: u32,
    },
    /// An event that only the application knows, for the trace.
    Report(Report),
}

/// An event that only the application knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// A connection is opened for a packet call.
    CallStarted { connection: ConnectionIndex },
    /// All bytes of a packet call are acknowledged.
    CallEnded {
        /// The connection of the call that was opened last.
        connection: ConnectionIndex,
        /// Start of the call.
        since: Time,
    },
    /// All bytes of a page are delivered. With `object_per_call` each object is reported.
    PageEnded {
        /// Start of the page's call.
        since: Time,
    },
    /// A session is over.
    SessionEnded {
        /// Start of the session.
        since: Time,
    },
}

/// Configuration of a traffic model.
#[derive(Debug, Clone, PartialEq)]
pub enum TrafficConfig {
    /// One transfer of `bytes`. `u64::MAX`: without end.
    Ftp { bytes: u64 },
    /// Pages or files with pauses between them.
    Browsing(BrowsingConfig),
    /// WWW sessions of UMTS 30.03.
    EtsiWww(EtsiWwwConfig),
    /// Voice or video.
    Frames(FramesConfig),
    /// A recorded packet trace.
    Replay(ReplayConfig),
}

/// The traffic model of a flow.
#[derive(Debug)]
pub enum Traffic {
    Ftp(Ftp),
    Browsing(Box<Browsing>),
    EtsiWww(Box<EtsiWww>),
    Frames(Box<Frames>),
    Replay(Replay),
}

impl Traffic {
    /// Creates the model of `flow`. `sender` is the end that sends the data.
    pub fn new(config: &TrafficConfig, sender: End, flow: FlowId, streams: &Streams) -> Self {
        match config {
            TrafficConfig::Ftp { bytes } => Traffic::Ftp(Ftp::new(sender, *bytes)),
            TrafficConfig::Browsing(config) => {
                Traffic::Browsing(Box::new(Browsing::new(config, sender, flow, streams)))
            }
            TrafficConfig::EtsiWww(config) => {
                Traffic::EtsiWww(Box::new(EtsiWww::new(config, sender, flow, streams)))
            }
            TrafficConfig::Frames(config) => {
                Traffic::Frames(Box::new(Frames::new(config, sender, flow, streams)))
            }
            TrafficConfig::Replay(config) => Traffic::Replay(Replay::new(config, sender)),
        }
    }

    /// Starts the flow.
    pub fn handle_start(&mut self, now: Time) {
        match self {
            Traffic::Ftp(ftp) => ftp.handle_start(),
            Traffic::Browsing(browsing) => browsing.handle_start(now),
            Traffic::EtsiWww(etsi) => etsi.handle_start(now),
            Traffic::Frames(frames) => frames.handle_start(now),
            Traffic::Replay(replay) => replay.handle_start(now),
        }
    }

    /// Handles a TCP event of the application at `end` of a connection.
    #[inline]
    pub fn handle_event(&mut self, now: Time, connection: ConnectionIndex, end: End, event: TcpEvent) {
        match self {
            Traffic::Ftp(ftp) => ftp.handle_event(end, event),
            Traffic::Browsing(browsing) => browsing.handle_event(now, connection, end, event),
            Traffic::Replay(replay) => replay.handle_event(end, event),
            Traffic::EtsiWww(_) | Traffic::Frames(_) => {}
        }
    }

    /// Handles the first transmission of the last byte written at `end` of a connection.
    pub fn handle_all_sent(&mut self, now: Time, connection: ConnectionIndex, end: End) {
        if let Traffic::Browsing(browsing) = self {
            browsing.handle_all_sent(now, connection, end);
        }
    }

    /// Handles the timeout of [`Traffic::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            Traffic::Ftp(_) => {}
            Traffic::Browsing(browsing) => browsing.handle_timeout(now),
            Traffic::EtsiWww(etsi) => etsi.handle_timeout(now),
            Traffic::Frames(frames) => frames.handle_timeout(now),
            Traffic::Replay(replay) => replay.handle_timeout(now),
        }
    }

    /// Returns the next action to perform now.
    #[inline]
    pub fn poll_action(&mut self) -> Option<Action> {
        match self {
            Traffic::Ftp(ftp) => ftp.poll_action(),
            Traffic::Browsing(browsing) => browsing.poll_action(),
            Traffic::EtsiWww(etsi) => etsi.poll_action(),
            Traffic::Frames(frames) => frames.poll_action(),
            Traffic::Replay(replay) => replay.poll_action(),
        }
    }

    /// Returns the time at which the caller must call `handle_timeout`.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        match self {
            Traffic::Ftp(_) => None,
            Traffic::Browsing(browsing) => browsing.poll_timeout(),
            Traffic::EtsiWww(etsi) => etsi.poll_timeout(),
            Traffic::Frames(frames) => frames.poll_timeout(),
            Traffic::Replay(replay) => replay.poll_timeout(),
        }
    }
}

/// Name of a flow's random stream.
fn stream_name(flow: FlowId, purpose: &str) -> String {
    format!("traffic/flow{}/{purpose}", flow.0)
}
