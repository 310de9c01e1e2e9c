//! Sequences of capacity requests, grants and acknowledgments in a TDD cell, compared with the expected
//! events as text. A UE requests uplink capacity on the RACH, and the RNC requests downlink capacity. A
//! grant is a number of blocks per frame of 10 ms, until the first frame in which it is unused. A block
//! holds a PDU of 40 octets.
//!
//! An event is a line with the number of its frame: `"4: UE 0 ▲ granted 1"` is a grant of 1 block per
//! frame in the uplink (▲; ▼ is the downlink), and `"7: UE 0 ▲ releases after 3"` the end of a grant
//! with 3 blocks in all. `bench.story()` returns all lines, and `bench.lines_with(word)` those that
//! contain a word.

use Direction::{Downlink, Uplink};

use super::*;
use crate::radio::phy::tdd::TddRadioConfig;

/// A cell with one UE.
fn alone() -> Bench {
    Bench::new(tdd(), rlc(), 1, SEED)
}

const SEED: u64 = 1;

/// A cell with one uplink slot for four blocks. Acknowledgments take one of them, and a grant takes the
/// other three.
fn narrow(refused: Refused) -> TddConfig {
    let layout = LayoutKind::HighChipRate.layout();
    let pattern = Some(layout.pattern("RUDDDDDDDDDDDDC").expect("it fits"));
    let grant = GrantConfig { weights: vec![3, 3, 3], refused, ..tdd().grant };
    TddConfig { pattern, grant, ..tdd() }
}

#[test]
fn a_capacity_request_is_granted_two_frames_later_for_the_next_frame() {
    let mut bench = alone();
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 100 });
    bench.frames(20);
    // Three PDUs of one block per frame, then a frame that is left unused.
    let expected = [
        "0: UE 0 ▲ needs capacity",
        "1: UE 0 request received",
        "4: UE 0 ▲ granted 1",
        "7: UE 0 ▼ STATUS",
        "7: UE 0 ▲ releases after 3",
    ];
    assert_eq!(bench.story(), expected);
    assert_eq!(bench.delivered[Uplink.index()], [(UeId(0), 0)]);
}

#[test]
fn the_rnc_requests_capacity_without_the_rach() {
    let mut bench = alone();
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Downlink, id: 0, octets: 100 });
    bench.frames(20);
    let expected =
        ["0: UE 0 ▼ needs capacity", "1: UE 0 ▼ granted 1", "4: UE 0 ▲ STATUS", "4: UE 0 ▼ releases after 3"];
    assert_eq!(bench.story(), expected);
    assert_eq!(bench.delivered[Downlink.index()], [(UeId(0), 0)]);
}

#[test]
fn a_collided_request_backs_off_and_is_repeated() {
    let rach = TddRachConfig { codes: 1, ..tdd().rach };
    let mut bench = Bench::new(TddConfig { rach, ..tdd() }, rlc(), 2, SEED);
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 100 });
    bench.sends(SentPacket { at_ms: 3, ue: 1, direction: Uplink, id: 1, octets: 100 });
    bench.frames(200);
    assert_eq!(
        bench.lines_with("request collides")[..2],
        ["1: UE 0 request collides", "1: UE 1 request collides"]
    );
    assert_eq!(bench.lines_with("request received").len(), 2);
    let delivered: std::collections::BTreeSet<_> = bench.delivered[Uplink.index()].iter().copied().collect();
    assert_eq!(delivered.len(), 2);
}

#[test]
fn backlog_has_three_levels() {
    for (sdus, blocks) in [(1, 1), (2, 2), (5, 2), (6, 4), (40, 4)] {
        let mut bench = alone();
        (0..sdus)
            .for_each(|id| bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id, octets: 1000 }));
        bench.frames(5);
        assert_eq!(bench.lines_with("granted"), [format!("4: UE 0 ▲ granted {blocks}")], "{sdus} SDUs");
    }
}

