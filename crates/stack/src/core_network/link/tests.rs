//! Tests of one direction of a link: transmission and queue, marking, RED, outages, jitter, losses.

use super::*;
use crate::aqm::{QueueLimit, RedConfig};
use crate::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};
use crate::packet::{Ecn, Segment};

/// Payload of a packet with 1,250 octets, including the header of 40. It takes 10 ms at 1 Mbit/s.
const TEN_MS: u32 = 1210;

/// A downlink packet with this payload and a header of 40 octets, not ECN-capable.
fn packet(payload: u32) -> Packet {
    let segment = Segment { payload, ..Segment::new(ConnectionId(0), Direction::Downlink) };
    Packet { id: PacketId(0), flow: FlowId(0), ue: UeId(0), content: Content::Segment(segment) }
}

/// A link of 1 Mbit/s with a delay of 10 ms that is down from 90 to 95 ms.
fn config() -> LinkConfig {
    let rate = BitRate::from_bps(1_000_000);
    let outage = vec![Outage { from: Duration::from_millis(90), to: Duration::from_millis(95) }];
    LinkConfig { rate, delay: Duration::from_millis(10), outage, ..LinkConfig::default() }
}

/// The downlink of a link with this configuration.
fn link_with(config: &LinkConfig) -> Link {
    Link::new(config, Direction::Downlink, &Streams::new(1, 0), "link")
}

/// Sends a packet at `now`.
fn send(link: &mut Link, now: Time, packet: &mut Packet) -> Verdict {
    link.send(now, packet.size(), packet)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Two packets of 1,000 octets enter at 0 ms. At 1 Mbit/s each takes 8 ms, so that 125 octets leave
/// per millisecond.
#[test]
fn queued_octets_leave_at_the_rate_of_the_link() {
    let mut link = link_with(&config());
    for _ in 0..2 {
        let mut packet = packet(960);
        assert_eq!(packet.size(), Bytes(1000));
        send(&mut link, ms(0), &mut packet);
    }
    assert_eq!(link.queued(ms(0)), Bytes(2000));
    assert_eq!(link.queued(ms(4)), Bytes(2000 - 4 * 125));
    assert_eq!(link.queued(ms(16)), Bytes::ZERO);
    assert_eq!(link.queued(ms(20)), Bytes::ZERO);
}

/// A packet of 1,000 octets comes from another link at 50 ms, in an event at 0 ms.
#[test]
fn packet_that_enters_later_is_not_queued_yet() {
    let mut link = link_with(&config());
    send(&mut link, ms(50), &mut packet(960));
    assert_eq!([20, 49, 50, 54].map(|t| link.queued(ms(t)).0), [0, 0, 1000, 500]);
}

#[test]
fn link_without_rate_has_no_queue() {
    let mut link = link_with(&LinkConfig { rate: None, ..config() });
    send(&mut link, ms(0), &mut packet(960));
    assert_eq!(link.queued(ms(0)), Bytes::ZERO);
}

/// Each packet takes 10 ms of transmission and 10 ms of delay.
#[test]
fn packets_queue_behind_each_other() {
    let mut link = link_with(&config());
    assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(20)));
    // Transmitted from 10 to 20 ms.
    assert_eq!(send(&mut link, ms(1), &mut packet(TEN_MS)), Verdict::Arrives(ms(30)));
    // The transmitter is idle.
    assert_eq!(send(&mut link, ms(50), &mut packet(TEN_MS)), Verdict::Arrives(ms(70)));
}

/// The queue holds two packets. The first one is in transmission until 10 ms.
#[test]
fn packet_in_transmission_counts_against_the_limit() {
    let mut link = link_with(&LinkConfig { queue: Some(QueueLimit::Packets(2)), ..config() });
    assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(20)));
    assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(30)));
    assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::QueueFull);
    assert_eq!(send(&mut link, ms(10), &mut packet(TEN_MS)), Verdict::QueueFull);
    assert_eq!(send(&mut link, ms(11), &mut packet(TEN_MS)), Verdict::Arrives(ms(40)));
}

/// The queue holds 1,300 octets, of which the first packet takes 1,250.
#[test]
fn octet_limit_accepts_packets_that_fit() {
    let mut link = link_with(&LinkConfig { queue: Some(QueueLimit::Bytes(Bytes(1300))), ..config() });
    assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(20)));
    // 1,250 + 40 + 11 = 1,301 octets, and then 1,300.
    assert_eq!(send(&mut link, ms(0), &mut packet(11)), Verdict::QueueFull);
    assert!(matches!(send(&mut link, ms(0), &mut packet(10)), Verdict::Arrives(_)));
}

