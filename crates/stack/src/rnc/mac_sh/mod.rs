//! MAC-c/sh: schedules the DSCH (downlink shared channel) of a cell (TS 25.321 §4.2.3.2; Rendón et al.
//! 2004, §2). In a TTI several users are served at the same time, each with a code of its own. A
//! transport format TF1, TF2 … is a number of blocks with the spreading factor of their code.
//!
//! Each TTI is scheduled in three steps: the format that each user requests ([`RatePolicy`]), the
//! order of the users ([`Scheduler`]), and the formats that codes and power allow ([`availability`]).
//!
//! If frames are scheduled instead of TTIs, decision n belongs to TTI n / 2 of the users that it
//! considers. The users of decision n - 1 are in the middle of their TTIs and keep their codes.
//!
//! The MAC has no access to RLC or the radio: candidates with their backlogs and path gains go in,
//! grants and refusals come out, and the caller reports the sent blocks with `served`. Interference
//! from other cells is queried only for users for which a code and power are left.

mod availability;
mod config;

use std::sync::Arc;

use umts_units::Time;

use self::availability::Formats;
pub use self::availability::Radio;
pub use self::config::{Decision, MacShConfig, RatePolicy};
use crate::ids::UeId;
use crate::radio::phy::ovsf::{Code, CodeShare, End};
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::Link;
use crate::radio::rlc::WaitingSdu;
use crate::scheduling::{
    self, Candidate, ChannelState, Credit, Credits, PriorityLevel, Rank, RankedCandidate, Scheduler, Tti,
    UserScheduler,
};
use crate::trace::Postponed;

/// The candidates of a TTI, with their waiting SDUs if [`MacShConfig::needs_sdus`].
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    list: Vec<ListedCandidate>,
    /// The SDUs of all candidates, in the order of `list`.
    sdus: Vec<WaitingSdu>,
}

#[derive(Debug, Clone)]
struct ListedCandidate {
    candidate: Candidate,
    /// Index of its first SDU in [`Candidates::sdus`].
    first_sdu: usize,
}

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
    /// The candidates of this decision, in the order in which they get codes and power.
    order: Vec<Ranked>,
    grants: Vec<Grant>,
    refusals: Vec<Refusal>,
}

/// A candidate in the order of priority.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    level: PriorityLevel,
    rank: Rank,
    /// Arrival of the oldest SDU, or the current time if only control PDUs wait. Among users of equal
    /// rank, the user with the earliest time is first.
    since: Time,
    ue: UeId,
    /// Index among the candidates.
    candidate: usize,
    /// Index of the requested format. `None`: a scheduler of the user left the UE out.
    wanted: Option<usize>,
}

/// State of the DSCH that schedulers query for a candidate.
struct DschState<'a> {
    formats: Formats<'a>,
    radio: &'a Radio<'a>,
    load: &'a Load,
    candidate: &'a Candidate,
    sdus: &'a [WaitingSdu],
    credit: &'a mut Credit,
    /// Number of the TTI.
    tti: u64,
    /// Weight of the past in a mean rate.
    memory: f64,
}

impl ChannelState for DschState<'_> {
    fn credit(&self) -> f64 {
        self.credit.blocks()
    }

    fn deadline(&self, candidate: &Candidate) -> Option<Time> {
        let timeout = self.formats.config.timeout.of(candidate);
        self.sdus.first().map(|sdu| scheduling::deadline(&timeout, sdu))
    }

    /// L (χ + P_N), with the path loss L, the interference χ from other cells and the noise P_N: the
    /// transmit power in mW at which the own cell would be received as strongly as other cells and
    /// noise together.
    #[inline]
    fn interference_to_signal(&self) -> f64 {
        let interference = (self.radio.interference)(self.candidate.ue);
        self.formats.link(0, self.candidate, interference).outside(self.radio.power.noise)
    }

    fn possible_blocks(&self) -> u32 {
        let interference = (self.radio.interference)(self.candidate.ue);
        let fits = |format: &usize| {
            let link = self.formats.link(*format, self.candidate, interference);
            self.load.with(Load::of(self.radio.power, &link)).fits(self.radio.power)
        };
        let formats = &self.formats.config.formats;
        (0..formats.len()).rev().find(fits).map_or(0, |format| formats[format].blocks)
    }

    fn mean_blocks(&mut self) -> f64 {
        self.credit.mean_served(self.memory, self.tti)
    }
}

