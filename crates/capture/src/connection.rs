//! One TCP connection, reconstructed from its packets: the handshake, the position of the capture
//! point, and the data of both ends ([`HalfConnection`]).
//!
//! The delays of the handshake show where the capture was taken: an end that answers at once is
//! near the capture point.

use std::net::SocketAddr;

use umts_units::{Duration, Time};

use crate::clock::BusyClock;
use crate::ends::Ends;
use crate::half_connection::{AnnouncedWindow, ClassifiedSegment, HalfConnection, Path};
use crate::holes::REORDERING;
use crate::listing::BeforePacket;
use crate::packet::{Options, Packet, Segment};
use crate::timeseq::Watcher;
use crate::totals::Totals;

/// Where a capture was taken, relative to the sender of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// At the sender or near it: round-trip times and the outstanding window are the sender's own.
    Sender,
    /// At the receiver or near it: round-trip times lack the path, and the outstanding window lacks
    /// the data on the path.
    Receiver,
    /// Neither end is clearly nearer.
    Between,
    /// Unknown, because the capture has no complete handshake.
    Unknown,
}

impl Position {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Position::Sender => "sender",
            Position::Receiver => "receiver",
            Position::Between => "between",
            Position::Unknown => "unknown",
        }
    }
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

/// Answer delay up to which an end is at the capture point if the other end takes longer.
const NEAR: Duration = Duration::from_millis(1);
/// An end is near the capture point if the other end takes at least `MUCH_FARTHER` times as long to
/// answer.
const MUCH_FARTHER: u64 = 4;

/// Octets of the timestamp option with its padding (RFC 7323, appendix A).
const TIMESTAMP_OCTETS: u32 = 12;

/// A connection, open or closed.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pub number: u64,
    pub ends: Ends,
    /// Whether the client is the first of `ends`.
    client_is_first: bool,
    /// The client's data, and the server's data.
    halves: [HalfConnection; 2],
    /// The last SYN of each end.
    syn: [Option<CapturedSyn>; 2],
    syn_was_repeated: bool,
    /// Delay from SYN to SYN+ACK, and from SYN+ACK to its acknowledgment.
    answer_delays: [Option<Duration>; 2],
    /// Time of the first packet.
    pub first: Time,
    /// Time of the last packet.
    pub last: Time,
    /// Whether a reset ended the connection.
    pub reset: bool,
    /// When both ends had finished, or one had reset the connection.
    pub closed: Option<Time>,
    /// How long the same pair of hosts and server port had no connection before this one.
    pub idle_before: Duration,
    /// The round-trip time of the handshake. Cached, like the next two fields, because each packet
    /// needs it.
    shortest: Option<Duration>,
    /// Shifts of the windows that the client and the server announce.
    shift: [u8; 2],
    /// Whether both shifts are known.
    is_scaled: bool,
    /// TEIDs of the GTP-U tunnels that last carried packets of the client and of the server.
    pub teid: [Option<u32>; 2],
    /// Number of packets with sequence space, whose copies [`is_copy`](Self::is_copy) recognises
    /// with certainty.
    sequenced: u32,
    /// Number of copies of such packets and of packets with an IP identification.
    copies: u32,
}

/// A SYN or SYN+ACK.
#[derive(Debug, Clone, Copy)]
struct CapturedSyn {
    at: Time,
    options: Options,
}

/// Result of [`Connection::packet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Accepted,
    /// The packet's acknowledgment or reset cannot belong to the connection.
    Rejected,
}

/// Effect of a packet on a connection, for the tables of its packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PacketEffect {
    pub from: Side,
    pub sent: Option<ClassifiedSegment>,
    /// Acknowledgment of the other side's data.
    pub ack: Option<i64>,
    pub sack: Vec<(i64, i64)>,
    /// The window that the packet announces.
    pub window: AnnouncedWindow,
    /// Duplicate acknowledgments of the other side's data in a row, with this packet.
    pub duplicates: u32,
}

