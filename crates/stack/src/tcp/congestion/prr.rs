//! Proportional rate reduction (RFC 9937, which replaces RFC 6937; Linux since 3.2).
//!
//! The rule by which cwnd falls to ssthresh during a recovery with selective acknowledgments. RFC
//! 6675 lowers cwnd to ssthresh at once: the sender is silent until `pipe` has fallen below it, and
//! then sends in bursts according to the holes. PRR distributes the reduction over the recovery.
//! With each ACK it sets cwnd to `pipe` plus what may be sent now:
//!
//! ```text
//!   pipe > ssthresh   in proportion: segments sent = ssthresh / RecoverFS × segments delivered
//!   otherwise         segments delivered minus segments sent since the recovery began
//!                     (conservative bound), plus one if the ACK advances and shows no further
//!                     loss (slow start bound); at most ssthresh
//! ```
//!
//! Counted in segments, as SACK marks and Linux count. The RFC counts bytes.

/// PRR's state in a recovery, in segments.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prr {
    /// Segments in flight at the beginning (RecoverFS).
    recover_fs: u32,
    /// Segments delivered since the beginning (prr_delivered).
    delivered: u32,
    /// Segments sent since the beginning (prr_out).
    out: u32,
}

/// An ACK in a recovery, and the state of the sender after it.
#[derive(Debug, Clone, Copy)]
pub struct PrrAck {
    /// Slow start threshold, in segments.
    pub ssthresh: f64,
    /// Number of segments in flight.
    pub pipe: u32,
    /// Number of segments that the ACK newly reports as received.
    pub delivered: u32,
    /// The ACK advances SND.UNA and detects no further loss (SafeACK).
    pub is_safe: bool,
}

impl Prr {
    /// Begins a recovery. `recover_fs`: segments in flight, including those delivered by the ACK
    /// that begins it.
    pub fn begin(recover_fs: u32) -> Self {
        Prr { recover_fs: recover_fs.max(1), ..Prr::default() }
    }

    /// Counts a sent segment.
    pub fn on_sent(&mut self) {
        self.out += 1;
    }

    /// Returns cwnd after an ACK in the recovery. `None` if the ACK delivers nothing.
    pub fn on_ack(&mut self, ack: &PrrAck) -> Option<f64> {
        let PrrAck { ssthresh, pipe, delivered, is_safe } = *ack;
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let (pipe, out) = (f64::from(pipe), f64::from(self.out));
        let total_delivered = f64::from(self.delivered);
        let sendable = if pipe > ssthresh {
            (total_delivered * ssthresh / f64::from(self.recover_fs)).ceil() - out
        } else {
            ((total_delivered - out).max(f64::from(delivered)) + f64::from(u8::from(is_safe)))
                .min(ssthresh - pipe)
        };
        // The fast retransmit is sent regardless of the proportion.
        let min_sendable = if self.out == 0 { 1.0 } else { 0.0 };
        Some(pipe + sendable.max(min_sendable))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Simulates a recovery from `window` segments of which the first `lost` are missing, with one
    /// segment per ACK, until all arrived segments are acknowledged. Returns the number of segments
    /// sent so far after each ACK.
    fn recover(window: u32, lost: u32, ssthresh: f64) -> Vec<u32> {
        let mut prr = Prr::begin(window);
        let (mut pipe, mut sent, mut history) = (window - lost, 0, Vec::new());
        for _ in 0..window - lost {
            pipe -= 1;
            let ack = PrrAck { ssthresh, pipe, delivered: 1, is_safe: false };
            let cwnd = prr.on_ack(&ack).expect("the ACK delivers a segment");
            while pipe < cwnd as u32 {
                pipe += 1;
                sent += 1;
                prr.on_sent();
            }
            history.push(sent);
        }
        history
    }

    #[test]
    fn halving_sends_one_segment_per_two_acks() {
        // 20 segments in flight, one lost, ssthresh 10 as in Reno.
        let history = recover(20, 1, 10.0);
        assert_eq!(history[..6], [1, 1, 2, 2, 3, 3]);
        assert_eq!(history.last(), Some(&10));
    }

    #[test]
    fn many_losses_send_one_segment_per_delivered_one() {
        // Five segments are in flight, below ssthresh at once. Packet conservation prevents a burst
        // of 14 - 5 = 9 segments.
        assert_eq!(recover(20, 15, 14.0), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn safe_ack_adds_one_segment_up_to_ssthresh() {
        let mut prr = Prr { recover_fs: 20, delivered: 5, out: 5 };
        // As many segments were sent as delivered: an ACK permits as many as it delivers.
        let ack = PrrAck { ssthresh: 14.0, pipe: 4, delivered: 1, is_safe: false };
        assert_eq!(prr.clone().on_ack(&ack), Some(4.0 + 1.0));
        assert_eq!(prr.clone().on_ack(&PrrAck { is_safe: true, ..ack }), Some(4.0 + 1.0 + 1.0));
        let beyond_ssthresh = PrrAck { ssthresh: 5.0, delivered: 3, is_safe: true, ..ack };
        assert_eq!(prr.clone().on_ack(&beyond_ssthresh), Some(5.0));
        assert_eq!(prr.on_ack(&PrrAck { delivered: 0, ..ack }), None);
    }

    proptest! {
        /// §1: cwnd never falls below `pipe`, and never exceeds both ssthresh and the packet
        /// conservation bound.
        #[test]
        fn window_stays_within_its_bounds(
            window in 2u32..200,
            ssthresh in 2u32..200,
            acks in prop::collection::vec((0u32..200, 0u32..4, any::<bool>(), 0u32..4), 1..60),
        ) {
            let (mut prr, ssthresh) = (Prr::begin(window), f64::from(ssthresh));
            let mut total_delivered = 0;
            for (pipe, delivered, is_safe, sent) in acks {
                let ack = PrrAck { ssthresh, pipe, delivered, is_safe };
                let Some(cwnd) = prr.on_ack(&ack) else { continue };
                total_delivered += delivered;
                prop_assert!(cwnd >= f64::from(pipe));
                let conserving_bound = f64::from(pipe) + f64::from(total_delivered.max(delivered)) + 1.0;
                let proportion = f64::from(pipe) + (f64::from(total_delivered) * ssthresh / f64::from(window)).ceil();
                prop_assert!(cwnd <= ssthresh.max(conserving_bound).max(proportion));
                if f64::from(pipe) <= ssthresh && prr.out > 0 {
                    prop_assert!(cwnd <= ssthresh && cwnd <= conserving_bound);
                }
                (0..sent).for_each(|_| prr.on_sent());
            }
        }
    }
}
