//! Positions of mobiles and sites, and the gain of the radio path between them.
//!
//! ```text
//!   position (mobility) ─► vector from site (layout) ─► path loss (propagation) ┐
//!        └─► distance travelled ─────► shadow of site (shadowing) ──────────────┴─► gain of cell
//!   position ─► square of the area (reach) ─► sites that are computed in this way
//!                                        └──► one sum of the gains of all other sites
//! ```
//!
//! A gain is the received power divided by the transmitted power, antennas included.
//! [`Environment::measure`] updates a [`Mobile`] when its gains are needed. Idle mobiles are not
//! updated.

mod fast_math;
mod gains;
pub mod layout;
pub mod mobility;
pub mod propagation;
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

use mobility::{PathPosition, Trajectory};
use propagation::Propagation;
use reach::Reach;
use shadowing::{Shadowing, Shadows};
use street_loss::StreetLoss;

/// Positions of the cells, and the propagation between cells and mobiles.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentConfig {
    pub layout: Layout,
    pub propagation: PropagationConfig,
}

/// A shadow as log2 of a gain: no deviation from the path loss model.
const NO_SHADOW: f64 = 0.0;

/// The radio environment of a run: where sites are, and the gain from each of them to any place.
#[derive(Debug, Clone)]
pub struct Environment {
    layout: Layout,
    propagation: Propagation,
    /// Losses along streets. `None`: losses depend on the straight line.
    street_loss: Option<StreetLoss>,
    shadowing: Shadowing,
    /// For each part of the area: the sites whose gains are computed one by one, and the sum of the
    /// gains of all others.
    reach: Reach,
    streams: Streams,
}

/// A mobile. Its gains are read in every TTI. Its state is read only when the mobile is measured,
/// and is therefore boxed.
#[derive(Debug, Clone)]
pub struct Mobile {
    gains: Gains,
    state: Box<MobileState>,
}

/// Movement and shadows of a mobile.
#[derive(Debug, Clone)]
struct MobileState {
    draws: AddressedStream,
    appeared: Time,
    trajectory: Trajectory,
    place: Place,
    shadows: Shadows,
}

impl Mobile {
    /// Position at the last measurement.
    pub fn place(&self) -> Place {
        self.state.place
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
        let street_loss =
            if is_manhattan { StreetLoss::new(&config.propagation, &config.layout) } else { None };
        let layout = config.layout.clone();
        // Mean gain of a site in a rectangle around `place` with these half sides, without
        // shadowing. Without streets the gain at `place` stands for the rectangle: its sides are at
        // most an eighth of the reach, and the site is beyond the reach. In streets the gain
        // depends on the street, so it is averaged over places in the streets of the rectangle.
        let mean_gain = |site: usize, place: Place, half: [f64; 2]| match layout.streets() {
            None => propagation.mean_gain(layout.vector(layout.sites()[site].place, place)),
            Some(streets) => {
                let around = streets.places_around(place, half);
                let gain = |at: &Place| {
                    station_gain(&propagation, street_loss.as_ref(), &layout, site, *at, NO_SHADOW)
                };
                around.iter().map(gain).sum::<f64>() / around.len() as f64
            }
        };
        let reach = config.propagation.reach.map_or(f64::INFINITY, Length::metres);
        Environment {
            reach: Reach::new(&layout, reach, mean_gain),
            shadowing: Shadowing::new(&config.propagation.shadowing),
            layout,
            propagation,
            street_loss,
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
    /// determines the position. Positions and shadows depend only on the seed, the run, `id` and
    /// the time since `now`, not on other mobiles or events.
    pub fn appear(&self, id: u64, mobility: &MobilityConfig, place: Option<Place>, now: Time) -> Mobile {
        let draws = self.streams.addressed(&format!("environment/{id}"));
        let mut trajectory = Trajectory::new(mobility, place, &self.layout, &draws);
        let PathPosition { place, .. } = trajectory.at(umts_units::Duration::ZERO, &self.layout, &draws);
        let state = MobileState { draws, appeared: now, trajectory, place, shadows: Shadows::default() };
        Mobile { gains: Gains::default(), state: Box::new(state) }
    }

    /// Updates position and gains of a mobile. `now` must not decrease.
    pub fn measure(&self, mobile: &mut Mobile, now: Time) {
        let Mobile { gains, state } = mobile;
        let MobileState { draws, appeared, trajectory, place, shadows } = &mut **state;
        let PathPosition { place: position, travelled } = trajectory.at(now - *appeared, &self.layout, draws);
        *place = position;
        let square = self.reach.at(position);
        let sites = square.sites.numbers();
        if !Arc::ptr_eq(&square.sites, gains.sites()) {
            self.shadowing.change_sites(shadows, draws, gains.sites().numbers(), sites);
            *gains = Gains::of_sites(square.sites.clone());
        }
        self.shadowing.advance(shadows, sites, draws, travelled);
        if self.layout.streets().is_none() {
            for (index, (number, gains)) in gains.each_site().enumerate() {
                let shadow = self.shadowing.of_site(shadows, index);
                let site = &self.layout.sites()[number];
                self.propagation.gains(self.layout.vector(site.place, position), site.azimuth, shadow, gains);
            }
        } else {
            for (index, (number, gain)) in gains.each_station().enumerate() {
                let shadow = self.shadowing.of_site(shadows, index);
                *gain = self.station_gain(number, position, shadow);
            }
        }
        if square.far_gain > 0.0 {
            gains.add_far_gain(square.far_gain * self.shadowing.mean_of_far_sites(shadows));
        }
    }

    /// Writes the gain of each cell at a place, without shadows, to `gains`, which has one entry
    /// per cell.
    pub fn gains_at(&self, place: Place, gains: &mut [f64]) {
        if self.layout.streets().is_some() {
            let gain_of = |station| self.station_gain(station, place, NO_SHADOW);
            return gains.iter_mut().enumerate().for_each(|(station, gain)| *gain = gain_of(station));
        }
        let (gains, _) = gains.as_chunks_mut::<SECTORS>();
        for (site, gains) in self.layout.sites().iter().zip(gains) {
            self.propagation.gains(self.layout.vector(site.place, place), site.azimuth, NO_SHADOW, gains);
        }
    }

    /// Gain of a station of a street layout at a place, see the function of this name.
    fn station_gain(&self, station: usize, place: Place, shadow: f64) -> f64 {
        station_gain(&self.propagation, self.street_loss.as_ref(), &self.layout, station, place, shadow)
    }
}

/// Gain of a station of a street layout at a place: along the streets if there is a street loss,
/// otherwise along the straight line. `shadow` is the log2 of the shadow as a gain.
fn station_gain(
    propagation: &Propagation,
    street_loss: Option<&StreetLoss>,
    layout: &Layout,
    station: usize,
    place: Place,
    shadow: f64,
) -> f64 {
    match street_loss {
        Some(losses) => losses.gain(station, layout, place, shadow),
        None => propagation.omnidirectional_gain(layout.vector(layout.sites()[station].place, place), shadow),
    }
}