impl Candidates {
    /// Removes all candidates.
    pub fn begin(&mut self) {
        self.list.clear();
        self.sdus.clear();
    }

    /// Adds a candidate with its SDUs in order.
    #[cfg(test)]
    pub fn push(&mut self, candidate: Candidate, sdus: impl IntoIterator<Item = WaitingSdu>) {
        self.push_with(candidate, |all| all.extend(sdus));
    }

    /// Adds a candidate. `append` appends its SDUs in order.
    pub fn push_with(&mut self, candidate: Candidate, append: impl FnOnce(&mut Vec<WaitingSdu>)) {
        self.list.push(ListedCandidate { candidate, first_sdu: self.sdus.len() });
        append(&mut self.sdus);
    }

    /// The SDUs of the candidate with this index.
    fn sdus(&self, index: usize) -> &[WaitingSdu] {
        let end = self.list.get(index + 1).map_or(self.sdus.len(), |next| next.first_sdu);
        &self.sdus[self.list[index].first_sdu..end]
    }
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
        let phases = self.config.phases();
        if self.user_scheduler.is_some() {
            self.run_user_scheduler(now, number / phases, candidates, radio, load);
        } else {
            self.rank(now, number, candidates, radio, load);
        }
        match self.config.decision {
            Decision::EachTti => self.codes.begin(),
            Decision::EachFrame | Decision::AnyFrame => self.codes.begin_phase(),
        }
        self.grants.clear();
        self.refusals.clear();
        for place in 0..self.order.len() {
            let Ranked { candidate, wanted, .. } = self.order[place];
            self.decide(&candidates.list[candidate].candidate, wanted, radio, load);
        }
        self.assign_codes(if number.is_multiple_of(phases) { End::Left } else { End::Right });
        &self.grants
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
        let phase = self.phase(number);
        self.schedulers[phase].served(grant.ue);
        if let Some(scheduler) = &mut self.user_scheduler {
            scheduler.served(number / self.config.phases(), grant.ue, sent, received);
        }
    }

    /// The part of `served` for the present cell of the user, which has its credit.
    pub fn debit_credit(&mut self, number: u64, grant: &Grant, sent: u32) {
        let (memory, tti) = (self.memory, number / self.config.phases());
        let credit = self.users.of(&self.config.credit, tti, grant.ue);
        credit.spend(&self.config.credit, grant.blocks, sent);
        credit.serve(memory, tti, sent);
    }

    /// Index of the scheduler for decision `number`.
    fn phase(&self, number: u64) -> usize {
        match self.config.decision {
            Decision::EachTti | Decision::AnyFrame => 0,
            Decision::EachFrame => (number % 2) as usize,
        }
    }

    /// Credit of a user in the cell, as of its last request.
    pub fn credit(&self, ue: UeId) -> Option<&Credit> {
        self.users.get(ue)
    }

    /// Steps 1 and 2: the format that each user requests, and the order of the users.
    fn rank(&mut self, now: Time, number: u64, candidates: &Candidates, radio: &Radio<'_>, load: &Load) {
        let (phase, memory, tti) = (self.phase(number), self.memory, number / self.config.phases());
        let MacSh { config, processing, schedulers, users, order, .. } = self;
        let formats = Formats { config, processing };
        order.clear();
        for (index, ListedCandidate { candidate, .. }) in candidates.list.iter().enumerate() {
            let sdus = candidates.sdus(index);
            let credit_config = config.credit_of(candidate);
            let credit = users.of(&credit_config, tti, candidate.ue);
            credit.earn(&credit_config, tti);
            let wanted = Some(request(config, now, candidate, sdus, credit));
            let mut state = DschState { formats, radio, load, candidate, sdus, credit, tti, memory };
            let rank = schedulers[phase].rank(candidate, &mut state);
            let (level, Candidate { ue, since, .. }) = (candidate.level(), *candidate);
            let since = since.unwrap_or(now);
            order.push(Ranked { level, rank, since, ue, candidate: index, wanted });
        }
        order.sort_unstable_by(|a, b| {
            let by_rank = a.level.cmp(&b.level).then(a.rank.cmp(&b.rank));
            by_rank.then(a.since.cmp(&b.since)).then(a.ue.cmp(&b.ue))
        });
    }

    /// Steps 1 and 2 by a scheduler of the user. Users that it leaves out are last and request nothing.
    fn run_user_scheduler(
        &mut self,
        now: Time,
        tti: u64,
        candidates: &Candidates,
        radio: &Radio<'_>,
        load: &Load,
    ) {
        let MacSh { config, processing, users, user_scheduler: Some(scheduler), memory, order, .. } = self
        else {
            return;
        };
        let ranked = |&ListedCandidate { candidate, .. }: &ListedCandidate| {
            let credit_config = config.credit_of(&candidate);
            let credit = users.of(&credit_config, tti, candidate.ue);
            credit.earn(&credit_config, tti);
            let interference = (radio.interference)(candidate.ue);
            let mean = credit.mean_served(*memory, tti);
            RankedCandidate { candidate, interference, credit: credit.blocks(), mean }
        };
        let ranked_candidates: Vec<RankedCandidate> = candidates.list.iter().map(ranked).collect();
        let requests = if ranked_candidates.is_empty() {
            Vec::new()
        } else {
            let (formats, power, block) = (&config.formats[..], radio.power, config.block);
            let tti = Tti { now, number: tti, block, formats, processing, power, load };
            scheduler.order_with_formats(&tti, &ranked_candidates)
        };
        let mut is_left_out = vec![true; ranked_candidates.len()];
        requests.iter().for_each(|request| is_left_out[request.candidate] = false);
        // Each candidate with its requested format: in the order of the scheduler, then those that it
        // left out.
        let requesting = requests.iter().map(|request| (request.candidate, Some(request.format)));
        let left_out =
            (0..ranked_candidates.len()).filter(|&index| is_left_out[index]).map(|index| (index, None));
        order.clear();
        order.extend(requesting.chain(left_out).zip(0..).map(|((index, wanted), place)| {
            let candidate = ranked_candidates[index].candidate;
            Ranked {
                level: candidate.level(),
                rank: Rank::new(f64::from(place)),
                since: candidate.since.unwrap_or(now),
                ue: candidate.ue,
                candidate: index,
                wanted,
            }
        }));
    }

    /// Step 3 for one user: grants the requested format, a smaller one, or nothing.
    fn decide(&mut self, candidate: &Candidate, wanted: Option<usize>, radio: &Radio<'_>, load: &mut Load) {
        let ue = candidate.ue;
        let Some(wanted) = wanted else {
            self.refusals.push(Refusal { ue, wanted: 0, reason: Postponed::LeftOut });
            return;
        };
        let formats = Formats { config: &self.config, processing: &self.processing };
        match formats.allocate(radio, candidate, wanted, &mut self.codes, load) {
            Ok((format, link)) => self.grants.push(Grant {
                ue,
                format,
                wanted,
                blocks: self.config.formats[format].blocks,
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
}

/// Step 1: index of the format that a user requests.
#[inline]
fn request(
    config: &MacShConfig,
    now: Time,
    candidate: &Candidate,
    sdus: &[WaitingSdu],
    credit: &Credit,
) -> usize {
    let wanted = match config.requirement {
        RatePolicy::ServiceCredit => config.up_to(credit.blocks_to_request()),
        RatePolicy::Timeout => {
            let largest = config.formats.last().expect("a DSCH has formats").blocks;
            let timeout = config.timeout.of(candidate);
            config.holding(scheduling::blocks_in_time(&timeout, now, config.tti, sdus, largest))
        }
        RatePolicy::FullBacklog => config.holding(candidate.blocks),
    };
    if config.capped_by_backlog { wanted.min(config.holding(candidate.blocks)) } else { wanted }
}

#[cfg(test)]
mod tests;
