//! ARQ compared with closed forms, within three standard errors. Sample size and seed were fixed
//! beforehand. Feedback is perfect where the forms assume it: after each round the sender knows
//! which PDUs have arrived. p: block error ratio, m: MaxDAT, n: PDUs of an SDU, one SDU at a time.

use std::collections::BTreeSet;

use umts_kernel::random::{AddressedStream, Streams};

use super::pair::{Fate, Pair};
use super::*;
use crate::radio::rlc::MrwAck;

const SEED: u64 = 20_050_322;
const SDUS: u64 = 4_000;
const PDUS_OF_AN_SDU: u32 = 38;
const ERROR_RATIOS: [f64; 3] = [0.01, 0.1, 0.2];

/// A mean and the standard deviation of one draw.
#[derive(Debug, Clone, Copy)]
struct Law {
    mean: f64,
    deviation: f64,
}

impl Law {
    /// For a number of rounds k = 1, 2, …, from the probability of at most k rounds.
    fn of_rounds(up_to: impl Fn(i32) -> f64) -> Self {
        let (mut mean, mut square) = (0.0, 0.0);
        for k in 1..1_000 {
            let probability = up_to(k) - up_to(k - 1);
            mean += f64::from(k) * probability;
            square += f64::from(k * k) * probability;
        }
        Law { mean, deviation: (square - mean * mean).sqrt() }
    }

    /// For an event with this probability.
    fn of_chance(probability: f64) -> Self {
        Law { mean: probability, deviation: (probability * (1.0 - probability)).sqrt() }
    }

    fn assert_near(self, measured: f64, sample: u64, case: &str) {
        let error = self.deviation / (sample as f64).sqrt();
        let off = (measured - self.mean).abs() / error;
        assert!(off <= 3.0, "{case}: {measured} instead of {}, {off:.2} standard errors", self.mean);
    }
}

/// Transmissions of a PDU: 1 + p + … + p^(m - 1) on average.
fn transmissions(p: f64, m: i32) -> Law {
    Law::of_rounds(|k| if k >= m { 1.0 } else { 1.0 - p.powi(k) })
}

fn residual_loss(p: f64, m: i32) -> f64 {
    p.powi(m)
}

fn sdu_loss(p: f64, m: i32, n: u32) -> f64 {
    1.0 - (1.0 - p.powi(m)).powi(n as i32)
}

/// Rounds until the last of n PDUs has arrived, without limit.
fn rounds(p: f64, n: u32) -> Law {
    Law::of_rounds(|k| (1.0 - p.powi(k)).powi(n as i32))
}

/// Results for a number of SDUs, one at a time.
#[derive(Debug, Default)]
struct Outcome {
    pdus: u64,
    transmissions: u64,
    lost_pdus: u64,
    lost_sdus: u64,
    rounds: u64,
}

fn transfer(p: f64, max_dat: Option<u32>, draws: &AddressedStream) -> Outcome {
    let config = RlcConfig { max_dat, timer_poll: None, ..config() };
    let (mut sender, mut peer) = (Talk::new(config.clone()), Talk::new(config));
    let mut outcome = Outcome::default();
    let mut tti = 0;
    for id in 0..SDUS {
        sender.queues(id, PDUS_OF_AN_SDU * 40 - 1).unwrap();
        let mut missing = BTreeSet::new();
        let mut discarded = false;
        while sender.am.buffer_occupancy() > Bytes(0) {
            tti += 1;
            outcome.rounds += 1;
            outcome.transmissions += round(&mut sender, &mut peer, p, draws, tti, &mut missing);
            let end = sender.am.sender.vt_s;
            sender.hears_status(end, &missing.iter().copied().collect::<Vec<_>>());
            discarded |= !sender.discarded().is_empty();
        }
        outcome.pdus += u64::from(PDUS_OF_AN_SDU);
        outcome.lost_pdus += missing.len() as u64;
        outcome.lost_sdus += u64::from(discarded);
        assert_eq!(peer.delivers(), if discarded { vec![] } else { vec![id] });
        // The receiver is notified not to wait.
        sender.trace.clear();
        let mrw = sender.transmits(1);
        assert_eq!(mrw.blocks, u32::from(discarded));
        peer.hears(&mrw, &[]);
        for pdu in peer.transmits(4).pdus {
            if let Pdu::Status(Status { mrw_ack: mrw_ack @ Some(MrwAck { .. }), .. }) = pdu {
                sender.hears_control(Pdu::Status(Status { mrw_ack, ..Status::default() }));
            }
        }
        peer.trace.clear();
    }
    outcome
}

/// Sends new and missing PDUs. Returns their number.
fn round(
    sender: &mut Talk,
    peer: &mut Talk,
    p: f64,
    draws: &AddressedStream,
    tti: u64,
    missing: &mut BTreeSet<u64>,
) -> u64 {
    let set = sender.transmits(PDUS_OF_AN_SDU);
    let draws = draws.tti(tti);
    let lost: Vec<u32> = (0..set.blocks).filter(|&block| draws.uniform(block) < p).collect();
    let mut block = 0;
    for pdu in &set.pdus {
        let Pdu::Data(run) = pdu else { panic!("{pdu:?}") };
        for n in 0..u64::from(run.count) {
            let sn = run.first.count_from(sender.am.sender.vt_a) + n;
            if lost.contains(&block) {
                missing.insert(sn)
            } else {
                missing.remove(&sn)
            };
            block += 1;
        }
    }
    peer.hears(&set, &lost);
    u64::from(set.blocks)
}

