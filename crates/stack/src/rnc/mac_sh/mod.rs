//! MAC-c/sh: who has the DSCH of a cell in a TTI, in which format, on which code (TS 25.321 §4.2.3.2; Rendón et al. 2004, §2).
//!
//! Each TTI is decided anew, in three steps: what each user wants ([`RatePolicy`]), who is first ([`Priority`]), and what
//! there is of codes and power ([`availability`]). Requirement and priority are chosen apart.
//!
//! Where it is decided each frame, decision number n is about TTIs number n / 2 of those who ask; those of decision n - 1 are in the
//! middle of theirs, with their codes.
//!
//! It is pure: users ask, with what waits for them and how well they hear, and grants and refusals come out. Whoever asks
//! obeys them, and says afterwards what was sent. What other cells are to a user is asked for when it matters: not of who finds
//! no code, nor where calls have all the power.

mod availability;
mod config;
mod credits;
mod full_backlog;
mod max_ci;
mod proportional_fair;
mod round_robin;
mod service_credit;
mod timeout;
mod user_scheduler;

use std::sync::Arc;

use umts_units::Time;

pub use self::availability::{Radio, Reason};
pub use self::config::{
    Accrual, CreditConfig, Debit, Decision, Expired, Format, LooksAt, MacShConfig, Priority, RatePolicy,
    TimeoutConfig, WithoutCredit,
};
use self::credits::Credits;
use self::proportional_fair::At;
use self::round_robin::RoundRobin;
pub use self::service_credit::Credit;
pub use self::user_scheduler::{
    DschScheduler, FormatRequest, RankedCandidate, Tti, UserScheduler, UserSchedulers,
};
use crate::ids::UeId;
use crate::radio::phy::ovsf::{Code, CodeShare, End};
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::Link;
use crate::radio::rlc::WaitingSdu;

/// A user with something to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Who asks.
    pub ue: UeId,
    /// His class: a lower one goes before all users of a higher one.
    pub class: u8,
    /// Blocks that wait for him, those that are sent again and control PDUs among them.
    pub backlog: u32,
    /// Since when the oldest of it waits.
    pub since: Time,
    /// The gain from his cell, 1/L.
    pub gain: f64,
    /// What the outer loop multiplies his targets with; 1 without.
    pub outer_loop: f64,
}

/// All who ask in a TTI, and the SDUs that wait for them where anybody looks at these.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    asks: Vec<(Candidate, usize)>,
    sdus: Vec<WaitingSdu>,
}

/// A user's part of a TTI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grant {
    /// Whose it is.
    pub ue: UeId,
    /// The number of his format from zero: TF1 is 0.
    pub format: usize,
    /// That of the format that he wanted.
    pub wanted: usize,
    /// The most blocks that he may send.
    pub blocks: u32,
    /// His code.
    pub code: Code,
    /// What power control is to reach for him.
    pub link: Link,
}

/// A user who has to wait for the next TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Who it is.
    pub ue: UeId,
    /// The number of the format that he wanted.
    pub wanted: usize,
    /// What there was not enough of.
    pub reason: Reason,
}

/// The DSCH of a cell.
#[derive(Debug)]
pub struct MacSh {
    /// The DSCHs of all cells share it, and so the lines of the cache that hold its formats.
    config: Arc<MacShConfig>,
    codes: CodeShare,
    /// By phase, where users belong to one.
    turns: [RoundRobin; 2],
    /// Decides in place of requirement and priority.
    discipline: Option<UserScheduler>,
    /// Those who are in the cell.
    users: Credits,
    /// What a TTI leaves of the past in a user's mean.
    keeps: f64,
    order: Vec<Ranked>,
    grants: Vec<Grant>,
    refusals: Vec<Refusal>,
}

/// Where a user stands among all who ask.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    class: u8,
    rank: f64,
    since: Time,
    ue: UeId,
    ask: usize,
    wanted: Option<usize>,
}

impl Candidates {
    /// A TTI begins: nobody asks.
    pub fn begin(&mut self) {
        self.asks.clear();
        self.sdus.clear();
    }

    /// A user asks; his SDUs in order, if [`MacShConfig::asks_for_sdus`].
    pub fn push(&mut self, ask: Candidate, sdus: impl IntoIterator<Item = WaitingSdu>) {
        self.asks.push((ask, self.sdus.len()));
        self.sdus.extend(sdus);
    }

    /// The same; `tell` puts the user's SDUs behind those of others.
    pub fn push_with(&mut self, ask: Candidate, tell: impl FnOnce(&mut Vec<WaitingSdu>)) {
        self.asks.push((ask, self.sdus.len()));
        tell(&mut self.sdus);
    }

