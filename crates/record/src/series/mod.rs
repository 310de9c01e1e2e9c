//! Records the time series of a run from its trace events, as tables for files and figures. Most
//! tables have a row per change of a value, not per packet.
//!
//! | table | key | value |
//! |---|---|---|
//! | `cwnd`, `ssthresh` | connection | in segments, as in the congestion control |
//! | `outstanding` | connection | (highest payload byte sent - cumulative acknowledgment) / MSS |
//! | `srtt`, `rto` | connection | smoothed round-trip time and timeout |
//! | `rtt` | connection | each sample |
//! | `rrc_state` | UE | RRC state, and the target state during a switch |
//! | `cell` | cell | reserved rates, number of DCHs, and whether another one fits |
//! | `dch_requests` | UE | each answer to a request for a DCH: granted, granted after a release, queued, refused |
//! | `rlc_buffer` | UE and direction | SDU octets in the sender's buffer |
//! | `rlc_delivered` | SDU | octets, time of delivery at the other end, and delay |
//! | `window` | connection | octets that the receiver advertises |
//! | `pages` | flow | each web page: time of completion and duration |
//! | `goodput` | connection | acknowledged payload per window of a constant grid |
//! | `sent`, `acked`, `sacked` | connection | sequence numbers for the time-sequence diagram: a row per segment or block |
//! | `dropped` | connection | each packet of a connection that was dropped above RLC, and the place |
//! | `calls` | cell | each step of a call: begun, blocked, handed over, refused, dropped, legs added and removed; with a layout |
//! | `handovers` | UE | each handover: from, to, interruption; with a layout |
//! | `cells` | cell | load, power, calls and grants of each second; with a layout |
//! | `dsch` | cell and UE | every request for a TTI of a DSCH: format, code and power, or the reason of its refusal; only on request |
//! | `slots` | UE and direction | every block of a TDD cell: frame, slot, codes, SIR and fate; only on request |
//! | `rlc_pdus` | UE and direction | every PDU that leaves RLC, its polling bit or report, and its fate; only on request |
//!
//! Tables of connections cover the sender of the connection's data, from its opening to its
//! closing. Rows are ordered by time; rows of `goodput` are ordered by time and connection. Goodput
//! windows begin at multiples of their length. A connection has a row for every window from its
//! opening to its closing, with zero if nothing was acknowledged; `time_s` is the start of the
//! window. The rate of a window that the end of the run cuts short refers to the part before the
//! end.
//!
//! Memory is proportional to the open connections and the rows that were not taken
//! ([`Series::take`]). It does not grow with time.

mod calls;
mod cells;
mod dsch;
mod goodput;
mod handovers;
mod pdus;
mod rlc_buffer;
mod rows;
mod rrc;
mod slots;
mod steps;
mod table;

use umts_kernel::TraceSink;
use umts_stack::detail::Detail;
use umts_stack::ids::{ConnectionId, End};
use umts_stack::packet::{Content, Packet, Segment};
use umts_stack::trace::{DropPlace, Real, SendCause, TraceEvent};
use umts_units::{Duration, Time};

use crate::open::Open;
use goodput::Goodput;
use rlc_buffer::BufferTable;
use rows::{Acked, Delivered, Dropped, Page, Sacked, Sample, Sent};
use steps::{CurrentValue, Steps};
pub(crate) use table::Recorded;
use table::Rows;
pub use table::{Column, SeriesTables, Table, Values};

/// Number of the first payload byte. Number 0 is the SYN.
const FIRST_BYTE: u64 = 1;

/// Configuration of [`Series`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesConfig {
    /// Length of the goodput windows. Must not be zero.
    pub goodput_window: Duration,
    /// Whether to record `sent`, `acked`, `sacked`, `window` and `dropped`, which have up to a row
    /// per segment.
    pub time_sequence: bool,
    /// Whether to record `rlc_pdus`, which has a row per PDU.
    pub rlc_pdus: bool,
    /// Whether to record `slots`, which has a row per block of a TDD cell.
    pub slots: bool,
    /// Whether to record `handovers`. Only with a layout.
    pub handovers: bool,
    /// Whether to record `calls`. Only with a layout.
    pub calls: bool,
    /// Whether to record `cells`. Only with a layout.
    pub cells: bool,
    /// Whether to record `dsch`, which has a row per request for a TTI of a DSCH.
    pub dsch: bool,
}

impl Default for SeriesConfig {
    fn default() -> Self {
        SeriesConfig {
            goodput_window: Duration::from_secs(1),
            time_sequence: true,
            rlc_pdus: false,
            slots: false,
            handovers: false,
            calls: false,
            cells: false,
            dsch: false,
        }
    }
}

/// Records time series.
#[derive(Debug)]
pub struct Series {
    config: SeriesConfig,
    connections: Open<Connection>,

