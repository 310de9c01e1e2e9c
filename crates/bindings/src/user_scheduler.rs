//! Schedulers of shared channels in Python: adapts a class of the user to the scheduler interface of the
//! MACs.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umts_scenario::{Scenario, scheduler_path};
use umts_simulate::{
    ChannelScheduler, Direction, FormatRequest, HsValues, RankedCandidate, RateValues, SharedChannel, Tti,
    Turn, UeId, UserCandidate, UserScheduler, UserSchedulers,
};
use umts_units::{BitRate, Duration, Time};

use crate::errors::SchedulerError;
use crate::python_class::{Failure, load};

/// A transport format of the DSCH.
#[pyclass(frozen, get_all, module = "umtslab._core")]
#[derive(Debug)]
pub struct DschFormat {
    /// Transport blocks per TTI.
    blocks: u32,
    /// Spreading factor of its code.
    spreading_factor: u16,
}

/// A user with data to send.
#[pyclass(frozen, get_all, module = "umtslab._core")]
#[derive(Debug)]
pub struct DschAsk {
    /// Number of the user.
    ue: u16,
    /// Number of waiting blocks.
    backlog: u32,
    /// Arrival time of the oldest waiting block, in seconds.
    since_s: f64,
    /// Path gain from the cell.
    gain: f64,
    /// Transmit power in mW at which the cell is as strong at the user as everything outside the
    /// cell.
    outside_mw: f64,
    /// Increase of the cell's power in mW per format, if only this user has a format; `None` if no
    /// power suffices.
    power_mw: Vec<Option<f64>>,
    /// Service credit in blocks.
    credit: f64,
    /// Recent mean of the user's blocks per TTI.
    mean_blocks: f64,
    /// Service class of the user's bearer: `conversational`, `streaming`, `interactive` or `background`.
    service_class: String,
    /// Whether the user has received its guaranteed rate. `False` without a guaranteed rate.
    is_rate_met: bool,
    /// Transfer delay of the user's bearer in seconds, or `None`.
    transfer_delay_s: Option<f64>,
}

impl DschAsk {
    fn new(tti: &Tti<'_>, candidate: &RankedCandidate) -> Self {
        let RankedCandidate { candidate: user, credit, mean, .. } = candidate;
        let formats = 0..tti.formats.len();
        DschAsk {
            ue: user.ue.0,
            backlog: user.blocks,
            since_s: user.since.unwrap_or(tti.now).as_secs(),
            gain: user.gain,
            outside_mw: tti.outside(candidate),
            power_mw: formats.map(|format| tti.power_for(candidate, format)).collect(),
            credit: *credit,
            mean_blocks: *mean,
            service_class: user.class.keyword().to_owned(),
            is_rate_met: user.is_rate_met,
            transfer_delay_s: user.transfer_delay.map(Duration::as_secs),
        }
    }
}

/// A user with data to send on any shared channel.
#[pyclass(frozen, get_all, module = "umtslab._core")]
#[derive(Debug)]
pub struct Candidate {
    /// Number of the user.
    ue: u16,
    /// Waiting octets. `None` in the uplink of a TDD cell.
    backlog_octets: Option<u64>,
    /// Waiting blocks. `None` on an HS-DSCH and in the uplink of a TDD cell.
    backlog_blocks: Option<u32>,
    /// Waiting packets, as the user reported them. `None` unless in the uplink of a TDD cell.
    backlog_packets: Option<u32>,
    /// Arrival time of the oldest waiting data in seconds. 0 if only control PDUs or a block to repeat
    /// wait: disciplines by age serve these first.
    since_s: f64,
    /// Octets that the radio can carry to the user in this TTI; `None` if the channel does not know.
    possible_octets: Option<u64>,
    /// Recent mean of the user's octets per TTI; `None` if the channel does not know.
    mean_octets: Option<f64>,
    /// The CQI that the Node B has; `None` unless on an HS-DSCH.
    cqi: Option<u8>,
    /// HS-PDSCH codes of the user's block; `None` unless on an HS-DSCH.
    codes: Option<u8>,
    /// Service class of the user's bearer: `conversational`, `streaming`, `interactive` or `background`.
    service_class: String,
    /// Whether the user has received its guaranteed rate. `False` without a guaranteed rate.
    is_rate_met: bool,
    /// Guaranteed rate of the user's bearer in kbit/s, or `None`.
    guaranteed_kbps: Option<f64>,
    /// Transfer delay of the user's bearer in seconds, or `None`.
    transfer_delay_s: Option<f64>,
}

