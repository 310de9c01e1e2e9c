//! The Python class of a scenario, which loads scenario files.

use std::path::PathBuf;

use pyo3::prelude::*;
use umts_simulate::{Drawn, UeId, dch_rates, draw_errors, draw_traffic};
use umts_units::{BitRate, Duration};

use crate::errors::scenario_error;

/// Pairs of dotted key and value, as in `--set`.
type Overrides = Vec<(String, String)>;

/// Source of a scenario, to read it again with other overrides.
#[derive(Clone)]
enum Origin {
    File(PathBuf),
    Text { text: String, name: String, base_dir: PathBuf },
}

/// Size, sites, cells with their centres, and the best cells of the grid points.
type MapOfCells = ([f64; 2], Vec<[f64; 2]>, Vec<(String, [f64; 2])>, Vec<u16>);

/// A validated scenario: defaults are filled in, units are checked.
#[pyclass(frozen, module = "umtslab._core")]
pub struct Scenario {
    origin: Origin,
    overrides: Overrides,
    scenario: umts_scenario::Scenario,
    warnings: Vec<String>,
}

impl Scenario {
    /// The scenario for the simulator.
    pub fn inner(&self) -> &umts_scenario::Scenario {
        &self.scenario
    }

    /// The same scenario with a single change, at the start of the run. `values` is an inline table
    /// of TOML.
    pub fn with_change(&self, py: Python<'_>, values: &str) -> PyResult<Self> {
        let at = format!("[{{ time = \"0 s\", set = {values} }}]");
        self.with_overrides(py, vec![("at".to_owned(), at)])
    }

    fn read(py: Python<'_>, origin: Origin, overrides: Overrides) -> PyResult<Self> {
        let loaded = match &origin {
            Origin::File(path) => umts_scenario::Scenario::load(path, &overrides),
            Origin::Text { text, name, base_dir } => {
                umts_scenario::Scenario::parse(text, name, base_dir, &overrides)
            }
        };
        let loaded = loaded.map_err(|error| scenario_error(py, &error))?;
        Ok(Self { origin, overrides, scenario: loaded.scenario, warnings: loaded.warnings })
    }
}

#[pymethods]
impl Scenario {
    /// Read a scenario file and apply overrides.
    #[staticmethod]
    #[pyo3(signature = (path, overrides=vec![]), text_signature = "(path, overrides=[])")]
    fn load(py: Python<'_>, path: PathBuf, overrides: Overrides) -> PyResult<Self> {
        Self::read(py, Origin::File(path), overrides)
    }

    /// Read a scenario from TOML text. Files that it names are relative to `base_dir`.
    #[staticmethod]
    #[pyo3(
        signature = (text, name="<text>".to_owned(), base_dir=None, overrides=vec![]),
        text_signature = "(text, name='<text>', base_dir=None, overrides=[])"
    )]
    fn parse(
        py: Python<'_>,
        text: String,
        name: String,
        base_dir: Option<PathBuf>,
        overrides: Overrides,
    ) -> PyResult<Self> {
        // The empty path is the current directory.
        let base_dir = base_dir.unwrap_or_default();
        Self::read(py, Origin::Text { text, name, base_dir }, overrides)
    }

    /// The same scenario with additional overrides, applied after the existing ones.
    fn with_overrides(&self, py: Python<'_>, overrides: Overrides) -> PyResult<Self> {
        let all = self.overrides.iter().cloned().chain(overrides).collect();
        Self::read(py, self.origin.clone(), all)
    }

    /// Short name, for example `ftp-on-fach`.
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    /// Title in one line.
    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    /// Document from which the scenario is taken.
    #[getter]
    fn source(&self) -> &str {
        &self.scenario.source
    }

    /// Seed of the scenario file.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// Simulated time in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration.as_secs()
    }

    /// Warnings to read before the results are trusted.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Messages about the UEs of which `pcap` captures only IP packets, with the reason.
    fn capture_notes(&self) -> Vec<String> {
        umts_simulate::capture_notes(&self.scenario)
    }

    /// The whole scenario, defaults included, as TOML that can be loaded again.
    fn to_toml(&self) -> String {
        self.scenario.to_toml()
    }

    /// The whole scenario, defaults included, as a JSON object.
    fn to_json(&self) -> String {
        self.scenario.to_json().to_string()
    }

    /// The content of `to_toml` as a JSON object.
    fn parameters(&self) -> String {
        self.scenario.parameters().to_string()
    }

    /// Draw the traffic of a flow without a network. Return moments of the draws and of their
    /// distributions, or `None` for a flow that draws neither pages, files nor packet calls.
    fn draw_traffic(&self, py: Python<'_>, flow: usize, calls: u64, seed: u64, run: u64) -> Option<Drawn> {
        py.detach(|| draw_traffic(&self.scenario, flow, calls, seed, run))
    }

    /// Draw errors of the first user's downlink blocks without a network. Return their statistics.
    fn draw_errors(&self, py: Python<'_>, blocks: u64, seed: u64, run: u64) -> Drawn {
        py.detach(|| draw_errors(&self.scenario, blocks, seed, run))
    }

    /// Map of the layout: size, sites, cells with the centres of their hexagons, and the best cell
    /// of each point of a grid, row by row from the bottom. `None` without a layout.
    fn map(&self, py: Python<'_>, columns: u32, rows: u32) -> Option<MapOfCells> {
        let map = py.detach(|| umts_simulate::map(&self.scenario, [columns, rows]))?;
        Some((map.size, map.sites, map.cells, map.best))
    }

    /// Left, lower, right and upper side in metres of each house between the streets; empty without
    /// streets.
    fn houses(&self) -> Vec<[f64; 4]> {
        umts_simulate::houses(&self.scenario)
    }

    /// Positions of a user in metres at increasing times; `None` if the user has no position in a
    /// layout.
    fn track(&self, ue: u16, times_s: Vec<f64>, seed: u64, run: u64) -> Option<Vec<[f64; 2]>> {
        let times: Vec<_> = times_s.into_iter().map(Duration::from_secs_f64).collect();
        umts_simulate::track(&self.scenario, seed, run, ue, &times)
    }

    /// Rates in bit/s to which the DCHs of a user can change during a run: for each bearer its name,
    /// and the rates in the downlink and in the uplink. Empty for other channels.
    fn dch_rates(&self, ue: u16) -> Vec<(String, [Vec<u64>; 2])> {
        let bps = |rates: Vec<BitRate>| rates.into_iter().map(BitRate::bps).collect();
        let bearers = dch_rates(&self.scenario, UeId(ue)).into_iter();
        bearers.map(|bearer| (bearer.bearer, bearer.rates.map(bps))).collect()
    }

    /// Hash of the scenario after defaults and overrides.
    fn content_hash(&self) -> String {
        self.scenario.content_hash()
    }
}
