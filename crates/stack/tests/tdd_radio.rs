//! The radio of UMTS-TDD, compared with link-level tables of an independent program
//! (`link-level/README.md`).

use std::collections::BTreeMap;

use umts_kernel::random::Streams;
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::phy::tdd::{Interferers, SlotTransmission, TddRadio, TddRadioConfig};

/// A row of a table, by the names of the columns.
struct Row<'a> {
    cells: BTreeMap<&'a str, &'a str>,
}

impl Row<'_> {
    /// How the variance of Table I is read.
    fn reading(&self) -> &str {
        self.cells["sigma_reading"]
    }

    fn number(&self, column: &str) -> f64 {
        self.cells[column].parse().expect("a number")
    }
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    let mut lines = table.lines();
    let columns: Vec<_> = lines.next().expect("a line of names").split(',').collect();
    lines.map(move |line| Row { cells: columns.iter().copied().zip(line.split(',')).collect() })
}

/// Table I of the document, with its variance read in either of two ways: 10 dB is the standard
/// deviation, or 10 dB² the variance. `rho`: correlation between successive frames.
fn table_i(reading: &str, rho: f64) -> TddRadioConfig {
    let estimate_sigma_db = if reading == "std 10 dB" { 10.0 } else { f64::sqrt(10.0) };
    TddRadioConfig { estimate_sigma_db, rho, ..TddRadioConfig::default() }
}

/// A frame with one block for each of `users` in one slot.
fn frame(users: u16) -> Vec<SlotTransmission> {
    let block =
        |ue| SlotTransmission { ue: UeId(ue), direction: Direction::Uplink, slot: 1, block: 0, codes: 1 };
    (0..users).map(block).collect()
}

/// Shares of lost blocks.
struct Losses {
    /// Of all blocks.
    mean: f64,
    /// Of the blocks after a lost one of the same user.
    after_loss: f64,
}

/// Losses over `frames` frames with one block of each user.
fn losses(config: TddRadioConfig, users: u16, frames: u64) -> Losses {
    let mut radio = TddRadio::new(config, &Streams::new(1, 0));
    let all = frame(users);
    let mut previous = Lost(0);
    let (mut losses, mut losses_in_sequence) = (0_u64, 0_u64);
    for frame in 0..frames {
        radio.begin_frame(frame, &all);
        let lost = radio.losses(0, users.into());
        losses += u64::from(lost.count());
        losses_in_sequence += u64::from(Lost(lost.0 & previous.0).count());
        previous = lost;
    }
    let blocks = frames * u64::from(users);
    Losses { mean: losses as f64 / blocks as f64, after_loss: losses_in_sequence as f64 / losses as f64 }
}

#[test]
fn mean_block_errors_match_the_table() {
    for row in rows(include_str!("link-level/tdd-bler-mean.csv")) {
        let (reading, users) = (row.reading(), row.number("n_users"));
        let expected = row.number("mean_bler_hard_bound_1code");
        // In the worst row 0.036 of 1,000,000 blocks are lost: one standard error is 0.5 %.
        let measured = losses(table_i(reading, 0.0), users as u16, (1e6 / users) as u64).mean;
        let deviation = measured / expected - 1.0;
        println!("{reading}, {users} users: {measured:.5}, table {expected:.5}, {:+.2} %", deviation * 100.0);
        assert!(deviation.abs() < 0.02, "{reading}, {users} users: {measured}, not {expected}");
    }
}

#[test]
fn consecutive_errors_match_the_table() {
    const BLOCKS: f64 = 1e6;
    for row in rows(include_str!("link-level/tdd-bler-bursts.csv")) {
        let (reading, users, rho) = (row.reading(), row.number("n_users"), row.number("rho"));
        let (bler, expected) = (row.number("mean_bler"), row.number("p_err_given_err"));
        let measured = losses(table_i(reading, rho), users as u16, (BLOCKS / users) as u64).after_loss;
        // If errors are few and rarely follow each other, both counts scatter: of this run, and of the
        // table.
        let errors = 1.0 / (1.0 / (BLOCKS * bler) + 1.0 / (row.number("frames") * bler));
        let scatter = f64::sqrt((1.0 - expected) / (expected * errors));
        let deviation = measured / expected - 1.0;
        println!(
            "{reading}, {users} users, rho {rho}: {measured:.5}, table {expected:.5}, {:+.2} %",
            deviation * 100.0
        );
        let bound = f64::max(0.03, 3.0 * scatter);
        assert!(deviation.abs() < bound, "{reading}, {users} users, rho {rho}: {measured}, not {expected}");
    }
}

