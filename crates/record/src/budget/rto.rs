//! Retransmission timeouts: whether they were needed, and what was to blame.
//!
//! A timeout is needed if every copy of the oldest unacknowledged segment that had left before it was lost. That may be
//! known only later, when the copies that were under way have come or are lost.

use umts_stack::ids::{End, PacketId};
use umts_units::Time;

use super::cause::Cause;
use super::log::Interval;
use super::way::{Loss, Place, Way};

macro_rules! reasons {
    ($($because:ident = $name:literal, $label:literal, $spurious:expr, $needed:expr, $meaning:literal;)*) => {
        /// What brought a timeout about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Because {
            $(#[doc = $meaning] $because,)*
        }

        impl Because {
            /// All of them.
            pub const ALL: [Because; [$(Because::$because),*].len()] = [$(Because::$because),*];

            /// As tables have it.
            pub fn name(self) -> &'static str {
                match self { $(Because::$because => $name),* }
            }

            /// In one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Because::$because => $meaning),* }
            }

            /// What figures and tables for readers call its metrics, in the order of their names.
            pub(super) fn labels(self) -> [&'static str; 2] {
                match self { $(Because::$because =>
                    [concat!("Spurious timeouts: ", $label), concat!("Needed timeouts: ", $label)]),* }
            }

            /// Names of its metrics: timeouts that were not needed, and those that were; none where it cannot be.
            pub(super) fn metrics(self) -> [Option<&'static str>; 2] {
                match self { $(Because::$because => [$spurious, $needed]),* }
            }
        }
    };
}

reasons! {
    ChannelSwitch = "channel_switch", "channel switch", Some("budget_spurious_rtos_channel_switch"), None,
        "Timeouts in a silence in which the user was switched, or waited for a channel.";
    Handover = "handover", "handover", Some("budget_spurious_rtos_handover"), None,
        "Timeouts in a silence in which the user changed cells.";
    Capacity = "capacity", "wait for capacity", Some("budget_spurious_rtos_capacity"), None,
        "Timeouts in a silence in which the user waited for capacity of a TDD cell.";
    RlcRecovery = "rlc_recovery", "RLC recovery", Some("budget_spurious_rtos_rlc_recovery"), None,
        "Timeouts in a silence in which RLC repaired PDUs.";
    RadioDelay = "radio_delay", "delay at the radio", Some("budget_spurious_rtos_radio_delay"), None,
        "Timeouts in a silence in which the segment or its acknowledgment was queued or sent at the radio.";
    AckLoss = "ack_loss", "lost acknowledgment", Some("budget_spurious_rtos_ack_loss"), None,
        "Timeouts although the segment had arrived: its acknowledgment was lost.";
    CoreDelay = "core_delay", "delay in the core network", Some("budget_spurious_rtos_core_delay"), None,
        "Timeouts in a silence in which the fixed network took that long.";
    CoreLoss = "core_loss", "loss in the core network", None, Some("budget_needed_rtos_core_loss"),
        "Timeouts after the segment was lost in the fixed network.";
    RadioLoss = "radio_loss", "loss at the radio", None, Some("budget_needed_rtos_radio_loss"),
        "Timeouts after RLC lost the segment or gave it up.";
    BufferFull = "buffer_full", "full RLC buffer", None, Some("budget_needed_rtos_buffer_full"),
        "Timeouts after RLC's buffer had no room for the segment.";
    Unknown = "unknown", "unknown reason", Some("budget_spurious_rtos_unknown"), Some("budget_needed_rtos_unknown"),
        "Timeouts of which nothing in the network tells the reason.";
}

impl Because {
    fn of_loss(loss: Loss) -> Self {
        match loss {
            Loss::Core => Because::CoreLoss,
            Loss::Radio => Because::RadioLoss,
            Loss::BufferFull => Because::BufferFull,
        }
    }

    /// To blame for a silence in which the connection waited for this.
    fn of_cause(cause: Cause) -> Self {
        match cause {
            Cause::ChannelSwitch => Because::ChannelSwitch,
            Cause::Handover => Because::Handover,
            Cause::CapacityRequest | Cause::CapacityWait => Because::Capacity,
            Cause::AckChannel | Cause::RlcRecovery => Because::RlcRecovery,
            Cause::CoreQueue | Cause::CoreLoss | Cause::Propagation => Because::CoreDelay,
            Cause::Unexplained | Cause::NotVisible => Because::Unknown,
            _ => Because::RadioDelay,
        }
    }
}

