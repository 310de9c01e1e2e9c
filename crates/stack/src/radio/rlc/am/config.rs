//! Configuration by RRC: TS 25.331 §10.3.4.23 (RLC info), TS 25.322 §9.5 to §9.7. Names are those
//! of the standards.

use umts_units::{Bytes, Duration};

use crate::ids::Direction;
use crate::radio::rlc::buffer::Cutting;

/// Configuration of an acknowledged-mode entity, for both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmConfig {
    /// Octets of a PDU after the two header octets: length indicators, data and padding.
    pub pdu_payload: u16,
    /// Whether the two octets of the AMD header are charged.
    pub header: Header,
    /// Encoding of the ends of SDUs.
    pub length_indicators: LengthIndicators,
    /// Format of a status report, which determines its size.
    pub status_format: StatusFormat,
    /// Whether a STATUS may travel inside a data PDU.
    pub piggyback: Piggyback,
    /// Time for which a STATUS waits for such a PDU before it is sent alone. A PDU that leaves at
    /// the very end still carries it.
    pub piggyback_wait: Duration,
    /// Configured_Tx_Window_Size: up to 2047.
    pub window: u32,
    /// Configured_Rx_Window_Size: up to 2047.
    pub rx_window: u32,
    /// The window that the receiver grants with every report in a WINDOW SUFI. `None`: no such
    /// SUFI.
    pub granted_window: Option<u32>,
    /// Delivers SDUs in the order of their arrival. Otherwise as soon as they are complete.
    pub in_sequence: bool,
    pub discard: Discard,
    /// MaxDAT. `None`: a PDU is retransmitted without limit.
    pub max_dat: Option<u32>,
    /// Meaning of `max_dat`.
    pub max_dat_reading: MaxDatReading,
    /// Poll with the last PDU of the transmission buffer.
    pub poll_last_pdu: bool,
    /// Poll with the last PDU of the retransmission buffer.
    pub poll_last_retransmitted_pdu: bool,
    /// Poll with every n-th PDU. Retransmissions count.
    pub poll_pdu: Option<u32>,
    /// Poll with the last PDU of every n-th SDU.
    pub poll_sdu: Option<u32>,
    /// Poll_Window: poll with every new PDU that leaves at least this percentage of the window
    /// outstanding.
    pub poll_window: Option<u32>,
    /// Timer_Poll.
    pub timer_poll: Option<Duration>,
    /// Timer_Poll_Prohibit: minimum time between two polls.
    pub timer_poll_prohibit: Option<Duration>,
    /// Timer_Poll_Periodic.
    pub timer_poll_periodic: Option<Duration>,
    /// Timer_Status_Prohibit.
    pub timer_status_prohibit: Option<Duration>,
    /// Timer_Status_Periodic, which starts with the first data PDU that arrives.
    pub timer_status_periodic: Option<Duration>,
    /// Estimated PDU counter (TS 25.322 of Release 99 and 4, §9.7.4): requests missing PDUs again.
    pub epc: Option<Epc>,
    /// When a missing PDU triggers a report.
    pub missing_pdu_indication: MissingPduIndication,
    /// Treatment of a gap that is detected while reports are prohibited.
    pub gap_while_prohibited: GapWhileProhibited,
    pub mrw_acknowledgment: MrwAcknowledgment,
    /// Send MRW: an MRW lists every discarded SDU, instead of the last one only.
    pub send_mrw: bool,
    /// Timer_MRW: an MRW that is not acknowledged is repeated.
    pub timer_mrw: Duration,
    /// MaxMRW: an MRW is sent MaxMRW - 1 times, then RLC is reset. `None`: unlimited.
    pub max_mrw: Option<u32>,
    /// Reaction to a STATUS with a PDU outside the window.
    pub erroneous_sn: ErroneousSn,
    /// Timer_RST: a RESET that is not acknowledged is repeated.
    pub timer_rst: Duration,
    /// MaxRST: a RESET is sent MaxRST - 1 times, then the error is unrecoverable.
    pub max_rst: u32,
    /// Transmission buffer in octets of SDUs. `None`: unlimited.
    pub buffer: Option<Bytes>,
    /// SDUs that count against `buffer`.
    pub buffer_counts: BufferCounts,
}

