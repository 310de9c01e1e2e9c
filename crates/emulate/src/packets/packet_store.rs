//! Stores the bytes of real packets while the network carries their descriptions.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use umts_kernel::TraceSink;
use umts_stack::ids::{PacketId, ProxyLeg, UeId};
use umts_stack::network::{NetworkConfig, UeConfig};
use umts_stack::packet::Packet;
use umts_stack::radio::rlc::RlcMode;
use umts_stack::trace::{DropPlace, TraceEvent};
use umts_units::Time;

/// Maximum number of discarded packets that are kept. The receiver may have a packet completely
/// when the sender discards it.
const MAX_DISCARDED: usize = 256;

/// Limit of the stored bytes. Beyond it the oldest packet counts as lost. This bounds memory for
/// radios that lose everything, because no packet that leaves then reveals the losses.
const MAX_OCTETS: u64 = 256 << 20;

/// Link-layer header of a packet, VLAN tags included. Empty if the packet did not arrive in a
/// frame. The header crosses the radio with the packet and starts the outgoing frame.
pub type Header = Rc<[u8]>;

/// Bytes of packets by packet number. Packets that the network loses are removed, so the network's
/// own limits bound the memory. Clones share one store.
#[derive(Debug, Clone, Default)]
pub struct PacketStore(Rc<RefCell<StoreState>>);

/// Packets of programs that did not leave the network, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Lost between the servers and the RNC: queue full, or losses of the link.
    pub core: u64,
    /// Dropped because the RLC buffer was full.
    pub buffer: u64,
    /// Lost on the radio and not repaired, or discarded by RLC.
    pub air: u64,
    /// Still in the network.
    pub inside: u64,
}

#[derive(Debug, Default)]
struct StoreState {
    packets: BTreeMap<PacketId, StoredPacket>,
    /// Sum of the lengths of `packets`.
    octets: u64,
    /// Packets by UE, direction and leg, in the order in which they entered.
    paths: BTreeMap<PathKey, VecDeque<PacketId>>,
    /// Packets that RLC discarded, the oldest first.
    discarded: VecDeque<PacketId>,
    /// Whether RLC may deliver packets of a path out of order.
    may_overtake: bool,
    losses: Losses,
}

#[derive(Debug)]
struct StoredPacket {
    bytes: Vec<u8>,
    header: Header,
    path: PathKey,
}

/// UE, index of the direction, leg.
type PathKey = (UeId, usize, ProxyLeg);

impl StoreState {
    /// Removes a packet, and returns its bytes and header.
    fn remove(&mut self, id: PacketId) -> Option<(Vec<u8>, Header)> {
        let StoredPacket { bytes, header, path } = self.packets.remove(&id)?;
        self.octets -= bytes.len() as u64;
        if let Some(path) = self.paths.get_mut(&path)
            && let Ok(index) = path.binary_search(&id)
        {
            path.remove(index);
        }
        Some((bytes, header))
    }

    /// Removes a packet, and counts it in the counter that `counter` selects.
    fn lose(&mut self, id: PacketId, counter: impl FnOnce(&mut Losses) -> &mut u64) {
        if self.remove(id).is_some() {
            *counter(&mut self.losses) += 1;
        }
    }
}

impl PacketStore {
    /// Creates an empty store for packets through `network`.
    pub fn new(network: &NetworkConfig) -> Self {
        let may_overtake = |ue: &UeConfig| ue.rlc.mode == RlcMode::Am && !ue.rlc.in_sequence;
        let state =
            StoreState { may_overtake: network.ues.iter().any(may_overtake), ..StoreState::default() };
        PacketStore(Rc::new(RefCell::new(state)))
    }

    /// Stores the bytes and the link-layer header of a packet that enters.
    pub fn load(&self, packet: &Packet, bytes: Vec<u8>, header: Header) {
        let state = &mut *self.0.borrow_mut();
        let path = (packet.ue, packet.direction().index(), packet.leg());
        state.octets += bytes.len() as u64;
        state.packets.insert(packet.id, StoredPacket { bytes, header, path });
        state.paths.entry(path).or_default().push_back(packet.id);
        while state.octets > MAX_OCTETS
            && let Some(oldest) = state.packets.keys().next().copied()
        {
            state.lose(oldest, |losses| &mut losses.air);
        }
    }

    /// Removes a packet that leaves, and returns its bytes and header. If packets cannot overtake
    /// each other, earlier packets on the same path are lost: in unacknowledged and transparent
    /// mode no event reports these losses.
    pub fn unload(&self, packet: &Packet) -> Option<(Vec<u8>, Header)> {
        let state = &mut *self.0.borrow_mut();
        let bytes_and_header = state.remove(packet.id)?;
        let path = (packet.ue, packet.direction().index(), packet.leg());
        while !state.may_overtake
            && let Some(&before) = state.paths.get(&path).and_then(VecDeque::front)
            && before < packet.id
        {
            state.lose(before, |losses| &mut losses.air);
        }
        Some(bytes_and_header)
    }

    /// Calls `read` with the bytes of a packet in the network. Returns `None` if the packet is not
    /// stored.
    pub fn with<R>(&self, id: PacketId, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.0.borrow().packets.get(&id).map(|stored| read(&stored.bytes))
    }