#[test]
fn mean_does_not_depend_on_the_correlation() {
    let (users, frames) = (4, 500_000);
    let means = [0.0, 0.1, 0.5, 0.9].map(|rho| losses(table_i("variance 10 dB^2", rho), users, frames).mean);
    // Correlated frames count like (1 - rho) / (1 + rho) as many independent ones, for rho = 0.9 a
    // nineteenth: one standard error of the mean is 0.7 %.
    for mean in means {
        assert!((mean / means[0] - 1.0).abs() < 0.025, "{means:?}");
    }
}

#[test]
fn error_of_a_user_does_not_depend_on_others_or_on_call_order() {
    let config = TddRadioConfig { joint_detection: 0.0, ..table_i("std 10 dB", 0.9) };
    // The SIR of the last user in this frame.
    let sir = |radio: &mut TddRadio, frame: u64, all: &[SlotTransmission]| {
        radio.begin_frame(frame, all);
        radio.sirs().last().expect("a user sends")
    };
    let new_radio = || TddRadio::new(config, &Streams::new(3, 1));
    let (mut alone_radio, mut shared_radio) = (new_radio(), new_radio());
    let all = frame(5);
    let own = &all[4..];
    let in_order: Vec<f64> = (0..300).map(|frame| sir(&mut alone_radio, frame, own)).collect();
    // Backwards, and then in steps of seven frames.
    for frame in (0..300).rev().chain((0..300).map(|n| n * 7 % 300)) {
        assert_eq!(sir(&mut shared_radio, frame, &all), in_order[frame as usize], "frame {frame}");
    }
}

#[test]
fn equation_1_holds_per_slot_and_per_cell() {
    let block = |ue, slot, block, codes| SlotTransmission {
        ue: UeId(ue),
        direction: Direction::Downlink,
        slot,
        block,
        codes,
    };
    // No estimation error: e² is 1.
    let config = TddRadioConfig { estimate_sigma_db: 0.0, ..TddRadioConfig::default() };
    let sir_alone = config.sir_target * config.margin;
    // SIR with this number of terms in the sum: joint detection leaves 0.1, the spreading factor is 16.
    let with = |terms: f64| sir_alone / (1.0 + 0.1 * sir_alone * terms / 16.0);
    let sirs = |config, all: &[SlotTransmission]| {
        let mut radio = TddRadio::new(config, &Streams::new(1, 0));
        radio.begin_frame(5, all);
        radio.sirs().collect::<Vec<f64>>()
    };
    // User, slot, number of the block, codes. Slot 1: two blocks of user 0, one of user 1. Slot 2:
    // two blocks of user 2 alone.
    let all = [block(0, 1, 0, 4), block(1, 1, 0, 4), block(0, 1, 1, 4), block(2, 2, 0, 4), block(2, 2, 1, 4)];
    let assert_sirs = |config, expected: [f64; 5]| {
        let sirs = sirs(config, &all);
        let deviations = sirs.iter().zip(expected).map(|(sir, expected)| (sir / expected - 1.0).abs());
        assert!(deviations.fold(0.0, f64::max) < 1e-12, "{sirs:?}, not {expected:?}");
    };
    assert_sirs(config, [with(1.0), with(2.0), with(1.0), sir_alone, sir_alone]);
    let by_code = TddRadioConfig { codes_per_block: 4, ..config };
    assert_sirs(by_code, [with(4.0), with(8.0), with(4.0), sir_alone, sir_alone]);
    let cell = TddRadioConfig { interferers: Interferers::Cell, ..config };
    assert_sirs(cell, [with(2.0); 5]);
}
