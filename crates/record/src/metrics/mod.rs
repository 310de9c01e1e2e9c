//! Metrics: one name, one definition ([`definitions()`]), computed from trace events and nothing else.
//!
//! What happened before the window still matters in it: a connection that has data outstanding when the window opens
//! is active from that instant on, and its last round-trip time counts from there. Counters count what falls inside.
//! A connection that never touches the window has no row.
//!
//! Memory does not grow with time: sums are sums, round-trip times go into a histogram, and the row of a closed
//! connection leaves through [`Metrics::take_finished`].

mod application;
mod arrivals;
mod cells;
mod channels;
mod connection;
mod definitions;
mod idle_gaps;
mod radio;
mod results;
mod rrc;
mod rtt;
mod shares;
mod tcp;
mod tdd;
mod totals;
mod transfers;
mod window;

use umts_kernel::TraceSink;
use umts_stack::trace::TraceEvent;
use umts_units::{BitRate, Time};

pub use cells::CellSupply;
pub use definitions::{Definition, Scope, definitions};
pub use results::{ConnectionRow, MetricSet, RunMetrics};
pub use rrc::StatePower;

use application::ApplicationRecorder;
use cells::SectorRecorder;
use channels::ChannelRecorder;
use radio::RadioRecorder;
use rrc::RrcRecorder;
use tcp::TcpRecorder;
use tdd::TddRecorder;
use transfers::{TransferRecorder, TransferTotals};
pub(crate) use window::Window;

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsConfig {
    /// The window opens.
    pub from: Time,
    /// The window ends; an event at this very instant is no longer in it.
    pub to: Time,
    /// Payload rate of each UE's downlink bearer, by the UE's number, for its connections' utilisation; users of a
    /// shared channel each have the channel's.
    pub ue_downlink_rate: Vec<Option<BitRate>>,
    /// Payload rate of all downlink channels together, each counted once, for the network's utilisation.
    pub downlink_capacity: Option<BitRate>,
    /// What each UE's device draws, by the UE's number; none for UEs whose channels never change.
    pub ue_power: Vec<Option<StatePower>>,
    /// Whether each UE's data goes on during a switch between CELL_FACH and CELL_DCH, by the UE's number; not, where
    /// there is no entry.
    pub ue_data_continues: Vec<bool>,
    /// Whether there is a proxy, whose transfers have metrics of their own.
    pub has_proxy: bool,
    /// What each cell of a layout draws; none without one. Such cells have metrics of their own.
    pub layout: Option<CellSupply>,
}

/// Adds up events.
#[derive(Debug)]
pub struct Metrics {
    capacity: Option<BitRate>,
    tcp: TcpRecorder,
    radio: RadioRecorder,
    rrc: RrcRecorder,
    channels: Option<ChannelRecorder>,
    transfers: Option<TransferRecorder>,
    application: ApplicationRecorder,
    tdd: TddRecorder,
    sectors: Option<SectorRecorder>,
}

impl Metrics {
    /// Nothing has happened yet.
    ///
    /// # Panics
    /// If the window ends before it opens.
    pub fn new(config: MetricsConfig) -> Self {
        assert!(config.from <= config.to, "the window {} to {} runs backwards", config.from, config.to);
        let window = Window::new(config.from, config.to);
        Metrics {
            capacity: config.downlink_capacity,
            tcp: TcpRecorder::new(window, config.ue_downlink_rate),
            radio: RadioRecorder::new(window),
            channels: config.ue_power.iter().any(Option::is_some).then(|| {
                let are_switched = config.ue_power.iter().map(Option::is_some);
                ChannelRecorder::new(window, are_switched, &config.ue_data_continues)
            }),
            transfers: config.has_proxy.then(|| TransferRecorder::new(window)),
            rrc: RrcRecorder::new(window, config.ue_power),
            application: ApplicationRecorder::new(window),
            tdd: TddRecorder::new(window),
            sectors: config.layout.map(|supply| SectorRecorder::new(window, supply)),
        }
    }

    #[inline]
    fn use_of_channels(&mut self, at: Time, event: &TraceEvent) {
        if let Some(channels) = &mut self.channels {
            channels.record(at, event);
        }
    }

    #[inline]
    fn transfers(&mut self, at: Time, event: &TraceEvent) {
        if let Some(transfers) = &mut self.transfers {
            transfers.record(at, event);
        }
    }

    #[inline]
    fn sectors(&mut self, at: Time, event: &TraceEvent) {
        if let Some(sectors) = &mut self.sectors {
            sectors.record(at, event);
        }
    }

    /// The rows of connections that closed since this was last asked, to be written away while the run goes on.
    pub fn take_finished(&mut self) -> Vec<ConnectionRow> {
        std::mem::take(&mut self.tcp.finished)
    }

    /// As [`finish`](Self::finish), of a run whose end nobody knew: the window ends with it.
    pub fn finish_early(mut self, end: Time) -> RunMetrics {
        for window in
            [&mut self.tcp.window, &mut self.radio.window, &mut self.rrc.window, &mut self.application.window]
                .into_iter()
                .chain([&mut self.tdd.window])
        {
            window.end_by(end);
        }
        if let Some(transfers) = &mut self.transfers {
            transfers.window = self.tcp.window;
        }
        if let Some(sectors) = &mut self.sectors {
            sectors.window = self.tcp.window;
        }
        self.finish(end)
    }

