//! Invariants of a TDD cell for arbitrary traffic and radio conditions: each resource unit (a code in a
//! slot) has at most one holder, no SDU is lost without an event or delivered twice, no user starves,
//! and no resource unit is allocated after the traffic ends.

use proptest::prelude::*;

use super::*;
use crate::radio::phy::Curve;
use crate::radio::phy::tdd::{Interferers, TddRadioConfig};

/// Maximum number of frames that a user waits for capacity in the cells below, if each user ahead
/// of it gets one grant.
const LONGEST_WAIT: u64 = 3_000;

/// Frames of a grant for one SDU if most blocks are lost and RLC polls repeatedly. Orders by age or
/// backlog may give one user a grant for each of its SDUs before another user gets its first grant.
const LONG_GRANT: u64 = 100;

/// Frames of a case after its last arrival. All cases together have a million.
const FRAMES: u64 = 20_000;
const CASES: u32 = 50;

/// Number of UEs of a case.
const UES: usize = 12;

/// `count` SDUs of `octets` octets each that arrive together.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    /// Number of frames after the previous arrival.
    after: u64,
    ue: u16,
    direction: Direction,
    octets: u32,
    count: u64,
}

fn arrival() -> impl Strategy<Value = Arrival> {
    let direction = prop_oneof![Just(Direction::Uplink), Just(Direction::Downlink)];
    let octets = prop_oneof![Just(40u32), Just(1064), 1u32..3000];
    let after = prop_oneof![3 => 0u64..3, 2 => 0u64..100, 1 => 0u64..2000];
    (after, 0u16..12, direction, octets, 1u64..30).prop_map(|(after, ue, direction, octets, count)| Arrival {
        after,
        ue,
        direction,
        octets,
        count,
    })
}

fn radio() -> impl Strategy<Value = Option<TddRadioConfig>> {
    let sigma = prop_oneof![Just(3.16), Just(10.0)];
    let interferers = prop_oneof![Just(Interferers::Slot), Just(Interferers::Cell)];
    let curve = prop_oneof![Just(Curve::UnionBound), Just(Curve::ViterbiSoft)];
    let radio = (sigma, 0.0..0.95, interferers, curve).prop_map(|(sigma, rho, interferers, curve)| {
        TddRadioConfig { estimate_sigma_db: sigma, rho, interferers, curve, ..TddRadioConfig::default() }
    });
    prop_oneof![1 => Just(None), 3 => radio.prop_map(Some)]
}

fn cell() -> impl Strategy<Value = TddConfig> {
    let pattern = prop_oneof![
        4 => Just((LayoutKind::HighChipRate, None)),
        1 => Just((LayoutKind::HighChipRate, Some("RUUUUDDDDDDDDDC"))),
        1 => Just((LayoutKind::HighChipRate, Some("RUDUDUDUDUDUDUC"))),
        3 => Just((LayoutKind::LowChipRate, None)),
        1 => Just((LayoutKind::LowChipRate, Some("CUUUDDD"))),
    ];
    let weights = prop_oneof![Just([1, 2, 4]), Just([2, 4, 8]), Just([1, 1, 1]), Just([3, 9, 12])];
    let refused = prop_oneof![Just(Refused::BackOff), Just(Refused::Queue)];
    let order = prop_oneof![
        Just(GrantOrder::FirstCome),
        Just(GrantOrder::RoundRobin),
        Just(GrantOrder::OldestFirst),
        Just(GrantOrder::LargestBacklog),
    ];
    let grant = (1u32..40, weights, refused, order).prop_map(|(sdus, weights, refused, order)| GrantConfig {
        sdus,
        weights: weights.into(),
        refused,
        order,
        ..GrantConfig::default()
    });
    let channel = prop_oneof![3 => Just(AckChannel::Common), 1 => Just(AckChannel::Dedicated)];
    let per_frame = prop_oneof![Just(None), Just(Some(1)), Just(Some(4))];
    let ack = (channel, per_frame, 1u32..5, 8u32..20, 0u32..4, any::<bool>()).prop_map(
        |(channel, downlink_per_frame, uplink_places, uplink_backoff, delay, errors)| AckConfig {
            channel,
            downlink_per_frame,
            uplink_places,
            uplink_backoff: Frames(uplink_backoff),
            delay: Frames(delay),
            errors,
        },
    );
    let rach = (2u32..17, 1u64..5).prop_map(|(codes, answer)| TddRachConfig {
        codes,
        answer: FRAME * answer,
        ..TddRachConfig::default()
    });
    (pattern, grant, ack, rach, radio()).prop_map(|((layout, letters), grant, ack, rach, radio)| TddConfig {
        layout,
        pattern: letters.map(|letters| layout.layout().pattern(letters).expect("it fits")),
        grant,
        rach,
        ack,
        radio,
    })
}

/// The time from the need for capacity to its grant or withdrawal.
#[derive(Debug, Clone, Copy)]
struct Wait {
    ue: UeId,
    direction: Direction,
    since: Time,
    until: Time,
}

