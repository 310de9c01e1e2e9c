//! Retransmission timeouts for the time budget: whether they were needed, and their reasons.
//!
//! A timeout is needed if every copy of the oldest unacknowledged segment that left before the
//! timeout was lost. It is also needed if that segment arrived, every acknowledgment of it was
//! lost, and every copy of the next segment in order was lost, too: then no packet on its way could
//! start the repair. Otherwise it is spurious. If copies are still on the way at the timeout, this
//! is known only when all have been lost or one has arrived; until then the timeout counts as
//! spurious. The reason of a needed timeout is the loss. The reason of a spurious one is the cause
//! for which the connection waited longest in the silence before it.

use umts_stack::ids::{End, PacketId};
use umts_units::Time;

use super::cause::Cause;
use super::direction_state::{DirectionState, Position};
use super::log::Interval;
use super::loss::Loss;

/// Declares the reasons: variant, name in tables, label, metric of spurious timeouts, metric of
/// needed timeouts, and meaning. A missing metric means that the combination is impossible.
macro_rules! reasons {
    ($($reason:ident = $name:literal, $label:literal, $spurious:expr, $needed:expr, $meaning:literal;)*) => {
        /// Reason of a timeout.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum TimeoutReason {
            $(#[doc = $meaning] $reason,)*
        }

        impl TimeoutReason {
            /// All reasons.
            pub const ALL: [TimeoutReason; [$(TimeoutReason::$reason),*].len()] = [$(TimeoutReason::$reason),*];

            /// Name in tables.
            pub fn name(self) -> &'static str {
                match self { $(TimeoutReason::$reason => $name),* }
            }

            /// Meaning in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(TimeoutReason::$reason => $meaning),* }
            }

            /// Labels of the metrics in figures and tables, in the order of their names.
            pub(super) fn labels(self) -> [&'static str; 2] {
                match self { $(TimeoutReason::$reason =>
                    [concat!("Spurious timeouts: ", $label), concat!("Needed timeouts: ", $label)]),* }
            }

            /// Names of the metrics: spurious timeouts, and needed timeouts. `None` if the
            /// combination is impossible.
            pub(super) fn metrics(self) -> [Option<&'static str>; 2] {
                match self { $(TimeoutReason::$reason => [$spurious, $needed]),* }
            }
        }
    };
}

