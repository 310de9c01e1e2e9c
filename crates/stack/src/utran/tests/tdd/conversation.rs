//! Sequences of capacity requests, grants and acknowledgments in a TDD cell, compared with the
//! expected events as text (`Bench::story`).

use Direction::{Downlink, Uplink};

use super::*;
use crate::radio::phy::tdd::TddRadioConfig;

fn alone() -> Bench {
    Bench::new(tdd(), rlc(), 1, 1)
}

/// One uplink slot. Acknowledgments take one block of it, three are left.
fn narrow(refused: Refused) -> TddConfig {
    let layout = LayoutKind::HighChipRate.layout();
    let pattern = Some(layout.pattern("RUDDDDDDDDDDDDC").expect("it fits"));
    let grant = GrantConfig { weights: vec![3, 3, 3], refused, ..tdd().grant };
    TddConfig { pattern, grant, ..tdd() }
}

#[test]
fn a_capacity_request_is_granted_two_frames_later_for_the_next_frame() {
    let mut bench = alone();
    bench.sends(3, 0, Uplink, 0, 100);
    bench.frames(20);
    // Three PDUs of one block per frame, then a frame that is left unused.
    let expected = ["0: 0▲ needs", "1: 0 heard", "4: 0▲ gets 1", "7: 0▼ status", "7: 0▲ leaves after 3"];
    assert_eq!(bench.story(), expected);
    assert_eq!(bench.delivered[Uplink.index()], [(UeId(0), 0)]);
}

#[test]
fn the_rnc_requests_capacity_without_the_rach() {
    let mut bench = alone();
    bench.sends(3, 0, Downlink, 0, 100);
    bench.frames(20);
    let expected = ["0: 0▼ needs", "1: 0▼ gets 1", "4: 0▲ status", "4: 0▼ leaves after 3"];
    assert_eq!(bench.story(), expected);
    assert_eq!(bench.delivered[Downlink.index()], [(UeId(0), 0)]);
}

#[test]
fn a_collided_request_backs_off_and_is_repeated() {
    let rach = TddRachConfig { codes: 1, ..tdd().rach };
    let mut bench = Bench::new(TddConfig { rach, ..tdd() }, rlc(), 2, 1);
    bench.sends(3, 0, Uplink, 0, 100);
    bench.sends(3, 1, Uplink, 1, 100);
    bench.frames(200);
    assert_eq!(bench.lines_with("collides")[..2], ["1: 0 collides", "1: 1 collides"]);
    assert_eq!(bench.lines_with("heard").len(), 2);
    let delivered: std::collections::BTreeSet<_> = bench.delivered[Uplink.index()].iter().copied().collect();
    assert_eq!(delivered.len(), 2);
}

#[test]
fn backlog_has_three_levels() {
    for (sdus, blocks) in [(1, 1), (2, 2), (5, 2), (6, 4), (40, 4)] {
        let mut bench = alone();
        (0..sdus).for_each(|id| bench.sends(3, 0, Uplink, id, 1000));
        bench.frames(5);
        assert_eq!(bench.lines_with("gets"), [format!("4: 0▲ gets {blocks}")], "{sdus} SDUs");
    }
}

#[test]
fn a_ue_without_room_is_refused_and_backs_off() {
    let mut bench = Bench::new(narrow(Refused::BackOff), rlc(), 2, 1);
    bench.sends(3, 0, Uplink, 0, 2000);
    bench.sends(13, 1, Uplink, 1, 100);
    bench.frames(200);
    assert_eq!(bench.lines_with("0▲ gets"), ["4: 0▲ gets 3"]);
    assert_eq!(bench.lines_with("refused")[0], "5: 1▲ refused");
    // It asks again on the RACH until there is room.
    assert!(bench.lines_with("1 heard").len() > 1);
    assert_eq!(bench.lines_with("1▲ gets").len(), 1);
    assert_eq!(bench.delivered[Uplink.index()].len(), 2);
}

#[test]
fn rnc_can_queue_a_refused_request() {
    let mut bench = Bench::new(narrow(Refused::Queue), rlc(), 2, 1);
    bench.sends(3, 0, Uplink, 0, 2000);
    bench.sends(13, 1, Uplink, 1, 100);
    bench.frames(200);
    assert_eq!(bench.lines_with("1 heard").len(), 1);
    assert_eq!(bench.lines_with("queued"), ["5: 1▲ queued"]);
    let released_in = bench.frames_with("0▲ leaves")[0];
    assert_eq!(bench.lines_with("1▲ gets"), [format!("{}: 1▲ gets 3", released_in + 1)]);
}