/// The longest wait, without the time for SDUs that the scheduler serves before. `sdus_ahead` returns
/// the number of these SDUs.
fn longest_wait(trace: &[(Time, TraceEvent)], sdus_ahead: impl Fn(Wait) -> u64) -> Duration {
    let mut since = std::collections::BTreeMap::new();
    let mut longest = Duration::ZERO;
    for &(at, event) in trace {
        match event {
            TraceEvent::CapacityNeeded { ue, direction } => {
                since.insert((ue, direction), at);
            }
            TraceEvent::CapacityGranted { ue, direction, .. }
            | TraceEvent::CapacityWithdrawn { ue, direction } => {
                let since = since.remove(&(ue, direction)).expect("it was needed");
                let sdus_ahead = sdus_ahead(Wait { ue, direction, since, until: at });
                let time_for_others = FRAME * (LONG_GRANT * sdus_ahead);
                longest = longest.max((at - since).max(time_for_others) - time_for_others);
            }
            _ => {}
        }
    }
    assert!(since.is_empty(), "a user still waits: {since:?}");
    longest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_for_arbitrary_traffic(
        cell in cell(),
        arrivals in prop::collection::vec(arrival(), 1..60),
        max_dat in prop_oneof![Just(None), Just(Some(1)), Just(Some(17))],
        seed in any::<u64>(),
    ) {
        let grant = cell.grant.clone();
        let mut bench = Bench::new(cell, RlcConfig { max_dat, ..rlc() }, UES, seed);
        let sdus = send_all(&mut bench, &arrivals);
        let last_frame: u64 = arrivals.iter().map(|arrival| arrival.after).sum();
        bench.frames(last_frame + FRAMES);
        prop_assert_eq!(bench.grants_and_requests(), 0, "all capacity is released when the traffic ends");
        let wait = longest_wait(&bench.trace, |wait| sdus_ahead(&sdus, &grant, wait));
        prop_assert!(wait <= FRAME * LONGEST_WAIT, "a user waited {}", wait);
        for direction in Direction::BOTH {
            for ue in (0..UES as u16).map(UeId) {
                let delivered = bench.delivered[direction.index()].iter();
                let arrived: Vec<u64> =
                    delivered.filter(|(receiver, _)| *receiver == ue).map(|(_, id)| *id).collect();
                prop_assert!(arrived.is_sorted_by(|a, b| a < b), "in order, none twice");
                for sdu in sdus.iter().filter(|sdu| sdu.is_of(ue, direction)) {
                    let is_settled = arrived.contains(&sdu.id) || is_discarded(&bench.trace, sdu);
                    prop_assert!(is_settled || has_failed(&bench.trace, ue, direction), "{:?} is lost", sdu);
                }
            }
        }
    }
}

/// An SDU that was sent.
#[derive(Debug)]
struct SentSdu {
    ue: UeId,
    direction: Direction,
    id: u64,
    at: Time,
}

impl SentSdu {
    fn is_of(&self, ue: UeId, direction: Direction) -> bool {
        (self.ue, self.direction) == (ue, direction)
    }
}

/// Sends the SDUs of all arrivals.
fn send_all(bench: &mut Bench, arrivals: &[Arrival]) -> Vec<SentSdu> {
    let mut sdus = Vec::new();
    let mut frame = 0;
    for &Arrival { after, ue, direction, octets, count } in arrivals {
        frame += after;
        // Three milliseconds after the start of the frame.
        let at_ms = frame * 10 + 3;
        for _ in 0..count {
            let id = sdus.len() as u64;
            bench.sends(SentPacket { at_ms, ue, direction, id, octets });
            let at = Time::ZERO + Duration::from_millis(at_ms);
            sdus.push(SentSdu { ue: UeId(ue), direction, id, at });
        }
    }
    sdus
}

/// Maximum number of SDUs of other users and directions that may be served during a wait.
fn sdus_ahead(sdus: &[SentSdu], grant: &GrantConfig, wait: Wait) -> u64 {
    let others_until = |until: Time| {
        sdus.iter().filter(|sdu| !sdu.is_of(wait.ue, wait.direction) && sdu.at <= until).count() as u64
    };
    // No order applies to a user that backs off: it gets capacity when no other user holds or waits
    // for this capacity.
    let backs_off = wait.direction == Direction::Uplink && grant.refused == Refused::BackOff;
    match grant.order {
        _ if backs_off => others_until(wait.until),
        GrantOrder::FirstCome | GrantOrder::RoundRobin => 0,
        GrantOrder::OldestFirst => others_until(wait.since),
        GrantOrder::LargestBacklog => others_until(wait.until),
    }
}

fn is_discarded(trace: &[(Time, TraceEvent)], sent: &SentSdu) -> bool {
    trace.iter().any(|(_, event)| match *event {
        TraceEvent::SduDiscarded { ue, direction, sdu, .. } => {
            sent.is_of(ue, direction) && sdu == PacketId(sent.id)
        }
        _ => false,
    })
}

/// After MaxRST resets RLC reports an unrecoverable error and sends nothing more.
fn has_failed(trace: &[(Time, TraceEvent)], ue: UeId, direction: Direction) -> bool {
    trace.iter().any(|(_, event)| *event == TraceEvent::RlcUnrecoverable { ue, direction })
}
