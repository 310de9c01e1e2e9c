//! Negotiation of options in SYNs and its consequences: RFC 7323, RFC 2018, RFC 2883, RFC 6691.

use umts_units::{Bytes, Duration};

use super::pair::{DELAY, Fate, MSS, Pair, config, lose, ms, original, seq_of};
use crate::ids::{End, FlowId, UeId};
use crate::packet::{Options, Segment};
use crate::tcp::{ChargedOptions, Connection, TcpConfig, Variant, WindowSize};
use crate::trace::TraceEvent;

/// All options on.
fn all_options() -> TcpConfig {
    TcpConfig {
        sack: true,
        sack_blocks: 4,
        timestamps: true,
        window_scaling: true,
        advertised_window: WindowSize::Bytes(Bytes(1_000_000)),
        charged_options: ChargedOptions::All,
        ..config(Variant::NewReno)
    }
}

/// A pair of ends with different configurations.
fn pair_of_ends(server: &TcpConfig, ue: &TcpConfig) -> Pair {
    let mut pair = Pair::new(server);
    pair.ue = Connection::new(pair.ue.id(), FlowId(0), UeId(0), End::Ue, ue.clone());
    pair
}

fn segments(pair: &Pair, end: End) -> Vec<Segment> {
    pair.sent(end).into_iter().map(|sent| sent.segment).collect()
}

#[test]
fn syn_ack_accepts_only_offered_options() {
    let mut pair = pair_of_ends(&all_options(), &TcpConfig { timestamps: false, ..all_options() });
    pair.open(End::Server);
    pair.run();
    let offered = Options { window_scale: Some(4), sack_permitted: true, timestamps: true };
    assert_eq!(segments(&pair, End::Server)[0].options, offered);
    assert_eq!(segments(&pair, End::Ue)[0].options, Options { timestamps: false, ..offered });
    assert_eq!(segments(&pair, End::Server)[1].options, Options::default());
    // The answer has no option that was not offered.
    let mut pair = pair_of_ends(&config(Variant::NewReno), &all_options());
    pair.open(End::Server);
    pair.run();
    assert_eq!(segments(&pair, End::Ue)[0].options, Options { window_scale: Some(4), ..Options::default() });
}

#[test]
fn windows_above_64_kib_need_both_ends_to_scale() {
    // Whether the UE scales windows, and the window that the server can advertise to it.
    for (scales, expected) in [(true, 1_000_000), (false, 65_535)] {
        let mut pair = pair_of_ends(&all_options(), &TcpConfig { window_scaling: scales, ..all_options() });
        pair.open(End::Server);
        pair.run();
        let sent = segments(&pair, End::Server);
        assert_eq!(sent[0].window, 65_535, "the window of a SYN is never scaled");
        assert_eq!(sent[1].window, expected, "the window of a SYN is never scaled");
    }
    // A shift of 4 can express only multiples of 16, so 1,000,001 is rounded down.
    let mut pair =
        Pair::new(&TcpConfig { advertised_window: WindowSize::Bytes(Bytes(1_000_001)), ..all_options() });
    pair.open(End::Server);
    pair.run();
    assert_eq!(segments(&pair, End::Server)[1].window, 1_000_000);
}

#[test]
fn options_reduce_the_payload_and_are_charged() {
    let mut pair = Pair::sending(&all_options(), 5 * u64::from(MSS), lose(&[original(0)]));
    pair.run();
    // Options take 20 octets in the SYN, 12 (timestamps) in later segments, and 12 more in an ACK
    // with one SACK block.
    let data = segments(&pair, End::Server);
    assert_eq!(data[0].header, 40 + 20);
    assert_eq!(data[2].header, 40 + 12);
    assert_eq!(data[2].payload, MSS - 12);
    let blocks: Vec<_> =
        segments(&pair, End::Ue).iter().map(|segment| (segment.sack.len(), segment.header)).collect();
    assert_eq!(blocks[..2], [(0, 60), (1, 40 + 12 + 12)]);
    for (charged, syn, later) in [(ChargedOptions::AfterSyn, 40, 52), (ChargedOptions::None, 40, 40)] {
        let mut pair =
            Pair::sending(&TcpConfig { charged_options: charged, ..all_options() }, 100, |_| Fate::Deliver);
        pair.run();
        let headers: Vec<_> = segments(&pair, End::Server).iter().map(|segment| segment.header).collect();
        assert_eq!(headers[..2], [syn, later]);
    }
}

