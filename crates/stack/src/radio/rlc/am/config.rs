//! What RRC configures: TS 25.331 §10.3.4.23 (RLC info), TS 25.322 §9.5 to §9.7. Named as there.

use umts_units::{Bytes, Duration};

use crate::ids::Direction;
use crate::radio::rlc::buffer::Cutting;

/// Configuration of an acknowledged-mode entity, both of its directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmConfig {
    /// Octets of a PDU behind the two header octets: length indicators, data and padding.
    pub pdu_payload: u16,
    /// What the two octets of AMD header cost.
    pub header: Header,
    /// How ends of SDUs are told.
    pub length_indicators: LengthIndicators,
    /// How a status report is written, which decides its size.
    pub status_format: StatusFormat,
    /// Whether a STATUS may travel inside a data PDU.
    pub piggyback: Piggyback,
    /// How long a STATUS waits for such a PDU before it travels alone; one that leaves at the very end still takes it.
    pub piggyback_wait: Duration,
    /// Configured_Tx_Window_Size: up to 2047.
    pub window: u32,
    /// Configured_Rx_Window_Size: up to 2047.
    pub rx_window: u32,
    /// The window that the receiver grants with every report, in a WINDOW SUFI; `None`: it sends none.
    pub granted_window: Option<u32>,
    /// Whether SDUs go up in the order in which they came; else as soon as they are whole.
    pub in_sequence: bool,
    /// What ends the attempts to send an SDU.
    pub discard: Discard,
    /// MaxDAT; `None`: a PDU is sent as often as it takes.
    pub max_dat: Option<u32>,
    /// What MaxDAT counts.
    pub max_dat_reading: MaxDatReading,
    /// Poll with the last PDU of the transmission buffer.
    pub poll_last_pdu: bool,
    /// Poll with the last PDU of the retransmission buffer.
    pub poll_last_retransmitted_pdu: bool,
    /// Poll with every n-th PDU, retransmissions counted.
    pub poll_pdu: Option<u32>,
    /// Poll with the last PDU of every n-th SDU.
    pub poll_sdu: Option<u32>,
    /// Poll_Window: poll with every new PDU that leaves this percentage of the window outstanding, or more.
    pub poll_window: Option<u32>,
    /// Timer_Poll.
    pub timer_poll: Option<Duration>,
    /// Timer_Poll_Prohibit: the least time between two polls.
    pub timer_poll_prohibit: Option<Duration>,
    /// Timer_Poll_Periodic.
    pub timer_poll_periodic: Option<Duration>,
    /// Timer_Status_Prohibit.
    pub timer_status_prohibit: Option<Duration>,
    /// Timer_Status_Periodic; it begins with the first data PDU that arrives.
    pub timer_status_periodic: Option<Duration>,
    /// Estimated PDU counter (TS 25.322 of Release 99 and 4, §9.7.4): ask again for what does not come.
    pub epc: Option<Epc>,
    /// When a missing PDU triggers a report.
    pub missing_pdu_indication: MissingPduIndication,
    /// What becomes of a gap that is seen while reports are prohibited.
    pub gap_while_prohibited: GapWhileProhibited,
    /// What acknowledges an MRW.
    pub mrw_acknowledgment: MrwAcknowledgment,
    /// Send MRW: an MRW names every SDU that was given up, and not the last alone.
    pub send_mrw: bool,
    /// Timer_MRW: an MRW that is not acknowledged is sent again.
    pub timer_mrw: Duration,
    /// MaxMRW: an MRW is sent one time less, then RLC is reset; `None`: as often as it takes.
    pub max_mrw: Option<u32>,
    /// What a STATUS leads to that names a PDU outside the window.
    pub erroneous_sn: ErroneousSn,
    /// Timer_RST: a RESET that is not acknowledged is sent again.
    pub timer_rst: Duration,
    /// MaxRST: a RESET is sent one time less, then the error is unrecoverable.
    pub max_rst: u32,
    /// Room in the transmission buffer, in octets of SDUs; `None`: any.
    pub buffer: Option<Bytes>,
    /// Which SDUs take that room.
    pub buffer_counts: BufferCounts,
}

impl Default for AmConfig {
    /// What a scenario has by default, too: 3GPP formats, polls and timers in the range that TS 25.331 signals, and SDU discard
    /// after 15 transmissions.
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

/// When a report that asked for PDUs is repeated: Timer_EPC after it, and as long as those PDUs take then, if not all of
/// them have come. Releases 99 and 4 count them down by what the transport format of each TTI tells; here that is the
/// full transport format of the bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epc {
    /// Timer_EPC: from a report to the first PDU that it asked for.
    pub timer_epc: Duration,
    /// What a downlink TTI brings, and an uplink TTI.
    pub arrivals: [Arrivals; 2],
}

