//! The decisions of a variant of TCP, which the connection carries out: the reaction to an
//! acknowledgment (retransmissions, timers, round-trip sample), and the choice of the next segment.

/// The effects of an acknowledgment besides the change of the window. The connection applies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaction {
    /// The segments to send again at once, regardless of the window.
    pub resend: Resend,
    /// Whether the retransmission timer restarts.
    pub restart_timer: bool,
    /// The change of the back-off factor.
    pub backoff: Backoff,
    /// The round-trip sample to take.
    pub sample: Sample,
}

/// The segments to send again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resend {
    Nothing,
    /// The oldest segment.
    First,
    /// All segments from the oldest on, as the window allows.
    GoBack,
    /// The segments that the variant's loss recovery considers lost, in order. The first one is
    /// sent at once.
    Lost,
}

/// The change of the back-off factor of the timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    Keep,
    /// Reset to 1.
    Clear,
    /// Double, as after a timeout.
    Double,
}

/// The round-trip sample of an acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// None. The segment being timed stays timed.
    Nothing,
    /// None, and no segment is being timed any longer (Karn's rule).
    Cancel,
    /// From the segment being timed, if the acknowledgment covers it (RFC 6298 §3).
    Timed,
    /// ns-2's FACK: from the echoed timestamp. If the acknowledgment covers the segment being
    /// timed, that segment is no longer timed and the back-off ends. If the reaction restarts the
    /// timer, the timer still uses the timeout before this sample.
    Echo,
    /// ns-2's FACK at a fast retransmit: from the echoed timestamp. No segment is being timed any
    /// longer, and the timer restarts with the new timeout.
    EchoAndCancel,
}

impl Reaction {
    /// No action beyond the window rule.
    pub const NOTHING: Reaction = Reaction {
        resend: Resend::Nothing,
        restart_timer: false,
        backoff: Backoff::Keep,
        sample: Sample::Nothing,
    };
    /// For an acknowledgment of new data: take the timed sample and restart the timer (RFC 6298
    /// §5.3).
    pub const NEW_ACK: Reaction =
        Reaction { restart_timer: true, sample: Sample::Timed, ..Reaction::NOTHING };
    /// Fast retransmit of the oldest segment.
    pub const RETRANSMIT: Reaction =
        Reaction { resend: Resend::First, restart_timer: true, sample: Sample::Cancel, ..Reaction::NOTHING };
    /// Begin a recovery in which the variant selects the segments.
    pub const RECOVER: Reaction = Reaction { resend: Resend::Lost, ..Reaction::RETRANSMIT };
    /// Go back to the oldest segment.
    pub const GO_BACK: Reaction = Reaction { resend: Resend::GoBack, ..Reaction::RETRANSMIT };
}

/// The segment to send now. Indices count from the oldest outstanding segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// The next one in order, if the window or limited transmit allows it.
    ByWindow,
    /// The next one in order.
    InOrder,
    /// The hole at this index.
    Hole(usize),
    /// The oldest one, because of a [`Resend::First`].
    First,
    /// The segment at this index after a timeout. All segments between the last one sent and this
    /// one are SACKed.
    NextUnsacked(usize),
    /// The segment at this index, once per recovery. Its ACK shows which segments are missing (RFC
    /// 6675 §4).
    Rescue(usize),
    /// The segment at this index, marked as lost by RACK.
    Lost(usize),
    /// The last segment, at this index, as a tail loss probe.
    Probe(usize),
    /// No segment may be sent now.
    Wait,
}