#[test]
fn timestamps_give_a_sample_per_ack_including_retransmissions() {
    let timed = TcpConfig { timestamps: true, ..config(Variant::NewReno) };
    let samples = |config: &TcpConfig| {
        let mut pair = Pair::sending(config, 20 * u64::from(MSS), lose(&[original(0)]));
        pair.run();
        let server_sample_ms = |event: &TraceEvent| match event {
            TraceEvent::RttSample { end: End::Server, rtt, .. } => Some(rtt.as_nanos() / 1_000_000),
            _ => None,
        };
        pair.trace.iter().filter_map(|(_, event)| server_sample_ms(event)).collect::<Vec<_>>()
    };
    let (timed_samples, untimed_samples) = (samples(&timed), samples(&config(Variant::NewReno)));
    assert!(timed_samples.len() > 2 * untimed_samples.len(), "{timed_samples:?} and {untimed_samples:?}");
    // Two segments are too few for a fast retransmit, so the loss costs a timeout. The ACK of the
    // retransmission echoes the timestamp of the retransmission, which gives the true round trip.
    assert!(timed_samples.iter().all(|&rtt| rtt == 100), "{timed_samples:?}");
}

#[test]
fn delayed_ack_echoes_its_first_segment() {
    // Two segments 10 ms apart, one ACK: it echoes the first one (RFC 7323 §4.3).
    let config = TcpConfig { timestamps: true, delayed_ack: true, ..config(Variant::NewReno) };
    let mut pair = Pair::new(&config);
    pair.open(End::Server);
    pair.run_until(ms(200));
    pair.write(End::Server, u64::from(MSS) - 12);
    pair.run_until(ms(210));
    pair.write(End::Server, u64::from(MSS) - 12);
    pair.run();
    let last_ack = *segments(&pair, End::Ue).last().expect("the UE acknowledges");
    assert_eq!(last_ack.echo, ms(200));
    assert_eq!(last_ack.timestamp, ms(260));
}

#[test]
fn segment_with_an_old_timestamp_is_refused() {
    // The first segment is delayed by 4 s. It is retransmitted, and the original arrives long after
    // the segments that were sent after it.
    let config = TcpConfig { timestamps: true, sack: true, ..config(Variant::NewReno) };
    let mut is_first = true;
    let mut pair = Pair::sending(&config, 4 * u64::from(MSS), move |segment| {
        if segment.seq == 1 && segment.payload > 0 && std::mem::take(&mut is_first) {
            Fate::Delay(Duration::from_secs(4))
        } else {
            Fate::Deliver
        }
    });
    pair.run();
    let answers: Vec<_> = pair.sent(End::Ue).into_iter().filter(|sent| sent.at > ms(4000)).collect();
    let answer = answers[0].segment;
    assert_eq!(answers.len(), 1);
    assert_eq!(answer.ack, 1 + 4 * u64::from(MSS));
    // The answer also reports the copy as a duplicate, from number 1 to 1 + MSS - 12: its payload
    // is 12 octets smaller than the MSS because of the timestamps.
    assert_eq!(answer.sack.duplicate(answer.ack), Some((1, u64::from(MSS) - 11)));
    assert_eq!(pair.delivered(End::Ue), 4 * u64::from(MSS));
}

#[test]
fn duplicates_are_reported_first() {
    let config =
        TcpConfig { sack: true, initial_window: WindowSize::Segments(6), ..config(Variant::NewReno) };
    // Segment 0 is lost, segment 2 arrives twice.
    let mut pair =
        Pair::sending(&config, 6 * u64::from(MSS), |segment| match (segment.seq, segment.transmission) {
            (seq, 0) if seq == seq_of(0) && segment.payload > 0 => Fate::Drop,
            (seq, _) if seq == seq_of(2) => Fate::Duplicate,
            _ => Fate::Deliver,
        });
    pair.run_until(ms(100) + DELAY);
    // The first segment in `acks` is the SYN+ACK.
    let acks = segments(&pair, End::Ue);
    let ranges = |ack: &Segment| ack.sack.ranges(ack.ack).collect::<Vec<_>>();
    assert_eq!(ranges(&acks[1]), [(seq_of(1), seq_of(2))]);
    assert_eq!(ranges(&acks[2]), [(seq_of(1), seq_of(3))]);
    // RFC 2883 §4.2: the duplicate, then the block that contains it.
    assert_eq!(ranges(&acks[3]), [(seq_of(2), seq_of(3)), (seq_of(1), seq_of(3))]);
    assert_eq!(acks[3].sack.duplicate(acks[3].ack), Some((seq_of(2), seq_of(3))));
    assert_eq!(acks[4].sack.duplicate(acks[4].ack), None);
    let mut without_dsack =
        Pair::sending(&TcpConfig { dsack: false, ..config }, 6 * u64::from(MSS), |segment| {
            if segment.seq == seq_of(2) { Fate::Duplicate } else { Fate::Deliver }
        });
    without_dsack.run();
    assert!(segments(&without_dsack, End::Ue).iter().all(|ack| ack.sack.is_empty()));
}