#[test]
fn losses_and_transmissions_with_max_dat() {
    for (index, p) in ERROR_RATIOS.into_iter().enumerate() {
        for m in 1..=3 {
            let draws = Streams::new(SEED, index as u64).addressed(&format!("max_dat {m}"));
            let Outcome { pdus, transmissions: sent, lost_pdus, lost_sdus, .. } =
                transfer(p, Some(m as u32), &draws);
            let case = format!("p = {p}, m = {m}");
            if m > 1 {
                transmissions(p, m).assert_near(sent as f64 / pdus as f64, pdus, &case);
            } else {
                assert_eq!(sent, pdus);
            }
            // Three standard errors are meaningless with fewer than five expected losses.
            if residual_loss(p, m) * pdus as f64 >= 5.0 {
                let law = Law::of_chance(residual_loss(p, m));
                law.assert_near(lost_pdus as f64 / pdus as f64, pdus, &format!("{case}, PDUs lost"));
                let law = Law::of_chance(sdu_loss(p, m, PDUS_OF_AN_SDU));
                law.assert_near(lost_sdus as f64 / SDUS as f64, SDUS, &format!("{case}, SDUs lost"));
            } else {
                assert!(lost_pdus <= 5, "{case}: {lost_pdus} PDUs lost");
            }
        }
    }
}

#[test]
fn transmissions_and_rounds_without_limit() {
    for (index, p) in ERROR_RATIOS.into_iter().enumerate() {
        let draws = Streams::new(SEED, index as u64).addressed("unlimited");
        let outcome = transfer(p, None, &draws);
        assert_eq!((outcome.lost_pdus, outcome.lost_sdus), (0, 0));
        let mean = outcome.transmissions as f64 / outcome.pdus as f64;
        transmissions(p, i32::MAX).assert_near(mean, outcome.pdus, &format!("p = {p}, transmissions"));
        let mean = outcome.rounds as f64 / SDUS as f64;
        rounds(p, PDUS_OF_AN_SDU).assert_near(mean, SDUS, &format!("p = {p}, rounds"));
    }
}

/// Selective repeat with real polls and reports: a channel that is never idle carries a share of 1
/// - p new PDUs.
#[test]
fn busy_channel_carries_the_expected_share_of_new_pdus() {
    const TTIS: u64 = 20_000;
    for (index, p) in ERROR_RATIOS.into_iter().enumerate() {
        let draws = Streams::new(SEED, index as u64).addressed("busy");
        // Reports are a round trip apart, so that no PDU is requested twice. The window holds eight
        // round trips.
        let timer_status_prohibit = Some(Duration::from_millis(100));
        let (window, poll_pdu) = (2047, Some(32));
        let config =
            RlcConfig { timer_status_prohibit, window, rx_window: Some(window), poll_pdu, ..config() };
        let mut pair = Pair::new(&config, [12, 4]);
        let (mut new, mut again) = (0, 0);
        for tti in 0..TTIS {
            while pair.ends[0].am.buffer_occupancy() < Bytes(120_000) {
                pair.ends[0].queues(tti, 1_000).unwrap();
            }
            let tti = draws.tti(tti);
            let lost = (0..12).fold(0, |lost, block| lost | u128::from(tti.uniform(block) < p) << block);
            pair.step([Fate { lost, ..Fate::GOOD }, Fate::GOOD]);
            for (_, event) in pair.ends[0].trace.drain(..) {
                match event {
                    TraceEvent::PdusSent { count, retransmission: true, .. } => again += u64::from(count),
                    TraceEvent::PdusSent { count, .. } => new += u64::from(count),
                    _ => {}
                }
            }
            pair.ends[1].trace.clear();
            pair.delivered[0].clear();
        }
        assert_eq!(new + again, TTIS * 12, "it is never idle");
        // Number of lost PDUs. Each takes the place of a new one.
        let law = Law::of_chance(1.0 - p);
        law.assert_near(new as f64 / (new + again) as f64, new + again, &format!("p = {p}"));
    }
}

/// The forms agree with the table of closed forms in the literature, to the digits printed there.
#[test]
fn closed_forms_match_published_values() {
    let near =
        |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 1e-5, "{value}, {expected}");
    near(transmissions(0.2, 3).mean, 1.24);
    near(transmissions(0.1, 2).mean, 1.1);
    near(transmissions(0.05, i32::MAX).mean, 1.052_631_6);
    near(residual_loss(0.05, 4), 6.25e-6);
    near(sdu_loss(0.01, 1, 15), 0.139_942);
    near(sdu_loss(0.1, 3, 27), 0.026_651_9);
    near(sdu_loss(0.2, 2, 38), 0.788_014);
    near(rounds(0.1, 38).mean, 2.340_72);
    near(rounds(0.01, 15).mean, 1.141_46);
    near(rounds(0.2, 27).mean, 2.913_48);
}
