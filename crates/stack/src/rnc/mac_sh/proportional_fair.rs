//! Proportional fairness: the user whom power allows most, compared with what he had lately, is first.

use super::MacShConfig;
use super::availability::{Radio, link_of};
use super::{Candidate, Credit};
use crate::radio::phy::power_control::Load;

/// What a TTI leaves of the past in a mean over [`MacShConfig::mean_over`].
pub fn keeps(config: &MacShConfig) -> f64 {
    1.0 - (config.tti.as_secs() / config.mean_over.as_secs()).min(1.0)
}

/// A mean below that is none: who was not served for so long goes by what power allows alone.
const NOTHING: f64 = 1e-9;

/// Least for who is next: the blocks that power allows beside the DCHs, over the mean of what he was sent, with a minus.
#[inline]
pub fn rank(
    config: &MacShConfig,
    radio: &Radio<'_>,
    load: &Load,
    ask: &Candidate,
    credit: &mut Credit,
    at: At,
) -> f64 {
    let interference = (radio.interference)(ask.ue);
    let link = |format: usize| link_of(config, format, ask, interference);
    let fits = |format: &usize| load.with(Load::of(radio.power, &link(*format))).fits(radio.power);
    let allowed =
        (0..config.formats.len()).rev().find(fits).map_or(0, |format| config.formats[format].blocks);
    let mean = credit.mean_served(at.keeps, at.tti).max(NOTHING);
    -f64::from(allowed) / mean
}

/// When it is asked, and what a TTI leaves of the past.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// The number of the TTI.
    pub tti: u64,
    /// See [`keeps`].
    pub keeps: f64,
}
