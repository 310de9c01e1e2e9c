//! What watches a run, put together once: metrics always, budget, series and captures if they are wanted.

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

/// So many rows of a series are handed out together, and what one more second of the model's time adds to them. As many are
/// encoded at once.
pub const CHUNK_ROWS: usize = 16 * 1024;

/// Intervals of the budget are handed out sooner: a connection that stays open hands its own in whenever they are, and until then
/// keeps them.
const CHUNK_INTERVALS: usize = 1_024;

/// What is to be recorded of a run.
#[derive(Debug)]
pub struct RecorderConfig<'a> {
    /// The network that is watched.
    pub network: &'a NetworkConfig,
    /// Metrics: always.
    pub metrics: MetricsConfig,
    /// The time budget. Its metrics stand behind the others, its tables behind the series, if there are any.
    pub budget: Option<BudgetConfig>,
    /// Time series.
    pub series: Option<SeriesConfig>,
    /// Captures: the folder that they go to, which exists, and what they hold.
    pub captures: Option<(&'a Path, CaptureConfig)>,
}

/// The recorders of a run: a sink from its beginning to its end. While it goes on, [`take`](Self::take) takes the rows
/// that change no more; [`finish`](Self::finish) gives the rest.
///
/// None of them knows of another, and which are there changes nothing in what one of them tells. A sink that is not of
/// every run, such as a meter, goes beside them.
#[derive(Debug)]
pub struct Recorders<B = NoTrace> {
    /// The sink beside them, which hears first.
    pub beside: B,
    metrics: Metrics,
    budget: Option<Budget>,
    series: Option<Series>,
    captures: Option<Captures>,
}

/// Recorders of which only the metrics are there, [the common case](Recorders::are_metrics_alone), as a sink of its own:
/// a loop that is compiled for it makes no details and asks nobody else.
#[derive(Debug)]
pub struct MetricsAlone(pub Recorders);

/// Recorders of which [only metrics and series](Recorders::are_metrics_and_series) are there, none of which wants details,
/// as a sink of its own: a loop that is compiled for it asks the series only about events that they record.
#[derive(Debug)]
pub struct MetricsAndSeries(pub Recorders);

/// Recorders of one run that measure it differently, each as if it were the only one.
#[derive(Debug)]
pub struct MultiRecorder(pub Vec<Recorders>);

/// Rows of a run that goes on. They do not change any more, and follow those of earlier pieces in their tables.
#[derive(Debug)]
pub enum TableChunk {
    /// Connections that closed.
    Connections(Vec<ConnectionRow>),
    /// Of one time series.
    Series(Table),
}

/// What recorders leave.
#[derive(Debug)]
pub struct Records<B = NoTrace> {
    /// Metrics, and the rows of the connections that were not taken before.
    pub metrics: RunMetrics,
    /// Time series, and the tables of the budget behind them, if series were wanted.
    pub series: Option<SeriesTables>,
    /// The captures that were written; or why they could not be, and then none is left. The rest is whole all the same.
    pub captures: Result<Vec<PathBuf>, CaptureError>,
    /// The sink that was beside them.
    pub beside: B,
}

impl<B> Recorders<B> {
    /// Nothing has happened yet; `beside` hears first whatever will.
    ///
    /// # Errors
    /// If a capture cannot be made.
    pub fn new(wanted: RecorderConfig<'_>, beside: B) -> Result<Self, CaptureError> {
        let RecorderConfig { network, metrics, budget, series, captures } = wanted;
        Ok(Recorders {
            beside,
            metrics: Metrics::new(metrics),
            budget: budget.map(|config| Budget::new(config, network)),
            series: series.map(Series::new),
            captures: captures.map(|(folder, config)| Captures::create(folder, &config)).transpose()?,
        })
    }

    /// Takes the rows that can change no more at `now`: of connections all, of a series if there are [`CHUNK_ROWS`] of it.
    pub fn take(&mut self, now: Time) -> Vec<TableChunk> {
        let mut chunks = Vec::new();
        let mut rows = self.metrics.take_finished();
        if let Some(budget) = &mut self.budget {
            budget.tell(&mut rows);
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

    /// What is left of a run that ended at `end`. If that was before the end of the window, the window ends with it.
    pub fn finish(self, end: Time) -> Records<B> {
        let mut metrics = self.metrics.finish_early(end);
        let of_budget = self.budget.map(|budget| budget.finish(end, &mut metrics)).unwrap_or_default();
        let mut series = self.series.map(|series| series.finish(end));
        if let Some(series) = &mut series {
            series.tables.extend(of_budget);
        }
        let captures = self.captures.map_or_else(|| Ok(Vec::new()), Captures::finish);
        Records { metrics, series, captures, beside: self.beside }
    }
}

impl Recorders {
    /// Whether nothing else is wanted: then [`MetricsAlone`] is the faster sink.
    pub fn are_metrics_alone(&self) -> bool {
        self.budget.is_none() && self.series.is_none() && self.captures.is_none()
    }

    /// Whether [`MetricsAndSeries`] is the faster sink: series are wanted, nothing else, and nobody wants details.
    pub fn are_metrics_and_series(&self) -> bool {
        let are_plain = self.series.as_ref().is_some_and(|series| !series.wants_details());
        are_plain && self.budget.is_none() && self.captures.is_none()
    }
}

impl<B: TraceSink<TraceEvent>> TraceSink<TraceEvent> for Recorders<B> {
    const WANTS_DETAIL: bool = true;

    #[inline]
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

impl TraceSink<TraceEvent> for MetricsAlone {
    #[inline]
    fn wants_copies(&self) -> bool {
        self.0.metrics.wants_copies()
    }

    /// Inlined where the event is made, as that of the metrics.
    #[inline]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.0.metrics.record(at, event);
    }
}

impl TraceSink<TraceEvent> for MetricsAndSeries {
    /// Series look at none.
    #[inline]
    fn wants_copies(&self) -> bool {
        self.0.metrics.wants_copies()
    }

    /// Inlined where the event is made: of one that makes no row nothing is left.
    #[inline]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.0.metrics.record(at, event);
        self.0.series.record(at, event);
    }
}

impl TraceSink<TraceEvent> for MultiRecorder {
    const WANTS_DETAIL: bool = true;

    #[inline]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        for recorders in &mut self.0 {
            recorders.record(at, event);
        }
    }

    #[inline]
    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        for recorders in &mut self.0 {
            recorders.show(at, detail);
        }
    }
}