    // Connections.
    cwnd: Steps,
    ssthresh: Steps,
    outstanding: Steps,
    srtt: Steps,
    rto: Steps,
    rtt: Rows<Sample>,
    goodput: Goodput,
    pages: Rows<Page>,

    // Time-sequence diagrams.
    window: Steps,
    sent: Rows<Sent>,
    acked: Rows<Acked>,
    sacked: Rows<Sacked>,
    dropped: Rows<Dropped>,

    // UEs and cells.
    rlc_buffer: BufferTable,
    rlc_delivered: Rows<Delivered>,
    states: Rows<rrc::State>,
    reserved: Rows<rrc::Reserved>,
    requests: rrc::Requests,

    // On request. `None`: not requested.
    pdus: Option<pdus::PduTable>,
    slots: Option<slots::SlotTable>,
    handovers: Option<Rows<handovers::Handover>>,
    calls: Option<Rows<calls::CallRow>>,
    cells: Option<cells::CellTable>,
    dsch: Option<dsch::DschTable>,
}

/// An open connection, with the last value of each of its step functions.
#[derive(Debug)]
struct Connection {
    /// The end that sends the flow's data.
    sender: End,
    /// Maximum segment size in octets.
    mss: f64,
    /// Sequence number after the highest payload octet sent.
    highest_sent: u64,
    /// The oldest sequence number that is not acknowledged (SND.UNA, RFC 9293 §3.3.1).
    una: u64,
    cwnd: CurrentValue,
    ssthresh: CurrentValue,
    outstanding: CurrentValue,
    srtt: CurrentValue,
    rto: CurrentValue,
    window: CurrentValue,
}

impl Series {
    /// Series before the first event.
    ///
    /// # Panics
    /// If the goodput windows have no length.
    pub fn new(config: SeriesConfig) -> Self {
        let steps = |name, value, unit| Steps::new([name, "connection", value, unit]);
        Series {
            config,
            connections: Open::default(),
            cwnd: steps("cwnd", "cwnd_segments", "segments"),
            ssthresh: steps("ssthresh", "ssthresh_segments", "segments"),
            outstanding: steps("outstanding", "outstanding_segments", "segments"),
            srtt: steps("srtt", "srtt_s", "s"),
            rto: steps("rto", "rto_s", "s"),
            window: steps("window", "window_octets", "B"),
            rlc_buffer: BufferTable::default(),
            rlc_delivered: Rows::default(),
            goodput: Goodput::new(config.goodput_window),
            states: Rows::default(),
            reserved: Rows::default(),
            requests: rrc::Requests::default(),
            rtt: Rows::default(),
            sent: Rows::default(),
            acked: Rows::default(),
            sacked: Rows::default(),
            dropped: Rows::default(),
            pages: Rows::default(),
            pdus: config.rlc_pdus.then(pdus::PduTable::default),
            slots: config.slots.then(slots::SlotTable::default),
            handovers: config.handovers.then(Rows::default),
            calls: config.calls.then(Rows::default),
            cells: config.cells.then(cells::CellTable::default),
            dsch: config.dsch.then(dsch::DschTable::default),
        }
    }

    /// Whether any series needs details in addition to events.
    pub(crate) fn wants_details(&self) -> bool {
        self.pdus.is_some() || self.slots.is_some()
    }

    /// Takes the rows that no longer change at `now` from the tables with at least `rows` rows, so
    /// that they can be written during the run.
    pub fn take(&mut self, now: Time, rows: usize) -> Vec<Table> {
        self.goodput.write_ended_windows(now);
        self.tables().filter(|table| table.rows() >= rows).map(|table| table.take(now)).collect()
    }

    /// The series of a run that ended at `end`, without the rows that were taken.
    pub fn finish(mut self, end: Time) -> SeriesTables {
        self.goodput.end(end);
        SeriesTables { tables: self.tables().map(|table| table.take(Time::NEVER)).collect() }
    }

    /// All recorded tables: first the tables of every run, then the tables that the configuration
    /// requests.
    fn tables(&mut self) -> impl Iterator<Item = &mut dyn Recorded> {
        let always: [&mut dyn Recorded; 18] = [
            &mut self.cwnd,
            &mut self.ssthresh,
            &mut self.outstanding,
            &mut self.srtt,
            &mut self.rto,
            &mut self.window,
            &mut self.rtt,
            &mut self.rlc_buffer,
            &mut self.rlc_delivered,
            &mut self.states,
            &mut self.reserved,
            &mut self.requests,
            &mut self.goodput,
            &mut self.sent,
            &mut self.acked,
            &mut self.sacked,
            &mut self.dropped,
            &mut self.pages,
        ];
        let requested = [
            recorded(&mut self.pdus),
            recorded(&mut self.slots),
            recorded(&mut self.handovers),
            recorded(&mut self.calls),
            recorded(&mut self.cells),
            recorded(&mut self.dsch),
        ];
        always.into_iter().chain(requested.into_iter().flatten())
    }
}

