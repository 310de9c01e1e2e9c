//! Runs that Python advances step by step, and their states as JSON.

use std::time::Duration as RealTime;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use umts_record::live::{NotableKind, Point, Snapshot, SnapshotSize, UeSnapshot};
use umts_simulate::{LiveView, NodebQueue, RunOptions, Step, UeId};
use umts_units::{BitRate, Time};

use crate::errors::output_error;
use crate::python_class::Failure;
use crate::run::{RunResult, result, user_code};
use crate::scenario::Scenario;
use crate::tables::Tables;

/// Runs of scenarios with one clock. They are advanced by the caller, and have the results of
/// ``simulate``. An object belongs to the thread that made it, and holds the interpreter lock.
#[pyclass(unsendable, module = "umtslab._core")]
pub struct LiveRuns {
    /// `None` after `finish`.
    runs: Option<umts_simulate::LiveRuns>,
    scenarios: Vec<Py<Scenario>>,
    seed: u64,
    run: u64,
    failure: Failure,
}

#[pymethods]
impl LiveRuns {
    #[new]
    #[pyo3(signature = (scenarios, seed, run, *, series=false))]
    fn new(
        py: Python<'_>,
        scenarios: Vec<Py<Scenario>>,
        seed: u64,
        run: u64,
        series: bool,
    ) -> PyResult<Self> {
        if scenarios.is_empty() {
            return Err(PyValueError::new_err("there must be a scenario"));
        }
        let failure = Failure::default();
        let borrowed: Vec<_> = scenarios.iter().map(|scenario| scenario.bind(py).borrow()).collect();
        let mut with_options = Vec::new();
        for scenario in &borrowed {
            let scenario = scenario.inner();
            let (laws, schedulers) = user_code(py, scenario, &failure)?;
            with_options
                .push((scenario, RunOptions { seed, run, series, laws, schedulers, ..Default::default() }));
        }
        let runs = umts_simulate::LiveRuns::new(with_options).map_err(|error| output_error(py, &error))?;
        drop(borrowed);
        Ok(LiveRuns { runs: Some(runs), scenarios, seed, run, failure })
    }

    /// Current instant of all runs in nanoseconds.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        Ok(self.open()?.now().as_nanos())
    }

    /// Beginning of the next TTI in nanoseconds: of the shortest TTI of all channels.
    #[getter]
    fn next_tti_ns(&self) -> PyResult<u64> {
        Ok(self.open()?.next_tti().as_nanos())
    }

    /// Whether all runs have ended.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        Ok(self.open()?.is_over())
    }

    /// Advance to an instant, for at most about `real_s` seconds of real time. Return whether the
    /// instant was reached.
    fn advance(&mut self, until_ns: u64, real_s: f64) -> PyResult<bool> {
        self.step(Step::Until(Time::from_nanos(until_ns)), real_s)
    }

    /// Process one event: the next one of all runs.
    fn advance_event(&mut self) -> PyResult<bool> {
        self.step(Step::Event, 0.0)
    }

    /// Advance to the next event of a kind, which is ``timeout``, ``loss``, ``block_error`` or
    /// ``switch``. Return whether the step is complete; otherwise call it again. A step without
    /// such an event is complete at the end of the runs.
    fn advance_to(&mut self, kind: &str, real_s: f64) -> PyResult<bool> {
        let found = NotableKind::ALL.into_iter().find(|known| known.name() == kind);
        let kind = found.ok_or_else(|| {
            let names = NotableKind::ALL.map(NotableKind::name).join(", ");
            PyValueError::new_err(format!("there is no kind {kind:?}: use {names}"))
        })?;
        self.step(Step::Next(kind), real_s)
    }

    /// State of run `number` as JSON: the first `ues` users with the last `points` points of their
    /// histories, which cover `bins` times 0.1 s each, cells, links, and notable events.
    fn state(
        &mut self,
        py: Python<'_>,
        number: usize,
        ues: usize,
        bins: usize,
        points: usize,
    ) -> PyResult<String> {
        let scenarios = &self.scenarios;
        let scenario = scenarios.get(number).ok_or_else(|| PyValueError::new_err("there is no such run"))?;
        if bins == 0 {
            return Err(PyValueError::new_err("a point has at least one bin"));
        }
        let scenario = scenario.bind(py).borrow();
        let runs = self.runs.as_mut().ok_or_else(ended)?;
        let view = runs.view(number, SnapshotSize { ues, bins, points });
        Ok(content(scenario.inner(), &view).to_string())
    }

    /// The results of all runs, which must have ended. The object cannot be used afterwards.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<RunResult>> {
        let runs = self.runs.take_if(|runs| runs.is_over());
        let runs =
            runs.ok_or_else(|| PyRuntimeError::new_err("a run has not ended, or its results were taken"))?;
        let events: Vec<_> = (0..self.scenarios.len()).map(|number| runs.events(number)).collect();
        let mut results = Vec::new();
        for ((records, scenario), events) in runs.finish().into_iter().zip(&self.scenarios).zip(events) {
            let tables = Tables::new(None, scenario.bind(py).borrow().inner().measure.budget);
            let output = umts_simulate::RunOutput {
                metrics: records.metrics,
                series: records.series,
                files: Vec::new(),
                events,
            };
            results.push(result(py, self.seed, self.run, output, tables)?);
        }
        Ok(results)
    }
}

