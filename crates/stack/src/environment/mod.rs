//! Positions of mobiles and sites, and the gain of the radio path between them.
//!
//! ```text
//!   position (mobility) ─► vector from site (layout) ─► path loss (propagation) ┐
//!        └─► distance travelled ─────► shadow of site (shadowing) ──────────────┴─► gain of cell
//! ```
//!
//! A gain is the share of the transmitted power that arrives, antennas included.
//! [`Environment::measure`] updates a [`Mobile`] when its gains are needed. Idle mobiles are not
//! updated.

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
use umts_units::{Length, Time};

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

/// Position of the cells, and the propagation between them and the mobiles.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentConfig {
    pub layout: Layout,
    pub propagation: PropagationConfig,
}

#[derive(Debug, Clone)]
pub struct Environment {
    layout: Layout,
    propagation: Propagation,
    /// Losses along streets. `None`: losses follow the straight line.
    along_streets: Option<StreetLoss>,
    shadowing: Shadowing,
    reach: Reach,
    streams: Streams,
}

/// A mobile. Gains are read in every TTI, the other fields only when the mobile is measured.
#[derive(Debug, Clone)]
pub struct Mobile {
    gains: Gains,
    trail: Box<Trail>,
}

/// Movement and shadows of a mobile.
#[derive(Debug, Clone)]
struct Trail {
    draws: AddressedStream,
    appeared: Time,
    way: Trajectory,
    place: Place,
    shadows: Shadows,
}

impl Mobile {
    /// Position at the last measurement.
    pub fn place(&self) -> Place {
        self.trail.place
    }

    /// Gain of each cell at the last measurement. Empty before the first one.
    #[inline]
    pub fn gains(&self) -> &Gains {
        &self.gains
    }
}

impl Environment {
    pub fn new(config: &EnvironmentConfig, streams: &Streams) -> Self {
        let propagation = Propagation::new(&config.propagation);
        let is_manhattan = config.propagation.model == PathLoss::Manhattan;
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
        let reach = config.propagation.reach.map_or(f64::INFINITY, Length::metres);
        Environment {
            reach: Reach::new(&layout, reach, mean),
            shadowing: Shadowing::new(&config.propagation.shadowing),
            layout,
            propagation,
            along_streets,
            streams: *streams,
        }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn cells(&self) -> usize {
        self.layout.cells()
    }

    /// Creates a mobile at `place`. If `place` is `None`, the mobility model or a uniform draw
    /// gives the position. Positions and shadows of mobile `id` depend on no other event of the
    /// run.
    pub fn appear(&self, id: u64, mobility: &MobilityConfig, place: Option<Place>, now: Time) -> Mobile {
        let draws = self.streams.addressed(&format!("environment/{id}"));
        let mut way = Trajectory::new(mobility, place, &self.layout, &draws);
        let (place, _) = way.at(umts_units::Duration::ZERO, &self.layout, &draws);
        let trail = Trail { draws, appeared: now, way, place, shadows: Shadows::default() };
        Mobile { gains: Gains::default(), trail: Box::new(trail) }
    }

    /// Updates position and gains of a mobile. `now` must not decrease.
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

    /// Writes the gain of each cell at a place without shadows to `gains`.
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

/// Gain of a station in streets: along the streets if a street model is set, otherwise along the
/// straight line.
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
