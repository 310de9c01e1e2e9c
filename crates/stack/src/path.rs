//! The path between the hosts: the core network on the server's side, UTRAN on the UE's side.

use umts_kernel::TraceSink;

use crate::EventContext;
use crate::core_network::CoreNetwork;
use crate::ids::{Direction, LinkId, ProxyLeg, Site};
use crate::packet::Packet;
use crate::trace::{CapturePoint, TraceEvent};
use crate::utran::Utran;

#[derive(Debug)]
pub struct NetworkPath {
    pub(crate) core: CoreNetwork,
    pub(crate) access: Utran,
}

impl NetworkPath {
    /// Sends a packet from the host at `site`.
    #[inline]
    pub fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        site: Site,
        packet: &mut Packet,
    ) {
        match site {
            Site::Server => {
                capture(ctx, CapturePoint::Server, packet);
                self.core.enter(ctx, packet);
            }
            Site::Proxy => {
                capture(ctx, proxy_side(packet.leg()), packet);
                if self.core.leave_proxy(ctx, packet) {
                    self.enter_access(ctx, packet);
                }
            }
            Site::Ue => {
                capture(ctx, CapturePoint::Ue, packet);
                self.access.enter(ctx, packet);
            }
        }
    }

    /// Handles the arrival of a packet at the end of a core network link. Returns the packet if it
    /// has reached its host: the server, or a proxy.
    #[inline]
    pub fn link_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        link: LinkId,
    ) -> Option<Packet> {
        let mut packet = self.core.link_arrival(link);
        if !self.core.forward(ctx, link, &mut packet) {
            return None;
        }
        let at = match (packet.direction(), packet.leg()) {
            (Direction::Downlink, ProxyLeg::Whole | ProxyLeg::Radio) => {
                self.enter_access(ctx, &packet);
                return None;
            }
            (Direction::Uplink, ProxyLeg::Whole | ProxyLeg::Server) => CapturePoint::Server,
            (Direction::Downlink, ProxyLeg::Server) | (Direction::Uplink, ProxyLeg::Radio) => {
                proxy_side(packet.leg())
            }
        };
        capture(ctx, at, &packet);
        Some(packet)
    }

    /// Passes a packet for a UE from the core network to UTRAN.
    #[inline]
    fn enter_access<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: &Packet) {
        capture(ctx, CapturePoint::Rnc, packet);
        self.access.enter(ctx, packet);
    }

    /// Handles a packet that UTRAN delivers. Returns whether it has reached its host: the UE, or a
    /// proxy at the RNC.
    #[inline]
    pub fn leave_access<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        direction: Direction,
        packet: &mut Packet,
    ) -> bool {
        match direction {
            Direction::Downlink => {
                capture(ctx, CapturePoint::Ue, packet);
                true
            }
            Direction::Uplink => {
                capture(ctx, CapturePoint::Rnc, packet);
                if self.core.ends_at_rnc(packet) {
                    capture(ctx, CapturePoint::ProxyRadio, packet);
                    return true;
                }
                if let Some(repeat) = self.core.enter_from_rnc(ctx, packet) {
                    self.enter_access(ctx, &repeat);
                }
                false
            }
        }
    }
}

/// Records a packet at a capture point.
#[inline]
fn capture<T: TraceSink<TraceEvent>>(ctx: &mut EventContext<'_, T>, at: CapturePoint, packet: &Packet) {
    ctx.cx.record_copy(|| TraceEvent::PacketCaptured { at, packet: *packet });
}

/// The side of the proxy for segments of a connection on `leg`.
fn proxy_side(leg: ProxyLeg) -> CapturePoint {
    if leg == ProxyLeg::Server { CapturePoint::ProxyServer } else { CapturePoint::ProxyRadio }
}
