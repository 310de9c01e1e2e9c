//! Configuration of an RLC entity: TS 25.331 §10.3.4.23 (RLC info), TS 25.322 §9.5 to §9.7. Fields
//! have the names of the standards.

use umts_units::{Bytes, Duration, Octets};

use super::am::{
    Arrivals, BufferCounts, ErroneousSn, GapWhileProhibited, Header, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
use super::tm::ErroneousSdus;
use crate::aqm::{CodelConfig, PieConfig, RedConfig};
use crate::ids::Direction;
use crate::options::options;
#[cfg(feature = "schema")]
use crate::options::{Off, SameAsWindow, Unlimited};

options! {
    /// Radio link control, the same at both ends.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RlcConfig as "Rlc" {
        /// RLC mode: acknowledged, unacknowledged or transparent. Of the keys below, the last two
        /// modes use only `pdu_payload`, `timer_discard` and `buffer`; transparent mode also uses
        /// `tm_segmentation` and `tm_erroneous_sdus`.
        [label = "RLC mode", source = "TS 25.322 §4.2.1"]
        pub mode: RlcMode = RlcMode::Am,
        /// Transparent mode: whether an SDU may be segmented into all blocks of a TTI, or must fit
        /// one block.
        [label = "Segmentation in transparent mode", source = "TS 25.322 §9.2.1.2; TS 25.331 §10.3.4.23"]
        pub tm_segmentation: bool = true,
        /// Transparent mode: treatment of an SDU with an error in it.
        [label = "Erroneous SDUs in transparent mode",
            source = "TS 25.331 §10.3.4.23, Delivery of erroneous SDU"]
        pub tm_erroneous_sdus: ErroneousSdus = ErroneousSdus::Dropped,
        /// Octets of a PDU after its AMD header: length indicators and data.
        [label = "PDU payload", min = "4 B", max = "1500 B", source = "TS 34.108 §6.10.2.4: 320 bits"]
        pub pdu_payload: Octets = Octets(40),
        /// Size of the PDUs that acknowledged mode sends in the downlink. PDUs of flexible size need an
        /// HS-DSCH with MAC-ehs. In the uplink all PDUs have the payload `pdu_payload`.
        [label = "Size of downlink PDUs", source = "TS 25.331 §10.3.4.23, Downlink RLC PDU size, from Release 7 on"]
        pub pdu_size: PduSize = PduSize::Fixed,
        /// Largest PDU of flexible size, with its AMD header.
        [label = "Largest PDU", min = "16 B", max = "1503 B", source = "TS 25.322 §9.2.1.4, from Release 7 on"]
        pub largest_pdu: Octets = Octets(1503),
        /// PDUs of flexible size: whether a poll that no data PDU carries is a POLL super-field in a
        /// STATUS PDU of 3 octets. Otherwise the last data PDU is repeated to carry it.
        [label = "POLL super-field", source = "TS 25.322 §9.2.2.11.9, §11.3.2, from Release 7 on"]
        pub poll_sufi: bool = false,
        /// Whether the AMD header takes capacity on the Iub and the air.
        [label = "AMD header", source = "TS 25.322 §9.2.1.4"]
        pub header: Header = Header::Counted,
        /// When the end of an SDU needs a length indicator.
        [label = "Length indicators", source = "TS 25.322 §9.2.2.8"]
        pub length_indicators: LengthIndicators = LengthIndicators::Ts25322,
        /// Format in which a status report lists the missing PDUs.
        [label = "Format of STATUS", source = "TS 25.322 §9.2.2.11"]
        pub status_format: StatusFormat = StatusFormat::Bitmap,
        /// Whether a status report may be piggybacked on a data PDU.
        [label = "Piggybacked status", source = "TS 25.322 §9.2.1.5"]
        pub piggyback: Piggyback = Piggyback::Padding,
        /// Time for which a status report waits for a data PDU to be piggybacked on. A data PDU
        /// that leaves at the last instant still takes it.
        [label = "Maximum wait for piggybacking", max = "10 s", source = "EURANE: 10 ms; none in 3GPP"]
        pub piggyback_wait: Duration = Duration::ZERO,
        /// Configured_Tx_Window_Size: largest number of PDUs that are not acknowledged.
        [label = "RLC window (PDUs)", min = 1, max = 2047, source = "TS 25.322 §9.6; TS 25.331 §10.3.4.23"]
        pub window: u32 = 1024,
        /// Configured_Rx_Window_Size: number of PDUs that the receiver can hold, or `"window"` for
        /// the value of `window`.
        [label = "Receiving RLC window (PDUs)", keyword = "SameAsWindow::<u32>", min = 1, max = 2047,
            source = "TS 25.322 §9.6; TS 25.331 §10.3.4.23"]
        pub rx_window: Option<u32> = None,
        /// Window that the receiver grants in the WINDOW super-field of every status report, or
        /// `"off"` to send none.
        [label = "Granted RLC window (PDUs)", keyword = "Off::<u32>", min = 1, max = 2047,
            source = "TS 25.322 §9.2.2.11.2"]
        pub granted_window: Option<u32> = None,
        /// Whether SDUs are delivered in the order of their transmission, or as soon as they are
        /// complete.
        [label = "In-sequence delivery", source = "TS 25.322 §4.2.1.3; TS 25.331 §10.3.4.23"]
        pub in_sequence: bool = true,
        /// Condition that ends the attempts to send an SDU.
        [label = "SDU discard", source = "TS 25.322 §9.7.3"]
        pub sdu_discard: SduDiscard = SduDiscard::MaxDat,
        /// Timer_Discard: age at which an SDU is discarded, with `sdu_discard = "timer"` and in the
        /// modes without acknowledgment; or `"off"`.
        [label = "Timer_Discard", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 §9.5; TS 25.331 §10.3.4.25 signals 0.1 to 7.5 s"]
        pub timer_discard: Option<Duration> = None,
        /// MaxDAT: transmissions of a PDU before its SDU is discarded (1 = no retransmission), or
        /// `"unlimited"`.
        [label = "MaxDAT (transmissions of a PDU)", keyword = "Unlimited::<u32>", min = 1,
            source = "TS 25.322 §9.7.3.3; TS 25.331 §10.3.4.25 signals 1 to 40"]
        pub max_dat: Option<u32> = Some(15),
        /// Unit that `max_dat` counts.
        [label = "Interpretation of MaxDAT", source = "the literature for transmissions; TS 25.322 §9.4 for ts25322"]
        pub max_dat_reading: MaxDatReading = MaxDatReading::Transmissions,
        /// Poll with the last PDU in the transmission buffer.
        [label = "Poll with the last PDU", source = "TS 25.322 §9.7.1 (1)"]
        pub poll_last_pdu: bool = true,
        /// Poll with the last PDU in the retransmission buffer.
        [label = "Poll with the last retransmitted PDU", source = "TS 25.322 §9.7.1 (2)"]
        pub poll_last_retransmitted_pdu: bool = true,
        /// Poll_PDU: poll once in this number of PDUs, or `"off"`.
        [label = "Poll_PDU", keyword = "Off::<u32>", min = 1,
            source = "TS 25.322 §9.7.1 (4); TS 25.331 §10.3.4.4 signals 1 to 128"]
        pub poll_pdu: Option<u32> = Some(32),
        /// Poll_SDU: poll with the last PDU of one SDU in this number of SDUs, or `"off"`.
        [label = "Poll_SDU", keyword = "Off::<u32>", min = 1,
            source = "TS 25.322 §9.7.1 (5); TS 25.331 §10.3.4.4 signals 1, 4, 16, 64"]
        pub poll_sdu: Option<u32> = None,
        /// Poll_Window: poll while at least this percentage of the window is outstanding, or
        /// `"off"`.
        [label = "Poll_Window (%)", keyword = "Off::<u32>", min = 1, max = 100,
            source = "TS 25.322 §9.7.1 (6); TS 25.331 §10.3.4.4 signals 50 to 99"]
        pub poll_window: Option<u32> = None,
        /// Timer_Poll: time to wait for the answer to a poll before polling again, or `"off"`.
        [label = "Timer_Poll", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 §9.5"]
        pub timer_poll: Option<Duration> = Some(Duration::from_millis(300)),
        /// Timer_Poll_Prohibit: smallest time between two polls, or `"off"`.
        [label = "Timer_Poll_Prohibit", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 §9.5"]
        pub timer_poll_prohibit: Option<Duration> = None,
        /// Timer_Poll_Periodic: interval of polls while data waits for transmission or
        /// acknowledgment, or `"off"`.
        [label = "Timer_Poll_Periodic", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 §9.5"]
        pub timer_poll_periodic: Option<Duration> = None,
        /// Timer_STATUS_Prohibit: smallest time between two status reports, or `"off"`.
        [label = "Timer_STATUS_Prohibit", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 §9.5"]
        pub timer_status_prohibit: Option<Duration> = Some(Duration::from_millis(100)),
        /// Timer_STATUS_Periodic: interval of status reports from the first PDU on, or `"off"`.
        [label = "Timer_STATUS_Periodic", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 §9.5"]
        pub timer_status_periodic: Option<Duration> = None,
        /// Timer_EPC: repeat a status report whose PDUs have not arrived, or `"off"`. The time
        /// until then is this timer plus the time that the requested PDUs take at the bearer's full
        /// rate (estimated PDU counter of Releases 99 and 4).
        [label = "Timer_EPC", keyword = "Off::<Duration>", min = "1 ms", max = "1 h",
            source = "TS 25.322 R99 §9.5, §9.7.4; TS 25.331 §10.3.4.4 signals 50 to 900 ms"]
        pub timer_epc: Option<Duration> = None,
        /// Missing PDU Indicator: when a missing PDU triggers a status report.
        [label = "Missing PDU indication", source = "TS 25.322 §9.7.2; EURANE for every_pdu"]
        pub missing_pdu_indication: MissingPduIndication = MissingPduIndication::NewGap,
        /// Treatment of a gap that is detected while Timer_STATUS_Prohibit runs.
        [label = "Gap while reports are prohibited", source = "TS 25.322 §9.7.2; EURANE for forgotten"]
        pub gap_while_prohibited: GapWhileProhibited = GapWhileProhibited::Remembered,
        /// Event that acknowledges a move-receiving-window command (MRW).
        [label = "Acknowledgment of MRW", source = "TS 25.322 §11.6; Dubois (2005), §4.4, for implicit"]
        pub mrw_acknowledgment: MrwAcknowledgment = MrwAcknowledgment::Explicit,
        /// Send MRW: whether a move-receiving-window command names every discarded SDU, or only the
        /// last one.
        [label = "Send MRW", source = "TS 25.322 §9.6; TS 25.331 §10.3.4.25"]
        pub send_mrw: bool = false,
        /// Timer_MRW: time to wait for the answer to a move-receiving-window command before
        /// repeating it.
        [label = "Timer_MRW", min = "1 ms", max = "1 h", source = "TS 25.322 §9.5"]
        pub timer_mrw: Duration = Duration::from_millis(300),
        /// MaxMRW: RLC sends a move-receiving-window command one time fewer than this, and is then
        /// reset; or `"unlimited"`.
        [label = "MaxMRW", keyword = "Unlimited::<u32>", min = 1,
            source = "TS 25.322 §9.6; TS 25.331 §10.3.4.25 signals 1 to 32"]
        pub max_mrw: Option<u32> = Some(6),
        /// Reaction to a status report that names a PDU outside the window.
        [label = "Reaction to an erroneous SN", source = "TS 25.322 §10; EURANE for dropped"]
        pub erroneous_sn: ErroneousSn = ErroneousSn::Reset,
        /// Timer_RST: time to wait for the answer to a RESET before repeating it.
        [label = "Timer_RST", min = "1 ms", max = "1 h", source = "TS 25.322 §9.5"]
        pub timer_rst: Duration = Duration::from_millis(300),
        /// MaxRST: RLC sends a RESET one time fewer than this, and then gives up.
        [label = "MaxRST", min = 1, source = "TS 25.322 §9.6; TS 25.331 §10.3.4.23 signals 1 to 32"]
        pub max_rst: u32 = 8,
        /// Capacity of the sender's SDU buffer, in octets, or `"unlimited"`. Packets that do not
        /// fit are dropped.
        [label = "RLC buffer", keyword = "Unlimited::<Bytes>", min = "1 B", max = "1000 GB",
            source = "Dubois (2005), Table 6.1; 3GPP leaves it to the implementation"]
        pub buffer: Option<Bytes> = Some(Bytes(100_000)),
        /// SDUs that occupy the buffer of the sender.
        [label = "SDUs that count in the RLC buffer", source = "TS 25.322 §4.2.1.3; EURANE for unsent"]
        pub buffer_counts: BufferCounts = BufferCounts::Unacknowledged,
        /// Controlled delay (CoDel) for the SDUs of which nothing was sent.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"), schemars(with = "CodelConfig", extend("x-default" = "none")))]
        pub codel: Option<CodelConfig> = None,
        /// Proportional integral controller enhanced (PIE) for the SDUs of which nothing was sent.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"), schemars(with = "PieConfig", extend("x-default" = "none")))]
        pub pie: Option<PieConfig> = None,
        /// Random early detection (RED) for the SDUs of which nothing was sent. Its average falls while
        /// the queue is empty as if packets left at the full rate of the user's first channel.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"), schemars(with = "RedConfig", extend("x-default" = "none")))]
        pub red: Option<RedConfig> = None,
        /// Whether both ends exchange encoded PDUs instead of descriptions. The results are the
        /// same; the run is slower, because every PDU is encoded, decoded and checked. Options of
        /// other simulators that have no encoding are refused.
        [label = "Wire mode", source = "TS 25.322 §9.2"]
        pub wire_mode: bool = false,
        /// Capacity of a downlink TTI and of an uplink TTI, for `timer_epc`. Not a key.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub arrivals: [Arrivals; 2] = [Arrivals::default(); 2],
    }
}

impl RlcConfig {
    /// Whether PDUs that are sent in direction `sends` have a flexible size.
    #[inline]
    pub fn is_flexible(&self, sends: Direction) -> bool {
        self.pdu_size == PduSize::Flexible && self.mode == RlcMode::Am && sends == Direction::Downlink
    }

    /// Whether a poll in direction `sends` that no data PDU carries is sent as a POLL SUFI. TS 25.322
    /// §9.2.2.11.9 allows this only in a direction with PDUs of flexible size.
    #[inline]
    pub fn has_poll_sufi(&self, sends: Direction) -> bool {
        self.poll_sufi && self.is_flexible(sends)
    }

    /// Octets after the header of the largest PDU that is sent in direction `sends`.
    #[inline]
    pub fn largest_payload(&self, sends: Direction) -> u16 {
        match self.is_flexible(sends) {
            true => self.largest_pdu.0 - self.header_bits().unwrap_or(0) as u16 / 8,
            false => self.pdu_payload.0,
        }
    }

    /// Bits of a PDU's header, or `None` if the header is not counted.
    pub fn header_bits(&self) -> Option<u32> {
        match (self.header, self.mode) {
            (Header::Uncounted, _) => None,
            (_, RlcMode::Am) => Some(16),
            (_, RlcMode::Um) => Some(8),
            (_, RlcMode::Tm) => Some(0),
        }
    }
}

/// Mode of RLC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RlcMode {
    /// Acknowledged (TS 25.322 §4.2.1.3).
    Am,
    /// Unacknowledged (§4.2.1.2).
    Um,
    /// Transparent (§4.2.1.1).
    Tm,
}

/// Size of the PDUs of acknowledged mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum PduSize {
    /// Each PDU has the payload `pdu_payload`, and padding if there are fewer data.
    Fixed,
    /// A PDU has the size of its content, up to `largest_pdu`, and no padding. It contains data of one
    /// SDU. A PDU with the end of an SDU has no length indicator, but HE = 10 in its header.
    // TS 25.322 allows several SDUs in a PDU too; the RNC is free to send one.
    Flexible,
}

/// Condition that ends the attempts to send an SDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum SduDiscard {
    /// At `max_dat` the SDU is discarded and the receiver is informed (TS 25.322 §9.7.3.3).
    MaxDat,
    /// At `timer_discard` the SDU is discarded and the receiver is informed (§9.7.3.1). `max_dat`
    /// has no effect.
    Timer,
    /// At `max_dat` RLC is reset (§9.7.3.4).
    Never,
}
