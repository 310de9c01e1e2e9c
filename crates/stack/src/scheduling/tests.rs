//! Users of different service classes on one shared channel: all disciplines must serve the classes
//! in their order, and guaranteed rates must be met.

use proptest::prelude::*;

use super::*;

/// All disciplines. Those that need values of a DSCH rank all candidates equally here.
const KINDS: [SchedulerKind; 8] = [
    SchedulerKind::RoundRobin,
    SchedulerKind::OldestFirst,
    SchedulerKind::LargestBacklog,
    SchedulerKind::ServiceCredit,
    SchedulerKind::Timeout,
    SchedulerKind::MaxCi,
    SchedulerKind::ProportionalFair,
    SchedulerKind::Fcds,
];

fn kbps(rate: u64) -> BitRate {
    BitRate::from_bps(rate * 1000).unwrap()
}

/// A class with a guaranteed rate in kbit/s, if any.
fn qos(class: ServiceClass, guaranteed_kbps: Option<u64>) -> QosConfig {
    QosConfig { class, guaranteed: guaranteed_kbps.map(kbps), transfer_delay: None }
}

fn any_qos() -> impl Strategy<Value = QosConfig> {
    let class = prop::sample::select(ServiceClass::ALL.to_vec());
    let delay = prop::option::of(1_u64..4000);
    (class, prop::option::of(1_u64..400), delay).prop_map(|(class, rate, delay)| QosConfig {
        transfer_delay: delay.map(Duration::from_millis),
        ..qos(class, rate)
    })
}

/// Users of a shared channel with data in every TTI.
struct Users {
    qos: Vec<QosConfig>,
    guarantees: Vec<Option<RateGuarantee>>,
    /// Number of blocks sent to each user.
    blocks: Vec<u64>,
    scheduler: Scheduler,
}

const TTI: Duration = Duration::from_millis(10);
const BLOCK: Bytes = Bytes(40);

impl Users {
    fn new(kind: SchedulerKind, qos: Vec<QosConfig>) -> Self {
        let guarantees = qos.iter().map(|qos| qos.guaranteed.map(RateGuarantee::new)).collect();
        Users { blocks: vec![0; qos.len()], guarantees, scheduler: Scheduler::new(kind), qos }
    }

    fn is_rate_met(&self, ue: UeId, now: Time) -> bool {
        self.guarantees[ue.index()].is_some_and(|guarantee| guarantee.is_met(now))
    }

    /// Serves users with `backlogs` in a TTI of `room` blocks. Returns the users in the order of service.
    fn serve(&mut self, now: Time, backlogs: &[u32], mut room: u32) -> Vec<UeId> {
        let mut ready = ues_with_backlog(backlogs);
        let mut order = Vec::new();
        while room > 0 {
            let candidate = |ue: UeId| {
                let blocks = backlogs[ue.index()];
                Candidate::new(ue, BLOCK * u64::from(blocks), blocks, Some(now))
                    .with_qos(&self.qos[ue.index()], self.is_rate_met(ue, now))
            };
            let Some(index) = self.scheduler.next(&ready, candidate) else { break };
            let ue = ready.remove(index);
            order.push(ue);
            self.scheduler.served(ue);
            let sent = room.min(backlogs[ue.index()]);
            room -= sent;
            self.blocks[ue.index()] += u64::from(sent);
        }
        order
    }

    /// Debits the guaranteed rate of a user for blocks that were sent.
    fn debit(&mut self, now: Time, ue: UeId, blocks: u32) {
        if let Some(guarantee) = &mut self.guarantees[ue.index()] {
            guarantee.debit(now, BLOCK * u64::from(blocks));
        }
    }
}

fn ues_with_backlog(backlogs: &[u32]) -> Vec<UeId> {
    (0..).map(UeId).zip(backlogs).filter(|(_, blocks)| **blocks > 0).map(|(ue, _)| ue).collect()
}

