//! Properties of the schedule of a TTI of the DSCH for any users, rate policy and scheduler.

use proptest::prelude::*;

use super::*;

/// A user with data to send in the TTI.
#[derive(Debug, Clone)]
struct UserWithData {
    class: ServiceClass,
    /// The guaranteed rate is met.
    is_rate_met: bool,
    /// Waiting blocks.
    backlog: u32,
    path_loss_db: f64,
    interference_dbm: f64,
    /// Arrival of the data.
    entered_ms: u64,
}

fn user_with_data() -> impl Strategy<Value = UserWithData> {
    let level = (prop::sample::select(ServiceClass::ALL.to_vec()), any::<bool>());
    (level, 1_u32..40, 80.0..150.0, -120.0..-90.0, 0_u64..400).prop_map(
        |((class, is_rate_met), backlog, path_loss_db, interference_dbm, entered_ms)| UserWithData {
            class,
            is_rate_met,
            backlog,
            path_loss_db,
            interference_dbm,
            entered_ms,
        },
    )
}

fn requirement() -> impl Strategy<Value = RatePolicy> {
    prop::sample::select(vec![RatePolicy::ServiceCredit, RatePolicy::Timeout, RatePolicy::FullBacklog])
}

fn priority() -> impl Strategy<Value = SchedulerKind> {
    let all = [
        SchedulerKind::ServiceCredit,
        SchedulerKind::Timeout,
        SchedulerKind::RoundRobin,
        SchedulerKind::MaxCi,
        SchedulerKind::ProportionalFair,
        SchedulerKind::OldestFirst,
        SchedulerKind::LargestBacklog,
    ];
    prop::sample::select(all.to_vec())
}

proptest! {
    /// Each user is granted or refused once; codes are within the branch and do not overlap; the
    /// cell can send what it granted; no user gets more than it wanted; grants and refusals
    /// are in the order of priority levels.
    #[test]
    fn a_tti_stays_within_codes_power_and_requests(
        requirement in requirement(),
        priority in priority(),
        calls in 0.0..0.98_f64,
        users in prop::collection::vec(user_with_data(), 0..50),
    ) {
        let mut mac = MacSh::new(config(requirement, priority, 4.0, 300));
        let power = power();
        let dchs = Load { own: 0.3, outside: power.max * calls * 0.7, others: 0.0 };
        let interference = |ue: UeId| linear(users[ue.index()].interference_dbm);
        let radio = Radio { power: &power, interference: &interference };
        let mut load = dchs;
        let now = Time::ZERO + Duration::from_millis(400);
        let grants = mac.schedule(now, 20, &candidates(&users), &radio, &mut load).to_vec();

        let granted = grants.iter().map(|grant| grant.ue.0);
        let refused = mac.refusals().iter().map(|refusal| refusal.ue.0);
        let mut all: Vec<u16> = granted.chain(refused).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..users.len() as u16).collect::<Vec<_>>());

        let branch = mac.config().codes;
        for (at, grant) in grants.iter().enumerate() {
            prop_assert!(branch.meets(grant.code) && grant.code.spreading_factor >= branch.spreading_factor);
            prop_assert_eq!(grant.code.spreading_factor, mac.config().formats[grant.format].spreading_factor);
            prop_assert!(grants[..at].iter().all(|other| !other.code.meets(grant.code)));
            prop_assert!(grant.format <= grant.wanted);
        }

        prop_assert!(grants.is_sorted_by_key(|grant| level(&users, grant.ue)));
        prop_assert!(mac.refusals().is_sorted_by_key(|refusal| level(&users, refusal.ue)));

        let sum = grants.iter().fold(dchs, |load, grant| load.with(Load::of(&power, &grant.link)));
        prop_assert_eq!(sum, load);
        prop_assert!(grants.is_empty() || load.fits(&power));
    }
}

/// The users as candidates. Each has one SDU of 570 octets.
fn candidates(users: &[UserWithData]) -> Candidates {
    let mut candidates = Candidates::default();
    for (user, number) in users.iter().zip(0..) {
        let UserWithData { class, is_rate_met, backlog, .. } = *user;
        let since = Time::ZERO + Duration::from_millis(user.entered_ms);
        let sdu = WaitingSdu { entered: since, size: Bytes(570), blocks: backlog };
        let candidate = Candidate::new(UeId(number), Bytes(570), backlog, Some(since));
        let gain = linear(-user.path_loss_db);
        candidates.push(Candidate { class, is_rate_met, gain, ..candidate }, [sdu]);
    }
    candidates
}

/// Priority level of a user, from 0. Once its guaranteed rate is met, a user comes after the users of
/// all classes.
fn level(users: &[UserWithData], ue: UeId) -> u8 {
    let user = &users[ue.index()];
    if user.is_rate_met { 4 } else { user.class as u8 }
}
