//! What lies between the hosts: the core network at the server's side, radio access at the UE's.

use umts_kernel::TraceSink;

use crate::Step;
use crate::access::Access;
use crate::core_network::CoreNetwork;
use crate::ids::{Direction, LinkId, Site, TcpLeg};
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
                step.cx.record_copy(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                self.core.enter(step, packet);
            }
            Site::Pep => {
                let at = pep_side(packet.leg());
                step.cx.record_copy(|| TraceEvent::PacketSeen { at, packet });
                if let Some(packet) = self.core.leave_pep(step, packet) {
                    self.enter_access(step, packet);
                }
            }
            Site::Ue => {
                step.cx.record_copy(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet });
                self.access.enter(step, packet);
            }
        }
    }

    /// A packet comes out of a link of the core network. Returns it if it has reached its host: the server, or a proxy.
    #[inline]
    pub fn link_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        link: LinkId,
    ) -> Option<Packet> {
        let packet = self.core.link_arrival(step, link)?;
        let at = match (packet.direction(), packet.leg()) {
            (Direction::Downlink, TcpLeg::Whole | TcpLeg::Radio) => {
                self.enter_access(step, packet);
                return None;
            }
            (Direction::Uplink, TcpLeg::Whole | TcpLeg::Server) => CapturePoint::Server,
            (Direction::Downlink, TcpLeg::Server) | (Direction::Uplink, TcpLeg::Radio) => {
                pep_side(packet.leg())
            }
        };
        step.cx.record_copy(|| TraceEvent::PacketSeen { at, packet });
        Some(packet)
    }

    /// A packet that goes to a UE has come through the core network.
    #[inline]
    fn enter_access<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        step.cx.record_copy(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
        self.access.enter(step, packet);
    }

    /// Radio access hands a packet up. Tells whether it has reached its host: the UE, or a proxy at the RNC.
    #[inline]
    pub fn leave_access<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        direction: Direction,
        packet: &Packet,
    ) -> bool {
        match direction {
            Direction::Downlink => {
                step.cx.record_copy(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet: *packet });
                true
            }
            Direction::Uplink => {
                step.cx.record_copy(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet: *packet });
                if self.core.ends_at_rnc(packet) {
                    step.cx.record_copy(|| TraceEvent::PacketSeen {
                        at: CapturePoint::PepRadio,
                        packet: *packet,
                    });
                    return true;
                }
                if let Some(repeat) = self.core.enter_from_rnc(step, *packet) {
                    self.enter_access(step, repeat);
                }
                false
            }
        }
    }
}

/// Which side of the proxy segments of a connection on `leg` pass.
fn pep_side(leg: TcpLeg) -> CapturePoint {
    if leg == TcpLeg::Server { CapturePoint::PepServer } else { CapturePoint::PepRadio }
}