impl Connection {
    /// Creates the connection that begins with `packet`.
    pub fn new(number: u64, now: Time, packet: &Packet) -> Self {
        let Packet { ends, is_from_first, segment, .. } = packet;
        let (source, destination) = if *is_from_first { (ends.0, ends.1) } else { (ends.1, ends.0) };
        let is_from_client = match (segment.flags.syn(), segment.flags.ack()) {
            (true, is_answer) => !is_answer,
            // Without a handshake, the end with the lower port is taken for the server.
            (false, _) => source.port() >= destination.port(),
        };
        Connection {
            number,
            ends: *ends,
            client_is_first: is_from_client == *is_from_first,
            halves: Default::default(),
            syn: [None; 2],
            syn_was_repeated: false,
            answer_delays: [None; 2],
            first: now,
            last: now,
            reset: false,
            closed: None,
            idle_before: Duration::ZERO,
            shortest: None,
            shift: [0; 2],
            is_scaled: false,
            teid: [None; 2],
            sequenced: 0,
            copies: 0,
        }
    }

    /// Returns the sender of `packet`.
    pub fn side_of(&self, packet: &Packet) -> Side {
        if packet.is_from_first == self.client_is_first { Side::Client } else { Side::Server }
    }

    /// Returns address and port of an end.
    pub fn address(&self, side: Side) -> SocketAddr {
        let is_first = (side == Side::Client) == self.client_is_first;
        if is_first { self.ends.0 } else { self.ends.1 }.socket_address()
    }

    /// Returns the direction in which this end sends.
    pub fn half(&self, side: Side) -> &HalfConnection {
        &self.halves[side as usize]
    }

    /// Returns whether packets of only one end were seen.
    pub fn is_one_sided(&self) -> bool {
        !self.halves.iter().all(HalfConnection::has_packets)
    }

    /// Returns whether `packet` opens another connection between the same ports.
    pub fn is_succeeded_by(&self, packet: &Packet) -> bool {
        let (side, segment) = (self.side_of(packet), &packet.segment);
        let known = self.half(side).isn;
        match (segment.flags.syn(), segment.flags.ack()) {
            (false, _) => false,
            // The second SYN of a simultaneous open, or a SYN that is captured after its SYN+ACK.
            (true, false) if !self.half(side).has_packets() && self.half(side.other()).isn.is_some() => false,
            // A SYN with another number, or the first SYN of a connection that was captured without
            // a handshake.
            (true, false) => known != Some(segment.seq),
            (true, true) => known.is_some_and(|isn| isn != segment.seq) && self.closed.is_some(),
        }
    }

    /// Returns whether a packet is a copy of an equal packet that came `age` earlier. With an IP
    /// identification it always is. Without one, a segment with sequence space is a copy if `age`
    /// is shorter than a round trip. A pure acknowledgment may be repeated at once, so it is a copy
    /// only if at least half of the segments with sequence space come twice.
    #[cold]
    pub fn is_copy(&mut self, age: Duration, segment: &Segment) -> bool {
        let is_decisive = segment.identification != 0 || segment.sequence_length() > 0;
        let others_are_copied = self.copies > 0 && 2 * self.copies >= self.sequenced;
        let is_within_a_round_trip = self.shortest.is_none_or(|shortest| age < shortest);
        let is_copy =
            segment.identification != 0 || others_are_copied || (is_decisive && is_within_a_round_trip);
        self.copies = self.copies.saturating_add(u32::from(is_copy && is_decisive));
        is_copy
    }

