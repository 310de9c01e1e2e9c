//! Tests of the live state, with events of two users.

use umts_stack::ids::{Direction, FlowId, PacketId, ProxyLeg};
use umts_stack::trace::SwitchCause;
use umts_units::Bytes;

use super::*;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// Two users on the FACH who may be switched.
fn state() -> LiveState {
    let common = [Some(Channel::Fach), Some(Channel::Rach)];
    let ue = LiveUe { channels: common, common, dedicated: [Some(Channel::Dch); 2], ..LiveUe::default() };
    LiveState {
        ues: vec![ue; 2],
        cells: vec![None],
        connections: BTreeMap::new(),
        histories: Histories::new(2),
        notable: NotableEvents::default(),
    }
}

fn deliver(state: &mut LiveState, ms: u64, size: u64) {
    let delivered = TraceEvent::SduDelivered {
        ue: UeId(1),
        direction: Direction::Downlink,
        sdu: PacketId(0),
        size: Bytes(size),
        entered: at(0),
    };
    state.record(at(ms), &delivered);
}

#[test]
fn channels_follow_the_rrc_state() {
    let mut state = state();
    let ue = UeId(1);
    state.record(at(0), &TraceEvent::RrcState { ue, state: RrcState::CellFach });
    state.record(at(10), &TraceEvent::DchRequested { ue, again: false });
    state.record(at(10), &TraceEvent::DchRefused { ue });
    assert_eq!(state.ues()[1].request, Some(DchRequest::Refused));
    let (from, to) = (RrcState::CellFach, RrcState::CellDch);
    state.record(at(20), &TraceEvent::RrcSwitch { ue, from, to, cause: SwitchCause::Data });
    assert_eq!((state.ues()[1].state, state.ues()[1].towards), (Some(from), Some(to)));
    state.record(at(500), &TraceEvent::RrcState { ue, state: to });
    let late = TraceEvent::BlocksReceived {
        ue,
        direction: Direction::Downlink,
        channel: Channel::Fach,
        blocks: 2,
        errors: 1,
    };
    state.record(at(505), &late);
    let shown = &state.ues()[1];
    assert_eq!((shown.towards, shown.request), (None, None));
    assert_eq!(shown.channels, [Some(Channel::Dch); 2]);
    assert_eq!(shown.blocks[0], [2, 1]);
    assert_eq!(state.ues()[0].state, None);
}

#[test]
fn rates_are_means_of_the_last_second() {
    let mut state = state();
    deliver(&mut state, 50, 1000);
    state.advance(at(500));
    // 8,000 bits in half a second, which is all the time there was.
    assert_eq!(state.rates(UeId(1)), [16_000.0, 0.0]);
    deliver(&mut state, 950, 500);
    state.advance(at(1000));
    assert_eq!(state.rates(UeId(1)), [12_000.0, 0.0]);
    state.advance(at(1100));
    assert_eq!(state.rates(UeId(1)), [4_000.0, 0.0]);
    assert_eq!(state.rates(UeId(0)), [0.0; 2]);
}

#[test]
fn points_of_a_history_begin_at_multiples_of_their_length() {
    let mut state = state();
    for second in 0..4 {
        deliver(&mut state, 1000 * second + 250, 125 * (second + 1));
    }
    state
        .record(at(3300), &TraceEvent::RlcBuffer { ue: UeId(1), direction: Direction::Downlink, octets: 40 });
    state.advance(at(3500));
    let points = state.history(UeId(1), 10, 3);
    let ends: Vec<_> = points.iter().map(|point| point.end).collect();
    assert_eq!(ends, [at(2000), at(3000), at(3500)]);
    // The last point covers half a second.
    let rates: Vec<_> = points.iter().map(|point| point.rates[0]).collect();
    assert_eq!(rates, [2_000.0, 3_000.0, 8_000.0]);
    assert_eq!(points.iter().map(|point| point.buffers[0]).collect::<Vec<_>>(), [0, 0, 40]);
    assert_eq!(points[0].cwnd, None);
}

#[test]
fn long_histories_forget_their_oldest_bins() {
    let mut state = state();
    state.advance(at(700_000));
    let points = state.history(UeId(0), 100, 1000);
    assert_eq!(points.len(), 60);
    assert_eq!(points[0].end, at(110_000));
}

#[test]
fn timeouts_and_windows_belong_to_the_user_of_the_connection() {
    let mut state = state();
    let connection = ConnectionId(7);
    state.record(
        at(0),
        &TraceEvent::ConnectionOpened {
            connection,
            transfer: connection,
            leg: ProxyLeg::Whole,
            flow: FlowId(0),
            ue: UeId(1),
            sender: End::Server,
            mss: 500,
        },
    );
    let window = |end, cwnd| TraceEvent::Window { connection, end, cwnd: Real(cwnd), ssthresh: Real(9.0) };
    state.record(at(1), &window(End::Server, 3.0));
    state.record(at(1), &window(End::Ue, 2.0));
    state.record(at(2), &TraceEvent::RtoExpired { connection, end: End::Server, backoff: 1 });
    assert_eq!((state.ues()[1].cwnd, state.ues()[1].timeouts, state.ues()[1].connections), (Some(3.0), 1, 1));
    assert_eq!(state.count(NotableKind::Timeout), 1);
    let last = state.last_events().next().unwrap();
    assert_eq!((last.at, last.ue), (at(2), Some(UeId(1))));
    assert_eq!(last.text(), "The retransmission timer of connection 7 expired");
    state.record(at(3), &TraceEvent::ConnectionClosed { connection });
    assert_eq!((state.ues()[1].cwnd, state.ues()[1].connections), (None, 0));
}

#[test]
fn block_errors_do_not_displace_other_events() {
    let mut state = state();
    let ue = UeId(0);
    let switch = TraceEvent::RrcSwitch {
        ue,
        from: RrcState::CellFach,
        to: RrcState::CellDch,
        cause: SwitchCause::Data,
    };
    state.record(at(5), &switch);
    let lost = TraceEvent::BlocksReceived {
        ue,
        direction: Direction::Uplink,
        channel: Channel::Rach,
        blocks: 1,
        errors: 1,
    };
    for ms in 0..100 {
        state.record(at(10 + ms), &lost);
    }
    state.record(at(200), &switch);
    let shown: Vec<_> = state.last_events().map(|event| (event.at, event.kind)).collect();
    let expected =
        [(at(5), NotableKind::Switch), (at(109), NotableKind::BlockError), (at(200), NotableKind::Switch)];
    assert_eq!(shown, expected);
    assert_eq!(state.count(NotableKind::BlockError), 100);
}
