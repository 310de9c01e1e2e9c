//! What users ask for: when a flow opens a connection, what is written at which end, when it closes; which datagrams
//! leave.
//!
//! A model is told what happened to its flow (`handle_*`) and then says what to do ([`Traffic::poll_action`], until it
//! gives nothing more) and when it wants to be woken ([`Traffic::poll_timeout`]). Its random draws come from streams
//! of its own, one per flow and purpose, so that another TCP version meets the same pages and the same pauses.

mod browsing;
pub mod etsi_www;
mod frames;
mod ftp;
pub mod laws;
mod replay;

pub use browsing::{Browsing, BrowsingConfig, Draws, MixedSegments, Pace};
pub use etsi_www::{EtsiWww, EtsiWwwConfig, FirstSession, SizeOf};
pub use frames::{Frames, FramesConfig};
pub use ftp::Ftp;
pub use replay::{Record, Replay, ReplayConfig};

use umts_kernel::random::Streams;
use umts_units::Time;

use crate::ids::{End, FlowId};
use crate::tcp::TcpEvent;

/// Names a connection of a flow: the n-th that it opened, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nth(pub u32);

/// What a flow wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// `end` opens the next connection.
    Open {
        /// Its number, one above that of the one before.
        connection: Nth,
        /// Who sends the SYN.
        end: End,
        /// Payload of its full segments; that of the flow's TCP if absent.
        segment_payload: Option<u32>,
    },
    /// The application at `end` writes.
    Write {
        /// Where.
        connection: Nth,
        /// Who writes.
        end: End,
        /// How many bytes; `u64::MAX` for ever.
        bytes: u64,
    },
    /// The application at `end` has nothing more to write.
    Close {
        /// What.
        connection: Nth,
        /// Who closes.
        end: End,
    },
    /// `end` sends a UDP datagram.
    Send {
        /// Who.
        end: End,
        /// Its payload.
        bytes: u32,
    },
    /// Something that only the application knows, for the record.
    Report(Report),
}

/// What only the application knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// A packet call begins.
    CallStarted {
        /// The connection that carries it, or its first part.
        connection: Nth,
    },
    /// All of a packet call is acknowledged.
    CallEnded {
        /// The connection that carried it, or its first part.
        connection: Nth,
        /// When it began.
        since: Time,
    },
    /// The user has a whole page.
    PageEnded {
        /// When the user asked for it.
        since: Time,
    },
    /// A session is over.
    SessionEnded {
        /// When it began.
        since: Time,
    },
}

/// What a flow's user does.
#[derive(Debug, Clone, PartialEq)]
pub enum TrafficConfig {
    /// One transfer of so many bytes; `u64::MAX` for ever.
    Ftp {
        /// How many.
        bytes: u64,
    },
    /// Pages or files, with pauses between.
    Browsing(BrowsingConfig),
    /// WWW sessions of UMTS 30.03.
    EtsiWww(EtsiWwwConfig),
    /// Voice or video.
    Frames(FramesConfig),
    /// A recording.
    Replay(ReplayConfig),
}

/// The traffic models.
#[derive(Debug)]
pub enum Traffic {
    /// See [`Ftp`].
    Ftp(Ftp),
    /// See [`Browsing`].
    Browsing(Box<Browsing>),
    /// See [`EtsiWww`].
    EtsiWww(Box<EtsiWww>),
    /// See [`Frames`].
    Frames(Box<Frames>),
    /// See [`Replay`].
    Replay(Replay),
}

impl Traffic {
    /// The user of `flow`, whose data come from `sender`.
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

    /// The flow starts.
    pub fn handle_start(&mut self, now: Time) {
        match self {
            Traffic::Ftp(ftp) => ftp.handle_start(),
            Traffic::Browsing(browsing) => browsing.handle_start(now),
            Traffic::EtsiWww(etsi) => etsi.handle_start(now),
            Traffic::Frames(frames) => frames.handle_start(now),
            Traffic::Replay(replay) => replay.handle_start(now),
        }
    }

    /// TCP has told the application at `end` of a connection something.
    #[inline]
    pub fn handle_event(&mut self, now: Time, connection: Nth, end: End, event: TcpEvent) {
        match self {
            Traffic::Ftp(ftp) => ftp.handle_event(end, event),
            Traffic::Browsing(browsing) => browsing.handle_event(now, connection, end, event),
            Traffic::Replay(replay) => replay.handle_event(end, event),
            Traffic::EtsiWww(_) | Traffic::Frames(_) => {}
        }
    }

    /// All that was written at `end` of a connection has left for the first time.
    pub fn handle_all_sent(&mut self, now: Time, connection: Nth, end: End) {
        if let Traffic::Browsing(browsing) = self {
            browsing.handle_all_sent(now, connection, end);
        }
    }

    /// The time has come that [`Traffic::poll_timeout`] named.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            Traffic::Ftp(_) => {}
            Traffic::Browsing(browsing) => browsing.handle_timeout(now),
            Traffic::EtsiWww(etsi) => etsi.handle_timeout(now),
            Traffic::Frames(frames) => frames.handle_timeout(now),
            Traffic::Replay(replay) => replay.handle_timeout(now),
        }
    }

    /// The next thing to do now.
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

    /// When the model wants to be woken.
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

/// The name of a flow's stream of draws.
fn stream_name(flow: FlowId, purpose: &str) -> String {
    format!("traffic/flow{}/{purpose}", flow.0)
}