impl Candidate {
    fn new(channel: SharedChannel, candidate: &UserCandidate) -> Self {
        let UserCandidate { candidate: user, rate, hs } = *candidate;
        // There the RNC knows only the number of packets, which `blocks` and `octets` both hold.
        let is_report = matches!(channel, SharedChannel::Tdd(_, Direction::Uplink));
        Candidate {
            ue: user.ue.0,
            backlog_octets: (!is_report).then_some(user.octets.0),
            backlog_blocks: (!is_report && hs.is_none()).then_some(user.blocks),
            backlog_packets: is_report.then_some(user.blocks),
            since_s: user.since.unwrap_or(Time::ZERO).as_secs(),
            possible_octets: rate.map(|RateValues { possible, .. }| possible.0),
            mean_octets: rate.map(|RateValues { mean, .. }| mean),
            cqi: hs.map(|HsValues { cqi, .. }| cqi),
            codes: hs.map(|HsValues { codes, .. }| codes),
            service_class: user.class.keyword().to_owned(),
            is_rate_met: user.is_rate_met,
            guaranteed_kbps: user.guaranteed.map(|rate: BitRate| rate.bps() as f64 / 1e3),
            transfer_delay_s: user.transfer_delay.map(Duration::as_secs),
        }
    }
}

/// Loads the classes of a scenario. Returns a factory of schedulers, or `None` if it names no class.
pub fn schedulers(
    py: Python<'_>,
    scenario: &Scenario,
    failure: &Failure,
) -> PyResult<Option<UserSchedulers>> {
    let mut classes = BTreeMap::new();
    for (path, class) in scenario.python_schedulers() {
        classes.insert(path, load::<SchedulerError>(py, &class, failure)?);
    }
    if classes.is_empty() {
        return Ok(None);
    }
    let (has_layout, failure) = (scenario.layout.is_some(), failure.clone());
    Ok(Some(UserSchedulers::new(move |channel| -> Option<UserScheduler> {
        let (class, name) = classes.get(&scheduler_path(channel, has_layout))?;
        let (object, chooses_formats) = Python::attach(|py| {
            let instance = class.call0(py);
            let object = instance
                .map_err(|error| failure.record::<SchedulerError>(py, &format!("{name}()"), error))
                .ok();
            let has = |method: &str| {
                object.as_ref().is_some_and(|object| object.bind(py).hasattr(method).unwrap_or(false))
            };
            let chooses_formats = has("schedule") || !has("order");
            (object, chooses_formats)
        });
        let (name, failure) = (name.clone(), failure.clone());
        Some(Box::new(Scheduler { object, channel, chooses_formats, formats: None, name, failure }))
    })))
}

/// Name of a channel in calls of `order`.
fn keyword(channel: SharedChannel) -> &'static str {
    match channel {
        SharedChannel::Fach(_) => "fach",
        SharedChannel::Bearer { .. } => "bearer",
        SharedChannel::HsDsch(_) => "hs_dsch",
        SharedChannel::Tdd(_, Direction::Downlink) => "tdd_downlink",
        SharedChannel::Tdd(_, Direction::Uplink) => "tdd_uplink",
        SharedChannel::Dsch(_) => "dsch",
    }
}

