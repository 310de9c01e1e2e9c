//! Opening and closing of connections (RFC 9293 §3.5, §3.6).

use umts_units::{Duration, Octets};

use super::pair::{
    DELAY, FIRST_SYN, Fate, MSS, Pair, Retransmission, SentSegment, config, lose, lose_from, ms, original,
    seq_of,
};
use crate::ids::End;
use crate::packet::{Flags, Segment};
use crate::tcp::{Failure, State, TcpConfig, TcpConnection, TcpEvent, Variant};
use crate::trace::{SendCause, TraceEvent};

/// The flags of a segment as letters: S for SYN, F for FIN, A for ACK.
fn flags(segment: &Segment) -> String {
    let Flags { syn, ack, fin, .. } = segment.flags;
    [(syn, 'S'), (fin, 'F'), (ack, 'A')].iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect()
}

/// The segments that `end` sent: time in ms, and flags as letters.
fn flags_sent(pair: &Pair, end: End) -> Vec<(u64, String)> {
    let sent = pair.sent(end).into_iter();
    sent.map(|sent| (sent.at_ms(), flags(&sent.segment))).collect()
}

fn expected_flags(list: &[(u64, &str)]) -> Vec<(u64, String)> {
    list.iter().map(|(at, flags)| (*at, (*flags).to_owned())).collect()
}

/// A connection as in ns-2: without handshake, data only from the server, and without FIN.
fn one_way() -> TcpConfig {
    TcpConfig { connection: TcpConnection::OneWay, ..config(Variant::Reno) }
}

#[test]
fn handshake_takes_three_segments() {
    let mut pair = Pair::new(&config(Variant::Reno));
    assert_eq!(pair.states(), (State::Listen, State::Listen));
    pair.open(End::Server);
    pair.run_until(ms(50));
    assert_eq!(pair.states(), (State::SynSent, State::SynReceived));
    pair.run();
    assert_eq!(flags_sent(&pair, End::Server), expected_flags(&[(0, "S"), (100, "A")]));
    assert_eq!(flags_sent(&pair, End::Ue), expected_flags(&[(50, "SA")]));
    assert_eq!(pair.states(), (State::Established, State::Established));
    for end in [End::Server, End::Ue] {
        assert_eq!(pair.event_count(end, TcpEvent::Established), 1);
    }
    let syn = pair.sent(End::Server)[0].segment;
    assert_eq!(syn.mss, MSS as u16);
    assert_eq!(syn.payload, 0);
    assert_eq!(syn.header, 40);
    assert_eq!(pair.count(|event| matches!(event, TraceEvent::RttSample { .. })), 2);
}

#[test]
fn data_waits_for_the_handshake_and_carries_its_last_ack() {
    let mut pair = Pair::sending(&config(Variant::Reno), 500, |_| Fate::Deliver);
    pair.run();
    assert_eq!(flags_sent(&pair, End::Server), expected_flags(&[(0, "S"), (100, "A")]));
    let SentSegment { segment: data, cause, .. } = pair.sent(End::Server)[1];
    assert_eq!(data.seq, 1);
    assert_eq!(data.payload, 500);
    assert!(data.flags.psh);
    assert_eq!(cause, SendCause::New);
    assert_eq!(pair.delivered(End::Ue), 500);
    assert_eq!(pair.event_count(End::Server, TcpEvent::AllAcked), 1);
}

#[test]
fn lost_syn_is_retransmitted_and_sets_the_initial_window_to_one() {
    let mut pair = Pair::sending(&config(Variant::Reno), 10 * u64::from(MSS), lose(&[FIRST_SYN]));
    pair.run_until(ms(1100));
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 1000, seq: 0, cause: SendCause::Rto }]);
    assert_eq!(pair.server.cwnd(), 1.0);
    assert_eq!(pair.new_segments_at(1100), 1);
    // RFC 6298 §5.7: after a timeout of the SYN, the RTO is at least 3 s when data is sent.
    assert_eq!(pair.server.rto(), Duration::from_secs(3));
    assert_eq!(pair.server.ssthresh(), f64::INFINITY);
}

