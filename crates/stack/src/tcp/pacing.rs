//! The calls from a connection to its window law, if the law is not the standard one (Westwood+,
//! CUBIC, BBR, or a law in Python): notification of acknowledgments and transmissions, the rate of
//! pacing, and the window that the law sets. With the standard law each call costs one comparison.

use umts_units::{Duration, Time};

use super::congestion::{Law, LawAck, SenderState, Transmission, UserLaw};
use super::connection::Connection;
use super::outstanding::Sent;
use super::sender::Sender;
use super::timers::Timer;

/// Limit on the wait for the next paced segment, so that a rate near 0 does not block the
/// connection for ever.
const MAX_WAIT_S: f64 = 60.0;

impl Connection {
    /// Installs a custom law. No segment may have been sent yet.
    pub fn set_law(&mut self, law: UserLaw) {
        self.sender.window.law = Law::User(law);
    }

    /// Whether the next paced segment must still wait.
    #[inline]
    pub(super) fn waits_for_pacing(&self) -> bool {
        self.timers.is_running(Timer::Pacing)
    }

    /// Notifies the law of an acknowledgment of new data, except of a SYN, before the variant
    /// reacts. `flight`: number of segments outstanding before it. `segments`: number of segments
    /// that it covers completely.
    #[inline]
    pub(super) fn notify_law_of_new_ack(&mut self, now: Time, flight: u32, segments: u32) {
        let is_duplicate = false;
        self.notify_law_of_ack(now, flight, segments, is_duplicate);
    }

    /// Notifies the law of a duplicate ACK before the variant reacts. `flight`: number of
    /// outstanding segments.
    #[inline]
    pub(super) fn notify_law_of_duplicate_ack(&mut self, now: Time, flight: u32) {
        let is_duplicate = true;
        self.notify_law_of_ack(now, flight, 0, is_duplicate);
    }

    #[inline]
    fn notify_law_of_ack(&mut self, now: Time, flight: u32, segments: u32, is_duplicate: bool) {
        let Sender { window, estimator, .. } = &mut self.sender;
        if let Some(law) = window.law.non_standard() {
            // The law counts an ACK as one, or with byte counting as the segments that it covers.
            let acked = window.acked;
            let (acks, acks_in_slow_start) = match &window.abc {
                None => (1.0, 1.0),
                Some(abc) => (acked, abc.counted(acked)),
            };
            let srtt = estimator.srtt();
            let is_limited =
                window.usage.is_some_and(|usage| usage.is_limiting(window.cwnd, window.ssthresh));
            law.on_ack(&LawAck {
                now,
                segments,
                duplicate: is_duplicate,
                flight,
                srtt,
                acks,
                acks_in_slow_start,
                is_limited,
            });
        }
    }

    /// Notifies the law of the acknowledgment after the variant has reacted. The law may set the
    /// window.
    #[inline]
    pub(super) fn notify_law_after_ack(&mut self, now: Time) {
        let Sender { window, outstanding, .. } = &mut self.sender;
        let inflation = window.inflation;
        if let Some(law) = window.law.non_standard()
            && let Some(cwnd) = law.after_ack(&SenderState { now, sent: outstanding, inflation })
        {
            window.cwnd = cwnd;
        }
    }

    /// Notifies the law that segment `number` was sent, and delays the next one according to the
    /// law's rate.
    #[inline]
    pub(super) fn notify_law_of_transmission(&mut self, now: Time, number: u64, sent: &Sent) {
        let Sender { window, outstanding, .. } = &mut self.sender;
        let Some(law) = window.law.non_standard() else { return };
        let payload = sent.payload;
        law.on_sent(&Transmission { now, number, payload, idle: outstanding.len() == 1 });
        let wait = law.pacing_rate().map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64((f64::from(payload) / rate).min(MAX_WAIT_S))
        });
        if !wait.is_zero() {
            self.timers.set(Timer::Pacing, now + wait);
        }
    }

    /// Notifies the law if the window has room but the application has written nothing more.
    #[inline]
    pub(super) fn notify_law_nothing_to_send(&mut self) {
        let sender = &mut self.sender;
        let bytes_in_flight = sender.outstanding.max_sent() - sender.outstanding.una();
        let all_sent = sender.written <= sender.outstanding.max_sent();
        if let Some(law) = sender.window.law.non_standard().filter(|_| all_sent) {
            law.on_nothing_to_send(bytes_in_flight);
        }
    }
}