    /// Whether nobody asks.
    pub fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    fn sdus(&self, at: usize) -> &[WaitingSdu] {
        let to = self.asks.get(at + 1).map_or(self.sdus.len(), |(_, from)| *from);
        &self.sdus[self.asks[at].1..to]
    }
}

impl MacSh {
    /// A DSCH on which nobody was served yet.
    pub fn new(config: impl Into<Arc<MacShConfig>>) -> Self {
        let config = config.into();
        let (codes, keeps) = (CodeShare::new(config.codes), proportional_fair::keeps(&config));
        let (order, grants, refusals) = (Vec::new(), Vec::new(), Vec::new());
        let (users, turns) = (Credits::default(), Default::default());
        MacSh { config, codes, turns, discipline: None, users, keeps, order, grants, refusals }
    }

    /// From now on this decides what users want and who is first.
    pub fn set_scheduler(&mut self, discipline: UserScheduler) {
        self.discipline = Some(discipline);
    }

    /// What it is configured with.
    pub fn config(&self) -> &MacShConfig {
        &self.config
    }

    /// A user comes into the cell with what he has coming to him.
    pub fn join(&mut self, ue: UeId, credit: Credit) {
        self.users.join(ue, credit);
    }

    /// A user leaves the cell; what he takes along, if he was there.
    pub fn leave(&mut self, ue: UeId) -> Option<Credit> {
        self.users.leave(ue)
    }

    /// Makes decision number `number`, about TTIs that begin `now`. `load` is that of the DCHs and of who is in the middle of a
    /// TTI, and with that of the grants afterwards. Grants come in the order of priority.
    pub fn schedule(
        &mut self,
        now: Time,
        number: u64,
        asks: &Candidates,
        radio: &Radio<'_>,
        load: &mut Load,
    ) -> &[Grant] {
        let phases = self.config.phases();
        let tti = number / phases;
        if self.discipline.is_some() {
            self.ask_discipline(now, tti, asks, radio, load);
        } else {
            self.rank(now, (tti, self.round(number)), asks, radio, load);
        }
        match self.config.decision {
            Decision::EachTti => self.codes.begin(),
            Decision::EachFrame | Decision::AnyFrame => self.codes.begin_phase(),
        }
        self.grants.clear();
        self.refusals.clear();
        let order = std::mem::take(&mut self.order);
        for ranked in &order {
            self.decide(&asks.asks[ranked.ask].0, ranked.wanted, radio, load);
        }
        self.order = order;
        self.give_codes(if number.is_multiple_of(phases) { End::Left } else { End::Right });
        &self.grants
    }

    /// The grants that were decided on last, in the order of priority.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Who was refused then, in the order of priority.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// Of a grant of decision `number` so many blocks were sent, and so many of those received.
    pub fn served(&mut self, number: u64, grant: &Grant, sent: u32, received: u32) {
        self.had_turn(number, grant, sent, received);
        self.pays(number, grant, sent, received);
    }

    /// That part of it which is about the cell in which the grant was.
    pub fn had_turn(&mut self, number: u64, grant: &Grant, sent: u32, received: u32) {
        let round = self.round(number);
        self.turns[round].served(grant.ue);
        if let Some(discipline) = &mut self.discipline {
            discipline.served(number / self.config.phases(), grant.ue, sent, received);
        }
    }

    /// The round that a decision belongs to: that of the users who may ask for it.
    fn round(&self, number: u64) -> usize {
        match self.config.decision {
            Decision::EachTti | Decision::AnyFrame => 0,
            Decision::EachFrame => (number % 2) as usize,
        }
    }

    /// That part of it which is about the user, where he is.
    pub fn pays(&mut self, number: u64, grant: &Grant, sent: u32, received: u32) {
        let (keeps, tti) = (self.keeps, number / self.config.phases());
        let credit = self.users.of(&self.config.credit, tti, grant.ue);
        credit.spend(&self.config.credit, grant.blocks, sent, received);
        credit.serve(keeps, tti, sent);
    }

    /// What a user who is in the cell has coming to him, as of when he last asked.
    pub fn credit(&self, ue: UeId) -> Option<&Credit> {
        self.users.get(ue)
    }

