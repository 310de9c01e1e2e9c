//! Tests of the metrics of TDD cells.

use umts_stack::trace::CapturePoint;

use super::*;

/// UE 3 needs uplink capacity from 0 ms on, requests it twice, and is granted it at 60 ms. The
/// grant ends at 80 ms with 5 SDUs. The window has 100 ms, which are 10 frames. Two frames are
/// used, with 3 uplink slots and 36 uplink resource units for data; 16 and 8 of the units carry
/// blocks.
#[test]
fn metrics_of_a_tdd_cell() {
    let (ue, direction) = (UeId(3), Direction::Uplink);
    let frame = |used| TraceEvent::FrameUsed {
        cell: 0,
        slots: [1, 3],
        held: [4, 36],
        used: [0, used],
        sent: [1, 0, 0, 4],
        lost: [0, 0, 0, 1],
    };
    let segment = Segment { direction, ..data(0, 1) };
    let packet = Packet { id: PacketId(7), flow: FlowId(0), ue, content: Content::Segment(segment) };
    let size = Bytes(1040);
    let mut script = EventScript::default();
    script.at(0).event(TraceEvent::CapacityNeeded { ue, direction });
    script.at(10).event(TraceEvent::CapacityRequested { ue, heard: false });
    script.at(30).event(TraceEvent::CapacityRequested { ue, heard: true });
    script.at(50).event(TraceEvent::CapacityRefused { ue, direction, waits: true });
    script.at(60).event(TraceEvent::CapacityGranted { ue, direction, blocks: 4, wanted: 4 });
    script.event(frame(16)).at(70).event(frame(8)).event(TraceEvent::AckCollision { ue });
    script.at(80).event(TraceEvent::CapacityReleased { ue, direction, frames: 2, blocks: 6, sdus: 5 });
    script.event(TraceEvent::SduDelivered { ue, direction, sdu: packet.id, size, entered: ms(0) });
    script.event(TraceEvent::PacketCaptured { at: CapturePoint::Rnc, packet });
    let result = script.result(0, 100);
    check(
        &result.network,
        &[
            // From entering RLC at 0 ms to the RNC at 80 ms.
            ("segment_air_time_s", 0.08),
            ("capacity_requests", 2.0),
            ("capacity_refusals", 0.0),
            ("uplink_capacity_refusals", 1.0),
            ("uplink_capacity_wait_s", 0.06),
            ("uplink_sdus_per_grant", 5.0),
            // 2 x 3 slots, and 16 + 8 units, in 10 frames.
            ("uplink_tdd_slots", 0.6),
            ("uplink_resource_units", 2.4),
            // 24 of the 2 x (4 + 36) units held in both directions.
            ("grant_use_pct", 30.0),
            ("ack_collisions", 1.0),
            // `sent` and `lost`, indexed by the number of neighbours: 0 of 2, and 2 of 8.
            ("bler_alone_pct", 0.0),
            ("bler_3_neighbours_pct", 25.0),
        ],
    );
    assert_eq!(result.network.value("bler_1_neighbour_pct"), None);
}

/// Two users are served alternately for a second each: unfair over one second, fair over ten.
#[test]
fn alternating_users_are_unfair_over_one_second_and_fair_over_ten() {
    let direction = Direction::Uplink;
    let mut script = EventScript::default();
    for second in 0..20_u64 {
        let ue = UeId((second % 2) as u16);
        let segment = Segment { direction, ..data(0, 1) };
        let packet = Packet { id: PacketId(second), flow: FlowId(0), ue, content: Content::Segment(segment) };
        let size = Bytes(1040);
        script.at(second * 1000 + 500).event(TraceEvent::CapacityNeeded { ue, direction });
        script.event(TraceEvent::SduDelivered { ue, direction, sdu: packet.id, size, entered: ms(0) });
        script.event(TraceEvent::PacketCaptured { at: CapturePoint::Rnc, packet });
    }
    let result = script.result(0, 20_000);
    // In the first second there is only one user, so the index is 1. In each of the other 19
    // seconds one of two users has everything, so it is 1/2.
    check(&result.network, &[("jain_fairness_1s", (1.0 + 19.0 * 0.5) / 20.0), ("jain_fairness_10s", 1.0)]);
}

#[test]
fn tdd_metrics_need_a_tdd_cell() {
    let result = EventScript::default().result(0, 100);
    assert_eq!(result.network.value("capacity_requests"), None);
    assert_eq!(result.network.value("uplink_tdd_slots"), None);
}
