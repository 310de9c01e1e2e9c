//! The best cells of a layout by position, and the positions of its users, in metres from the lower
//! left corner of the area. They follow from scenario, seed and run number, so they are not
//! recorded.

use umts_kernel::random::Streams;
use umts_scenario::Scenario;
use umts_stack::environment::{Environment, Place, best_cell};
use umts_stack::ids::{CellId, UeId};
use umts_units::{Duration, Time};

/// A map of a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// Width and height in metres.
    pub size: [f64; 2],
    /// Positions of the sites.
    pub sites: Vec<[f64; 2]>,
    /// Names of the cells with the centres of their hexagons, or, in streets, the positions of
    /// their stations.
    pub cells: Vec<(String, [f64; 2])>,
    /// The best cell of each point of a grid without shadowing, row by row, the lowest row first.
    pub best: Vec<u16>,
}

/// The map of a scenario, on a grid of `columns` times `rows` points. `None` without a layout.
pub fn map(scenario: &Scenario, [columns, rows]: [u32; 2]) -> Option<Map> {
    let environment = environment(scenario, &Streams::new(0, 0))?;
    let layout = environment.layout();
    // Middle of one of `count` equal parts, as a fraction of the whole.
    let middle = |part: u32, count: u32| (f64::from(part) + 0.5) / f64::from(count);
    let mut gains = vec![0.0; environment.cells()];
    let mut best = Vec::with_capacity(columns as usize * rows as usize);
    for row in 0..rows {
        for column in 0..columns {
            environment.gains_at(layout.at([middle(column, columns), middle(row, rows)]), &mut gains);
            best.push(best_cell(&gains).0);
        }
    }
    let numbered = scenario.plan().cells.iter().enumerate();
    let cells =
        numbered.map(|(number, cell)| (cell.name.clone(), metres(layout.centre(CellId(number as u16)))));
    let sites = layout.sites().iter().map(|site| metres(site.place)).collect();
    Some(Map { size: layout.size(), sites, cells: cells.collect(), best })
}

/// The houses between the streets of a scenario: left, lower, right and upper side of each in
/// metres. Empty without streets.
pub fn houses(scenario: &Scenario) -> Vec<[f64; 4]> {
    let layout = scenario.layout.as_ref().map(umts_scenario::model::Layout::config);
    let streets = layout.as_ref().and_then(|layout| layout.streets());
    let sides = |[low, high]: [Place; 2]| [low.x, low.y, high.x, high.y];
    streets.into_iter().flat_map(|streets| streets.houses().map(sides)).collect()
}

/// Positions of user `ue` at `times`, which must ascend. `None` if the user is not in a layout.
pub fn track(scenario: &Scenario, seed: u64, run: u64, ue: u16, times: &[Duration]) -> Option<Vec<[f64; 2]>> {
    let environment = environment(scenario, &Streams::new(seed, run))?;
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let (users, _) = groups.rev().find(|(users, group)| {
        let UeId(first) = group.first;
        (first..first + users.count).contains(&ue)
    })?;
    let mobility = users.mobility.as_ref()?.config();
    let mut mobile = environment.appear(u64::from(ue), &mobility, None, Time::ZERO);
    let mut at = |time: &Duration| {
        environment.measure(&mut mobile, Time::ZERO + *time);
        metres(mobile.place())
    };
    Some(times.iter().map(&mut at).collect())
}

fn metres(place: Place) -> [f64; 2] {
    [place.x, place.y]
}

fn environment(scenario: &Scenario, streams: &Streams) -> Option<Environment> {
    Some(Environment::new(&scenario.environment()?, streams))
}
