//! Active queue management by the delay in the queue: CoDel (RFC 8289) and PIE (RFC 8033), for the
//! queue of a link and for the SDUs that wait in RLC.
//!
//! CoDel decides about packets that leave the queue ([`Aqm::dequeue`]), PIE about packets that
//! arrive ([`Aqm::choose`]). The owner of the queue calls both functions and implements
//! [`ManagedQueue`]. RED, which needs the rate of the link, is in
//! [`core_network`](crate::core_network).

mod codel;
mod pie;
#[cfg(test)]
mod testing;

pub use codel::{Codel, CodelConfig};
pub use pie::{Pie, PieConfig};

use umts_kernel::random::AddressedStream;
use umts_units::{Bytes, Time};

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
}

impl Aqm {
    /// Queue management with these options. `draws` returns the random draws of PIE. `None` if both
    /// options are `None`; a checked scenario has at most one.
    pub fn new(
        codel: Option<CodelConfig>,
        pie: Option<PieConfig>,
        draws: impl FnOnce() -> AddressedStream,
    ) -> Option<Self> {
        let codel = codel.map(|config| Aqm::Codel(Codel::new(config)));
        codel.or_else(|| pie.map(|config| Aqm::Pie(Pie::new(config, draws()))))
    }

    /// Decides about a packet of `size` that arrives at `now`, before it enters `queue`.
    pub fn choose(&mut self, now: Time, size: Bytes, queue: &impl PacketQueue) -> Choice {
        match self {
            Aqm::Codel(codel) => {
                codel.arrives(size);
                Choice::Pass
            }
            Aqm::Pie(pie) => pie.choose(now, queue),
        }
    }

    /// Drops or marks first packets of `queue`. Call it when the next packet can leave: the first
    /// packet that remains is that packet.
    pub fn dequeue(&mut self, now: Time, queue: &mut impl ManagedQueue) {
        match self {
            Aqm::Codel(codel) => codel.dequeue(now, queue),
            Aqm::Pie(pie) => pie.update_until(now, queue),
        }
    }

    /// Call it before the first packet of `queue` leaves, unless [`dequeue`](Self::dequeue) was
    /// called at this instant.
    pub fn head_leaves(&mut self, now: Time, queue: &impl PacketQueue) {
        if let Aqm::Pie(pie) = self {
            pie.update_until(now, queue);
        }
    }
}