    /// The results of a run that ended at `end`. Rates refer to the whole window, also if the run ended before it.
    pub fn finish(mut self, end: Time) -> RunMetrics {
        let (tcp, fairness) = self.tcp.finish(end, self.capacity);
        let (radio, mut network) = self.radio.finish(end);
        let (datagrams, applications) = self.application.finish();
        let mut cell = self.rrc.finish(end);
        cell.channels = self.channels.map(|channels| channels.finish(end)).unwrap_or_default();
        (cell.acknowledged, cell.connections_with_data) = (tcp.acknowledged, tcp.connections_with_data);
        network.fairness = fairness;
        network.applications = applications;
        let tdd = self.tdd.finish();
        let legs = self.tcp.legs;
        let transfers = self.transfers.map(|transfers| TransferTotals { legs, ..transfers.finish(end) });
        let network = (&network, &tdd);
        let sectors = self.sectors.map(SectorRecorder::finish);
        let optional = (sectors.as_ref(), transfers.as_ref());
        let network = definitions::network_metrics(&tcp, &radio, &datagrams, &cell, network, optional);
        RunMetrics { network, connections: self.tcp.finished }
    }
}

impl TraceSink<TraceEvent> for Metrics {
    /// Packets that pass matter where there are TDD cells.
    #[inline]
    fn wants_copies(&self) -> bool {
        self.tdd.is_concerned()
    }

    /// Inlined where the event is made, which leaves one of the arms.
    #[inline]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { .. }
            | TraceEvent::ConnectionClosed { .. }
            | TraceEvent::ConnectionFailed { .. } => {
                self.use_of_channels(at, event);
                self.transfers(at, event);
                self.tcp.record(at, event);
            }
            TraceEvent::SegmentReceived { segment, delivered, .. } => {
                // By what it asks for, not by the event, which then need not be made.
                if let Some(transfers) = &mut self.transfers {
                    transfers.delivered(at, segment.connection, segment.leg, segment.direction, *delivered);
                }
                self.tcp.record(at, event);
            }
            TraceEvent::ProxyBuffer { .. }
            | TraceEvent::ProxyLost { .. }
            | TraceEvent::ProxyHelped { .. } => self.transfers(at, event),
            TraceEvent::AppWrote { .. }
            | TraceEvent::SegmentSent { .. }
            | TraceEvent::Acked { .. }
            | TraceEvent::DupAck { .. }
            | TraceEvent::RttSample { .. }
            | TraceEvent::PacketCallStarted { .. }
            | TraceEvent::PacketCallEnded { .. }
            | TraceEvent::RtoExpired { .. }
            | TraceEvent::EcnReduction { .. }
            | TraceEvent::RackLoss { .. }
            | TraceEvent::TailLossProbe { .. }
            | TraceEvent::TailLossRepaired { .. }
            | TraceEvent::SpuriousRetransmission { .. } => self.tcp.record(at, event),
            TraceEvent::DatagramSent { .. }
            | TraceEvent::DatagramReceived { .. }
            | TraceEvent::PageEnded { .. }
            | TraceEvent::SessionEnded { .. } => self.application.record(at, event),
            TraceEvent::RrcState { .. }
            | TraceEvent::RrcSwitch { .. }
            | TraceEvent::DchRequested { .. }
            | TraceEvent::DchGranted { .. }
            | TraceEvent::DchRefused { .. }
            | TraceEvent::DchQueued { .. }
            | TraceEvent::DchWithdrawn { .. }
            | TraceEvent::CellReserved { .. } => {
                self.use_of_channels(at, event);
                self.rrc.record(at, event);
            }
            TraceEvent::SduDelivered { .. } => {
                self.use_of_channels(at, event);
                self.radio.record(at, event);
                self.tdd.record(at, event);
                self.sectors(at, event);
            }
            TraceEvent::SduQueued { .. } => {
                self.radio.record(at, event);
                self.sectors(at, event);
            }
            TraceEvent::Handover { .. }
            | TraceEvent::HandoverLost { .. }
            | TraceEvent::DschGranted { .. }
            | TraceEvent::DschHeld { .. }
            | TraceEvent::DschPostponed { .. }
            | TraceEvent::Call { .. }
            | TraceEvent::CellDchs { .. }
            | TraceEvent::CellPower { .. } => self.sectors(at, event),
            TraceEvent::PacketCaptured { .. }
            | TraceEvent::CapacityNeeded { .. }
            | TraceEvent::CapacityRequested { .. }
            | TraceEvent::CapacityRefused { .. }
            | TraceEvent::CapacityWithdrawn { .. }
            | TraceEvent::CapacityGranted { .. }
            | TraceEvent::CapacityReleased { .. }
            | TraceEvent::FrameUsed { .. }
            | TraceEvent::AckCollision { .. } => self.tdd.record(at, event),
            _ => self.radio.record(at, event),
        }
    }
}

#[cfg(test)]
mod tests;