/// An instance of the user's class for one channel of one cell.
#[derive(Debug)]
struct Scheduler {
    /// `None` if it could not be created.
    object: Option<Py<PyAny>>,
    channel: SharedChannel,
    /// Whether the class chooses formats on the DSCH of a layout: it has `schedule`, or not even `order`.
    chooses_formats: bool,
    /// Formats of the DSCH, created on first use.
    formats: Option<Py<PyTuple>>,
    /// File and name of the class.
    name: String,
    failure: Failure,
}

impl Scheduler {
    /// Calls a method in a TTI, unless an earlier call has failed.
    fn call<R>(
        &mut self,
        (method, tti): (&str, u64),
        call: impl FnOnce(&mut Self, &Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        if self.failure.is_set() {
            return None;
        }
        Python::attach(|py| {
            let object = self.object.as_ref()?.clone_ref(py);
            let answer = object.bind(py).getattr(method).and_then(|method| call(self, &method));
            let location = || {
                let (name, cell) = (&self.name, self.channel.cell().0);
                match self.channel {
                    SharedChannel::Dsch(_) => format!("{name}.{method}, in cell {cell} and TTI {tti},"),
                    channel => {
                        format!("{name}.{method}, on {} in cell {cell} and TTI {tti},", keyword(channel))
                    }
                }
            };
            answer.map_err(|error| self.failure.record::<SchedulerError>(py, &location(), error)).ok()
        })
    }

    /// Requests of a class that decides only the order: for each user the smallest format that holds its
    /// backlog, or the largest one.
    fn order_with_fitting_formats(
        &mut self,
        tti: &Tti<'_>,
        candidates: &[RankedCandidate],
    ) -> Vec<FormatRequest> {
        let turn = Turn { now: tti.now, number: tti.number };
        let with_rates = candidates.iter().map(|ranked| {
            let mean = ranked.mean * tti.block.0 as f64;
            let rate = Some(RateValues { possible: tti.possible(ranked), mean });
            UserCandidate { candidate: ranked.candidate, rate, hs: None }
        });
        let order = self.order(turn, &with_rates.collect::<Vec<_>>());
        let fitting = |candidate: usize| {
            let backlog = candidates[candidate].candidate.blocks;
            let smaller = tti.formats.iter().take_while(|format| format.blocks < backlog).count();
            smaller.min(tti.formats.len() - 1)
        };
        order.into_iter().map(|candidate| FormatRequest { candidate, format: fitting(candidate) }).collect()
    }

    /// Returns the formats as Python objects.
    fn formats(&mut self, py: Python<'_>, tti: &Tti<'_>) -> PyResult<Py<PyTuple>> {
        if self.formats.is_none() {
            let formats = tti.formats.iter().map(|format| {
                let (blocks, spreading_factor) = (format.blocks, format.spreading_factor);
                Py::new(py, DschFormat { blocks, spreading_factor })
            });
            let formats = formats.collect::<PyResult<Vec<_>>>()?;
            self.formats = Some(PyTuple::new(py, formats)?.unbind());
        }
        Ok(self.formats.as_ref().expect("created above").clone_ref(py))
    }

    /// Returns the arguments of `schedule`.
    fn arguments<'py>(
        &mut self,
        py: Python<'py>,
        tti: &Tti<'_>,
        candidates: &[RankedCandidate],
    ) -> PyResult<Bound<'py, PyDict>> {
        let candidates = candidates.iter().map(|candidate| Py::new(py, DschAsk::new(tti, candidate)));
        let headroom = tti.load.total(tti.power.common).map_or(0.0, |used| (tti.power.max - used).max(0.0));
        let values = PyDict::new(py);
        values.set_item("cell", self.channel.cell().0)?;
        values.set_item("tti", tti.number)?;
        values.set_item("now_s", tti.now.as_secs())?;
        values.set_item("room_mw", headroom)?;
        values.set_item("formats", self.formats(py, tti)?)?;
        values.set_item("asks", candidates.collect::<PyResult<Vec<_>>>()?)?;
        Ok(values)
    }
}