/// A packet is marked if two packets wait or are being sent as it enters. Packets enter at 0, 1, 2
/// and 3 ms, and each takes 10 ms. At 60 ms the queue is empty.
#[test]
fn long_queue_marks_only_ecn_capable_packets() {
    use Ecn::{Capable, Experienced, NotCapable};
    let mut link = link_with(&LinkConfig { ecn_threshold: Some(QueueLimit::Packets(2)), ..config() });
    let mut ecn_after_sending = |at, ecn| {
        let segment = Segment { payload: TEN_MS, ecn, ..Segment::new(ConnectionId(0), Direction::Downlink) };
        let mut packet = Packet { content: Content::Segment(segment), ..packet(0) };
        assert!(matches!(send(&mut link, at, &mut packet), Verdict::Arrives(_)));
        packet.segment().expect("a segment").ecn
    };
    assert_eq!(ecn_after_sending(ms(0), Capable), Capable);
    assert_eq!(ecn_after_sending(ms(1), Capable), Capable);
    assert_eq!(ecn_after_sending(ms(2), Capable), Experienced);
    assert_eq!(ecn_after_sending(ms(3), NotCapable), NotCapable);
    assert_eq!(ecn_after_sending(ms(60), Capable), Capable);
}

/// The queue and the losses of a link, measured over packets 2,000 to 5,999.
struct QueueFigures {
    /// Longest queue, in packets.
    longest: usize,
    lost: u32,
}

/// Sends 6,000 packets of 10 ms every 9 ms into a link with a queue of 50 packets.
fn overload(red: Option<RedConfig>) -> QueueFigures {
    let queue = Some(QueueLimit::Packets(50));
    let rate = BitRate::from_bps(1_000_000);
    let mut link = link_with(&LinkConfig { rate, queue, red, ..LinkConfig::default() });
    let mut figures = QueueFigures { longest: 0, lost: 0 };
    for n in 0..6_000 {
        let verdict = send(&mut link, ms(9 * n), &mut packet(TEN_MS));
        if n >= 2_000 {
            let waiting = link.transmitter.waiting.as_ref().expect("the limit needs the length");
            figures.longest = figures.longest.max(waiting.packets());
            figures.lost += u32::from(verdict == Verdict::QueueFull);
        }
    }
    figures
}

/// A tenth of the 4,000 measured packets must be dropped: 9 of 10 can be transmitted.
#[test]
fn red_keeps_the_queue_shorter_than_drop_tail() {
    let red = RedConfig { w_q: 0.02, mean_packet: Bytes(1250), ..RedConfig::default() };
    let with_drop_tail = overload(None);
    let with_red = overload(Some(red));
    assert_eq!(with_drop_tail.longest, 50);
    assert!(with_red.longest < 30, "{}", with_red.longest);
    assert!(with_drop_tail.lost.abs_diff(400) < 10, "{}", with_drop_tail.lost);
    assert!(with_red.lost.abs_diff(400) < 30, "{}", with_red.lost);
}

/// The link is down from 90 ms up to, but not at, 95 ms.
#[test]
fn link_that_is_down_accepts_no_packets() {
    let mut link = link_with(&config());
    assert_eq!(send(&mut link, ms(89), &mut packet(TEN_MS)), Verdict::Arrives(ms(109)));
    assert_eq!(send(&mut link, ms(90), &mut packet(1)), Verdict::Down);
    assert_eq!(send(&mut link, ms(94), &mut packet(1)), Verdict::Down);
    // The first packet is in transmission until 99 ms: 99 + 10 + 10 ms.
    assert_eq!(send(&mut link, ms(95), &mut packet(TEN_MS)), Verdict::Arrives(ms(119)));
}

/// A link without rate, with a delay of 10 ms and jitter of up to 20 ms.
fn link_with_jitter() -> Link {
    link_with(&LinkConfig { rate: None, jitter: Duration::from_millis(20), ..config() })
}

/// Sends an empty packet. Returns its arrival time.
fn arrival(link: &mut Link, at: Time) -> Time {
    match send(link, at, &mut packet(0)) {
        Verdict::Arrives(arrives_at) => arrives_at,
        verdict => panic!("{verdict:?}"),
    }
}

/// Delays are between 10 and 30 ms. Over 1,000 packets the extremes come within 1 ms of these
/// limits.
#[test]
fn jitter_spreads_the_delay_uniformly() {
    let mut link = link_with_jitter();
    let delays: Vec<Duration> =
        (10..1_010).map(|n| ms(100 * n)).map(|at| arrival(&mut link, at) - at).collect();
    let (min, max) = (delays.iter().min().expect("not empty"), delays.iter().max().expect("not empty"));
    assert!((Duration::from_millis(10)..Duration::from_millis(11)).contains(min), "{min}");
    assert!((Duration::from_millis(29)..Duration::from_millis(30)).contains(max), "{max}");
}

/// Packets come in pairs at the same time, 100 ms apart.
#[test]
fn packets_keep_their_order_despite_jitter() {
    let mut link = link_with_jitter();
    for pair in 10..1_010 {
        let first = arrival(&mut link, ms(100 * pair));
        let second = arrival(&mut link, ms(100 * pair));
        assert!(first <= second);
    }
}

/// 100,000 packets with a loss probability of 0.1: 10,000 losses with a standard deviation of 95.
#[test]
fn losses_have_the_configured_ratio() {
    let loss = Probability::new(0.1).expect("a probability");
    let mut link = link_with(&LinkConfig { loss, ..config() });
    let send_at = |n: u64| ms(100 * (n + 1));
    let lost = (0..100_000).filter(|&n| send(&mut link, send_at(n), &mut packet(0)) == Verdict::Lost).count();
    assert!((9_500..10_500).contains(&lost), "{lost}");
}
