//! Options of acknowledged mode, and the values that follow from its configuration.

use umts_units::Duration;

use crate::ids::Direction;
use crate::radio::rlc::segmentation::SegmentationRules;
use crate::radio::rlc::{RlcConfig, SduDiscard};

/// PDUs that arrive per TTI of a bearer, for the estimated PDU counter (EPC) of Releases 99 and 4.
/// The standard counts requested PDUs down by the transport format of each TTI. Here each TTI is
/// assumed to have the bearer's full transport format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arrivals {
    /// PDUs per TTI. 0 counts as 1.
    pub pdus: u32,
    pub tti: Duration,
}

/// SDUs that count against the transmission buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BufferCounts {
    /// All SDUs that are not completely acknowledged (TS 25.322 §4.2.1.3: the retransmission buffer
    /// is part of the buffer).
    Unacknowledged,
    /// EURANE: SDUs that are not completely in PDUs.
    Unsent,
}

/// Whether the AMD header takes room in a PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "RlcHeader"))]
pub enum Header {
    /// Two octets per PDU (TS 25.322 §9.2.1.4).
    #[cfg_attr(feature = "schema", serde(rename = "ts25322"))]
    Counted,
    /// EURANE: none.
    // A STATUS PDU has 40 octets instead of 42.
    Uncounted,
}

/// Which ends of SDUs take a length indicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum LengthIndicators {
    /// All, in the PDU of the end, or in the next PDU if the SDU fills its PDU exactly (TS 25.322
    /// §9.2.2.8).
    Ts25322,
    /// EURANE: one octet, and none if an SDU fills its PDU exactly.
    // A PDU holds parts of at most two SDUs. The second SDU starts only if at least three octets
    // are free and it does not fit completely.
    Eurane,
}

/// How a status report names the missing PDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum StatusFormat {
    /// BITMAP super-fields of whole octets and an ACK (TS 25.322 §9.2.2.11).
    Bitmap,
    /// LIST super-fields, each up to 15 runs of up to 16 PDUs, and an ACK.
    List,
    /// RLIST super-fields, distances in codewords, and an ACK.
    // A codeword has 4 bits. A super-field holds up to 15 codewords.
    Rlist,
    /// EURANE: 20 bits and one bit per PDU, up to 300.
    // The first bit is the PDU before the first missing one.
    Eurane,
}

/// Whether a status report may be sent in a data PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Piggyback {
    /// Always in a PDU of its own.
    Off,
    /// Instead of padding (TS 25.322 §9.2.1.5), in a new PDU or in a retransmitted one.
    Padding,
    /// EURANE: a new data PDU is built around it.
    BuildAround,
}

/// When a missing PDU triggers a status report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum MissingPduIndication {
    /// Never.
    Off,
    /// When a PDU arrives that leaves a gap after the highest PDU so far (TS 25.322 §9.7.2).
    NewGap,
    /// EURANE: with every PDU that arrives while a PDU is missing.
    EveryPdu,
}

/// Treatment of a gap that is detected while Timer_STATUS_Prohibit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum GapWhileProhibited {
    /// The gap is reported when the timer expires (TS 25.322 §9.7.2).
    Remembered,
    /// EURANE: only a poll is remembered.
    Forgotten,
}

/// Meaning of `max_dat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum MaxDatReading {
    /// Number of transmissions, as in the literature.
    Transmissions,
    /// TS 25.322: the last transmission does not take place, so a PDU is sent `max_dat` - 1 times.
    // §9.4: the action for VT(DAT) = MaxDAT replaces the transmission.
    Ts25322,
}

/// Acknowledgment of a move-receiving-window command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum MrwAcknowledgment {
    /// A super-field MRW_ACK (TS 25.322 §11.6).
    // PDUs below the new window are discarded even if an SDU is complete.
    Explicit,
    /// Dubois (2005), §4.4: any report that acknowledges up to the new window.
    // Complete SDUs are still delivered.
    Implicit,
}

/// Reaction to a status report with a PDU outside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ErroneousSn {
    /// RESET (TS 25.322 §10).
    Reset,
    /// EURANE: the report is ignored.
    Dropped,
}

impl RlcConfig {
    /// Configured_Rx_Window_Size.
    #[inline]
    pub(super) fn receive_window(&self) -> u64 {
        u64::from(self.rx_window.unwrap_or(self.window))
    }

    /// Age at which an SDU is discarded with notification of the receiver.
    pub(super) fn discard_age(&self) -> Option<Duration> {
        self.timer_discard.filter(|_| self.sdu_discard == SduDiscard::Timer)
    }

    /// Time after which a report that requests `pdus` PDUs in `direction` is repeated if they have
    /// not arrived. `None`: it is not repeated.
    pub(super) fn epc_wait(&self, direction: Direction, pdus: u64) -> Option<Duration> {
        let Arrivals { pdus: per_tti, tti } = self.arrivals[direction.index()];
        Some(self.timer_epc? + tti * pdus.div_ceil(u64::from(per_tti.max(1))))
    }

    /// Octets of the largest AMD or STATUS PDU that is sent in direction `sends`. PDUs of fixed size
    /// all have this size.
    #[inline]
    pub(super) fn pdu_octets(&self, sends: Direction) -> u16 {
        let header = match self.header {
            Header::Counted => 2,
            Header::Uncounted => 0,
        };
        self.largest_payload(sends) + header
    }

    /// Rules for segmenting SDUs that are sent in direction `sends`. In PDUs of fixed size a length
    /// indicator takes one octet if they have at most 126 octets, otherwise two (TS 25.322 §9.2.2.8).
    #[inline]
    pub(in crate::radio::rlc) fn segmentation_rules(&self, sends: Direction) -> SegmentationRules {
        let payload = self.largest_payload(sends);
        if self.is_flexible(sends) {
            return SegmentationRules::flexible(payload);
        }
        SegmentationRules {
            payload,
            length_indicator: if self.pdu_octets(sends) <= 126 { 1 } else { 2 },
            indicator_rule: self.length_indicators,
            marks_start: false,
            is_flexible: false,
        }
    }

    /// Whether a PDU sent `transmissions` times may be retransmitted.
    #[inline]
    pub(super) fn may_retransmit(&self, transmissions: u16) -> bool {
        let counted = u32::from(transmissions) + u32::from(self.max_dat_reading == MaxDatReading::Ts25322);
        self.sdu_discard == SduDiscard::Timer || self.max_dat.is_none_or(|max_dat| counted < max_dat)
    }

    /// Poll_Window in PDUs, for a window of `vt_ws`.
    #[inline]
    pub(super) fn poll_window_pdus(&self, vt_ws: u64) -> Option<u64> {
        self.poll_window.map(|percent| (u64::from(percent) * vt_ws).div_ceil(100).max(1))
    }
}