/// What a TTI of a bearer brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrivals {
    /// PDUs in it; zero counts as one.
    pub pdus: u32,
    /// How long it is.
    pub tti: Duration,
}

impl Epc {
    /// How long after a report that asks for `pdus` PDUs of `direction` they should be there.
    pub(super) fn wait(&self, direction: Direction, pdus: u64) -> Duration {
        let Arrivals { pdus: each, tti } = self.arrivals[direction.index()];
        self.timer_epc + tti * pdus.div_ceil(u64::from(each.max(1)))
    }
}

/// Which SDUs take room in the transmission buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BufferCounts {
    /// All that are not wholly acknowledged (TS 25.322 §4.2.1.3: the retransmission buffer is part of it).
    Unacknowledged,
    /// EURANE: those of which something is still to be put into a PDU.
    Unsent,
}

/// Whether the AMD header is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "RlcHeader"))]
pub enum Header {
    /// Two octets on every PDU (TS 25.322 §9.2.1.4).
    #[cfg_attr(feature = "schema", serde(rename = "ts25322"))]
    Counted,
    /// EURANE: none.
    // A STATUS PDU has 40 octets where a true one has 42.
    Uncounted,
}

/// When the end of an SDU costs a length indicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum LengthIndicators {
    /// Always, in the PDU of the end or, where the SDU fills it exactly, in the next (TS 25.322 §9.2.2.8).
    Ts25322,
    /// EURANE: one octet, none where an SDU fills its PDU exactly.
    // A PDU holds parts of two SDUs at most, the second only if three octets of it fit and it is larger than the room.
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
    // A codeword has 4 bits; 15 of them in each.
    Rlist,
    /// EURANE: 20 bits and one bit for each PDU, 300 at most.
    // From the one before the first missing.
    Eurane,
}

/// Whether a status report may ride in a data PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Piggyback {
    /// It always travels alone.
    Off,
    /// In place of padding (TS 25.322 §9.2.1.5), in a new PDU or in one sent again.
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
    /// When a PDU arrives that leaves a gap behind the highest one so far (TS 25.322 §9.7.2).
    NewGap,
    /// EURANE: with every PDU that arrives while one is missing.
    EveryPdu,
}

/// What becomes of a gap that is seen while Timer_STATUS_Prohibit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum GapWhileProhibited {
    /// It is reported when the timer expires (TS 25.322 §9.7.2).
    Remembered,
    /// EURANE: only a poll is remembered.
    Forgotten,
}

/// What ends the attempts to send an SDU (TS 25.322 §9.7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// MaxDAT: the SDU is given up, and the receiver told (§9.7.3.3).
    AfterMaxDat,
    /// Timer_Discard after its arrival the SDU is given up, and the receiver told (§9.7.3.1); MaxDAT says nothing.
    Timer(Duration),
    /// MaxDAT: RLC is reset (§9.7.3.4).
    Never,
}

/// What `max_dat` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum MaxDatReading {
    /// Transmissions, as the literature counts.
    Transmissions,
    /// TS 25.322: the last of them does not take place, so a PDU is sent `max_dat` - 1 times.
    // §9.4: VT(DAT) = MaxDAT takes its place.
    Ts25322,
}

/// What acknowledges a move-receiving-window command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum MrwAcknowledgment {
    /// A super-field of its own, MRW_ACK (TS 25.322 §11.6).
    // PDUs below the new window are thrown away even where an SDU is whole.
    Explicit,
    /// Dubois (2005), §4.4: any report that acknowledges up to the new window.
    // Whole SDUs still go up.
    Implicit,
}

/// What a status report leads to that names a PDU outside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ErroneousSn {
    /// RESET (TS 25.322 §10).
    Reset,
    /// EURANE: the report is dropped.
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

    /// How SDUs are cut: a length indicator takes one octet up to PDUs of 126 octets (TS 25.322 §9.2.2.8).
    #[inline]
    pub(in crate::radio::rlc) fn cutting(&self) -> Cutting {
        Cutting {
            payload: self.pdu_payload,
            length_indicator: if self.pdu_octets() <= 126 { 1 } else { 2 },
            rule: self.length_indicators,
            marks_start: false,
        }
    }

    /// Whether a PDU sent `transmissions` times may be sent again.
    #[inline]
    pub(super) fn may_send_again(&self, transmissions: u16) -> bool {
        let counted = u32::from(transmissions) + u32::from(self.max_dat_reading == MaxDatReading::Ts25322);
        matches!(self.discard, Discard::Timer(_)) || self.max_dat.is_none_or(|max_dat| counted < max_dat)
    }

    /// Poll_Window in PDUs of a window of `vt_ws`.
    #[inline]
    pub(super) fn poll_window_pdus(&self, vt_ws: u64) -> Option<u64> {
        self.poll_window.map(|percent| (u64::from(percent) * vt_ws).div_ceil(100).max(1))
    }
}
