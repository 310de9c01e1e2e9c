//! Admission of DCHs in one cell: limits, preemption, waiting requests and service classes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use umts_units::BitRate;

use super::*;

fn rate(kbps: u64) -> BitRate {
    BitRate::from_bps(kbps * 1000).unwrap()
}

/// A DCH with these rates in downlink and uplink, in kbit/s.
fn dch(down: u64, up: u64) -> DchRates {
    DchRates { rates: [rate(down), rate(up)], is_hs_dsch: false, is_e_dch: false }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// The cell of Dubois (2005), Table 7.2: 800 kbit/s in the downlink, of which the FACH has 32. The
/// other 768 kbit/s are twelve DCHs of 64 kbit/s. Up to `queue` requests may wait.
fn cell(queue: u32) -> Admission {
    let limits = Limits { rates: [Some(rate(800)), None], queue, ..Limits::default() };
    let mut admission = Admission::new(limits, Reserved { rates: [32_000, 0], dchs: 0, hs_users: 0 });
    admission.offer(dch(64, 32));
    admission
}

fn no_inactive_ue(_: UeId) -> Option<Preemptible> {
    None
}

/// A DCH that is unused from `from` on.
fn unused(from: Time, release: Duration) -> Preemptible {
    Preemptible { class: ServiceClass::Interactive, used_until: from, is_free_then: true, release }
}

/// A UE and its service class.
#[derive(Debug, Clone, Copy)]
struct User {
    ue: UeId,
    class: ServiceClass,
}

fn user(ue: u16, class: ServiceClass) -> User {
    User { ue: UeId(ue), class }
}

fn interactive(ue: u16) -> User {
    user(ue, ServiceClass::Interactive)
}

/// Like [`cell`]. The interactive UEs 0 to 11 have all twelve DCHs.
fn occupied_cell(queue: u32) -> Admission {
    let mut cell = cell(queue);
    for ue in 0..12 {
        cell.request(ms(0), interactive(ue), &[dch(64, 32)], no_inactive_ue);
    }
    cell
}

/// The request waits, and displaces no other one.
const QUEUED: Decision = Decision::Queued { displaced: None };

/// The largest requested DCH is granted at once, without preemption.
const FREE: Decision = Decision::Granted { dch: 0, after: Duration::ZERO, preempted: Vec::new() };

impl Admission {
    /// Decides on a request in a cell with a radio that has room for every DCH.
    fn request(
        &mut self,
        now: Time,
        user: User,
        dchs: &[DchRates],
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
    ) -> Decision {
        let request = Request { ue: user.ue, class: user.class, dchs };
        self.decide(now, &request, preemptible, |_| true)
    }
}

#[test]
fn twelve_dchs_of_64_kbps_fit_beside_the_fach() {
    let mut cell = cell(0);
    for ue in 0..12 {
        assert!(cell.has_room() && !cell.is_full(ms(0), no_inactive_ue));
        assert_eq!(cell.request(ms(0), interactive(ue), &[dch(64, 32)], no_inactive_ue), FREE);
    }
    assert_eq!(cell.reserved(), Reserved { rates: [800_000, 384_000], dchs: 12, hs_users: 0 });
    assert!(!cell.has_room() && cell.is_full(ms(0), no_inactive_ue));
    assert_eq!(cell.request(ms(0), interactive(12), &[dch(64, 32)], no_inactive_ue), Decision::Refused);
    cell.release(UeId(5));
    assert_eq!(cell.request(ms(0), interactive(12), &[dch(64, 32)], no_inactive_ue), FREE);
}

#[test]
fn each_limit_applies_independently() {
    let dchs_granted = |rates, dchs| {
        let mut cell = Admission::new(Limits { rates, dchs, ..Limits::default() }, Reserved::default());
        let mut given = 0;
        while cell.request(ms(0), interactive(given), &[dch(64, 32)], no_inactive_ue) == FREE {
            given += 1;
            if given == 100 {
                break;
            }
        }
        given
    };
    assert_eq!(dchs_granted([Some(rate(200)), None], None), 3);
    assert_eq!(dchs_granted([None, Some(rate(64))], None), 2);
    assert_eq!(dchs_granted([None, None], Some(5)), 5);
    assert_eq!(dchs_granted([None, None], None), 100);
}

#[test]
fn the_largest_free_rate_is_granted() {
    let mut cell = cell(0);
    let offers = [dch(384, 64), dch(128, 64), dch(64, 64)];
    let given: Vec<u8> = (0..6)
        .map_while(|ue| match cell.request(ms(0), interactive(ue), &offers, no_inactive_ue) {
            Decision::Granted { dch, .. } => Some(dch),
            _ => None,
        })
        .collect();
    // The FACH and two DCHs fill the cell: 32 + 2 · 384 = 800 kbit/s.
    assert_eq!(given, [0, 0]);
    cell.release(UeId(0));
    cell.request(ms(0), interactive(7), &[dch(64, 64)], no_inactive_ue);
    let next = |cell: &mut Admission, ue| cell.request(ms(0), interactive(ue), &offers, no_inactive_ue);
    let second = Decision::Granted { dch: 1, after: Duration::ZERO, preempted: vec![] };
    assert_eq!([next(&mut cell, 8), next(&mut cell, 9)], [second.clone(), second]);
    let third = Decision::Granted { dch: 2, after: Duration::ZERO, preempted: vec![] };
    // 64 + 2 · 128 kbit/s were granted after the release of 384 kbit/s, so 64 kbit/s are left.
    assert_eq!(next(&mut cell, 10), third);
    assert_eq!(next(&mut cell, 11), Decision::Refused);
}

#[test]
fn the_longest_unused_dch_is_preempted() {
    let mut cell = occupied_cell(0);
    let unused_from = |ue: UeId| match ue.0 {
        3 => Some(ms(900)),
        7 => Some(ms(800)),
        9 => Some(ms(1001)),
        _ => None,
    };
    let release = Duration::from_millis(500);
    let holder = |ue| unused_from(ue).map(|from| unused(from, release));
    let decision = cell.request(ms(1000), interactive(20), &[dch(64, 32)], holder);
    assert_eq!(decision, Decision::Granted { dch: 0, after: release, preempted: vec![UeId(7)] });
    // The preempted DCH counts once, before and after its release.
    assert_eq!(cell.reserved().rates[0], 800_000);
    cell.release(UeId(7));
    assert_eq!(cell.reserved(), Reserved { rates: [800_000, 384_000], dchs: 12, hs_users: 0 });
}

#[test]
fn a_holder_in_its_non_preemptive_period_keeps_its_dch() {
    let mut cell = occupied_cell(0);
    // All DCHs can be preempted from 2,000 ms on.
    let holder = |_| Some(unused(ms(2000), Duration::ZERO));
    assert_eq!(cell.request(ms(1999), interactive(20), &[dch(64, 32)], holder), Decision::Refused);
    let granted = cell.request(ms(2000), interactive(20), &[dch(64, 32)], holder);
    assert!(matches!(granted, Decision::Granted { ref preempted, .. } if preempted == &[UeId(0)]));
}

#[test]
fn a_cell_is_full_while_no_dch_is_free_or_can_be_taken_away() {
    let mut cell = occupied_cell(0);
    // From 2,000 ms on the DCH of UE 4 is unused and can be preempted.
    let only_ue_4 = |ue: UeId| (ue.0 == 4).then_some(unused(ms(2000), Duration::ZERO));
    assert!(cell.is_full(ms(1999), only_ue_4));
    assert!(!cell.is_full(ms(2000), only_ue_4));
    // It is promised to UE 20, which gets it when UE 4 releases it. Then UE 5 releases a DCH.
    cell.request(ms(2000), interactive(20), &[dch(64, 32)], only_ue_4);
    assert!(cell.is_full(ms(2001), no_inactive_ue));
    cell.release(UeId(4));
    cell.release(UeId(5));
    assert!(!cell.is_full(ms(2002), no_inactive_ue));
}

#[test]
fn only_as_many_dchs_are_preempted_as_the_request_needs() {
    let mut cell = occupied_cell(0);
    let holder = |_| Some(unused(ms(0), Duration::ZERO));
    let Decision::Granted { preempted, .. } = cell.request(ms(1), interactive(20), &[dch(128, 64)], holder)
    else {
        panic!("two make room for 128 kbit/s")
    };
    assert_eq!(preempted, [UeId(0), UeId(1)]);
    cell.release(UeId(1));
    assert_eq!(cell.reserved().rates[0], 800_000, "the first still has its 64, and 64 are promised");
    cell.release(UeId(0));
    assert_eq!((cell.reserved().rates[0], cell.reserved().dchs), (800_000, 11));
    let all_kept = cell.request(ms(1), interactive(21), &[dch(1000, 64)], holder);
    assert_eq!(all_kept, Decision::Refused, "no DCH is preempted for a request that never fits");
    assert_eq!(cell.reserved().dchs, 11);
}

#[test]
fn requests_wait_in_order_up_to_the_queue_limit() {
    let mut cell = occupied_cell(2);
    let request_dch =
        |cell: &mut Admission, ue| cell.request(ms(1), interactive(ue), &[dch(64, 32)], no_inactive_ue);
    let answers = [20, 21, 20, 22].map(|ue| request_dch(&mut cell, ue));
    assert_eq!(answers, [QUEUED, QUEUED, QUEUED, Decision::Refused]);
    assert_eq!(cell.first_waiting(), Some(UeId(20)));
    cell.release(UeId(0));
    assert_eq!(request_dch(&mut cell, 20), FREE);
    assert_eq!(cell.first_waiting(), Some(UeId(21)));
    cell.withdraw(UeId(21));
    assert_eq!(cell.first_waiting(), None);
}

#[test]
fn a_larger_dch_takes_the_place_of_the_smaller_one() {
    let mut cell = cell(0);
    cell.request(ms(0), interactive(0), &[dch(64, 32)], no_inactive_ue);
    assert_eq!(cell.request(ms(0), interactive(0), &[dch(768, 32)], no_inactive_ue), FREE);
    assert_eq!(cell.reserved(), Reserved { rates: [800_000, 32_000], dchs: 1, hs_users: 0 });
    assert_eq!(cell.request(ms(0), interactive(0), &[dch(769, 32)], no_inactive_ue), Decision::Refused);
    cell.change(UeId(0), dch(64, 32));
    assert_eq!(cell.reserved().rates[0], 96_000);
}

/// Twelve UEs with DCHs of 64 kbit/s fill the cell. UE n has class n / 3: three of each class.
fn full_cell(queue: u32, preemption: Preemption) -> Admission {
    let limits = Limits { rates: [Some(rate(800)), None], queue, preemption, ..Limits::default() };
    let mut admission = Admission::new(limits, Reserved { rates: [32_000, 0], dchs: 0, hs_users: 0 });
    for ue in (0..12).map(UeId) {
        assert_eq!(
            admission.request(ms(0), User { ue, class: class_of(ue) }, &[dch(64, 32)], no_inactive_ue),
            FREE
        );
    }
    admission
}

fn class_of(ue: UeId) -> ServiceClass {
    ServiceClass::ALL[ue.index() / 3]
}

/// A DCH of `full_cell` that is used until `used_until`.
fn holder(ue: UeId, used_until: Time) -> Option<Preemptible> {
    (ue.0 < 12).then(|| Preemptible { class: class_of(ue), ..unused(used_until, Duration::ZERO) })
}

/// UEs whose DCHs the decision preempts.
fn preempted(decision: Decision) -> Vec<u16> {
    match decision {
        Decision::Granted { preempted, .. } => preempted.into_iter().map(|ue| ue.0).collect(),
        Decision::Queued { .. } | Decision::Refused => Vec::new(),
    }
}

#[test]
fn unused_dchs_are_taken_from_the_own_and_lower_classes_lowest_first() {
    let holders = |ue: UeId| holder(ue, ms(100 - u64::from(ue.0)));
    for (class, expected) in ServiceClass::ALL.into_iter().zip([0, 3, 6, 9]) {
        let mut cell = full_cell(0, Preemption::Inactive);
        let taken = (20..40).map_while(|ue| {
            let decision = cell.request(ms(100), user(ue, class), &[dch(64, 32)], holders);
            preempted(decision).first().copied().inspect(|&ue| cell.release(UeId(ue)))
        });
        // Within a class the DCH that is unused for the longest time is taken, which is the last one.
        let taken: Vec<u16> = taken.collect();
        assert_eq!(taken, (expected..12).rev().collect::<Vec<_>>(), "{class:?}");
    }
}

#[test]
fn dchs_in_use_are_preempted_only_with_lower_class_preemption() {
    let in_use = |ue: UeId| holder(ue, ms(1000));
    let streaming = user(20, ServiceClass::Streaming);
    let request = |preemption| full_cell(0, preemption).request(ms(100), streaming, &[dch(64, 32)], in_use);
    assert_eq!(request(Preemption::Inactive), Decision::Refused);
    assert_eq!(preempted(request(Preemption::LowerClass)), [9]);
    let mut cell = full_cell(0, Preemption::LowerClass);
    let background = user(20, ServiceClass::Background);
    assert_eq!(cell.request(ms(100), background, &[dch(64, 32)], in_use), Decision::Refused);
    // A failed request of the lowest class does not delay one of a higher class.
    assert_eq!(
        preempted(cell.request(ms(100), user(21, ServiceClass::Streaming), &[dch(64, 32)], in_use)),
        [9]
    );
}

#[test]
fn waiting_requests_are_decided_by_class() {
    use ServiceClass::{Background, Conversational, Interactive, Streaming};
    let mut cell = full_cell(3, Preemption::Inactive);
    let request_dch = |cell: &mut Admission, ue, class| {
        cell.request(ms(1), user(ue, class), &[dch(64, 32)], no_inactive_ue)
    };
    assert_eq!(request_dch(&mut cell, 20, Background), QUEUED);
    assert_eq!(request_dch(&mut cell, 21, Interactive), QUEUED);
    assert_eq!(request_dch(&mut cell, 22, Interactive), QUEUED);
    // The queue is full: a request displaces one of a lower class, the last one of the lowest class.
    assert_eq!(request_dch(&mut cell, 23, Background), Decision::Refused);
    assert_eq!(request_dch(&mut cell, 24, Streaming), Decision::Queued { displaced: Some(UeId(20)) });
    assert_eq!(request_dch(&mut cell, 25, Interactive), Decision::Refused);
    cell.release(UeId(0));
    assert_eq!(cell.first_waiting(), Some(UeId(24)));
    // While a request of a higher class waits, no request of a lower class is granted. This includes
    // the request of a holder for a larger DCH.
    assert_eq!(request_dch(&mut cell, 21, Interactive), QUEUED);
    assert_eq!(cell.request(ms(1), user(11, Background), &[dch(128, 32)], no_inactive_ue), Decision::Refused);
    assert_eq!(request_dch(&mut cell, 24, Streaming), FREE);
    assert_eq!(cell.first_waiting(), Some(UeId(21)));
    assert_eq!(request_dch(&mut cell, 26, Conversational), QUEUED);
    assert!(cell.withdraw(UeId(26)), "the interactive requests can be decided again");
    assert!(!cell.withdraw(UeId(22)) && !cell.withdraw(UeId(22)), "no lower class waits");
    assert_eq!(cell.first_waiting(), Some(UeId(21)));
}

/// An event in a cell.
#[derive(Debug, Clone)]
enum Step {
    /// The UE requests one of the `OFFERS` up to index `smallest`.
    Request { ue: u16, smallest: usize },
    /// The UE releases its DCH.
    Release(u16),
    /// The DCH of the UE changes to the next smaller one of the `OFFERS`.
    Shrink(u16),
    /// The UE withdraws its waiting request.
    Withdraw(u16),
    /// This number of milliseconds passes.
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..20u16, 0..3usize).prop_map(|(ue, smallest)| Step::Request { ue, smallest }),
        3 => (0..20u16).prop_map(Step::Release),
        1 => (0..20u16).prop_map(Step::Shrink),
        1 => (0..20u16).prop_map(Step::Withdraw),
        2 => (0..3000u64).prop_map(Step::Pass),
    ]
}

