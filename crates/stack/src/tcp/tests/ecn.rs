//! Explicit congestion notification: RFC 3168.

use super::pair::{Fate, MSS, Pair, config, lose, ms, nth};
use crate::ids::{End, FlowId, UeId};
use crate::packet::{Ecn, Segment};
use crate::tcp::{Connection, TcpConfig, Variant, WindowSize};
use crate::trace::TraceEvent;

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

/// The segments that `end` sent: time in ms, ECE flag, CWR flag.
fn ece_and_cwr(pair: &Pair, end: End) -> Vec<(u64, bool, bool)> {
    let sent = pair.sent(end).into_iter();
    sent.map(|sent| (sent.at_ms(), sent.segment.flags.ece, sent.segment.flags.cwr)).collect()
}

#[test]
fn ecn_needs_both_ends() {
    let mut pair = Pair::sending(&ecn(Variant::NewReno), 3000, |_| Fate::Deliver);
    pair.run();
    // RFC 3168 §6.1.1: the SYN has ECE and CWR, the SYN+ACK only ECE.
    assert_eq!(ece_and_cwr(&pair, End::Server)[0], (0, true, true));
    assert_eq!(ece_and_cwr(&pair, End::Ue)[0], (50, true, false));
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
        mark_segments(&mut pair, &[nth(2), nth(5)]);
        pair.run_until(ms(200));
        // Ten segments are sent at 100 ms. The first two ACKs raise the window to 12. The third ACK
        // carries the echo: 11 segments are then in flight, and half of them is 5.5.
        assert_eq!((pair.server.ssthresh(), pair.server.cwnd()), (5.5, 5.5), "{variant:?}");
        pair.run();
        assert_eq!((reductions(&pair), pair.retransmissions()), (1, vec![]));
        // The echo continues until new data carries CWR.
        let echoes = ece_and_cwr(&pair, End::Ue).iter().filter(|(at, ece, _)| *at > 50 && *ece).count();
        assert!(echoes > 2, "{echoes}");
        assert_eq!(ece_and_cwr(&pair, End::Server).iter().filter(|(at, _, cwr)| *at > 0 && *cwr).count(), 1);
        assert_eq!(pair.delivered(End::Ue), 60 * u64::from(MSS));
    }
}

#[test]
fn marks_in_two_windows_reduce_twice() {
    let mut pair = Pair::sending(&ecn(Variant::NewReno), 60 * u64::from(MSS), |_| Fate::Deliver);
    mark_segments(&mut pair, &[nth(2), nth(30)]);
    pair.run();
    assert_eq!(reductions(&pair), 2);
}

#[test]
fn loss_and_mark_in_one_window_reduce_once() {
    let mut pair = Pair::sending(&ecn(Variant::NewReno), 60 * u64::from(MSS), lose(&[(nth(0), 0)]));
    mark_segments(&mut pair, &[nth(6)]);
    // The loss sets the threshold to half of the ten outstanding segments. The echo of the mark
    // arrives in the same window of data and reduces nothing.
    pair.run_until(ms(280));
    assert_eq!((pair.server.ssthresh(), reductions(&pair)), (5.0, 0));
    pair.run();
    assert_eq!((pair.delivered(End::Ue), pair.timeouts()), (60 * u64::from(MSS), 0));
    assert_eq!(reductions(&pair), 0);
}
