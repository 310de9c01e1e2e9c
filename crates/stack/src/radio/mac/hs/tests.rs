//! Priority queue, HARQ, reordering and reassembly together, under any loss and any error of the
//! feedback: PDUs wait in the priority queue of the Node B, HARQ transmits them in blocks, and the UE
//! puts the blocks in order and delivers their PDUs.

use std::collections::VecDeque;

use proptest::prelude::*;
use umts_units::{Duration, Time};

use super::harq::{Announcement, Ended, Feedback, HarqReceiver, HarqSender};
use super::priority_queue::{Block, PriorityQueue};
use super::reordering::{ReorderingConfig, ReorderingQueue};
use super::segmentation::Reassembly;

const TTI: Duration = Duration::from_millis(2);

/// Result of one transmission, chosen by the test.
#[derive(Debug, Clone, Copy)]
struct Fate {
    is_decoded: bool,
    /// The UE does not read the HS-SCCH.
    is_missed: bool,
    /// The Node B reads ACK as NACK and NACK as ACK.
    is_inverted: bool,
    /// TTIs until the feedback arrives.
    delay: u64,
}

#[derive(Debug, Clone, Copy)]
struct Parameters {
    processes: usize,
    max_transmissions: u8,
    window: u8,
    t1: Duration,
    /// Sizes of PDUs in octets, used in turn, and room of a block, for MAC-ehs. `None`: MAC-hs, two PDUs a
    /// block.
    ehs: Option<(&'static [u32], u32)>,
}

/// Result of a run.
struct Outcome {
    /// PDUs delivered to the layer above, in their order.
    delivered: Vec<u64>,
    /// Number of PDUs that left the priority queue.
    sent: u64,
    /// Largest number of blocks held by the reordering queue.
    max_held: usize,
    /// Blocks that the UE never decoded.
    lost: u64,
    /// PDUs that are lost at the UE, because a part of them is missing.
    incomplete: u64,
    /// PDUs that end in blocks of which the UE has passed none on: lost, dropped, or in HARQ.
    in_other_blocks: u64,
    /// PDUs that still wait at the Node B.
    queued: u64,
}

/// Sends PDUs through MAC-hs or MAC-ehs, one transmission for each fate. Blocks can still be in HARQ at the
/// end.
fn transmit(parameters: Parameters, fates: &[Fate]) -> Outcome {
    let mut queue = PriorityQueue::new(u64::MAX, None, parameters.window);
    let mut sender: HarqSender<u64> = HarqSender::new(parameters.processes, parameters.max_transmissions);
    let mut receiver = HarqReceiver::default();
    let mut reordering =
        ReorderingQueue::new(ReorderingConfig { window: parameters.window, t1: parameters.t1 });
    let mut blocks: Vec<Block<u64>> = Vec::new();
    let mut feedback: VecDeque<(Time, u8, Feedback)> = VecDeque::new();
    let mut delivered: Vec<u64> = Vec::new();
    let (mut max_held, mut decoded) = (0, 0);
    let pushed = 2 * fates.len() as u64;
    for pdu in 0..pushed {
        let size = parameters.ehs.map_or(1, |(sizes, _)| sizes[pdu as usize % sizes.len()]);
        assert_eq!(queue.push(Time::ZERO, size, pdu), None);
    }
    let take = |queue: &mut PriorityQueue<u64>| match parameters.ehs {
        None => queue.take(2),
        Some((_, room)) => queue.take_octets(room),
    };
    let (mut fates, mut now) = (fates.iter(), Time::ZERO);
    loop {
        feedback.make_contiguous().sort_by_key(|(at, ..)| *at);
        while let Some((_, process, answer)) = feedback.pop_front_if(|(at, ..)| *at <= now) {
            if let Some(Ended::Acknowledged(count) | Ended::GivenUp(count)) =
                sender.handle_feedback(process, answer)
            {
                queue.handle_ended(count);
            }
        }
        reordering.handle_timeout(now, &mut delivered);
        let Some(fate) = fates.next() else { break };
        let announced: Option<(Announcement, u64)> = match sender.next_retransmission() {
            Some(count) => sender.resend().map(|announcement| (announcement, count)),
            None => sender.idle_process().and_then(|process| {
                let block = take(&mut queue)?;
                let count = block.count;
                blocks.push(block);
                Some((sender.send(process, count), count))
            }),
        };
        if let Some((announcement, count)) = announced {
            let answer = if fate.is_missed {
                Feedback::Dtx
            } else {
                // `fate` decides instead of the SNR.
                let reception = receiver.handle_transmission(announcement, 1.0, |_| fate.is_decoded);
                if reception.is_delivered {
                    decoded += 1;
                    let block = &blocks[count as usize];
                    reordering.handle_block(now, block.tsn(), count, &mut delivered);
                }
                if reception.is_acknowledged == fate.is_inverted { Feedback::Nack } else { Feedback::Ack }
            };
            feedback.push_back((now + TTI * fate.delay, announcement.process, answer));
        }
        max_held = max_held.max(reordering.held());
        now += TTI;
    }
    while let Some(at) = reordering.poll_timeout() {
        reordering.handle_timeout(at, &mut delivered);
    }
    let (mut reassembly, mut pdus, mut incomplete) = (Reassembly::default(), Vec::new(), 0);
    for count in &delivered {
        let block = &blocks[*count as usize];
        let lost = reassembly.handle_block(block.tsn(), block.segmentation, block.pdus.len());
        incomplete += lost as u64;
        pdus.extend_from_slice(&block.pdus[lost..]);
    }
    let others = blocks.iter().filter(|block| !delivered.contains(&block.count));
    let outcome = Outcome {
        delivered: pdus,
        sent: blocks.iter().map(|block| block.pdus.len() as u64).sum(),
        max_held,
        lost: blocks.len() as u64 - decoded,
        incomplete,
        in_other_blocks: others.map(|block| block.pdus.len() as u64).sum(),
        queued: queue.len() as u64,
    };
    assert_eq!(outcome.sent + outcome.queued, pushed, "each PDU ends in one block, or waits");
    let received = outcome.delivered.len() as u64 + outcome.incomplete;
    assert_eq!(outcome.sent, received + outcome.in_other_blocks, "each PDU has one end");
    outcome
}

fn fate(loss: f64, missed: f64, inverted: f64) -> impl Strategy<Value = Fate> {
    let chance = |probability: f64| proptest::bool::weighted(probability);
    (chance(1.0 - loss), chance(missed), chance(inverted), 3_u64..7).prop_map(
        |(is_decoded, is_missed, is_inverted, delay)| Fate { is_decoded, is_missed, is_inverted, delay },
    )
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let window = proptest::sample::select(vec![4_u8, 6, 8, 12, 16, 24, 32]);
    // Whole PDUs, PDUs of several blocks, and mixed ones.
    let sizes = proptest::sample::select(vec![&[42_u32][..], &[1503, 40], &[90, 700, 3]]);
    let ehs = proptest::option::of((sizes, 1..2000_u32));
    (1..=8_usize, 1..=4_u8, window, 5..200_u64, ehs).prop_map(
        |(processes, max_transmissions, window, t1_ms, ehs)| Parameters {
            processes,
            max_transmissions,
            window,
            t1: Duration::from_millis(t1_ms),
            ehs,
        },
    )
}

proptest! {
    #[test]
    fn pdus_are_delivered_in_order_and_at_most_once(
        parameters in parameters(),
        fates in proptest::collection::vec(fate(0.4, 0.1, 0.05), 1..400),
    ) {
        let outcome = transmit(parameters, &fates);
        prop_assert!(outcome.delivered.is_sorted_by(|before, after| before < after), "{:?}", outcome.delivered);
        prop_assert!(outcome.max_held < usize::from(parameters.window));
    }

    /// With many transmissions per block, a long T1 and error-free feedback, nothing is lost: each
    /// PDU is delivered exactly once.
    #[test]
    fn all_pdus_are_delivered_once_if_no_block_fails_for_good(
        parameters in parameters(),
        fates in proptest::collection::vec(fate(0.4, 0.0, 0.0), 1..400),
    ) {
        // The last transmissions must succeed, so that no block is left on its way.
        let quiet = Fate { is_decoded: true, is_missed: false, is_inverted: false, delay: 6 };
        let fates: Vec<_> = fates.into_iter().chain(std::iter::repeat_n(quiet, 400)).collect();
        let parameters = Parameters { max_transmissions: u8::MAX, t1: Duration::from_secs(3600), ..parameters };
        let outcome = transmit(parameters, &fates);
        prop_assert_eq!((outcome.lost, outcome.incomplete), (0, 0));
        prop_assert_eq!(outcome.delivered, (0..outcome.sent).collect::<Vec<_>>());
    }
}
