//! The congestion window, with the rules of growth and reduction that all variants share. The
//! connection raises it at each ACK of new data (`increase`), and the variants reduce it at losses
//! and timeouts. Windows are in segments, sequence numbers in bytes.

use super::{DUPLICATE_THRESHOLD, Exit, Flight, Law, Loss, RoundTrip, Rules, Usage};

/// Upper bound of rounding errors, in segments. They must not turn a product that is a whole number
/// into the number below it. Linux avoids this because its factors, fractions of 1024, are slightly
/// larger than the RFCs' factors.
const ROUNDING_ERROR: f64 = 1e-6;

/// The congestion window of a sender, and the state of the rules that change it.
#[derive(Debug)]
pub struct Window {
    // The window.
    /// Congestion window, in segments, without inflation.
    pub cwnd: f64,
    /// Slow start threshold, in segments.
    pub ssthresh: f64,
    /// Number of segments that have left the network during fast recovery, according to duplicate
    /// ACKs.
    pub inflation: u32,

    // Losses.
    /// Consecutive duplicate ACKs, as the variant counts them.
    pub duplicates: u32,
    /// The sequence number after the highest sent at the last timeout or fast retransmit (RFC 6582
    /// `recover` + 1).
    pub recover: u64,
    /// SND.UNA at the last timeout. A timeout with the same SND.UNA concerns the same segment.
    pub(in crate::tcp) timed_out_at: u64,

    // Rules.
    pub rules: Rules,
    /// The law of growth and reduction.
    pub law: Law,
    /// Growth by bytes instead of ACKs.
    pub abc: Option<ByteCounting>,
    /// ssthresh is a whole number of segments, as in Linux.
    pub has_whole_ssthresh: bool,
    /// Present with window validation: the window grows only while it limits the sender, and a loss
    /// reduces the window instead of the flight size.
    pub usage: Option<Usage>,
    /// The rule by which slow start ends before a loss, if any.
    pub exit: Option<Box<Exit>>,

    // Segments.
    /// Payload of a full segment (SMSS), in bytes.
    pub smss: u32,
    /// The amount that the current acknowledgment newly covers, in full segments.
    pub acked: f64,
}

/// cwnd and ssthresh at one time, in segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CwndAndSsthresh {
    pub cwnd: f64,
    pub ssthresh: f64,
}

impl Window {
    /// The state before the SYN is acknowledged: one segment.
    pub fn new(ssthresh: Option<u32>, rules: Rules, law: Law, smss: u32) -> Self {
        Window {
            cwnd: 1.0,
            ssthresh: ssthresh.map_or(f64::INFINITY, f64::from),
            inflation: 0,
            duplicates: 0,
            recover: 0,
            timed_out_at: u64::MAX,
            rules,
            law,
            abc: None,
            has_whole_ssthresh: false,
            usage: None,
            exit: None,
            smss,
            acked: 0.0,
        }
    }

    /// The current congestion window and threshold.
    #[inline]
    pub fn size(&self) -> CwndAndSsthresh {
        CwndAndSsthresh { cwnd: self.cwnd, ssthresh: self.ssthresh }
    }

    /// Number of segments that may be outstanding.
    #[inline]
    pub fn usable(&self, advertised: u32) -> u32 {
        // A cwnd beyond u32 saturates, as intended.
        (self.cwnd as u32).saturating_add(self.inflation).min(advertised)
    }

    /// Growth by one ACK of new data (RFC 5681 §3.1): one segment below ssthresh, 1/cwnd above, or
    /// according to the law.
    #[inline]
    pub fn increase(&mut self) {
        let is_unused = self.usage.is_some_and(|usage| !usage.is_limiting(self.cwnd, self.ssthresh));
        if is_unused {
            return;
        }
        let cwnd_before = self.cwnd;
        self.grow();
        // HyStart++ slows the growth before it ends slow start.
        let was_in_slow_start = cwnd_before < self.ssthresh;
        if was_in_slow_start && let Some(exit) = &self.exit {
            let growth = self.cwnd - cwnd_before;
            self.cwnd = cwnd_before + growth / exit.divisor();
        }
    }

