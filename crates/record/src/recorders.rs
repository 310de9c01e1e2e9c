//! The recorders of a run, combined into one sink: always metrics, optionally budget, series and
//! captures.

use std::path::{Path, PathBuf};

use umts_kernel::{NoTrace, TraceSink};
use umts_stack::detail::Detail;
use umts_stack::network::NetworkConfig;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::budget::{Budget, BudgetConfig};
use crate::capture::{CaptureConfig, CaptureError, Captures};
use crate::metrics::{ConnectionRow, Metrics, MetricsConfig, RunMetrics};
use crate::series::{Series, SeriesConfig, SeriesTables, Table};

/// Minimum number of rows in a chunk of a series. A chunk also contains the rows of up to one more
/// second of model time. Chunks are encoded separately.
pub const CHUNK_ROWS: usize = 16 * 1024;

/// Chunk size of the budget's intervals. It is smaller, because an open connection keeps its
/// intervals until they are taken.
const CHUNK_INTERVALS: usize = 1_024;

/// Configuration of [`Recorders`].
#[derive(Debug)]
pub struct RecorderConfig<'a> {
    /// The recorded network.
    pub network: &'a NetworkConfig,
    /// Metrics, which are always recorded.
    pub metrics: MetricsConfig,
    /// The time budget. Its metrics follow the others, and its tables follow the series if there
    /// are any.
    pub budget: Option<BudgetConfig>,
    /// Time series.
    pub series: Option<SeriesConfig>,
    /// Captures: the folder, which must exist, and their configuration.
    pub captures: Option<(&'a Path, CaptureConfig)>,
}

/// The recorders of a run: a sink from its start to its end. During the run, [`take`](Self::take)
/// returns rows that no longer change; [`finish`](Self::finish) returns the rest.
///
/// The results of a recorder do not depend on the presence of others. `beside` is an additional
/// sink that only some runs have, such as a meter.
#[derive(Debug)]
pub struct Recorders<B = NoTrace> {
    /// An additional sink, which receives each event first.
    pub beside: B,
    metrics: Metrics,
    budget: Option<Budget>,
    series: Option<Series>,
    captures: Option<Captures>,
}

/// A sink that passes events only to the metrics and, if `SERIES`, to the series. A simulation that
/// is compiled for this sink builds no details and calls no other recorder. [`Recorders::needs`]
/// returns the sink that is sufficient.
#[derive(Debug)]
pub struct PlainRecorders<const SERIES: bool>(pub Recorders);

/// The sink that [`Recorders`] need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// [`PlainRecorders<false>`]: there are only metrics.
    Metrics,
    /// [`PlainRecorders<true>`]: there are only metrics, and series without details.
    Series,
    /// The recorders themselves.
    Everything,
}

/// Rows of a running simulation. They no longer change, and follow the rows of earlier chunks in
/// their tables.
#[derive(Debug)]
pub enum TableChunk {
    /// Connections that closed.
    Connections(Vec<ConnectionRow>),
    /// Rows of one time series.
    Series(Table),
}

/// Results of the recorders.
#[derive(Debug)]
pub struct Records<B = NoTrace> {
    /// Metrics, and the rows of connections that were not taken before.
    pub metrics: RunMetrics,
    /// Time series followed by the tables of the budget, if series were recorded.
    pub series: Option<SeriesTables>,
    /// The captures that were written, or the error that prevented them. After an error no capture
    /// is left; the other results are complete.
    pub captures: Result<Vec<PathBuf>, CaptureError>,
    /// The additional sink.
    pub beside: B,
}

impl<B> Recorders<B> {
    /// Recorders before the first event. `beside` receives each event first.
    ///
    /// # Errors
    /// If a capture cannot be created.
    pub fn new(config: RecorderConfig<'_>, beside: B) -> Result<Self, CaptureError> {
        let RecorderConfig { network, metrics, budget, series, captures } = config;
        Ok(Recorders {
            beside,
            metrics: Metrics::new(metrics),
            budget: budget.map(|budget| Budget::new(budget, network)),
            series: series.map(Series::new),
            captures: captures.map(|(folder, config)| Captures::create(folder, &config)).transpose()?,
        })
    }

    /// Takes the rows that no longer change at `now`: all rows of connections, and the rows of each
    /// series that has at least [`CHUNK_ROWS`].
    pub fn take(&mut self, now: Time) -> Vec<TableChunk> {
        let mut chunks = Vec::new();
        let mut rows = self.metrics.take_finished();
        if let Some(budget) = &mut self.budget {
            budget.report_finished(&mut rows);
        }
        if !rows.is_empty() {
            chunks.push(TableChunk::Connections(rows));
        }
        if let Some(series) = &mut self.series {
            chunks.extend(series.take(now, CHUNK_ROWS).into_iter().map(TableChunk::Series));
        }
        if let Some(budget) = &mut self.budget {
            chunks.extend(budget.take(now, CHUNK_INTERVALS).into_iter().map(TableChunk::Series));
        }
        chunks
    }

    /// The remaining results of a run that ended at `end`. If the run ended before the window, the
    /// window ends with it.
    pub fn finish(self, end: Time) -> Records<B> {
        let mut metrics = self.metrics.finish_early(end);
        let budget_tables = self.budget.map(|budget| budget.finish(end, &mut metrics)).unwrap_or_default();
        let mut series = self.series.map(|series| series.finish(end));
        if let Some(series) = &mut series {
            series.tables.extend(budget_tables);
        }
        let captures = self.captures.map_or_else(|| Ok(Vec::new()), Captures::finish);
        Records { metrics, series, captures, beside: self.beside }
    }
}

impl Recorders {
    /// The smallest sink that records everything.
    pub fn needs(&self) -> Needs {
        if self.budget.is_some() || self.captures.is_some() {
            return Needs::Everything;
        }
        match &self.series {
            None => Needs::Metrics,
            Some(series) if series.wants_details() => Needs::Everything,
            Some(_) => Needs::Series,
        }
    }
}

impl<B: TraceSink<TraceEvent>> TraceSink<TraceEvent> for Recorders<B> {
    const WANTS_DETAIL: bool = true;

    #[inline(always)]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        if B::ENABLED {
            self.beside.record(at, event);
        }
        self.metrics.record(at, event);
        self.budget.record(at, event);
        self.series.record(at, event);
        self.captures.record(at, event);
    }

    #[inline]
    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        if B::WANTS_DETAIL {
            self.beside.show(at, detail);
        }
        self.budget.show(at, detail);
        self.series.show(at, detail);
        self.captures.show(at, detail);
    }
}

impl<const SERIES: bool> TraceSink<TraceEvent> for PlainRecorders<SERIES> {
    /// Series need no copies.
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        self.0.metrics.wants_copies()
    }

    /// Inlined where the event is created: an event that no recorder counts then costs nothing.
    #[inline(always)]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.0.metrics.record(at, event);
        if SERIES {
            self.0.series.record(at, event);
        }
    }
}
