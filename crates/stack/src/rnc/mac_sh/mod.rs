//! MAC-c/sh: schedules the DSCH (downlink shared channel) of a cell (TS 25.321 §4.2.3.2; Rendón et al.
//! 2004, §2). In a TTI several users are served at the same time, each with a code of its own. A
//! transport format TF1, TF2 … is a number of blocks with the spreading factor of their code.
//!
//! Each TTI is scheduled in three steps:
//!
//! 1. the format that each user requests ([`RatePolicy`], `ranking.rs`),
//! 2. the order of the users ([`Scheduler`], `ranking.rs`),
//! 3. the formats that codes and power allow, in this order (`availability.rs`).
//!
//! There is one decision per TTI, or one per radio frame of half a TTI ([`Decision`]). In the second
//! case decision n belongs to TTI n / 2 of the users that it considers, and n modulo 2 is its *phase*.
//! The users of decision n - 1 are in the middle of their TTIs and keep their codes.
//!
//! The MAC has no access to RLC or the radio: candidates with their backlogs and path gains go in,
//! grants and refusals come out, and the caller reports the sent blocks with `served`. Interference
//! from other cells is queried only for users for which a code and power are left.

mod availability;
mod candidates;
mod config;
mod ranking;

use std::sync::Arc;

use umts_units::Time;

pub use self::availability::Radio;
use self::availability::{Allocation, Formats};
pub use self::candidates::Candidates;
pub use self::config::{Decision, MacShConfig, RatePolicy};
use self::ranking::{DecisionInput, RankedRequest, Request};
use crate::ids::UeId;
use crate::radio::phy::ovsf::{Code, CodeShare, End};
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::Link;
use crate::scheduling::{self, Candidate, Credit, Credits, Scheduler, UserScheduler};
use crate::trace::Postponed;

/// A user's part of a TTI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grant {
    pub ue: UeId,
    /// Index of the granted format. TF1 is 0.
    pub format: usize,
    /// Index of the requested format.
    pub wanted: usize,
    /// Maximum number of blocks.
    pub blocks: u32,
    pub code: Code,
    /// Link for power control.
    pub link: Link,
}

/// A user without a grant in this TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    pub ue: UeId,
    /// Index of the requested format.
    pub wanted: usize,
    pub reason: Postponed,
}

/// MAC-c/sh of the DSCH of a cell.
#[derive(Debug)]
pub struct MacSh {
    /// Shared by all cells.
    config: Arc<MacShConfig>,
    /// Processing gain of each format.
    processing: Vec<f64>,
    codes: CodeShare,
    /// By phase. Only the first is used if the TTIs of all users start together.
    schedulers: [Scheduler; 2],
    /// Replaces the schedulers and the rate policy.
    user_scheduler: Option<UserScheduler>,
    /// Credits of the users in the cell.
    users: Credits,
    /// Weight of the past in a mean rate, per TTI.
    memory: f64,

    // The last decision. The vectors are reused.
    /// The requests before they were put in order.
    ranked: Vec<RankedRequest>,
    /// The requests in the order in which they get codes and power.
    order: Vec<Request>,
    grants: Vec<Grant>,
    refusals: Vec<Refusal>,
}

impl MacSh {
    pub fn new(config: impl Into<Arc<MacShConfig>>) -> Self {
        let config = config.into();
        MacSh {
            codes: CodeShare::new(config.codes),
            processing: (0..config.formats.len()).map(|format| config.processing(format)).collect(),
            schedulers: [Scheduler::new(config.priority); 2],
            user_scheduler: None,
            users: Credits::default(),
            memory: scheduling::memory(config.tti, config.mean_over),
            ranked: Vec::new(),
            order: Vec::new(),
            grants: Vec::new(),
            refusals: Vec::new(),
            config,
        }
    }

    /// Replaces the schedulers and the rate policy.
    pub fn set_scheduler(&mut self, scheduler: UserScheduler) {
        self.user_scheduler = Some(scheduler);
    }

    pub fn config(&self) -> &MacShConfig {
        &self.config
    }

    /// A user enters the cell with its credit.
    pub fn join(&mut self, ue: UeId, credit: Credit) {
        self.users.join(ue, credit);
    }

    /// A user leaves the cell. Returns its credit if it was there.
    pub fn leave(&mut self, ue: UeId) -> Option<Credit> {
        self.users.leave(ue)
    }