/// The table, if it is requested.
fn recorded<T: Recorded>(table: &mut Option<T>) -> Option<&mut dyn Recorded> {
    table.as_mut().map(|table| table as &mut dyn Recorded)
}

impl TraceSink<TraceEvent> for Series {
    const WANTS_DETAIL: bool = true;

    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        if let Some(pdus) = &mut self.pdus {
            pdus.show(at, detail);
        }
        if let Some(slots) = &mut self.slots {
            slots.show(at, detail);
        }
    }

    /// Inlined where the event is created, so that the compiler keeps only the arm of that event.
    /// Each arm is a call of a function that is not inlined.
    #[inline]
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { .. }
            | TraceEvent::ConnectionClosed { .. }
            | TraceEvent::ConnectionFailed { .. }
            | TraceEvent::SegmentSent { .. }
            | TraceEvent::SegmentReceived { .. }
            | TraceEvent::PacketDropped { .. }
            | TraceEvent::Acked { .. }
            | TraceEvent::Window { .. }
            | TraceEvent::RtoUpdated { .. }
            | TraceEvent::RttSample { .. } => self.record_connections(at, event),
            TraceEvent::RlcBuffer { ue, direction, octets } => {
                self.rlc_buffer.set(at, *ue, *direction, *octets);
            }
            TraceEvent::SduDelivered { ue, direction, size, entered, .. } => {
                self.rlc_delivered.push(Delivered::new(at, ue.0, *direction, size.0, *entered));
            }
            TraceEvent::PageEnded { .. }
            | TraceEvent::RrcState { .. }
            | TraceEvent::RrcSwitch { .. }
            | TraceEvent::CellReserved { .. }
            | TraceEvent::DchRequested { .. }
            | TraceEvent::DchGranted { .. }
            | TraceEvent::DchRefused { .. }
            | TraceEvent::DchQueued { .. }
            | TraceEvent::Call { .. }
            | TraceEvent::Handover { .. } => self.record_users(at, event),
            TraceEvent::CellPower { .. }
            | TraceEvent::DschGranted { .. }
            | TraceEvent::DschPostponed { .. } => self.record_cells(at, event),
            _ => {}
        }
    }
}

