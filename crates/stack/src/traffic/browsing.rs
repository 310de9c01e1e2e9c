//! A user that fetches web pages or files in packet calls, with a pause after each call. A call
//! fetches a page with its embedded objects, or one object (`object_per_call`).
//!
//! There are two ways to fetch:
//!
//! - **Pushed**: the sender of the data opens the connection and writes, like ns-2's applications.
//!   All objects of a call use one connection. When an object has been sent completely, the next
//!   one follows after the parsing time (Dubois 2005, §5.3.2).
//! - **Requested**: the receiver opens connections and sends a request for each object. Embedded
//!   objects are requested one parsing time after the page has arrived, over up to `connections`
//!   connections at once.
//!
//! A page ends when its last byte is delivered. A call ends, and the pause begins, when all of its
//! data are also acknowledged. If a connection fails, the user aborts the call, pauses, and fetches
//! a new page.

mod draws;

use std::collections::VecDeque;

use umts_kernel::random::Streams;
use umts_units::{Duration, Time};

use super::laws::{Count, Distribution};
use super::{Action, ConnectionIndex, Report};
use crate::ids::{End, FlowId};
use crate::tcp::TcpEvent;
pub use draws::Draws;

/// The behaviour of a user that fetches pages or files.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowsingConfig {
    /// Size of the page or file in bytes.
    pub main: Distribution,
    /// The objects embedded in a page. `None`: pages have none.
    pub embedded: Option<EmbeddedObjects>,
    /// Each object is a packet call of its own, followed by a pause.
    pub object_per_call: bool,
    /// Mean parsing time between a page and its embedded objects, exponentially distributed.
    pub parsing: Duration,
    /// Mean pause, exponentially distributed.
    pub pause: Duration,
    /// Whether the pause starts at a request or after a file.
    pub pace: Pace,
    /// The user starts with a pause. Otherwise with a packet call.
    pub begins_with_pause: bool,
    /// Payload of full segments, drawn for each call. `None`: the value of the flow's TCP.
    pub segments: Option<MixedSegments>,
    /// Rounds object sizes up to whole segments, of this payload unless `segments` sets one. A
    /// sender that counts packets, like ns-2's one-way TCP, rounds every write up.
    pub whole_segments: Option<u32>,
    /// Size of a request in bytes. `None`: data are pushed.
    pub request: Option<u64>,
    /// Maximum number of concurrent connections, if data are requested.
    pub connections: u32,
    /// A connection carries several objects in turn. Otherwise each object has its own connection.
    pub persistent: bool,
}

/// The objects embedded in a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmbeddedObjects {
    /// Number of objects per page.
    pub count: Count,
    /// Size of an object in bytes.
    pub size: Distribution,
}

/// Start of the pause between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Pace {
    /// From one request to the next. A user that is still busy then requests as soon as possible.
    RequestToRequest,
    /// From the end of a file to the next request.
    #[cfg_attr(feature = "schema", serde(rename = "after_file"))]
    AfterCall,
}

/// Two segment sizes. Each call draws one of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixedSegments {
    /// Share of calls with large segments.
    pub large_share: f64,
    /// Payload of a large segment.
    pub large: u32,
    /// Payload of a small segment.
    pub small: u32,
}

/// The state of a user. It queues the actions that its host must perform.
#[derive(Debug)]
pub struct Browsing {
    config: BrowsingConfig,
    /// The end that sends the data.
    sender: End,
    draws: Draws,
    /// Sizes of the page's objects that later calls will fetch.
    later_objects: VecDeque<u64>,
    call: Option<Call>,
    /// Number of connections opened so far.
    opened: u32,
    /// End of the pause or of the parsing time.
    timer: Option<Time>,
    /// Time of the next request for [`Pace::RequestToRequest`].
    next_request_at: Time,
    actions: VecDeque<Action>,
}

