//! Metrics: each has one name and one definition ([`definitions()`]), and is computed from trace
//! events alone.
//!
//! Counters count events inside the window. State that began before the window holds inside it: a
//! connection with outstanding data at the start of the window is active from the start, with the
//! round-trip time that it measured last. A connection that does not overlap the window has no row.
//!
//! Memory does not grow with time: sums are kept as sums, round-trip times go into a histogram, and
//! the rows of closed connections are taken by [`Metrics::take_finished`].

mod application;
mod arrivals;
mod cells;
mod channels;
mod connection;
mod definitions;
mod e_dch;
mod idle_gaps;
mod radio;
mod results;
mod rrc;
mod rtt;
mod shares;
mod stalls;
mod tcp;
mod tdd;
mod totals;
mod transfers;
mod window;

use umts_kernel::TraceSink;
use umts_stack::ids::Direction;
use umts_stack::trace::{QueuePlace, TraceEvent};
use umts_units::{BitRate, Duration, Time};

pub use cells::CellSupply;
pub use definitions::{Definition, Scope, definitions};
pub use results::{ConnectionRow, MetricSet, RunMetrics};
pub use rrc::StatePower;

use application::ApplicationRecorder;
use cells::LayoutRecorder;
use channels::ChannelRecorder;
use definitions::AllTotals;
use radio::RadioRecorder;
use rrc::RrcRecorder;
use tcp::TcpRecorder;
use tdd::TddRecorder;
use totals::QueueTotals;
use transfers::{TransferRecorder, TransferTotals};
pub(crate) use window::Window;

/// Configuration of [`Metrics`].
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsConfig {
    /// Start of the window.
    pub from: Time,
    /// End of the window. An event at this instant is outside.
    pub to: Time,
    /// Minimum length of a stall.
    pub stall: Duration,
    /// Payload rate of each UE's downlink bearer, by UE number, for the utilisation of its
    /// connections. Each user of a shared channel has the rate of the channel.
    pub ue_downlink_rate: Vec<Option<BitRate>>,
    /// Payload rate of all downlink channels together, each counted once, for the utilisation of
    /// the network.
    pub downlink_capacity: Option<BitRate>,
    /// Power drawn by each UE's device, by UE number. `None` for UEs that are not switched.
    pub ue_power: Vec<Option<StatePower>>,
    /// Whether each UE's data continues during a switch between CELL_FACH and CELL_DCH, by UE
    /// number. Missing entries mean false.
    pub ue_data_continues: Vec<bool>,
    /// Whether there is a proxy. Its transfers have their own metrics.
    pub has_proxy: bool,
    /// Supply power of each cell of a layout. These cells have their own metrics. `None` without a
    /// layout.
    pub layout: Option<CellSupply>,
    /// Whether a queue of a link or of RLC has RED, CoDel or PIE. Their actions have their own
    /// metrics.
    pub has_queue_management: bool,
}

/// Computes metrics from events.
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
    layout: Option<LayoutRecorder>,
    queues: Option<QueueTotals>,
}

impl Metrics {
    /// Metrics before the first event.
    ///
    /// # Panics
    /// If the window ends before it starts.
    pub fn new(config: MetricsConfig) -> Self {
        assert!(config.from <= config.to, "the window {} to {} runs backwards", config.from, config.to);
        let window = Window::new(config.from, config.to);
        Metrics {
            capacity: config.downlink_capacity,
            tcp: TcpRecorder::new(window, config.stall, config.ue_downlink_rate),
            radio: RadioRecorder::new(window),
            channels: config.ue_power.iter().any(Option::is_some).then(|| {
                let are_switched = config.ue_power.iter().map(Option::is_some);
                ChannelRecorder::new(window, are_switched, &config.ue_data_continues)
            }),
            transfers: config.has_proxy.then(|| TransferRecorder::new(window)),
            rrc: RrcRecorder::new(window, config.ue_power),
            application: ApplicationRecorder::new(window),
            tdd: TddRecorder::new(window),
            layout: config.layout.map(|supply| LayoutRecorder::new(window, supply)),
            queues: config.has_queue_management.then(QueueTotals::default),
        }
    }

