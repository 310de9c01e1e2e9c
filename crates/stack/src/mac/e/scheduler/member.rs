//! A UE as the scheduler of the Node B knows it: from its happy bits, its scheduling information and
//! the grants that were sent to it.

use umts_units::{Duration, Time};

use super::super::config::EDchConfig;
use super::super::grant::{Grant, Grants};
use super::super::scheduling_information::SchedulingInformation;
use super::super::uplink_load::{UplinkLoad, ratio_of_headroom};

/// Information of a transmission for the scheduler.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    pub is_happy: bool,
    /// Serving grant that the PDUs of the block need. `None` without PDUs.
    pub used: Option<Grant>,
    /// Scheduling information, if the block was decoded.
    pub information: Option<SchedulingInformation>,
}

/// Sizes of a UE's blocks in bits.
#[derive(Debug, Clone, Copy)]
pub struct BlockSizes {
    /// A block with one PDU.
    pub min: u32,
    /// The largest block of the category.
    pub max: u32,
    /// Bits that may be sent beyond the grant: scheduling information and non-scheduled bits.
    pub beyond_grant: u32,
}

/// A UE as the scheduler knows it. Power ratios are powers of the E-DPDCHs relative to the DPCCH,
/// linear.
#[derive(Debug)]
pub struct Member {
    // Constants.
    tti: Duration,
    /// The lowest grant that carries a PDU.
    pub(super) min_grant: Grant,
    /// The lowest grant that carries the largest block of the category.
    max_grant: Grant,
    /// Power ratio of the bits beyond the grant.
    pub(super) ratio_beyond_grant: f64,

    // State.
    /// The serving grant, and grants on their way.
    pub grants: Grants,
    /// The highest power ratio of the blocks in HARQ. The MAC updates it.
    pub in_harq: f64,
    is_happy: bool,
    /// Octets in the buffer by the last scheduling information. `None`: more than it can express.
    buffer: Option<u64>,
    /// Power headroom in dB by the last scheduling information. `None`: unknown, or more than it can
    /// express.
    headroom_db: Option<f64>,
    /// The highest grant that was used since the last decision.
    used: Option<Grant>,
    /// When the last report arrived.
    last_block: Time,
}

impl Member {
    /// A UE without a grant.
    pub fn new(uplink: &UplinkLoad, tti: Duration, sizes: BlockSizes) -> Self {
        let grant_for = |bits| Grant::at_least(uplink.ratio(bits, tti)).unwrap_or(Grant::HIGHEST);
        Member {
            tti,
            min_grant: grant_for(sizes.min),
            max_grant: grant_for(sizes.max),
            ratio_beyond_grant: uplink.ratio(sizes.beyond_grant, tti),
            grants: Grants::default(),
            in_harq: 0.0,
            is_happy: true,
            buffer: Some(0),
            headroom_db: None,
            used: None,
            last_block: Time::ZERO,
        }
    }

    /// Handles a report that the Node B receives at `now`.
    pub fn handle_report(&mut self, now: Time, report: Report) {
        // Without a grant every UE with data is unhappy.
        if report.used.is_some() {
            self.is_happy = report.is_happy;
        }
        self.used = self.used.max(report.used);
        self.last_block = now;
        if let Some(information) = report.information {
            (self.buffer, self.headroom_db) = (information.octets(), information.headroom_db());
        }
    }

    /// Sends a grant that the UE uses from `at` on. After a zero grant, and after a grant to a UE
    /// without one, the UE counts as happy until the report of its next block with PDUs, which
    /// says whether the new grant is too small.
    pub fn send_grant(&mut self, at: Time, grant: Option<Grant>) {
        self.is_happy |= self.grants.last().is_none() || grant.is_none();
        self.grants.send(at, grant);
    }

    /// Whether the UE has no grant, and none is on its way. While it sends nothing, the scheduler
    /// then has nothing to withdraw and need not decide.
    pub fn is_idle(&self) -> bool {
        self.grants.highest().is_none()
    }

    /// The grant that the UE would get if it were alone. `None`: none.
    pub(super) fn wanted(&self, now: Time, uplink: &UplinkLoad, config: &EDchConfig) -> Option<Grant> {
        if now >= self.last_block + config.grant_timeout {
            return None;
        }
        let max = self.max_possible();
        match self.grants.last() {
            Some(_) if !self.is_happy => Some(max),
            Some(held) => Some(self.used.unwrap_or(held).clamp(self.min_grant, max)),
            None => self.first_grant(uplink, config.happy_bit_delay, max),
        }
    }

    /// The highest grant that category and power allow, at least the lowest one that carries a PDU.
    fn max_possible(&self) -> Grant {
        let max_by_power = self
            .headroom_db
            .map_or(self.max_grant, |headroom_db| max_grant(headroom_db, self.ratio_beyond_grant));
        self.max_grant.min(max_by_power).max(self.min_grant)
    }

    /// The grant for a UE without one: empties its buffer within `delay`, so that the UE is happy.
    fn first_grant(&self, uplink: &UplinkLoad, delay: Duration, max: Grant) -> Option<Grant> {
        match self.buffer {
            Some(0) => None,
            None => Some(max),
            Some(octets) => {
                let ttis = delay.as_secs() / self.tti.as_secs();
                let bits_per_tti = (octets as f64 * 8.0 / ttis.max(1.0)) as u32;
                let grant = Grant::at_least(uplink.ratio(bits_per_tti, self.tti)).unwrap_or(Grant::HIGHEST);
                Some(grant.clamp(self.min_grant, max))
            }
        }
    }

    /// Load of the UE if it uses `grant`.
    pub(super) fn load_of(&self, uplink: &UplinkLoad, grant: Option<Grant>) -> f64 {
        uplink.load(grant.map_or(0.0, Grant::ratio) + self.ratio_beyond_grant)
    }

    /// Load of the highest grant that the UE may still use if `grant` follows, and of its blocks in HARQ.
    pub(super) fn committed(&self, uplink: &UplinkLoad, grant: Option<Grant>) -> f64 {
        let highest_grant = self.grants.highest().max(grant);
        self.load_of(uplink, highest_grant).max(uplink.load(self.in_harq))
    }

    /// Begins the time until the next decision.
    pub(super) fn finish_decision(&mut self) {
        self.used = None;
    }
}

/// The highest grant for which a UE with this headroom has power, beside `ratio_beyond_grant`. The lowest
/// grant if the power suffices for none.
pub fn max_grant(headroom_db: f64, ratio_beyond_grant: f64) -> Grant {
    let ratio = ratio_of_headroom(headroom_db) - ratio_beyond_grant;
    Grant::all().rev().find(|grant| grant.ratio() <= ratio).unwrap_or(Grant::LOWEST)
}
