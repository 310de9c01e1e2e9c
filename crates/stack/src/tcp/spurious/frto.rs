//! F-RTO (RFC 5682): after a timeout one segment is retransmitted. If the next ACKs acknowledge
//! segments that were not retransmitted, the originals have arrived and the timeout was spurious.
//!
//! ```text
//!   timeout: resend oldest ─► first ACK ─► two new segments ─► second ACK ─► advances: spurious
//!                                │                                │
//!                                └─ all, or nothing new:          └─ nothing new: slow start
//!                                   as after any timeout             with a window of at most 3
//! ```

/// A step of F-RTO, as in the figure above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The oldest segment was retransmitted (step 1).
    Resent,
    /// New segments were sent (step 2).
    Probing,
    /// The decision was made, or no decision is possible.
    Over,
}

/// The consequence of an ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No decision yet.
    Undecided,
    /// Up to two new segments may be sent, and nothing else before the next ACK.
    Probe,
    /// All outstanding segments are sent again, with a window of at most three segments.
    Conventional,
    /// The timeout was spurious.
    Spurious,
}

/// F-RTO's state after a timeout.
#[derive(Debug, Clone, Copy)]
pub(super) struct FRto {
    step: Step,
    /// The sequence number after the highest one sent before the timeout.
    recover: u64,
    /// SACK blocks count as evidence (§3).
    with_sack: bool,
    /// Number of SACKed segments that were sent once. Counted when the probe was sent, or
    /// (`accepts_originals`) at the last ACK.
    sacked: usize,
    /// An acknowledged original decides at once (Linux: FLAG_ORIG_SACK_ACKED in
    /// `tcp_process_loss`).
    accepts_originals: bool,
}

/// An acknowledgment, and the state after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrtoAck {
    /// Oldest unacknowledged sequence number.
    pub una: u64,
    /// The ACK acknowledges new data.
    pub advances: bool,
    /// Number of newly acknowledged segments that were sent once and not SACKed before.
    pub originals: u32,
    /// SACKed segments below `recover` that were sent once.
    pub sacked: usize,
    /// New data exists, and the receiver has room for it.
    pub has_new_data: bool,
}

impl FRto {
    pub fn new(recover: u64, with_sack: bool) -> Self {
        FRto { step: Step::Resent, recover, with_sack, sacked: 0, accepts_originals: false }
    }

    /// The variant of Linux, in which an acknowledged original decides at once. `sacked`: number of
    /// originals that are SACKed.
    pub fn accepting_originals(self, sacked: usize) -> Self {
        FRto { accepts_originals: true, sacked, ..self }
    }

    /// Starts again because the same segment has timed out again.
    pub fn restart(&mut self, recover: u64) {
        self.step = Step::Resent;
        self.recover = recover;
    }

    pub fn recover(&self) -> u64 {
        self.recover
    }

    /// Whether only new segments may be sent.
    pub fn is_probing(&self) -> bool {
        self.step == Step::Probing
    }

    /// Processes an ACK, and returns its consequence.
    pub fn on_ack(&mut self, ack: &FrtoAck) -> Verdict {
        if self.accepts_originals && self.step != Step::Over && self.shows_original(ack) {
            self.step = Step::Over;
            return Verdict::Spurious;
        }
        match self.step {
            Step::Over => Verdict::Undecided,
            Step::Resent => self.on_first_ack(ack),
            Step::Probing => self.on_second_ack(ack),
        }
    }

    /// Whether an original from before the timeout is newly acknowledged or SACKed.
    fn shows_original(&mut self, ack: &FrtoAck) -> bool {
        let newly_sacked = ack.sacked > std::mem::replace(&mut self.sacked, ack.sacked);
        let newly_acknowledged = ack.originals > 0 && ack.una <= self.recover;
        newly_sacked || newly_acknowledged
    }

    /// Step 2.
    fn on_first_ack(&mut self, ack: &FrtoAck) -> Verdict {
        let is_partial = ack.advances && ack.una < self.recover;
        if is_partial && ack.has_new_data {
            self.step = Step::Probing;
            self.sacked = ack.sacked;
            return Verdict::Probe;
        }
        // §3: with SACK, an ACK that decides may still follow a duplicate.
        let waits_for_next = !ack.advances && self.with_sack;
        if !waits_for_next {
            self.step = Step::Over;
        }
        Verdict::Undecided
    }

    /// Step 3.
    fn on_second_ack(&mut self, ack: &FrtoAck) -> Verdict {
        self.step = Step::Over;
        let newly_sacked = self.with_sack && ack.sacked > self.sacked;
        if ack.advances || newly_sacked { Verdict::Spurious } else { Verdict::Conventional }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of new data up to `una`.
    fn advance(una: u64) -> FrtoAck {
        FrtoAck { una, advances: true, originals: 0, sacked: 0, has_new_data: true }
    }

    fn duplicate(una: u64) -> FrtoAck {
        FrtoAck { advances: false, ..advance(una) }
    }

    const WITHOUT_SACK: bool = false;
    const WITH_SACK: bool = true;
    /// Everything sent before the timeout is below this sequence number.
    const RECOVER: u64 = 1000;

    fn verdicts(with_sack: bool, acks: &[FrtoAck]) -> Vec<Verdict> {
        let mut frto = FRto::new(RECOVER, with_sack);
        acks.iter().map(|ack| frto.on_ack(ack)).collect()
    }

    use Verdict::{Conventional, Probe, Spurious, Undecided};

    #[test]
    fn two_advancing_acks_show_a_spurious_timeout() {
        assert_eq!(verdicts(WITHOUT_SACK, &[advance(200), advance(300)]), [Probe, Spurious]);
    }

    #[test]
    fn duplicate_after_the_probe_shows_a_real_loss() {
        assert_eq!(verdicts(WITHOUT_SACK, &[advance(200), duplicate(200)]), [Probe, Conventional]);
        assert_eq!(verdicts(WITH_SACK, &[advance(200), duplicate(200)]), [Probe, Conventional]);
    }

    #[test]
    fn first_ack_of_everything_decides_nothing() {
        assert_eq!(verdicts(WITHOUT_SACK, &[advance(RECOVER), advance(1100)]), [Undecided, Undecided]);
    }

    #[test]
    fn first_duplicate_decides_nothing() {
        assert_eq!(verdicts(WITHOUT_SACK, &[duplicate(100), advance(200)]), [Undecided, Undecided]);
    }

    #[test]
    fn nothing_is_decided_without_new_data_to_probe() {
        let without_new_data = FrtoAck { has_new_data: false, ..advance(200) };
        assert_eq!(verdicts(WITHOUT_SACK, &[without_new_data, advance(300)]), [Undecided, Undecided]);
    }

    #[test]
    fn sacked_originals_count_as_evidence() {
        let sacked = FrtoAck { sacked: 1, ..duplicate(200) };
        assert_eq!(
            verdicts(WITH_SACK, &[duplicate(100), advance(200), sacked]),
            [Undecided, Probe, Spurious]
        );
    }
}
