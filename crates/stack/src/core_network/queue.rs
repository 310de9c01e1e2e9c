//! The length of a drop-tail queue in front of a link: its limit, and the packets and octets that
//! wait or are being sent. The packets themselves are stored elsewhere: the end of each
//! transmission is known when the packet enters, so the queue only counts.

use std::collections::VecDeque;

use umts_units::{Bytes, Time};

use crate::aqm::QueueLimit;

/// A packet in the queue of a transmitter.
#[derive(Debug, Clone, Copy)]
struct QueuedPacket {
    /// End of its transmission.
    ends_at: Time,
    size: Bytes,
}

/// Packets that the transmitter has not finished.
#[derive(Debug, Clone)]
pub(super) struct TransmitQueue {
    limit: QueueLimit,
    /// The last packet, often the only one.
    last: QueuedPacket,
    /// The packets before `last`.
    earlier: VecDeque<QueuedPacket>,
    /// Number of packets, including `last`.
    packets: usize,
    /// Octets of these packets.
    octets: Bytes,
}

impl TransmitQueue {
    /// An empty queue. `None`: unlimited.
    pub fn new(limit: Option<QueueLimit>) -> Self {
        TransmitQueue {
            limit: limit.unwrap_or(QueueLimit::Packets(u32::MAX)),
            last: QueuedPacket { ends_at: Time::ZERO, size: Bytes::ZERO },
            earlier: VecDeque::new(),
            packets: 0,
            octets: Bytes::ZERO,
        }
    }

    /// Adds a packet of `size` whose transmission ends at `ends_at`, after all others. Returns
    /// whether there is room.
    #[inline]
    pub fn add(&mut self, now: Time, ends_at: Time, size: Bytes) -> bool {
        if self.last.ends_at >= now {
            return self.add_behind_others(now, ends_at, size);
        }
        // Usually all earlier packets are finished.
        if self.packets > 1 {
            self.earlier.clear();
        }
        let has_room = self.limit.has_room(0, Bytes::ZERO, size);
        (self.packets, self.octets) = if has_room { (1, size) } else { (0, Bytes::ZERO) };
        if has_room {
            self.last = QueuedPacket { ends_at, size };
        }
        has_room
    }

    /// `add` while other packets are not finished.
    fn add_behind_others(&mut self, now: Time, ends_at: Time, size: Bytes) -> bool {
        self.remove_finished(now);
        let has_room = self.limit.has_room(self.packets, self.octets, size);
        if has_room {
            if self.packets > 0 {
                self.earlier.push_back(self.last);
            }
            self.last = QueuedPacket { ends_at, size };
            self.packets += 1;
            self.octets += size;
        }
        has_room
    }

    #[inline]
    pub fn packets(&self) -> usize {
        self.packets
    }

    #[inline]
    pub fn octets(&self) -> Bytes {
        self.octets
    }

    /// Removes finished packets. A packet that ends exactly at `now` still counts, as in
    /// ns-2.
    #[inline]
    pub fn remove_finished(&mut self, now: Time) {
        if self.last.ends_at < now {
            if self.packets > 1 {
                self.earlier.clear();
            }
            (self.packets, self.octets) = (0, Bytes::ZERO);
        } else if self.packets > 1 {
            self.remove_first_finished(now);
        }
    }

    /// `remove_finished` while the last packet is not finished.
    fn remove_first_finished(&mut self, now: Time) {
        while let Some(first) = self.earlier.pop_front_if(|first| first.ends_at < now) {
            self.packets -= 1;
            self.octets = self.octets - first.size;
        }
    }
}
