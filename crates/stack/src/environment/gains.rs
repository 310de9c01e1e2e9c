//! What reaches a mobile of the power of each cell, and what it receives from other cells than its own.
//!
//! Of cells out of reach the mean arrives, as if those that are heard sent it: far cells are many, and send what near ones
//! do on average. Cells whose numbers follow each other are a run: a network without a reach is one, and with a reach each row of sites is
//! one or two. The gains of all runs stand one after another, so who hears few cells has little to add up. Which cells those are
//! is the same for all who are near each other, and kept once.

mod row;

use std::sync::Arc;

use self::row::Row;
use super::SECTORS;
use crate::ids::CellId;

/// Sums at a time: one after another, each addition would wait for the one before.
const LANES: usize = 4;

/// The share of the power of each cell that reaches a mobile. It hears all sectors of some sites and nothing of others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gains {
    sites: Arc<Sites>,
    /// Run by run, cell by cell.
    of: Row,
}

/// Sites that are heard together, and their cells.
#[derive(Debug, Default, PartialEq)]
pub struct Sites {
    numbers: Vec<u16>,
    runs: Vec<Run>,
    /// How many cells they have together.
    cells: usize,
}

/// Cells that follow each other, and where the gains of the first of them stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u16,
    end: u16,
    at: u16,
}

impl Run {
    /// Where the gain of a cell stands, if it is in this run.
    #[inline]
    fn place(self, cell: CellId) -> Option<usize> {
        (self.first..self.end).contains(&cell.0).then(|| usize::from(cell.0 - self.first + self.at))
    }
}

impl Sites {
    /// Sites of three sectors, whose numbers rise.
    pub fn new(numbers: Vec<u16>) -> Self {
        Sites::with_cells(numbers, SECTORS)
    }

    /// Stations of one cell, whose numbers rise.
    pub fn of_stations(numbers: Vec<u16>) -> Self {
        Sites::with_cells(numbers, 1)
    }

    fn with_cells(numbers: Vec<u16>, sectors: usize) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for (at, site) in numbers.iter().enumerate() {
            let [at, first] = [at as u16, *site].map(|number| number * sectors as u16);
            match runs.last_mut() {
                Some(run) if run.end == first => run.end += sectors as u16,
                _ => runs.push(Run { first, end: first + sectors as u16, at }),
            }
        }
        let cells = numbers.len() * sectors;
        Sites { numbers, runs, cells }
    }

    /// Their numbers.
    pub fn numbers(&self) -> &[u16] {
        &self.numbers
    }
}

impl Gains {
    /// Nothing yet of these sites.
    pub fn of_sites(sites: Arc<Sites>) -> Self {
        let of = Row::new(sites.cells);
        Gains { sites, of }
    }

    /// The sites that are heard.
    pub fn sites(&self) -> &Arc<Sites> {
        &self.sites
    }

    /// The sites with the gains of their sectors.
    #[inline]
    pub fn each_site(&mut self) -> impl Iterator<Item = (usize, &mut [f64; SECTORS])> {
        self.sites.numbers.iter().map(|&site| usize::from(site)).zip(self.of.as_chunks_mut().0)
    }

    /// The stations of streets, which have a cell each, with their gains.
    pub fn each_station(&mut self) -> impl Iterator<Item = (usize, &mut f64)> {
        self.sites.numbers.iter().map(|&site| usize::from(site)).zip(self.of.iter_mut())
    }

    /// Adds the same to each cell that is heard, so much in all: what arrives of the rest, which send as these do.
    pub fn add_rest(&mut self, rest: f64) {
        let each = rest / self.of.len() as f64;
        self.of.iter_mut().for_each(|gain| *gain += each);
    }

    /// The gain of a cell: 0 if it is not heard.
    #[inline]
    pub fn of(&self, cell: CellId) -> f64 {
        self.sites.runs.iter().find_map(|run| run.place(cell)).map_or(0.0, |at| self.of[at])
    }

    /// The cells that are heard with their gains.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        let runs = self.sites.runs.iter();
        runs.flat_map(|run| usize::from(run.first)..usize::from(run.end)).zip(self.of.iter().copied())
    }

    /// The cell of which the largest share arrives, the first of equals.
    ///
    /// # Panics
    /// Where there are no gains.
    #[inline]
    pub fn best(&self) -> CellId {
        let at = best_cell(&self.of).0;
        let run = self.sites.runs.iter().rfind(|run| run.at <= at).expect("something is heard");
        CellId(at - run.at + run.first)
    }

    /// Power received from all cells but `own`, for powers of all cells: χ of rrm.md, in the unit of the powers.
    ///
    /// The order of the additions is that of the cells, four sums side by side, whatever the machine.
    #[inline]
    pub fn from_others(&self, powers: &[f64], own: CellId) -> f64 {
        let mut all = 0.0;
        for run in &self.sites.runs {
            let [at, first, end] = [run.at, run.first, run.end].map(usize::from);
            let (gains, powers) = (&self.of[at..at + end - first], &powers[first..end]);
            all += match run.place(own) {
                None => sum(gains, powers),
                Some(own) => {
                    sum(&gains[..own - at], &powers[..own - at])
                        + sum(&gains[own - at + 1..], &powers[own - at + 1..])
                }
            };
        }
        all
    }
}

/// The cell of which the largest share arrives, the first of equals, for the gains of all cells.
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

#[inline]
fn sum(gains: &[f64], powers: &[f64]) -> f64 {
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
