//! Scheduling by timeouts: each SDU should be sent completely before its deadline. The user with
//! the earliest deadline of its oldest SDU is next, and requests as many blocks per TTI as its SDUs
//! need to meet their deadlines:
//!
//! ```text
//! deadline_j = entry of SDU j into RLC + timeout * size_j / reference size
//! ttis_j     = whole TTIs from now to deadline_j
//! blocks     = max over j of ceil(blocks of SDUs 1 ... j / ttis_j)
//! ```

use umts_units::{Bytes, Duration, Time};

use super::{Candidate, Rank};
use crate::radio::rlc::WaitingSdu;

/// Timeouts of SDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutConfig {
    /// From the entry of an SDU into RLC to its complete transmission.
    pub timeout: Duration,
    /// Size of an SDU with this timeout. Smaller SDUs have a proportionally smaller one. `None`: all
    /// SDUs have the same.
    pub of_size: Option<Bytes>,
    pub expired: Expired,
    pub looks_at: LooksAt,
}

impl TimeoutConfig {
    /// Timeouts of the SDUs of a candidate. Its transfer delay holds for SDUs of any size.
    #[inline]
    #[must_use]
    pub fn of(&self, candidate: &Candidate) -> TimeoutConfig {
        match candidate.transfer_delay {
            None => *self,
            Some(timeout) => TimeoutConfig { timeout, of_size: None, ..*self },
        }
    }
}

/// Request of a user with an SDU after its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Expired {
    /// The largest format.
    #[default]
    Largest,
    /// The blocks that are left up to the end of that SDU.
    #[cfg_attr(feature = "schema", serde(rename = "rest"))]
    RestOfSdu,
}

/// SDUs of which the timeouts are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum LooksAt {
    /// All waiting SDUs.
    #[default]
    All,
    /// The oldest SDU.
    Head,
}

/// Deadline of an SDU.
#[inline]
pub fn deadline(config: &TimeoutConfig, sdu: &WaitingSdu) -> Time {
    let timeout = match config.of_size {
        None => config.timeout,
        Some(size) => {
            let nanos = u128::from(config.timeout.as_nanos()) * u128::from(sdu.size.0) / u128::from(size.0);
            Duration::from_nanos(
                u64::try_from(nanos).expect("the timeout of an SDU fits into 64 bits of nanoseconds"),
            )
        }
    };
    sdu.entered + timeout
}

/// Blocks that this TTI must carry so that all SDUs can be complete before their deadlines, at most
/// `largest`. 1 if no SDU waits, because RLC then has only control PDUs.
#[inline]
pub fn blocks_in_time(
    config: &TimeoutConfig,
    now: Time,
    tti: Duration,
    sdus: &[WaitingSdu],
    largest: u32,
) -> u32 {
    let considered = match config.looks_at {
        LooksAt::All => sdus,
        LooksAt::Head => &sdus[..sdus.len().min(1)],
    };
    // Blocks up to the end of the current SDU, and the largest number that any SDU needs.
    let (mut blocks, mut max_needed) = (0, 1);
    for sdu in considered {
        blocks += sdu.blocks;
        let ttis_left = deadline(config, sdu).saturating_since(now) / tti;
        let is_expired = ttis_left == 0;
        let needed = if is_expired && config.expired == Expired::Largest {
            largest
        } else {
            // After its deadline an SDU is to be complete in this TTI.
            blocks.div_ceil(u32::try_from(ttis_left.max(1)).unwrap_or(u32::MAX))
        };
        max_needed = max_needed.max(needed);
        if max_needed >= largest {
            break;
        }
    }
    max_needed
}

/// Ranks by the deadline of the oldest SDU. UEs with only control PDUs precede all others.
#[inline]
pub fn rank(deadline: Option<Time>) -> Rank {
    Rank::new(deadline.map_or(0.0, |deadline| deadline.as_nanos() as f64))
}
