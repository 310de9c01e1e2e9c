//! State of one direction of a connection: written, sent and acknowledged data, windows, arrivals,
//! and the positions of segments in the network.

use umts_stack::ids::PacketId;
use umts_stack::packet::Segment;
use umts_units::Time;

use super::cause::Cause;
use super::loss::Loss;

/// Number of the first payload byte. Number 0 is the SYN.
const FIRST_BYTE: u64 = 1;

/// Position of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the fixed network. The packet would leave an empty network at this time.
    Core(Time),
    /// In RLC, below it, or on the air.
    Radio,
    /// Lost.
    Lost(Loss),
}

/// A segment that has left its sender and has not arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flying {
    pub packet: PacketId,
    seq: u64,
    end: u64,
    ack: u64,
    pub place: Place,
}

impl Flying {
    pub fn is_alive(&self) -> bool {
        !matches!(self.place, Place::Lost(_))
    }

    /// Whether all its data has arrived in another copy.
    fn is_needless(&self, rcv_next: u64) -> bool {
        self.is_alive() && self.seq < self.end && self.end <= rcv_next
    }

    fn carries(&self, number: u64) -> bool {
        self.seq <= number && number < self.end
    }
}

#[derive(Debug)]
pub(super) struct DirectionState {
    pub is_established: bool,
    /// Numbers: after the last byte written, after the highest sent, the oldest unacknowledged, and
    /// the next to arrive.
    written: u64,
    pub max_sent: u64,
    pub una: u64,
    pub rcv_next: u64,
    fin: Option<u64>,
    cwnd: f64,
    ssthresh: f64,
    peer_window: u64,
    mss: u32,
    /// The congestion window before a spurious timeout, while the window is still smaller.
    cwnd_before_spurious: Option<f64>,
    /// Segments in the order in which they left. A lost segment stays until its data has arrived.
    flying: Vec<Flying>,
    /// The loss of an acknowledgment after which none has arrived.
    pub lost_ack: Option<Loss>,
    /// Time at which a packet last left this sender or reached it.
    pub active: Time,
    /// A SYN that has reached a proxy, which may hold it.
    pub syn_at_proxy: Option<PacketId>,
}

impl DirectionState {
    pub fn new(mss: u32, now: Time) -> Self {
        DirectionState {
            is_established: false,
            written: FIRST_BYTE,
            max_sent: 0,
            una: 0,
            rcv_next: 0,
            fin: None,
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            peer_window: u64::MAX,
            mss: mss.max(1),
            cwnd_before_spurious: None,
            flying: Vec::new(),
            lost_ack: None,
            active: now,
            syn_at_proxy: None,
        }
    }

