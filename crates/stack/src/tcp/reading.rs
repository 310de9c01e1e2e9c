//! The reception buffer and the application that reads from it: the advertised window (RFC 9293
//! §3.8.6).
//!
//! Without a reading rate the application reads at once and the window is constant. With a rate,
//! data in order fills the buffer until it is read at that rate. A proxy reads when it has room.
//! The right edge of the window moves only in steps of at least a segment (silly window avoidance
//! of the receiver, RFC 1122 §4.2.3.3). A window update is sent when the edge can move by two
//! segments or half of the buffer without any other segment to send.

use umts_units::{BitRate, Bytes, Duration, Time};

use super::config::TcpConfig;
use super::connection::Connection;
use super::receiver::AckDue;
use super::timers::Timer;

/// One octet in the unit of `Reader::backlog`: 8 bits times the nanoseconds of a second.
const OCTET: u128 = 8 * 1_000_000_000;

/// An application that does not read at once.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    /// Reading rate. `None`: the application calls `handle_read`.
    rate: Option<BitRate>,
    /// Size of the buffer in bytes.
    buffer: u64,
    /// Unread data at `since`, in units of 10⁻⁹ bits, so that rate times nanoseconds is exact.
    backlog: u128,
    /// Time for which `backlog` holds.
    since: Time,
    /// The right edge of the advertised window: the sequence number after the last that may be
    /// sent.
    edge: u64,
}

impl Reader {
    pub fn new(config: &TcpConfig) -> Option<Self> {
        let rate = config.read_rate.filter(|_| !config.is_one_way())?;
        Some(Reader { rate: Some(rate), ..Reader::manual(config) })
    }

    fn manual(config: &TcpConfig) -> Self {
        let buffer = u64::from(config.receive_window());
        Reader { rate: None, buffer, backlog: 0, since: Time::ZERO, edge: 0 }
    }

    /// Removes the data that the application has read up to `now` from the backlog.
    fn read_until(&mut self, now: Time) {
        let elapsed = now.saturating_since(self.since).as_nanos();
        self.since = now;
        let rate = self.rate.map_or(0, BitRate::bps);
        self.backlog = self.backlog.saturating_sub(u128::from(rate) * u128::from(elapsed));
    }

    /// Unread data, in octets.
    fn unread(&self) -> u64 {
        u64::try_from(self.backlog.div_ceil(OCTET)).unwrap_or(u64::MAX)
    }

    /// Adds octets that arrived in order.
    fn add(&mut self, now: Time, octets: u64) {
        self.read_until(now);
        self.backlog += OCTET * u128::from(octets);
    }

    /// Number of octets by which the edge could move. `next`: the next expected sequence number.
    fn edge_gain(&self, next: u64) -> u64 {
        (next + self.buffer.saturating_sub(self.unread())).saturating_sub(self.edge)
    }

    /// The smallest move that is advertised.
    fn min_step(&self, mss: u32) -> u64 {
        u64::from(mss).min(self.buffer / 2).max(1)
    }

    /// Returns the window to advertise, in bytes. `next`: the next expected sequence number. `mss`:
    /// payload of a full segment, in bytes.
    fn window(&mut self, now: Time, next: u64, mss: u32) -> u32 {
        self.read_until(now);
        let edge_gain = self.edge_gain(next);
        if edge_gain >= self.min_step(mss) {
            self.edge += edge_gain;
        }
        u32::try_from(self.edge.saturating_sub(next)).unwrap_or(u32::MAX)
    }

    /// Whether the edge can move far enough for a window update.
    fn has_update(&mut self, now: Time, next: u64, mss: u32) -> bool {
        self.read_until(now);
        self.edge_gain(next) >= self.min_update(mss)
    }

    /// The smallest move for which a window update is sent.
    fn min_update(&self, mss: u32) -> u64 {
        (2 * u64::from(mss)).min(self.buffer / 2).max(1)
    }

    /// The time of the next window update if nothing more arrives. `None`: all is read and
    /// advertised.
    fn next_update(&self, next: u64, mss: u32) -> Option<Time> {
        let rate = self.rate?;
        let missing = self.min_update(mss).saturating_sub(self.edge_gain(next));
        (missing > 0 && missing <= self.unread()).then(|| {
            // One nanosecond more, because the backlog has fractions of an octet.
            self.since + rate.time_to_send(Bytes(missing)) + Duration::from_nanos(1)
        })
    }
}

impl Connection {
    /// From now on the application reads only with [`handle_read`](Self::handle_read).
    pub fn read_manually(&mut self) {
        self.reading = Some(Box::new(Reader::manual(&self.config)));
    }

    /// Octets that have arrived in order and are unread. 0 if the application reads at once.
    pub fn unread(&self) -> u64 {
        self.reading.as_ref().map_or(0, |reading| reading.unread())
    }

