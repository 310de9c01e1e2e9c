//! State of one direction of a connection for the time budget: written, sent and acknowledged data,
//! windows, arrivals, and the positions of segments in the network. From this state the budget
//! finds the packet for which the connection waits, and the window that holds back unsent data.
//!
//! Sequence numbers count bytes of the direction. The SYN has number 0, the first payload byte 1.

use umts_stack::ids::PacketId;
use umts_stack::packet::Segment;
use umts_units::Time;

use super::cause::Cause;
use super::loss::Loss;

/// Number of the first payload byte. Number 0 is the SYN.
const FIRST_BYTE: u64 = 1;

/// Position of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// In the fixed network. The packet would leave an empty network at this time.
    Core(Time),
    /// In RLC, below it, or on the air.
    Radio,
    /// Lost.
    Lost(Loss),
}

/// A segment that has left its sender and has not arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentInTransit {
    pub packet: PacketId,
    /// First sequence number.
    seq: u64,
    /// Sequence number after the last one.
    end: u64,
    /// Acknowledgment number.
    ack: u64,
    /// Where the segment is, or that it was lost.
    pub place: Position,
}

impl SegmentInTransit {
    /// Whether the segment is not lost.
    pub fn is_alive(&self) -> bool {
        !matches!(self.place, Position::Lost(_))
    }

    /// Whether the segment is on its way, although all its data has arrived in another copy: all
    /// data below `rcv_next` has arrived.
    pub fn is_needless(&self, rcv_next: u64) -> bool {
        self.is_alive() && self.seq < self.end && self.end <= rcv_next
    }

    /// Whether the segment contains this sequence number.
    fn carries(&self, number: u64) -> bool {
        self.seq <= number && number < self.end
    }
}

