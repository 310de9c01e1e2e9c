//! What a version answers to an acknowledgment, and which segment it lets leave.

/// What to do about an acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaction {
    /// What leaves again at once, whatever the window says.
    pub resend: Resend,
    /// The retransmission timer starts anew.
    pub restart_timer: bool,
    /// What becomes of the factor on the timeout.
    pub backoff: Backoff,
    /// What is measured.
    pub sample: Sample,
}

/// What leaves again at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resend {
    /// Nothing.
    Nothing,
    /// The oldest segment.
    First,
    /// Everything from the oldest segment on, as the window allows.
    GoBack,
    /// What is marked lost, in turn, the first of it at once.
    Lost,
}

/// The factor on the timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    /// As it was.
    Keep,
    /// Ends.
    Clear,
    /// As after a timeout.
    Double,
}

/// What an acknowledgment says about the round-trip time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Nothing; the segment being timed goes on being timed.
    Nothing,
    /// Nothing, and the segment being timed no longer is (Karn's rule).
    Cancel,
    /// The segment being timed arrived, if the acknowledgment covers it (RFC 6298 §3).
    Timed,
    /// ns-2's FACK: the time since the segment left whose timestamp is echoed. If the acknowledgment covers the segment
    /// being timed, that one no longer is, and the back-off ends. A timer that restarts does so before.
    Echo,
    /// ns-2's FACK at a fast retransmit: the same time, no segment is being timed any longer, and the timer restarts
    /// with the new timeout.
    EchoAndCancel,
}

impl Reaction {
    /// Nothing beyond what the window allows.
    pub const NOTHING: Reaction = Reaction {
        resend: Resend::Nothing,
        restart_timer: false,
        backoff: Backoff::Keep,
        sample: Sample::Nothing,
    };
    /// To an acknowledgment of new data: it is timed and restarts the timer (RFC 6298 §5.3).
    pub const NEW_ACK: Reaction =
        Reaction { restart_timer: true, sample: Sample::Timed, ..Reaction::NOTHING };
    /// Fast retransmit of the oldest segment.
    pub const RETRANSMIT: Reaction =
        Reaction { resend: Resend::First, restart_timer: true, sample: Sample::Cancel, ..Reaction::NOTHING };
    /// A recovery begins in which the version says what leaves.
    pub const RECOVER: Reaction = Reaction { resend: Resend::Lost, ..Reaction::RETRANSMIT };
    /// Start again from the oldest segment.
    pub const GO_BACK: Reaction = Reaction { resend: Resend::GoBack, ..Reaction::RETRANSMIT };
}

/// Which segment leaves now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The next in order if the window or limited transmit lets it.
    ByWindow,
    /// The next in order.
    InOrder,
    /// The one at this place from the oldest.
    Hole(usize),
    /// The oldest, because of a [`Resend::First`].
    First,
    /// The one at this place, after a timeout: those between it and the last that left are selectively acknowledged.
    Onward(usize),
    /// The one at this place, once in a recovery, so that its ACK tells what is missing (RFC 6675 §4).
    Rescue(usize),
    /// The one at this place, marked lost by RACK.
    Lost(usize),
    /// The one at this place, the last: a tail loss probe.
    Probe(usize),
    /// None.
    Wait,
}