/// A cell, and for comparison a record of the DCHs on the air, from their first use to their
/// release.
struct Observed {
    cell: Admission,
    on_air: BTreeMap<u16, usize>,
    /// The granted DCHs that cannot be used yet, by UE.
    promised: BTreeMap<u16, Promise>,
    /// UEs with a preempted DCH that is not released yet.
    leaving: Vec<u16>,
}

/// A granted DCH that cannot be used yet.
struct Promise {
    /// Index in `OFFERS`.
    dch: usize,
    /// UEs that must release their DCHs before.
    victims: Vec<u16>,
}

/// Rates of the DCHs in downlink and uplink, in kbit/s.
const OFFERS: [(u64, u64); 3] = [(384, 64), (128, 64), (64, 32)];

impl Observed {
    /// The UE requests a DCH, a larger one if it has one. UEs with a promised or a preempted DCH do
    /// not.
    fn request(&mut self, now: Time, ue: u16, smallest: usize) {
        if self.promised.contains_key(&ue) || self.leaving.contains(&ue) {
            return;
        }
        let offers: Vec<_> = OFFERS[..=smallest].iter().map(|&(down, up)| dch(down, up)).collect();
        let offers = match self.on_air.get(&ue) {
            Some(0) => return,
            Some(&own_dch) => &offers[..own_dch.min(offers.len())],
            None => &offers[..],
        };
        let (on_air, leaving) = (&self.on_air, &self.leaving);
        let holder = |ue: UeId| {
            let keeps = !on_air.contains_key(&ue.0) || leaving.contains(&ue.0);
            let since = ms(u64::from(ue.0) * 700);
            (!keeps).then_some(unused(since, Duration::from_millis(500)))
        };
        if let Decision::Granted { dch, preempted, .. } =
            self.cell.request(now, interactive(ue), offers, holder)
        {
            let victims: Vec<u16> = preempted.iter().map(|ue| ue.0).collect();
            self.leaving.extend(&victims);
            if victims.is_empty() {
                self.on_air.insert(ue, usize::from(dch));
            } else {
                self.promised.insert(ue, Promise { dch: usize::from(dch), victims });
            }
        }
    }

