//! Exchanges of packets with a proxy that does not split connections: the server's data pass down,
//! the UE's ACKs pass up. Segments have 1,000 octets and are numbered from 0.

use super::helper::FIRST_OWN_ID;
use super::{Helper, HelperKind, HelperOutput};
use crate::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};
use crate::packet::{Content, Flags, Packet, Segment};
use crate::trace::Help;

/// Payload of a segment.
const OCTETS: u32 = 1000;
/// Cache of the snooping proxy, in octets: more than any test needs.
const LARGE_CACHE: u64 = 64_000;
/// The window that the UE advertises.
const WINDOW: u32 = 32_768;

fn packet(segment: Segment) -> Packet {
    Packet { id: PacketId(segment.seq), flow: FlowId(0), ue: UeId(0), content: Content::Segment(segment) }
}

/// Segment number `n` of 1,000 octets, from 0.
fn data(n: u64) -> Packet {
    let base = Segment::new(ConnectionId(0), Direction::Downlink);
    packet(Segment { seq: 1 + n * u64::from(OCTETS), payload: OCTETS, ..base })
}

/// An ACK of the UE for `n` complete segments.
fn ack(n: u64) -> Packet {
    ack_with_window(n, WINDOW)
}

/// An ACK of the UE for `n` complete segments that advertises this window.
fn ack_with_window(n: u64, window: u32) -> Packet {
    let base = Segment::new(ConnectionId(0), Direction::Uplink);
    let flags = Flags { ack: true, ..Flags::default() };
    packet(Segment { flags, ack: 1 + n * u64::from(OCTETS), window, ..base })
}

fn helper(kind: HelperKind) -> Helper {
    let acts_on_flow_0_but_not_1 = vec![true, false];
    Helper::new(kind, acts_on_flow_0_but_not_1)
}

/// Acknowledged segments of the ACKs that are forwarded.
fn acks(output: &HelperOutput) -> Vec<u64> {
    let segments = output.up.iter().filter_map(Packet::segment);
    segments.map(|segment| (segment.ack - 1) / u64::from(OCTETS)).collect()
}

/// Number of the segment that the proxy retransmits.
fn repeated(output: &HelperOutput) -> Option<u64> {
    output.down.as_ref().and_then(Packet::segment).map(|segment| (segment.seq - 1) / u64::from(OCTETS))
}

#[test]
fn snoop_retransmits_on_duplicates_and_hides_them() {
    let mut snoop = helper(HelperKind::Snoop { cache: LARGE_CACHE });
    for n in 0..5 {
        snoop.pass_down(&data(n));
    }
    assert_eq!(acks(&snoop.pass_up(ack(1))), [1]);
    // Segment 1 is lost after the proxy. Segments 2, 3 and 4 cause duplicates.
    let first = snoop.pass_up(ack(1));
    assert!(acks(&first).is_empty());
    assert_eq!(repeated(&first), Some(1));
    assert_eq!(first.action, Some(Help::Repeated));
    assert!(first.hidden);
    assert!(first.down.is_some_and(|packet| packet.id >= FIRST_OWN_ID), "the copy has its own packet id");
    for _ in 0..2 {
        let next = snoop.pass_up(ack(1));
        assert!(acks(&next).is_empty());
        assert_eq!(repeated(&next), None);
        assert_eq!(next.action, Some(Help::Hid));
    }
    assert_eq!(acks(&snoop.pass_up(ack(5))), [5]);
}

#[test]
fn snoop_retransmits_again_after_unexpected_duplicates() {
    let mut snoop = helper(HelperKind::Snoop { cache: LARGE_CACHE });
    (0..3).for_each(|n| snoop.pass_down(&data(n)));
    snoop.pass_up(ack(0));
    let answers: Vec<_> = (0..4).map(|_| repeated(&snoop.pass_up(ack(0)))).collect();
    // Segment 0 is lost. The two segments after it cause the two duplicates that follow the first,
    // so the fourth shows that the retransmission was lost as well.
    assert_eq!(answers, [Some(0), None, None, Some(0)]);
}

#[test]
fn snoop_forwards_duplicates_for_segments_it_never_received() {
    let mut snoop = helper(HelperKind::Snoop { cache: 2500 });
    (0..5).filter(|&n| n != 1).for_each(|n| snoop.pass_down(&data(n)));
    assert_eq!(acks(&snoop.pass_up(ack(1))), [1]);
    for _ in 0..3 {
        assert_eq!(acks(&snoop.pass_up(ack(1))), [1], "segment 1 was lost before the proxy");
    }
    snoop.pass_down(&data(1));
    assert_eq!(acks(&snoop.pass_up(ack(1))), [1], "the ACK was sent before the retransmission passed");
    assert_eq!(acks(&snoop.pass_up(ack(4))), [4]);
    // The cache of 2,500 octets held segments 0 and 2, so there is no copy of 4.
    assert_eq!(acks(&snoop.pass_up(ack(4))), [4]);
}

