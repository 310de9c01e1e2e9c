//! Retransmission in acknowledged mode compared with closed forms, within three standard errors. Sample
//! size and seed were chosen before the first run. Except in the last simulation, feedback is perfect
//! and one SDU is sent at a time: in each round the sender sends all PDUs that have not arrived, and then
//! receives a report. Symbols in formulas are p for the block error ratio, m for MaxDAT (the maximum
//! number of transmissions of a PDU), and n for the number of PDUs of an SDU.

use std::collections::BTreeSet;

use umts_kernel::random::{AddressedStream, Streams};

use super::pair::{Impairment, Pair};
use super::*;
use crate::radio::rlc::MrwAck;

const SEED: u64 = 20_050_322;
const SDUS: u64 = 4_000;
const PDUS_OF_AN_SDU: u32 = 38;
const ERROR_RATIOS: [f64; 3] = [0.01, 0.1, 0.2];

/// The mean and the standard deviation of a random quantity.
#[derive(Debug, Clone, Copy)]
struct Distribution {
    mean: f64,
    deviation: f64,
}

impl Distribution {
    /// The distribution of a number of rounds k = 1, 2, …, from the probability `up_to(k)` of at
    /// most k rounds.
    fn of_rounds(up_to: impl Fn(i32) -> f64) -> Self {
        let (mut mean, mut mean_square) = (0.0, 0.0);
        for k in 1..1_000 {
            let probability = up_to(k) - up_to(k - 1);
            mean += f64::from(k) * probability;
            mean_square += f64::from(k * k) * probability;
        }
        Distribution { mean, deviation: (mean_square - mean * mean).sqrt() }
    }

    /// The distribution of an indicator that is 1 with this probability, otherwise 0.
    fn of_event(probability: f64) -> Self {
        Distribution { mean: probability, deviation: (probability * (1.0 - probability)).sqrt() }
    }

    /// Asserts that the mean of `sample` draws is within three standard errors.
    fn assert_near(self, measured: f64, sample: u64, case: &str) {
        let error = self.deviation / (sample as f64).sqrt();
        let distance = (measured - self.mean).abs() / error;
        assert!(
            distance <= 3.0,
            "{case}: {measured} instead of {}, {distance:.2} standard errors",
            self.mean
        );
    }
}

/// Transmissions of a PDU: 1 + p + … + p^(m - 1) on average.
fn transmissions(p: f64, m: i32) -> Distribution {
    Distribution::of_rounds(|k| if k >= m { 1.0 } else { 1.0 - p.powi(k) })
}

/// Probability that all m transmissions of a PDU are lost.
fn residual_loss(p: f64, m: i32) -> f64 {
    p.powi(m)
}

/// Probability that at least one of the n PDUs of an SDU is lost m times.
fn sdu_loss(p: f64, m: i32, n: u32) -> f64 {
    1.0 - (1.0 - p.powi(m)).powi(n as i32)
}

/// Rounds until all of n PDUs have arrived, without a limit on transmissions.
fn rounds(p: f64, n: u32) -> Distribution {
    Distribution::of_rounds(|k| (1.0 - p.powi(k)).powi(n as i32))
}

/// Counts over all SDUs of a transfer.
#[derive(Debug, Default)]
struct Outcome {
    /// Different PDUs, without retransmissions.
    pdus: u64,
    /// Transmissions of all PDUs.
    transmissions: u64,
    /// PDUs of which all transmissions were lost.
    lost_pdus: u64,
    /// Discarded SDUs.
    lost_sdus: u64,
    rounds: u64,
}