#[test]
fn a_ue_without_room_is_refused_and_backs_off() {
    let mut bench = Bench::new(narrow(Refused::BackOff), rlc(), 2, SEED);
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 2000 });
    bench.sends(SentPacket { at_ms: 13, ue: 1, direction: Uplink, id: 1, octets: 100 });
    bench.frames(200);
    assert_eq!(bench.lines_with("UE 0 ▲ granted"), ["4: UE 0 ▲ granted 3"]);
    assert_eq!(bench.lines_with("refused")[0], "5: UE 1 ▲ refused");
    // UE 1 repeats its request on the RACH until there is room.
    assert!(bench.lines_with("UE 1 request received").len() > 1);
    assert_eq!(bench.lines_with("UE 1 ▲ granted").len(), 1);
    assert_eq!(bench.delivered[Uplink.index()].len(), 2);
}

#[test]
fn rnc_can_queue_a_refused_request() {
    let mut bench = Bench::new(narrow(Refused::Queue), rlc(), 2, SEED);
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 2000 });
    bench.sends(SentPacket { at_ms: 13, ue: 1, direction: Uplink, id: 1, octets: 100 });
    bench.frames(200);
    assert_eq!(bench.lines_with("UE 1 request received").len(), 1);
    assert_eq!(bench.lines_with("queued"), ["5: UE 1 ▲ queued"]);
    let released_in = bench.frames_with("UE 0 ▲ releases")[0];
    assert_eq!(bench.lines_with("UE 1 ▲ granted"), [format!("{}: UE 1 ▲ granted 3", released_in + 1)]);
}

#[test]
fn refused_requests_of_the_rnc_wait_in_their_order() {
    let layout = LayoutKind::HighChipRate.layout();
    let pattern = Some(layout.pattern("RUUUUUUUUUUUUDC").expect("it fits"));
    let grant = GrantConfig { weights: vec![3, 3, 3], ..tdd().grant };
    let mut bench = Bench::new(TddConfig { pattern, grant, ..tdd() }, rlc(), 3, SEED);
    for ue in [2, 0, 1] {
        bench.sends(SentPacket { at_ms: 3, ue, direction: Downlink, id: ue.into(), octets: 300 });
    }
    bench.frames(100);
    let order: Vec<_> = bench
        .lines_with("granted")
        .iter()
        .map(|line| line.split_once(": ").expect("a frame").1.to_owned())
        .collect();
    assert_eq!(order, ["UE 2 ▼ granted 3", "UE 0 ▼ granted 3", "UE 1 ▼ granted 3"]);
    assert_eq!(bench.lines_with("queued"), ["1: UE 0 ▼ queued", "1: UE 1 ▼ queued"]);
}

#[test]
fn grant_ends_after_n_sdus() {
    let grant = GrantConfig { sdus: 2, ..tdd().grant };
    let mut bench = Bench::new(TddConfig { grant, ..tdd() }, rlc(), 1, SEED);
    (0..5).for_each(|id| bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id, octets: 100 }));
    bench.frames(60);
    // Two SDUs of 101 octets with their length indicators: six PDUs. The last one alone: three.
    let expected = [
        "4: UE 0 ▲ granted 2",
        "7: UE 0 ▲ releases after 6",
        "11: UE 0 ▲ granted 2",
        "14: UE 0 ▲ releases after 6",
        "18: UE 0 ▲ granted 1",
        "21: UE 0 ▲ releases after 3",
    ];
    let grants: Vec<_> = bench
        .story()
        .into_iter()
        .filter(|line| line.contains("granted") || line.contains("releases"))
        .collect();
    assert_eq!(grants, expected);
}

#[test]
fn new_sdus_use_the_present_grant() {
    let mut bench = alone();
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 200 });
    bench.sends(SentPacket { at_ms: 55, ue: 0, direction: Uplink, id: 1, octets: 100 });
    bench.frames(60);
    assert_eq!(bench.lines_with("granted"), ["4: UE 0 ▲ granted 1"]);
    assert_eq!(bench.delivered[Uplink.index()].len(), 2);
}

#[test]
fn unused_grant_ends_before_its_data_are_acknowledged() {
    let ack = AckConfig { delay: Frames(3), ..tdd().ack };
    let mut bench = Bench::new(TddConfig { ack, ..tdd() }, rlc(), 1, SEED);
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 100 });
    bench.frames(40);
    assert_eq!(bench.lines_with("releases"), ["7: UE 0 ▲ releases after 3"]);
}

