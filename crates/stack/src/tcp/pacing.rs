//! Hooks for custom congestion laws beyond acknowledgments: notification of transmissions, pacing,
//! and setting of the window. With the standard law each hook costs one comparison.

use umts_units::{Duration, Time};

use super::congestion::{Law, LawAck, SenderState, Transmission, UserLaw};
use super::connection::Connection;
use super::outstanding::Sent;
use super::sender::Sender;
use super::timers::Timer;

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
        self.notify_law_of_ack(now, flight, segments, false);
    }

    /// Notifies the law of a duplicate ACK before the variant reacts. `flight`: number of
    /// outstanding segments.
    #[inline]
    pub(super) fn notify_law_of_duplicate_ack(&mut self, now: Time, flight: u32) {
        self.notify_law_of_ack(now, flight, 0, true);
    }

    #[inline]
    fn notify_law_of_ack(&mut self, now: Time, flight: u32, segments: u32, duplicate: bool) {
        let Sender { window, estimator, .. } = &mut self.sender;
        if let Some(law) = window.law.non_standard() {
            let (acked, abc) = (window.acked, &window.abc);
            let (acks, acks_in_slow_start) =
                abc.as_ref().map_or((1.0, 1.0), |abc| (acked, abc.counted(acked)));
            let srtt = estimator.srtt();
            let is_limited =
                window.usage.is_some_and(|usage| usage.is_limiting(window.cwnd, window.ssthresh));
            law.on_ack(&LawAck {
                now,
                segments,
                duplicate,
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
            // Limits the wait to 60 s, so that a rate near 0 does not block the connection for
            // ever.
            Duration::from_secs_f64((f64::from(payload) / rate).min(60.0))
        });
        if !wait.is_zero() {
            self.timers.set(Timer::Pacing, now + wait);
        }
    }

    /// Notifies the law if the window has room but the application has written nothing more.
    #[inline]
    pub(super) fn notify_law_nothing_to_send(&mut self) {
        let sender = &mut self.sender;
        let flight = sender.outstanding.max_sent() - sender.outstanding.una();
        let all_sent = sender.written <= sender.outstanding.max_sent();
        if let Some(law) = sender.window.law.non_standard().filter(|_| all_sent) {
            law.on_nothing_to_send(flight);
        }
    }
}
