//! Stalls, compared with values computed by hand. A stall is a time of at least 0.5 s (the minimum
//! length of these tests) without a new acknowledgment while data is in flight.

use super::*;

/// Two segments leave at 0 s. The first is acknowledged at 0.4 s, the second at 2 s, after a
/// timeout. A third leaves at 5 s, after idle time, and is never acknowledged.
fn script() -> EventScript {
    let mut script = EventScript::default();
    script.at(0).opens(0, 0).writes(0, 3_000);
    script.sends(1, data(0, 1), SendCause::New).sends(2, data(0, 1_001), SendCause::New);
    script.at(400).acked(0, 1_001, 1_000);
    script.at(1_500).sends(3, data(0, 1_001), SendCause::Rto);
    script.at(2_000).acked(0, 2_001, 1_000);
    script.at(5_000).sends(4, data(0, 2_001), SendCause::New);
    script.at(9_000);
    script
}

#[test]
fn stalls_need_data_in_flight_and_the_minimum_length() {
    // Stalls from 0.4 s to 2 s and from 5 s to 9 s. The first 0.4 s are too short, and nothing is
    // in flight from 2 s to 5 s.
    let expected = [("stalls", 2.0), ("stalled_s", 1.6 + 4.0), ("longest_stall_s", 4.0)];
    let run = script().result(0, 9_000);
    check(&run.network, &expected);
    check(&run.connections[0].metrics(), &expected);
}

/// A stall counts in the window in which it begins. Its time counts in each window that it
/// overlaps.
#[test]
fn stalls_count_with_their_part_in_the_window() {
    let run = script().result(1_000, 6_000);
    check(&run.network, &[("stalls", 1.0), ("stalled_s", 1.0 + 1.0), ("longest_stall_s", 1.0)]);
    let run = script().result(2_000, 5_000);
    check(&run.network, &[("stalls", 0.0), ("stalled_s", 0.0), ("longest_stall_s", 0.0)]);
}

#[test]
fn duplicate_acknowledgments_do_not_end_a_stall() {
    let mut script = EventScript::default();
    script.at(0).opens(0, 0).writes(0, 1_000).sends(1, data(0, 1), SendCause::New);
    for time in [300, 600, 900] {
        let (connection, end) = (ConnectionId(0), End::Server);
        script.at(time).event(TraceEvent::DupAck { connection, end, count: 1 });
    }
    script.at(1_200).acked(0, 1_001, 1_000);
    check(&script.result(0, 2_000).network, &[("stalls", 1.0), ("longest_stall_s", 1.2)]);
}
