//! The packets of a connection one by one, for a ladder of arrows between its ends. Only a range of
//! them is kept, so memory does not grow with the capture.

use umts_units::Time;

use crate::cause::Cause;
use crate::connection::{Connection, PacketEffect, Side};
use crate::half_connection::AnnouncedWindow;
use crate::packet::{Flags, Segment};

/// First packet of a listing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ListingStart {
    /// The packet with this number. The first packet of the connection has number 1.
    Packet(u64),
    /// The first packet at this time or later, in seconds since the connection's first packet.
    Time(f64),
}

/// The packets that are listed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListingRange {
    /// Number of the connection.
    pub connection: u64,
    /// The first packet.
    pub start: ListingStart,
    /// Maximum number of packets.
    pub most: usize,
}

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// Data, SYN or FIN. The cause says whether it is a retransmission.
    Data(Cause),
    /// Only an acknowledgment.
    Ack,
    /// An acknowledgment that repeats the last one while data are outstanding (RFC 5681 §2). Its
    /// number in a row of duplicates, from 1.
    DuplicateAck(u32),
    /// A keep-alive (RFC 9293 §3.8.4).
    KeepAlive,
    /// A probe of a closed window (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// A reset.
    Reset,
    /// Its acknowledgment or its numbers cannot belong to the connection.
    NotBelieved,
}

impl PacketKind {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            PacketKind::Data(cause) if cause.is_retransmission() => "retransmission",
            PacketKind::Data(_) => "data",
            PacketKind::Ack => "ack",
            PacketKind::DuplicateAck(_) => "duplicate_ack",
            PacketKind::KeepAlive => "keep_alive",
            PacketKind::WindowProbe => "window_probe",
            PacketKind::Reset => "reset",
            PacketKind::NotBelieved => "not_believed",
        }
    }

    /// Returns the name of the cause of a retransmission.
    pub fn retransmission_cause(self) -> Option<&'static str> {
        match self {
            PacketKind::Data(cause) if cause.is_retransmission() => Some(cause.name()),
            _ => None,
        }
    }

    /// Returns the number of a duplicate acknowledgment in its row of duplicates, from 1.
    pub fn duplicates_in_row(self) -> Option<u32> {
        match self {
            PacketKind::DuplicateAck(number) => Some(number),
            _ => None,
        }
    }

    fn is_retransmission(self) -> bool {
        self.retransmission_cause().is_some()
    }
}

/// A packet of the connection. Numbers count octets from the first octet of payload of the end that
/// sent them. They are relative to the end's SYN or, if it was not captured, to the first number
/// that the capture shows of this end.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPacket {
    /// Number of the packet in the connection, from 1. Copies of a packet are not counted.
    pub number: u64,
    /// Seconds since the first packet of the connection.
    pub time_s: f64,
    /// Whether the client sent it.
    pub is_from_client: bool,
    /// Names of the flags that are set, in the order of Wireshark, such as `SYN, ACK`.
    pub flags: String,
    /// Sequence number.
    pub seq: i64,
    /// Octets of payload, without SYN and FIN.
    pub payload: u32,
    /// Acknowledgment number, if the ACK flag is set.
    pub ack: Option<i64>,
    /// The field of the header.
    pub window_field: u16,
    /// The window in octets. `None` if its scale is unknown, because a SYN was not captured.
    pub window: Option<u32>,
    /// Start and end of the selective acknowledgments.
    pub sack: Vec<(i64, i64)>,
    /// What the packet is for.
    pub kind: PacketKind,
}

/// Packets of a connection.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PacketListing {
    /// The packets in the range.
    pub packets: Vec<ListedPacket>,
    /// Number of packets of the connection.
    pub count: u64,
    /// Number of retransmissions among all packets.
    pub retransmissions: u64,
    /// Number of duplicate acknowledgments among all packets.
    pub duplicate_acks: u64,
    /// Number of the last retransmission before the range.
    pub retransmission_before: Option<u64>,
    /// Number of the first retransmission after the range.
    pub retransmission_after: Option<u64>,
}

/// Facts about a packet that change when the connection processes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeforePacket {
    /// Unwrapped sequence number and acknowledgment number.
    seq: u64,
    ack: u64,
    is_keep_alive: bool,
    is_window_probe: bool,
    /// Duplicate acknowledgments in a row.
    duplicates: u32,
}

impl BeforePacket {
    /// Reads the facts about the next packet of a connection.
    pub fn of(connection: &Connection, from: Side, segment: &Segment) -> Self {
        let (own, other) = (connection.half(from), connection.half(from.other()));
        let (is_keep_alive, is_window_probe) = own.is_probe(segment);
        BeforePacket {
            seq: own.unwrap(segment.seq),
            ack: other.unwrap(segment.ack),
            is_keep_alive,
            is_window_probe,
            duplicates: other.duplicates_in_row(),
        }
    }
}

/// Collects the packets of a connection that are in a range.
#[derive(Debug)]
pub(crate) struct PacketCollector {
    range: ListingRange,
    first: Option<Time>,
    /// Numbers of the first octet of payload of the client and of the server.
    base: [Option<u64>; 2],
    listing: PacketListing,
}

