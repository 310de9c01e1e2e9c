//! Users in two phases: the DSCH is scheduled in each frame of 10 ms, and a grant lasts for a TTI of two
//! frames. Users with even numbers are considered in even decisions, users with odd numbers in odd ones.

use proptest::prelude::*;

use super::*;

fn in_phases(config: MacShConfig) -> MacShConfig {
    MacShConfig { decision: Decision::EachFrame, ..config }
}

/// A user near the cell with a full backlog.
fn candidate(ue: u16) -> Candidate {
    Candidate { gain: 1e-10, ..Candidate::new(UeId(ue), Bytes(4000), 100, Some(Time::ZERO)) }
}

/// The outcome of a decision.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// The users with a grant, and their codes.
    granted: Vec<(u16, Code)>,
    /// The users refused because no code was free.
    refused: Vec<u16>,
}

fn outcome(granted: &[(u16, Code)], refused: &[u16]) -> Outcome {
    Outcome { granted: granted.to_vec(), refused: refused.to_vec() }
}

/// Decision number `number` about these users.
fn decide(mac: &mut MacSh, number: u64, ues: &[u16]) -> Outcome {
    let (power, interference) = (power(), |_| 0.0);
    let mut candidates = Candidates::default();
    ues.iter().for_each(|&ue| candidates.push(candidate(ue), []));
    let now = Time::ZERO + mac.config().interval() * number;
    let radio = Radio { power: &power, interference: &interference };
    let grants = mac.schedule(now, number, &candidates, &radio, &mut Load::default()).to_vec();
    let refused = mac.refusals().iter().map(|refusal| {
        assert_eq!(refusal.reason, Postponed::Codes);
        refusal.ue.0
    });
    let refused = refused.collect();
    // Grants of the previous decision are in the middle of their TTI. A TTI is reported at its
    // end, which is before the next decision of its phase.
    for grant in &grants {
        mac.served(number, grant, grant.blocks, grant.blocks);
    }
    Outcome { granted: grants.iter().map(|grant| (grant.ue.0, grant.code)).collect(), refused }
}

fn code(spreading_factor: u16, number: u16) -> Code {
    Code { spreading_factor, number }
}

#[test]
fn a_user_in_the_middle_of_a_tti_keeps_its_code() {
    let mut mac = MacSh::new(in_phases(config(RatePolicy::FullBacklog, SchedulerKind::RoundRobin, 1.0, 300)));
    // The two codes of spreading factor 8 in the branch of the DSCH, a quarter of the code tree.
    let [left, right] = [code(8, 6), code(8, 7)];
    assert_eq!(decide(&mut mac, 0, &[0]), outcome(&[(0, left)], &[]));
    // Odd UE numbers get the codes that even ones leave free, from the other end of the branch.
    assert_eq!(decide(&mut mac, 1, &[1, 3]), outcome(&[(1, right)], &[3]));
    // The TTI of UE 0 has ended, the TTI of UE 1 has not.
    assert_eq!(decide(&mut mac, 2, &[2, 4]), outcome(&[(2, left)], &[4]));
    assert_eq!(decide(&mut mac, 3, &[]), outcome(&[], &[]));
    assert_eq!(decide(&mut mac, 4, &[0, 2, 4]), outcome(&[(4, left), (0, right)], &[2]));
    // The grants of decision 4 last two frames and take all of the branch.
    assert_eq!(decide(&mut mac, 5, &[3]), outcome(&[], &[3]));
    assert_eq!(decide(&mut mac, 6, &[]), outcome(&[], &[]));
    assert_eq!(decide(&mut mac, 7, &[3]), outcome(&[(3, right)], &[]));
}

