//! Tests of MAC-c/sh of one cell: worked cases as tables, closed forms, and properties of any TTI.
//!
//! A [`Cell`] has users with waiting SDUs. [`Cell::tti`] schedules a TTI of 20 ms and returns a [`Row`]
//! for each user: `tf(4).gets_sf(16).sends(8)` is a user that requested transport format TF4, got a code
//! of spreading factor 16, and sent 8 blocks. `tf(3).waits()` is a user that was postponed.

mod closed_forms;
mod phases;
mod properties;
mod service_credit;
mod timeout;
mod user_scheduler;

use std::sync::Arc;

use umts_units::{Bytes, Duration};

use super::*;
use crate::radio::mac::PowerFormat;
use crate::radio::phy::LinkTable;
use crate::radio::phy::power_control::PowerConfig;
use crate::radio::rlc::WaitingSdu;
use crate::scheduling::{
    Accrual, ChannelScheduler, CreditConfig, Debit, Expired, FormatRequest, LooksAt, RankedCandidate,
    SchedulerKind, ServiceClass, TimeoutConfig, Tti, Turn, UserCandidate,
};

const TTI: Duration = Duration::from_millis(20);

/// Number of the first conversational user of a TTI. The other users have lower numbers.
const FIRST_CONVERSATIONAL_UE: u16 = 1000;

fn linear(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

/// TF1 to TF6 of Rendón et al. (2004).
fn formats() -> Vec<PowerFormat> {
    let format = |blocks, spreading_factor, target_db| PowerFormat {
        blocks,
        spreading_factor,
        target: linear(target_db),
        errors: Arc::new(LinkTable::logistic(target_db, 2.5)),
    };
    // Blocks per TTI, spreading factor, target Eb/N0 in dB.
    vec![
        format(1, 128, 3.25),
        format(2, 64, 2.75),
        format(4, 32, 2.25),
        format(8, 16, 1.85),
        format(12, 8, 1.65),
        format(16, 8, 1.55),
    ]
}

/// A DSCH with a quarter of the code tree. `per_tti`: blocks per TTI at the guaranteed rate.
/// `timeout` is in ms.
fn config(requirement: RatePolicy, priority: SchedulerKind, per_tti: f64, timeout: u64) -> MacShConfig {
    MacShConfig {
        tti: TTI,
        decision: Decision::EachTti,
        block: Bytes(40),
        formats: formats(),
        codes: Code::last(4),
        requirement,
        priority,
        capped_by_backlog: false,
        credit: CreditConfig {
            per_tti,
            max_blocks: (2.0 * per_tti).max(16.0),
            accrues: Accrual::Always,
            debit: Debit::Sent,
        },
        timeout: TimeoutConfig {
            timeout: Duration::from_millis(timeout),
            of_size: Some(Bytes(570)),
            expired: Expired::Largest,
            looks_at: LooksAt::All,
        },
        mean_over: Duration::from_secs(1),
    }
}

fn credits(per_tti: f64) -> MacShConfig {
    config(RatePolicy::ServiceCredit, SchedulerKind::ServiceCredit, per_tti, 300)
}

fn timeouts(timeout: u64) -> MacShConfig {
    config(RatePolicy::Timeout, SchedulerKind::Timeout, 1.0, timeout)
}

/// The default power, which is more than the near users of these tests can need.
fn power() -> PowerConfig {
    PowerConfig::default()
}

/// A user with SDUs that sends all granted blocks and loses none.
#[derive(Debug, Clone)]
struct User {
    candidate: Candidate,
    interference: f64,
    sdus: Vec<WaitingSdu>,
}

/// Outcome for a user in a TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    /// Number of the requested format, from TF1 on.
    wanted: usize,
    /// Spreading factor granted. `None`: the user is postponed.
    spreading_factor: Option<u16>,
    /// Number of blocks sent.
    sent: u32,
}

/// A user that requested format TF`number`.
const fn tf(number: usize) -> Row {
    Row { wanted: number, spreading_factor: None, sent: 0 }
}

impl Row {
    /// The user got a code of this spreading factor.
    const fn gets_sf(self, spreading_factor: u16) -> Row {
        Row { spreading_factor: Some(spreading_factor), ..self }
    }

    /// The user sent this number of blocks.
    const fn sends(self, blocks: u32) -> Row {
        Row { sent: blocks, ..self }
    }

    /// The user was postponed.
    const fn waits(self) -> Row {
        Row { spreading_factor: None, sent: 0, ..self }
    }
}

/// An SDU of `octets` octets in `blocks` blocks that arrived at the start.
const fn sdu(octets: u64, blocks: u32) -> WaitingSdu {
    WaitingSdu { entered: Time::ZERO, size: Bytes(octets), blocks }
}