    /// Processes the next packet, and reports it to `watcher`.
    pub fn packet(
        &mut self,
        now: Time,
        packet: &Packet,
        watcher: Option<Watcher<'_>>,
        busy_clock: &mut BusyClock,
    ) -> Acceptance {
        let (from, segment) = (self.side_of(packet), &packet.segment);
        self.last = now;
        let before = watcher.is_some().then(|| BeforePacket::of(self, from, segment));
        if !self.is_believable(from, segment) {
            self.halves[from as usize].count(segment);
            if let Some((watcher, before)) = watcher.zip(before) {
                watcher.record_rejected(now, from, segment, &before);
            }
            return Acceptance::Rejected;
        }
        self.sequenced = self.sequenced.saturating_add(u32::from(segment.sequence_length() > 0));
        if packet.teid.is_some() {
            self.teid[from as usize] = packet.teid;
        }
        if segment.flags.syn() || self.answer_delays[1].is_none() {
            self.process_handshake(now, from, segment);
        }
        let mut ack = None;
        let mut sack = Vec::new();
        let window = AnnouncedWindow {
            octets: self.window(from, segment),
            is_scaled: self.is_scaled || segment.flags.syn(),
        };
        if segment.flags.ack() && !segment.flags.rst() {
            let shortest = self.shortest;
            let other = &mut self.halves[from.other() as usize];
            ack = other.acked(now, segment, window, shortest, busy_clock);
            if watcher.is_some() {
                sack.extend(other.sack_blocks(segment));
            }
        }
        self.halves[from as usize].counters.ecn_marks += u64::from(packet.is_marked);
        let sender_delay = self.answer_delays[answer_index(from)].unwrap_or_default();
        let path = Path { shortest: self.shortest, sender_delay };
        let sent = self.halves[from as usize].sent(now, segment, path, busy_clock);
        self.reset |= segment.flags.rst();
        let is_closed = self.reset || self.halves.iter().all(|half| half.fin_acked);
        if is_closed && self.closed.is_none() {
            self.closed = Some(now);
            for half in &mut self.halves {
                half.close(now, busy_clock);
            }
        }
        if let Some((watcher, before)) = watcher.zip(before) {
            let duplicates = self.halves[from.other() as usize].duplicates_in_row();
            let effect = PacketEffect { from, sent, ack, sack, window, duplicates };
            watcher.record(now, segment, &before, &effect);
        }
        Acceptance::Accepted
    }

    /// Returns whether the acknowledgment or reset can belong to this connection.
    #[inline]
    fn is_believable(&mut self, from: Side, segment: &Segment) -> bool {
        match (segment.flags.rst(), segment.flags.ack()) {
            (true, _) => self.halves[from as usize].may_reset(segment),
            (false, true) => self.halves[from.other() as usize].may_be_acknowledged(segment),
            (false, false) => true,
        }
    }

    /// Returns the time from SYN to the acknowledgment of the SYN+ACK. This is a whole round trip
    /// wherever the capture was taken. `None` if a SYN was repeated.
    pub fn handshake_rtt(&self) -> Option<Duration> {
        let [to_server, to_client] = self.answer_delays;
        (!self.syn_was_repeated).then_some(to_server? + to_client?)
    }

    /// Returns the end that sent more data, which the metrics describe.
    pub fn sender(&self) -> Side {
        let bytes = |half: &HalfConnection| half.counters.sent_once.max(half.counters.acknowledged);
        if bytes(&self.halves[0]) > bytes(&self.halves[1]) { Side::Client } else { Side::Server }
    }

    /// Returns where the capture was taken, by the answer delays of the handshake.
    pub fn position(&self) -> Position {
        let ([Some(to_server), Some(to_client)], false) = (self.answer_delays, self.syn_was_repeated) else {
            return Position::Unknown;
        };
        let (sender, receiver) = match self.sender() {
            Side::Client => (to_client, to_server),
            Side::Server => (to_server, to_client),
        };
        if is_much_farther(receiver, sender) || (sender <= NEAR && NEAR < receiver) {
            Position::Sender
        } else if is_much_farther(sender, receiver) || (receiver <= NEAR && NEAR < sender) {
            Position::Receiver
        } else {
            Position::Between
        }
    }

    /// Returns the options of an end's SYN.
    pub fn options(&self, side: Side) -> Option<&Options> {
        self.syn[side as usize].as_ref().map(|syn| &syn.options)
    }

    /// Returns the shift of the windows that an end announces. `None` without a SYN of both ends.
    pub fn window_scale(&self, side: Side) -> Option<u8> {
        let both = self.options(Side::Client)?.window_scale.zip(self.options(Side::Server)?.window_scale);
        Some(both.map_or(0, |(client, server)| if side == Side::Client { client } else { server }))
    }

