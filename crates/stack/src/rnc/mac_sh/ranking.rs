//! Steps 1 and 2 of scheduling a DSCH: the format that each user requests, and the order in which the
//! users get codes and power. A scheduler supplied by the user of umtslab replaces both steps.

use umts_units::Time;

use super::availability::Formats;
use super::candidates::Candidates;
use super::{MacSh, MacShConfig, Radio, RatePolicy};
use crate::ids::UeId;
use crate::radio::phy::power_control::Load;
use crate::radio::rlc::WaitingSdu;
use crate::scheduling::{
    self, Candidate, ChannelState, Credit, FormatRequest, PriorityLevel, Rank, RankedCandidate, Tti,
};

/// Input of a decision.
#[derive(Clone, Copy)]
pub(super) struct DecisionInput<'a> {
    pub now: Time,
    /// Number of the TTI that begins.
    pub tti: u64,
    pub candidates: &'a Candidates,
    pub radio: &'a Radio<'a>,
    /// Load of the cell before the decision.
    pub load: &'a Load,
}

/// A candidate in the order of service.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Index among the candidates.
    pub candidate: usize,
    /// Index of the requested format. `None`: a scheduler of the user left the UE out.
    pub wanted: Option<usize>,
}

/// A request with the place of its user in the order.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankedRequest {
    place: Place,
    request: Request,
}

/// Place of a user in the order. The smallest place is served first. The fields are compared in this
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    level: PriorityLevel,
    /// Rank by the scheduler.
    rank: Rank,
    /// Arrival of the oldest SDU, or the current time if only control PDUs wait.
    since: Time,
    ue: UeId,
}

impl MacSh {
    /// Fills `order` with the requests of the candidates by the configured rules. `scheduler`: index
    /// of the scheduler.
    pub(super) fn rank(&mut self, scheduler: usize, input: DecisionInput<'_>) {
        let DecisionInput { now, tti, candidates, radio, load } = input;
        let MacSh { config, processing, schedulers, users, memory, ranked, order, .. } = self;
        let formats = Formats { config, processing };
        ranked.clear();
        for (index, candidate) in candidates.iter().enumerate() {
            let sdus = candidates.sdus(index);
            let credit_config = config.credit_of(candidate);
            let credit = users.of(&credit_config, tti, candidate.ue);
            credit.earn(&credit_config, tti);
            let wanted = Some(requested_format(config, now, candidate, sdus, credit));
            let mut state = DschState { formats, radio, load, candidate, sdus, credit, tti, memory: *memory };
            let place = Place {
                level: candidate.level(),
                rank: schedulers[scheduler].rank(candidate, &mut state),
                since: candidate.since.unwrap_or(now),
                ue: candidate.ue,
            };
            ranked.push(RankedRequest { place, request: Request { candidate: index, wanted } });
        }
        ranked.sort_unstable_by_key(|ranked| ranked.place);
        order.clear();
        order.extend(ranked.iter().map(|ranked| ranked.request));
    }

    /// Fills `order` with the requests that a scheduler of the user makes, in its order. Candidates that
    /// it leaves out follow, in their own order, and request nothing.
    pub(super) fn run_user_scheduler(&mut self, input: DecisionInput<'_>) {
        let DecisionInput { now, tti, candidates, radio, load } = input;
        let candidates: Vec<RankedCandidate> =
            candidates.iter().map(|candidate| self.describe(candidate, tti, radio)).collect();
        let MacSh { config, processing, user_scheduler: Some(scheduler), order, .. } = self else {
            return;
        };
        let requests: Vec<FormatRequest> = if candidates.is_empty() {
            Vec::new()
        } else {
            let (formats, power, block) = (&config.formats[..], radio.power, config.block);
            let tti = Tti { now, number: tti, block, formats, processing, power, load };
            scheduler.order_with_formats(&tti, &candidates)
        };
        let mut is_left_out = vec![true; candidates.len()];
        requests.iter().for_each(|request| is_left_out[request.candidate] = false);
        order.clear();
        for FormatRequest { candidate, format } in requests {
            order.push(Request { candidate, wanted: Some(format) });
        }
        for candidate in (0..candidates.len()).filter(|&candidate| is_left_out[candidate]) {
            order.push(Request { candidate, wanted: None });
        }
    }

    /// The state of a candidate that a scheduler of the user receives.
    fn describe(&mut self, candidate: &Candidate, tti: u64, radio: &Radio<'_>) -> RankedCandidate {
        let credit_config = self.config.credit_of(candidate);
        let credit = self.users.of(&credit_config, tti, candidate.ue);
        credit.earn(&credit_config, tti);
        RankedCandidate {
            candidate: *candidate,
            interference: (radio.interference)(candidate.ue),
            mean: credit.mean_served(self.memory, tti),
            credit: credit.blocks(),
        }
    }
}

/// Index of the format that a user requests.
#[inline]
fn requested_format(
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

/// State of the DSCH that schedulers query for a candidate.
struct DschState<'a> {
    candidate: &'a Candidate,
    /// The waiting SDUs of the candidate, in order.
    sdus: &'a [WaitingSdu],
    credit: &'a mut Credit,
    formats: Formats<'a>,
    radio: &'a Radio<'a>,
    load: &'a Load,
    /// Number of the TTI.
    tti: u64,
    /// Weight of the past in a mean rate, per TTI.
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
        // The result is the same for all formats.
        let link = self.formats.link(0, self.candidate, interference);
        link.outside(self.radio.power.noise)
    }

    /// Blocks of the largest format for which the cell has power.
    fn possible_blocks(&self) -> u32 {
        let interference = (self.radio.interference)(self.candidate.ue);
        let has_power = |format: &usize| {
            let link = self.formats.link(*format, self.candidate, interference);
            self.load.with(Load::of(self.radio.power, &link)).fits(self.radio.power)
        };
        let formats = &self.formats.config.formats;
        (0..formats.len()).rev().find(has_power).map_or(0, |format| formats[format].blocks)
    }

    fn mean_blocks(&mut self) -> f64 {
        self.credit.mean_served(self.memory, self.tti)
    }
}
