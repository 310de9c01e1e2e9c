//! What holds for every course of a transfer, whatever part of it is measured.

use proptest::prelude::*;

use super::*;

/// A connection in which segments leave, arrive and are acknowledged, each step a few milliseconds after the last.
fn transfer(steps: &[(u64, u8)]) -> Story {
    let mut story = Story::default();
    story.at(0).opens(0, 0).writes(0, u64::MAX);
    let (mut now, mut sent, mut arrived, mut acknowledged, mut packet) = (0, 0, 0, 0, 0);
    for &(wait, what) in steps {
        now += wait;
        packet += 1;
        story.at(now);
        match what {
            0 => {
                story.sends(packet, data(0, 1 + sent * 1000), SendCause::New);
                sent += 1;
            }
            1 if sent > arrived => {
                story.arrives(packet, data(0, 1 + arrived * 1000), 1000);
                arrived += 1;
            }
            2 if arrived > acknowledged => {
                story.acked(0, 1 + arrived * 1000, (arrived - acknowledged) * 1000).measures(0, wait + 1);
                acknowledged = arrived;
            }
            3 if sent > acknowledged => {
                story.sends(packet, data(0, 1 + acknowledged * 1000), SendCause::Rto);
            }
            _ => {}
        }
    }
    story
}

fn steps() -> impl Strategy<Value = Vec<(u64, u8)>> {
    proptest::collection::vec((0u64..50, 0u8..4), 1..200)
}

proptest! {
    /// Payload can only be acknowledged after it arrived, and arrive after it was sent.
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

    /// Two adjoining windows share nothing and miss nothing.
    #[test]
    fn windows_add_up(steps in steps(), cut in 1u64..10_000) {
        let story = transfer(&steps);
        let windows = [(0, cut), (cut, 10_001), (0, 10_001)].map(|(from, to)| {
            let network = story.result(from, to).network;
            let seconds = (to - from) as f64 / 1e3;
            let amount = |name: &str, factor: f64| network.value(name).unwrap_or(0.0) * factor;
            [
                amount("goodput_kbps", seconds),
                amount("goodput_sent_kbps", seconds),
                amount("throughput_kbps", seconds),
                amount("total_packets", 1.0),
                amount("tcp_retransmissions", 1.0),
                amount("tcp_retransmissions_unneeded", 1.0),
                // The connection is active throughout.
                amount("mean_outstanding_segments", seconds),
            ]
        });
        for index in 0..windows[0].len() {
            let sum = windows[0][index] + windows[1][index];
            prop_assert!((sum - windows[2][index]).abs() < 1e-6, "{index}: {windows:?}");
        }
    }
}