    /// Passes a sample of the RTT estimator to the exit rule, which may end slow start.
    #[inline]
    pub fn sample_round_trip(&mut self, trip: impl FnOnce() -> RoundTrip) {
        if let Some(exit) = &mut self.exit
            && exit.sample_round_trip(&trip(), self.cwnd, self.ssthresh)
        {
            self.ssthresh = self.cwnd;
        }
    }

    /// Passes the sample of the last segment that an ACK covers to the exit rule, which may end
    /// slow start. Call it before the window grows.
    #[inline]
    pub fn sample_last_segment(&mut self, trip: impl FnOnce() -> RoundTrip) {
        if let Some(exit) = &mut self.exit
            && exit.sample_last_segment(&trip(), self.cwnd, self.ssthresh)
        {
            self.ssthresh = self.cwnd;
        }
    }

    /// Growth by an ACK according to the law, or to the standard rule with or without byte
    /// counting.
    #[inline]
    fn grow(&mut self) {
        if let Some(law) = self.law.non_standard() {
            self.cwnd = law.grow(self.cwnd, self.ssthresh);
        } else if let Some(abc) = &mut self.abc {
            self.cwnd = abc.grow(self.cwnd, self.ssthresh, self.acked);
        } else {
            self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
        }
    }

    /// ssthresh after a loss, before its lower bound is applied: half of the load, or according to
    /// the law.
    fn reduced(&mut self, flight: &Flight, loss: Loss) -> f64 {
        let load = if self.usage.is_some() { self.cwnd } else { self.rules.load(self, flight) };
        let reduced = match self.law.non_standard() {
            None => load / 2.0,
            Some(law) => law.reduce(self.cwnd, load, loss),
        };
        if self.has_whole_ssthresh { (reduced + ROUNDING_ERROR).trunc() } else { reduced }
    }

    /// Whether a third duplicate ACK indicates a loss to which no earlier reduction responded (RFC
    /// 6582 §3.2, step 1): the ACK covers more than was sent before the last timeout or fast
    /// retransmit. While only the SYN is acknowledged no data can have been resent, so the
    /// duplicate always counts.
    #[inline]
    pub fn is_past_recover(&self, flight: &Flight) -> bool {
        flight.una > self.recover || flight.una <= 1
    }

    /// Begins fast recovery: reduces ssthresh and cwnd, and inflates the window by the three
    /// duplicates.
    pub fn enter_fast_recovery(&mut self, flight: &Flight) {
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.cwnd = self.rules.reduced_cwnd(reduced);
        self.inflation = DUPLICATE_THRESHOLD;
        self.recover = flight.max_sent;
        if let Some(abc) = &mut self.abc {
            abc.begin_reduction();
        }
    }

    /// Reduces the window as after a loss, without a retransmission: a router has marked a segment
    /// (RFC 3168 §6.1.2), or a tail loss probe has repaired the loss (RFC 8985 §7.4). Has no effect
    /// with BBR, which sets the window itself. Returns whether the window was reduced.
    pub fn reduce_without_recovery(&mut self, flight: &Flight) -> bool {
        if matches!(self.law, Law::Bbr(_)) {
            return false;
        }
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.cwnd = self.ssthresh;
        true
    }

    /// Slow start from one segment after duplicate ACKs: Tahoe's only reaction to a loss.
    pub fn collapse_after_duplicates(&mut self, flight: &Flight) {
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.collapse(flight);
    }

    /// Like [`collapse_after_duplicates`](Self::collapse_after_duplicates), but keeps `recover` and
    /// the inflation.
    pub fn cut_to_one(&mut self, flight: &Flight) {
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.cwnd = 1.0;
    }