/// A packet call in progress.
#[derive(Debug)]
struct Call {
    /// Start of the call.
    since: Time,
    /// Payload of full segments. `None`: the value of the flow's TCP.
    segment_payload: Option<u32>,
    /// Objects not yet written (pushed) or requested.
    pending: VecDeque<u64>,
    /// Bytes of all objects that are not delivered yet.
    undelivered: u64,
    /// Embedded objects may be requested.
    is_parsed: bool,
    connections: Vec<Transfer>,
}

/// A connection of a packet call, and the object that it carries.
#[derive(Debug)]
struct Transfer {
    connection: ConnectionIndex,
    /// Size of the current object in bytes.
    object: u64,
    /// Bytes of the current request that arrived at the sender.
    requested: u64,
    /// Delivered bytes of the current object.
    delivered: u64,
    /// The current object is requested and not completely delivered. Only for requested objects.
    is_busy: bool,
    /// The current object is completely acknowledged.
    is_acked: bool,
}

impl Transfer {
    /// A connection that carries no object yet.
    fn new(connection: ConnectionIndex) -> Self {
        Transfer { connection, object: 0, delivered: 0, requested: 0, is_busy: false, is_acked: true }
    }

    /// Requests an object of this size.
    fn begin_object(&mut self, size: u64) {
        self.object = size;
        self.delivered = 0;
        self.requested = 0;
        self.is_busy = true;
        self.is_acked = false;
    }
}

impl Browsing {
    /// Creates the user of `flow`. `sender` is the end that sends the data.
    pub fn new(config: &BrowsingConfig, sender: End, flow: FlowId, streams: &Streams) -> Self {
        Browsing {
            config: config.clone(),
            sender,
            draws: Draws::new(flow, streams),
            later_objects: VecDeque::new(),
            call: None,
            opened: 0,
            timer: None,
            next_request_at: Time::ZERO,
            actions: VecDeque::new(),
        }
    }

    /// Starts with a pause or with a call.
    pub fn handle_start(&mut self, now: Time) {
        self.next_request_at = now;
        if self.config.begins_with_pause {
            self.next_request_at += self.draws.pause(&self.config);
            self.timer = Some(self.next_request_at);
        } else {
            self.begin_call(now);
        }
    }

    /// Handles the end of a pause or of the parsing time.
    pub fn handle_timeout(&mut self, now: Time) {
        self.timer = None;
        let is_requested = self.is_requested();
        match &mut self.call {
            None => self.begin_call(now),
            Some(call) if is_requested => {
                call.is_parsed = true;
                self.request_objects(now);
            }
            Some(_) => self.push(),
        }
    }

    /// Handles a TCP event of the application at `end` of a connection.
    pub fn handle_event(&mut self, now: Time, connection: ConnectionIndex, end: End, event: TcpEvent) {
        match event {
            TcpEvent::Delivered(bytes) if end == self.sender => self.handle_request_bytes(connection, bytes),
            TcpEvent::Delivered(bytes) => self.handle_object_bytes(now, connection, bytes),
            TcpEvent::AllAcked if end == self.sender => self.handle_all_acked(now, connection),
            TcpEvent::PeerClosed if end == self.answering_end() => {
                self.actions.push_back(Action::Close { connection, end });
            }
            TcpEvent::Failed(_) => self.abort_call(now, connection),
            _ => {}
        }
    }

