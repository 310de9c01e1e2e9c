//! A scheduler that the user of umtslab supplies for the DSCH: its order is used, UEs that it leaves out
//! wait, and it is notified of the outcome of grants.

use std::sync::{Arc, Mutex};

use super::*;

/// A grant as reported to the scheduler.
#[derive(Debug, PartialEq)]
struct ServedUe {
    tti: u64,
    ue: u16,
    sent_blocks: u32,
}

type Outcomes = Arc<Mutex<Vec<ServedUe>>>;

/// Selects the last user first, each with the format of index `format`. Leaves out users with at most
/// `ignored_backlog` blocks.
#[derive(Debug)]
struct Backwards {
    format: usize,
    ignored_backlog: u32,
    outcomes: Outcomes,
}

impl ChannelScheduler for Backwards {
    fn order(&mut self, _: Turn, _: &[UserCandidate]) -> Vec<usize> {
        unreachable!("MAC-c/sh queries formats too")
    }

    fn order_with_formats(&mut self, tti: &Tti<'_>, candidates: &[RankedCandidate]) -> Vec<FormatRequest> {
        assert_eq!(tti.formats.len(), 6);
        let mut order = Vec::new();
        for (index, ranked) in candidates.iter().enumerate().rev() {
            let powers: Vec<_> = (0..6).map(|format| tti.power_for(ranked, format)).collect();
            assert!(powers.is_sorted() && powers[0] > Some(0.0), "{powers:?}");
            if ranked.candidate.blocks > self.ignored_backlog {
                order.push(FormatRequest { candidate: index, format: self.format });
            }
        }
        order
    }

    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: Option<u32>) {
        assert_eq!(received, Some(sent));
        self.outcomes.lock().unwrap().push(ServedUe { tti, ue: ue.0, sent_blocks: sent });
    }
}

#[test]
fn the_order_of_the_answer_counts_and_other_users_wait() {
    let outcomes = Outcomes::default();
    let mut cell = Cell::new(config(RatePolicy::FullBacklog, SchedulerKind::RoundRobin, 1.0, 300));
    for blocks in [40, 40, 40, 5] {
        cell = cell.user(&[sdu(570, blocks)]);
    }
    // Format index 4 is TF5, with 12 blocks at spreading factor 8.
    let scheduler = Backwards { format: 4, ignored_backlog: 8, outcomes: outcomes.clone() };
    cell.mac.set_scheduler(Box::new(scheduler));
    // A quarter of the tree holds two codes of SF 8. The scheduler leaves out the fourth user, whose
    // backlog is too small.
    let twelve_blocks = tf(5).gets_sf(8).sends(12);
    assert_eq!(cell.tti(&[]), [tf(5).waits(), twelve_blocks, twelve_blocks, tf(1).waits()]);
    let reasons: Vec<_> = cell.mac.refusals().iter().map(|refusal| (refusal.ue.0, refusal.reason)).collect();
    assert_eq!(reasons, [(0, Postponed::Codes), (3, Postponed::LeftOut)]);
    let served = |ue| ServedUe { tti: 0, ue, sent_blocks: 12 };
    assert_eq!(*outcomes.lock().unwrap(), [served(2), served(1)]);
}

#[test]
fn a_tti_without_candidates_makes_no_call() {
    let mut cell = Cell::new(config(RatePolicy::FullBacklog, SchedulerKind::RoundRobin, 1.0, 300));
    // A call would panic, because no format has index 9.
    let scheduler = Backwards { format: 9, ignored_backlog: 0, outcomes: Outcomes::default() };
    cell.mac.set_scheduler(Box::new(scheduler));
    assert_eq!(cell.tti(&[]), []);
}
