//! Timeouts: a user wants so many blocks that each of his SDUs is through in time.
//!
//! ```text
//! deadline_j = entry of SDU j into RLC + timeout * size_j / size that it is meant for
//! left_j     = whole TTIs from now to deadline_j
//! need       = max over j of ceil(blocks of SDUs 1 ... j / left_j)
//! ```

use umts_units::{Duration, Time};

use super::MacShConfig;
use super::config::{Expired, LooksAt, TimeoutConfig};
use crate::radio::rlc::WaitingSdu;

/// When it shall be through.
#[inline]
pub fn deadline(config: &TimeoutConfig, sdu: &WaitingSdu) -> Time {
    let timeout = match config.of_size {
        None => config.timeout,
        Some(size) => {
            let nanos = u128::from(config.timeout.as_nanos()) * u128::from(sdu.size.0) / u128::from(size.0);
            Duration::from_nanos(u64::try_from(nanos).expect("an SDU is not larger than a timeout is long"))
        }
    };
    sdu.entered + timeout
}

/// The number of the format that he wants whose SDUs these are. If nothing of them waits, it is RLC's own control PDUs that do.
#[inline]
pub fn want(config: &MacShConfig, now: Time, sdus: &[WaitingSdu]) -> usize {
    let looked_at = match config.timeout.looks_at {
        LooksAt::All => sdus,
        LooksAt::Head => &sdus[..sdus.len().min(1)],
    };
    let largest = config.formats.last().expect("a DSCH has formats").blocks;
    let (mut blocks, mut need) = (0, 1);
    for sdu in looked_at {
        blocks += sdu.blocks;
        let left = deadline(&config.timeout, sdu).saturating_since(now) / config.tti;
        let needs = match (left, config.timeout.expired) {
            (0, Expired::Largest) => largest,
            (left, _) => blocks.div_ceil(u32::try_from(left.max(1)).unwrap_or(u32::MAX)),
        };
        need = need.max(needs);
        if need >= largest {
            break;
        }
    }
    config.holding(need)
}

/// The deadline of the oldest SDU, which decides who is first. Control PDUs have none and go before data.
#[inline]
pub fn rank(config: &TimeoutConfig, sdus: &[WaitingSdu]) -> f64 {
    sdus.first().map_or(0.0, |sdu| deadline(config, sdu).as_nanos() as f64)
}