#[test]
fn refused_requests_of_the_rnc_wait_in_their_order() {
    let layout = LayoutKind::HighChipRate.layout();
    let pattern = Some(layout.pattern("RUUUUUUUUUUUUDC").expect("it fits"));
    let grant = GrantConfig { weights: vec![3, 3, 3], ..tdd().grant };
    let mut bench = Bench::new(TddConfig { pattern, grant, ..tdd() }, rlc(), 3, 1);
    for ue in [2, 0, 1] {
        bench.sends(3, ue, Downlink, ue.into(), 300);
    }
    bench.frames(100);
    let order: Vec<_> = bench
        .lines_with("gets")
        .iter()
        .map(|line| line.split_once(": ").expect("a frame").1.to_owned())
        .collect();
    assert_eq!(order, ["2▼ gets 3", "0▼ gets 3", "1▼ gets 3"]);
    assert_eq!(bench.lines_with("queued"), ["1: 0▼ queued", "1: 1▼ queued"]);
}

#[test]
fn grant_ends_after_n_sdus() {
    let grant = GrantConfig { sdus: 2, ..tdd().grant };
    let mut bench = Bench::new(TddConfig { grant, ..tdd() }, rlc(), 1, 1);
    (0..5).for_each(|id| bench.sends(3, 0, Uplink, id, 100));
    bench.frames(60);
    // Two SDUs of 101 octets with their length indicators: six PDUs. The last one alone: three.
    let expected = [
        "4: 0▲ gets 2",
        "7: 0▲ leaves after 6",
        "11: 0▲ gets 2",
        "14: 0▲ leaves after 6",
        "18: 0▲ gets 1",
        "21: 0▲ leaves after 3",
    ];
    let grants: Vec<_> =
        bench.story().into_iter().filter(|line| line.contains("gets") || line.contains("leaves")).collect();
    assert_eq!(grants, expected);
}

#[test]
fn new_sdus_use_the_present_grant() {
    let mut bench = alone();
    bench.sends(3, 0, Uplink, 0, 200);
    bench.sends(55, 0, Uplink, 1, 100);
    bench.frames(60);
    assert_eq!(bench.lines_with("gets"), ["4: 0▲ gets 1"]);
    assert_eq!(bench.delivered[Uplink.index()].len(), 2);
}

#[test]
fn unused_grant_ends_before_its_data_are_acknowledged() {
    let ack = AckConfig { delay: Frames(3), ..tdd().ack };
    let mut bench = Bench::new(TddConfig { ack, ..tdd() }, rlc(), 1, 1);
    bench.sends(3, 0, Uplink, 0, 100);
    bench.frames(40);
    assert_eq!(bench.lines_with("leaves"), ["7: 0▲ leaves after 3"]);
}

#[test]
fn downlink_acknowledgments_are_sent_in_turn() {
    let ack = AckConfig { downlink_per_frame: Some(1), ..tdd().ack };
    let rach = TddRachConfig { codes: 16, ..tdd().rach };
    let mut bench = Bench::new(TddConfig { ack, rach, ..tdd() }, rlc(), 3, 7);
    for ue in 0..3 {
        bench.sends(3, ue, Uplink, ue.into(), 30);
    }
    bench.frames(60);
    let frames = bench.frames_with("status");
    let distinct: std::collections::BTreeSet<_> = frames.iter().collect();
    assert_eq!((frames.len(), distinct.len()), (3, 3), "{frames:?}");
}

#[test]
fn uplink_acknowledgments_are_repeated_after_a_collision() {
    let mut bench = Bench::new(tdd(), rlc(), 2, 1);
    for ue in 0..2 {
        bench.sends(3, ue, Downlink, ue.into(), 30);
    }
    bench.frames(60);
    assert_eq!(bench.lines_with("acks collide")[..2], ["2: 0 acks collide", "2: 1 acks collide"]);
    assert_eq!(bench.lines_with("status").len(), 2, "nothing is sent before it gets through");
    assert!((0..2).all(|ue| bench.occupancy(ue, Downlink) == Bytes(0)));
}