    /// Slow start from one segment after an expiry of the timer (RFC 5681 §3.1, equation 4 and the
    /// text after it).
    pub fn collapse_after_timeout(&mut self, flight: &Flight) {
        let already_reduced = false;
        self.start_again_after_timeout(flight, already_reduced);
    }

    /// Like `collapse_after_timeout`, but keeps ssthresh if `already_reduced`: the losses of this
    /// window have already reduced it.
    pub fn start_again_after_timeout(&mut self, flight: &Flight, already_reduced: bool) {
        self.inflation = 0;
        let same_segment_again = self.timed_out_at == flight.una;
        let cuts_ssthresh = self.rules.timeout_cuts_ssthresh(same_segment_again, flight);
        if !already_reduced && cuts_ssthresh {
            let reduced = self.reduced(flight, Loss::Timeout);
            self.ssthresh = self.rules.threshold(reduced);
        }
        self.timed_out_at = flight.una;
        if let Some(exit) = &mut self.exit {
            exit.on_timeout();
        }
        if let Some(abc) = &mut self.abc {
            *abc = ByteCounting { acked_since_growth: 0.0, after_timeout: true, ..*abc };
        }
        self.collapse(flight);
    }

    /// Sets the window to one segment, from which slow start begins.
    fn collapse(&mut self, flight: &Flight) {
        self.cwnd = 1.0;
        self.inflation = 0;
        self.recover = flight.max_sent;
    }
}

/// Appropriate byte counting (RFC 3465): cwnd grows by the amount that an ACK covers, instead of
/// once for each ACK.
#[derive(Debug, Clone, Copy)]
pub struct ByteCounting {
    /// L of §2.2: the maximum growth per ACK in slow start, in segments.
    limit: Option<f64>,
    /// Full segments acknowledged since the last growth in congestion avoidance.
    acked_since_growth: f64,
    /// In the slow start after a timeout, an ACK of many segments may cover data that had arrived
    /// before (§2.3).
    after_timeout: bool,
}

impl ByteCounting {
    pub fn new(limit: Option<u32>) -> Self {
        ByteCounting { limit: limit.map(f64::from), acked_since_growth: 0.0, after_timeout: false }
    }

    /// Whether growth per ACK is unlimited, as in Linux. This also holds after a timeout, and the
    /// caller passes only segments that were not SACKed before.
    pub fn is_unlimited(&self) -> bool {
        self.limit.is_none()
    }

    /// Linux forgets the segments counted in congestion avoidance when a reduction begins
    /// (`tcp_init_cwnd_reduction`).
    fn begin_reduction(&mut self) {
        if self.is_unlimited() {
            self.acked_since_growth = 0.0;
        }
    }

    /// Number of segments by which an ACK of `acked` segments raises the window in slow start.
    pub fn counted(&self, acked: f64) -> f64 {
        let Some(limit) = self.limit else { return acked };
        acked.min(if self.after_timeout { 1.0 } else { limit })
    }

    /// Returns the window after an ACK that covers `acked` segments.
    fn grow(&mut self, cwnd: f64, ssthresh: f64, acked: f64) -> f64 {
        if cwnd >= ssthresh {
            self.after_timeout = false;
            return self.avoid_congestion(cwnd, acked);
        }
        let grown = cwnd + self.counted(acked);
        if self.is_unlimited() && grown > ssthresh {
            // Slow start ends at the threshold, and the rest counts in congestion avoidance (Linux:
            // tcp_slow_start).
            return self.avoid_congestion(ssthresh, grown - ssthresh);
        }
        grown
    }

    /// Congestion avoidance: the window grows by one segment for each acknowledged window.
    fn avoid_congestion(&mut self, cwnd: f64, acked: f64) -> f64 {
        self.acked_since_growth += acked;
        if self.acked_since_growth < cwnd {
            return cwnd;
        }
        self.acked_since_growth -= cwnd;
        cwnd + 1.0
    }
}
