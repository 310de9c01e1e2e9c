//! Recorders of an emulation in addition to the recorders of every run.

use umts_kernel::TraceSink;
use umts_record::metrics::RunMetrics;
use umts_record::series::Table;
use umts_stack::detail::Detail;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::packets::packet_store::PacketStore;
use crate::results::digest::Digest;
use crate::results::first_connection::FirstConnection;
use crate::results::live_state::SharedLiveState;
use crate::results::meter::{Meter, Reading};
use crate::results::programs_budget::ProgramsBudget;
use crate::results::programs_datagrams::ProgramsDatagrams;
use crate::results::round_trips::RoundTrips;

/// Fields are in the order in which they receive events. The packet store is first and removes
/// packets that are lost.
#[derive(Debug)]
pub struct EmulationRecorder {
    /// Bytes of the programs' packets.
    pub packet_store: PacketStore,
    /// State for the live meter.
    pub meter: Meter,
    /// Round-trip times of the programs' packets.
    pub round_trips: RoundTrips,
    /// Metrics of the programs' datagrams.
    pub datagrams: ProgramsDatagrams,
    /// Time before the command's first connection.
    pub first_connection: FirstConnection,
    /// Fingerprint, if it is computed.
    pub digest: Option<Digest>,
    /// State for viewers, if there may be some.
    pub live: Option<SharedLiveState>,
    /// Time budget of the programs' connections, if it is computed.
    pub programs: Option<ProgramsBudget>,
}

impl EmulationRecorder {
    /// Reads the state at `now` and starts the next interval of the meter.
    pub fn read(&mut self, now: Time) -> Reading {
        self.meter.read(now, self.round_trips.take_mean())
    }

    /// Finishes the recording of a run that ended at `end`. The programs' metrics replace metrics
    /// of simulated users with the same names, and are appended otherwise. Returns the tables and
    /// the fingerprint.
    pub fn finish(mut self, end: Time, metrics: &mut RunMetrics) -> (Vec<Table>, Option<String>) {
        metrics.network.replace(self.datagrams.finish(end));
        let mut tables = self.programs.map(|programs| programs.finish(end, metrics)).unwrap_or_default();
        tables.extend(self.round_trips.into_table());
        (tables, self.digest.as_mut().map(Digest::finish))
    }
}

impl TraceSink<TraceEvent> for EmulationRecorder {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.packet_store.record(at, event);
        self.meter.record(at, event);
        self.round_trips.record(at, event);
        self.datagrams.record(at, event);
        self.first_connection.record(at, event);
        self.digest.record(at, event);
        self.live.record(at, event);
        self.programs.record(at, event);
    }

    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        self.programs.show(at, detail);
    }
}
