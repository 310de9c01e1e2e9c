//! Random conversations: each retransmission has one cause, whichever packets come in any order.

use crate::common::{Conversation, End, Packet};
use etherparse::TcpOptionElement;
use proptest::prelude::*;
use umts_capture::{Analyser, LinkType};

const SACK: TcpOptionElement = TcpOptionElement::SelectiveAcknowledgementPermitted;

/// A random packet of a conversation. Data come from the server, other packets from the client.
#[derive(Debug, Clone)]
struct Step {
    wait_ms: u64,
    is_data: bool,
    /// Number of the segment sent, or number of segments acknowledged.
    number: u32,
    length: usize,
    /// First segment and number of segments of a selective acknowledgment.
    block: Option<(u32, u32)>,
    timestamps: Option<(u32, u32)>,
    flags: &'static str,
}

fn step() -> impl Strategy<Value = Step> {
    // Waits at the thresholds of the analysis: reordering, answers, probes, timeouts, and years.
    let wait = prop_oneof![Just(0), 0..30u64, 90..120u64, 200..500u64, Just(3_000), Just(90_000_000_000)];
    let flags = prop_oneof![20 => Just(""), 1 => Just("F"), 1 => Just("S"), 1 => Just("R")];
    let block = proptest::option::of((0..24u32, 1..6u32));
    let timestamps = proptest::option::of((0..40u32, 0..40u32));
    let length = prop_oneof![4 => Just(1000usize), 1 => 0..3000usize];
    (wait, any::<bool>(), 0..20u32, length, block, timestamps, flags).prop_map(
        |(wait_ms, is_data, number, length, block, timestamps, flags)| Step {
            wait_ms,
            is_data,
            number,
            length,
            block,
            timestamps,
            flags,
        },
    )
}

proptest! {
    /// In any order of any packets: no panic, and each retransmission has one cause.
    #[test]
    fn each_retransmission_has_one_cause(
        has_handshake in any::<bool>(),
        has_sack in any::<bool>(),
        isn in any::<u32>(),
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let mut conversation = Conversation::with_isn([77, isn]);
        if has_handshake {
            conversation.handshake(if has_sack { &[SACK] } else { &[] });
        }
        let mut at = 100;
        for step in &steps {
            at += step.wait_ms;
            let from = if step.is_data { End::Server } else { End::Client };
            let mut packet = Packet::new(from, step.flags);
            packet.payload = if step.is_data { step.length } else { 0 };
            if let Some((value, echo)) = step.timestamps {
                packet = packet.timestamps(value, echo);
            }
            if let (Some((from, length)), false) = (step.block, step.is_data) {
                packet = packet.sack((1 + 1000 * from, 1 + 1000 * (from + length)), [None; 3]);
            }
            let seq = if step.is_data { 1 + 1000 * step.number } else { 1 };
            let ack = if step.is_data { 1 } else { 1 + 1000 * step.number };
            conversation.add(at, seq, Some(ack), packet);
        }
        for row in conversation.analysis().connections {
            let causes = [
                "tcp_retransmissions_by_dupack",
                "tcp_retransmissions_by_rto",
                "tail_loss_probes",
                "tcp_retransmissions_unexplained",
            ];
            let causes: Option<f64> = causes.iter().map(|name| row.metrics.value(name)).sum();
            if let Some(causes) = causes {
                prop_assert_eq!(Some(causes), row.metrics.value("tcp_retransmissions"));
            }
        }
    }
}

#[test]
fn latest_times_do_not_overflow() {
    let mut analyser = Analyser::new();
    let latest = i64::MAX as u64;
    for (at, from, flags, seq, ack, payload) in [
        (0, End::Client, "S", 0, None, 0),
        (latest - 2, End::Server, "S", 0, Some(1), 0),
        (latest - 2, End::Client, "", 1, Some(1), 0),
        (latest - 2, End::Server, "", 1, Some(1), 1000),
        (latest - 1, End::Server, "", 1001, Some(1), 1000),
        (latest, End::Server, "", 1, Some(1), 1000),
        (latest, End::Client, "", 1, Some(2001), 0),
    ] {
        // Each packet has another identification: equal packets would count as captured twice.
        let identification = (at % 1000) as u16 + 1;
        let bytes = Packet { seq, ack, payload, identification, ..Packet::new(from, flags) }.ipv4();
        analyser.packet(umts_units::Time::from_nanos(at), LinkType::Raw, &bytes, bytes.len() as u32);
    }
    assert_eq!(analyser.finish().metrics.value("tcp_retransmissions"), Some(1.0));
}
