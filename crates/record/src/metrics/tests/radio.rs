//! Tests of the metrics of RLC, Iub and air, and of datagrams.

use super::*;

/// Three SDUs of 1,000 bytes enter RLC of the downlink at 0 s. Two are delivered, after 1 s and 2
/// s, and the third is discarded at 2 s. 16 new PDUs and 4 retransmissions leave, as 20 blocks of
/// 320 bits, 5 of which are lost. The window has 4 s.
#[test]
fn radio_metrics_are_for_each_direction() {
    let (ue, direction) = (UeId(0), Direction::Downlink);
    let sdu = PacketId(0);
    let size = Bytes(1000);
    let packet = Packet { id: sdu, flow: FlowId(0), ue, content: Content::Segment(data(0, 1)) };
    let pdus = |count, retransmission| TraceEvent::PdusSent {
        ue,
        direction,
        first_sn: 0,
        count,
        retransmission,
        poll: false,
    };
    let status =
        |direction, piggybacked, mrw| TraceEvent::StatusSent { ue, direction, octets: 5, piggybacked, mrw };
    let mut script = EventScript::default();
    script.at(0);
    for _ in 0..3 {
        script.event(TraceEvent::SduQueued { ue, direction, sdu, size });
    }
    script.event(TraceEvent::RlcBuffer { ue, direction, octets: 3000 });
    script.event(pdus(16, false)).event(pdus(4, true));
    script.event(TraceEvent::IubSent { ue, direction, blocks: 20, bits: 320 });
    script.event(TraceEvent::PdusDropped { ue, direction, count: 3, why: PduDrop::OutsideWindow });
    script.event(TraceEvent::RlcReset { ue, direction });
    script.event(TraceEvent::IubSent { ue, direction: Direction::Uplink, blocks: 1, bits: 168 });
    script.at(100).event(TraceEvent::BlocksReceived {
        ue,
        direction,
        channel: Channel::Dch,
        blocks: 20,
        errors: 5,
    });
    script.event(status(Direction::Uplink, false, false)).event(status(Direction::Uplink, true, false));
    script.event(status(Direction::Downlink, false, true));
    script.at(1000).event(TraceEvent::SduDelivered { ue, direction, sdu, size, entered: ms(0) });
    script.at(2000).event(TraceEvent::SduDelivered { ue, direction, sdu, size, entered: ms(0) });
    script.event(TraceEvent::SduDiscarded { ue, direction, sdu, size });
    script.event(TraceEvent::RlcBuffer { ue, direction, octets: 0 });
    script.event(TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet });
    script.event(TraceEvent::PacketDropped { place: DropPlace::LinkQueue(1), packet });
    script.event(TraceEvent::PacketDropped { place: DropPlace::LinkLoss(1), packet });
    script.event(TraceEvent::FachQueueDropped { ue, blocks: 7 });
    script.event(TraceEvent::RachCollision { ue });
    let result = script.result(0, 4000);
    check(
        &result.network,
        &[
            // 20 x 320 bits, and 168 bits, in 4 s.
            ("rlc_throughput_iub_kbps", 1.6),
            ("rlc_throughput_iub_kbps_uplink", 0.042),
            ("iub_pdus_per_s", 5.0),
            // 16,000 bits in the 2 s in which the buffer held data.
            ("rlc_throughput_payload_kbps", 8.0),
            ("sdu_delay_ms", 1500.0),
            // Standard deviation (n - 1) of 1000 and 2000 ms: the square root of 2 x 500^2.
            ("sdu_jitter_ms", 500_000.0_f64.sqrt()),
            ("sdu_error_pct", 100.0 / 3.0),
            ("residual_loss_pct", 100.0 / 3.0),
            ("rlc_sdu_discards", 1.0),
            ("rlc_buffer_sdu_drops", 1.0),
            ("rlc_buffer_sdu_drops_uplink", 0.0),
            ("pdu_transmissions", 20.0),
            ("rlc_retransmissions", 4.0),
            ("mean_transmissions_per_pdu", 1.25),
            ("rlc_pdus_dropped", 3.0),
            ("rlc_resets", 1.0),
            ("rlc_resets_uplink", 0.0),
            ("status_pdus_sent", 1.0),
            ("status_pdus_sent_uplink", 0.0),
            // One STATUS of 20 PDUs.
            ("status_overhead_pct", 5.0),
            ("bler_pct", 25.0),
            ("link_drops", 2.0),
            ("fach_queue_drops", 7.0),
            ("rach_collisions", 1.0),
        ],
    );
    for name in ["bler_pct_uplink", "sdu_delay_ms_uplink", "jain_fairness"] {
        assert_eq!(result.network.value(name), None, "{name}");
    }
    // From 1 s on, the buffer holds data for one more second, in which both SDUs are delivered.
    check(
        &script.result(1000, 4000).network,
        &[("rlc_throughput_payload_kbps", 16.0), ("pdu_transmissions", 0.0)],
    );
}

