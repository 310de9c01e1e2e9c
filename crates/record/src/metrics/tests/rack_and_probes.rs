//! Metrics of RACK losses, tail loss probes, and keep-alives.

use super::*;

/// The server sends two segments and repeats the second as a tail loss probe, which repairs a loss.
/// Then it sends a probe with new data, and RACK finds three segments lost.
#[test]
fn rack_and_probes_are_counted_for_the_data_sender() {
    let (connection, end) = (ConnectionId(0), End::Server);
    let mut script = EventScript::default();
    script.at(0).opens(0, 0).writes(0, u64::MAX);
    script.sends(0, data(0, 1), SendCause::New).sends(1, data(0, 1001), SendCause::New);
    script.at(1000).event(TraceEvent::TailLossProbe { connection, end, repeats: true });
    script.sends(2, Segment { transmission: 1, ..data(0, 1001) }, SendCause::TailLoss);
    script.at(2000).arrives(0, data(0, 1), 1000).arrives(2, data(0, 1001), 1000).acked(0, 2001, 2000);
    script.event(TraceEvent::TailLossRepaired { connection, end });
    script.at(3000).event(TraceEvent::TailLossProbe { connection, end, repeats: false });
    script.sends(3, data(0, 2001), SendCause::New);
    script.event(TraceEvent::RackLoss { connection, end, segments: 3 });
    // Events of the other end are not counted.
    script.event(TraceEvent::RackLoss { connection, end: End::Ue, segments: 5 });
    script.at(9000).sends(4, Segment { payload: 0, ..data(0, 3000) }, SendCause::KeepAlive);
    let result = script.result(0, 10_000);
    check(
        &result.network,
        &[
            ("tcp_retransmissions", 1.0),
            ("tcp_retransmissions_by_dupack", 0.0),
            ("tcp_retransmissions_by_rto", 0.0),
            ("tcp_retransmissions_unneeded", 0.0),
            ("rack_losses", 3.0),
            ("tail_loss_probes", 1.0),
            ("tail_loss_probes_of_new_data", 1.0),
            ("tail_loss_probe_repairs", 1.0),
            ("keep_alives", 1.0),
            ("total_packets", 3.0),
        ],
    );
    assert_eq!(script.result(4000, 10_000).network.value("rack_losses"), Some(0.0), "only in the window");
}
