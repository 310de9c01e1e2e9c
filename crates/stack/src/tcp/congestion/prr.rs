//! Proportional rate reduction (RFC 9937, which replaces RFC 6937; Linux since 3.2).
//!
//! RFC 6675 lowers cwnd to ssthresh at once: the sender is silent until `pipe` has fallen below it,
//! and then sends in bursts according to the holes. PRR distributes the reduction over the
//! recovery. With each ACK it sets cwnd to `pipe` plus what may be sent now:
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
    /// Segments delivered since (prr_delivered).
    delivered: u32,
    /// Segments sent since (prr_out).
    out: u32,
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

    /// Returns cwnd after an ACK that delivers `delivered` segments, with `pipe` segments in
    /// flight. `None` if it delivers nothing. `safe`: it advances SND.UNA and detects no further
    /// loss (SafeACK).
    pub fn on_ack(&mut self, ssthresh: f64, pipe: u32, delivered: u32, safe: bool) -> Option<f64> {
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let (pipe, out) = (f64::from(pipe), f64::from(self.out));
        let total_delivered = f64::from(self.delivered);
        let sendable = if pipe > ssthresh {
            (total_delivered * ssthresh / f64::from(self.recover_fs)).ceil() - out
        } else {
            ((total_delivered - out).max(f64::from(delivered)) + f64::from(u8::from(safe)))
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
            let cwnd = prr.on_ack(ssthresh, pipe, 1, false).expect("the ACK delivers a segment");
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
        // pipe is below ssthresh at once: packet conservation instead of a burst of nine.
        assert_eq!(recover(20, 15, 14.0), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn safe_ack_adds_one_segment_up_to_ssthresh() {
        let mut prr = Prr { recover_fs: 20, delivered: 5, out: 5 };
        assert_eq!(prr.clone().on_ack(14.0, 4, 1, true), Some(6.0));
        assert_eq!(prr.clone().on_ack(14.0, 4, 1, false), Some(5.0));
        assert_eq!(prr.clone().on_ack(5.0, 4, 3, true), Some(5.0));
        assert_eq!(prr.on_ack(14.0, 4, 0, true), None);
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
            for (pipe, delivered, safe, sent) in acks {
                let Some(cwnd) = prr.on_ack(ssthresh, pipe, delivered, safe) else { continue };
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