proptest! {
    /// A user is never served after a user of a lower class with data in the same TTI unless its
    /// guaranteed rate is met. A user whose guaranteed rate is met is never served before one whose rate
    /// is not.
    #[test]
    fn classes_are_served_in_order_by_all_disciplines(
        kind in prop::sample::select(KINDS.to_vec()),
        others in prop::collection::vec(any_qos(), 0..5),
        ttis in prop::collection::vec((prop::collection::vec(0_u32..8, 8), 1_u32..20), 1..60),
        guaranteed in 1_u64..400,
    ) {
        use ServiceClass::{Background, Conversational, Streaming};
        let mut users_qos = vec![
            qos(Background, None),
            qos(Streaming, Some(guaranteed)),
            qos(Conversational, None),
        ];
        users_qos.extend(others);
        let mut users = Users::new(kind, users_qos);
        for (number, (backlogs, room)) in (1..).zip(ttis) {
            let now = Time::ZERO + TTI * number;
            let backlogs = &backlogs[..users.qos.len().min(backlogs.len())];
            let order = users.serve(now, backlogs, room);
            let position = |ue| order.iter().position(|served| *served == ue).unwrap_or(order.len());
            let requesting = ues_with_backlog(backlogs);
            for &ue in &requesting {
                for &other in &requesting {
                    let (class, is_met) = (users.qos[ue.index()].class, users.is_rate_met(ue, now));
                    let (other_class, other_is_met) =
                        (users.qos[other.index()].class, users.is_rate_met(other, now));
                    if !is_met && (class < other_class || other_is_met) {
                        prop_assert!(position(ue) <= position(other), "{kind:?}: {order:?}");
                    }
                }
            }
            for &ue in &order {
                users.debit(now, ue, backlogs[ue.index()]);
            }
        }
    }
}

/// 16 blocks of 40 octets per TTI of 10 ms, 512 kbit/s, for three users that always have data: the
/// streaming user gets its guaranteed rate and the background user the rest, because the conversational
/// user has received its guaranteed rate too.
#[test]
fn users_with_guaranteed_rates_get_them_and_leave_the_rest() {
    use ServiceClass::{Background, Conversational, Streaming};
    let users_qos = vec![qos(Background, None), qos(Streaming, Some(128)), qos(Conversational, Some(64))];
    for kind in KINDS {
        let mut users = Users::new(kind, users_qos.clone());
        let ttis = 3000;
        for number in 1..=ttis {
            let now = Time::ZERO + TTI * number;
            let blocks_before = users.blocks.clone();
            let (backlogs, room) = ([16; 3], 16);
            users.serve(now, &backlogs, room);
            for ue in (0..3).map(UeId) {
                let blocks = users.blocks[ue.index()] - blocks_before[ue.index()];
                users.debit(now, ue, blocks as u32);
            }
        }
        // Rate in kbit/s times the length in ms is a number of bits. The tolerance is two TTIs of
        // 16 blocks.
        for (blocks, kbps) in users.blocks.iter().zip([512 - 128 - 64, 128, 64]) {
            let length_ms = ttis * 10;
            let expected = kbps * length_ms / 8 / BLOCK.0;
            assert!(blocks.abs_diff(expected) <= 32, "{kind:?}: {blocks} blocks, not {expected}");
        }
    }
}

#[test]
fn timeout_serves_the_earliest_deadline_of_the_class_first() {
    // Transfer delay of each user in ms. The user with the shortest one has a lower class.
    let delays = [Some(300), None, Some(100), Some(50)];
    let classes =
        [ServiceClass::Streaming, ServiceClass::Streaming, ServiceClass::Streaming, ServiceClass::Background];
    let candidate = |ue: UeId| {
        let transfer_delay = delays[ue.index()].map(Duration::from_millis);
        let qos = QosConfig { class: classes[ue.index()], guaranteed: None, transfer_delay };
        Candidate::new(ue, BLOCK, 1, Some(Time::ZERO)).with_qos(&qos, false)
    };
    let scheduler = Scheduler::new(SchedulerKind::Timeout);
    let mut ready: Vec<_> = (0..4).map(UeId).collect();
    let mut order = Vec::new();
    while let Some(index) = scheduler.next(&ready, candidate) {
        order.push(ready.remove(index).0);
    }
    assert_eq!(order, [2, 0, 1, 3]);
}
