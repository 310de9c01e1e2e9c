//! Schedulers that the user of umtslab writes, in Python, for experiments. They decide the order and
//! the formats. Codes and power limit the result as for any discipline.

use std::fmt;

use umts_units::Time;

use super::Candidate;
use crate::ids::{CellId, UeId};
use crate::radio::mac::PowerFormat;
use crate::radio::phy::power_control::{Load, PowerConfig};
use crate::radio::phy::sir::Link;

/// Order and formats of the users in a TTI.
pub trait DschScheduler: fmt::Debug + Send {
    /// Appends the users that may send to `order`, each at most once. The others wait for the next TTI.
    fn decide(&mut self, tti: &Tti<'_>, candidates: &[RankedCandidate], order: &mut Vec<FormatRequest>);

    /// Called after a grant was used: `sent` blocks were sent, `received` of them received.
    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: u32);
}

pub type UserScheduler = Box<dyn DschScheduler>;

/// A TTI with candidates.
#[derive(Debug)]
pub struct Tti<'a> {
    /// Start of the TTI.
    pub now: Time,
    pub number: u64,
    pub formats: &'a [PowerFormat],
    /// Processing gain of each format.
    pub processing: &'a [f64],
    /// Power parameters of the cell.
    pub power: &'a PowerConfig,
    /// Load of the cell's DCHs.
    pub load: &'a Load,
}

/// A candidate with the values that MAC-c/sh keeps of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedCandidate {
    pub candidate: Candidate,
    /// Power received from other cells, in mW.
    pub interference: f64,
    /// Service credits in blocks.
    pub credit: f64,
    /// Recent mean of the blocks per TTI.
    pub mean: f64,
}

/// Request of a format, or of the next smaller one that codes and power allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRequest {
    /// Index among the candidates.
    pub candidate: usize,
    /// Index of the format.
    pub format: usize,
}

impl Tti<'_> {
    /// The link of this user in this format, for power control.
    fn link(&self, user: &RankedCandidate, format: usize) -> Link {
        user.candidate.link(&self.formats[format], self.processing[format], user.interference)
    }

    /// Increase of the cell's power in mW if this user is granted the format and no other user of
    /// the DSCH has a grant. `None` if no power is enough.
    pub fn power_for(&self, user: &RankedCandidate, format: usize) -> Option<f64> {
        let load_with_grant = self.load.with(Load::of(self.power, &self.link(user, format)));
        Some(load_with_grant.total(self.power.common)? - self.load.total(self.power.common)?)
    }

    /// Transmit power in mW with which this user receives its cell as strongly as noise and other
    /// cells together.
    pub fn outside(&self, user: &RankedCandidate) -> f64 {
        self.link(user, 0).outside(self.power.noise)
    }
}

type SchedulerFactory = dyn Fn(CellId) -> UserScheduler + Send;

/// Makes a scheduler for each cell.
pub struct UserSchedulers {
    factory: Box<SchedulerFactory>,
}

impl UserSchedulers {
    pub fn new(make: impl Fn(CellId) -> UserScheduler + Send + 'static) -> Self {
        UserSchedulers { factory: Box::new(make) }
    }

    pub fn make(&self, cell: CellId) -> UserScheduler {
        (self.factory)(cell)
    }
}

impl fmt::Debug for UserSchedulers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserSchedulers")
    }
}
