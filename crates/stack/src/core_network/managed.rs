//! The queue of a link with CoDel or PIE. Unlike a drop-tail queue, it keeps its packets until they
//! are transmitted, because CoDel decides about a packet only when the packet leaves.

use std::collections::VecDeque;

use umts_units::{Bytes, Time};

use crate::aqm::{Aqm, Choice, ManagedQueue, PacketQueue, QueueLimit};
use crate::packet::Packet;

/// Packets that wait for the transmitter, and the queue management that drops or marks them.
#[derive(Debug, Clone)]
pub(super) struct ManagedLinkQueue {
    aqm: Aqm,
    limit: Option<QueueLimit>,
    waiting: Waiting,
    /// Size of the packet in transmission.
    in_transmission: Option<Bytes>,
}

/// Result of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The packet waits. `is_idle`: the transmitter is free, so a packet can leave now.
    Waits { marked: bool, is_idle: bool },
    /// The queue has no room.
    Full,
    /// Queue management drops the packet.
    Dropped,
}

/// Packets that left the queue at one instant.
#[derive(Debug, Default)]
pub(super) struct Departure {
    /// The packet to transmit.
    pub packet: Option<Packet>,
    /// Whether that packet was marked now.
    pub marked: bool,
    pub dropped: Vec<Packet>,
}

/// The packets that wait, as queue management sees them.
#[derive(Debug, Clone, Default)]
struct Waiting {
    packets: VecDeque<WaitingPacket>,
    octets: Bytes,
    /// Packets that queue management dropped since the last departure.
    dropped: Vec<Packet>,
    /// Number of packets that queue management marked since then.
    marks: u32,
}

#[derive(Debug, Clone)]
struct WaitingPacket {
    /// Time at which the packet entered the queue.
    entered: Time,
    packet: Packet,
}

impl Waiting {
    fn pop(&mut self) -> Option<Packet> {
        let WaitingPacket { packet, .. } = self.packets.pop_front()?;
        self.octets = self.octets - packet.size();
        Some(packet)
    }
}

impl PacketQueue for Waiting {
    fn head_entered(&self) -> Option<Time> {
        self.packets.front().map(|first| first.entered)
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }

    fn octets(&self) -> Bytes {
        self.octets
    }

    fn head_octets(&self) -> Bytes {
        self.packets.front().map_or(Bytes::ZERO, |first| first.packet.size())
    }
}

impl ManagedQueue for Waiting {
    fn drop_head(&mut self) {
        let packet = self.pop();
        self.dropped.extend(packet);
    }

    fn mark_head(&mut self) -> bool {
        let marked = self.packets.front_mut().is_some_and(|first| first.packet.mark());
        self.marks += u32::from(marked);
        marked
    }
}

impl ManagedLinkQueue {
    /// An empty queue. `limit` holds for the packets that wait or are being sent. `None`: unlimited.
    pub fn new(aqm: Aqm, limit: Option<QueueLimit>) -> Self {
        ManagedLinkQueue { aqm, limit, waiting: Waiting::default(), in_transmission: None }
    }

    /// A packet arrives.
    pub fn enqueue(&mut self, now: Time, mut packet: Packet) -> Arrival {
        let size = packet.size();
        let packets = self.waiting.packets.len() + usize::from(self.in_transmission.is_some());
        let octets = self.waiting.octets + self.in_transmission.unwrap_or(Bytes::ZERO);
        if self.limit.is_some_and(|limit| !limit.has_room(packets, octets, size)) {
            return Arrival::Full;
        }
        let marked = match self.aqm.choose(now, size, &self.waiting) {
            Choice::Pass => false,
            Choice::Mark if packet.mark() => true,
            Choice::Mark | Choice::Drop => return Arrival::Dropped,
        };
        self.waiting.packets.push_back(WaitingPacket { entered: now, packet });
        self.waiting.octets += size;
        Arrival::Waits { marked, is_idle: self.in_transmission.is_none() }
    }

    /// The transmitter is free: takes the next packet out.
    pub fn dequeue(&mut self, now: Time) -> Departure {
        self.aqm.dequeue(now, &mut self.waiting);
        let packet = self.waiting.pop();
        self.in_transmission = packet.map(|packet| packet.size());
        let marked = std::mem::take(&mut self.waiting.marks) > 0;
        Departure { packet, marked, dropped: std::mem::take(&mut self.waiting.dropped) }
    }

    /// Octets of the packets that wait.
    pub fn octets(&self) -> Bytes {
        self.waiting.octets
    }

    /// The packets that wait, in order.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.packets.iter().map(|waiting| &waiting.packet)
    }
}
