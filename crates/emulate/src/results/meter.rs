//! State of an emulation for the live meter.

use umts_kernel::TraceSink;
use umts_stack::ids::{Direction, UeId};
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

/// State of an emulation. Rates and means cover the time since the last reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Time since the start.
    pub at: Time,
    /// Rates in bit/s of packets that left the network, IP headers included: downlink, uplink.
    pub rate_bps: [f64; 2],
    /// Bytes in the RLC buffers of all UEs: downlink, uplink.
    pub rlc_buffer: [u64; 2],
    /// Mean time of downlink SDUs in RLC. `None` if no SDU was delivered.
    pub rlc_delay: Option<Duration>,
    /// RRC state of the first UE, and the state to which it is being switched. `None` if its
    /// channels are fixed.
    pub state: Option<(RrcState, Option<RrcState>)>,
    /// Mean round-trip time of the programs' packets. `None` if there was no round trip.
    pub rtt: Option<Duration>,
}

/// Sum of the RLC delays of SDUs.
#[derive(Debug, Clone, Copy, Default)]
struct DelaySum {
    nanoseconds: u64,
    sdus: u64,
}

/// Collects the state from events.
#[derive(Debug, Default)]
pub struct Meter {
    /// When the meter was last read.
    read_at: Time,
    /// Bytes since then, by direction.
    bytes: [u64; 2],
    /// Octets in the RLC buffers of each UE, by direction.
    buffers: Vec<[u64; 2]>,
    /// Delays of the downlink since the last reading.
    delays: DelaySum,
    /// RRC state of the first UE, and the target state during a switch.
    state: Option<(RrcState, Option<RrcState>)>,
}

impl Meter {
    /// Reads the state at `now` and starts the next interval. `rtt` is the programs' mean
    /// round-trip time.
    pub fn read(&mut self, now: Time, rtt: Option<Duration>) -> Reading {
        let seconds = (now - self.read_at).as_secs().max(1e-9);
        let sum = |direction: usize| self.buffers.iter().map(|ue| ue[direction]).sum();
        let DelaySum { nanoseconds, sdus } = std::mem::take(&mut self.delays);
        let bytes = std::mem::take(&mut self.bytes);
        self.read_at = now;
        Reading {
            at: now,
            rate_bps: bytes.map(|bytes| bytes as f64 * 8.0 / seconds),
            rlc_buffer: [sum(0), sum(1)],
            rlc_delay: nanoseconds.checked_div(sdus).map(Duration::from_nanos),
            state: self.state,
            rtt,
        }
    }
}

impl TraceSink<TraceEvent> for Meter {
    /// Adds an event to the sums of the current interval, or stores the current state. The RRC
    /// state is the first UE's.
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketCaptured { at: point, packet } => {
                let direction = packet.direction();
                let exit_point = match direction {
                    Direction::Downlink => CapturePoint::Ue,
                    Direction::Uplink => CapturePoint::Server,
                };
                if *point == exit_point {
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
                self.delays.nanoseconds += (at - *entered).as_nanos();
                self.delays.sdus += 1;
            }
            _ => {}
        }
    }
}
