//! Who disturbs whom: equation (1) of Baiocchi and Vacirca (2002).
//!
//! ```text
//!                   e_i² T M
//! SIR_i = ----------------------------        T  the target of power control
//!          1 + α Σ e_j² T M / SF              M  its margin
//!              j≠i                            α  what joint detection leaves of the others
//! ```
//!
//! The blocks of one UE in one slot do not disturb each other: they come over one channel, and their codes are orthogonal.

use super::{Interferers, TddRadioConfig, Transmission};
use crate::ids::{Direction, UeId};

/// What one UE sends, or is sent, among those who disturb each other.
#[derive(Debug, Clone, Copy)]
struct Share {
    ue: UeId,
    direction: Direction,
    /// e² times the terms that it has in the sum.
    disturbs: f64,
    error: f64,
    /// Which sum it is in.
    sum: u8,
}

/// The transmissions of one frame, gathered by those who disturb each other.
#[derive(Debug, Clone, Default)]
pub struct Interference {
    shares: Vec<Share>,
    /// Of each sum: what all together disturb, and the shares in it.
    sums: Vec<(f64, Vec<u16>)>,
}

impl Interference {
    /// Forgets the frame before.
    pub fn begin(&mut self) {
        self.shares.clear();
        for (disturbs, members) in &mut self.sums {
            *disturbs = 0.0;
            members.clear();
        }
    }

    /// A transmission; `error` is asked for e² of its UE where it is the first of it. Returns the number of its share.
    #[inline]
    pub fn add(
        &mut self,
        config: &TddRadioConfig,
        transmission: &Transmission,
        error: impl FnOnce() -> f64,
    ) -> u16 {
        let sum = sum_of(config, transmission);
        let terms = f64::from(transmission.codes.min(config.codes_per_block));
        let number = match self.find(sum, transmission) {
            // As printed, each communication of the cell is one term, however many blocks it has.
            Some(number) if config.interferers == Interferers::Cell => return number,
            Some(number) => number,
            None => self.begin_share(sum, transmission, error()),
        };
        let share = &mut self.shares[usize::from(number)];
        let disturbs = share.error * terms;
        share.disturbs += disturbs;
        self.sums[usize::from(sum)].0 += disturbs;
        number
    }

    #[inline]
    fn find(&self, sum: u8, of: &Transmission) -> Option<u16> {
        let (_, members) = self.sums.get(usize::from(sum))?;
        let is_it = |&&number: &&u16| {
            let share = self.shares[usize::from(number)];
            (share.ue, share.direction) == (of.ue, of.direction)
        };
        members.iter().rev().find(is_it).copied()
    }

    fn begin_share(&mut self, sum: u8, of: &Transmission, error: f64) -> u16 {
        let number = self.shares.len() as u16;
        self.shares.push(Share { ue: of.ue, direction: of.direction, disturbs: 0.0, error, sum });
        if self.sums.len() <= usize::from(sum) {
            self.sums.resize_with(usize::from(sum) + 1, Default::default);
        }
        self.sums[usize::from(sum)].1.push(number);
        number
    }

    /// The SIR, linear, of one more transmission with this e², which disturbs none of the others.
    pub fn sir_beside(&self, config: &TddRadioConfig, transmission: &Transmission, error: f64) -> f64 {
        let sum = sum_of(config, transmission);
        let all = self.sums.get(usize::from(sum)).map_or(0.0, |(all, _)| *all);
        let own = self.find(sum, transmission).map_or(0.0, |own| self.shares[usize::from(own)].disturbs);
        sir(config, error, (all - own).max(0.0))
    }

    /// The SIR of each share, linear, in the order of their numbers.
    pub fn sirs<'a>(&'a self, config: &'a TddRadioConfig) -> impl Iterator<Item = f64> + 'a {
        self.shares.iter().map(move |share| {
            let (all, members) = &self.sums[usize::from(share.sum)];
            // One that is alone has exactly no others, whatever the rounding of sums.
            let others = if members.len() == 1 { 0.0 } else { (all - share.disturbs).max(0.0) };
            sir(config, share.error, others)
        })
    }
}

/// The number of the sum that a transmission is in.
fn sum_of(config: &TddRadioConfig, transmission: &Transmission) -> u8 {
    match config.interferers {
        Interferers::Slot => transmission.slot,
        Interferers::Cell => 0,
    }
}

/// Equation (1), with the sum of e² over the others.
#[inline]
fn sir(config: &TddRadioConfig, error: f64, others: f64) -> f64 {
    let alone = config.sir_target * config.margin;
    error * alone / (1.0 + config.joint_detection * alone / config.spreading_factor * others)
}