    /// The UE releases its DCH. UEs for which this was the last preempted DCH begin to use theirs.
    fn release(&mut self, ue: u16) {
        if self.promised.contains_key(&ue) || self.on_air.remove(&ue).is_none() {
            return;
        }
        self.leaving.retain(|&gone| gone != ue);
        self.cell.release(UeId(ue));
        for promise in self.promised.values_mut() {
            promise.victims.retain(|&victim| victim != ue);
        }
        let is_ready = |(_, promise): &(&u16, &Promise)| promise.victims.is_empty();
        let ready: Vec<u16> = self.promised.iter().filter(is_ready).map(|(&ue, _)| ue).collect();
        for ue in ready {
            let promise = self.promised.remove(&ue).unwrap();
            self.on_air.insert(ue, promise.dch);
            self.cell.holder_settled();
        }
    }

    /// Downlink rate of the FACH and of all DCHs on the air, in bit/s.
    fn downlink(&self) -> u64 {
        32_000 + self.on_air.values().map(|&dch| OFFERS[dch].0 * 1000).sum::<u64>()
    }
}

proptest! {
    #[test]
    fn reserved_rates_and_rates_on_air_never_exceed_the_limits(
        steps in proptest::collection::vec(step(), 1..200),
        dchs in proptest::option::of(1..8u32),
        queue in 0..4u32,
    ) {
        let limits = Limits { rates: [Some(rate(800)), Some(rate(400))], dchs, queue, ..Limits::default() };
        let cell = Admission::new(limits, Reserved { rates: [32_000, 0], dchs: 0, hs_users: 0 });
        let mut observed =
            Observed { cell, on_air: BTreeMap::new(), promised: BTreeMap::new(), leaving: Vec::new() };
        let mut now = ms(0);
        for step in steps {
            match step {
                Step::Request { ue, smallest } => observed.request(now, ue, smallest),
                Step::Release(ue) => observed.release(ue),
                Step::Shrink(ue) if !observed.leaving.contains(&ue) => {
                    if let Some(dch @ 0..2) = observed.on_air.get_mut(&ue) {
                        *dch += 1;
                        let (down, up) = OFFERS[*dch];
                        observed.cell.change(UeId(ue), super::tests::dch(down, up));
                    }
                }
                Step::Shrink(_) => {}
                Step::Withdraw(ue) => drop(observed.cell.withdraw(UeId(ue))),
                Step::Pass(by) => now += Duration::from_millis(by),
            }
            let reserved = observed.cell.reserved();
            prop_assert!(reserved.fits(&limits), "{reserved:?}");
            prop_assert!(observed.downlink() <= 800_000);
            prop_assert!(observed.downlink() <= reserved.rates[0], "rates in use are reserved");
            prop_assert!(dchs.is_none_or(|most| observed.on_air.len() as u32 <= most));
        }
        // After all releases only the FACH stays reserved.
        for _ in 0..2 {
            (0..20).for_each(|ue| observed.release(ue));
        }
        prop_assert_eq!(observed.cell.reserved(), Reserved { rates: [32_000, 0], dchs: 0, hs_users: 0 });
    }
}

