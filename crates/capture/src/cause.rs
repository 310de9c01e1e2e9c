//! Why a segment left.

/// Why a segment left, as far as a capture tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// For the first time.
    New,
    /// Fast retransmission after three duplicate acknowledgments.
    DupAcks,
    /// Fast retransmission because of selective acknowledgments.
    Sack,
    /// Fast retransmission because of what left later and has arrived.
    Rack,
    /// Sent again in the recovery that a fast retransmission began.
    FastRecovery,
    /// The retransmission timer expired.
    Rto,
    /// Sent again in the recovery that an expiry began.
    RtoRecovery,
    /// Tail loss probe that repeats data.
    Probe,
    /// Sent again for a reason that packets do not show.
    Unknown,
}

impl Cause {
    /// As tables and figures call it.
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

    /// Whether it was sent again.
    pub fn is_retransmission(self) -> bool {
        self != Cause::New
    }

    /// Whether it is a retransmission after an expiry.
    pub fn is_by_rto(self) -> bool {
        matches!(self, Cause::Rto | Cause::RtoRecovery)
    }

    /// Whether it is a retransmission because of acknowledgments.
    pub fn is_by_dupack(self) -> bool {
        self.begins_fast_recovery() || self == Cause::FastRecovery
    }

    /// Whether it is a fast retransmission, with which a recovery begins.
    pub(crate) fn begins_fast_recovery(self) -> bool {
        matches!(self, Cause::DupAcks | Cause::Sack | Cause::Rack)
    }
}
