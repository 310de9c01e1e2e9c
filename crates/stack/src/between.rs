//! What lies between the hosts: the core network at the server's side, radio access at the UE's.

use umts_kernel::TraceSink;

use crate::Step;
use crate::access::Access;
use crate::core_network::CoreNetwork;
use crate::ids::{Direction, LinkId, Site};
use crate::packet::Packet;
use crate::trace::{CapturePoint, TraceEvent};

/// The way from host to host.
#[derive(Debug)]
pub struct Between {
    pub(crate) core: CoreNetwork,
    pub(crate) access: Access,
}

impl Between {
    /// A packet leaves the host at `site`.
    #[inline]
    pub fn leave<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, site: Site, packet: Packet) {
        match site {
            Site::Server => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                self.core.enter(step, packet);
            }
            Site::Ue => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet });
                self.access.enter(step, packet);
            }
        }
    }

    /// A packet comes out of a link of the core network. Returns it if it has reached the server.
    #[inline]
    pub fn link_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        link: LinkId,
    ) -> Option<Packet> {
        let packet = self.core.link_arrival(step, link)?;
        match packet.direction() {
            Direction::Downlink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
                self.access.enter(step, packet);
                None
            }
            Direction::Uplink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                Some(packet)
            }
        }
    }

    /// Radio access hands a packet up. Tells whether it has reached the UE.
    #[inline]
    pub fn leave_access<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        direction: Direction,
        packet: &Packet,
    ) -> bool {
        match direction {
            Direction::Downlink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet: *packet });
                true
            }
            Direction::Uplink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet: *packet });
                self.core.enter(step, *packet);
                false
            }
        }
    }
}
