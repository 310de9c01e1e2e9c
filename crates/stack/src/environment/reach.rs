//! Which sites are heard where, and what arrives of all others together.
//!
//! The area is cut into squares. In each of them the sites within reach of its middle are heard one by one, and of what is
//! farther the mean is known: the gain of its sites without shadows, antennas averaged over a turn, in streets over those of the
//! square. So who moves looks up
//! where it is, whatever the number of sites.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::gains::Sites;
use super::layout::{Layout, Place};

/// Squares in the length of a reach.
const SQUARES: f64 = 8.0;

/// The squares of an area.
#[derive(Debug, Clone)]
pub struct Reach {
    /// How many there are from left to right and up, and how many in a metre.
    number: [usize; 2],
    each_metre: [f64; 2],
    /// Row by row.
    squares: Vec<Heard>,
}

/// What is heard in a square.
#[derive(Debug, Clone)]
pub struct Heard {
    /// The sites within reach, the nearest if all are farther; one object for all squares that have the same.
    pub sites: Arc<Sites>,
    /// The sum of the gains of all others, shadows apart.
    pub rest: f64,
}

impl Reach {
    /// For a reach in metres; if that is infinite, one square where all sites are heard. `mean` is the gain of a site in the
    /// rectangle around a place with these halves of its sides, shadows apart.
    pub fn new(layout: &Layout, metres: f64, mean: impl Fn(usize, Place, [f64; 2]) -> f64) -> Self {
        let number = layout.size().map(|size| ((size / metres * SQUARES).ceil() as usize).max(1));
        let make = if layout.streets().is_some() { Sites::of_stations } else { Sites::new };
        let mut known: BTreeMap<Vec<u16>, Arc<Sites>> = BTreeMap::new();
        let heard = |square: usize| {
            let middle = [square % number[0], square / number[0]].map(|at| at as f64 + 0.5);
            let place = layout.at([middle[0] / number[0] as f64, middle[1] / number[1] as f64]);
            let sites = layout.sites_within(place, metres);
            let others = (0..layout.sites().len()).filter(|site| !sites.contains(&(*site as u16)));
            let half = [0, 1].map(|axis| layout.size()[axis] / number[axis] as f64 / 2.0);
            let rest = others.map(|site| mean(site, place, half)).fold(0.0, |rest, gain| rest + gain);
            let sites = known.entry(sites).or_insert_with_key(|sites| Arc::new(make(sites.clone())));
            Heard { sites: sites.clone(), rest }
        };
        let [columns, rows] = layout.size();
        Reach {
            number,
            each_metre: [number[0] as f64 / columns, number[1] as f64 / rows],
            squares: (0..number[0] * number[1]).map(heard).collect(),
        }
    }

    /// What is heard at a place of the area.
    #[inline]
    pub fn at(&self, place: Place) -> &Heard {
        let at =
            |along: f64, axis: usize| ((along * self.each_metre[axis]) as usize).min(self.number[axis] - 1);
        &self.squares[at(place.y, 1) * self.number[0] + at(place.x, 0)]
    }
}
