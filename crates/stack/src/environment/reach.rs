//! For each part of the area: the sites within reach, which are computed one by one, and the total
//! gain of all other sites.
//!
//! The area is divided into squares. In a square, the sites within reach of its middle have
//! individual gains. All other sites contribute a constant: their mean gain without shadows,
//! averaged over the antenna directions, and in streets over places in the square. So a lookup costs
//! the same for any number of sites.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::gains::Sites;
use super::layout::{Layout, Place};

/// Number of squares per axis on a length equal to the reach.
const SQUARES_PER_REACH: f64 = 8.0;

/// The squares of the area.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Number of squares per axis.
    number: [usize; 2],
    /// Squares per metre on each axis.
    per_metre: [f64; 2],
    /// Row by row.
    squares: Vec<Square>,
}

/// A square of the area, and the sites within reach of it.
#[derive(Debug, Clone)]
pub struct Square {
    /// Sites within reach, or the nearest site if there is none. Squares with equal lists share one
    /// object.
    pub sites: Arc<Sites>,
    /// Sum of the gains of all other sites, without shadows.
    pub far_gain: f64,
}

impl Reach {
    /// `metres` is the reach. If it is infinite, there is one square with all sites.
    /// `mean_gain(site, middle, half_sides)` returns the mean gain of a site, without shadows, in a
    /// rectangle.
    pub fn new(layout: &Layout, metres: f64, mean_gain: impl Fn(usize, Place, [f64; 2]) -> f64) -> Self {
        let number = layout.size().map(|size| ((size / metres * SQUARES_PER_REACH).ceil() as usize).max(1));
        let new_sites = if layout.streets().is_some() { Sites::of_stations } else { Sites::new };
        let mut shared: BTreeMap<Vec<u16>, Arc<Sites>> = BTreeMap::new();
        let square = |square: usize| {
            // Column and row of the middle, in sides of a square.
            let [column, row] = [square % number[0], square / number[0]].map(|index| index as f64 + 0.5);
            let middle = layout.at([column / number[0] as f64, row / number[1] as f64]);
            let sites = layout.sites_within(middle, metres);
            let others = (0..layout.sites().len()).filter(|site| !sites.contains(&(*site as u16)));
            let half_sides = [0, 1].map(|axis| layout.size()[axis] / number[axis] as f64 / 2.0);
            let far_gain =
                others.map(|site| mean_gain(site, middle, half_sides)).fold(0.0, |sum, gain| sum + gain);
            let sites = shared.entry(sites).or_insert_with_key(|sites| Arc::new(new_sites(sites.clone())));
            Square { sites: sites.clone(), far_gain }
        };
        Reach {
            number,
            per_metre: [0, 1].map(|axis| number[axis] as f64 / layout.size()[axis]),
            squares: (0..number[0] * number[1]).map(square).collect(),
        }
    }

    /// The square of a place.
    #[inline]
    pub fn at(&self, place: Place) -> &Square {
        let number_along =
            |axis: usize, metres: f64| ((metres * self.per_metre[axis]) as usize).min(self.number[axis] - 1);
        let [column, row] = [number_along(0, place.x), number_along(1, place.y)];
        &self.squares[row * self.number[0] + column]
    }
}