/// Of eight SDUs, numbers 3 and 4 are lost, 0 to 2 are delivered, and 5 to 7 are in transit at the
/// end. Each lost SDU counts once, also if it is discarded and reported as lost.
#[test]
fn undelivered_sdus_are_lost_in_every_mode() {
    let (ue, direction, size) = (UeId(0), Direction::Downlink, Bytes(100));
    let queued = |id| TraceEvent::SduQueued { ue, direction, sdu: PacketId(id), size };
    let delivered = |id| TraceEvent::SduDelivered { ue, direction, sdu: PacketId(id), size, entered: ms(0) };
    let discarded = |id| TraceEvent::SduDiscarded { ue, direction, sdu: PacketId(id), size };
    let lost = |id| TraceEvent::SduLost { ue, direction, sdu: PacketId(id), size };
    let mut script = EventScript::default();
    script.at(0);
    for id in 0..8 {
        script.event(queued(id));
    }
    script.at(100).event(delivered(0));
    // The receiver had already delivered the SDU when its sender discarded it.
    script.event(delivered(1)).event(discarded(1));
    // The SDU was on the air when its sender discarded it.
    script.event(discarded(2)).event(delivered(2));
    // The SDU is discarded, and a part of it is reported as lost.
    script.event(discarded(3)).event(lost(3));
    script.event(lost(4));
    let result = script.result(0, 1000);
    check(
        &result.network,
        &[
            // Two of eight SDUs that entered, and of five SDUs whose fate is known.
            ("sdu_error_pct", 100.0 * 2.0 / 8.0),
            ("residual_loss_pct", 100.0 * 2.0 / 5.0),
            ("rlc_sdu_discards", 3.0),
        ],
    );
    assert_eq!(result.network.value("residual_loss_pct_uplink"), None);
}

#[test]
fn datagrams_have_a_loss_a_delay_and_a_jitter() {
    let mut script = EventScript::default();
    let datagram = |number, timestamp| Datagram {
        direction: Direction::Downlink,
        number,
        payload: 100,
        header: 28,
        timestamp: ms(timestamp),
    };
    // One datagram every 100 ms from 0 on. Number 3 is lost, number 6 is in transit at 1 s. Delays:
    // 50, 80, 50, -, 60, 60 ms.
    for (number, delay) in [(0, 50), (1, 80), (2, 50), (3, 0), (4, 60), (5, 60), (6, 0)] {
        let sent = 100 * number;
        let (flow, datagram) = (FlowId(4), datagram(number, sent));
        script.at(sent).event(TraceEvent::DatagramSent { flow, datagram });
        if delay > 0 {
            script.at(sent + delay).event(TraceEvent::DatagramReceived { flow, datagram });
        }
    }
    check(
        &script.result(0, 1000).network,
        &[
            ("udp_sent", 7.0),
            ("udp_received", 5.0),
            // One of the six datagrams up to number 5, the highest number that arrived.
            ("udp_loss_pct", 100.0 / 6.0),
            // 5 x 800 bits in 1 s.
            ("udp_goodput_kbps", 4.0),
            ("udp_delay_ms", 60.0),
            ("udp_max_delay_ms", 80.0),
            // Mean of the differences 30, 30, 10 and 0 ms between delays of successive arrivals.
            ("udp_jitter_ms", 17.5),
            ("udp_sent_uplink", 0.0),
        ],
    );
    // A datagram that left before the window counts as received in it, but not in its losses.
    let late = script.result(120, 1000).network;
    check(&late, &[("udp_sent", 5.0), ("udp_received", 4.0), ("udp_loss_pct", 25.0)]);
}
