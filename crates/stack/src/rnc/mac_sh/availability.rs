//! What there is left of: codes of the DSCH's branch, and power of the cell. A user for whom there is not enough gets the next
//! spreading factor, twice as large, and so on; at last he is postponed to the next TTI.

use super::{Candidate, MacShConfig};
use crate::ids::UeId;
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

/// The radio of a cell in a TTI.
#[expect(missing_debug_implementations, reason = "it holds a function")]
#[derive(Clone, Copy)]
pub struct Radio<'a> {
    /// What the cell may send.
    pub power: &'a PowerConfig,
    /// What a user receives from other cells, in mW.
    pub interference: &'a dyn Fn(UeId) -> f64,
}

impl Radio<'_> {
    /// A user in a format, as power control sees him.
    #[inline]
    pub fn link(&self, config: &MacShConfig, format: usize, ask: &Candidate) -> Link {
        link_of(config, format, ask, (self.interference)(ask.ue))
    }
}

/// A user in a format, as power control sees him, for what he receives from other cells.
#[inline]
pub fn link_of(config: &MacShConfig, format: usize, ask: &Candidate, interference: f64) -> Link {
    Link {
        processing: config.processing(format),
        target: config.formats[format].target * ask.outer_loop,
        gain: ask.gain,
        interference,
    }
}

/// Gives a user the format that he wants or the next smaller one for which there is enough; takes it from what is left.
#[inline]
pub fn take(
    config: &MacShConfig,
    radio: &Radio<'_>,
    ask: &Candidate,
    wanted: usize,
    codes: &mut CodeShare,
    load: &mut Load,
) -> Result<(usize, Link), Reason> {
    let (free, formats) = (*codes, std::iter::successors(Some(wanted), |&format| config.halved(format)));
    let mut with_code = formats
        .filter_map(|format| {
            let mut left = free;
            left.take(config.formats[format].spreading_factor).then_some((format, left))
        })
        .peekable();
    if with_code.peek().is_none() {
        return Err(Reason::Codes);
    }
    // Where there is not enough for those who have it, there is not for anybody.
    if !load.fits(radio.power) {
        return Err(Reason::Power);
    }
    let interference = (radio.interference)(ask.ue);
    for (format, left) in with_code {
        let link = link_of(config, format, ask, interference);
        let with = load.with(Load::of(radio.power, &link));
        if with.fits(radio.power) {
            (*codes, *load) = (left, with);
            return Ok((format, link));
        }
    }
    Err(Reason::Power)
}
