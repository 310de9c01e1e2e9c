//! What watches an emulation beside the recorders of every run.

use umts_kernel::TraceSink;
use umts_record::metrics::RunMetrics;
use umts_record::series::Table;
use umts_stack::detail::Detail;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::packets::packet_store::PacketStore;
use crate::results::digest::Digest;
use crate::results::first_connection::FirstConnection;
use crate::results::meter::{Meter, Reading};
use crate::results::programs_budget::ProgramsBudget;
use crate::results::programs_datagrams::ProgramsDatagrams;
use crate::results::round_trips::RoundTrips;

/// In the order in which they hear: the cargo first, which lets go of what is lost.
#[derive(Debug)]
pub struct EmulationRecorder {
    /// The octets of the programs' packets.
    pub packet_store: PacketStore,
    /// For the meter.
    pub meter: Meter,
    /// Of the programs' packets.
    pub round_trips: RoundTrips,
    /// The programs' datagrams.
    pub datagrams: ProgramsDatagrams,
    /// What the command waits for before it.
    pub first_connection: FirstConnection,
    /// The fingerprint, if it is wanted.
    pub digest: Option<Digest>,
    /// The time budget of the programs' connections, if it is wanted.
    pub programs: Option<ProgramsBudget>,
}

impl EmulationRecorder {
    /// The state at `now`, which begins the next interval of the meter.
    pub fn read(&mut self, now: Time) -> Reading {
        self.meter.read(now, self.round_trips.take_mean())
    }

    /// The run ended at `end`. The programs' metrics take the place of those of simulated users, or go behind those that
    /// are there; returned are the tables, and the fingerprint.
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
        self.programs.record(at, event);
    }

    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        self.programs.show(at, detail);
    }
}
