//! How far an emulation can be trusted.

use umts_units::Duration;

use crate::clock::lateness::Lateness;
use crate::outside::exchange::Counts;

/// Effects of the machine on the emulation, as opposed to the model.
#[derive(Debug, Clone)]
pub struct Fidelity {
    /// Lateness of the instants that may be visible outside: TTIs, and events of the programs'
    /// packets.
    pub lateness: Lateness,
    /// Lateness of packets that leave the network, including the processing of their instant.
    pub released: Lateness,
    /// CPU time from each wake-up to the next sleep.
    pub work: Lateness,
    /// Packets of programs that the kernel dropped because they were not read in time.
    pub tun_drops: u64,
    /// Devices that were removed or renamed during the emulation. Their drops are unknown.
    pub devices_lost: u64,
    /// Counters of the packets.
    pub counts: Counts,
    /// CPU time of the process during the event loop.
    pub cpu: Duration,
    /// Duration of the emulation.
    pub duration: Duration,
    /// Whether the process had a real-time priority (SCHED_FIFO).
    pub is_real_time: bool,
}

impl Fidelity {
    /// Whether the machine was too slow: instants were late, or packets were lost outside of the
    /// model.
    pub fn is_degraded(&self) -> bool {
        let is_lost = self.tun_drops > 0 || self.counts.refused > 0 || self.counts.frames.bypass_lost > 0;
        self.lateness.is_degraded() || is_lost || self.devices_lost > 0
    }
}
