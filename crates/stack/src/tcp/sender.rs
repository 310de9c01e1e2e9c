//! The sending half: what to send, what acknowledgments mean, and the retransmission timer.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use crate::cx::Cx;
use crate::ids::ConnectionId;
use crate::packet::Segment;
use crate::trace::{SendCause, TraceEvent};

use super::config::TcpConfig;
use super::congestion::{
    Backoff, CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, Law, NewAck, Reaction, Resend, Rules,
    Sample, Turn, Version, Window,
};
use super::connection::Connection;
use super::options::whole_ticks;
use super::outstanding::{Acknowledged, Outstanding, Sent};
use super::rto::RttEstimator;
use super::timers::Timer;

/// State of the sending half.
#[derive(Debug)]
pub(super) struct Sender {
    pub outstanding: Outstanding,
    /// The SYN may leave.
    pub opened: bool,
    /// The sequence number after the last byte that the application wrote.
    pub written: u64,
    /// A FIN follows what is written.
    pub close_requested: bool,
    pub fin_acked: bool,
    /// Largest payload that both ends take, in bytes.
    pub mss: u32,
    /// The other end's window, in bytes.
    pub peer_window: u32,
    pub window: Window,
    version: Version,
    pub estimator: RttEstimator,
    /// The one segment being timed: the sequence number after it, and when it left.
    timed: Option<(u64, Time)>,
    /// Limited transmit may send one segment (RFC 3042).
    limited: bool,
    /// Segments that limited transmit has sent since the last new acknowledgment.
    limited_sent: u32,
    /// Segments that may still leave in answer to this ACK.
    burst: u32,
    /// The oldest segment is to be sent again, whatever the window says.
    resend_first: bool,
    /// Why the last go-back happened.
    go_back_cause: SendCause,
    syn_lost: bool,
}

impl Sender {
    pub fn new(config: &TcpConfig, connection: ConnectionId) -> Self {
        let rules = if config.one_way { Rules::Ns2 } else { Rules::Rfc5681 };
        // Without a SYN the first byte is the first number.
        let first = u64::from(config.vegas_without_header());
        Sender {
            outstanding: Outstanding::starting_at(first),
            opened: false,
            written: 1,
            close_requested: false,
            fin_acked: false,
            mss: config.segment_payload,
            peer_window: config.advertised_window,
            window: Window::new(
                config.initial_ssthresh,
                rules,
                Law::new(config, connection),
                config.segment_payload,
            ),
            version: Version::new(config),
            estimator: RttEstimator::new(&config.rto),
            timed: None,
            limited: false,
            limited_sent: 0,
            burst: u32::MAX,
            resend_first: false,
            go_back_cause: SendCause::Rto,
            syn_lost: false,
        }
    }

    #[inline]
    fn use_permission(&mut self, permission: Permission) {
        match permission {
            Permission::Window => self.burst -= 1,
            Permission::LimitedTransmit => {
                self.limited = false;
                self.limited_sent += 1;
            }
        }
    }

    /// Both ends have said what they take.
    pub fn set_segment_size(&mut self, bytes: u32) {
        self.mss = bytes;
        self.window.smss = bytes;
    }

    /// The other end does not acknowledge selectively.
    pub fn do_without_sack(&mut self) {
        if let Some(version) = self.version.without_sack() {
            self.version = version;
        }
    }

    /// The FIN has left at least once: it takes the number after the last byte written.
    pub fn fin_sent(&self) -> bool {
        self.outstanding.max_sent() > self.written
    }
}

impl Connection {
    /// Congestion window in segments, without the inflation of fast recovery.
    pub fn cwnd(&self) -> f64 {
        self.sender.window.cwnd
    }

    /// Slow start threshold in segments; infinite if there is none.
    pub fn ssthresh(&self) -> f64 {
        self.sender.window.ssthresh
    }

    /// Segments by which duplicate ACKs inflate the window in fast recovery.
    pub fn inflation(&self) -> u32 {
        self.sender.window.inflation
    }

