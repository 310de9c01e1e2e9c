//! Why a segment was sent.

/// Why a segment was sent, as far as a capture shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The segment has new data.
    New,
    /// Fast retransmission after three duplicate acknowledgments.
    DupAcks,
    /// Fast retransmission because of selective acknowledgments.
    Sack,
    /// Fast retransmission because a segment that left later has arrived.
    Rack,
    /// Retransmission in the recovery that a fast retransmission began.
    FastRecovery,
    /// The retransmission timer expired.
    Rto,
    /// Retransmission in the recovery that an expiry began.
    RtoRecovery,
    /// Tail loss probe that repeats data.
    Probe,
    /// Retransmission for a reason that packets do not show.
    Unknown,
}

impl Cause {
    /// Returns the name in tables and figures.
    pub fn name(self) -> &'static str {
        match self {
            Cause::New => "new",
            Cause::DupAcks => "dupacks",
            Cause::Sack => "sack",
            Cause::Rack => "rack",
            Cause::FastRecovery => "fast_recovery",
            Cause::Rto => "rto",
            Cause::RtoRecovery => "rto_recovery",
            Cause::Probe => "probe",
            Cause::Unknown => "unknown",
        }
    }

    /// Returns whether the segment is a retransmission.
    pub fn is_retransmission(self) -> bool {
        self != Cause::New
    }

    /// Returns whether the segment is a retransmission by or after an expiry.
    pub fn is_by_rto(self) -> bool {
        matches!(self, Cause::Rto | Cause::RtoRecovery)
    }

    /// Returns whether the segment is a fast retransmission, or one in the recovery that follows.
    pub fn is_by_dupack(self) -> bool {
        self.begins_fast_recovery() || self == Cause::FastRecovery
    }

    /// Returns whether the segment is a fast retransmission, which begins a recovery.
    pub(crate) fn begins_fast_recovery(self) -> bool {
        matches!(self, Cause::DupAcks | Cause::Sack | Cause::Rack)
    }
}