impl Default for AmConfig {
    /// The defaults of a scenario: 3GPP formats, polls and timers in the range of TS 25.331, and
    /// SDU discard after 15 transmissions.
    fn default() -> Self {
        let window = 1024;
        AmConfig {
            pdu_payload: 40,
            header: Header::Counted,
            length_indicators: LengthIndicators::Ts25322,
            status_format: StatusFormat::Bitmap,
            piggyback: Piggyback::Padding,
            piggyback_wait: Duration::ZERO,
            window,
            rx_window: window,
            granted_window: None,
            in_sequence: true,
            discard: Discard::AfterMaxDat,
            max_dat: Some(15),
            max_dat_reading: MaxDatReading::Transmissions,
            poll_last_pdu: true,
            poll_last_retransmitted_pdu: true,
            poll_pdu: Some(32),
            poll_sdu: None,
            poll_window: None,
            timer_poll: Some(Duration::from_millis(300)),
            timer_poll_prohibit: None,
            timer_poll_periodic: None,
            timer_status_prohibit: Some(Duration::from_millis(100)),
            timer_status_periodic: None,
            epc: None,
            missing_pdu_indication: MissingPduIndication::NewGap,
            gap_while_prohibited: GapWhileProhibited::Remembered,
            mrw_acknowledgment: MrwAcknowledgment::Explicit,
            send_mrw: false,
            timer_mrw: Duration::from_millis(300),
            max_mrw: Some(6),
            erroneous_sn: ErroneousSn::Reset,
            timer_rst: Duration::from_millis(300),
            max_rst: 8,
            buffer: Some(Bytes(100_000)),
            buffer_counts: BufferCounts::Unacknowledged,
        }
    }
}

/// Repetition of a report that requested PDUs. If some of them are still missing, the report is
/// repeated after Timer_EPC plus the transmission time of the requested PDUs. Releases 99 and 4
/// count the PDUs down by the transport format of each TTI. Here the full transport format of the
/// bearer is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epc {
    /// Timer_EPC: time from a report to the first PDU that it requests.
    pub timer_epc: Duration,
    /// Capacity of a downlink TTI and of an uplink TTI.
    pub arrivals: [Arrivals; 2],
}

/// Capacity of a TTI of a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrivals {
    /// PDUs per TTI. 0 counts as 1.
    pub pdus: u32,
    pub tti: Duration,
}

impl Epc {
    /// Time from a report that requests `pdus` PDUs of `direction` to their arrival.
    pub(super) fn wait(&self, direction: Direction, pdus: u64) -> Duration {
        let Arrivals { pdus: each, tti } = self.arrivals[direction.index()];
        self.timer_epc + tti * pdus.div_ceil(u64::from(each.max(1)))
    }
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
    // A PDU holds parts of at most two SDUs. The second one starts only if three octets of it fit
    // and it is larger than the room.
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

/// Condition that ends the transmission of an SDU (TS 25.322 §9.7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// At MaxDAT the SDU is discarded, and the receiver is notified (§9.7.3.3).
    AfterMaxDat,
    /// When Timer_Discard expires after the arrival of the SDU, it is discarded, and the receiver
    /// is notified (§9.7.3.1). MaxDAT has no effect.
    Timer(Duration),
    /// At MaxDAT RLC is reset (§9.7.3.4).
    Never,
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

impl AmConfig {
    /// Octets of a whole AMD or STATUS PDU.
    pub(super) fn pdu_octets(&self) -> u16 {
        match self.header {
            Header::Counted => self.pdu_payload + 2,
            Header::Uncounted => self.pdu_payload,
        }
    }

    /// Rules for cutting SDUs: a length indicator takes one octet up to PDUs of 126 octets (TS
    /// 25.322 §9.2.2.8).
    #[inline]
    pub(in crate::radio::rlc) fn cutting(&self) -> Cutting {
        Cutting {
            payload: self.pdu_payload,
            length_indicator: if self.pdu_octets() <= 126 { 1 } else { 2 },
            rule: self.length_indicators,
            marks_start: false,
        }
    }

    /// Whether a PDU sent `transmissions` times may be retransmitted.
    #[inline]
    pub(super) fn may_send_again(&self, transmissions: u16) -> bool {
        let counted = u32::from(transmissions) + u32::from(self.max_dat_reading == MaxDatReading::Ts25322);
        matches!(self.discard, Discard::Timer(_)) || self.max_dat.is_none_or(|max_dat| counted < max_dat)
    }

    /// Poll_Window in PDUs, for a window of `vt_ws`.
    #[inline]
    pub(super) fn poll_window_pdus(&self, vt_ws: u64) -> Option<u64> {
        self.poll_window.map(|percent| (u64::from(percent) * vt_ws).div_ceil(100).max(1))
    }
}