    /// Steps A and B: what everybody wants, and in which order they are served.
    fn rank(
        &mut self,
        now: Time,
        (tti, round): (u64, usize),
        asks: &Candidates,
        radio: &Radio<'_>,
        load: &Load,
    ) {
        self.order.clear();
        for (at, (ask, _)) in asks.asks.iter().enumerate() {
            let (config, sdus) = (&self.config, asks.sdus(at));
            let credit = self.users.of(&config.credit, tti, ask.ue);
            credit.earn(&config.credit, tti);
            let wanted = want(config, now, ask, sdus, credit);
            let rank = match config.priority {
                Priority::ServiceCredit => -credit.blocks(),
                Priority::Timeout => timeout::rank(&config.timeout, sdus),
                Priority::RoundRobin => self.turns[round].rank(ask.ue),
                Priority::MaxCi => max_ci::rank(&radio.link(config, 0, ask), radio.power.noise),
                Priority::ProportionalFair => {
                    let at = At { tti, keeps: self.keeps };
                    proportional_fair::rank(config, radio, load, ask, credit, at)
                }
            };
            self.order.push(Ranked { class: ask.class, rank, since: ask.since, ue: ask.ue, ask: at, wanted });
        }
        self.order.sort_unstable_by(|a, b| {
            let by_rank = a.class.cmp(&b.class).then(a.rank.total_cmp(&b.rank));
            by_rank.then(a.since.cmp(&b.since)).then(a.ue.cmp(&b.ue))
        });
    }

    /// The same as a discipline from outside has it. Those whom it leaves out come last and want nothing.
    fn ask_discipline(&mut self, now: Time, tti: u64, asks: &Candidates, radio: &Radio<'_>, load: &Load) {
        let MacSh { config, users, discipline: Some(discipline), keeps, order, .. } = self else { return };
        let see = |(ask, _): &(Candidate, usize)| {
            let credit = users.of(&config.credit, tti, ask.ue);
            credit.earn(&config.credit, tti);
            let (interference, mean) = ((radio.interference)(ask.ue), credit.mean_served(*keeps, tti));
            RankedCandidate { ask: *ask, interference, credit: credit.blocks(), mean }
        };
        let seen: Vec<RankedCandidate> = asks.asks.iter().map(see).collect();
        let mut wishes = Vec::new();
        if !seen.is_empty() {
            let tti = Tti { now, number: tti, config, power: radio.power, load };
            discipline.decide(&tti, &seen, &mut wishes);
        }
        let mut is_left_out = vec![true; seen.len()];
        wishes.iter().for_each(|wish| is_left_out[wish.ask] = false);
        let last = (0..seen.len()).filter(|&at| is_left_out[at]).map(|at| (at, None));
        let first = wishes.iter().map(|wish| (wish.ask, Some(wish.format)));
        order.clear();
        order.extend(first.chain(last).zip(0..).map(|((at, wanted), place)| {
            let Candidate { ue, class, since, .. } = seen[at].ask;
            Ranked { class, rank: f64::from(place), since, ue, ask: at, wanted }
        }));
    }

    /// Step C for one user: what he wants, less, or nothing.
    fn decide(&mut self, ask: &Candidate, wanted: Option<usize>, radio: &Radio<'_>, load: &mut Load) {
        let Some(wanted) = wanted else {
            self.refusals.push(Refusal { ue: ask.ue, wanted: 0, reason: Reason::Credit });
            return;
        };
        match availability::take(&self.config, radio, ask, wanted, &mut self.codes, load) {
            Ok((format, link)) => self.grants.push(Grant {
                ue: ask.ue,
                format,
                wanted,
                blocks: self.config.formats[format].blocks,
                code: self.config.codes,
                link,
            }),
            Err(reason) => self.refusals.push(Refusal { ue: ask.ue, wanted, reason }),
        }
    }

    /// Which code each grant has, those with small spreading factors first.
    fn give_codes(&mut self, end: End) {
        let spreading_factor = |grant: &Grant| self.config.formats[grant.format].spreading_factor;
        let mut rising: Vec<usize> = (0..self.grants.len()).collect();
        rising.sort_by_key(|&at| spreading_factor(&self.grants[at]));
        let wanted: Vec<u16> = rising.iter().map(|&at| spreading_factor(&self.grants[at])).collect();
        for (at, code) in rising.into_iter().zip(self.codes.codes(end, wanted)) {
            self.grants[at].code = code;
        }
    }
}

/// Step A: the number of the format that a user wants; `None` if he has to wait for credits.
#[inline]
fn want(
    config: &MacShConfig,
    now: Time,
    ask: &Candidate,
    sdus: &[WaitingSdu],
    credit: &Credit,
) -> Option<usize> {
    let wanted = match config.requirement {
        RatePolicy::ServiceCredit => credit.want(config)?,
        RatePolicy::Timeout => timeout::want(config, now, sdus),
        RatePolicy::FullBacklog => full_backlog::want(config, ask.backlog),
    };
    Some(if config.capped_by_backlog { wanted.min(config.holding(ask.backlog)) } else { wanted })
}

#[cfg(test)]
mod tests;
