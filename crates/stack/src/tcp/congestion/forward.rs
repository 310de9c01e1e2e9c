//! TCP with forward acknowledgment over full duplex, as its paper has it (Mathis and Mahdavi 1996), with the two
//! refinements that Dubois (2005), section 3.2.6, describes.
//!
//! What is on the way is known: all between the forward-most SACKed segment and the next one to send, and what was sent
//! again (`awnd`, which is `pipe` of [`Selective`] when every hole counts as lost). A recovery begins when the
//! forward-most one is more than three segments ahead of the oldest, or with the third duplicate ACK.
//!
//! - **Data smoothing** ("rampdown"): cwnd does not fall to ssthresh at once, which would silence the sender for half a
//!   round trip, but by half a segment with each ACK of the recovery, so that one segment leaves for every two ACKs.
//! - **Over-damping**: a loss is seen one round trip after it happened. If the lost segment left in slow start, the
//!   window has almost doubled since: it is halved once to find the window of the loss, and then once more.

use umts_units::Time;

use super::{
    CongestionControl, Duplicate, Flight, LossRule, NewAck, Outstanding, Reaction, Selective, Turn, Window,
};
use crate::packet::SackBlocks;
use crate::tcp::config::FackConfig;

/// FACK's state.
#[derive(Debug, Clone)]
pub struct Forward {
    config: FackConfig,
    recovery: Selective,
    /// The number after the last segment that left in slow start.
    slow_start_to: u64,
}

impl Forward {
    /// At the start of a connection.
    pub fn new(config: FackConfig) -> Self {
        Forward { config, recovery: Selective::new(LossRule::Forward), slow_start_to: 0 }
    }

    fn begin(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight) {
        let before = window.cwnd.min(f64::from(flight.segments));
        window.enter_fast_recovery(flight);
        window.inflation = 0;
        if self.config.over_damping && sent.first_number() < self.slow_start_to {
            window.ssthresh = (window.ssthresh / 2.0).max(2.0);
            window.cwnd = window.ssthresh;
        }
        if self.config.data_smoothing {
            window.cwnd = window.cwnd.max(before);
        }
        self.recovery.begin(window, sent);
    }

    /// An ACK of a recovery.
    fn go_on(&mut self, window: &mut Window, sent: &Outstanding) {
        window.cwnd = (window.cwnd - 0.5).max(window.ssthresh.min(window.cwnd));
        self.recovery.update(window, sent);
    }
}

impl CongestionControl for Forward {
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck) -> Reaction {
        sent.note_sack(ack.flight.una, &ack.sack);
        if self.recovery.in_recovery() {
            if ack.flight.una < window.recover {
                self.go_on(window, sent);
                return Reaction::NEW_ACK;
            }
            self.recovery.end();
            window.cwnd = window.cwnd.min(window.ssthresh);
            window.duplicates = 0;
            return Reaction::NEW_ACK;
        }
        window.duplicates = 0;
        if window.cwnd < window.ssthresh {
            self.slow_start_to = sent.next_number();
        }
        if ack.segments > 0 {
            window.increase();
        }
        Reaction::NEW_ACK
    }

    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        let news = sent.note_sack(ack, sack).segments > 0;
        window.duplicates += u32::from(news);
        news
    }

    fn on_duplicate_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &Duplicate) -> Reaction {
        if self.recovery.in_recovery() {
            self.go_on(window, sent);
            return Reaction::NOTHING;
        }
        let may_begin = ack.counted && ack.flight.una >= window.recover;
        if !may_begin || !self.recovery.sees_loss(window, sent) {
            return Reaction::NOTHING;
        }
        self.begin(window, sent, &ack.flight);
        Reaction::RETRANSMIT
    }

    fn on_undo(&mut self) {
        self.recovery.end();
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        self.recovery.time_out(sent);
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    #[inline]
    fn turn(&self, window: &Window, sent: &Outstanding, _advertised: u32) -> Turn {
        self.recovery.turn(window, sent)
    }

    #[inline]
    fn on_sent(&mut self, turn: Turn, number: u64, _now: Time) {
        self.recovery.on_sent(turn, number);
    }
}