    /// Sequence numbers sent and not acknowledged: payload, and one each for SYN and FIN.
    pub fn outstanding_bytes(&self) -> u64 {
        self.sender.outstanding.max_sent() - self.sender.outstanding.una()
    }

    /// The retransmission timeout, bounds and back-off included.
    pub fn rto(&self) -> Duration {
        self.sender.estimator.timeout()
    }

    /// The round-trip time estimator.
    pub fn estimator(&self) -> &RttEstimator {
        &self.sender.estimator
    }

    /// Duplicate ACKs in a row, as the version counts them.
    pub fn duplicates(&self) -> u32 {
        self.sender.window.duplicates
    }

    /// The segment to send now, as it was before this transmission.
    #[inline]
    pub(super) fn poll_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
    ) -> Option<(Sent, SendCause)> {
        if self.is_held_back() {
            return None;
        }
        let turn = self.turn();
        let number = self.sender.outstanding.number_of(turn);
        let sent = match turn {
            Turn::Wait => return None,
            Turn::First => self.first_again(cx.now),
            Turn::Hole(index) | Turn::Rescue(index) => self.sender.outstanding.send_hole(index, cx.now)?,
            Turn::Onward(index) => self.sender.outstanding.send_onward(index, cx.now)?,
            Turn::InOrder => self.next_in_order(cx.now)?,
            Turn::ByWindow => {
                let permission = self.permission()?;
                let sent = self.next_in_order(cx.now)?;
                self.sender.use_permission(permission);
                sent
            }
        };
        self.sender.version.on_sent(turn, number, cx.now);
        self.tell_departure(cx.now, number, &sent);
        let again = match turn {
            Turn::First | Turn::Hole(_) | Turn::Rescue(_) => SendCause::DupAck,
            _ => self.sender.go_back_cause,
        };
        if !self.timers.is_running(Timer::Rto) {
            self.restart_timer(cx.now);
        }
        Some((sent, if sent.transmissions == 0 { SendCause::New } else { again }))
    }

    /// The oldest segment; with nothing outstanding a new one, which stays in turn, or at the end of the data an empty one
    /// (see Vegas, the only version that asks for it).
    fn first_again(&mut self, now: Time) -> Sent {
        if self.sender.outstanding.is_empty() {
            let _ = self.add_segment(now);
        }
        let outstanding = &mut self.sender.outstanding;
        let beyond = Sent { seq: outstanding.max_sent(), ..Sent::default() };
        outstanding.send_again(0, now).unwrap_or(beyond)
    }

    #[inline]
    fn turn(&mut self) -> Turn {
        let advertised = self.advertised();
        if std::mem::take(&mut self.sender.resend_first) {
            return Turn::First;
        }
        if self.sender.outstanding.sacked_to > self.sender.outstanding.una() {
            self.sender.outstanding.more = self.new_segment().is_some();
        }
        let sender = &self.sender;
        sender.version.turn(&sender.window, &sender.outstanding, advertised)
    }

    /// The segment whose turn it is, as it was before this transmission; a new one if all have been sent.
    #[inline]
    fn next_in_order(&mut self, now: Time) -> Option<Sent> {
        if self.sender.outstanding.next() == self.sender.outstanding.len() {
            self.add_segment(now)?;
        }
        self.sender.outstanding.send_next(now)
    }

    /// Puts a new segment, about to be sent, behind those outstanding.
    #[inline]
    fn add_segment(&mut self, now: Time) -> Option<()> {
        let Some(new) = self.new_segment() else {
            self.tell_nothing_to_send();
            return None;
        };
        self.sender.outstanding.push(new);
        // One segment is timed at a time (RFC 6298 §3), and none that was sent before.
        self.sender.timed.get_or_insert((new.end(), now));
        Some(())
    }

    /// Which rule lets the segment whose turn it is leave.
    #[inline]
    fn permission(&self) -> Option<Permission> {
        let sender = &self.sender;
        let before = sender.outstanding.next() as u32;
        let advertised = self.advertised();
        if before < sender.window.usable(advertised) && sender.burst > 0 {
            return Some(Permission::Window);
        }
        // RFC 3042: one segment beyond cwnd for each of the first two duplicates.
        let limited = (sender.window.cwnd as u32).saturating_add(sender.window.duplicates).min(advertised);
        (sender.limited && before < limited).then_some(Permission::LimitedTransmit)
    }

    /// The window of the other end in whole segments. It binds segments only if one way, as ns-2 counts; else
    /// [`room`](Self::room) binds bytes.
    #[inline]
    fn advertised(&self) -> u32 {
        if self.config.one_way { (self.sender.peer_window / self.sender.mss).max(1) } else { u32::MAX }
    }

    /// Bytes of new data that fit into the other end's window.
    #[inline]
    fn room(&self) -> u64 {
        let sender = &self.sender;
        if self.config.one_way {
            return u64::MAX;
        }
        (sender.outstanding.una() + u64::from(sender.peer_window))
            .saturating_sub(sender.outstanding.max_sent())
    }

    /// The next segment never sent, if there is one.
    #[inline]
    fn new_segment(&self) -> Option<Sent> {
        let sender = &self.sender;
        let seq = sender.outstanding.max_sent();
        let sent = Sent { seq, ..Sent::default() };
        if seq == 0 {
            return sender.opened.then_some(Sent { syn: true, ..sent });
        }
        // Data waits for the handshake.
        if sender.outstanding.una() == 0
            || !sender.opened
            || !(self.config.one_way || self.receiver.is_synchronised())
        {
            return None;
        }
        let available = sender.written.saturating_sub(seq);
        let may_finish = sender.close_requested && !self.config.one_way;
        if available == 0 {
            return (may_finish && seq == sender.written).then_some(Sent { fin: true, ..sent });
        }
        let room = self.room();
        let payload = available.min(u64::from(sender.mss)).min(room);
        // RFC 9293 §3.8.6.2.1: no silly window; a full segment, all there is, or half of the window.
        let worthwhile = payload == u64::from(sender.mss)
            || payload == available
            || (payload > 0 && 2 * payload >= u64::from(sender.peer_window));
        let fin = may_finish && payload == available;
        worthwhile.then_some(Sent { payload: payload as u32, fin, ..sent })
    }

    /// The acknowledgment in a segment.
    #[inline]
    pub(super) fn handle_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, segment: &Segment) {
        let sender = &mut self.sender;
        let outstanding = &sender.outstanding;
        if segment.ack > outstanding.max_sent() || segment.ack < outstanding.una() {
            return;
        }
        let same_window = segment.window == sender.peer_window;
        sender.peer_window = segment.window;
        // With SACK a duplicate is what says something new (RFC 6675 §2), whatever else it carries.
        let may_say_news = self.agreed.blocks > 0 && !self.config.one_way && !segment.sack.is_empty();
        sender.limited = false;
        let before = (sender.window.cwnd, sender.window.ssthresh);
        if segment.ack > outstanding.una() {
            self.handle_new_ack(cx, segment);
        } else if !outstanding.is_empty() && ((segment.sequence_length() == 0 && same_window) || may_say_news)
        {
            // RFC 5681 §2, the five conditions of a duplicate.
            self.handle_duplicate_ack(cx, segment);
        }
        self.sender.burst = self.sender.version.burst(&self.sender.window);
        self.tell_settled(cx.now);
        if before != (self.sender.window.cwnd, self.sender.window.ssthresh) {
            self.record_window(cx);
        }
    }

    fn handle_new_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, segment: &Segment) {
        let (connection, end, una) = (self.id, self.end, segment.ack);
        let flight = self.sender.outstanding.len() as u32;
        let done = self.sender.outstanding.acknowledge(una);
        if !done.syn {
            self.tell_acknowledgment(cx.now, flight, done.segments, false);
        }
        cx.record(|| TraceEvent::Acked { connection, end, una, payload: done.payload });
        self.sender.limited_sent = 0;
        let reaction = self.count_new_ack(cx.now, segment, done);
        self.sender.resend_first = false;
        if self.agreed.timestamps && segment.options.timestamps {
            self.measure_echo(cx, segment, done.segments);
        }
        self.react(cx, segment, reaction);
        self.sender.fin_acked |= done.fin;
        if done.payload > 0 && una >= self.sender.written {
            self.report_all_acked();
        }
    }

    fn count_new_ack(&mut self, now: Time, segment: &Segment, done: Acknowledged) -> Reaction {
        let ack = NewAck { segments: done.segments, flight: self.flight(), done, sack: segment.sack, now };
        let Sender { version, window, outstanding, estimator, syn_lost, .. } = &mut self.sender;
        if !done.syn {
            return version.on_new_ack(window, outstanding, &ack);
        }
        // The initial window, of one segment if a SYN was lost (RFC 5681 §3.1).
        if *syn_lost {
            estimator.restart_after_lost_syn();
            return version.on_syn_ack(window, outstanding, &ack, 1);
        }
        version.on_syn_ack(window, outstanding, &ack, self.config.initial_window)
    }

    fn handle_duplicate_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, segment: &Segment) {
        let (connection, end, flight) = (self.id, self.end, self.flight());
        self.tell_acknowledgment(cx.now, self.sender.outstanding.len() as u32, 0, true);
        let Sender { version, window, outstanding, limited, .. } = &mut self.sender;
        let counted = version.count_duplicate(window, outstanding, segment.ack, &segment.sack);
        let count = window.duplicates;
        if counted {
            cx.record(|| TraceEvent::DupAck { connection, end, count });
            *limited = self.config.limited_transmit && count < DUPLICATE_THRESHOLD;
        }
        let ack = Duplicate { flight, sack: segment.sack, counted, now: cx.now };
        let reaction = version.on_duplicate_ack(window, outstanding, &ack);
        self.react(cx, segment, reaction);
    }

    /// Does what a version asks for: first the round-trip time, then the timer that follows from it.
    fn react<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, segment: &Segment, reaction: Reaction) {
        match reaction.resend {
            Resend::Nothing => {}
            Resend::First => self.sender.resend_first = true,
            Resend::GoBack => self.go_back(SendCause::DupAck),
        }
        match reaction.sample {
            Sample::Nothing => {}
            Sample::Echo => {
                if self.sender.timed.take_if(|(end, _)| *end <= segment.ack).is_some() {
                    self.sender.estimator.end_back_off();
                }
            }
            Sample::Cancel => self.sender.timed = None,
            Sample::EchoAndCancel => {
                self.sender.timed = None;
                self.measure_since(cx, segment.echo, RttEstimator::sample_echo);
            }
            Sample::Timed if self.agreed.timestamps => self.sender.timed = None,
            Sample::Timed => {
                if let Some((_, sent)) = self.sender.timed.take_if(|(end, _)| *end <= segment.ack) {
                    self.measure_since(cx, sent, RttEstimator::sample);
                }
            }
        }
        match reaction.backoff {
            Backoff::Keep => {}
            Backoff::Clear => self.sender.estimator.end_back_off(),
            Backoff::Double => self.sender.estimator.back_off(),
        }
        if reaction.restart_timer {
            self.restart_timer(cx.now);
        }
        if reaction.sample == Sample::Echo {
            self.measure_since(cx, segment.echo, RttEstimator::sample_echo);
        }
    }

    /// RTTM (RFC 7323 §4): every ACK of something new tells a round trip, retransmissions included, and weighs the less
    /// the more of them a window brings (appendix G).
    fn measure_echo<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, segment: &Segment, acked: u32) {
        let flight = self.sender.outstanding.len() as u32 + acked;
        let tick = self.config.timestamp_tick;
        let rtt = whole_ticks(cx.now, tick).saturating_since(segment.echo).max(tick);
        self.measure(cx, rtt, |estimator, _| estimator.sample_often(rtt, flight.div_ceil(2).max(1)));
    }

    /// The round trip of a segment that left at `sent` is complete.
    fn measure_since<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        sent: Time,
        sample: impl FnOnce(&mut RttEstimator, Time, Time),
    ) {
        self.measure(cx, cx.now - sent, |estimator, now| sample(estimator, sent, now));
    }

    /// A round trip was measured.
    fn measure<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        rtt: Duration,
        sample: impl FnOnce(&mut RttEstimator, Time),
    ) {
        let (connection, end) = (self.id, self.end);
        cx.record(|| TraceEvent::RttSample { connection, end, rtt });
        if let Some(law) = self.sender.window.law.own() {
            law.on_round_trip(rtt);
        }
        let estimator = &mut self.sender.estimator;
        let before = (estimator.srtt(), estimator.timeout());
        sample(estimator, cx.now);
        if before != (estimator.srtt(), estimator.timeout()) {
            self.record_rto(cx);
        }
    }

    /// RFC 6298 §5.4 to §5.6; everything outstanding counts as lost (RFC 5681 §3.1).
    pub(super) fn handle_retransmission_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>) {
        let flight = self.flight();
        let sender = &mut self.sender;
        let before = (sender.window.cwnd, sender.window.ssthresh);
        sender.version.on_timeout(&mut sender.window, &mut sender.outstanding, &flight);
        sender.syn_lost |= flight.una == 0;
        sender.estimator.back_off();
        sender.timed = None;
        sender.limited = false;
        sender.burst = u32::MAX;
        sender.resend_first = false;
        let changed = before != (sender.window.cwnd, sender.window.ssthresh);
        let (connection, end, backoff) = (self.id, self.end, sender.estimator.backoff());
        self.go_back(SendCause::Rto);
        self.restart_timer(cx.now);
        cx.record(|| TraceEvent::RtoExpired { connection, end, backoff });
        self.record_rto(cx);
        if changed {
            self.record_window(cx);
        }
    }

    fn go_back(&mut self, cause: SendCause) {
        self.sender.outstanding.go_back();
        self.sender.go_back_cause = cause;
    }

    /// RFC 6298 §5.1 to §5.3: runs while something is outstanding.
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        let sender = &self.sender;
        if sender.outstanding.is_empty() && !sender.version.times_silence(&sender.window) {
            self.timers.stop(Timer::Rto);
        } else {
            self.timers.set(Timer::Rto, now + self.sender.estimator.timeout());
        }
    }

    #[inline]
    fn flight(&self) -> Flight {
        let sender = &self.sender;
        Flight {
            una: sender.outstanding.una(),
            max_sent: sender.outstanding.max_sent(),
            segments: (sender.outstanding.len() as u32).saturating_sub(sender.limited_sent),
            advertised: self.advertised(),
        }
    }

    pub(super) fn record_window<T: TraceSink<TraceEvent>>(&self, cx: &mut Cx<'_, T>) {
        let (connection, end, window) = (self.id, self.end, &self.sender.window);
        cx.record(|| TraceEvent::Window { connection, end, cwnd: window.cwnd, ssthresh: window.ssthresh });
    }

    fn record_rto<T: TraceSink<TraceEvent>>(&self, cx: &mut Cx<'_, T>) {
        let (connection, end, estimator) = (self.id, self.end, &self.sender.estimator);
        let (srtt, rto) = (estimator.srtt(), estimator.timeout());
        cx.record(|| TraceEvent::RtoUpdated { connection, end, srtt, rto });
    }
}

#[derive(Debug, Clone, Copy)]
enum Permission {
    Window,
    LimitedTransmit,
}
