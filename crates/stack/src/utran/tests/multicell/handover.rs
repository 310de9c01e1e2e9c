//! Handovers of DSCH users between cells: the data that is kept, and the data that is lost with the old
//! cell. `commuter` moves between cells 0 and 1.

use super::*;
use crate::trace::Postponed;

#[test]
fn a_handover_loses_and_repeats_nothing() {
    for interruption in [0, 60] {
        let mut config = layout_cells(4.0, ERROR_FREE);
        config.handover.interruption = Duration::from_millis(interruption);
        let mobility = commuter(&config);
        let mut bench = Bench::new(&config, &[mobility]);
        for n in 0..2_000 {
            bench.sends(SentPacket { at_ms: 100 * n, ue: 0, id: n, octets: 570 });
        }
        bench.seconds(240);
        assert!(bench.handovers().len() >= 3, "{:?}", bench.handovers());
        assert_eq!(bench.delivered_ids(), (0..2_000).collect::<Vec<_>>(), "all of them, in order");
        let postponed_by_handover = bench
            .trace
            .iter()
            .filter(|(_, event)| matches!(event, TraceEvent::DschPostponed { why: Postponed::Handover, .. }));
        assert_eq!(postponed_by_handover.count() > 0, interruption > 0);
    }
}

#[test]
fn rlc_that_restarts_at_a_handover_loses_sdus_in_transmission() {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.handover.rlc = RlcAtHandover::Reestablished;
    let mobility = commuter(&config);
    let mut bench = Bench::new(&config, &[mobility]);
    // More than the DSCH carries, so that something is always under way.
    for n in 0..7_000 {
        bench.sends(SentPacket { at_ms: 33 * n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(1_000);
    let handovers = bench.handovers().len();
    let delivered = bench.delivered_ids();
    assert!(handovers >= 3, "{handovers}");
    assert!(delivered.is_sorted(), "in order, nothing twice");
    let lost = 7_000 - delivered.len();
    assert!((1..=40 * handovers).contains(&lost), "{lost} of {handovers} handovers");
}

/// A run in which the buffer is full at each handover and is lost.
struct LostBuffers {
    bench: Bench,
    /// Octets of the lost buffers.
    lost_octets: u64,
}

fn with_full_buffer(rlc: RlcAtHandover) -> LostBuffers {
    let mut config = layout_cells(4.0, ERROR_FREE);
    (config.handover.rlc, config.handover.buffer) = (rlc, BufferAtHandover::Lost);
    let mobility = commuter(&config);
    let mut bench = Bench::new(&config, &[mobility]);
    for n in 0..7_000 {
        bench.sends(SentPacket { at_ms: 33 * n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(1_000);
    let lost_sizes = bench.trace.iter().filter_map(|(_, event)| match event {
        TraceEvent::HandoverLost { size, .. } => Some(size.0),
        _ => None,
    });
    let lost_octets = lost_sizes.sum();
    LostBuffers { bench, lost_octets }
}

#[test]
fn lost_buffer_has_the_unsent_sdus() {
    for rlc in [RlcAtHandover::Kept, RlcAtHandover::Reestablished] {
        let LostBuffers { bench, lost_octets } = with_full_buffer(rlc);
        let delivered = bench.delivered_ids();
        assert!(bench.handovers().len() >= 3, "{:?}", bench.handovers());
        assert!(delivered.windows(2).all(|pair| pair[0] < pair[1]), "in order, nothing twice");
        let discarded =
            bench.trace.iter().filter(|(_, event)| matches!(event, TraceEvent::SduDiscarded { .. }));
        let (missing, discarded) = (7_000 - delivered.len() as u64, discarded.count() as u64);
        match rlc {
            // SDUs in transmission continue in the new cell.
            RlcAtHandover::Kept => assert_eq!((lost_octets, discarded), (570 * missing, missing)),
            // SDUs in transmission are discarded as well. Some of them had already arrived.
            RlcAtHandover::Reestablished => assert!(lost_octets < 570 * missing && missing <= discarded),
        }
        assert!(lost_octets > 570 * 100, "the buffer was full: {lost_octets}");
    }
}

#[test]
fn a_user_with_a_lost_buffer_receives_later_packets() {
    let LostBuffers { bench, .. } = with_full_buffer(RlcAtHandover::Reestablished);
    // The last packet was sent at 231 s and delivered long after the last handover.
    assert_eq!(bench.delivered_ids().last(), Some(&6_999));
}

#[test]
fn idle_user_is_measured_when_it_gets_data() {
    let config = layout_cells(4.0, ERROR_FREE);
    let mobility = commuter(&config);
    let mut bench = Bench::new(&config, &[mobility]);
    // The first packet. After a minute the user is near the centre of the other cell.
    bench.sends(SentPacket { at_ms: 62_000, ue: 0, id: 1, octets: 570 });
    bench.seconds(64);
    let at = Time::ZERO + Duration::from_millis(62_000);
    assert_eq!(bench.handovers(), [CellChange { at, from: 0, to: 1 }]);
    assert_eq!(bench.delivered_ids(), [1]);
}

#[test]
fn a_handover_without_backlog_postpones_nothing() {
    let mut config = layout_cells(1.0, ERROR_FREE);
    config.handover.rlc = RlcAtHandover::Reestablished;
    config.handover.interruption = Duration::from_millis(200);
    let mobility = commuter(&config);
    let mut bench = Bench::new(&config, &[mobility]);
    // A packet takes 300 ms of the 310 ms to the next one. It is thus the only one in the buffer
    // most of the time, and after a handover that loses it the buffer is empty.
    let packets = Duration::from_millis(310);
    for n in 0..700 {
        bench.sends(SentPacket { at_ms: 310 * n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(220);
    assert!(bench.delivered_ids().len() < 700 && bench.handovers().len() >= 3, "{:?}", bench.handovers());
    for handover in bench.handovers() {
        let next_packet = handover.at.round_up_to(packets);
        let mut postponed = bench.trace.iter().filter(|(at, event)| {
            (handover.at..next_packet).contains(at)
                && matches!(event, TraceEvent::DschPostponed { why: Postponed::Handover, .. })
        });
        assert_eq!(postponed.next(), None, "{handover:?}");
    }
}