    /// Makes decision number `number`, for TTIs that start `now`. `load` is the load of the DCHs and of
    /// the grants of TTIs in progress. The load of the new grants is added to it. Returns the new grants
    /// in the order of priority.
    pub fn schedule(
        &mut self,
        now: Time,
        number: u64,
        candidates: &Candidates,
        radio: &Radio<'_>,
        load: &mut Load,
    ) -> &[Grant] {
        let input = DecisionInput { now, tti: self.tti_of(number), candidates, radio, load };
        if self.user_scheduler.is_some() {
            self.run_user_scheduler(input);
        } else {
            self.rank(self.scheduler_of(number), input);
        }
        match self.config.decision {
            Decision::EachTti => self.codes.begin(),
            Decision::EachFrame | Decision::AnyFrame => self.codes.begin_phase(),
        }
        self.grants.clear();
        self.refusals.clear();
        for index in 0..self.order.len() {
            let Request { candidate, wanted } = self.order[index];
            self.grant_or_refuse(candidates.get(candidate), wanted, radio, load);
        }
        self.assign_codes(self.code_end_of(number));
        &self.grants
    }

    /// Number of the TTI that decision `number` schedules.
    fn tti_of(&self, number: u64) -> u64 {
        number / self.config.phases()
    }

    /// Index of the scheduler for decision `number`.
    fn scheduler_of(&self, number: u64) -> usize {
        match self.config.decision {
            Decision::EachTti | Decision::AnyFrame => 0,
            Decision::EachFrame => (number % 2) as usize,
        }
    }

    /// The end of the branch of codes from which decision `number` takes its codes. The two
    /// phases use different ends, so that their codes do not overlap ([`CodeShare`]).
    fn code_end_of(&self, number: u64) -> End {
        if number.is_multiple_of(self.config.phases()) { End::Left } else { End::Right }
    }

    /// Step 3 for one user: grants the requested format, a smaller one, or nothing.
    fn grant_or_refuse(
        &mut self,
        candidate: &Candidate,
        wanted: Option<usize>,
        radio: &Radio<'_>,
        load: &mut Load,
    ) {
        let ue = candidate.ue;
        let Some(wanted) = wanted else {
            self.refusals.push(Refusal { ue, wanted: 0, reason: Postponed::LeftOut });
            return;
        };
        let formats = Formats { config: &self.config, processing: &self.processing };
        match formats.allocate(radio, candidate, wanted, &mut self.codes, load) {
            Ok(Allocation { format, link }) => self.grants.push(Grant {
                ue,
                format,
                wanted,
                blocks: self.config.formats[format].blocks,
                // Replaced by `assign_codes` when all spreading factors are known.
                code: self.config.codes,
                link,
            }),
            Err(reason) => self.refusals.push(Refusal { ue, wanted, reason }),
        }
    }

    /// Assigns a code to each grant, small spreading factors first.
    fn assign_codes(&mut self, end: End) {
        let spreading_factor = |grant: &Grant| self.config.formats[grant.format].spreading_factor;
        let mut ascending: Vec<usize> = (0..self.grants.len()).collect();
        ascending.sort_by_key(|&grant| spreading_factor(&self.grants[grant]));
        let spreading_factors: Vec<u16> =
            ascending.iter().map(|&grant| spreading_factor(&self.grants[grant])).collect();
        for (grant, code) in ascending.into_iter().zip(self.codes.codes(end, spreading_factors)) {
            self.grants[grant].code = code;
        }
    }

    /// The grants of the last decision in the order of priority.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// The refusals of the last decision in the order of priority.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// Reports the outcome of a grant of decision `number`: `sent` blocks were sent and `received`
    /// of them received.
    pub fn served(&mut self, number: u64, grant: &Grant, sent: u32, received: u32) {
        self.record_grant(number, grant, sent, received);
        self.debit_credit(number, grant, sent);
    }

    /// The part of `served` for the cell of the grant.
    pub fn record_grant(&mut self, number: u64, grant: &Grant, sent: u32, received: u32) {
        let scheduler = self.scheduler_of(number);
        self.schedulers[scheduler].served(grant.ue);
        let tti = self.tti_of(number);
        if let Some(scheduler) = &mut self.user_scheduler {
            scheduler.served(tti, grant.ue, sent, Some(received));
        }
    }

    /// The part of `served` for the present cell of the user, which has its credit.
    pub fn debit_credit(&mut self, number: u64, grant: &Grant, sent: u32) {
        let tti = self.tti_of(number);
        let credit = self.users.of(&self.config.credit, tti, grant.ue);
        credit.spend(&self.config.credit, grant.blocks, sent);
        credit.serve(self.memory, tti, sent);
    }

    /// Credit of a user in the cell, as of its last request.
    pub fn credit(&self, ue: UeId) -> Option<&Credit> {
        self.users.get(ue)
    }
}

#[cfg(test)]
mod tests;
