//! Properties that hold for every transfer and every window.

use proptest::prelude::*;

use super::*;

/// What happens to a connection after a wait. An action that is impossible at this time is skipped.
#[derive(Debug, Clone, Copy)]
enum Action {
    SendNext,
    DeliverNext,
    AcknowledgeAllDelivered,
    RetransmitOldest,
}

/// A wait in milliseconds, then an action.
#[derive(Debug, Clone, Copy)]
struct Step {
    wait_ms: u64,
    action: Action,
}

/// A connection in which segments leave, arrive and are acknowledged. `sent`, `arrived` and
/// `acknowledged` count segments.
fn transfer(steps: &[Step]) -> EventScript {
    let mut script = EventScript::default();
    script.at(0).opens(0, 0).writes(0, u64::MAX);
    let (mut now, mut sent, mut arrived, mut acknowledged, mut packet) = (0, 0, 0, 0, 0);
    for &Step { wait_ms, action } in steps {
        now += wait_ms;
        packet += 1;
        script.at(now);
        match action {
            Action::SendNext => {
                script.sends(packet, data(0, 1 + sent * 1000), SendCause::New);
                sent += 1;
            }
            Action::DeliverNext if sent > arrived => {
                script.arrives(packet, data(0, 1 + arrived * 1000), 1000);
                arrived += 1;
            }
            Action::AcknowledgeAllDelivered if arrived > acknowledged => {
                script.acked(0, 1 + arrived * 1000, (arrived - acknowledged) * 1000);
                script.samples_rtt(0, wait_ms + 1);
                acknowledged = arrived;
            }
            Action::RetransmitOldest if sent > acknowledged => {
                script.sends(packet, data(0, 1 + acknowledged * 1000), SendCause::Rto);
            }
            _ => {}
        }
    }
    script
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let actions =
        [Action::SendNext, Action::DeliverNext, Action::AcknowledgeAllDelivered, Action::RetransmitOldest];
    let step = (0u64..50, 0..actions.len())
        .prop_map(move |(wait_ms, index)| Step { wait_ms, action: actions[index] });
    proptest::collection::vec(step, 1..200)
}

proptest! {
    /// Payload is acknowledged only after it arrived, and arrives only after it was sent.
    #[test]
    fn goodputs_are_ordered(steps in steps()) {
        let network = transfer(&steps).result(0, 10_001).network;
        let value = |name| network.value(name).expect("a window has a length");
        prop_assert!(value("goodput_kbps") <= value("goodput_delivered_kbps"));
        prop_assert!(value("goodput_delivered_kbps") <= value("goodput_sent_kbps"));
        prop_assert!(value("goodput_sent_kbps") <= value("throughput_kbps"));
        prop_assert!(value("tcp_retransmissions_unneeded") <= value("tcp_retransmissions"));
        prop_assert!(value("mean_outstanding_segments") <= value("max_outstanding_segments"));
        prop_assert_eq!(
            value("tcp_retransmissions"),
            value("tcp_retransmissions_by_rto") + value("tcp_retransmissions_by_dupack")
        );
    }

    /// The results of two adjoining windows add up to the results of both together.
    #[test]
    fn windows_add_up(steps in steps(), cut in 1u64..10_000) {
        let script = transfer(&steps);
        let windows = [(0, cut), (cut, 10_001), (0, 10_001)].map(|(from, to)| {
            let network = script.result(from, to).network;
            let seconds = (to - from) as f64 / 1e3;
            let amount = |name: &str, factor: f64| network.value(name).unwrap_or(0.0) * factor;
            [
                amount("goodput_kbps", seconds),
                amount("goodput_sent_kbps", seconds),
                amount("throughput_kbps", seconds),
                amount("total_packets", 1.0),
                amount("tcp_retransmissions", 1.0),
                amount("tcp_retransmissions_unneeded", 1.0),
                // The connection is active all the time.
                amount("mean_outstanding_segments", seconds),
            ]
        });
        for index in 0..windows[0].len() {
            let sum = windows[0][index] + windows[1][index];
            prop_assert!((sum - windows[2][index]).abs() < 1e-6, "{index}: {windows:?}");
        }
    }
}

/// A file of five segments with a window of two: the sender waits for the acknowledgments of the
/// first two, and of the next two. A silence is an idle gap if it is longer than 40 ms plus half of
/// the latest round-trip time, and data waits to be sent. It counts in the window in which it ends.
#[test]
fn a_sender_is_idle_while_its_window_is_full_and_not_without_data() {
    let mut script = EventScript::default();
    script.at(0).opens(0, 0).samples_rtt(0, 200).writes(0, 5000);
    script.at(10).sends(1, data(0, 1), SendCause::New).sends(2, data(0, 1001), SendCause::New);
    // A gap: 141 ms are longer than 40 ms plus half of 200 ms.
    script.at(151).acked(0, 2001, 2000).samples_rtt(0, 300);
    script.sends(3, data(0, 2001), SendCause::New).sends(4, data(0, 3001), SendCause::New);
    // No gap: 190 ms are not longer than 40 ms plus half of 300 ms.
    script.at(341).acked(0, 4001, 2000).samples_rtt(0, 50).sends(5, data(0, 4001), SendCause::New);
    // All data has left: neither a retransmission nor the next file ends a gap.
    script.at(2000).sends(6, data(0, 4001), SendCause::Rto);
    script.at(3000).acked(0, 5001, 1000).writes(0, 1000).sends(7, data(0, 5001), SendCause::New);
    for (from, to, gaps) in [(0, 4000, 1.0), (0, 151, 0.0), (151, 4000, 1.0), (152, 4000, 0.0)] {
        check(&script.result(from, to).network, &[("sender_idle_gaps", gaps)]);
    }
    check(&script.result(0, 4000).connections[0].metrics(), &[("sender_idle_gaps", 1.0)]);
}