#[test]
fn lost_syn_ack_is_retransmitted_after_a_timeout() {
    let mut pair = Pair::with_script(&config(Variant::Reno), lose_from(End::Ue, &[FIRST_SYN]));
    pair.open(End::Server);
    pair.run();
    assert_eq!(flags_sent(&pair, End::Ue), expected_flags(&[(50, "SA"), (1050, "SA")]));
    assert_eq!(pair.states(), (State::Established, State::Established));
}

#[test]
fn lost_handshake_ack_is_sent_again() {
    let mut acks = 0;
    let mut pair = Pair::with_script(&config(Variant::Reno), move |segment| {
        let is_pure_ack = segment.sequence_length() == 0;
        acks += u32::from(is_pure_ack);
        if is_pure_ack && acks == 1 { Fate::Drop } else { Fate::Deliver }
    });
    pair.open(End::Server);
    pair.run();
    assert_eq!(flags_sent(&pair, End::Ue), expected_flags(&[(50, "SA"), (1050, "SA")]));
    assert_eq!(flags_sent(&pair, End::Server), expected_flags(&[(0, "S"), (100, "A"), (1100, "A")]));
    assert_eq!(pair.states(), (State::Established, State::Established));
}

#[test]
fn smaller_segment_size_applies() {
    let mut pair = Pair::new(&config(Variant::Reno));
    pair.ue = crate::tcp::Connection::new(
        pair.ue.id(),
        crate::ids::FlowId(0),
        crate::ids::UeId(0),
        End::Ue,
        TcpConfig { segment_payload: Octets(512), ..config(Variant::Reno) },
    );
    pair.open(End::Server);
    pair.write(End::Server, 1000);
    pair.run();
    let payloads: Vec<_> = pair.sent(End::Server).iter().map(|sent| sent.segment.payload).collect();
    assert_eq!(payloads, [0, 512, 488]);
}

#[test]
fn directions_close_independently() {
    let mut pair = Pair::sending(&config(Variant::Reno), 500, |_| Fate::Deliver);
    pair.close(End::Server);
    pair.run();
    assert_eq!(pair.states(), (State::FinWait2, State::CloseWait));
    assert_eq!(pair.event_count(End::Ue, TcpEvent::PeerClosed), 1);
    // The FIN is in the only data segment.
    assert_eq!(flags_sent(&pair, End::Server), expected_flags(&[(0, "S"), (100, "FA")]));
    // Half closed: the other direction still carries data.
    pair.write(End::Ue, 300);
    pair.run();
    assert_eq!(pair.delivered(End::Server), 300);
    pair.close(End::Ue);
    pair.run();
    assert_eq!(pair.states(), (State::Closed, State::Closed));
    assert_eq!(pair.count(|event| matches!(event, TraceEvent::ConnectionClosed { .. })), 1);
    for end in [End::Server, End::Ue] {
        assert_eq!(pair.event_count(end, TcpEvent::Closed), 1);
    }
    assert_eq!(pair.server.poll_timeout(), None);
    assert_eq!(pair.ue.poll_timeout(), None);
}

#[test]
fn closed_end_acknowledges_a_repeated_fin() {
    // Both FINs have sequence number 1. The server's first FIN and its first ACK of the UE's FIN
    // are lost.
    let mut acks_of_fin = 0;
    let mut pair = Pair::with_script(&config(Variant::Reno), move |segment| {
        let from_server = segment.direction == End::Server.sends();
        acks_of_fin += u32::from(from_server && segment.ack == 2);
        let first_fin = from_server && segment.flags.fin && segment.transmission == 0;
        if first_fin || (from_server && segment.ack == 2 && acks_of_fin == 1) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.open(End::Server);
    pair.run_until(ms(150));
    pair.close(End::Server);
    pair.run();
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 1150, seq: 1, cause: SendCause::Rto }]);
    pair.close(End::Ue);
    pair.run_until(pair.now + DELAY);
    assert_eq!(pair.states(), (State::Closed, State::LastAck));
    pair.run();
    assert_eq!(pair.states(), (State::Closed, State::Closed));
    assert_eq!(pair.timeouts(), 2);
}