reasons! {
    ChannelSwitch = "channel_switch", "channel switch", Some("budget_spurious_rtos_channel_switch"), None,
        "Timeouts after a silence in which the user was switched, or waited for a channel.";
    Handover = "handover", "handover", Some("budget_spurious_rtos_handover"), None,
        "Timeouts after a silence in which the user changed cells.";
    Capacity = "capacity", "wait for capacity", Some("budget_spurious_rtos_capacity"), None,
        "Timeouts after a silence in which the user waited for capacity of a TDD cell.";
    DchRefused = "dch_refused", "DCH refused", Some("budget_spurious_rtos_dch_refused"), None,
        "Timeouts after a silence in which the user stayed on common channels because a DCH was refused.";
    RlcRecovery = "rlc_recovery", "RLC recovery", Some("budget_spurious_rtos_rlc_recovery"), None,
        "Timeouts after a silence in which RLC repaired PDUs.";
    RlcWindow = "rlc_window", "full RLC window", Some("budget_spurious_rtos_rlc_window"), None,
        "Timeouts after a silence in which the transmission window of RLC was full.";
    RadioDelay = "radio_delay", "delay at the radio", Some("budget_spurious_rtos_radio_delay"), None,
        "Timeouts after a silence in which the segment or its acknowledgment was queued, sent or put into order at the radio.";
    AckLoss = "ack_loss", "lost acknowledgment", Some("budget_spurious_rtos_ack_loss"), None,
        "Timeouts although the segment had arrived: its acknowledgment was lost.";
    CoreDelay = "core_delay", "delay in the core network", Some("budget_spurious_rtos_core_delay"), None,
        "Timeouts after a silence in which the fixed network delayed the segment or its acknowledgment.";
    RlcReset = "rlc_reset", "RLC reset", Some("budget_spurious_rtos_rlc_reset"), Some("budget_needed_rtos_rlc_reset"),
        "Timeouts after a silence in which RLC was reset, or after the RESET discarded the segment.";
    NodebDrop = "nodeb_drop", "Node B queue drop", None, Some("budget_needed_rtos_nodeb_drop"),
        "Timeouts after the full queue of the Node B dropped a block of the segment, and RLC did not repair it.";
    RadioLoss = "radio_loss", "radio loss", None, Some("budget_needed_rtos_radio_loss"),
        "Timeouts after the segment was lost on a radio without repair.";
    RlcDiscard = "rlc_discard", "RLC discard", None, Some("budget_needed_rtos_rlc_discard"),
        "Timeouts after RLC discarded the segment.";
    BufferFull = "buffer_full", "full RLC buffer", None, Some("budget_needed_rtos_buffer_full"),
        "Timeouts after RLC's buffer had no room for the segment.";
    CoreDrop = "core_drop", "core queue drop", None, Some("budget_needed_rtos_core_drop"),
        "Timeouts after the queue of a link of the fixed network dropped the segment.";
    CoreOutage = "core_outage", "core link outage", None, Some("budget_needed_rtos_core_outage"),
        "Timeouts after the segment was lost in an outage of a link of the fixed network.";
    CoreLoss = "core_loss", "core network loss", None, Some("budget_needed_rtos_core_loss"),
        "Timeouts after the fixed network lost the segment at random or by an impairment.";
    Unknown = "unknown", "unknown reason", Some("budget_spurious_rtos_unknown"), Some("budget_needed_rtos_unknown"),
        "Timeouts without a visible reason in the network.";
}

impl TimeoutReason {
    /// Reason of a spurious timeout, after a silence in which the connection waited for this cause.
    fn of_wait(cause: Cause, loss: Option<Loss>) -> Self {
        match cause {
            Cause::ChannelSwitch => TimeoutReason::ChannelSwitch,
            Cause::DchRefused => TimeoutReason::DchRefused,
            Cause::Handover => TimeoutReason::Handover,
            Cause::CapacityRequest | Cause::CapacityWait => TimeoutReason::Capacity,
            Cause::RlcReset | Cause::RlcReestablishment => TimeoutReason::RlcReset,
            Cause::AckChannel | Cause::StatusProhibited | Cause::NodebDrop | Cause::RlcRecovery => {
                TimeoutReason::RlcRecovery
            }
            Cause::RlcWindow => TimeoutReason::RlcWindow,
            Cause::AckLoss => TimeoutReason::AckLoss,
            Cause::CoreQueue | Cause::Propagation => TimeoutReason::CoreDelay,
            Cause::Unexplained | Cause::NotVisible => TimeoutReason::Unknown,
            _ if loss.is_some_and(|loss| !loss.is_of_radio()) => TimeoutReason::CoreDelay,
            _ => TimeoutReason::RadioDelay,
        }
    }
}

/// An expiry of a retransmission timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// The end at which the timer expired.
    pub end: End,
    /// Start of the sender's silence before the timeout.
    pub silent_since: Time,
    /// Time of the expiry.
    pub at: Time,
    /// Whether the repair of a loss needed the timer.
    pub is_needed: bool,
    /// Reason of the timeout.
    pub reason: TimeoutReason,
    /// The lost PDU for which the connection waited, with [`TimeoutReason::RlcRecovery`].
    pub sn: Option<u16>,
}

/// An expiry of the timer of `end` at `at`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expiry {
    pub end: End,
    /// Start of the sender's silence.
    pub silent_since: Time,
    pub at: Time,
    /// Loss of the packet for which the connection waits, if `end` has to send it again.
    pub awaited: Option<Loss>,
}