/// A cell with users.
struct Cell {
    mac: MacSh,
    power: PowerConfig,
    dchs: Load,
    users: Vec<User>,
    tti: u64,
}

impl Cell {
    fn new(config: MacShConfig) -> Self {
        Cell { mac: MacSh::new(config), power: power(), dchs: Load::default(), users: Vec::new(), tti: 0 }
    }

    /// Adds a user with a path loss of `loss` dB.
    fn user_at(mut self, loss: f64, sdus: &[WaitingSdu]) -> Self {
        let ue = UeId(self.users.len() as u16);
        let candidate =
            Candidate { gain: linear(-loss), ..Candidate::new(ue, Bytes(0), 0, Some(Time::ZERO)) };
        self.users.push(User { candidate, interference: 0.0, sdus: sdus.to_vec() });
        self
    }

    /// Adds a user near the cell.
    fn user(self, sdus: &[WaitingSdu]) -> Self {
        self.user_at(100.0, sdus)
    }

    /// One TTI in which conversational users, which are served first, want codes of the spreading
    /// factors `taken`. Returns a row for each other user with a backlog.
    fn tti(&mut self, taken: &[u16]) -> Vec<Row> {
        let now = Time::ZERO + TTI * self.tti;
        let mut candidates = Candidates::default();
        for (number, &spreading_factor) in taken.iter().enumerate() {
            let ue = UeId(FIRST_CONVERSATIONAL_UE + number as u16);
            self.add_conversational(&mut candidates, ue, spreading_factor, now);
        }
        for user in &self.users {
            let backlog: u32 = user.sdus.iter().map(|sdu| sdu.blocks).sum();
            let octets = Bytes(user.sdus.iter().map(|sdu| sdu.size.0).sum());
            if backlog > 0 {
                candidates.push(
                    Candidate {
                        octets,
                        blocks: backlog,
                        since: Some(user.sdus[0].entered),
                        ..user.candidate
                    },
                    user.sdus.iter().copied(),
                );
            }
        }
        let mut load = self.dchs;
        let interference = |ue: UeId| self.users.get(ue.index()).map_or(0.0, |user| user.interference);
        let radio = Radio { power: &self.power, interference: &interference };
        let grants = self.mac.schedule(now, self.tti, &candidates, &radio, &mut load).to_vec();
        let mut rows: Vec<(UeId, Row)> = Vec::new();
        for grant in grants {
            let sent = self.users.get_mut(grant.ue.index()).map_or(0, |user| user.send(grant.blocks));
            self.mac.served(self.tti, &grant, sent, sent);
            // TF1 has index 0.
            let row = tf(grant.wanted + 1).gets_sf(grant.code.spreading_factor).sends(sent);
            rows.push((grant.ue, row));
        }
        let refusals = self.mac.refusals().iter();
        rows.extend(refusals.map(|refusal| (refusal.ue, tf(refusal.wanted + 1).waits())));
        rows.sort_by_key(|(ue, _)| *ue);
        self.tti += 1;
        rows.into_iter().filter(|(ue, _)| ue.0 < FIRST_CONVERSATIONAL_UE).map(|(_, row)| row).collect()
    }

    /// Adds a conversational user that wants this spreading factor under any rate policy.
    fn add_conversational(
        &mut self,
        candidates: &mut Candidates,
        ue: UeId,
        spreading_factor: u16,
        now: Time,
    ) {
        let formats = &self.mac.config().formats;
        let format =
            formats.iter().find(|format| format.spreading_factor == spreading_factor).expect("one has it");
        let blocks = format.blocks;
        let mut credit = Credit::new(&self.mac.config().credit, self.tti);
        credit.earn(&self.mac.config().credit, self.tti);
        credit.blocks = f64::from(blocks);
        self.mac.join(ue, credit);
        // An SDU of size 0 has a timeout of 0: it is late at once and requests the largest format.
        let (since, entered) = (now, now);
        let class = ServiceClass::Conversational;
        let user = Candidate { class, gain: 1e-8, ..Candidate::new(ue, Bytes(0), blocks, Some(since)) };
        candidates.push(user, [WaitingSdu { entered, size: Bytes(0), blocks }]);
    }

    fn credit(&self, ue: u16) -> f64 {
        self.mac.credit(UeId(ue)).unwrap().blocks()
    }
}

impl User {
    /// Sends up to `max_blocks` blocks, the oldest first. Returns their number.
    fn send(&mut self, max_blocks: u32) -> u32 {
        let mut blocks_left = max_blocks;
        for sdu in &mut self.sdus {
            let sent = sdu.blocks.min(blocks_left);
            sdu.blocks -= sent;
            blocks_left -= sent;
        }
        self.sdus.retain(|sdu| sdu.blocks > 0);
        max_blocks - blocks_left
    }
}
