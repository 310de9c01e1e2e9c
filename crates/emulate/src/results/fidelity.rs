//! How far an emulation can be trusted.

use umts_units::Duration;

use crate::clock::lateness::Lateness;
use crate::outside::exchange::Counts;

/// What the machine did to the emulation, as opposed to the model.
#[derive(Debug, Clone)]
pub struct Fidelity {
    /// How late the instants ran at which something may be seen outside: TTIs, and the programs' packets on their way.
    pub lateness: Lateness,
    /// How late packets left the network: with the work of their instant.
    pub released: Lateness,
    /// CPU time from waking up to going to sleep again.
    pub work: Lateness,
    /// Packets that programs sent and the kernel dropped, since they were not read in time.
    pub tun_drops: u64,
    /// Devices that somebody took away or renamed meanwhile: what they dropped is not known.
    pub devices_lost: u64,
    /// What became of the packets.
    pub counts: Counts,
    /// CPU time that the loop took, and how long it ran.
    pub cpu: Duration,
    /// From the start to the end of the emulation.
    pub duration: Duration,
    /// Whether the process had a real-time priority (SCHED_FIFO).
    pub is_real_time: bool,
}

impl Fidelity {
    /// The machine was too slow: TTIs ran late, or packets were lost outside of the model.
    pub fn is_degraded(&self) -> bool {
        let is_lost = self.tun_drops > 0 || self.counts.refused > 0 || self.counts.frames.aside_lost > 0;
        self.lateness.is_degraded() || is_lost || self.devices_lost > 0
    }
}