/// The timeouts of one connection.
#[derive(Debug, Default)]
pub(super) struct Timeouts {
    all: Vec<Timeout>,
    undecided: Vec<Undecided>,
}

/// A timeout with copies of the segment still on the way.
#[derive(Debug)]
struct Undecided {
    /// Index in [`Timeouts::all`].
    index: usize,
    copies: Vec<PacketId>,
}

impl Timeouts {
    /// The timer of `direction` expired after a silence in which the connection waited for `causes`.
    /// Returns whether the timeout is known to be needed.
    pub fn expired(
        &mut self,
        direction: &DirectionState,
        reverse: &DirectionState,
        Expiry { end, silent_since, at, awaited }: Expiry,
        causes: &[Interval],
    ) -> bool {
        let copies: Vec<_> = direction.copies(direction.una).copied().collect();
        let alive: Vec<_> = copies.iter().filter(|copy| copy.is_alive()).map(|copy| copy.packet).collect();
        let has_arrived = direction.rcv_next > direction.una;
        let has_ack_alive = reverse.first_ack_beyond(direction.una).is_some();
        let lost_behind = awaited.filter(|_| has_arrived && !has_ack_alive);
        let is_needed = lost_behind.is_some() || (!has_arrived && alive.is_empty());
        let (reason, sn) = if let Some(loss) = lost_behind {
            (loss.reason(), None)
        } else if is_needed {
            let loss = copies.iter().rev().find_map(|copy| match copy.place {
                Position::Lost(loss) => Some(loss),
                Position::Core(_) | Position::Radio => None,
            });
            (loss.map_or(TimeoutReason::Unknown, Loss::reason), None)
        } else if has_arrived && reverse.lost_ack.is_some() && !has_ack_alive {
            (TimeoutReason::AckLoss, None)
        } else {
            longest_reason(causes)
        };
        self.all.push(Timeout { end, silent_since, at, is_needed, reason, sn });
        if !is_needed && !has_arrived {
            self.undecided.push(Undecided { index: self.all.len() - 1, copies: alive });
        }
        is_needed
    }

    /// A packet arrived, or was lost. Returns the end of each timeout that turns out to be needed.
    pub fn settle(&mut self, packet: PacketId, loss: Option<Loss>) -> Vec<End> {
        let mut needed = Vec::new();
        let all = &mut self.all;
        self.undecided.retain_mut(|Undecided { index, copies }| {
            let Some(at) = copies.iter().position(|copy| *copy == packet) else { return true };
            // A copy arrived: the timeout stays spurious.
            let Some(loss) = loss else { return false };
            copies.remove(at);
            if copies.is_empty() {
                let timeout = &mut all[*index];
                (timeout.is_needed, timeout.reason, timeout.sn) = (true, loss.reason(), None);
                needed.push(timeout.end);
            }
            !copies.is_empty()
        });
        needed
    }

    /// All timeouts, in order.
    pub fn all(&self) -> &[Timeout] {
        &self.all
    }
}

/// Returns the reason that explains the largest part of a silence. If this is RLC's recovery, also
/// returns the first PDU that RLC repaired in the silence.
fn longest_reason(causes: &[Interval]) -> (TimeoutReason, Option<u16>) {
    let reason_of = |interval: &Interval| TimeoutReason::of_wait(interval.cause, interval.loss);
    let (mut longest, mut longest_ns) = (TimeoutReason::RadioDelay, 0);
    for reason in TimeoutReason::ALL {
        let waits = causes.iter().filter(|interval| reason_of(interval) == reason);
        let time_ns = waits.map(|interval| (interval.end - interval.start).as_nanos()).sum();
        if time_ns > longest_ns {
            (longest, longest_ns) = (reason, time_ns);
        }
    }
    let mut repairs = causes.iter().filter(|interval| reason_of(interval) == TimeoutReason::RlcRecovery);
    let sn = repairs.find_map(|interval| interval.sn);
    (longest, sn.filter(|_| longest == TimeoutReason::RlcRecovery))
}