    pub fn wrote(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    pub fn window(&mut self, cwnd: f64, ssthresh: f64) {
        (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        self.cwnd_before_spurious =
            self.cwnd_before_spurious.filter(|before| cwnd < *before && cwnd < ssthresh);
    }

    /// The retransmission timer expired. Call before the change of the window.
    pub fn timed_out(&mut self, is_needed: bool) {
        self.cwnd_before_spurious = (!is_needed).then(|| self.cwnd_before_spurious.unwrap_or(self.cwnd));
    }

    /// A timeout that seemed spurious turned out to be needed.
    pub fn was_needed(&mut self) {
        self.cwnd_before_spurious = None;
    }

    /// The other end advertised its window.
    pub fn set_peer_window(&mut self, bytes: u32) {
        self.peer_window = u64::from(bytes);
    }

    pub fn sent(&mut self, packet: PacketId, segment: &Segment, place: Place) {
        if self.max_sent == 0 && segment.seq == FIRST_BYTE && segment.sequence_length() > 0 {
            // A connection without a SYN.
            (self.una, self.rcv_next) = (FIRST_BYTE, FIRST_BYTE);
        }
        if segment.sequence_length() > 0 {
            self.max_sent = self.max_sent.max(segment.end());
        }
        self.flying.push(Flying { packet, seq: segment.seq, end: segment.end(), ack: segment.ack, place });
    }

    pub fn moved(&mut self, packet: PacketId, place: Place) {
        if let Some(flying) = self.flying.iter_mut().find(|flying| flying.packet == packet) {
            flying.place = place;
        }
    }

    pub fn lost(&mut self, packet: PacketId, loss: Loss) {
        let Some(at) = self.flying.iter().position(|flying| flying.packet == packet) else { return };
        if self.flying[at].seq == self.flying[at].end {
            self.flying.remove(at);
        } else {
            self.flying[at].place = Place::Lost(loss);
        }
        self.lost_ack = Some(loss);
    }

    /// Forgets lost segments, because no further copy will be sent.
    pub fn forget_lost(&mut self) {
        self.flying.retain(Flying::is_alive);
    }

    /// A segment arrived. It brought `delivered` bytes of payload into order.
    pub fn arrived(&mut self, packet: PacketId, segment: &Segment, delivered: u64) {
        self.flying.retain(|flying| flying.packet != packet);
        self.lost_ack = None;
        if segment.flags.syn {
            self.rcv_next = self.rcv_next.max(FIRST_BYTE);
        }
        if delivered > 0 {
            self.rcv_next = self.rcv_next.max(FIRST_BYTE) + delivered;
        }
        if segment.flags.fin {
            self.fin = Some(segment.end() - 1);
        }
        if self.fin == Some(self.rcv_next) {
            self.rcv_next += 1;
        }
        let next = self.rcv_next;
        self.flying.retain(|flying| flying.is_alive() || flying.end > next);
    }

    pub fn acknowledged(&mut self, una: u64) {
        self.una = self.una.max(una);
    }

    /// Number of bytes written but never sent.
    pub fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.max_sent.max(FIRST_BYTE))
    }

    /// Whether the handshake is in progress, from the view of this sender.
    pub fn in_setup(&self) -> bool {
        !self.is_established && self.max_sent <= FIRST_BYTE
    }

    /// The copies of byte `number` that have not arrived.
    pub fn copies(&self, number: u64) -> impl Iterator<Item = &Flying> {
        self.flying.iter().filter(move |flying| flying.carries(number))
    }

    /// Whether a copy of data that has already arrived was sent before `packet` and is in the same
    /// part of the network.
    pub fn has_needless_ahead(&self, packet: PacketId) -> bool {
        let Some(at) = self.flying.iter().position(|flying| flying.packet == packet) else { return false };
        let is_radio = |place: Place| matches!(place, Place::Radio);
        let here = is_radio(self.flying[at].place);
        self.flying[..at]
            .iter()
            .any(|flying| flying.is_needless(self.rcv_next) && is_radio(flying.place) == here)
    }

    /// The first packet on its way that acknowledges more than `una`.
    pub fn first_ack_beyond(&self, una: u64) -> Option<&Flying> {
        self.flying.iter().find(|flying| flying.is_alive() && flying.ack > una)
    }

    /// Whether no packet of the handshake is on the way, except possibly a SYN that a proxy holds.
    pub fn is_held(&self) -> bool {
        self.flying.iter().all(|flying| !flying.is_alive() || Some(flying.packet) == self.syn_at_proxy)
    }

    /// The first packet on its way.
    pub fn first_alive(&self) -> Option<&Flying> {
        self.flying.iter().find(|flying| flying.is_alive())
    }

    /// The window that holds back unsent data. `None` if there is no unsent data, or no window
    /// limits it.
    pub fn limiting_window(&self) -> Option<Cause> {
        if self.unsent() == 0 {
            return None;
        }
        let next = self.unsent().min(u64::from(self.mss));
        let wanted = (self.max_sent - self.una).saturating_add(next);
        let congestion = self.cwnd.floor().max(1.0) * f64::from(self.mss);
        let advertised = self.peer_window as f64;
        if wanted as f64 <= congestion.min(advertised) {
            None
        } else if advertised <= congestion {
            Some(Cause::AdvertisedWindow)
        } else if self.cwnd_before_spurious.is_some() {
            Some(Cause::SlowStartSpurious)
        } else if self.cwnd < self.ssthresh {
            Some(Cause::SlowStart)
        } else {
            Some(Cause::CongestionAvoidance)
        }
    }
}
