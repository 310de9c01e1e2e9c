//! What there is left of: codes of the DSCH's branch, and power of the cell. A user for whom there is not enough gets the next
//! spreading factor, twice as large, and so on; at last he is postponed to the next TTI.

use super::{Ask, MacShConfig};
use crate::radio::phy::ovsf::CodeShare;
use crate::radio::phy::power_control::{Load, PowerConfig};
use crate::radio::phy::sir::Link;

/// Why a user got nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No code of any spreading factor was left.
    Codes,
    /// There was a code, but the cell could not have sent what he needs.
    Power,
    /// He had no credits.
    Credit,
}

impl Reason {
    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Codes => "codes",
            Reason::Power => "power",
            Reason::Credit => "credit",
        }
    }
}

/// A user in a format, as power control sees him.
#[inline]
pub fn link_of(config: &MacShConfig, format: usize, ask: &Ask) -> Link {
    Link {
        processing: config.processing(format),
        target: config.formats[format].target * ask.outer_loop,
        gain: ask.gain,
        interference: ask.interference,
    }
}

/// Gives a user the format that he wants or the next smaller one for which there is enough; takes it from what is left.
#[inline]
pub fn take(
    config: &MacShConfig,
    power: &PowerConfig,
    ask: &Ask,
    wanted: usize,
    codes: &mut CodeShare,
    load: &mut Load,
) -> Result<usize, Reason> {
    let (mut next, mut refused) = (Some(wanted), Reason::Codes);
    while let Some(format) = next {
        let with = load.with(Load::of(power, &link_of(config, format, ask)));
        if !with.fits(power) {
            // Said only of who would have had a code.
            let mut beside = *codes;
            if beside.take(config.formats[format].spreading_factor) {
                refused = Reason::Power;
            }
        } else if codes.take(config.formats[format].spreading_factor) {
            *load = with;
            return Ok(format);
        }
        next = config.halved(format);
    }
    Err(refused)
}
