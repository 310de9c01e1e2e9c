//! What the live meter shows.

use umts_kernel::TraceSink;
use umts_stack::ids::{Direction, UeId};
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

/// Where the emulation stands; rates are of the time since the last reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Time since the start.
    pub at: Time,
    /// Bits per second that came out of the network, downlink and uplink, IP headers included.
    pub rate_bps: [f64; 2],
    /// Octets in the RLC buffers of all UEs, downlink and uplink.
    pub rlc_buffer: [u64; 2],
    /// Mean time that an SDU spent in RLC, downlink; none if none came out.
    pub rlc_delay: Option<Duration>,
    /// RRC state of the first UE, and the one it is switched to; none where channels are fixed.
    pub state: Option<(RrcState, Option<RrcState>)>,
    /// Mean round-trip time of the programs' packets since the last reading; none if there was none.
    pub rtt: Option<Duration>,
}

/// Follows events for it.
#[derive(Debug, Default)]
pub struct Meter {
    read_at: Time,
    bytes: [u64; 2],
    buffers: Vec<[u64; 2]>,
    delays: (u64, u64),
    state: Option<(RrcState, Option<RrcState>)>,
}

impl Meter {
    /// The state at `now`, which begins the next interval; `rtt` is the programs' own.
    pub fn read(&mut self, now: Time, rtt: Option<Duration>) -> Reading {
        let seconds = (now - self.read_at).as_secs().max(1e-9);
        let sum = |direction: usize| self.buffers.iter().map(|ue| ue[direction]).sum();
        let (delay_ns, sdus) = std::mem::take(&mut self.delays);
        let bytes = std::mem::take(&mut self.bytes);
        self.read_at = now;
        Reading {
            at: now,
            rate_bps: bytes.map(|bytes| bytes as f64 * 8.0 / seconds),
            rlc_buffer: [sum(0), sum(1)],
            rlc_delay: delay_ns.checked_div(sdus).map(Duration::from_nanos),
            state: self.state,
            rtt,
        }
    }
}

impl TraceSink<TraceEvent> for Meter {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketCaptured { at: point, packet } => {
                let direction = packet.direction();
                let comes_out = match direction {
                    Direction::Downlink => CapturePoint::Ue,
                    Direction::Uplink => CapturePoint::Server,
                };
                if *point == comes_out {
                    self.bytes[direction.index()] += packet.size().0;
                }
            }
            TraceEvent::RlcBuffer { ue, direction, octets } => {
                if self.buffers.len() <= ue.index() {
                    self.buffers.resize(ue.index() + 1, [0; 2]);
                }
                self.buffers[ue.index()][direction.index()] = *octets;
            }
            TraceEvent::RrcState { ue: UeId(0), state } => self.state = Some((*state, None)),
            TraceEvent::RrcSwitch { ue: UeId(0), from, to, .. } => self.state = Some((*from, Some(*to))),
            TraceEvent::SduDelivered { direction: Direction::Downlink, entered, .. } => {
                self.delays.0 += (at - *entered).as_nanos();
                self.delays.1 += 1;
            }
            _ => {}
        }
    }
}
