//! Gains from each cell to a mobile, and the power that the mobile receives from other cells.
//!
//! Only sites within reach have individual gains. The mean gain of the sites out of reach is spread
//! evenly over the cells within reach, as if far cells transmitted the average power of near cells.
//!
//! Cells with consecutive numbers form a run: without a reach all cells, with a reach the cells of
//! one row of sites (two runs if the row wraps around). The gains of all runs are stored one after
//! another, so a sum takes only the cells within reach. Mobiles in the same square share one list
//! of sites.

mod gain_vec;

use std::sync::Arc;

use self::gain_vec::GainVec;
use super::SECTORS;
use crate::ids::CellId;

/// Number of independent partial sums. In a single sum each addition would wait for the previous
/// one.
const LANES: usize = 4;

/// Linear gain of each cell to a mobile: all sectors of the sites within reach, 0 for other cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gains {
    sites: Arc<Sites>,
    /// Gains of all runs in order, cell by cell.
    values: GainVec,
}

/// Sites within reach and their cells. Shared by all mobiles with the same list.
#[derive(Debug, Default, PartialEq)]
pub struct Sites {
    numbers: Vec<u16>,
    runs: Vec<Run>,
    /// Number of cells of these sites.
    cells: usize,
}

/// Cells `first..end`, and the index of the gain of cell `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u16,
    end: u16,
    index: u16,
}

impl Run {
    /// Index of the gain of a cell, if the cell is in this run.
    #[inline]
    fn index_of(self, cell: CellId) -> Option<usize> {
        (self.first..self.end).contains(&cell.0).then(|| usize::from(cell.0 - self.first + self.index))
    }
}

impl Sites {
    /// Sites of three sectors, with their numbers in ascending order.
    pub fn new(numbers: Vec<u16>) -> Self {
        Sites::with_cells(numbers, SECTORS)
    }

    /// Stations of one cell, with their numbers in ascending order.
    pub fn of_stations(numbers: Vec<u16>) -> Self {
        Sites::with_cells(numbers, 1)
    }

    fn with_cells(numbers: Vec<u16>, sectors: usize) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for (position, site) in numbers.iter().enumerate() {
            // A site has `sectors` cells and as many gains.
            let [index, first] = [position as u16, *site].map(|number| number * sectors as u16);
            match runs.last_mut() {
                Some(run) if run.end == first => run.end += sectors as u16,
                _ => runs.push(Run { first, end: first + sectors as u16, index }),
            }
        }
        let cells = numbers.len() * sectors;
        Sites { numbers, runs, cells }
    }

    pub fn numbers(&self) -> &[u16] {
        &self.numbers
    }
}

impl Gains {
    /// Zero gains of these sites.
    pub fn of_sites(sites: Arc<Sites>) -> Self {
        let values = GainVec::new(sites.cells);
        Gains { sites, values }
    }

    /// Sites within reach.
    pub fn sites(&self) -> &Arc<Sites> {
        &self.sites
    }

    /// Sites with the gains of their sectors.
    #[inline]
    pub fn each_site(&mut self) -> impl Iterator<Item = (usize, &mut [f64; SECTORS])> {
        self.sites.numbers.iter().map(|&site| usize::from(site)).zip(self.values.as_chunks_mut().0)
    }

    /// Stations of a street layout, which have one cell each, with their gains.
    pub fn each_station(&mut self) -> impl Iterator<Item = (usize, &mut f64)> {
        self.sites.numbers.iter().map(|&site| usize::from(site)).zip(self.values.iter_mut())
    }

    /// Adds `far_gain`, the gain of all sites out of reach, in equal parts to the cells within reach.
    pub fn add_far_gain(&mut self, far_gain: f64) {
        let share = far_gain / self.values.len() as f64;
        self.values.iter_mut().for_each(|gain| *gain += share);
    }

    /// Gain of a cell. 0 if the cell is out of reach.
    #[inline]
    pub fn of(&self, cell: CellId) -> f64 {
        self.sites.runs.iter().find_map(|run| run.index_of(cell)).map_or(0.0, |index| self.values[index])
    }

    /// Cells within reach with their gains.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        let runs = self.sites.runs.iter();
        runs.flat_map(|run| usize::from(run.first)..usize::from(run.end)).zip(self.values.iter().copied())
    }

    /// The cell with the largest gain, the first one if several are equal.
    ///
    /// # Panics
    /// Panics if there are no gains.
    #[inline]
    pub fn best(&self) -> CellId {
        let CellId(index) = best_cell(&self.values);
        let run = self.sites.runs.iter().rfind(|run| run.index <= index).expect("there is a gain");
        CellId(index - run.index + run.first)
    }

    /// Power received from all cells except `own`, in the unit of `powers`, the transmit powers of
    /// all cells.
    ///
    /// The additions are in the order of the cells, in four parallel sums, so the result is the
    /// same on all machines.
    #[inline]
    pub fn from_others(&self, powers: &[f64], own: CellId) -> f64 {
        let mut received = 0.0;
        for run in &self.sites.runs {
            let [start, first, end] = [run.index, run.first, run.end].map(usize::from);
            let (gains, powers) = (&self.values[start..start + end - first], &powers[first..end]);
            received += match run.index_of(own) {
                None => sum_of_products(gains, powers),
                Some(own) => {
                    let own = own - start;
                    sum_of_products(&gains[..own], &powers[..own])
                        + sum_of_products(&gains[own + 1..], &powers[own + 1..])
                }
            };
        }
        received
    }
}

/// The cell with the largest gain, the first one if several are equal. `gains` has one entry per
/// cell.
///
/// # Panics
/// Panics if there are no gains.
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

/// Sum of the products of gains and powers.
#[inline]
fn sum_of_products(gains: &[f64], powers: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (gains, last_gains) = gains.as_chunks::<LANES>();
    let (powers, last_powers) = powers.as_chunks::<LANES>();
    for (gains, powers) in gains.iter().zip(powers) {
        for lane in 0..LANES {
            lanes[lane] += gains[lane] * powers[lane];
        }
    }
    for (lane, (gain, power)) in last_gains.iter().zip(last_powers).enumerate() {
        lanes[lane] += gain * power;
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}