    #[inline]
    fn record_channels(&mut self, at: Time, event: &TraceEvent) {
        if let Some(channels) = &mut self.channels {
            channels.record(at, event);
        }
    }

    #[inline]
    fn record_transfers(&mut self, at: Time, event: &TraceEvent) {
        if let Some(transfers) = &mut self.transfers {
            transfers.record(at, event);
        }
    }

    #[inline]
    fn record_layout(&mut self, at: Time, event: &TraceEvent) {
        if let Some(layout) = &mut self.layout {
            layout.record(at, event);
        }
    }

    #[cold]
    fn record_queue(&mut self, at: Time, place: QueuePlace, direction: Direction, marked: bool) {
        if let Some(queues) = self.queues.as_mut().filter(|_| self.tcp.window.contains(at)) {
            queues.add(place, direction, marked);
        }
    }

    /// Takes the rows of connections that closed since the last call, so that they can be written
    /// during the run.
    pub fn take_finished(&mut self) -> Vec<ConnectionRow> {
        std::mem::take(&mut self.tcp.finished)
    }

    /// Like [`finish`](Self::finish), for a run that ended at an unknown time: the window ends with
    /// the run.
    ///
    /// `channels` keeps its window: it counts events and adds up times until `end`, and computes no
    /// rate from the length of the window.
    pub fn finish_early(mut self, end: Time) -> RunMetrics {
        for window in [
            &mut self.tcp.window,
            &mut self.radio.window,
            &mut self.rrc.window,
            &mut self.application.window,
            &mut self.tdd.window,
        ] {
            window.end_by(end);
        }
        if let Some(transfers) = &mut self.transfers {
            transfers.window = self.tcp.window;
        }
        if let Some(layout) = &mut self.layout {
            layout.window = self.tcp.window;
        }
        self.finish(end)
    }

    /// The results of a run that ended at `end`. Rates refer to the whole window, even if the run
    /// ended earlier.
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
        let layout = self.layout.map(LayoutRecorder::finish);
        let metrics = definitions::network_metrics(&AllTotals {
            tcp: &tcp,
            radio: &radio,
            datagrams: &datagrams,
            cell: &cell,
            network: &network,
            tdd: &tdd,
            layout: layout.as_ref(),
            transfers: transfers.as_ref(),
            queues: self.queues.as_ref(),
        });
        RunMetrics { network: metrics, connections: self.tcp.finished }
    }
}