    /// Handles the first transmission of the last written byte: schedules the next pushed object.
    pub fn handle_all_sent(&mut self, now: Time, connection: ConnectionIndex, end: End) {
        let Some(call) = &self.call else { return };
        let is_of_call = call.connections.iter().any(|transfer| transfer.connection == connection);
        let has_pushed_object = !self.is_requested() && is_of_call && end == self.sender;
        if has_pushed_object && !call.pending.is_empty() {
            self.timer = Some(now + self.draws.parsing(&self.config));
        }
    }

    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns the end of the pause or of the parsing time.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timer
    }

    /// Whether objects are requested. Otherwise they are pushed.
    fn is_requested(&self) -> bool {
        self.config.request.is_some()
    }

    /// The end that closes in reply to the other end: the receiver, except with persistent
    /// connections for requests, which the receiver closes first.
    fn answering_end(&self) -> End {
        if self.is_requested() && self.config.persistent { self.sender } else { self.sender.other() }
    }

    /// Begins a packet call: all objects of a new page, or one object of the current page if each
    /// object is a call of its own. Pushes the objects or requests the first.
    fn begin_call(&mut self, now: Time) {
        if self.later_objects.is_empty() {
            self.draws.page(&self.config, &mut self.later_objects);
        }
        let objects = if self.config.object_per_call { 1 } else { self.later_objects.len() };
        let segment_payload = self.draws.segment_payload(&self.config);
        // Sizes are rounded up to multiples of this number of bytes.
        let rounding_unit = match self.config.whole_segments {
            Some(payload_of_tcp) => u64::from(segment_payload.unwrap_or(payload_of_tcp)),
            None => 1,
        };
        let pending: VecDeque<u64> =
            self.later_objects.drain(..objects).map(|size| size.next_multiple_of(rounding_unit)).collect();
        self.call = Some(Call {
            since: now,
            segment_payload,
            undelivered: pending.iter().sum(),
            pending,
            is_parsed: false,
            connections: Vec::new(),
        });
        if self.is_requested() {
            self.request_objects(now);
        } else {
            self.open();
            self.push();
        }
    }

    /// Opens a new connection for the current call. Returns its index in the call.
    fn open(&mut self) -> usize {
        let end = if self.is_requested() { self.sender.other() } else { self.sender };
        let call = self.call.as_mut().expect("connections are opened for a call");
        let connection = ConnectionIndex(self.opened);
        self.opened += 1;
        let segment_payload = call.segment_payload;
        self.actions.push_back(Action::Open { connection, end, segment_payload });
        self.actions.push_back(Action::Report(Report::CallStarted { connection }));
        call.connections.push(Transfer::new(connection));
        call.connections.len() - 1
    }

    /// Writes the next object without a request.
    fn push(&mut self) {
        let Some(call) = &mut self.call else { return };
        let Some(bytes) = call.pending.pop_front() else { return };
        let transfer = &mut call.connections[0];
        transfer.is_acked = false;
        let (connection, end) = (transfer.connection, self.sender);
        self.actions.push_back(Action::Write { connection, end, bytes });
    }

    /// Requests as many objects as free connections allow: first only the page, then its embedded
    /// objects.
    fn request_objects(&mut self, now: Time) {
        let Some(request_bytes) = self.config.request else { return };
        while let Some(index) = self.connection_for_request() {
            let call = self.call.as_mut().expect("a call is in progress");
            let object = call.pending.pop_front().expect("an object is pending");
            let transfer = &mut call.connections[index];
            transfer.begin_object(object);
            let (connection, end) = (transfer.connection, self.sender.other());
            self.actions.push_back(Action::Write { connection, end, bytes: request_bytes });
        }
        self.check_end(now);
    }

    /// Returns the index in the call of a connection for the next request: an idle one if
    /// connections are persistent, or a new one. `None` if no object may be requested now.
    fn connection_for_request(&mut self) -> Option<usize> {
        let call = self.call.as_ref()?;
        let is_page = call.connections.is_empty();
        let may_request = is_page || call.is_parsed;
        if call.pending.is_empty() || !may_request {
            return None;
        }
        if self.config.persistent
            && let Some(idle) = call.connections.iter().position(|transfer| !transfer.is_busy)
        {
            return Some(idle);
        }
        let busy_count = call.connections.iter().filter(|transfer| transfer.is_busy).count();
        let may_open = busy_count < self.config.connections as usize;
        may_open.then(|| self.open())
    }

    /// Handles received bytes of a request. Answers when the request is complete.
    fn handle_request_bytes(&mut self, connection: ConnectionIndex, bytes: u64) {
        let Some(transfer) = self.transfer(connection) else { return };
        transfer.requested += bytes;
        let (requested, object) = (transfer.requested, transfer.object);
        let is_complete = self.config.request.is_none_or(|request_bytes| requested >= request_bytes);
        if !is_complete {
            return;
        }
        let end = self.sender;
        self.actions.push_back(Action::Write { connection, end, bytes: object });
        if !self.config.persistent {
            self.actions.push_back(Action::Close { connection, end });
        }
    }

    /// Handles delivered bytes of an object. With the last byte of the call the page ends. After
    /// the page itself the parsing time begins, and after an embedded object further ones may be
    /// requested.
    fn handle_object_bytes(&mut self, now: Time, connection: ConnectionIndex, bytes: u64) {
        let Some(transfer) = self.transfer(connection) else { return };
        transfer.delivered += bytes;
        let is_whole = transfer.is_busy && transfer.delivered >= transfer.object;
        if is_whole {
            transfer.is_busy = false;
        }
        let call = self.call.as_mut().expect("the connection belongs to the call");
        call.undelivered = call.undelivered.saturating_sub(bytes);
        if call.undelivered == 0 {
            self.actions.push_back(Action::Report(Report::PageEnded { since: call.since }));
        } else if is_whole && !call.is_parsed {
            self.timer = Some(now + self.draws.parsing(&self.config));
        } else if is_whole {
            self.request_objects(now);
        }
        self.check_end(now);
    }

    /// Handles the acknowledgment of all that the sender has written on a connection.
    fn handle_all_acked(&mut self, now: Time, connection: ConnectionIndex) {
        let Some(transfer) = self.transfer(connection) else { return };
        transfer.is_acked = true;
        self.check_end(now);
    }

    /// Ends the call if nothing is left to write, to deliver or to acknowledge.
    fn check_end(&mut self, now: Time) {
        let is_over = |call: &mut Call| {
            let is_idle = |transfer: &Transfer| transfer.is_acked && !transfer.is_busy;
            call.pending.is_empty() && call.undelivered == 0 && call.connections.iter().all(is_idle)
        };
        let Some(call) = self.call.take_if(is_over) else { return };
        let last = call.connections.last().expect("a call has a connection").connection;
        self.actions.push_back(Action::Report(Report::CallEnded { connection: last, since: call.since }));
        // Without persistence, the sender of a requested object has closed after it.
        if !self.is_requested() || self.config.persistent {
            self.close(&call.connections, self.answering_end().other());
        }
        self.pause(now);
    }

    /// Aborts the call because a connection was refused, reset or given up.
    fn abort_call(&mut self, now: Time, connection: ConnectionIndex) {
        if self.transfer(connection).is_none() {
            return;
        }
        let Some(mut call) = self.call.take() else { return };
        self.later_objects.clear();
        call.connections.retain(|transfer| transfer.connection != connection);
        self.close(&call.connections, self.answering_end().other());
        self.pause(now);
    }

    /// Closes the connections of these transfers at `end`.
    fn close(&mut self, transfers: &[Transfer], end: End) {
        for Transfer { connection, .. } in transfers {
            self.actions.push_back(Action::Close { connection: *connection, end });
        }
    }

    /// Starts the pause before the next call.
    fn pause(&mut self, now: Time) {
        let pause_start = match self.config.pace {
            Pace::AfterCall => now,
            Pace::RequestToRequest => self.next_request_at,
        };
        self.next_request_at = pause_start + self.draws.pause(&self.config);
        self.timer = Some(self.next_request_at.max(now));
    }

    /// The transfer on this connection, if the connection belongs to the current call.
    fn transfer(&mut self, connection: ConnectionIndex) -> Option<&mut Transfer> {
        let connections = &mut self.call.as_mut()?.connections;
        connections.iter_mut().find(|transfer| transfer.connection == connection)
    }
}

#[cfg(test)]
mod tests;