#[test]
fn crossing_fins_close_both_ends() {
    let mut pair = Pair::new(&config(Variant::Reno));
    pair.open(End::Server);
    pair.run();
    pair.close(End::Server);
    pair.close(End::Ue);
    pair.run_until(pair.now + DELAY);
    assert_eq!(pair.states(), (State::Closing, State::Closing));
    pair.run();
    assert_eq!(pair.states(), (State::Closed, State::Closed));
}

#[test]
fn one_way_connection_has_no_fin() {
    let mut pair = Pair::sending(&one_way(), 1500, |_| Fate::Deliver);
    pair.close(End::Server);
    pair.run();
    assert_eq!(flags_sent(&pair, End::Server), expected_flags(&[(0, "S"), (100, ""), (100, "")]));
    assert_eq!(flags_sent(&pair, End::Ue), expected_flags(&[(50, "A"), (150, "A"), (150, "A")]));
    assert!(pair.sent(End::Ue).iter().all(|sent| sent.segment.sequence_length() == 0));
    assert_eq!(pair.delivered(End::Ue), 1500);
    assert_eq!(pair.server.state(), State::Closed);
    assert_eq!(pair.event_count(End::Server, TcpEvent::Closed), 1);
    assert_eq!(pair.count(|event| matches!(event, TraceEvent::ConnectionClosed { .. })), 1);
}

#[test]
fn fully_acknowledged_one_way_connection_closes_at_once() {
    let mut pair = Pair::sending(&one_way(), 1500, |_| Fate::Deliver);
    pair.run();
    assert_eq!(pair.server.state(), State::Established);
    pair.close(End::Server);
    assert_eq!(pair.server.state(), State::Closed);
    assert_eq!(pair.server.poll_timeout(), None);
}

#[test]
fn early_fin_waits_for_lost_data() {
    // The first data segment is lost, so that the FIN behind it arrives early.
    let mut pair = Pair::with_script(&config(Variant::Reno), lose(&[original(0)]));
    pair.open(End::Ue);
    pair.write(End::Server, u64::from(MSS) + 1);
    pair.close(End::Server);
    pair.run_until(ms(200));
    assert_eq!(pair.delivered(End::Ue), 0);
    assert_eq!(pair.event_count(End::Ue, TcpEvent::PeerClosed), 0);
    pair.run();
    assert_eq!(pair.delivered(End::Ue), 1001);
    assert_eq!(pair.event_count(End::Ue, TcpEvent::PeerClosed), 1);
    assert_eq!(pair.retransmissions()[0].seq, seq_of(0));
}

/// RFC 9293 §3.5.1: the server gives up and its RST is lost. The UE considers the connection open
/// until it sends data, which the server answers with a RST.
#[test]
fn half_open_connection_is_reset_when_the_live_end_sends() {
    let config = TcpConfig { data_retries: Some(2), ..config(Variant::NewReno) };
    let mut pair = Pair::with_timed_script(&config, |now, _| {
        if (ms(150)..ms(20_000)).contains(&now) { Fate::Drop } else { Fate::Deliver }
    });
    pair.open(End::Server);
    pair.run_until(ms(200));
    pair.write(End::Server, 1000);
    pair.run_until(ms(20_000));
    assert_eq!(pair.states(), (State::Closed, State::Established));
    assert_eq!(pair.server.failure(), Some(Failure::TimedOut));
    pair.write(End::Ue, 500);
    pair.run();
    assert_eq!(pair.ue.failure(), Some(Failure::Reset));
    assert_eq!(pair.event_count(End::Ue, TcpEvent::Failed(Failure::Reset)), 1);
}
