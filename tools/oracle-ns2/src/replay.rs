//! The network of the golden runs, with two ends of our TCP.

use std::collections::BTreeMap;
use std::fmt;

use umts_kernel::NoTrace;
use umts_stack::Context;
use umts_stack::ids::{ConnectionId, End, FlowId, PacketId, UeId};
use umts_stack::packet::{Packet, Segment};
use umts_stack::tcp::{Connection, Variant};
use umts_units::{Duration, Time};

use crate::link::{Calendar, Link};
use crate::row::{Row, State};
use crate::run::{LostCopy, Run};

/// Time after the last acknowledgment in which events are recorded, in seconds.
const AFTERMATH_S: f64 = 0.0001;

/// Totals of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Transmissions, including the SYN.
    pub sent: u64,
    /// Transmissions of packets that were sent before.
    pub sent_again: u64,
    /// Expiries of the timer that caused a transmission.
    pub timeouts: u64,
    /// Highest packet acknowledged.
    pub acked_through: i64,
}

impl Totals {
    /// Computes the totals of an event file.
    pub fn of(rows: &[Row]) -> Self {
        let count = |matches: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| matches(row)).count() as u64;
        Totals {
            sent: count(&|row| row.event == 'S'),
            sent_again: count(&|row| row.again == Some(true)),
            timeouts: count(&|row| row.event == 'T'),
            acked_through: rows
                .iter()
                .filter(|row| row.event == 'A')
                .map(|row| row.packet)
                .max()
                .unwrap_or(-1),
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { sent, sent_again, timeouts, acked_through } = self;
        write!(f, "{sent} sent, {sent_again} again, {timeouts} timeouts, {acked_through} acknowledged")
    }
}

/// Replays a run and passes each row to `record`.
pub fn replay(run: &Run, record: impl FnMut(Row)) -> Totals {
    Replay::new(run, record).run()
}

/// Returns every row of a run.
pub fn rows(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    replay(run, |row| rows.push(row));
    rows
}

#[derive(Debug)]
enum Event {
    /// A packet arrives at an end.
    Crossed(End, Packet),
    /// The timer of an end expires, unless it was set to another instant meanwhile.
    Wake(End, Time),
}

struct Replay<'a, F> {
    run: &'a Run,
    /// Takes each row.
    record: F,
    /// The sender and the receiver of data, at the indices of [`End::Server`] and [`End::Ue`].
    ends: [Connection; 2],
    /// Instants to which the ends' timers were last set.
    alarms: [Option<Time>; 2],
    /// The links on which the ends send: forward and reverse.
    links: [Link; 2],
    calendar: Calendar<Event>,
    /// Number of times that each packet has crossed the forward link. It is counted only for a run
    /// with scripted losses.
    copies: BTreeMap<i64, u32>,
    /// Number of packets that have crossed the forward link.
    crossed: u64,
    /// Number of acknowledgments that have crossed the reverse link.
    acks: u64,
    /// Number of packets sent by both ends.
    packets: u64,
    /// Time of the last acknowledgment that arrived. Negative before the first one.
    last_ack_s: f64,
    /// Time of the last expiry of the sender's timer. Negative before the first one.
    last_timer_s: f64,
    totals: Totals,
}

impl<'a, F: FnMut(Row)> Replay<'a, F> {
    fn new(run: &'a Run, record: F) -> Self {
        let end = |end| Connection::new(ConnectionId(0), FlowId(0), UeId(0), end, run.config.clone());
        let link = |reverse| {
            let mut link = Link::new(run.rate_bps, run.delay_s);
            link.fifo = run.fifo;
            link.spike = run.spike.filter(|spike| spike.reverse == reverse);
            link
        };
        let mut links = [link(false), link(true)];
        links[End::Server as usize].queue = run.queue;
        Replay {
            run,
            record,
            ends: [end(End::Server), end(End::Ue)],
            alarms: [None; 2],
            links,
            calendar: Calendar::new(),
            copies: BTreeMap::new(),
            crossed: 0,
            acks: 0,
            packets: 0,
            last_ack_s: -1.0,
            last_timer_s: -1.0,
            totals: Totals { acked_through: -1, ..Totals::default() },
        }
    }

    /// Replays the run until ns-2's stop time, or until all packets are acknowledged.
    fn run(mut self) -> Totals {
        let mut trace = NoTrace;
        let cx = &mut Context::new(Time::ZERO, &mut trace);
        let payload = self.payload();
        let sender = &mut self.ends[End::Server as usize];
        sender.handle_open(cx);
        match self.run.packets {
            Some(packets) => {
                sender.handle_write(cx, packets * payload);
                sender.handle_close(cx);
            }
            None => sender.handle_write(cx, u64::MAX),
        }
        self.drain(0.0, Time::ZERO, End::Server);
        let (mut now, mut stop_s) = (Time::ZERO, self.run.stop_s);
        while let Some((now_s, event)) = self.calendar.pop() {
            if now_s >= stop_s {
                break;
            }
            now = now.max(Time::ZERO + Duration::from_secs_f64(now_s));
            let end = match event {
                Event::Crossed(end, packet) => {
                    if !self.survives(now_s, end, &packet) {
                        continue;
                    }
                    self.ends[end as usize].handle_packet(&mut Context::new(now, &mut trace), &packet);
                    if end == End::Server {
                        self.record_ack(now_s, segment(&packet));
                    }
                    end
                }
                Event::Wake(end, at) if self.ends[end as usize].poll_timeout() == Some(at) => {
                    now = now.max(at);
                    self.ends[end as usize].handle_timeout(&mut Context::new(now, &mut trace));
                    end
                }
                Event::Wake(..) => continue,
            };
            self.drain(now_s, now, end);
            if self.is_done() {
                stop_s = stop_s.min(self.last_ack_s + AFTERMATH_S);
            }
        }
        self.totals
    }