#[test]
fn dedicated_channel_carries_the_acknowledgments_of_a_grant() {
    let ack = AckConfig { channel: AckChannel::Dedicated, ..tdd().ack };
    let mut bench = Bench::new(TddConfig { ack, ..tdd() }, rlc(), 1, 1);
    bench.sends(3, 0, Uplink, 0, 100);
    bench.frames(20);
    // The STATUS PDU is sent in the frame after the last block, in which the grant is unused, and
    // received at the end of that frame.
    assert_eq!(bench.lines_with("status"), ["7: 0▼ status"]);
    assert_eq!(bench.lines_with("leaves"), ["7: 0▲ leaves after 3"]);
    assert_eq!(bench.occupancy(0, Uplink), Bytes(0));
}

#[test]
fn request_is_withdrawn_if_its_data_are_discarded_before_the_grant() {
    use crate::radio::rlc::SduDiscard;
    let rlc =
        RlcConfig { sdu_discard: SduDiscard::Timer, timer_discard: Some(Duration::from_millis(20)), ..rlc() };
    let mut bench = Bench::new(tdd(), rlc, 1, 1);
    bench.sends(3, 0, Uplink, 0, 100);
    bench.frames(20);
    assert_eq!(bench.story(), ["0: 0▲ needs", "1: 0 heard", "4: 0▲ withdraws"]);
}

#[test]
fn nothing_happens_without_requests() {
    let mut bench = alone();
    bench.sends(3, 0, Uplink, 0, 100);
    bench.frames(100);
    let events = bench.events;
    bench.frames(1_000_000);
    assert_eq!((bench.events, bench.held()), (events, 0));
}

/// A cycle of P PDUs of N SDUs, sent in n blocks per frame, has ceil(P / n) frames of data and 4
/// others: one unused, one for the request, two for the answer.
#[test]
fn single_user_has_the_throughput_of_the_closed_form() {
    for sdus in [1_u64, 5, 20] {
        for blocks in [1_u64, 2, 4] {
            let grant = GrantConfig { sdus: sdus as u32, weights: vec![blocks as u32; 3], ..tdd().grant };
            let mut bench = Bench::new(TddConfig { grant, ..tdd() }, rlc(), 1, 1);
            (0..400).for_each(|id| bench.sends(0, 0, Uplink, id, 1064));
            bench.frames(20_000);
            let granted_in = bench.frames_with("gets");
            // Each SDU has one more octet, for its length indicator. A PDU has 40 octets.
            let pdus = (1065 * sdus).div_ceil(40);
            let cycle = pdus.div_ceil(blocks) + 4;
            assert!(granted_in.windows(2).all(|pair| pair[1] - pair[0] == cycle), "N = {sdus}, n = {blocks}");
            assert!(sdus * 1024 * 100 <= cycle * 4000 * blocks, "never above 4,000 n octet/s");
            assert_eq!(bench.delivered[Uplink.index()].len(), 400);
        }
    }
}

/// After MaxRST resets RLC sends nothing more.
#[test]
fn failed_rlc_entity_releases_its_capacity() {
    let radio = TddRadioConfig { estimate_sigma_db: 10.0, rho: 0.39, ..TddRadioConfig::default() };
    let cell = TddConfig {
        layout: LayoutKind::LowChipRate,
        grant: GrantConfig { sdus: 4, ..tdd().grant },
        ack: AckConfig { channel: AckChannel::Dedicated, ..tdd().ack },
        radio: Some(radio),
        ..tdd()
    };
    let mut unrecoverable = 0;
    for seed in 0..40 {
        // A window that does not move leads to a RESET. With a MaxRST of 1 the first one is already
        // an unrecoverable error.
        let rlc = RlcConfig { max_dat: Some(1), max_mrw: Some(2), max_rst: 1, ..rlc() };
        let mut bench = Bench::new(cell.clone(), rlc, 3, seed);
        for (id, ue) in (0..60).zip([0, 1, 2].into_iter().cycle()) {
            bench.sends(3 + 10 * id, ue, Direction::Downlink, id, 1340);
        }
        bench.frames(20_000);
        let errors =
            bench.trace.iter().filter(|(_, event)| matches!(event, TraceEvent::RlcUnrecoverable { .. }));
        unrecoverable += errors.count();
        assert_eq!(bench.held(), 0, "seed {seed}");
    }
    assert!(unrecoverable > 0, "the radio is too good for this test");
}
