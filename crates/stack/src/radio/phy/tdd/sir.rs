//! Interference and SIR (signal-to-interference ratio) of the transmissions of a frame in a TDD cell:
//! equation (1) of Baiocchi and Vacirca (2002).
//!
//! ```text
//!                   e_i² T M
//! SIR_i = ----------------------------        T   target SIR of power control
//!          1 + α Σ e_j² T M / SF              M   margin added to the target, as a factor
//!              j≠i                            α   fraction of others' power that joint detection leaves
//!                                             SF  spreading factor
//! e_i² is the error of power control of transmission i, as a power ratio.
//! ```
//!
//! The blocks of one UE in one slot do not interfere with each other: they share one channel, and
//! their codes are orthogonal.

use super::layout::MAX_SLOTS;
use super::{Interferers, SlotTransmission, TddRadioConfig};
use crate::ids::{Direction, UeId};

/// All transmissions of one UE and direction in a group.
#[derive(Debug, Clone, Copy)]
struct Interferer {
    ue: UeId,
    direction: Direction,
    /// Contribution to the sum of the group: e² times the number of terms.
    interference: f64,
    /// e².
    error_squared: f64,
    /// Index of the group.
    group: u8,
    /// The interferer added to the group before this one.
    previous: Option<u16>,
}

/// Transmissions that interfere with each other: those of a slot, or of the whole cell.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// Sum of `interference` of all members.
    interference: f64,
    /// Number of interferers.
    members: u16,
    /// The interferer added last.
    last: Option<u16>,
}

/// The transmissions of one frame in groups.
#[derive(Debug, Clone, Default)]
pub struct Interference {
    interferers: Vec<Interferer>,
    groups: [Group; MAX_SLOTS],
}

impl Interference {
    /// Starts a frame.
    pub fn begin(&mut self) {
        self.interferers.clear();
        self.groups = Default::default();
    }

    /// Adds a transmission of a UE with this e². Returns the index of its interferer.
    #[inline]
    pub fn add(
        &mut self,
        config: &TddRadioConfig,
        transmission: &SlotTransmission,
        error_squared: f64,
    ) -> u16 {
        let group = group_of(config, transmission);
        // The number of terms of a block is an option, but a block has no more terms than codes.
        let terms = f64::from(transmission.codes.min(config.codes_per_block));
        let number = match self.find(group, transmission) {
            // `Cell` is the equation as printed: each UE and direction is one term, however many
            // blocks it has.
            Some(number) if config.interferers == Interferers::Cell => return number,
            Some(number) => number,
            None => self.add_interferer(group, transmission, error_squared),
        };
        let interferer = &mut self.interferers[usize::from(number)];
        let interference = interferer.error_squared * terms;
        interferer.interference += interference;
        self.groups[usize::from(group)].interference += interference;
        number
    }

    /// The interferer of a transmission in a group.
    #[inline]
    fn find(&self, group: u8, of: &SlotTransmission) -> Option<u16> {
        let mut next = self.groups[usize::from(group)].last;
        while let Some(number) = next {
            let interferer = &self.interferers[usize::from(number)];
            if (interferer.ue, interferer.direction) == (of.ue, of.direction) {
                break;
            }
            next = interferer.previous;
        }
        next
    }

    #[inline]
    fn add_interferer(&mut self, group: u8, of: &SlotTransmission, error_squared: f64) -> u16 {
        let number = self.interferers.len() as u16;
        let members = &mut self.groups[usize::from(group)];
        let previous = members.last.replace(number);
        members.members += 1;
        let (ue, direction) = (of.ue, of.direction);
        self.interferers.push(Interferer {
            ue,
            direction,
            interference: 0.0,
            error_squared,
            group,
            previous,
        });
        number
    }

    /// Linear SIR that a further transmission with this e² would have. It is not added, so it does not
    /// interfere with the others.
    pub fn sir_beside(
        &self,
        config: &TddRadioConfig,
        transmission: &SlotTransmission,
        error_squared: f64,
    ) -> f64 {
        let group = group_of(config, transmission);
        let own =
            self.find(group, transmission).map_or(0.0, |own| self.interferers[usize::from(own)].interference);
        sir(config, error_squared, (self.groups[usize::from(group)].interference - own).max(0.0))
    }

    /// Linear SIR of each interferer, in the order of their indices.
    pub fn sirs<'a>(&'a self, config: &'a TddRadioConfig) -> impl Iterator<Item = f64> + 'a {
        self.interferers.iter().map(move |interferer| {
            let group = &self.groups[usize::from(interferer.group)];
            // A single member has exactly no interference, whatever the rounding of the sum.
            let others = if group.members == 1 {
                0.0
            } else {
                (group.interference - interferer.interference).max(0.0)
            };
            sir(config, interferer.error_squared, others)
        })
    }
}

/// Index of the group of a transmission.
fn group_of(config: &TddRadioConfig, transmission: &SlotTransmission) -> u8 {
    match config.interferers {
        Interferers::Slot => transmission.slot,
        Interferers::Cell => 0,
    }
}

/// Equation (1). `others`: sum of e² over the other transmissions.
#[inline]
fn sir(config: &TddRadioConfig, error_squared: f64, others: f64) -> f64 {
    let sir_without_error = config.sir_target * config.margin;
    error_squared * sir_without_error
        / (1.0 + config.joint_detection * sir_without_error / config.spreading_factor * others)
}