    /// Returns the octets of data in a packet.
    fn payload(&self) -> u64 {
        u64::from(self.run.config.mss())
    }

    /// Returns whether all packets of the run are acknowledged.
    fn is_done(&self) -> bool {
        self.run
            .packets
            .is_some_and(|packets| self.totals.acked_through >= self.number(packets * self.payload()))
    }

    /// Returns the number of the packet that begins at a sequence number. The SYN has number 0;
    /// Vegas of ns-2 has no SYN.
    fn number(&self, seq: u64) -> i64 {
        let without_syn = self.run.config.variant == Variant::Vegas;
        seq.div_ceil(self.payload()) as i64 - i64::from(without_syn)
    }

    /// Sends the pending segments of the end, and sets its timer.
    fn drain(&mut self, now_s: f64, now: Time, end: End) {
        let mut trace = NoTrace;
        let cx = &mut Context::new(now, &mut trace);
        let mut segment = Segment::new(self.ends[end as usize].id(), end.sends());
        while self.ends[end as usize].poll_transmit(cx, &mut segment).is_some() {
            self.packets += 1;
            let packet = self.ends[end as usize].packet(PacketId(self.packets), segment);
            if end == End::Server {
                self.record_sent(now_s, &segment);
            }
            let other = End::sending(end.sends().reversed());
            match self.links[end as usize].send(now_s, packet.size().0) {
                Some(at_s) => self.calendar.push(at_s, Event::Crossed(other, packet)),
                None => self.record_loss(now_s, 'Q', self.number(segment.seq)),
            }
        }
        let alarm = self.ends[end as usize].poll_timeout();
        if alarm != self.alarms[end as usize] {
            self.alarms[end as usize] = alarm;
            if let Some(at) = alarm {
                self.calendar.push(now_s + self.seconds(at - now), Event::Wake(end, at));
            }
        }
    }

    /// Returns a timer's interval as ns-2 computes it: whole ticks as a product, which can differ
    /// from the decimal number in the last bit. This decides the order of events at one instant.
    fn seconds(&self, interval: Duration) -> f64 {
        let tick = self.run.config.rto_granularity;
        if interval.as_nanos().is_multiple_of(tick.as_nanos().max(1)) {
            return (interval / tick) as f64 * tick.as_secs();
        }
        interval.as_secs()
    }

    /// Returns whether a packet that has crossed a link arrives, and records a scripted loss.
    fn survives(&mut self, now_s: f64, to: End, packet: &Packet) -> bool {
        let (lost, event, number) = match to {
            End::Ue => {
                self.crossed += 1;
                if self.run.crossing_losses.binary_search(&(self.crossed - 1)).is_ok() {
                    return false;
                }
                let number = self.number(segment(packet).seq);
                if self.run.drops.is_empty() {
                    return true;
                }
                let copy = self.copies.entry(number).or_default();
                *copy += 1;
                let lost = self.run.drops.contains(&LostCopy { packet: number, copy: *copy });
                (lost, 'D', number)
            }
            End::Server => {
                self.acks += 1;
                let number = self.acknowledged(segment(packet));
                (self.run.ack_drops.contains(&(self.acks - 1)), 'd', number)
            }
        };
        if lost {
            self.record_loss(now_s, event, number);
        }
        !lost
    }

    /// Returns the highest in-order packet that a segment acknowledges.
    fn acknowledged(&self, segment: &Segment) -> i64 {
        self.number(segment.ack) - 1
    }

    fn record_ack(&mut self, now_s: f64, segment: &Segment) {
        let packet = self.acknowledged(segment);
        self.last_ack_s = now_s;
        self.totals.acked_through = self.totals.acked_through.max(packet);
        let state = self.state();
        (self.record)(Row { at_s: now_s, event: 'A', packet, again: None, state });
    }

    /// Records a transmission. If there was no acknowledgment at the same instant, the timer caused
    /// it.
    fn record_sent(&mut self, now_s: f64, segment: &Segment) {
        let (packet, again) = (self.number(segment.seq), segment.transmission > 0);
        let state = self.state();
        if now_s > 0.0 && now_s != self.last_ack_s && now_s != self.last_timer_s {
            self.last_timer_s = now_s;
            self.totals.timeouts += 1;
            (self.record)(Row { at_s: now_s, event: 'T', packet, again: None, state });
        }
        self.totals.sent += 1;
        self.totals.sent_again += u64::from(again);
        (self.record)(Row { at_s: now_s, event: 'S', packet, again: Some(again), state });
    }

    fn record_loss(&mut self, at_s: f64, event: char, packet: i64) {
        (self.record)(Row { at_s, event, packet, again: None, state: None });
    }

    fn state(&self) -> Option<State> {
        let sender = &self.ends[End::Server as usize];
        let (srtt8, rttvar4) = sender.estimator().ns2_registers()?;
        Some(State {
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            duplicates: i64::from(sender.duplicates()),
            srtt8,
            rttvar4,
            backoff: sender.estimator().backoff(),
            rto_s: sender.rto().as_secs(),
        })
    }
}

fn segment(packet: &Packet) -> &Segment {
    packet.segment().expect("TCP sends segments only")
}