    /// The application reads `octets` of the [`unread`](Self::unread) ones.
    pub fn handle_read(&mut self, now: Time, octets: u64) {
        if let Some(reading) = &mut self.reading {
            reading.backlog = reading.backlog.saturating_sub(OCTET * u128::from(octets));
            self.check_window_update(now);
        }
    }

    /// The window that a segment sent now advertises.
    #[inline]
    pub(super) fn window_now(&mut self, now: Time) -> u32 {
        match &self.reading {
            None => self.config.receive_window(),
            Some(_) => self.window_of_reader(now),
        }
    }

    #[inline(never)]
    fn window_of_reader(&mut self, now: Time) -> u32 {
        let Some(reading) = &mut self.reading else { return self.config.receive_window() };
        // The SYN takes no room in the buffer.
        let window = reading.window(now, self.receiver.next().max(1), self.sender.mss);
        self.schedule_window_update();
        window
    }

    /// Adds octets that arrived in order.
    pub(super) fn buffer_arrival(&mut self, now: Time, octets: u64) {
        if let Some(reading) = &mut self.reading {
            reading.add(now, octets);
            self.schedule_window_update();
        }
    }

    /// Sends a window update if the application has read enough.
    pub(super) fn check_window_update(&mut self, now: Time) {
        let (next, mss) = (self.receiver.next(), self.sender.mss);
        let Some(reading) = &mut self.reading else { return };
        if reading.has_update(now, next, mss) && !self.receiver.is_finished() {
            self.ack_due = self.ack_due.max(AckDue::Now);
        } else {
            self.schedule_window_update();
        }
    }

    fn schedule_window_update(&mut self) {
        let Some(reading) = &self.reading else { return };
        match reading.next_update(self.receiver.next(), self.sender.mss) {
            Some(at) if !self.receiver.is_finished() => self.timers.set(Timer::Reading, at),
            _ => self.timers.stop(Timer::Reading),
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Bytes;

    use super::*;
    use crate::tcp::WindowSize;

    /// Payload of a full segment.
    const MSS: u32 = 1000;
    /// The next expected sequence number before any data, and after 4,000 octets.
    const FIRST: u64 = 1;
    const AFTER_4000: u64 = 4001;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A buffer of 4,000 octets, read at 1,000 octets/s.
    fn reading() -> Reader {
        let rate = BitRate::from_bps(8000).expect("positive");
        let config = TcpConfig {
            advertised_window: WindowSize::Bytes(Bytes(4000)),
            read_rate: Some(rate),
            ..TcpConfig::default()
        };
        Reader::new(&config).expect("there is a rate")
    }

    #[test]
    fn manual_reader_reads_only_on_request() {
        let config = TcpConfig { advertised_window: WindowSize::Bytes(Bytes(4000)), ..TcpConfig::default() };
        let mut reading = Reader::manual(&config);
        reading.window(ms(0), FIRST, MSS);
        reading.add(ms(0), 4000);
        assert_eq!(reading.window(ms(9000), AFTER_4000, MSS), 0);
        assert_eq!(reading.unread(), 4000);
        assert_eq!(reading.next_update(AFTER_4000, MSS), None, "the time of the next read is unknown");
        reading.backlog -= OCTET * 1500;
        assert!(!reading.has_update(ms(9000), AFTER_4000, MSS));
        assert_eq!(reading.window(ms(9000), AFTER_4000, MSS), 1500);
    }

    #[test]
    fn window_edge_moves_by_whole_segments() {
        let mut reading = reading();
        assert_eq!(reading.window(ms(0), FIRST, MSS), 4000);
        reading.add(ms(0), 4000);
        assert_eq!(reading.window(ms(0), AFTER_4000, MSS), 0);
        assert_eq!(reading.window(ms(999), AFTER_4000, MSS), 0, "999 octets are read");
        assert_eq!(reading.window(ms(1000), AFTER_4000, MSS), MSS);
        assert_eq!(reading.window(ms(1500), AFTER_4000, MSS), MSS);
    }

    #[test]
    fn update_is_due_after_two_segments_or_half_of_the_buffer() {
        let mut reading = reading();
        reading.window(ms(0), FIRST, MSS);
        reading.add(ms(0), 4000);
        let update_at = reading.next_update(AFTER_4000, MSS).expect("it is being read");
        assert!(!reading.clone().has_update(ms(1999), AFTER_4000, MSS));
        assert!((ms(2000)..=ms(2001)).contains(&update_at));
        assert!(reading.has_update(update_at, AFTER_4000, MSS));
        reading.window(update_at, AFTER_4000, MSS);
        assert_eq!(reading.window(ms(9000), AFTER_4000, MSS), 4000);
        assert_eq!(reading.next_update(AFTER_4000, MSS), None, "all data are read and reported");
    }
}