impl TraceSink<TraceEvent> for Metrics {
    /// Captured packets are needed only with TDD cells.
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        self.tdd.has_tdd_cell()
    }

    /// Inlined where the event is created, so that the compiler keeps only the arm of that event.
    /// The match has no `_` arm: a new event does not compile until its metrics are decided.
    #[expect(clippy::too_many_lines, reason = "a new event must be named here")]
    #[inline(always)]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { .. }
            | TraceEvent::ConnectionClosed { .. }
            | TraceEvent::ConnectionFailed { .. } => {
                self.record_channels(at, event);
                self.record_transfers(at, event);
                self.tcp.record(at, event);
            }
            TraceEvent::SegmentReceived { segment, delivered, .. } => {
                // Takes single arguments instead of the event, which then need not be constructed.
                if let Some(transfers) = &mut self.transfers {
                    transfers.delivered(at, segment.connection, segment.leg, segment.direction, *delivered);
                }
                self.tcp.record(at, event);
            }
            TraceEvent::ProxyBuffer { .. }
            | TraceEvent::ProxyLost { .. }
            | TraceEvent::ProxyHelped { .. } => self.record_transfers(at, event),
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
                self.record_channels(at, event);
                self.rrc.record(at, event);
            }
            TraceEvent::SduDelivered { .. } => {
                self.record_channels(at, event);
                self.radio.record(at, event);
                self.tdd.record(at, event);
                self.record_layout(at, event);
            }
            TraceEvent::SduQueued { .. } => {
                self.radio.record(at, event);
                self.record_layout(at, event);
            }
            TraceEvent::QueueManaged { place, direction, marked } => {
                self.record_queue(at, *place, *direction, *marked);
            }
            TraceEvent::Handover { .. }
            | TraceEvent::HandoverLost { .. }
            | TraceEvent::DschGranted { .. }
            | TraceEvent::DschHeld { .. }
            | TraceEvent::DschPostponed { .. }
            | TraceEvent::DchSent { .. }
            | TraceEvent::FachSent { .. }
            | TraceEvent::SccpchSent { .. }
            | TraceEvent::HsDschSent { .. }
            | TraceEvent::HsSnr { .. }
            | TraceEvent::HsCellChanged { .. }
            | TraceEvent::EPowerSent { .. }
            | TraceEvent::EFromOthers { .. }
            | TraceEvent::Call { .. }
            | TraceEvent::CellDchs { .. }
            | TraceEvent::CellPower { .. } => self.record_layout(at, event),
            TraceEvent::PacketCaptured { .. }
            | TraceEvent::CapacityNeeded { .. }
            | TraceEvent::CapacityRequested { .. }
            | TraceEvent::CapacityRefused { .. }
            | TraceEvent::CapacityWithdrawn { .. }
            | TraceEvent::CapacityGranted { .. }
            | TraceEvent::CapacityReleased { .. }
            | TraceEvent::FrameUsed { .. }
            | TraceEvent::AckCollision { .. } => self.tdd.record(at, event),
            TraceEvent::InternetDelay { .. }
            | TraceEvent::PacketDropped { .. }
            | TraceEvent::SduDiscarded { .. }
            | TraceEvent::SduLost { .. }
            | TraceEvent::PdusSent { .. }
            | TraceEvent::StatusSent { .. }
            | TraceEvent::PollSufiSent { .. }
            | TraceEvent::PdusDropped { .. }
            | TraceEvent::RlcReset { .. }
            | TraceEvent::RlcUnrecoverable { .. }
            | TraceEvent::RlcReestablished { .. }
            | TraceEvent::RlcBuffer { .. }
            | TraceEvent::IubSent { .. }
            | TraceEvent::FachQueueDropped { .. }
            | TraceEvent::HsBlockSent { .. }
            | TraceEvent::HsPduDiscarded { .. }
            | TraceEvent::T1Expired { .. }
            | TraceEvent::HsPduFlushed { .. }
            | TraceEvent::HsBlockDropped { .. }
            | TraceEvent::HsTsnMisread { .. }
            | TraceEvent::HsFalseAck { .. }
            | TraceEvent::HsNeedlessRetransmission { .. }
            | TraceEvent::EBlockSent { .. }
            | TraceEvent::EFalseAck { .. }
            | TraceEvent::EGrantSent { .. }
            | TraceEvent::ENoiseRise { .. }
            | TraceEvent::EBlockDropped { .. }
            | TraceEvent::ET1Expired { .. }
            | TraceEvent::BlocksReceived { .. }
            | TraceEvent::RachCollision { .. } => self.radio.record(at, event),
            TraceEvent::CellUpdateStarted { .. } => {
                self.radio.record(at, event);
                self.record_layout(at, event);
            }
            // Series, time budgets or captures use these events, but no metric does.
            TraceEvent::Established { .. }
            | TraceEvent::RtoUpdated { .. }
            | TraceEvent::Window { .. }
            | TraceEvent::SdusLimited { .. }
            | TraceEvent::TimerPollExpired { .. }
            | TraceEvent::RlcInitialState { .. }
            | TraceEvent::LinkRateChanged { .. }
            | TraceEvent::LinkDelayChanged { .. }
            | TraceEvent::AckDeferred { .. }
            | TraceEvent::CellUpdateSent { .. }
            | TraceEvent::CellUpdateConfirmSent { .. }
            | TraceEvent::CellUpdateEnded { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