/// One expiry of a retransmission timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// The end whose timer it was.
    pub end: End,
    /// The sender was silent from then …
    pub silent_since: Time,
    /// … until the timer expired.
    pub at: Time,
    /// No copy of the segment arrived, or would have.
    pub is_needed: bool,
    /// What brought it about.
    pub because: Because,
    /// The lost PDU that was waited for, of [`Because::RlcRecovery`].
    pub sn: Option<u16>,
}

/// The timeouts of one connection.
#[derive(Debug, Default)]
pub(super) struct Timeouts {
    all: Vec<Timeout>,
    /// Those of which copies are under way: their places, and the copies.
    undecided: Vec<(usize, Vec<PacketId>)>,
}

impl Timeouts {
    /// The timer of `way`, at `end`, expired `at`, after a silence in which the connection waited for `causes`. Tells
    /// whether it is known already to have been needed.
    pub fn expired(
        &mut self,
        way: &Way,
        back: &Way,
        (end, silent_since, at): (End, Time, Time),
        causes: &[Interval],
    ) -> bool {
        let copies: Vec<_> = way.copies(way.una).copied().collect();
        let alive: Vec<_> = copies.iter().filter(|copy| copy.is_alive()).map(|copy| copy.packet).collect();
        let has_arrived = way.rcv_next > way.una;
        let is_needed = !has_arrived && alive.is_empty();
        let (because, sn) = if is_needed {
            let loss = copies.iter().rev().find_map(|copy| match copy.place {
                Place::Lost(loss) => Some(loss),
                Place::Core(_) | Place::Radio => None,
            });
            (loss.map_or(Because::Unknown, Because::of_loss), None)
        } else if has_arrived && back.lost_ack.is_some() && back.first_ack_beyond(way.una).is_none() {
            (Because::AckLoss, None)
        } else {
            self.longest(causes)
        };
        self.all.push(Timeout { end, silent_since, at, is_needed, because, sn });
        if !is_needed && !has_arrived {
            self.undecided.push((self.all.len() - 1, alive));
        }
        is_needed
    }

    /// What a silence was spent on most, and the first PDU that is named there. Where it overlaps one of the other end,
    /// that one's reason counts: the log has its timeout there, and no longer what was waited for.
    fn longest(&self, causes: &[Interval]) -> (Because, Option<u16>) {
        let reasons: Vec<_> = causes
            .iter()
            .map(|interval| {
                let other = self.all.iter().rfind(|timeout| {
                    interval.cause.is_timeout()
                        && timeout.silent_since <= interval.start
                        && interval.start < timeout.at
                });
                let own = (Because::of_cause(interval.cause), interval.sn);
                let (because, sn) = other.map_or(own, |timeout| (timeout.because, timeout.sn));
                (because, sn, (interval.end - interval.start).as_nanos())
            })
            .collect();
        let mut most = (Because::RadioDelay, 0);
        for because in Because::ALL {
            let time = reasons.iter().filter(|reason| reason.0 == because).map(|reason| reason.2).sum();
            if time > most.1 {
                most = (because, time);
            }
        }
        let sn = reasons.iter().filter(|reason| reason.0 == Because::RlcRecovery).find_map(|reason| reason.1);
        (most.0, sn.filter(|_| most.0 == Because::RlcRecovery))
    }

    /// A packet has arrived, or was lost. Returns the silences whose cause changes because of it.
    pub fn heard_of(&mut self, packet: PacketId, loss: Option<Loss>) -> Vec<(Time, Time, Cause)> {
        let mut changed = Vec::new();
        let all = &mut self.all;
        self.undecided.retain_mut(|(place, copies)| {
            let Some(at) = copies.iter().position(|copy| *copy == packet) else { return true };
            let Some(loss) = loss else { return false };
            copies.remove(at);
            if copies.is_empty() {
                let timeout = &mut all[*place];
                (timeout.is_needed, timeout.because, timeout.sn) = (true, Because::of_loss(loss), None);
                changed.push((timeout.silent_since, timeout.at, Cause::RtoNeeded));
            }
            !copies.is_empty()
        });
        changed
    }

    /// When the first silence began whose cause may change.
    pub fn undecided_since(&self) -> Option<Time> {
        self.undecided.iter().map(|(place, _)| self.all[*place].silent_since).min()
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Timeout] {
        &self.all
    }
}
