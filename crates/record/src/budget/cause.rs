//! The causes among which a connection's time is divided, in the order of their precedence.

use umts_units::Duration;

macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $name:literal, $label:literal: $meaning:literal;)*) => {
        /// What a connection waits for. An instant to which several apply is counted under the first of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Cause {
            $(#[doc = $meaning] $cause,)*
        }

        impl Cause {
            /// All of them, in their order.
            pub const ALL: &[Cause] = &[$(Cause::$cause),*];

            /// As tables have it: `"rlc_recovery"`.
            pub fn name(self) -> &'static str {
                match self { $(Cause::$cause => $name),* }
            }

            /// What figures and tables for readers call its metrics.
            pub(crate) fn label(self) -> &'static str {
                match self { $(Cause::$cause => concat!("Time budget: ", $label)),* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Cause::$cause => $meaning),* }
            }

            /// A silence that a retransmission timeout ended.
            pub fn is_timeout(self) -> bool {
                matches!(self, Cause::RtoNeeded | Cause::RtoSpurious)
            }

            /// Names of its metrics in transfers that a proxy splits: on the server's leg, on that of the radio.
            pub(crate) fn transfer_metrics(self) -> [&'static str; 2] {
                match self {
                    $(Cause::$cause => [
                        concat!("transfer_budget_server_", $name, "_s"),
                        concat!("transfer_budget_radio_", $name, "_s"),
                    ]),*
                }
            }

            /// What figures and tables call these.
            pub(crate) fn transfer_labels(self) -> [&'static str; 2] {
                match self {
                    $(Cause::$cause => [
                        concat!("Transfers, server leg: ", $label),
                        concat!("Transfers, radio leg: ", $label),
                    ]),*
                }
            }

            /// Names of its metrics: seconds, and the share in per cent.
            pub(crate) fn metrics(self) -> (&'static str, &'static str) {
                match self {
                    $(Cause::$cause => (concat!("budget_", $name, "_s"), concat!("budget_", $name, "_pct"))),*
                }
            }
        }

        const COUNT: usize = [$(Cause::$cause),*].len();
    };
}

causes! {
    RtoNeeded = "rto_needed", "needed RTO": "Silence of the sender that a retransmission timeout ended, with every copy of the oldest segment lost.";
    RtoSpurious = "rto_spurious", "spurious RTO": "Silence of the sender that a retransmission timeout ended, although the oldest segment had arrived or was on its way.";
    ChannelSwitch = "channel_switch", "channel switch": "The packet waits in RLC's buffer while the user is switched, or has no channel that carries data.";
    Handover = "handover", "handover": "The packet waits in RLC's buffer while the user, who changes cells, has no turn on a DSCH.";
    CapacityRequest = "capacity_request", "capacity request": "The packet waits for the capacity of a TDD cell that was asked for: random access, a collision there and its back-off, the answer.";
    CapacityWait = "capacity_wait", "wait for capacity": "There was no room in the TDD cell: the request waits at the RNC, or the UE backs off before it asks again.";
    PostponedCodes = "postponed_codes", "postponed, codes": "The packet waits for a TTI of the DSCH of its cell: the user was refused the last one, since no code was left.";
    PostponedPower = "postponed_power", "postponed, power": "The same, since the cell had not the power.";
    PostponedCredit = "postponed_credit", "postponed, credit": "The same, since the user had no service credit.";
    AckChannel = "ack_channel", "acknowledgment channel": "The packet waits for a repair in a TDD cell whose STATUS collided on the common channel, or had no turn on it.";
    RlcRecovery = "rlc_recovery", "RLC recovery": "The packet waits for a PDU that was lost on the air, for RLC's window to open or for a RESET; or RLC lost it and TCP has not sent it again.";
    RadioQueue = "radio_queue", "radio queue": "The packet waits in RLC's buffer or at the Node B while others are served; or it found the buffer full and TCP has not sent it again.";
    CoreQueue = "core_queue", "core network queue": "The packet is in the fixed network for longer than an empty one takes.";
    CoreLoss = "core_loss", "core network loss": "The packet was lost in the fixed network and TCP has not sent it again.";
    Setup = "setup", "handshake": "TCP's handshake, where nothing above holds it up.";
    SlowStart = "slow_start", "slow start": "The congestion window, below the slow start threshold, holds data back.";
    CongestionAvoidance = "congestion_avoidance", "congestion avoidance": "The congestion window, at or above the slow start threshold, holds data back.";
    AdvertisedWindow = "advertised_window", "advertised window": "The window of the receiver holds data back.";
    Serialisation = "serialisation", "serialisation": "The packet is on the radio: its blocks are sent, wait for their TTI, or cross Iub and air.";
    Propagation = "propagation", "propagation": "The last data, or the last acknowledgment, is on its way through an empty fixed network, or the acknowledgment is delayed.";
    SenderIdle = "sender_idle", "sender idle": "The sender has data and window and waits all the same: Nagle's algorithm, pacing.";
    ApplicationIdle = "application_idle", "application idle": "Nothing is asked for: all that was written has arrived and is acknowledged.";
    NotVisible = "not_visible", "not visible": "The TCP of a real program holds nothing in the network; why, the lab cannot see.";
    Unexplained = "unexplained", "unexplained": "None of these.";
}

/// Time by cause. The parts of a whole add up to it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts([Duration; COUNT]);

impl Default for Parts {
    fn default() -> Self {
        Parts([Duration::ZERO; COUNT])
    }
}

impl Parts {
    /// The part of one cause.
    pub fn of(&self, cause: Cause) -> Duration {
        self.0[cause as usize]
    }

    /// The whole.
    pub fn total(&self) -> Duration {
        self.0.iter().fold(Duration::ZERO, |sum, part| sum + *part)
    }

    pub(super) fn add(&mut self, cause: Cause, time: Duration) {
        self.0[cause as usize] += time;
    }

    pub(super) fn add_all(&mut self, other: &Parts) {
        for (part, more) in self.0.iter_mut().zip(other.0) {
            *part += more;
        }
    }
}