impl LiveRuns {
    fn open(&self) -> PyResult<&umts_simulate::LiveRuns> {
        self.runs.as_ref().ok_or_else(ended)
    }

    fn step(&mut self, step: Step, real_s: f64) -> PyResult<bool> {
        let real_time = RealTime::try_from_secs_f64(real_s)
            .map_err(|_| PyValueError::new_err("real_s must be a number of seconds of at least 0"))?;
        let runs = self.runs.as_mut().ok_or_else(ended)?;
        let is_complete = runs.advance(step, real_time);
        self.failure.take().map_or(Ok(is_complete), Err)
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the results of these runs were taken")
}

/// The state of a network of `scenario` as JSON.
pub fn content(scenario: &umts_scenario::Scenario, view: &LiveView) -> Value {
    let state = &view.recorded;
    let links = scenario.link.iter().zip(&view.link_queues).map(|(link, [downlink, uplink])| {
        json!({
            "from": link.from,
            "to": link.to,
            "rate_bps": link.rate.map(BitRate::bps),
            "queued": [downlink.0, uplink.0],
        })
    });
    let names = scenario.ue.iter().flat_map(|group| std::iter::repeat_n(&group.name, group.count.into()));
    let shown = (0..).zip(names).zip(state.ues.iter().zip(&view.nodeb_queues));
    let shown = shown.map(|((number, name), (ue, queue))| user(ue, *queue, number, name));
    let ends = state.ues.first().into_iter().flat_map(|ue| &ue.history).map(|point| point.end.as_secs());
    let counts = NotableKind::ALL.into_iter().zip(state.counts);
    let counts = counts.map(|(kind, count)| (kind.name().to_owned(), json!(count)));
    json!({
        "users": state.users,
        "ues": shown.collect::<Vec<_>>(),
        "point_ends_s": ends.collect::<Vec<_>>(),
        "cells": cells(scenario, state),
        "links": links.collect::<Vec<_>>(),
        "counts": counts.collect::<serde_json::Map<_, _>>(),
        "notable": state.notable.iter().map(|event| json!({
            "time_s": event.at.as_secs(),
            "kind": event.kind.name(),
            "ue": event.ue.map(|UeId(ue)| ue),
            "text": event.text(),
        })).collect::<Vec<_>>(),
    })
}

fn user(shown: &UeSnapshot, queue: Option<NodebQueue>, number: u16, name: &str) -> Value {
    let UeSnapshot { state: ue, rates, history } = shown;
    let column = |value: &dyn Fn(&Point) -> Value| history.iter().map(value).collect::<Vec<_>>();
    json!({
        "ue": number,
        "name": name,
        "cell": ue.cell,
        "state": ue.state.map(|state| state.name()),
        "towards": ue.towards.map(|state| state.name()),
        "channels": ue.channels.map(|channel| channel.map(|channel| channel.name().0)),
        "request": ue.request.map(|request| request.name()),
        "buffers": ue.buffers,
        "rates_bps": rates,
        "nodeb_queue": queue.map(|queue| json!({
            "pdus": queue.pdus,
            "octets": queue.octets.0,
            "credits": queue.credits,
        })),
        "delivered": ue.delivered,
        "blocks": ue.blocks,
        "connections": ue.connections,
        "cwnd": ue.cwnd,
        "timeouts": ue.timeouts,
        "retransmissions": ue.retransmissions,
        "history": {
            "downlink_bps": column(&|point| json!(point.rates[0])),
            "uplink_bps": column(&|point| json!(point.rates[1])),
            "buffer": column(&|point| json!(point.buffers[0])),
            "uplink_buffer": column(&|point| json!(point.buffers[1])),
            "cwnd": column(&|point| json!(point.cwnd)),
        },
    })
}

/// The cells whose users change channels.
fn cells(scenario: &umts_scenario::Scenario, state: &Snapshot) -> Vec<Value> {
    let cells = scenario.plan().cells.iter().zip(&state.cells).zip(0_u16..);
    let cells = cells.filter_map(|((planned, cell), number)| {
        let cell = cell.as_ref()?;
        let admission = &scenario.cell[planned.of].admission;
        let limits = [admission.downlink, admission.uplink].map(|limit| limit.map(BitRate::bps));
        Some(json!({
            "cell": number,
            "name": planned.name,
            "rates_bps": cell.rates,
            "limits_bps": limits,
            "dchs": cell.dchs,
            "most_dchs": admission.dchs,
            "is_full": cell.is_full,
        }))
    });
    cells.collect()
}