/// The steps of `record`: first dispatch by area, then the events of connections.
impl Series {
    /// Records events of connections. Windows, timers and round trips count for the sender of the
    /// data only.
    fn record_connections(&mut self, at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::ConnectionOpened { connection, sender, mss, .. } => {
                self.opened(at, connection, sender, mss);
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.closed(at, connection);
            }
            TraceEvent::SegmentSent { ref segment, cause, .. } => self.sent(at, segment, cause),
            TraceEvent::SegmentReceived { ref segment, .. } => self.received(at, segment),
            TraceEvent::PacketDropped { place, ref packet } => self.dropped(at, packet, place),
            TraceEvent::Acked { connection, end, una, payload } => {
                self.acked(at, connection, end, una, payload);
            }
            TraceEvent::Window { connection: id, end, cwnd: Real(cwnd), ssthresh: Real(ssthresh) } => {
                if let Some(connection) = connection_sending_from(&mut self.connections, id, end) {
                    self.cwnd.set(at, id.0, cwnd, &mut connection.cwnd);
                    self.ssthresh.set(at, id.0, ssthresh, &mut connection.ssthresh);
                }
            }
            TraceEvent::RtoUpdated { connection: id, end, srtt, rto } => {
                if let Some(connection) = connection_sending_from(&mut self.connections, id, end) {
                    self.srtt.set(at, id.0, srtt.as_secs(), &mut connection.srtt);
                    self.rto.set(at, id.0, rto.as_secs(), &mut connection.rto);
                }
            }
            TraceEvent::RttSample { connection, end, rtt }
                if connection_sending_from(&mut self.connections, connection, end).is_some() =>
            {
                self.rtt.push(Sample::new(at, connection, rtt));
            }
            _ => {}
        }
    }

    /// Records events of users and cells: pages, RRC states, DCH requests, calls and handovers.
    fn record_users(&mut self, at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::PageEnded { flow, since } => self.pages.push(Page::new(at, flow, since)),
            TraceEvent::RrcState { ue, state } => self.states.push(rrc::State::new(at, ue, state, None)),
            TraceEvent::RrcSwitch { ue, from, to, .. } => {
                self.states.push(rrc::State::new(at, ue, from, Some(to)))
            }
            TraceEvent::CellReserved { cell, rates, dchs, is_full } => {
                self.reserved.push(rrc::Reserved::new(at, cell, rates, dchs, is_full));
            }
            TraceEvent::DchRequested { ue, again } => self.requests.begin(ue, again),
            TraceEvent::DchGranted { ue, after_release: false } => self.requests.push(at, ue, "granted"),
            TraceEvent::DchGranted { ue, after_release: true } => {
                self.requests.push(at, ue, "granted after a release");
            }
            TraceEvent::DchRefused { ue } => self.requests.push(at, ue, "refused"),
            TraceEvent::DchQueued { ue } => self.requests.push(at, ue, "queued"),
            TraceEvent::Call { cell, step } => {
                if let Some(calls) = &mut self.calls {
                    calls.push(calls::CallRow::new(at, cell, step));
                }
            }
            TraceEvent::Handover { ue, from, to, interruption } => {
                if let Some(handovers) = &mut self.handovers {
                    handovers.push(handovers::Handover::new(at, ue, [from, to], interruption));
                }
            }
            _ => {}
        }
    }

    /// Records events of the cells of a layout.
    fn record_cells(&mut self, at: Time, event: &TraceEvent) {
        if let Some(cells) = &mut self.cells {
            cells.record(at, event);
        }
        if let Some(dsch) = &mut self.dsch {
            dsch.record(at, event);
        }
    }

    fn opened(&mut self, at: Time, id: ConnectionId, sender: End, mss: u32) {
        self.goodput.opened(at, id);
        let connection = Connection {
            sender,
            mss: f64::from(mss.max(1)),
            highest_sent: FIRST_BYTE,
            una: FIRST_BYTE,
            cwnd: CurrentValue::default(),
            ssthresh: CurrentValue::default(),
            outstanding: CurrentValue::default(),
            srtt: CurrentValue::default(),
            rto: CurrentValue::default(),
            window: CurrentValue::default(),
        };
        self.connections.insert(id, connection);
    }

    fn closed(&mut self, at: Time, id: ConnectionId) {
        if self.connections.remove(id).is_some() {
            self.goodput.closed(at, id);
        }
    }

    /// A segment leaves its host. Only segments of the sender of the data are recorded.
    fn sent(&mut self, at: Time, segment: &Segment, cause: SendCause) {
        if segment.sequence_length() == 0 {
            return;
        }
        let (id, end) = (segment.connection, End::sending(segment.direction));
        let Some(connection) = connection_sending_from(&mut self.connections, id, end) else { return };
        if segment.payload > 0 {
            connection.highest_sent = connection.highest_sent.max(segment.seq + u64::from(segment.payload));
            self.outstanding.set(at, id.0, connection.outstanding(), &mut connection.outstanding);
        }
        if self.config.time_sequence {
            self.sent.push(Sent::new(at, segment, cause));
        }
    }

    /// An acknowledgment reaches the sender of the data: records the receiver's window and SACK
    /// blocks.
    fn received(&mut self, at: Time, segment: &Segment) {
        let (id, end) = (segment.connection, End::sending(segment.direction.reversed()));
        let Some(connection) = connection_sending_from(&mut self.connections, id, end) else { return };
        if self.config.time_sequence && segment.flags.ack {
            self.window.set(at, id.0, f64::from(segment.window), &mut connection.window);
            self.sacked.push_blocks(at, segment);
        }
    }

    /// `end` receives an acknowledgment that moves SND.UNA to `una` and covers `payload` new
    /// octets.
    fn acked(&mut self, at: Time, id: ConnectionId, end: End, una: u64, payload: u64) {
        let Some(connection) = connection_sending_from(&mut self.connections, id, end) else { return };
        connection.una = connection.una.max(una);
        self.outstanding.set(at, id.0, connection.outstanding(), &mut connection.outstanding);
        self.goodput.acknowledged(at, id, payload);
        if self.config.time_sequence {
            self.acked.push(Acked::new(at, id, una));
        }
    }

    /// A packet is dropped.
    fn dropped(&mut self, at: Time, packet: &Packet, place: DropPlace) {
        let Content::Segment(segment) = &packet.content else { return };
        let Some(connection) = self.connections.get(segment.connection) else { return };
        let is_data = connection.sender == End::sending(segment.direction);
        let is_recorded = if is_data { segment.sequence_length() > 0 } else { segment.flags.ack };
        if self.config.time_sequence && is_recorded {
            self.dropped.push(Dropped::new(at, segment, is_data, place));
        }
    }
}

/// The connection, if `end` is the sender of its data.
fn connection_sending_from(
    connections: &mut Open<Connection>,
    id: ConnectionId,
    end: End,
) -> Option<&mut Connection> {
    connections.get(id).filter(|connection| connection.sender == end)
}

impl Connection {
    /// Payload that is sent but not acknowledged, in segments.
    fn outstanding(&self) -> f64 {
        self.highest_sent.saturating_sub(self.una) as f64 / self.mss
    }
}

#[cfg(test)]
mod tests;
