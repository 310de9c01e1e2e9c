//! What lies between the hosts: the core network at the server's side, radio access at the UE's.

use umts_kernel::TraceSink;

use crate::EventContext;
use crate::core_network::CoreNetwork;
use crate::ids::{Direction, LinkId, ProxyLeg, Site};
use crate::packet::Packet;
use crate::trace::{CapturePoint, TraceEvent};
use crate::utran::Utran;

/// The way from host to host.
#[derive(Debug)]
pub struct NetworkPath {
    pub(crate) core: CoreNetwork,
    pub(crate) access: Utran,
}

impl NetworkPath {
    /// A packet leaves the host at `site`.
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

    /// A packet comes out of a link of the core network. Returns it if it has reached its host: the server, or a proxy.
    #[inline]
    pub fn link_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        link: LinkId,
    ) -> Option<Packet> {
        let mut packet = self.core.link_arrival(link);
        if !self.core.go_on(ctx, link, &mut packet) {
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

    /// A packet that goes to a UE has come through the core network.
    #[inline]
    fn enter_access<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: &Packet) {
        capture(ctx, CapturePoint::Rnc, packet);
        self.access.enter(ctx, packet);
    }

    /// Radio access hands a packet up. Tells whether it has reached its host: the UE, or a proxy at the RNC.
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

/// A packet passes a place where it can be captured.
#[inline]
fn capture<T: TraceSink<TraceEvent>>(ctx: &mut EventContext<'_, T>, at: CapturePoint, packet: &Packet) {
    ctx.cx.record_copy(|| TraceEvent::PacketCaptured { at, packet: *packet });
}

/// Which side of the proxy segments of a connection on `leg` pass.
fn proxy_side(leg: ProxyLeg) -> CapturePoint {
    if leg == ProxyLeg::Server { CapturePoint::ProxyServer } else { CapturePoint::ProxyRadio }
}