    /// Returns whether both ends permit selective acknowledgments. `None` without a SYN of both
    /// ends.
    pub fn is_sack_permitted(&self) -> Option<bool> {
        Some(self.options(Side::Client)?.sack_permitted && self.options(Side::Server)?.sack_permitted)
    }

    /// Returns the payload of a full segment of an end: the smaller of both announced sizes, less
    /// the timestamps that each segment carries. Without a handshake, it is the largest payload
    /// seen.
    pub fn segment_size(&self, side: Side) -> Option<u32> {
        let mss = |side| self.options(side).and_then(|options| options.mss).filter(|&mss| mss > 0);
        let smaller = [mss(Side::Client), mss(Side::Server)].into_iter().flatten().min();
        let has_timestamps = [Side::Client, Side::Server]
            .iter()
            .all(|&side| self.options(side).is_some_and(|options| options.timestamps.is_some()));
        let option_octets = if has_timestamps { TIMESTAMP_OCTETS } else { 0 };
        let announced = smaller.map(|mss| u32::from(mss).saturating_sub(option_octets));
        let largest = self.half(side).counters.largest_segment;
        announced.filter(|&size| size > 0).or(Some(largest).filter(|&size| size > 0))
    }

    /// Completes the sums until `now`, when the connection is removed or the capture ends.
    pub fn close(&mut self, now: Time, busy_clock: &mut BusyClock) -> Totals {
        for half in &mut self.halves {
            half.close(now, busy_clock);
        }
        Totals::of(self)
    }

    /// Returns the announced window, in octets if its shift is known.
    fn window(&self, from: Side, segment: &Segment) -> u32 {
        let shift = if segment.flags.syn() { 0 } else { self.shift[from as usize] };
        u32::from(segment.window) << shift
    }

    /// Processes a packet of the handshake: a SYN, a SYN+ACK, or the packet that may acknowledge
    /// the SYN+ACK.
    fn process_handshake(&mut self, now: Time, from: Side, segment: &Segment) {
        if segment.flags.syn() {
            let index = from as usize;
            self.syn_was_repeated |= self.syn[index].is_some();
            self.syn[index] = Some(CapturedSyn { at: now, options: segment.options });
            self.halves[from.other() as usize].is_answered = true;
            if let [Some(syn), Some(syn_ack)] = self.syn {
                let is_in_order = from == Side::Server;
                // A SYN may be captured after its SYN+ACK if each direction has a queue of its own.
                let is_reordered =
                    syn.at.saturating_since(syn_ack.at) <= REORDERING && self.answer_delays[0].is_none();
                if is_in_order || is_reordered {
                    self.answer_delays[0] = Some(syn_ack.at.saturating_since(syn.at));
                }
            }
        } else if from == Side::Client
            && self.answer_delays[1].is_none()
            && let Some(syn_ack) = self.syn[Side::Server as usize]
        {
            self.answer_delays[1] = Some(now.saturating_since(syn_ack.at));
        }
        self.shortest = self.handshake_rtt();
        self.shift = [Side::Client, Side::Server].map(|side| self.window_scale(side).unwrap_or(0));
        self.is_scaled = self.window_scale(Side::Client).is_some();
        let sack_permitted = self.is_sack_permitted();
        for half in &mut self.halves {
            half.sack_permitted = sack_permitted;
        }
    }
}

/// Whether one end is so much farther from the capture point than the other that the point is at
/// the near end.
fn is_much_farther(far: Duration, near: Duration) -> bool {
    near.as_nanos() <= far.as_nanos() / MUCH_FARTHER
}

/// Index of the delay of an end in `answer_delays`: the server answers the SYN, the client the
/// SYN+ACK.
fn answer_index(side: Side) -> usize {
    match side {
        Side::Server => 0,
        Side::Client => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `umts analyse --help` and docs/limitations.md state the memory of a connection: 4 kB with
    /// its segments in flight.
    #[test]
    fn connection_size_is_within_the_documented_memory() {
        let octets = size_of::<Connection>();
        assert!((2_000..3_600).contains(&octets), "{octets} octets");
    }
}