    /// Copies the bytes of a packet in the network.
    pub fn copy_of(&self, id: PacketId) -> Option<Vec<u8>> {
        self.with(id, <[u8]>::to_vec)
    }

    /// Losses so far. Packets that RLC discarded and that have not left count as lost.
    pub fn losses(&self) -> Losses {
        let state = self.0.borrow();
        let given_up = state.discarded.iter().filter(|id| state.packets.contains_key(id)).count() as u64;
        Losses {
            air: state.losses.air + given_up,
            inside: state.packets.len() as u64 - given_up,
            ..state.losses
        }
    }
}

impl TraceSink<TraceEvent> for PacketStore {
    /// Removes lost packets from the store, and counts them by the place of the loss.
    #[inline]
    fn record(&mut self, _at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketDropped { place, packet } => {
                self.0.borrow_mut().lose(packet.id, |losses| match place {
                    DropPlace::RlcBuffer => &mut losses.buffer,
                    DropPlace::FlatLoss | DropPlace::ErroneousSdu | DropPlace::Checksum => &mut losses.air,
                    DropPlace::LinkQueue(_)
                    | DropPlace::LinkLoss(_)
                    | DropPlace::LinkDown(_)
                    | DropPlace::Script
                    | DropPlace::ProxyDown
                    | DropPlace::ProxyHidden
                    | DropPlace::NoConnection => &mut losses.core,
                });
            }
            // A discarded SDU may have been delivered already, so the packet is kept for a while.
            TraceEvent::SduDiscarded { sdu, .. } => {
                let state = &mut *self.0.borrow_mut();
                if state.packets.contains_key(sdu) {
                    state.discarded.push_back(*sdu);
                }
                if state.discarded.len() > MAX_DISCARDED
                    && let Some(oldest) = state.discarded.pop_front()
                {
                    state.lose(oldest, |losses| &mut losses.air);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_stack::ids::{Direction, FlowId};
    use umts_stack::packet::{Content, Foreign};

    use super::*;

    fn packet(id: u64, direction: Direction) -> Packet {
        let content = Content::Foreign(Foreign { direction, leg: ProxyLeg::Whole, size: 100 });
        Packet { id: PacketId(id), flow: FlowId(0), ue: UeId(0), content }
    }

    fn loaded(may_overtake: bool, count: u64, octets: usize) -> PacketStore {
        let packet_store =
            PacketStore(Rc::new(RefCell::new(StoreState { may_overtake, ..StoreState::default() })));
        for id in 0..count {
            packet_store.load(&packet(id, Direction::Uplink), vec![0; octets], Header::default());
        }
        packet_store
    }

    #[test]
    fn overtaken_packets_are_lost() {
        for (may_overtake, losses) in [
            (false, Losses { air: 5, inside: 5, ..Losses::default() }),
            (true, Losses { inside: 10, ..Losses::default() }),
        ] {
            let packet_store = loaded(may_overtake, 10, 100);
            packet_store.load(&packet(10, Direction::Downlink), vec![0; 100], Header::default());
            assert!(packet_store.unload(&packet(5, Direction::Uplink)).is_some());
            assert_eq!(packet_store.losses(), losses);
        }
    }

    #[test]
    fn discarded_packet_may_still_leave() {
        let mut packet_store = loaded(true, 2 + MAX_DISCARDED as u64, 100);
        let give_up = |packet_store: &mut PacketStore, id| {
            let (ue, direction, size) = (UeId(0), Direction::Uplink, umts_units::Bytes(100));
            packet_store
                .record(Time::ZERO, &TraceEvent::SduDiscarded { ue, direction, sdu: PacketId(id), size });
        };
        give_up(&mut packet_store, 0);
        assert_eq!((packet_store.losses().air, packet_store.losses().inside), (1, 1 + MAX_DISCARDED as u64));
        assert!(packet_store.unload(&packet(0, Direction::Uplink)).is_some());
        assert_eq!(packet_store.losses().air, 0);
        (1..2 + MAX_DISCARDED as u64).for_each(|id| give_up(&mut packet_store, id));
        // A packet that is not in the store.
        give_up(&mut packet_store, 1_000_000);
        assert_eq!(packet_store.losses(), Losses { air: 1 + MAX_DISCARDED as u64, ..Losses::default() });
        assert!(packet_store.unload(&packet(1, Direction::Uplink)).is_none());
    }

    #[test]
    fn memory_is_bounded_without_leaving_packets() {
        // 300 packets of 1 MiB enter. The limit is 256 MiB, so the oldest 300 - 256 = 44 are lost.
        let packet_store = loaded(false, 300, 1 << 20);
        assert_eq!(packet_store.losses(), Losses { air: 44, inside: 256, ..Losses::default() });
        assert!(packet_store.copy_of(PacketId(43)).is_none() && packet_store.copy_of(PacketId(44)).is_some());
        let path = (UeId(0), Direction::Uplink.index(), ProxyLeg::Whole);
        assert_eq!(packet_store.0.borrow().paths[&path].len(), 256);
    }
}
