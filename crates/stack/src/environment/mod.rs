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
mod street_loss;
mod streets;
mod walk;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::Time;

pub use gains::{Gains, Sites, best_cell};
pub use layout::{Border, Layout, Place, SECTORS, Site};
pub use mobility::{Legs, MobilityConfig, Track};
pub use propagation::{Antenna, PathLoss, PropagationConfig};
pub use shadowing::ShadowingConfig;
pub use street_loss::StreetLossConfig;
pub use streets::{Spot, Stations, Streets};
pub use walk::Walk;

use mobility::Trajectory;
use propagation::Propagation;
use reach::Reach;
use shadowing::{Shadowing, Shadows};
use street_loss::StreetLoss;

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
    /// What streets do to losses, where they are followed.
    along_streets: Option<StreetLoss>,
    shadowing: Shadowing,
    reach: Reach,
    streams: Streams,
}

/// A mobile in it. What it hears is asked for in every TTI, all else when somebody looks where it is.
#[derive(Debug, Clone)]
pub struct Mobile {
    gains: Gains,
    trail: Box<Trail>,
}

/// How a mobile came to where it is.
#[derive(Debug, Clone)]
struct Trail {
    draws: AddressedStream,
    appeared: Time,
    way: Trajectory,
    place: Place,
    shadows: Shadows,
}

impl Mobile {
    /// Where it was last looked at.
    pub fn place(&self) -> Place {
        self.trail.place
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
        let is_manhattan = config.propagation.path_loss == PathLoss::Manhattan;
        let along_streets =
            if is_manhattan { StreetLoss::new(&config.propagation, &config.layout) } else { None };
        let layout = config.layout.clone();
        let mean = |site: usize, place: Place, half: [f64; 2]| match layout.streets() {
            None => propagation.mean_gain(layout.way(layout.sites()[site].place, place)),
            Some(streets) => {
                let around = streets.places_around(place, half);
                let gain =
                    |at: &Place| in_street(&propagation, along_streets.as_ref(), &layout, site, *at, 0.0);
                around.iter().map(gain).sum::<f64>() / around.len() as f64
            }
        };
        Environment {
            reach: Reach::new(&layout, config.propagation.reach_m, mean),
            shadowing: Shadowing::new(&config.shadowing),
            layout,
            propagation,
            along_streets,
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
        let mut way = Trajectory::new(mobility, place, &self.layout, &draws);
        let (place, _) = way.at(umts_units::Duration::ZERO, &self.layout, &draws);
        let trail = Trail { draws, appeared: now, way, place, shadows: Shadows::default() };
        Mobile { gains: Gains::default(), trail: Box::new(trail) }
    }

    /// Looks where a mobile is now, and what reaches it there. Time does not go back.
    pub fn measure(&self, mobile: &mut Mobile, now: Time) {
        let Mobile { gains, trail } = mobile;
        let Trail { draws, appeared, way, place, shadows } = &mut **trail;
        let (at, travelled) = way.at(now - *appeared, &self.layout, draws);
        *place = at;
        let heard = self.reach.at(at);
        let sites = heard.sites.numbers();
        if !Arc::ptr_eq(&heard.sites, gains.sites()) {
            self.shadowing.change_sites(shadows, draws, gains.sites().numbers(), sites);
            *gains = Gains::of_sites(heard.sites.clone());
        }
        self.shadowing.advance(shadows, sites, draws, travelled);
        if self.layout.streets().is_none() {
            for (among, (number, gains)) in gains.each_site().enumerate() {
                let shadow = self.shadowing.of_site(shadows, among);
                let site = &self.layout.sites()[number];
                self.propagation.gains(self.layout.way(site.place, at), site.azimuth, shadow, gains);
            }
        } else {
            for (among, (number, gain)) in gains.each_station().enumerate() {
                let shadow = self.shadowing.of_site(shadows, among);
                *gain = self.in_street(number, at, shadow);
            }
        }
        if heard.rest > 0.0 {
            gains.add_rest(heard.rest * self.shadowing.of_others(shadows));
        }
    }

    /// The share of the power of each cell that reaches a place without shadows, written over `gains`.
    pub fn gains_at(&self, place: Place, gains: &mut [f64]) {
        if self.layout.streets().is_some() {
            let of = |station| self.in_street(station, place, 0.0);
            return gains.iter_mut().enumerate().for_each(|(station, gain)| *gain = of(station));
        }
        let (gains, _) = gains.as_chunks_mut::<SECTORS>();
        for (site, gains) in self.layout.sites().iter().zip(gains) {
            self.propagation.gains(self.layout.way(site.place, place), site.azimuth, 0.0, gains);
        }
    }

    fn in_street(&self, station: usize, place: Place, shadow: f64) -> f64 {
        in_street(&self.propagation, self.along_streets.as_ref(), &self.layout, station, place, shadow)
    }
}

/// The gain of a station in streets: along them if they are followed, else straight through the houses.
fn in_street(
    propagation: &Propagation,
    along_streets: Option<&StreetLoss>,
    layout: &Layout,
    station: usize,
    place: Place,
    shadow: f64,
) -> f64 {
    match along_streets {
        Some(losses) => losses.gain(station, layout, place, shadow),
        None => propagation.gain_of_one(layout.way(layout.sites()[station].place, place), shadow),
    }
}