#[test]
fn needless_server_retransmissions_trigger_no_repetition() {
    let mut snoop = helper(HelperKind::Snoop { cache: LARGE_CACHE });
    (0..4).for_each(|n| snoop.pass_down(&data(n)));
    snoop.pass_up(ack(3));
    // ACKs were late: the server goes back to segment 1 although the UE has 1 and 2.
    (1..3).for_each(|n| snoop.pass_down(&data(n)));
    let answers: Vec<_> = (0..3).map(|_| snoop.pass_up(ack(3))).collect();
    assert_eq!(answers.iter().map(acks).collect::<Vec<_>>(), [vec![3], vec![3], vec![]]);
    assert_eq!(answers.iter().map(repeated).collect::<Vec<_>>(), [None, None, Some(3)]);
}

#[test]
fn window_update_is_not_a_duplicate() {
    let mut snoop = helper(HelperKind::Snoop { cache: LARGE_CACHE });
    (0..3).for_each(|n| snoop.pass_down(&data(n)));
    snoop.pass_up(ack_with_window(1, 0));
    assert_eq!(acks(&snoop.pass_up(ack_with_window(1, 8000))), [1]);
    assert_eq!(repeated(&snoop.pass_up(ack_with_window(1, 8000))), Some(1));
}

#[test]
fn acks_are_held_while_too_much_is_in_flight() {
    let mut regulator = helper(HelperKind::AckRegulation { queue: 2500 });
    (0..6).for_each(|n| regulator.pass_down(&data(n)));
    let held: Vec<_> = (1..=3).map(|n| regulator.pass_up(ack(n))).collect();
    assert!(held.iter().all(|output| output.up.is_empty() && output.action == Some(Help::Held)));
    // Two segments are in flight: each new ACK releases two, the last one all.
    assert_eq!(acks(&regulator.pass_up(ack(4))), [1, 2]);
    assert_eq!(acks(&regulator.pass_up(ack(5))), [3, 4]);
    assert_eq!(acks(&regulator.pass_up(ack(6))), [5, 6]);
}

#[test]
fn duplicate_or_non_pure_ack_releases_all_held_acks() {
    let Content::Segment(third_ack) = ack(3).content else { unreachable!() };
    let fin = packet(Segment { flags: Flags { fin: true, ..third_ack.flags }, ..third_ack });
    let duplicate = ack(2);
    for last in [duplicate, fin] {
        let mut regulator = helper(HelperKind::AckRegulation { queue: 1000 });
        (0..9).for_each(|n| regulator.pass_down(&data(n)));
        assert!(regulator.pass_up(ack(1)).up.is_empty() && regulator.pass_up(ack(2)).up.is_empty());
        assert_eq!(regulator.pass_up(last).up.len(), 3);
    }
}

#[test]
fn windows_are_lowered_and_never_raised() {
    let mut clamp = helper(HelperKind::WindowClamp { window: 8000 });
    let forwarded_window = |output: HelperOutput| output.up[0].segment().expect("a segment").window;
    let wide = clamp.pass_up(ack_with_window(1, WINDOW));
    assert_eq!(wide.action, Some(Help::Clamped));
    assert_eq!(forwarded_window(wide), 8000);
    let narrow = clamp.pass_up(ack_with_window(1, 4000));
    assert_eq!(narrow.action, None);
    assert_eq!(forwarded_window(narrow), 4000);
}

#[test]
fn other_flows_pass_unchanged() {
    let kinds = [
        HelperKind::Snoop { cache: LARGE_CACHE },
        HelperKind::AckRegulation { queue: 1 },
        HelperKind::WindowClamp { window: 1 },
    ];
    for kind in kinds {
        let mut helper = helper(kind);
        let of_other_flow = |packet: Packet| Packet { flow: FlowId(1), ..packet };
        (0..4).for_each(|n| helper.pass_down(&of_other_flow(data(n))));
        for n in [0, 0, 1, 1, 1] {
            let output = helper.pass_up(of_other_flow(ack(n)));
            assert_eq!(&output.up[..], &[of_other_flow(ack(n))][..]);
            assert_eq!(output.action, None);
        }
    }
}