#[test]
fn a_dch_for_which_the_radio_has_no_room_is_not_granted() {
    let dchs = [dch(384, 64), dch(64, 32)];
    let request = |ue| Request { ue: UeId(ue), class: ServiceClass::Interactive, dchs: &dchs };
    let only_second = |dch| dch == 1;
    let none = |_| false;
    let mut cell = cell(1);
    let granted = cell.decide(ms(0), &request(0), no_inactive_ue, only_second);
    assert_eq!(granted, Decision::Granted { dch: 1, after: Duration::ZERO, preempted: Vec::new() });
    assert_eq!(cell.decide(ms(0), &request(1), no_inactive_ue, none), QUEUED);
    assert_eq!(cell.decide(ms(0), &request(2), no_inactive_ue, none), Decision::Refused);
    // An unused DCH is no help.
    let preemptible = |_| Some(unused(ms(0), Duration::from_millis(100)));
    assert_eq!(cell.decide(ms(0), &request(1), preemptible, none), QUEUED);
}

#[test]
fn a_dch_moves_with_its_user_beyond_the_limits_of_the_next_cell() {
    let limits = Limits { dchs: Some(1), ..Limits::default() };
    let [mut one, mut other] = [0; 2].map(|_| Admission::new(limits, Reserved::default()));
    let dchs = [dch(64, 32)];
    one.request(ms(0), interactive(0), &dchs, no_inactive_ue);
    other.request(ms(0), interactive(1), &dchs, no_inactive_ue);
    assert!(other.take_over(UeId(0), &mut one) && !other.take_over(UeId(2), &mut one));
    assert_eq!((one.reserved(), other.reserved().dchs), (Reserved::default(), 2));
    other.release(UeId(1));
    assert_eq!(other.request(ms(0), interactive(2), &dchs, no_inactive_ue), Decision::Refused);
    other.release(UeId(0));
    assert_eq!(other.request(ms(0), interactive(2), &dchs, no_inactive_ue), FREE);
}
