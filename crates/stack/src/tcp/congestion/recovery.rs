//! Loss recovery with SACK on full duplex connections: RFC 6675 §5, and FACK's variant of it (see
//! `forward.rs`). One-way connections use the recoveries of ns-2 in `ns2`.
//!
//! An ACK counts as a duplicate if it SACKs new segments. A recovery begins with the third
//! duplicate, or earlier if the SACKed segments show that the oldest segment is lost. This file
//! reduces the window; [`Selective`] selects the segments to send. A recovery ends when all data
//! outstanding at its beginning is acknowledged. Losses from before a timeout do not begin a
//! recovery after it.
//!
//! If a retransmission is lost, the sender waits for the timer, as in the RFC, unless [`Selective`]
//! detects the loss.

use umts_units::Time;

use super::forward::OverDamping;
use super::{
    CongestionControl, Duplicate, Flight, LossRule, NewAck, Outstanding, Prr, PrrAck, Reaction,
    Retransmissions, Selection, Selective, Window,
};
use crate::packet::SackBlocks;
use crate::tcp::config::{TcpConfig, Variant};

/// State of the loss recovery of a connection.
#[derive(Debug, Clone)]
pub struct SackRecovery {
    /// The holes between SACKed segments, and which of them to send next.
    holes: Selective,
    reduction: Reduction,
    /// FACK's second halving of the window.
    over_damping: Option<OverDamping>,
    /// Number of segments newly SACKed by the current duplicate.
    newly_sacked: u32,
}

/// How cwnd is reduced to ssthresh during a recovery.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reduction {
    /// At once (RFC 6675 §5, step 4.2).
    AtOnce,
    /// By half a segment with each ACK: FACK's data smoothing.
    Smooth,
    /// In proportion to the delivered data (RFC 9937).
    Proportional(Prr),
}

impl SackRecovery {
    /// The recovery for the configured variant: FACK's, or RFC 6675's.
    pub fn new(config: &TcpConfig) -> Self {
        let fack = config.variant == Variant::Fack;
        let rule = if fack { LossRule::Forward } else { LossRule::Rfc6675 };
        let retransmissions =
            if config.lost_retransmissions { Retransmissions::Recorded } else { Retransmissions::ByHighRxt };
        SackRecovery {
            holes: Selective::new(rule, retransmissions),
            reduction: match config.variant {
                // BBR sets the window itself.
                Variant::Bbr => Reduction::AtOnce,
                _ if config.prr => Reduction::Proportional(Prr::default()),
                Variant::Fack if config.fack_data_smoothing => Reduction::Smooth,
                _ => Reduction::AtOnce,
            },
            over_damping: (fack && config.fack_over_damping).then(OverDamping::default),
            newly_sacked: 0,
        }
    }

    /// Begins a recovery: reduces ssthresh, and starts the reduction of cwnd.
    fn begin(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight) {
        // The window from which cwnd falls with data smoothing. It is computed first, because
        // `enter_fast_recovery` reduces cwnd at once.
        let initial_cwnd = window.cwnd.min(f64::from(flight.segments));
        window.enter_fast_recovery(flight);
        // `pipe` estimates the segments in flight, so the window needs no inflation.
        window.inflation = 0;
        if let Some(over_damping) = &self.over_damping {
            over_damping.apply(window, sent);
        }
        self.holes.begin(window, sent);
        match &mut self.reduction {
            Reduction::AtOnce => {}
            Reduction::Smooth => window.cwnd = window.cwnd.max(initial_cwnd),
            Reduction::Proportional(prr) => {
                // RecoverFS of RFC 9937: segments in flight, and those that this ACK delivers.
                *prr = Prr::begin(sent.unsacked() as u32 + self.newly_sacked);
                let cwnd = prr.on_ack(&PrrAck {
                    ssthresh: window.ssthresh,
                    pipe: self.holes.pipe(),
                    delivered: self.newly_sacked,
                    is_safe: false,
                });
                window.cwnd = cwnd.unwrap_or(window.cwnd);
            }
        }
    }

    /// Processes an ACK during a recovery, after its SACK blocks were applied. `delivered`: number
    /// of segments that it newly reports as received. `advances`: it acknowledges new data.
    fn continue_recovery(&mut self, window: &mut Window, sent: &Outstanding, delivered: u32, advances: bool) {
        let more_lost = self.holes.update(window, sent);
        match &mut self.reduction {
            Reduction::AtOnce => {}
            // Down to ssthresh. A cwnd that is below ssthresh already stays.
            Reduction::Smooth => window.cwnd = (window.cwnd - 0.5).max(window.ssthresh.min(window.cwnd)),
            Reduction::Proportional(prr) => {
                // SafeACK of RFC 9937: the window may then grow as in slow start.
                let cwnd = prr.on_ack(&PrrAck {
                    ssthresh: window.ssthresh,
                    pipe: self.holes.pipe(),
                    delivered,
                    is_safe: advances && !more_lost,
                });
                window.cwnd = cwnd.unwrap_or(window.cwnd);
            }
        }
    }

    /// Ends the recovery: all data outstanding at its beginning is acknowledged.
    fn end(&mut self, window: &mut Window) {
        self.holes.end();
        window.duplicates = 0;
        match self.reduction {
            Reduction::AtOnce => {}
            Reduction::Smooth => window.cwnd = window.cwnd.min(window.ssthresh),
            Reduction::Proportional(_) => window.cwnd = window.ssthresh,
        }
    }
}

impl CongestionControl for SackRecovery {
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        let newly_sacked = sent.mark_sacked(ack.flight.una, ack.sack).segments;
        if self.holes.in_recovery() {
            if ack.flight.una < window.recover {
                // Segments that were SACKed before have been counted as delivered.
                let delivered = newly_sacked + ack.segments - ack.removed.sacked;
                let advances = true;
                self.continue_recovery(window, sent, delivered, advances);
            } else {
                self.end(window);
            }
            return Reaction::NEW_ACK;
        }
        window.duplicates = 0;
        if let Some(over_damping) = &mut self.over_damping {
            over_damping.on_new_ack(window, sent);
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
        self.newly_sacked = sent.mark_sacked(ack, sack).segments;
        window.duplicates += u32::from(self.newly_sacked > 0);
        self.newly_sacked > 0
    }

    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        if self.holes.in_recovery() {
            let advances = false;
            self.continue_recovery(window, sent, self.newly_sacked, advances);
            return Reaction::NOTHING;
        }
        // RFC 6675 §5: not before all data outstanding at the last timeout or recovery is
        // acknowledged.
        let may_begin = ack.counted && ack.flight.una >= window.recover;
        if !may_begin || !self.holes.detects_loss(window, sent) {
            return Reaction::NOTHING;
        }
        // A retransmission of the oldest segment that is still in flight is not repeated.
        let is_first_in_flight = self.holes.is_first_in_flight(sent);
        self.begin(window, sent, &ack.flight);
        if is_first_in_flight {
            Reaction { restart_timer: true, ..Reaction::NOTHING }
        } else {
            Reaction::RETRANSMIT
        }
    }

    fn on_undo(&mut self, _sent: &mut Outstanding) {
        self.holes.end();
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        self.holes.time_out(sent);
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    #[inline]
    fn select(&self, window: &Window, sent: &Outstanding, _advertised: u32) -> Selection {
        self.holes.select(window, sent)
    }

    #[inline]
    fn on_sent(&mut self, selection: Selection, number: u64, _now: Time) {
        self.holes.on_sent(selection, number);
        if let Reduction::Proportional(prr) = &mut self.reduction
            && self.holes.in_recovery()
        {
            prr.on_sent();
        }
    }
}
