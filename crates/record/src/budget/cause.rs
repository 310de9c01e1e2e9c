//! The causes among which the time budget divides a connection's time, in order of precedence, with
//! their names, labels, metrics and meanings; and [`Parts`], the time of each cause.

use umts_units::Duration;

use super::loss::Loss;

/// Declares the causes: variant, name in tables, label, and meaning.
macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $name:literal, $label:literal: $meaning:literal;)*) => {
        /// Cause of a connection's wait. If several apply at an instant, the first of them counts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Cause {
            $(#[doc = $meaning] $cause,)*
        }

        impl Cause {
            /// All causes, in order of precedence.
            pub const ALL: &[Cause] = &[$(Cause::$cause),*];

            /// Name in tables, such as `"rlc_recovery"`.
            pub fn name(self) -> &'static str {
                match self { $(Cause::$cause => $name),* }
            }

            /// Label of the metrics in figures and tables.
            pub(crate) fn label(self) -> &'static str {
                match self { $(Cause::$cause => concat!("Time budget: ", $label)),* }
            }

            /// Meaning in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Cause::$cause => $meaning),* }
            }

            /// Names of the metrics of transfers that a proxy splits: on the server's leg, and on
            /// the radio leg.
            pub(crate) fn transfer_metrics(self) -> [&'static str; 2] {
                match self {
                    $(Cause::$cause => [
                        concat!("transfer_budget_server_", $name, "_s"),
                        concat!("transfer_budget_radio_", $name, "_s"),
                    ]),*
                }
            }

            /// Labels of the metrics of transfers.
            pub(crate) fn transfer_labels(self) -> [&'static str; 2] {
                match self {
                    $(Cause::$cause => [
                        concat!("Transfers, server leg: ", $label),
                        concat!("Transfers, radio leg: ", $label),
                    ]),*
                }
            }

            /// Name of the metric of the time with this cause, in seconds.
            pub(crate) fn time_metric(self) -> &'static str {
                match self { $(Cause::$cause => concat!("budget_", $name, "_s")),* }
            }

            /// Name of the metric of the share of this cause in the total time, in per cent.
            pub(crate) fn share_metric(self) -> &'static str {
                match self { $(Cause::$cause => concat!("budget_", $name, "_pct")),* }
            }
        }

        const COUNT: usize = [$(Cause::$cause),*].len();
    };
}

