//! Events at which a live view can stop.

use std::collections::VecDeque;

use umts_stack::ids::{ConnectionId, UeId};
use umts_stack::trace::{DropPlace, TraceEvent};
use umts_units::Time;

/// Number of events that are kept.
const KEPT: usize = 40;

/// Kinds of notable events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotableKind {
    /// A retransmission timer of TCP expired.
    Timeout,
    /// A packet was lost: dropped in a queue or a link, discarded by RLC, or lost by a radio without
    /// acknowledgments.
    Loss,
    /// Radio blocks were lost.
    BlockError,
    /// A UE begins to change its RRC state, its DCH or its cell.
    Switch,
}

impl NotableKind {
    /// All kinds in the order of their indices.
    pub const ALL: [NotableKind; 4] =
        [NotableKind::Timeout, NotableKind::Loss, NotableKind::BlockError, NotableKind::Switch];

    /// The name in tables and commands.
    pub fn name(self) -> &'static str {
        match self {
            NotableKind::Timeout => "timeout",
            NotableKind::Loss => "loss",
            NotableKind::BlockError => "block_error",
            NotableKind::Switch => "switch",
        }
    }
}

/// A notable event.
#[derive(Debug, Clone, PartialEq)]
pub struct Notable {
    pub at: Time,
    pub kind: NotableKind,
    /// `None` for a connection that is over.
    pub ue: Option<UeId>,
    event: TraceEvent,
}

impl Notable {
    /// Describes the event in one sentence without a full stop.
    pub fn text(&self) -> String {
        text(&self.event)
    }
}

/// The last notable events, and the number of each kind.
#[derive(Debug, Default)]
pub(super) struct NotableEvents {
    counts: [u64; NotableKind::ALL.len()],
    last: VecDeque<Notable>,
    /// The last block error. Block errors would soon displace all other events.
    block_error: Option<Notable>,
}

impl NotableEvents {
    pub fn count(&self, kind: NotableKind) -> u64 {
        self.counts[kind as usize]
    }

    /// The last events in order of time.
    pub fn last(&self) -> impl Iterator<Item = &Notable> {
        let position = |error: &Notable| self.last.partition_point(|event| event.at <= error.at);
        let split = self.block_error.as_ref().map_or(self.last.len(), position);
        self.last.range(..split).chain(&self.block_error).chain(self.last.range(split..))
    }

    /// Records an event. `owner` returns the UE of a connection.
    pub fn record(&mut self, at: Time, event: &TraceEvent, owner: impl Fn(ConnectionId) -> Option<UeId>) {
        let Some((kind, ue)) = classified(event, owner) else { return };
        self.counts[kind as usize] += 1;
        let notable = Notable { at, kind, ue, event: *event };
        if kind == NotableKind::BlockError {
            self.block_error = Some(notable);
            return;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(notable);
    }
}

/// The kind of an event and its UE, if it is notable.
#[inline]
fn classified(
    event: &TraceEvent,
    owner: impl Fn(ConnectionId) -> Option<UeId>,
) -> Option<(NotableKind, Option<UeId>)> {
    Some(match *event {
        TraceEvent::RtoExpired { connection, .. } => (NotableKind::Timeout, owner(connection)),
        // No loss: the packet was not needed, or the proxy has its content.
        TraceEvent::PacketDropped { place: DropPlace::NoConnection | DropPlace::ProxyHidden, .. } => {
            return None;
        }
        TraceEvent::PacketDropped { packet, .. } => (NotableKind::Loss, Some(packet.ue)),
        TraceEvent::SduDiscarded { ue, .. }
        | TraceEvent::SduLost { ue, .. }
        | TraceEvent::HandoverLost { ue, .. } => (NotableKind::Loss, Some(ue)),
        TraceEvent::BlocksReceived { ue, errors, .. } if errors > 0 => (NotableKind::BlockError, Some(ue)),
        TraceEvent::RrcSwitch { ue, .. } | TraceEvent::Handover { ue, .. } => (NotableKind::Switch, Some(ue)),
        _ => return None,
    })
}

fn text(event: &TraceEvent) -> String {
    match *event {
        TraceEvent::RtoExpired { connection, .. } => {
            format!("The retransmission timer of connection {} expired", connection.0)
        }
        TraceEvent::PacketDropped { place, packet } => {
            format!("A packet ({}) was lost: {}", packet.direction().name(), reason(place))
        }
        TraceEvent::SduDiscarded { direction, .. } => {
            format!("RLC discarded an SDU ({})", direction.name())
        }
        TraceEvent::SduLost { direction, .. } => format!("The radio lost an SDU ({})", direction.name()),
        TraceEvent::HandoverLost { cell, .. } => {
            format!("SDUs were lost with the buffer of cell {cell} at a handover")
        }
        TraceEvent::BlocksReceived { direction, channel, blocks, errors, .. } => {
            let (name, direction) = (channel.name().0, direction.name());
            format!("{errors} of {blocks} blocks were lost on the {name} ({direction})")
        }
        TraceEvent::RrcSwitch { from, to, .. } if from == to => {
            format!("A switch to another DCH in {} begins", to.name())
        }
        TraceEvent::RrcSwitch { from, to, .. } => {
            format!("A switch from {} to {} begins", from.name(), to.name())
        }
        TraceEvent::Handover { from, to, .. } => format!("A handover from cell {from} to cell {to} begins"),
        _ => String::new(),
    }
}

fn reason(place: DropPlace) -> String {
    match place {
        DropPlace::LinkQueue(link) => format!("the queue of link {link} dropped it"),
        DropPlace::LinkLoss(link) => format!("link {link} lost it"),
        DropPlace::LinkDown(link) => format!("link {link} is down"),
        DropPlace::Script => "the scenario drops it".to_owned(),
        DropPlace::RlcBuffer => "the RLC transmission buffer is full".to_owned(),
        DropPlace::FlatLoss => "the radio lost it".to_owned(),
        DropPlace::ErroneousSdu | DropPlace::Checksum => "it has bit errors".to_owned(),
        DropPlace::NoConnection => "its connection is over".to_owned(),
        DropPlace::ProxyDown => "the proxy is down".to_owned(),
        DropPlace::ProxyHidden => "the proxy suppressed it".to_owned(),
    }
}
