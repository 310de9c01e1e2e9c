//! Disciplines that come from outside, for experiments: a run is handed a function that makes one for the DSCH of each cell.
//! One decides in place of requirement and priority; what there is of codes and power is looked after as ever.

use std::fmt;

use umts_units::Time;

use super::availability::link_of;
use super::{Candidate, MacShConfig};
use crate::ids::{CellId, UeId};
use crate::radio::phy::power_control::{Load, PowerConfig};
use crate::radio::phy::sir::Link;

/// Who wants what in a TTI, and in which order.
pub trait DschScheduler: fmt::Debug + Send {
    /// Puts those who may send into `order`, each once at most. Whoever is not in it waits for the next TTI.
    fn decide(&mut self, tti: &Tti<'_>, asks: &[RankedCandidate], order: &mut Vec<FormatRequest>);

    /// A grant was made use of: so many blocks were sent, and so many of those received.
    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: u32);
}

/// A discipline from outside.
pub type UserScheduler = Box<dyn DschScheduler>;

/// A TTI in which users ask.
#[derive(Debug)]
pub struct Tti<'a> {
    /// It begins.
    pub now: Time,
    /// Its number.
    pub number: u64,
    /// The DSCH.
    pub config: &'a MacShConfig,
    /// What its cell may send.
    pub power: &'a PowerConfig,
    /// What the cell's DCHs need.
    pub load: &'a Load,
}

/// A user who asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedCandidate {
    /// What he asks for.
    pub ask: Candidate,
    /// Power that he receives from other cells, in mW.
    pub interference: f64,
    /// His service credits, in blocks.
    pub credit: f64,
    /// Blocks of a TTI that he was sent lately, on average over [`MacShConfig::mean_over`].
    pub mean: f64,
}

impl RankedCandidate {
    fn link(&self, config: &MacShConfig, format: usize) -> Link {
        link_of(config, format, &self.ask, self.interference)
    }
}

/// That a user shall have a format, or the next smaller one for which there is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRequest {
    /// His place among those who ask.
    pub ask: usize,
    /// The number of the format, from zero.
    pub format: usize,
}

impl Tti<'_> {
    /// By how much the power of the cell rises, in mW, if this user alone has a format beside the DCHs; `None` if no power is
    /// enough.
    pub fn power_for(&self, seen: &RankedCandidate, format: usize) -> Option<f64> {
        let with = self.load.with(Load::of(self.power, &seen.link(self.config, format)));
        Some(with.total(self.power.common)? - self.load.total(self.power.common)?)
    }

    /// What it takes to be as loud for this user as what is not of his own cell, in mW: least for who hears best.
    pub fn outside(&self, seen: &RankedCandidate) -> f64 {
        seen.link(self.config, 0).outside(self.power.noise)
    }
}

type Make = dyn Fn(CellId) -> UserScheduler + Send;

/// Makes disciplines, one for each cell.
pub struct UserSchedulers(Box<Make>);

impl UserSchedulers {
    /// From a function.
    pub fn new(make: impl Fn(CellId) -> UserScheduler + Send + 'static) -> Self {
        UserSchedulers(Box::new(make))
    }

    /// That of a cell.
    pub fn make(&self, cell: CellId) -> UserScheduler {
        (self.0)(cell)
    }
}

impl fmt::Debug for UserSchedulers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserDisciplines")
    }
}