#[test]
fn downlink_acknowledgments_are_sent_in_turn() {
    let ack = AckConfig { downlink_per_frame: Some(1), ..tdd().ack };
    let rach = TddRachConfig { codes: 16, ..tdd().rach };
    let mut bench = Bench::new(TddConfig { ack, rach, ..tdd() }, rlc(), 3, 7);
    for ue in 0..3 {
        bench.sends(SentPacket { at_ms: 3, ue, direction: Uplink, id: ue.into(), octets: 30 });
    }
    bench.frames(60);
    let frames = bench.frames_with("▼ STATUS");
    let distinct: std::collections::BTreeSet<_> = frames.iter().collect();
    assert_eq!((frames.len(), distinct.len()), (3, 3), "{frames:?}");
}

#[test]
fn uplink_acknowledgments_are_repeated_after_a_collision() {
    let mut bench = Bench::new(tdd(), rlc(), 2, SEED);
    for ue in 0..2 {
        bench.sends(SentPacket { at_ms: 3, ue, direction: Downlink, id: ue.into(), octets: 30 });
    }
    bench.frames(60);
    assert_eq!(
        bench.lines_with("STATUS collides")[..2],
        ["2: UE 0 STATUS collides", "2: UE 1 STATUS collides"]
    );
    assert_eq!(bench.lines_with("▲ STATUS").len(), 2, "each UE sends one STATUS, without a collision");
    assert!((0..2).all(|ue| bench.occupancy(ue, Downlink) == Bytes(0)));
}

#[test]
fn dedicated_channel_carries_the_acknowledgments_of_a_grant() {
    let ack = AckConfig { channel: AckChannel::Dedicated, ..tdd().ack };
    let mut bench = Bench::new(TddConfig { ack, ..tdd() }, rlc(), 1, SEED);
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 100 });
    bench.frames(20);
    // The STATUS PDU is sent in the frame after the last block, in which the grant is unused, and
    // received at the end of that frame.
    assert_eq!(bench.lines_with("▼ STATUS"), ["7: UE 0 ▼ STATUS"]);
    assert_eq!(bench.lines_with("releases"), ["7: UE 0 ▲ releases after 3"]);
    assert_eq!(bench.occupancy(0, Uplink), Bytes(0));
}

#[test]
fn request_is_withdrawn_if_its_data_are_discarded_before_the_grant() {
    use crate::radio::rlc::SduDiscard;
    let rlc =
        RlcConfig { sdu_discard: SduDiscard::Timer, timer_discard: Some(Duration::from_millis(20)), ..rlc() };
    let mut bench = Bench::new(tdd(), rlc, 1, SEED);
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 100 });
    bench.frames(20);
    assert_eq!(
        bench.story(),
        ["0: UE 0 ▲ needs capacity", "1: UE 0 request received", "4: UE 0 ▲ withdraws"]
    );
}

#[test]
fn nothing_happens_without_requests() {
    let mut bench = alone();
    bench.sends(SentPacket { at_ms: 3, ue: 0, direction: Uplink, id: 0, octets: 100 });
    bench.frames(100);
    let events = bench.events;
    bench.frames(1_000_000);
    assert_eq!((bench.events, bench.grants_and_requests()), (events, 0));
}

/// A cycle of P PDUs of N SDUs, sent in n blocks per frame, has ceil(P / n) frames of data and 4
/// others: one unused, one for the request, two for the answer.
#[test]
fn single_user_has_the_throughput_of_the_closed_form() {
    for sdus in [1_u64, 5, 20] {
        for blocks in [1_u64, 2, 4] {
            let grant = GrantConfig { sdus: sdus as u32, weights: vec![blocks as u32; 3], ..tdd().grant };
            let mut bench = Bench::new(TddConfig { grant, ..tdd() }, rlc(), 1, SEED);
            (0..400).for_each(|id| {
                bench.sends(SentPacket { at_ms: 0, ue: 0, direction: Uplink, id, octets: 1064 })
            });
            bench.frames(20_000);
            let granted_in = bench.frames_with("granted");
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
            bench.sends(SentPacket {
                at_ms: 3 + 10 * id,
                ue,
                direction: Direction::Downlink,
                id,
                octets: 1340,
            });
        }
        bench.frames(20_000);
        let errors =
            bench.trace.iter().filter(|(_, event)| matches!(event, TraceEvent::RlcUnrecoverable { .. }));
        unrecoverable += errors.count();
        assert_eq!(bench.grants_and_requests(), 0, "seed {seed}");
    }
    assert!(unrecoverable > 0, "the radio is too good for this test");
}