#[derive(Debug)]
pub(super) struct DirectionState {
    pub is_established: bool,
    /// Sequence number after the last byte written by the application.
    written: u64,
    /// Sequence number after the highest one sent.
    pub max_sent: u64,
    /// The oldest number that is not acknowledged (SND.UNA, RFC 9293 §3.3.1).
    pub una: u64,
    /// The next number that the receiver expects (RCV.NXT, RFC 9293 §3.3.1).
    pub rcv_next: u64,
    /// Sequence number of the FIN.
    fin: Option<u64>,
    /// Congestion window and slow start threshold in segments.
    cwnd: f64,
    ssthresh: f64,
    /// Window that the peer advertises, in bytes.
    peer_window: u64,
    /// Payload of a full segment, in bytes.
    mss: u32,
    /// The congestion window before a spurious timeout, while the window is still smaller.
    cwnd_before_spurious: Option<f64>,
    /// Segments in the order in which they left. A lost segment stays until its data has arrived.
    in_transit: Vec<SegmentInTransit>,
    /// The last loss of a segment of this direction, if no segment has arrived since: the
    /// acknowledgment in the lost segment is then missing at the other end.
    pub lost_ack: Option<Loss>,
    /// Time at which a packet last left this sender or reached it.
    pub last_active: Time,
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
            in_transit: Vec::new(),
            lost_ack: None,
            last_active: now,
            syn_at_proxy: None,
        }
    }

    /// The application wrote data.
    pub fn wrote(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    /// Sets the congestion window and the slow start threshold, in segments. A spurious timeout has
    /// no more effect when the window has reached its earlier value or the threshold.
    pub fn window(&mut self, cwnd: f64, ssthresh: f64) {
        (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        self.cwnd_before_spurious =
            self.cwnd_before_spurious.filter(|before| cwnd < *before && cwnd < ssthresh);
    }

    /// The retransmission timer expired. Call before the change of the window. `is_needed`: whether
    /// the timeout is known to be needed, so not spurious.
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

    /// A segment left the sender. It is at `place`.
    pub fn sent(&mut self, packet: PacketId, segment: &Segment, place: Position) {
        if self.max_sent == 0 && segment.seq == FIRST_BYTE && segment.sequence_length() > 0 {
            // A flow without a SYN begins with the first payload byte.
            (self.una, self.rcv_next) = (FIRST_BYTE, FIRST_BYTE);
        }
        if segment.sequence_length() > 0 {
            self.max_sent = self.max_sent.max(segment.end());
        }
        self.in_transit.push(SegmentInTransit {
            packet,
            seq: segment.seq,
            end: segment.end(),
            ack: segment.ack,
            place,
        });
    }

    /// A segment moved to another part of the network.
    pub fn moved(&mut self, packet: PacketId, place: Position) {
        if let Some(segment) = self.in_transit.iter_mut().find(|segment| segment.packet == packet) {
            segment.place = place;
        }
    }

    /// A segment was lost. One without data is removed, because it is not retransmitted.
    pub fn lost(&mut self, packet: PacketId, loss: Loss) {
        let Some(at) = self.in_transit.iter().position(|segment| segment.packet == packet) else { return };
        if self.in_transit[at].seq == self.in_transit[at].end {
            self.in_transit.remove(at);
        } else {
            self.in_transit[at].place = Position::Lost(loss);
        }
        self.lost_ack = Some(loss);
    }

    /// Forgets lost segments, because no further copy will be sent.
    pub fn forget_lost(&mut self) {
        self.in_transit.retain(SegmentInTransit::is_alive);
    }

    /// A segment arrived. It brought `delivered` bytes of payload into order.
    pub fn arrived(&mut self, packet: PacketId, segment: &Segment, delivered: u64) {
        self.in_transit.retain(|segment| segment.packet != packet);
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
        self.in_transit.retain(|segment| segment.is_alive() || segment.end > next);
    }

    /// All numbers below `una` were acknowledged.
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
    pub fn copies(&self, number: u64) -> impl Iterator<Item = &SegmentInTransit> {
        self.in_transit.iter().filter(move |segment| segment.carries(number))
    }

    /// Whether a copy of data that has already arrived was sent before `packet` and is in the same
    /// part of the network.
    pub fn has_needless_ahead(&self, packet: PacketId) -> bool {
        let Some(at) = self.in_transit.iter().position(|segment| segment.packet == packet) else {
            return false;
        };
        let is_radio = |place: Position| matches!(place, Position::Radio);
        let on_radio = is_radio(self.in_transit[at].place);
        self.in_transit[..at]
            .iter()
            .any(|segment| segment.is_needless(self.rcv_next) && is_radio(segment.place) == on_radio)
    }

    /// The first packet on its way that acknowledges more than `una`.
    pub fn first_ack_beyond(&self, una: u64) -> Option<&SegmentInTransit> {
        self.in_transit.iter().find(|segment| segment.is_alive() && segment.ack > una)
    }

    /// Whether no packet of the handshake is on the way, except possibly a SYN that a proxy holds.
    pub fn is_silent_in_handshake(&self) -> bool {
        self.in_transit.iter().all(|segment| !segment.is_alive() || Some(segment.packet) == self.syn_at_proxy)
    }

    /// The first packet on its way.
    pub fn first_alive(&self) -> Option<&SegmentInTransit> {
        self.in_transit.iter().find(|segment| segment.is_alive())
    }

    /// The first packet with data on the radio.
    pub fn first_data_on_radio(&self) -> Option<&SegmentInTransit> {
        self.in_transit.iter().find(|segment| segment.place == Position::Radio && segment.seq < segment.end)
    }

    /// The window that holds back unsent data. `None` if there is no unsent data, or no window
    /// limits it.
    pub fn limiting_window(&self) -> Option<Cause> {
        if self.unsent() == 0 {
            return None;
        }
        // All windows in bytes. The window must hold the data in flight and the next segment.
        let next_segment = self.unsent().min(u64::from(self.mss));
        let needed_window = (self.max_sent - self.una).saturating_add(next_segment);
        let congestion_window = self.cwnd.floor().max(1.0) * f64::from(self.mss);
        let advertised_window = self.peer_window as f64;
        if needed_window as f64 <= congestion_window.min(advertised_window) {
            None
        } else if advertised_window <= congestion_window {
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