#[test]
fn each_phase_has_its_own_round_robin() {
    let mut mac = MacSh::new(in_phases(config(RatePolicy::FullBacklog, SchedulerKind::RoundRobin, 1.0, 300)));
    let even: Vec<u16> = (0..6).step_by(2).collect();
    let odd: Vec<u16> = (1..6).step_by(2).collect();
    let mut grants_of_ue = [0; 6];
    for number in 0..60 {
        let requesting = if number % 2 == 0 { &even } else { &odd };
        let Outcome { granted, .. } = decide(&mut mac, number, requesting);
        granted.iter().for_each(|(ue, _)| grants_of_ue[usize::from(*ue)] += 1);
    }
    // Phases share codes first come, first served. The first decision finds all of the branch free and
    // gives it to even users. These always have data, so the branch is never free for odd users. In 30
    // decisions two of the three even users get a code.
    assert_eq!(grants_of_ue, [20, 0, 20, 0, 20, 0]);
}

#[test]
fn credits_grow_with_the_ttis_of_a_user() {
    let mut mac = MacSh::new(in_phases(credits(2.0)));
    for number in 0..16 {
        let outcome = decide(&mut mac, number, &[(number % 2) as u16]);
        // A user earns two credits in each TTI of 20 ms, and sends two blocks at spreading factor 64.
        let [(_, code)] = outcome.granted[..] else { panic!("{outcome:?}") };
        assert_eq!((code.spreading_factor, outcome.refused.len()), (64, 0), "{number}");
        assert_eq!(mac.credit(UeId((number % 2) as u16)).unwrap().blocks(), 0.0);
    }
}

/// Users with a request in a decision: blocks that wait, path loss in dB.
fn users_with_data() -> impl Strategy<Value = Vec<(u32, f64)>> {
    prop::collection::vec((1_u32..40, 80.0..150.0_f64), 0..30)
}

proptest! {
    /// In each frame, the codes of new and continued grants lie in the branch of the code tree and do not overlap, and
    /// the cell has the power for all of them beside the DCHs.
    #[test]
    fn both_phases_stay_within_codes_and_power_of_each_frame(
        requirement in prop::sample::select(vec![RatePolicy::ServiceCredit, RatePolicy::Timeout, RatePolicy::FullBacklog]),
        calls in 0.0..0.98_f64,
        frames in prop::collection::vec(users_with_data(), 1..12),
    ) {
        let mut mac = MacSh::new(in_phases(config(requirement, SchedulerKind::RoundRobin, 4.0, 300)));
        let (power, interference) = (power(), |_| 0.0);
        let radio = Radio { power: &power, interference: &interference };
        let mut held: Vec<Grant> = Vec::new();
        for (number, users) in (0..).zip(&frames) {
            let mut candidates = Candidates::default();
            for (place, &(backlog, loss)) in (0..).zip(users) {
                let ue = UeId(2 * place + (number % 2) as u16);
                let sdu = WaitingSdu { entered: Time::ZERO, size: Bytes(570), blocks: backlog };
                candidates.push(Candidate { blocks: backlog, gain: linear(-loss), ..candidate(ue.0) }, [sdu]);
            }
            let dchs = Load { own: 0.3, outside: power.max * calls * 0.7, others: 0.0 };
            let mut load = held.iter().fold(dchs, |load, grant| load.with(Load::of(&power, &grant.link)));
            let before = load;
            let now = Time::ZERO + mac.config().interval() * number;
            let grants = mac.schedule(now, number, &candidates, &radio, &mut load).to_vec();
            prop_assert!(load == before || load.fits(&power));
            prop_assert_eq!(load == before, grants.is_empty());
            held.extend(&grants);
            let kraft: f64 = held.iter().map(|grant| 1.0 / f64::from(grant.code.spreading_factor)).sum();
            prop_assert!(kraft <= 0.25, "{}", kraft);
            for (at, grant) in held.iter().enumerate() {
                prop_assert!(mac.config().codes.meets(grant.code));
                prop_assert!(held[..at].iter().all(|other| !other.code.meets(grant.code)));
            }
            held = grants;
        }
    }
}
