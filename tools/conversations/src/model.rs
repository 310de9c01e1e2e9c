//! The model's end of a connection. Its clock advances from timer to timer.

use std::collections::VecDeque;

use umts_stack::Context;
use umts_stack::ids::{ConnectionId, End, FlowId, PacketId, UeId};
use umts_stack::packet::Segment;
use umts_stack::tcp::{Connection, TcpConfig, TcpEvent};
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::script::Quantity;
use crate::tested_end::{Action, Departure, TestedEnd, Tolerance, Value, WaitFor};

/// Maximum number of timer expiries between two lines, more than any script needs.
const MAX_EXPIRIES: usize = 10_000;

pub(crate) struct Model {
    end: Connection,
    now: Time,
    /// Segments that left and were not taken yet.
    departures: VecDeque<Departure>,
    /// End and time of every segment that left.
    sent: Vec<(u64, Time)>,
    /// In bytes.
    segment_payload: u32,
    /// Number of bytes that the application has received.
    delivered: u64,
    /// Number of expiries of the retransmission timer.
    timeouts: u64,
}

impl Model {
    pub fn new(config: &TcpConfig) -> Self {
        Model {
            end: Connection::new(ConnectionId(0), FlowId(0), UeId(0), End::Server, config.clone()),
            now: Time::ZERO,
            departures: VecDeque::new(),
            sent: Vec::new(),
            segment_payload: config.mss(),
            delivered: 0,
            timeouts: 0,
        }
    }

    /// Calls the connection, then collects the segments and events that it produces.
    fn call(&mut self, action: impl FnOnce(&mut Connection, &mut Context<'_, Vec<(Time, TraceEvent)>>)) {
        let mut trace = Vec::new();
        let mut cx = Context::new(self.now, &mut trace);
        action(&mut self.end, &mut cx);
        let mut segment = Segment::new(self.end.id(), self.end.end().sends());
        while self.end.poll_transmit(&mut cx, &mut segment).is_some() {
            self.departures.push_back(Departure { at: self.now, segment });
            self.sent.push((segment.end(), self.now));
        }
        while let Some(event) = self.end.poll_event() {
            if let TcpEvent::Delivered(bytes) = event {
                self.delivered += bytes;
            }
        }
        let expired = |(_, event): &&(Time, TraceEvent)| matches!(event, TraceEvent::RtoExpired { .. });
        self.timeouts += trace.iter().filter(expired).count() as u64;
    }
}

impl TestedEnd for Model {
    fn now(&self) -> Time {
        self.now
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        self.call(|end, cx| match action {
            Action::Open => end.handle_open(cx),
            Action::Write(bytes) => end.handle_write(cx, bytes),
            Action::Close => end.handle_close(cx),
        });
        Ok(())
    }

    fn receive(&mut self, segment: &Segment) -> Result<(), String> {
        let packet = self.end.packet(PacketId(0), *segment);
        self.call(|end, cx| end.handle_packet(cx, &packet));
        Ok(())
    }

    /// Timers at `until` expire only if it waits for a departure, so that a line of the script comes
    /// before the timers of its time.
    fn pass(&mut self, until: Time, wait_for: WaitFor) -> Result<(), String> {
        for _ in 0..MAX_EXPIRIES {
            if wait_for == WaitFor::Departure && !self.departures.is_empty() {
                return Ok(());
            }
            let expires = |at: &Time| *at < until || (wait_for == WaitFor::Departure && *at == until);
            let Some(at) = self.end.poll_timeout().filter(expires) else {
                if wait_for == WaitFor::Time {
                    self.now = self.now.max(until);
                }
                return Ok(());
            };
            self.now = self.now.max(at);
            self.call(|end, cx| end.handle_timeout(cx));
        }
        Err(format!("timers expire without end at {} ms", self.now.as_nanos() as f64 / 1e6))
    }

    fn take_departure(&mut self) -> Option<Departure> {
        self.departures.pop_front()
    }

    fn timestamp_of(&self, ack: u64) -> Time {
        let answered = self.sent.iter().rev().find(|(end, _)| *end == ack);
        answered.map_or(Time::ZERO, |(_, at)| *at)
    }

    fn timestamp_at(&self, at: Time) -> Time {
        at
    }

    fn segment_payload(&self) -> u32 {
        self.segment_payload
    }

    fn value(&mut self, quantity: Quantity) -> Result<Value, String> {
        let in_ms = |duration: Duration| Value::Number(duration.as_nanos() as f64 / 1e6);
        let word = |word: String| Value::Word(word.to_lowercase());
        Ok(match quantity {
            Quantity::Cwnd => Value::Number(self.end.cwnd()),
            Quantity::Ssthresh => Value::Number(self.end.ssthresh()),
            Quantity::Inflation => Value::Number(f64::from(self.end.inflation())),
            Quantity::Outstanding => Value::Number(self.end.outstanding_bytes() as f64),
            Quantity::Rto => in_ms(self.end.rto()),
            Quantity::Srtt => in_ms(self.end.estimator().srtt()),
            Quantity::Timeouts => Value::Number(self.timeouts as f64),
            Quantity::Delivered => Value::Number(self.delivered as f64),
            Quantity::State => word(format!("{:?}", self.end.state())),
            Quantity::Failure => {
                word(self.end.failure().map_or("none".to_owned(), |failure| format!("{failure:?}")))
            }
        })
    }

    fn tolerance(&self, _due: Time) -> Tolerance {
        Tolerance { early: Duration::ZERO, late: Duration::ZERO }
    }

    fn slack(&self, _quantity: Quantity) -> f64 {
        0.0
    }
}
