//! Places and reasons of packet losses, for the time budget. A loss is at the same time the cause
//! of the wait that it starts, and the reason of a timeout that it makes necessary.

use umts_stack::trace::DropPlace;

use super::cause::Cause;
use super::rto::TimeoutReason;

/// Declares the losses: variant, name in tables, label, and meaning.
macro_rules! losses {
    ($($loss:ident = $name:literal, $label:literal, $meaning:literal;)*) => {
        /// Place and reason of the loss of a packet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Loss {
            $(#[doc = $meaning] $loss,)*
        }

        impl Loss {
            /// All losses, ordered from the radio to the server.
            pub const ALL: [Loss; [$(Loss::$loss),*].len()] = [$(Loss::$loss),*];

            /// Name in tables. The cause of a wait that ends without a timeout has the same name.
            pub fn name(self) -> &'static str {
                match self { $(Loss::$loss => $name),* }
            }

            /// Cause of the time until TCP retransmits the packet, unless a timer triggers the
            /// retransmission.
            pub(super) fn cause(self) -> Cause {
                match self { $(Loss::$loss => Cause::$loss),* }
            }

            /// Reason of a timeout that the loss made necessary.
            pub(super) fn reason(self) -> TimeoutReason {
                match self { $(Loss::$loss => TimeoutReason::$loss),* }
            }

            /// Name, label and meaning of the metric: seconds of needed timeouts after this loss.
            pub(super) fn needed_metric(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Loss::$loss => (
                        concat!("budget_rto_needed_after_", $name, "_s"),
                        concat!("Needed RTO after: ", $label),
                        concat!("Part of budget_rto_needed_s. ", $meaning),
                    )),*
                }
            }
        }
    };
}

losses! {
    NodebDrop = "nodeb_drop", "Node B queue drop", "The full queue of the Node B dropped a block of the packet, and RLC does not repair it.";
    RadioLoss = "radio_loss", "radio loss", "The packet was lost on a radio without repair: unacknowledged or transparent mode, or random loss of a flat radio.";
    RlcDiscard = "rlc_discard", "RLC discard", "RLC discarded the packet: MaxDAT, Timer_Discard, queue management, or a handover or channel switch that empties the buffer.";
    RlcReset = "rlc_reset", "RLC reset", "RLC returned to its initial state while the packet was in transit.";
    BufferFull = "buffer_full", "full RLC buffer", "RLC's buffer had no room for the packet, or its queue management dropped it on arrival.";
    CoreDrop = "core_drop", "core queue drop", "The queue of a link of the fixed network was full, or its queue management dropped the packet.";
    CoreOutage = "core_outage", "core link outage", "A link of the fixed network was down.";
    CoreLoss = "core_loss", "core network loss", "A link of the fixed network lost the packet at random, or an impairment or the proxy dropped it.";
}

impl Loss {
    /// The loss of a dropped packet. `None` if the packet arrived after the end of its connection.
    pub(super) fn of_drop(place: DropPlace) -> Option<Self> {
        match place {
            DropPlace::LinkQueue(_) => Some(Loss::CoreDrop),
            DropPlace::LinkDown(_) => Some(Loss::CoreOutage),
            DropPlace::LinkLoss(_) | DropPlace::Script | DropPlace::ProxyDown | DropPlace::ProxyHidden => {
                Some(Loss::CoreLoss)
            }
            DropPlace::RlcBuffer => Some(Loss::BufferFull),
            DropPlace::ErroneousSdu | DropPlace::Checksum | DropPlace::FlatLoss => Some(Loss::RadioLoss),
            DropPlace::NoConnection => None,
        }
    }

    /// Whether the packet had entered RLC, or was refused by RLC's buffer.
    pub(super) fn is_of_radio(self) -> bool {
        !matches!(self, Loss::CoreDrop | Loss::CoreOutage | Loss::CoreLoss)
    }
}
