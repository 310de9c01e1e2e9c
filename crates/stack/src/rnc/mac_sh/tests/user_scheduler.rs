//! A scheduler of the user: its order is used, UEs that it leaves out wait, and it is notified of
//! the outcome of grants.

use std::sync::{Arc, Mutex};

use super::*;

/// TTI, UE and sent blocks of each grant, as reported to the scheduler.
type Outcomes = Arc<Mutex<Vec<(u64, u16, u32)>>>;

/// Selects the last user first, each with `format`. Leaves out users with at most `least` blocks.
#[derive(Debug)]
struct Backwards {
    format: usize,
    least: u32,
    outcomes: Outcomes,
}

impl DschScheduler for Backwards {
    fn decide(&mut self, tti: &Tti<'_>, candidates: &[RankedCandidate], order: &mut Vec<FormatRequest>) {
        assert_eq!(tti.formats.len(), 6);
        for (at, ranked) in candidates.iter().enumerate().rev() {
            let powers: Vec<_> = (0..6).map(|format| tti.power_for(ranked, format)).collect();
            assert!(powers.is_sorted() && powers[0] > Some(0.0), "{powers:?}");
            if ranked.candidate.blocks > self.least {
                order.push(FormatRequest { candidate: at, format: self.format });
            }
        }
    }

    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: u32) {
        assert_eq!(sent, received);
        self.outcomes.lock().unwrap().push((tti, ue.0, sent));
    }
}

#[test]
fn the_order_of_the_answer_counts_and_other_users_wait() {
    let outcomes = Outcomes::default();
    let mut cell = Cell::new(config(RatePolicy::FullBacklog, SchedulerKind::RoundRobin, 1.0, 300));
    for blocks in [40, 40, 40, 5] {
        cell = cell.user(&[(0, 570, blocks)]);
    }
    cell.mac.set_scheduler(Box::new(Backwards { format: 4, least: 8, outcomes: outcomes.clone() }));
    // A quarter of the tree holds two codes of SF 8. The scheduler leaves out the fourth user, whose
    // backlog is too small.
    let twelve_blocks = granted(5, 8, 12);
    assert_eq!(cell.tti(&[]), [postponed(5), twelve_blocks, twelve_blocks, postponed(1)]);
    let reasons: Vec<_> = cell.mac.refusals().iter().map(|refusal| (refusal.ue.0, refusal.reason)).collect();
    assert_eq!(reasons, [(0, Postponed::Codes), (3, Postponed::LeftOut)]);
    assert_eq!(*outcomes.lock().unwrap(), [(0, 2, 12), (0, 1, 12)]);
}

#[test]
fn a_tti_without_candidates_makes_no_call() {
    let mut cell = Cell::new(config(RatePolicy::FullBacklog, SchedulerKind::RoundRobin, 1.0, 300));
    cell.mac.set_scheduler(Box::new(Backwards { format: 9, least: 0, outcomes: Outcomes::default() }));
    assert_eq!(cell.tti(&[]), []);
}