/// Sends [`SDUS`] SDUs, one at a time, with block errors drawn from `draws`.
fn transfer(p: f64, max_dat: Option<u32>, draws: &AddressedStream) -> Outcome {
    let config = RlcConfig { max_dat, timer_poll: None, ..config() };
    let (mut sender, mut peer) = (TestEntity::new(config.clone()), TestEntity::new(config));
    let mut outcome = Outcome::default();
    let mut tti = 0;
    for id in 0..SDUS {
        sender.submits(id, PDUS_OF_AN_SDU * 40 - 1).unwrap();
        let mut missing = BTreeSet::new();
        let mut discarded = false;
        while sender.am.buffer_occupancy() > Bytes(0) {
            tti += 1;
            outcome.rounds += 1;
            outcome.transmissions += round(&mut sender, &mut peer, p, draws, tti, &mut missing);
            let end = sender.am.sender.vt_s;
            sender.receives_status(end, &missing.iter().copied().collect::<Vec<_>>());
            discarded |= !sender.discarded().is_empty();
        }
        outcome.pdus += u64::from(PDUS_OF_AN_SDU);
        outcome.lost_pdus += missing.len() as u64;
        outcome.lost_sdus += u64::from(discarded);
        assert_eq!(peer.delivers(), if discarded { vec![] } else { vec![id] });
        // After a discard an MRW moves the receiving window, so that the next SDU is delivered.
        sender.trace.clear();
        let mrw = sender.sends_set(1);
        assert_eq!(mrw.blocks, u32::from(discarded));
        peer.receives(&mrw, &[]);
        for pdu in peer.sends_set(4).pdus {
            if let Pdu::Status(Status { mrw_ack: mrw_ack @ Some(MrwAck { .. }), .. }) = pdu {
                sender.receives_control(Pdu::Status(Status { mrw_ack, ..Status::default() }));
            }
        }
        peer.trace.clear();
    }
    outcome
}

/// Sends new and missing PDUs in one TTI with block error ratio `p`, and updates `missing`. Returns the
/// number of PDUs sent.
fn round(
    sender: &mut TestEntity,
    peer: &mut TestEntity,
    p: f64,
    draws: &AddressedStream,
    tti: u64,
    missing: &mut BTreeSet<u64>,
) -> u64 {
    let set = sender.sends_set(PDUS_OF_AN_SDU);
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
    peer.receives(&set, &lost);
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
            // With fewer than five expected losses the normal approximation does not hold.
            if residual_loss(p, m) * pdus as f64 >= 5.0 {
                let distribution = Distribution::of_event(residual_loss(p, m));
                distribution.assert_near(lost_pdus as f64 / pdus as f64, pdus, &format!("{case}, PDUs lost"));
                let distribution = Distribution::of_event(sdu_loss(p, m, PDUS_OF_AN_SDU));
                distribution.assert_near(lost_sdus as f64 / SDUS as f64, SDUS, &format!("{case}, SDUs lost"));
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

/// Selective repeat with simulated polls and reports: on a channel that is never idle, a fraction of
/// 1 - p of the PDUs is new.
#[test]
fn busy_channel_carries_the_expected_share_of_new_pdus() {
    const TTIS: u64 = 20_000;
    for (index, p) in ERROR_RATIOS.into_iter().enumerate() {
        let draws = Streams::new(SEED, index as u64).addressed("busy");
        // Reports are at least 100 ms apart, longer than the round trip of twice 35 ms and a TTI, so
        // that no PDU is requested twice. The window of 2047 PDUs holds 170 TTIs of 12 PDUs, so it
        // never closes.
        let timer_status_prohibit = Some(Duration::from_millis(100));
        let (window, poll_pdu) = (2047, Some(32));
        let config =
            RlcConfig { timer_status_prohibit, window, rx_window: Some(window), poll_pdu, ..config() };
        let mut pair = Pair::new(&config, [12, 4]);
        let (mut new, mut retransmitted) = (0, 0);
        for tti in 0..TTIS {
            while pair.ends[0].am.buffer_occupancy() < Bytes(120_000) {
                pair.ends[0].submits(tti, 1_000).unwrap();
            }
            let tti = draws.tti(tti);
            let lost = (0..12).fold(0, |lost, block| lost | u128::from(tti.uniform(block) < p) << block);
            pair.step([Impairment { lost, ..Impairment::GOOD }, Impairment::GOOD]);
            for (_, event) in pair.ends[0].trace.drain(..) {
                match event {
                    TraceEvent::PdusSent { count, retransmission: true, .. } => {
                        retransmitted += u64::from(count)
                    }
                    TraceEvent::PdusSent { count, .. } => new += u64::from(count),
                    _ => {}
                }
            }
            pair.ends[1].trace.clear();
            pair.delivered[0].clear();
        }
        assert_eq!(new + retransmitted, TTIS * 12, "the channel is never idle");
        // Each lost PDU is retransmitted, and the channel carries a new PDU less for it.
        let distribution = Distribution::of_event(1.0 - p);
        distribution.assert_near(
            new as f64 / (new + retransmitted) as f64,
            new + retransmitted,
            &format!("p = {p}"),
        );
    }
}

/// The closed forms of this file give the values published in the literature, to all printed
/// digits.
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