causes! {
    RtoNeeded = "rto_needed", "needed RTO": "Every copy of the packet was lost, and only the retransmission timer of the end that holds the packet could repair it.";
    ChannelSwitch = "channel_switch", "channel switch": "The packet waits in RLC's buffer while the UE is switched between channels, or is in a state that carries no data.";
    DchRefused = "dch_refused", "DCH refused": "The packet waits on the FACH or RACH because the request for a DCH is refused or queued: the time in excess of the time of the same blocks on the DCH.";
    Handover = "handover", "handover": "The packet waits in RLC's buffer while its UE changes cells and cannot be served on a DSCH.";
    CapacityRequest = "capacity_request", "capacity request": "The packet waits for requested capacity of a TDD cell: random access, collisions and back-off, the answer.";
    CapacityWait = "capacity_wait", "wait for capacity": "There was no room in the TDD cell: the request waits at the RNC, or the UE backs off before the next request.";
    PostponedCodes = "postponed_codes", "postponed, codes": "The packet waits for a TTI of the DSCH: the request of its user for the last TTI was refused because no code was left.";
    PostponedPower = "postponed_power", "postponed, power": "The packet waits for a TTI of the DSCH: the request of its user for the last TTI was refused because the cell lacked power.";
    PostponedCredit = "postponed_credit", "postponed, left out": "The packet waits for a TTI of the DSCH: a scheduler in Python left its user out of the last TTI.";
    RlcReestablishment = "rlc_reestablishment", "RLC re-establishment": "The packet is in RLC while a cell update re-establishes RLC after an unrecoverable error or a radio link failure.";
    RlcReset = "rlc_reset", "RLC reset": "The packet waits for the end of an RLC RESET procedure; or the RESET discarded the packet, and TCP has not sent it again.";
    AckChannel = "ack_channel", "acknowledgment channel": "The packet waits for a repair in a TDD cell because the STATUS collided on the common channel, or had to wait for that channel.";
    StatusProhibited = "status_prohibited", "prohibited STATUS": "The packet waits for a repair, and Timer_Status_Prohibit delays the STATUS that would request the lost PDU.";
    NodebDrop = "nodeb_drop", "Node B queue drop": "The packet waits for the repair of a PDU that the full queue of the Node B dropped; or was lost by that drop, and TCP has not sent it again.";
    Reordering = "reordering", "reordering": "The packet waits for the repair of a PDU of the HS-DSCH or E-DCH that HARQ gave up, and the reordering queue still waits for its block, so RLC does not know of the loss.";
    RlcRecovery = "rlc_recovery", "RLC recovery": "The packet waits for the repair of a PDU that was lost on the air.";
    RlcWindow = "rlc_window", "RLC window": "The packet waits in RLC's buffer because the transmission window of RLC is full.";
    IubCredit = "iub_credit", "Iub credit": "The packet waits in RLC's buffer at the RNC because the Node B has allocated no credits for the HS-DSCH.";
    Harq = "harq", "HARQ": "The packet is on the HS-DSCH or E-DCH, and HARQ repeats a block of its user, or waits to repeat it.";
    RadioQueue = "radio_queue", "radio queue": "The packet waits in RLC's buffer or at the Node B while other users, or other connections of the user, are served.";
    CoreQueue = "core_queue", "core network queue": "The packet is in the fixed network for longer than an empty one takes.";
    NeedlessRepeats = "needless_repeats", "unneeded retransmissions": "The radio or a link carries a copy of data that had already arrived, ahead of the packet.";
    AckLoss = "ack_loss", "lost acknowledgment": "The sender waits for an acknowledgment; the last one was lost, and no other is on its way.";
    RlcDiscard = "rlc_discard", "RLC discard": "RLC discarded the packet after MaxDAT transmissions or Timer_Discard, and TCP has not sent it again.";
    RadioLoss = "radio_loss", "radio loss": "The packet was lost on a radio without repair (unacknowledged or transparent mode), and TCP has not sent it again.";
    BufferFull = "buffer_full", "full RLC buffer": "RLC's buffer had no room for the packet, and TCP has not sent it again.";
    CoreDrop = "core_drop", "core queue drop": "The queue of a link of the fixed network dropped the packet, and TCP has not sent it again.";
    CoreOutage = "core_outage", "core link outage": "The packet was lost in an outage of a link of the fixed network, and TCP has not sent it again.";
    CoreLoss = "core_loss", "core network loss": "The packet was lost at random or by an impairment in the fixed network, and TCP has not sent it again.";
    Names = "names", "name lookup": "A program looks up a name (DNS), and no cause above delays the query or the answer.";
    Setup = "setup", "handshake": "TCP's handshake, if no cause above delays it.";
    SlowStartSpurious = "slow_start_spurious", "slow start after spurious RTO": "The congestion window limits the sender, and is still smaller than before a spurious retransmission timeout.";
    SlowStart = "slow_start", "slow start": "The congestion window, below the slow start threshold, limits the sender.";
    CongestionAvoidance = "congestion_avoidance", "congestion avoidance": "The congestion window, at or above the slow start threshold, limits the sender.";
    AdvertisedWindow = "advertised_window", "advertised window": "The window advertised by the receiver limits the sender.";
    Serialisation = "serialisation", "serialisation": "The packet is on the radio: its blocks are sent, wait for their TTI, or cross Iub and air.";
    Propagation = "propagation", "propagation": "The last data, or the last acknowledgment, is on its way through an empty fixed network, or the acknowledgment is delayed.";
    SenderIdle = "sender_idle", "sender idle": "The sender has data and an open window but waits: Nagle's algorithm, pacing.";
    ApplicationIdle = "application_idle", "application idle": "The application has no data to send: all written data have arrived and are acknowledged.";
    NotVisible = "not_visible", "not visible": "No packet of the real program is in the network. The reason is not visible to the laboratory.";
    Unexplained = "unexplained", "unexplained": "None of the other causes.";
}

/// Time by cause. The parts add up exactly to the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    by_cause: [Duration; COUNT],
    /// Time of [`Cause::RtoNeeded`] by the loss that made the timeout necessary.
    needed: [Duration; Loss::ALL.len()],
}

impl Default for Parts {
    fn default() -> Self {
        Parts { by_cause: [Duration::ZERO; COUNT], needed: [Duration::ZERO; Loss::ALL.len()] }
    }
}

impl Parts {
    /// The time of one cause.
    pub fn of(&self, cause: Cause) -> Duration {
        self.by_cause[cause as usize]
    }

    /// The time of [`Cause::RtoNeeded`] after losses of this kind.
    pub fn needed_after(&self, loss: Loss) -> Duration {
        self.needed[loss as usize]
    }

    /// The sum of all parts.
    pub fn total(&self) -> Duration {
        self.by_cause.iter().fold(Duration::ZERO, |sum, part| sum + *part)
    }

    /// Adds time with a cause. `loss` is the loss of the packet, if the connection waited for TCP
    /// to retransmit it.
    pub(super) fn add(&mut self, cause: Cause, loss: Option<Loss>, time: Duration) {
        self.by_cause[cause as usize] += time;
        if let Some(loss) = loss.filter(|_| cause == Cause::RtoNeeded) {
            self.needed[loss as usize] += time;
        }
    }

    pub(super) fn add_all(&mut self, other: &Parts) {
        for (part, added) in self.by_cause.iter_mut().zip(other.by_cause) {
            *part += added;
        }
        for (part, added) in self.needed.iter_mut().zip(other.needed) {
            *part += added;
        }
    }
}
