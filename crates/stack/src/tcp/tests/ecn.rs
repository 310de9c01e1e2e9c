//! Explicit congestion notification: RFC 3168.
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use super::pair::{Fate, MSS, Pair, config, lose, ms, original, seq_of};
use crate::ids::{End, FlowId, UeId};
use crate::packet::{Ecn, Segment};
use crate::tcp::{Connection, TcpConfig, Variant, WindowSize};
use crate::trace::TraceEvent;

/// Times of the SYN and the SYN+ACK, which use the flags to negotiate ECN.
const SYN_MS: u64 = 0;
const SYN_ACK_MS: u64 = 50;

fn ecn(variant: Variant) -> TcpConfig {
    TcpConfig { ecn: true, initial_window: WindowSize::Segments(10), sack: true, ..config(variant) }
}

/// A router marks the data segments with these sequence numbers.
fn mark_segments(pair: &mut Pair, seqs: &[u64]) {
    let seqs = seqs.to_vec();
    pair.mark = Box::new(move |segment: &Segment| segment.payload > 0 && seqs.contains(&segment.seq));
}

fn reductions(pair: &Pair) -> usize {
    pair.count(|event| matches!(event, TraceEvent::EcnReduction { .. }))
}

/// The time and the ECN flags of a segment.
#[derive(Debug, PartialEq, Eq)]
struct EcnFlags {
    at_ms: u64,
    /// ECN echo: the receiver reports a mark.
    ece: bool,
    /// Congestion window reduced: the sender has reacted to the echo.
    cwr: bool,
}

/// The segments that `end` sent.
fn ecn_flags(pair: &Pair, end: End) -> Vec<EcnFlags> {
    let sent = pair.sent(end).into_iter();
    sent.map(|sent| EcnFlags {
        at_ms: sent.at_ms(),
        ece: sent.segment.flags.ece,
        cwr: sent.segment.flags.cwr,
    })
    .collect()
}

#[test]
fn ecn_needs_both_ends() {
    let mut pair = Pair::sending(&ecn(Variant::NewReno), 3000, |_| Fate::Deliver);
    pair.run();
    // RFC 3168 §6.1.1: the SYN has ECE and CWR, the SYN+ACK only ECE.
    assert_eq!(ecn_flags(&pair, End::Server)[0], EcnFlags { at_ms: 0, ece: true, cwr: true });
    assert_eq!(ecn_flags(&pair, End::Ue)[0], EcnFlags { at_ms: 50, ece: true, cwr: false });
    let data = pair.sent(End::Server);
    assert!(data.iter().all(|sent| (sent.segment.ecn == Ecn::Capable) == (sent.segment.payload > 0)));
    assert!(pair.sent(End::Ue).iter().all(|sent| sent.segment.ecn == Ecn::NotCapable));

    let mut pair = Pair::new(&ecn(Variant::NewReno));
    let without_ecn = TcpConfig { ecn: false, ..ecn(Variant::NewReno) };
    pair.ue = Connection::new(pair.ue.id(), FlowId(0), UeId(0), End::Ue, without_ecn);
    pair.open(End::Server);
    pair.write(End::Server, 3000);
    pair.run();
    let syn_ack = pair.sent(End::Ue)[0].segment;
    assert!(!syn_ack.flags.ece);
    assert!(pair.sent(End::Server).iter().all(|sent| sent.segment.ecn == Ecn::NotCapable));
}

#[test]
fn mark_halves_the_window_once_without_retransmission() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let mut pair = Pair::sending(&ecn(variant), 60 * u64::from(MSS), |_| Fate::Deliver);
        mark_segments(&mut pair, &[seq_of(2), seq_of(5)]);
        pair.run_until(ms(200));
        // Ten segments are sent at 100 ms. The first two ACKs raise the window to 12. The third ACK
        // carries the echo: 11 segments are then in flight, and half of them is 5.5.
        assert_eq!(pair.server.ssthresh(), 5.5, "{variant:?}");
        assert_eq!(pair.server.cwnd(), 5.5, "{variant:?}");
        pair.run();
        assert_eq!(reductions(&pair), 1);
        assert_eq!(pair.retransmissions(), []);
        // The echo continues until new data carries CWR.
        let echoes = ecn_flags(&pair, End::Ue);
        let echoes = echoes.iter().filter(|flags| flags.at_ms > SYN_ACK_MS && flags.ece).count();
        assert!(echoes > 2, "{echoes}");
        let confirmations = ecn_flags(&pair, End::Server);
        let confirmations = confirmations.iter().filter(|flags| flags.at_ms > SYN_MS && flags.cwr).count();
        assert_eq!(confirmations, 1);
        assert_eq!(pair.delivered(End::Ue), 60 * u64::from(MSS));
    }
}

#[test]
fn marks_in_two_windows_reduce_twice() {
    let mut pair = Pair::sending(&ecn(Variant::NewReno), 60 * u64::from(MSS), |_| Fate::Deliver);
    mark_segments(&mut pair, &[seq_of(2), seq_of(30)]);
    pair.run();
    assert_eq!(reductions(&pair), 2);
}

#[test]
fn loss_and_mark_in_one_window_reduce_once() {
    let mut pair = Pair::sending(&ecn(Variant::NewReno), 60 * u64::from(MSS), lose(&[original(0)]));
    mark_segments(&mut pair, &[seq_of(6)]);
    // The loss sets the threshold to half of the ten outstanding segments. The echo of the mark
    // arrives in the same window of data and reduces nothing.
    pair.run_until(ms(280));
    assert_eq!(pair.server.ssthresh(), 5.0);
    assert_eq!(reductions(&pair), 0);
    pair.run();
    assert_eq!(pair.delivered(End::Ue), 60 * u64::from(MSS));
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(reductions(&pair), 0);
}
