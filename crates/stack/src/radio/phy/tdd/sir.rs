//! Interference and SIR: equation (1) of Baiocchi and Vacirca (2002).
//!
//! ```text
//!                   e_i² T M
//! SIR_i = ----------------------------        T  the target of power control
//!          1 + α Σ e_j² T M / SF              M  its margin
//!              j≠i                            α  what joint detection leaves of the others
//! ```
//!
//! The blocks of one UE in one slot do not interfere with each other: they share one channel, and
//! their codes are orthogonal.

use super::layout::MOST_SLOTS;
use super::{Interferers, SlotTransmission, TddRadioConfig};
use crate::ids::{Direction, UeId};

/// One UE and direction among transmissions that interfere.
#[derive(Debug, Clone, Copy)]
struct Share {
    ue: UeId,
    direction: Direction,
    /// e² times the number of terms in the sum.
    disturbs: f64,
    error: f64,
    /// Index of the sum.
    sum: u8,
    /// The previous share in the same sum.
    before: Option<u16>,
}

/// Transmissions that interfere with each other.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    /// Sum of `disturbs` of all shares.
    disturbs: f64,
    /// Number of shares.
    members: u16,
    /// The share added last.
    last: Option<u16>,
}

/// The transmissions of one frame, grouped by sums.
#[derive(Debug, Clone, Default)]
pub struct Interference {
    shares: Vec<Share>,
    sums: [Sum; MOST_SLOTS],
}

impl Interference {
    /// Starts a frame.
    pub fn begin(&mut self) {
        self.shares.clear();
        self.sums = Default::default();
    }

    /// Adds a transmission of a UE with this e². Returns the index of its share.
    #[inline]
    pub fn add(&mut self, config: &TddRadioConfig, transmission: &SlotTransmission, error: f64) -> u16 {
        let sum = sum_of(config, transmission);
        let terms = f64::from(transmission.codes.min(config.codes_per_block));
        let number = match self.find(sum, transmission) {
            // As printed, each user and direction is one term, however many blocks it has.
            Some(number) if config.interferers == Interferers::Cell => return number,
            Some(number) => number,
            None => self.begin_share(sum, transmission, error),
        };
        let share = &mut self.shares[usize::from(number)];
        let disturbs = share.error * terms;
        share.disturbs += disturbs;
        self.sums[usize::from(sum)].disturbs += disturbs;
        number
    }

    #[inline]
    fn find(&self, sum: u8, of: &SlotTransmission) -> Option<u16> {
        let mut next = self.sums[usize::from(sum)].last;
        while let Some(number) = next {
            let share = &self.shares[usize::from(number)];
            if (share.ue, share.direction) == (of.ue, of.direction) {
                break;
            }
            next = share.before;
        }
        next
    }

    #[inline]
    fn begin_share(&mut self, sum: u8, of: &SlotTransmission, error: f64) -> u16 {
        let number = self.shares.len() as u16;
        let into = &mut self.sums[usize::from(sum)];
        let before = into.last.replace(number);
        into.members += 1;
        self.shares.push(Share { ue: of.ue, direction: of.direction, disturbs: 0.0, error, sum, before });
        number
    }

    /// Linear SIR of an additional transmission with this e², which does not interfere with the
    /// others.
    pub fn sir_beside(&self, config: &TddRadioConfig, transmission: &SlotTransmission, error: f64) -> f64 {
        let sum = sum_of(config, transmission);
        let own = self.find(sum, transmission).map_or(0.0, |own| self.shares[usize::from(own)].disturbs);
        sir(config, error, (self.sums[usize::from(sum)].disturbs - own).max(0.0))
    }

    /// Linear SIR of each share, in the order of their indices.
    pub fn sirs<'a>(&'a self, config: &'a TddRadioConfig) -> impl Iterator<Item = f64> + 'a {
        self.shares.iter().map(move |share| {
            let sum = &self.sums[usize::from(share.sum)];
            // A single member has exactly no interference, whatever the rounding of the sum.
            let others = if sum.members == 1 { 0.0 } else { (sum.disturbs - share.disturbs).max(0.0) };
            sir(config, share.error, others)
        })
    }
}

/// Index of the sum of a transmission.
fn sum_of(config: &TddRadioConfig, transmission: &SlotTransmission) -> u8 {
    match config.interferers {
        Interferers::Slot => transmission.slot,
        Interferers::Cell => 0,
    }
}

/// Equation (1), for the sum of e² over the other transmissions.
#[inline]
fn sir(config: &TddRadioConfig, error: f64, others: f64) -> f64 {
    let alone = config.sir_target * config.margin;
    error * alone / (1.0 + config.joint_detection * alone / config.spreading_factor * others)
}
