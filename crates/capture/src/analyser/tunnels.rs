//! Connections in GTP-U tunnels. The same addresses and ports may be in use in several tunnels at a
//! time, and a connection may move from one tunnel to another.

use crate::analyser::Analyser;
use crate::connection::Connection;
use crate::ends::Ends;
use crate::packet::Packet;

/// Maximum number of connections between the same ends that are distinguished by their tunnels.
const MAX_TUNNELS: u8 = 16;
/// Maximum distance between sequence numbers of one connection: a large window.
const NEAR: u32 = 1 << 24;

impl Analyser {
    /// Returns the ends of `packet` with the number of its tunnel. The number comes from the
    /// connection in this tunnel, from a connection that the packet continues, or is free for a new
    /// connection. `is_copy`: an equal packet was seen at most 10 ms ago, possibly in another
    /// tunnel.
    #[cold]
    pub(super) fn ends_in_tunnel(&mut self, packet: &Packet, is_copy: bool) -> Ends {
        let (mut continued, mut free) = (None, None);
        for number in 0..MAX_TUNNELS {
            let ends = packet.ends.in_tunnel(number);
            let Some(slot) = self.open.find(&ends) else {
                free.get_or_insert(ends);
                continue;
            };
            let connection = self.open.at(slot);
            if connection.is_in_tunnel_of(packet) {
                return ends;
            }
            if continued.is_none() && connection.is_continued_by(packet, is_copy) {
                continued = Some(ends);
            }
        }
        // If all numbers belong to other tunnels, the tunnel of the packet is not distinguished.
        continued.or(free).unwrap_or(packet.ends)
    }
}

impl Connection {
    /// Returns whether the last packet of this end was in the same tunnel as `packet`, or outside
    /// of any tunnel like `packet`.
    #[inline]
    pub fn is_in_tunnel_of(&self, packet: &Packet) -> bool {
        let from_sender = self.teid[self.side_of(packet) as usize];
        // If only the other direction has a TEID, the tunnel of this one is not known yet. So a
        // packet outside of any tunnel matches only if neither direction has a TEID.
        from_sender == packet.teid && (from_sender.is_some() || self.teid == [None; 2])
    }

    /// Returns whether a packet in another tunnel belongs to this connection, because it is a copy
    /// or its numbers are near.
    fn is_continued_by(&self, packet: &Packet, is_copy: bool) -> bool {
        let side = self.side_of(packet);
        let (from_sender, from_receiver) = (self.half(side), self.half(side.other()));
        let segment = &packet.segment;
        let is_tunnelled = self.teid != [None; 2];
        // A copy can be inside or outside of any tunnel, for example if two interfaces are
        // captured.
        if is_copy && from_sender.is_near(segment.seq, NEAR) {
            return true;
        }
        if is_tunnelled != packet.teid.is_some() {
            return false;
        }
        if segment.flags.syn() {
            let answers = from_receiver.isn.is_some_and(|isn| segment.ack == isn.wrapping_add(1));
            return from_sender.isn.is_none() && segment.flags.ack() && answers;
        }
        from_sender.is_near(segment.seq, NEAR)
            && (!segment.flags.ack() || from_receiver.is_near(segment.ack, NEAR))
    }
}
