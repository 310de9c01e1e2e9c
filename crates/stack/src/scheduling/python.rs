//! Schedulers that the user of umtslab writes, in Python, for experiments. They decide the order of the
//! UEs on a shared channel, and on the DSCH of a layout the formats too. The capacity of the channel, and
//! its codes and power, limit the result as for any discipline.

use std::fmt;

use umts_units::{Bytes, Time};

use super::Candidate;
use crate::ids::{CellId, Direction, UeId};
use crate::radio::mac::PowerFormat;
use crate::radio::phy::power_control::{Load, PowerConfig};
use crate::radio::phy::sir::Link;

/// Scheduler of one shared channel. Its calls are made only for TTIs with candidates.
pub trait ChannelScheduler: fmt::Debug + Send {
    /// Returns indices of `candidates` in the order of service, each at most once. The UEs that are left
    /// out wait for the next TTI.
    fn order(&mut self, turn: Turn, candidates: &[UserCandidate]) -> Vec<usize>;

    /// The order on the DSCH of a layout, and the format of each UE.
    fn order_with_formats(&mut self, tti: &Tti<'_>, candidates: &[RankedCandidate]) -> Vec<FormatRequest>;

    /// Called after a UE was served in TTI number `tti`, with the numbers of blocks sent and received, on
    /// the HS-DSCH of octets. In a TDD cell it is called when a grant is made: `sent` is its number of
    /// blocks per frame, and `received` is `None`.
    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: Option<u32>);
}

pub type UserScheduler = Box<dyn ChannelScheduler>;

/// A shared channel that a scheduler of the user can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedChannel {
    /// FACH of a cell.
    Fach(CellId),
    /// Shared downlink of bearer number `bearer` in a cell.
    Bearer { cell: CellId, bearer: u16 },
    /// HS-DSCH of a cell.
    HsDsch(CellId),
    /// Grants of a TDD cell.
    Tdd(CellId, Direction),
    /// DSCH of a cell of a layout.
    Dsch(CellId),
}

impl SharedChannel {
    pub fn cell(self) -> CellId {
        let (SharedChannel::Fach(cell)
        | SharedChannel::Bearer { cell, .. }
        | SharedChannel::HsDsch(cell)
        | SharedChannel::Tdd(cell, _)
        | SharedChannel::Dsch(cell)) = self;
        cell
    }
}

/// A TTI in which UEs are put in order. In a TDD cell, a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub now: Time,
    /// Number of the TTI, from 0 at the start of the run.
    pub number: u64,
}

/// A candidate with the values that its channel has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UserCandidate {
    pub candidate: Candidate,
    /// `None`: the channel does not know the rates of its UEs.
    pub rate: Option<RateValues>,
    /// `None`: not on an HS-DSCH.
    pub hs: Option<HsValues>,
}

/// Possible and recent rate of a UE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateValues {
    /// Octets that the radio can carry to the UE in this TTI.
    pub possible: Bytes,
    /// Recent mean of the octets per TTI.
    pub mean: f64,
}

/// Values of a UE on an HS-DSCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HsValues {
    /// The CQI that the Node B has.
    pub cqi: u8,
    /// Codes of the block.
    pub codes: u8,
}

impl UserCandidate {
    /// A candidate on a channel that has no other values.
    pub fn new(candidate: Candidate) -> Self {
        UserCandidate { candidate, rate: None, hs: None }
    }
}

/// A TTI of the DSCH of a layout with candidates.
#[derive(Debug)]
pub struct Tti<'a> {
    /// Start of the TTI.
    pub now: Time,
    pub number: u64,
    /// Octets of RLC payload in a block.
    pub block: Bytes,
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

    /// Octets of the largest format for which the cell has power, if this user alone has a grant.
    pub fn possible(&self, user: &RankedCandidate) -> Bytes {
        let fits =
            |format: &usize| self.load.with(Load::of(self.power, &self.link(user, *format))).fits(self.power);
        let largest = (0..self.formats.len()).rev().find(fits);
        self.block * largest.map_or(0, |format| u64::from(self.formats[format].blocks))
    }

    /// Transmit power in mW with which this user receives its cell as strongly as noise and other
    /// cells together.
    pub fn outside(&self, user: &RankedCandidate) -> f64 {
        self.link(user, 0).outside(self.power.noise)
    }
}

type SchedulerFactory = dyn Fn(SharedChannel) -> Option<UserScheduler> + Send;

/// Makes the schedulers of shared channels.
pub struct UserSchedulers {
    factory: Box<SchedulerFactory>,
}

impl UserSchedulers {
    pub fn new(make: impl Fn(SharedChannel) -> Option<UserScheduler> + Send + 'static) -> Self {
        UserSchedulers { factory: Box::new(make) }
    }

    /// A scheduler for `channel`. `None`: the scenario names a discipline for it.
    pub fn make(&self, channel: SharedChannel) -> Option<UserScheduler> {
        (self.factory)(channel)
    }
}

impl fmt::Debug for UserSchedulers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserSchedulers")
    }
}