impl ChannelScheduler for Scheduler {
    fn order(&mut self, turn: Turn, candidates: &[UserCandidate]) -> Vec<usize> {
        let answer = self.call(("order", turn.number), |scheduler, method| {
            let py = method.py();
            let ues: Vec<UeId> = candidates.iter().map(|candidate| candidate.candidate.ue).collect();
            let channel = scheduler.channel;
            let candidates =
                candidates.iter().map(|candidate| Py::new(py, Candidate::new(channel, candidate)));
            let values = PyDict::new(py);
            values.set_item("channel", keyword(channel))?;
            values.set_item("cell", channel.cell().0)?;
            values.set_item("tti", turn.number)?;
            values.set_item("now_s", turn.now.as_secs())?;
            values.set_item("candidates", candidates.collect::<PyResult<Vec<_>>>()?)?;
            let mut order = Selection::new(ues);
            for ue in method.call((), Some(&values))?.try_iter()? {
                order.add(ue?.extract()?)?;
            }
            Ok(order.indices)
        });
        answer.unwrap_or_default()
    }

    fn order_with_formats(&mut self, tti: &Tti<'_>, candidates: &[RankedCandidate]) -> Vec<FormatRequest> {
        if !self.chooses_formats {
            return self.order_with_fitting_formats(tti, candidates);
        }
        let answer = self.call(("schedule", tti.number), |scheduler, method| {
            let arguments = scheduler.arguments(method.py(), tti, candidates)?;
            requests(&method.call((), Some(&arguments))?, candidates, tti.formats.len())
        });
        answer.unwrap_or_default()
    }

    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: Option<u32>) {
        self.call(("served", tti), |_, method| {
            let values = PyDict::new(method.py());
            values.set_item("tti", tti)?;
            values.set_item("ue", ue.0)?;
            values.set_item("sent", sent)?;
            values.set_item("received", received)?;
            method.call((), Some(&values)).map(drop)
        });
    }
}

/// Reads the answer of `schedule`: pairs of user number and format number.
fn requests(
    answer: &Bound<'_, PyAny>,
    candidates: &[RankedCandidate],
    formats: usize,
) -> PyResult<Vec<FormatRequest>> {
    let mut order = Selection::new(candidates.iter().map(|candidate| candidate.candidate.ue).collect());
    let mut requests = Vec::new();
    for pair in answer.try_iter()? {
        let (ue, format): (i64, i64) = pair?.extract()?;
        let candidate = order.add(ue)?;
        let number = usize::try_from(format).ok().filter(|number| *number < formats).ok_or_else(|| {
            PyValueError::new_err(format!(
                "a format must be a number from 0 to {}, not {format}",
                formats - 1
            ))
        })?;
        requests.push(FormatRequest { candidate, format: number });
    }
    Ok(requests)
}

/// Users that a class returned, each at most once and each with a request.
struct Selection {
    /// The candidates.
    ues: Vec<UeId>,
    is_selected: Vec<bool>,
    /// Indices of the selected candidates, in the order of the class.
    indices: Vec<usize>,
}

impl Selection {
    fn new(ues: Vec<UeId>) -> Self {
        Selection { is_selected: vec![false; ues.len()], indices: Vec::with_capacity(ues.len()), ues }
    }

    /// Adds a user by its number. Returns the index among the candidates.
    fn add(&mut self, ue: i64) -> PyResult<usize> {
        let index = self.ues.iter().position(|candidate| i64::from(candidate.0) == ue);
        let index =
            index.ok_or_else(|| PyValueError::new_err(format!("user {ue} has no request in this TTI")))?;
        if std::mem::replace(&mut self.is_selected[index], true) {
            return Err(PyValueError::new_err(format!("user {ue} occurs twice")));
        }
        self.indices.push(index);
        Ok(index)
    }
}