impl PacketCollector {
    pub fn new(range: ListingRange) -> Self {
        PacketCollector { range, first: None, base: [None; 2], listing: PacketListing::default() }
    }

    pub fn connection(&self) -> u64 {
        self.range.connection
    }

    /// Adds a packet of an end. `effect` is `None` if the connection has rejected it.
    pub fn record(
        &mut self,
        now: Time,
        from: Side,
        segment: &Segment,
        before: &BeforePacket,
        effect: Option<&PacketEffect>,
    ) {
        let time_s = now.saturating_since(*self.first.get_or_insert(now)).as_secs();
        let is_syn = u64::from(segment.flags.syn());
        // The number of a SYN takes precedence over numbers that were captured before it.
        let own_base = &mut self.base[from as usize];
        if own_base.is_none() || segment.flags.syn() {
            *own_base = Some(before.seq + is_syn);
        }
        let has_ack = segment.flags.ack();
        if has_ack {
            self.base[from.other() as usize].get_or_insert(before.ack);
        }
        if effect.is_some_and(|effect| effect.sent.is_some_and(|sent| sent.revokes_probe)) {
            self.revoke_probe(from);
        }
        let kind = kind(segment, before, effect);
        self.listing.count += 1;
        let number = self.listing.count;
        self.listing.retransmissions += u64::from(kind.is_retransmission());
        self.listing.duplicate_acks += u64::from(matches!(kind, PacketKind::DuplicateAck(_)));
        let has_begun = match self.range.start {
            ListingStart::Packet(start) => number >= start,
            ListingStart::Time(start_s) => !self.listing.packets.is_empty() || time_s >= start_s,
        };
        if !has_begun {
            if kind.is_retransmission() {
                self.listing.retransmission_before = Some(number);
            }
        } else if self.listing.packets.len() >= self.range.most {
            if kind.is_retransmission() {
                self.listing.retransmission_after.get_or_insert(number);
            }
        } else {
            let relative = |number: u64, side: Side| {
                number.wrapping_sub(self.base[side as usize].unwrap_or(number)) as i64
            };
            let window = effect.map(|effect| effect.window);
            self.listing.packets.push(ListedPacket {
                number,
                time_s,
                is_from_client: from == Side::Client,
                flags: flag_names(segment.flags),
                seq: relative(before.seq, from),
                payload: segment.payload,
                ack: has_ack.then(|| relative(before.ack, from.other())),
                window_field: segment.window,
                window: window.and_then(AnnouncedWindow::known_octets),
                sack: sack(segment, relative(before.ack, from.other())),
                kind,
            });
        }
    }

    /// Changes the cause of the last probe of an end, which an expiry sent.
    fn revoke_probe(&mut self, from: Side) {
        let is_probe = |packet: &&mut ListedPacket| {
            packet.is_from_client == (from == Side::Client) && packet.kind == PacketKind::Data(Cause::Probe)
        };
        if let Some(probe) = self.listing.packets.iter_mut().rev().find(is_probe) {
            probe.kind = PacketKind::Data(Cause::Rto);
        }
    }

    pub fn finish(self) -> PacketListing {
        self.listing
    }
}

/// Returns the selective acknowledgments of a segment. `ack` is its acknowledgment number.
fn sack(segment: &Segment, ack: i64) -> Vec<(i64, i64)> {
    let relative = |number: u32| ack + i64::from(number.wrapping_sub(segment.ack) as i32);
    let blocks = segment.options.sack.as_slice().iter();
    blocks.map(|&(left, right)| (relative(left), relative(right))).collect()
}

/// Returns what a packet is for.
fn kind(segment: &Segment, before: &BeforePacket, effect: Option<&PacketEffect>) -> PacketKind {
    let Some(effect) = effect else { return PacketKind::NotBelieved };
    let is_far_ack = segment.flags.ack() && effect.ack.is_none();
    match effect.sent {
        _ if segment.flags.rst() => PacketKind::Reset,
        Some(sent) => PacketKind::Data(sent.cause),
        None if before.is_keep_alive => PacketKind::KeepAlive,
        None if before.is_window_probe => PacketKind::WindowProbe,
        None if segment.sequence_length() > 0 || is_far_ack => PacketKind::NotBelieved,
        None if effect.duplicates > before.duplicates => PacketKind::DuplicateAck(effect.duplicates),
        None => PacketKind::Ack,
    }
}

/// Returns the names of the flags that are set, from the lowest bit of the header to the highest.
fn flag_names(flags: Flags) -> String {
    let known = [
        (flags.fin(), "FIN"),
        (flags.syn(), "SYN"),
        (flags.rst(), "RST"),
        (flags.psh(), "PSH"),
        (flags.ack(), "ACK"),
        (flags.urg(), "URG"),
        (flags.ece(), "ECE"),
        (flags.cwr(), "CWR"),
    ];
    let names: Vec<_> = known.into_iter().filter_map(|(is_set, name)| is_set.then_some(name)).collect();
    names.join(", ")
}
