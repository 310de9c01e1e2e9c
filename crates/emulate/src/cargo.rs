//! The octets of real packets while the network carries their descriptions.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use umts_kernel::TraceSink;
use umts_stack::ids::PacketId;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// Discarded packets that are kept all the same: the receiver may have had all of one when the sender gave it up.
const MOST_DOUBTFUL: usize = 256;

/// Octets by packet. What the network loses is let go of, so memory is bounded by what the network holds.
#[derive(Debug, Clone, Default)]
pub struct Cargo(Rc<RefCell<Hold>>);

#[derive(Debug, Default)]
struct Hold {
    packets: BTreeMap<PacketId, Vec<u8>>,
    doubtful: VecDeque<PacketId>,
}

impl Cargo {
    /// Keeps the octets of a packet that enters.
    pub fn load(&self, id: PacketId, bytes: Vec<u8>) {
        self.0.borrow_mut().packets.insert(id, bytes);
    }

    /// Gives up those of a packet that leaves.
    pub fn unload(&self, id: PacketId) -> Option<Vec<u8>> {
        self.0.borrow_mut().packets.remove(&id)
    }

    /// What `read` makes of those of a packet on its way.
    pub fn with<R>(&self, id: PacketId, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.0.borrow().packets.get(&id).map(|bytes| read(bytes))
    }

    /// A copy of those of a packet on its way.
    pub fn look(&self, id: PacketId) -> Option<Vec<u8>> {
        self.0.borrow().packets.get(&id).cloned()
    }
}

impl TraceSink<TraceEvent> for Cargo {
    #[inline]
    fn record(&mut self, _at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketDropped { packet, .. } => {
                self.unload(packet.id);
            }
            TraceEvent::SduDiscarded { sdu, .. } => {
                let hold = &mut *self.0.borrow_mut();
                hold.doubtful.push_back(*sdu);
                if hold.doubtful.len() > MOST_DOUBTFUL
                    && let Some(given_up) = hold.doubtful.pop_front()
                {
                    hold.packets.remove(&given_up);
                }
            }
            _ => {}
        }
    }
}
