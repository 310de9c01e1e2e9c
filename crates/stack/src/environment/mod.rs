//! What mobiles and cells share: where they are, and how much of the power of each antenna reaches whom.
//!
//! ```text
//!   place (mobility) ─► way to each site (layout) ─► path loss, pattern (propagation) ┐
//!                └────► how far it went ─────────► shadow of each site (shadowing) ───┴─► gain of each cell
//! ```
//!
//! Losses are told as gains: the share of a power that arrives, antennas included. A [`Mobile`] is state and asks for
//! nothing: whoever needs its gains says so, and those of an idle user wait until then.

pub mod interference;
pub mod layout;
pub mod mobility;
pub mod propagation;
mod quick;
pub mod shadowing;

#[cfg(test)]
mod tests;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::Time;

pub use layout::{Border, Layout, Place, SECTORS, Site};
pub use mobility::{Legs, MobilityConfig, Track};
pub use propagation::{Antenna, PathLoss, PropagationConfig};
pub use shadowing::ShadowingConfig;

use crate::ids::CellId;
use mobility::Way;
use propagation::Propagation;
use shadowing::{Shadowing, Shadows};

/// Where cells are and what lies between them and mobiles.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentConfig {
    /// The sites.
    pub layout: Layout,
    /// Path loss and antennas.
    pub propagation: PropagationConfig,
    /// Shadows.
    pub shadowing: ShadowingConfig,
}

/// The environment of a run.
#[derive(Debug, Clone)]
pub struct Environment {
    layout: Layout,
    propagation: Propagation,
    shadowing: Shadowing,
    streams: Streams,
}

/// A mobile in it.
#[derive(Debug, Clone)]
pub struct Mobile {
    draws: AddressedStream,
    appeared: Time,
    way: Way,
    place: Place,
    shadows: Shadows,
    gains: Box<[f64]>,
}

impl Mobile {
    /// Where it was last looked at.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The share of the power of each cell that reached it there; none before it was first looked at.
    #[inline]
    pub fn gains(&self) -> &[f64] {
        &self.gains
    }
}

impl Environment {
    /// For this configuration, with the draws of a run.
    pub fn new(config: &EnvironmentConfig, streams: &Streams) -> Self {
        Environment {
            propagation: Propagation::new(&config.propagation),
            shadowing: Shadowing::new(&config.shadowing, config.layout.sites().len()),
            layout: config.layout.clone(),
            streams: *streams,
        }
    }

    /// Where the cells are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.layout.cells()
    }

    /// A mobile appears at a place, or anywhere in the area alike. Whatever else happens in the run, number `who` meets the same
    /// places and shadows.
    pub fn appear(&self, who: u64, mobility: &MobilityConfig, place: Option<Place>, now: Time) -> Mobile {
        let draws = self.streams.addressed(&format!("environment/{who}"));
        let mut way = Way::new(mobility, place, &self.layout, &draws);
        let (place, _) = way.at(umts_units::Duration::ZERO, &self.layout, &draws);
        Mobile { draws, appeared: now, way, place, shadows: Shadows::default(), gains: Box::default() }
    }

    /// Looks where a mobile is now, and what reaches it there. Time does not go back.
    pub fn measure(&self, mobile: &mut Mobile, now: Time) {
        let (place, travelled) = mobile.way.at(now - mobile.appeared, &self.layout, &mobile.draws);
        mobile.place = place;
        self.shadowing.advance(&mut mobile.shadows, &mobile.draws, travelled);
        if mobile.gains.is_empty() {
            mobile.gains = vec![0.0; self.cells()].into();
        }
        let (gains, _) = mobile.gains.as_chunks_mut::<SECTORS>();
        for (number, (site, gains)) in self.layout.sites().iter().zip(gains).enumerate() {
            let shadow = self.shadowing.of_site(&mobile.shadows, number);
            self.propagation.gains(self.layout.way(site.place, place), site.azimuth, shadow, gains);
        }
    }

    /// The share of the power of each cell that reaches a place without shadows, written over `gains`.
    pub fn gains_at(&self, place: Place, gains: &mut [f64]) {
        let (gains, _) = gains.as_chunks_mut::<SECTORS>();
        for (site, gains) in self.layout.sites().iter().zip(gains) {
            self.propagation.gains(self.layout.way(site.place, place), site.azimuth, 0.0, gains);
        }
    }
}

/// The cell of which the largest share arrives, the first of equals.
///
/// # Panics
/// Where there are no gains.
#[inline]
pub fn best_cell(gains: &[f64]) -> CellId {
    let mut best = 0;
    for (cell, gain) in gains.iter().enumerate() {
        if *gain > gains[best] {
            best = cell;
        }
    }
    CellId(best as u16)
}
