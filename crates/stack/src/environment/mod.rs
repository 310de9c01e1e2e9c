//! What mobiles and cells share: where they are, and how much of the power of each antenna reaches whom.
//!
//! ```text
//!   place (mobility) ─► way to each site (layout) ─► path loss, pattern (propagation) ┐
//!                └────► how far it went ─────────► shadow of each site (shadowing) ───┴─► gain of each cell
//! ```
//!
//! Losses are told as gains: the share of a power that arrives, antennas included. A [`Mobile`] is state and asks for
//! nothing: whoever needs its gains says so, and those of an idle user wait until then.

mod gains;
pub mod layout;
pub mod mobility;
pub mod propagation;
mod quick;
mod reach;
pub mod shadowing;

#[cfg(test)]
mod tests;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::Time;

pub use gains::{Gains, best_cell};
pub use layout::{Border, Layout, Place, SECTORS, Site};
pub use mobility::{Legs, MobilityConfig, Track};
pub use propagation::{Antenna, PathLoss, PropagationConfig};
pub use shadowing::ShadowingConfig;

use mobility::Way;
use propagation::Propagation;
use reach::Reach;
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
    reach: Reach,
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
    gains: Gains,
}

impl Mobile {
    /// Where it was last looked at.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The share of the power of each cell that reached it there; none before it was first looked at.
    #[inline]
    pub fn gains(&self) -> &Gains {
        &self.gains
    }
}

impl Environment {
    /// For this configuration, with the draws of a run.
    pub fn new(config: &EnvironmentConfig, streams: &Streams) -> Self {
        let propagation = Propagation::new(&config.propagation);
        Environment {
            reach: Reach::new(&config.layout, &propagation, config.propagation.reach_m),
            propagation,
            shadowing: Shadowing::new(&config.shadowing),
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
        Mobile { draws, appeared: now, way, place, shadows: Shadows::default(), gains: Gains::default() }
    }

    /// Looks where a mobile is now, and what reaches it there. Time does not go back.
    pub fn measure(&self, mobile: &mut Mobile, now: Time) {
        let (place, travelled) = mobile.way.at(now - mobile.appeared, &self.layout, &mobile.draws);
        mobile.place = place;
        let heard = self.reach.at(place);
        let before = mobile.gains.sites();
        if heard.sites != before {
            self.shadowing.change_sites(&mut mobile.shadows, &mobile.draws, before, &heard.sites);
            mobile.gains = Gains::of_sites(heard.sites.clone());
        }
        self.shadowing.advance(&mut mobile.shadows, &heard.sites, &mobile.draws, travelled);
        for (among, (number, gains)) in mobile.gains.each_site().enumerate() {
            let shadow = self.shadowing.of_site(&mobile.shadows, among);
            let site = &self.layout.sites()[number];
            self.propagation.gains(self.layout.way(site.place, place), site.azimuth, shadow, gains);
        }
        if heard.rest > 0.0 {
            mobile.gains.add_rest(heard.rest * self.shadowing.of_others(&mobile.shadows));
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
