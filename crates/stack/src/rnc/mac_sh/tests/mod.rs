//! MAC-c/sh of one cell: worked cases as tables, closed forms, and properties of any TTI.

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
use crate::scheduling::{
    Accrual, CreditConfig, Debit, DschScheduler, Expired, FormatRequest, LooksAt, SchedulerKind,
    ServiceClass, TimeoutConfig,
};

const TTI: Duration = Duration::from_millis(20);

fn linear(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

/// TF1 to TF6 of the study.
fn formats() -> Vec<PowerFormat> {
    let formats = [(1, 128, 3.25), (2, 64, 2.75), (4, 32, 2.25), (8, 16, 1.85), (12, 8, 1.65), (16, 8, 1.55)];
    let format = |(blocks, spreading_factor, target_db)| PowerFormat {
        blocks,
        spreading_factor,
        target: linear(target_db),
        errors: Arc::new(LinkTable::logistic(target_db, 2.5)),
    };
    formats.map(format).to_vec()
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
            most: (2.0 * per_tti).max(16.0),
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

/// A user that requested format TF`wanted` got a code of this spreading factor and sent `sent` blocks.
const fn granted(wanted: usize, spreading_factor: u16, sent: u32) -> Row {
    Row { wanted, spreading_factor: Some(spreading_factor), sent }
}

/// A user that requested format TF`wanted` was postponed.
const fn postponed(wanted: usize) -> Row {
    Row { wanted, spreading_factor: None, sent: 0 }
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

    /// Adds a user with a path loss of `loss` dB. `sdus`: arrival in ms, size in octets, and blocks
    /// of each SDU.
    fn user_at(mut self, loss: f64, sdus: &[(u64, u64, u32)]) -> Self {
        let sdu = |&(entered, size, blocks): &(u64, u64, u32)| WaitingSdu {
            entered: Time::ZERO + Duration::from_millis(entered),
            size: Bytes(size),
            blocks,
        };
        let ue = UeId(self.users.len() as u16);
        let candidate =
            Candidate { gain: linear(-loss), ..Candidate::new(ue, Bytes(0), 0, Some(Time::ZERO)) };
        self.users.push(User { candidate, interference: 0.0, sdus: sdus.iter().map(sdu).collect() });
        self
    }

    fn user(self, sdus: &[(u64, u64, u32)]) -> Self {
        self.user_at(100.0, sdus)
    }

    /// One TTI in which conversational users, which are served first, want codes of these spreading
    /// factors. Returns a row for each other user with a backlog.
    fn tti(&mut self, taken: &[u16]) -> Vec<Row> {
        let now = Time::ZERO + TTI * self.tti;
        let mut candidates = Candidates::default();
        for (at, &spreading_factor) in taken.iter().enumerate() {
            self.take(&mut candidates, UeId(1000 + at as u16), spreading_factor, now);
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
            let spreading_factor = grant.code.spreading_factor;
            rows.push((grant.ue, granted(grant.wanted + 1, spreading_factor, sent)));
        }
        let refusals = self.mac.refusals().iter();
        rows.extend(refusals.map(|refusal| (refusal.ue, postponed(refusal.wanted + 1))));
        rows.sort_by_key(|(ue, _)| *ue);
        self.tti += 1;
        rows.into_iter().filter(|(ue, _)| ue.0 < 1000).map(|(_, row)| row).collect()
    }

    /// Adds a conversational user that wants this spreading factor under any rate policy.
    fn take(&mut self, candidates: &mut Candidates, ue: UeId, spreading_factor: u16, now: Time) {
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
    /// Sends up to `most` blocks, the oldest first.
    fn send(&mut self, most: u32) -> u32 {
        let mut left = most;
        for sdu in &mut self.sdus {
            let sent = sdu.blocks.min(left);
            sdu.blocks -= sent;
            left -= sent;
        }
        self.sdus.retain(|sdu| sdu.blocks > 0);
        most - left
    }
}
