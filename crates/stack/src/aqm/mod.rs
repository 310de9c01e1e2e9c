//! Active queue management by the delay in the queue, with CoDel (RFC 8289) and PIE (RFC 8033), or by
//! its average length, with RED. For the queue of a link and for the SDUs that wait in RLC.
//!
//! CoDel decides about packets that leave the queue ([`Aqm::dequeue`]), PIE and RED about packets
//! that arrive ([`Aqm::choose`]). The owner of the queue calls both functions and implements
//! [`ManagedQueue`]. A link with RED uses [`Red`] directly, because its queue keeps only the sizes of
//! its packets.

mod codel;
mod pie;
mod queue_limit;
mod red;
#[cfg(test)]
mod testing;

pub use codel::{Codel, CodelConfig};
pub use pie::{Pie, PieConfig};
pub use queue_limit::QueueLimit;
pub use red::{Red, RedConfig};

use umts_kernel::random::AddressedStream;
use umts_units::{BitRate, Bytes, Time};

/// What queue management does with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    Pass,
    /// Mark the packet, or drop it if it is not ECN-capable.
    Mark,
    Drop,
}

/// A first-in, first-out queue of packets.
pub trait PacketQueue {
    /// Time at which the first packet entered the queue. `None`: the queue is empty.
    fn head_entered(&self) -> Option<Time>;
    /// Number of packets.
    fn packets(&self) -> usize;
    /// Octets of all packets.
    fn octets(&self) -> Bytes;
    /// Octets of the first packet. 0 if the queue is empty.
    fn head_octets(&self) -> Bytes;
}

/// A queue from which packets can be dropped.
pub trait ManagedQueue: PacketQueue {
    /// Drops the first packet.
    fn drop_head(&mut self);
    /// Marks the first packet if it is ECN-capable. Returns whether it is marked.
    fn mark_head(&mut self) -> bool;
}

/// Queue management of one queue.
#[derive(Debug, Clone)]
pub enum Aqm {
    Codel(Codel),
    Pie(Pie),
    Red {
        red: Red,
        /// Rate at which an empty queue would have sent packets.
        rate: BitRate,
        /// Time at which a packet last left the queue.
        last_departure: Time,
    },
}

/// At most one kind of queue management, with its options.
#[derive(Debug, Clone, Copy, Default)]
pub struct AqmConfig {
    pub codel: Option<CodelConfig>,
    pub pie: Option<PieConfig>,
    /// RED, with the full rate of the channel that empties the queue.
    pub red: Option<(RedConfig, BitRate)>,
}

impl Aqm {
    /// Queue management with these options. `draws` returns the random draws for a kind of queue
    /// management by its name. `None` without options; a checked scenario has at most one kind.
    pub fn new(config: &AqmConfig, draws: impl FnOnce(&str) -> AddressedStream) -> Option<Self> {
        if let Some(codel) = config.codel {
            Some(Aqm::Codel(Codel::new(codel)))
        } else if let Some(pie) = config.pie {
            Some(Aqm::Pie(Pie::new(pie, draws("pie"))))
        } else {
            let (red, rate) = config.red?;
            Some(Aqm::Red { red: Red::new(red, draws("red")), rate, last_departure: Time::ZERO })
        }
    }

    /// Decides about a packet of `size` that arrives at `now`, before it enters `queue`.
    pub fn choose(&mut self, now: Time, size: Bytes, queue: &impl PacketQueue) -> Choice {
        match self {
            Aqm::Codel(codel) => {
                codel.arrives(size);
                Choice::Pass
            }
            Aqm::Pie(pie) => pie.choose(now, queue),
            Aqm::Red { red, rate, last_departure } => {
                red.choose(now, queue.packets(), queue.octets(), *last_departure, *rate)
            }
        }
    }

    /// Drops or marks first packets of `queue`. Call it when the next packet can leave: the first
    /// packet that remains is that packet.
    pub fn dequeue(&mut self, now: Time, queue: &mut impl ManagedQueue) {
        match self {
            Aqm::Codel(codel) => codel.dequeue(now, queue),
            Aqm::Pie(_) | Aqm::Red { .. } => self.head_leaves(now, queue),
        }
    }

    /// Call it before the first packet of `queue` leaves, unless [`dequeue`](Self::dequeue) was
    /// called at this instant.
    pub fn head_leaves(&mut self, now: Time, queue: &impl PacketQueue) {
        match self {
            Aqm::Codel(_) => {}
            Aqm::Pie(pie) => pie.update_until(now, queue),
            Aqm::Red { last_departure, .. } => {
                if queue.packets() > 0 {
                    *last_departure = now;
                }
            }
        }
    }
}
