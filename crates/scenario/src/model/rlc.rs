//! Radio link control (TS 25.322).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::radio::rlc::RlcConfig;
use umts_stack::radio::rlc::am::{AmConfig, Arrivals, Epc};
pub use umts_stack::radio::rlc::am::{
    BufferCounts, ErroneousSn, GapWhileProhibited, Header as RlcHeader, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
pub use umts_stack::radio::rlc::tm::ErroneousSdus;
use umts_stack::radio::rlc::tm::TmConfig;
use umts_stack::radio::rlc::um::UmConfig;
use umts_units::keyword::{Off, SameAsWindow, Unlimited};
use umts_units::{Bytes, Duration, Octets};

use crate::resolved::Group;

/// Radio link control, the same at both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rlc {
    /// RLC mode: acknowledged, unacknowledged or transparent. Of the keys below, the last two modes
    /// use only `pdu_payload`, `timer_discard` and `buffer`; transparent mode also uses
    /// `tm_segmentation` and `tm_erroneous_sdus`.
    #[schemars(extend("x-label" = "RLC mode", "x-source" = "TS 25.322 §4.2.1"))]
    pub mode: RlcMode,
    /// Transparent mode: whether an SDU may be segmented into all blocks of a TTI, or must fit one
    /// block.
    #[schemars(extend("x-label" = "Segmentation in transparent mode", "x-source" = "TS 25.322 §9.2.1.2; TS 25.331 §10.3.4.23"))]
    pub tm_segmentation: bool,
    /// Transparent mode: treatment of an SDU with an error in it.
    #[schemars(extend("x-label" = "Erroneous SDUs in transparent mode", "x-source" = "TS 25.331 §10.3.4.23, Delivery of erroneous SDU"))]
    pub tm_erroneous_sdus: ErroneousSdus,
    /// Octets of a PDU after its AMD header: length indicators and data.
    #[schemars(extend("x-label" = "PDU payload", "x-min" = "4 B", "x-max" = "1500 B", "x-source" = "TS 34.108 §6.10.2.4: 320 bits"))]
    pub pdu_payload: Octets,
    /// Whether the AMD header takes capacity on the Iub and the air.
    #[schemars(extend("x-label" = "AMD header", "x-source" = "TS 25.322 §9.2.1.4"))]
    pub header: RlcHeader,
    /// When the end of an SDU needs a length indicator.
    #[schemars(extend("x-label" = "Length indicators", "x-source" = "TS 25.322 §9.2.2.8"))]
    pub length_indicators: LengthIndicators,
    /// Format in which a status report lists the missing PDUs.
    #[schemars(extend("x-label" = "Format of STATUS", "x-source" = "TS 25.322 §9.2.2.11"))]
    pub status_format: StatusFormat,
    /// Whether a status report may be piggybacked on a data PDU.
    #[schemars(extend("x-label" = "Piggybacked status", "x-source" = "TS 25.322 §9.2.1.5"))]
    pub piggyback: Piggyback,
    /// Time for which a status report waits for a data PDU to be piggybacked on. A data PDU that
    /// leaves at the last instant still takes it.
    #[schemars(extend("x-label" = "Maximum wait for piggybacking", "x-max" = "10 s", "x-source" = "EURANE: 10 ms; none in 3GPP"))]
    pub piggyback_wait: Duration,
    /// Configured_Tx_Window_Size: largest number of PDUs that are not acknowledged.
    #[schemars(extend("x-label" = "RLC window (PDUs)", "x-min" = 1, "x-max" = 2047, "x-source" = "TS 25.322 §9.6; TS 25.331 §10.3.4.23"))]
    pub window: u32,
    /// Configured_Rx_Window_Size: number of PDUs that the receiver can hold, or `"window"` for the
    /// value of `window`.
    #[serde(with = "SameAsWindow::<u32>")]
    #[schemars(extend("x-label" = "Receiving RLC window (PDUs)", "x-min" = 1, "x-max" = 2047, "x-source" = "TS 25.322 §9.6; TS 25.331 §10.3.4.23"))]
    pub rx_window: Option<u32>,
    /// Window that the receiver grants in the WINDOW super-field of every status report, or `"off"`
    /// to send none.
    #[serde(with = "Off::<u32>")]
    #[schemars(extend("x-label" = "Granted RLC window (PDUs)", "x-min" = 1, "x-max" = 2047, "x-source" = "TS 25.322 §9.2.2.11.2"))]
    pub granted_window: Option<u32>,
    /// Whether SDUs are delivered in the order of their transmission, or as soon as they are
    /// complete.
    #[schemars(extend("x-label" = "In-sequence delivery", "x-source" = "TS 25.322 §4.2.1.3; TS 25.331 §10.3.4.23"))]
    pub in_sequence: bool,
    /// Condition that ends the attempts to send an SDU.
    #[schemars(extend("x-label" = "SDU discard", "x-source" = "TS 25.322 §9.7.3"))]
    pub sdu_discard: SduDiscard,
    /// Timer_Discard: age at which an SDU is discarded, with `sdu_discard = "timer"` and in the
    /// modes without acknowledgment; or `"off"`.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_Discard", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5; TS 25.331 §10.3.4.25 signals 0.1 to 7.5 s"))]
    pub timer_discard: Option<Duration>,
    /// MaxDAT: transmissions of a PDU before its SDU is discarded (1 = no retransmission), or
    /// `"unlimited"`.
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "MaxDAT (transmissions of a PDU)", "x-min" = 1, "x-source" = "TS 25.322 §9.7.3.3; TS 25.331 §10.3.4.25 signals 1 to 40"))]
    pub max_dat: Option<u32>,
    /// Unit that `max_dat` counts.
    #[schemars(extend("x-label" = "Reading of MaxDAT", "x-source" = "the literature for transmissions; TS 25.322 §9.4 for ts25322"))]
    pub max_dat_reading: MaxDatReading,
    /// Poll with the last PDU in the transmission buffer.
    #[schemars(extend("x-label" = "Poll with the last PDU", "x-source" = "TS 25.322 §9.7.1 (1)"))]
    pub poll_last_pdu: bool,
    /// Poll with the last PDU in the retransmission buffer.
    #[schemars(extend("x-label" = "Poll with the last retransmitted PDU", "x-source" = "TS 25.322 §9.7.1 (2)"))]
    pub poll_last_retransmitted_pdu: bool,
    /// Poll_PDU: poll once in this number of PDUs, or `"off"`.
    #[serde(with = "Off::<u32>")]
    #[schemars(extend("x-label" = "Poll_PDU", "x-min" = 1, "x-source" = "TS 25.322 §9.7.1 (4); TS 25.331 §10.3.4.4 signals 1 to 128"))]
    pub poll_pdu: Option<u32>,
    /// Poll_SDU: poll with the last PDU of one SDU in this number of SDUs, or `"off"`.
    #[serde(with = "Off::<u32>")]
    #[schemars(extend("x-label" = "Poll_SDU", "x-min" = 1, "x-source" = "TS 25.322 §9.7.1 (5); TS 25.331 §10.3.4.4 signals 1, 4, 16, 64"))]
    pub poll_sdu: Option<u32>,
    /// Poll_Window: poll while at least this percentage of the window is outstanding, or `"off"`.
    #[serde(with = "Off::<u32>")]
    #[schemars(extend("x-label" = "Poll_Window (%)", "x-min" = 1, "x-max" = 100, "x-source" = "TS 25.322 §9.7.1 (6); TS 25.331 §10.3.4.4 signals 50 to 99"))]
    pub poll_window: Option<u32>,
    /// Timer_Poll: time to wait for the answer to a poll before polling again, or `"off"`.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_Poll", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_poll: Option<Duration>,
    /// Timer_Poll_Prohibit: smallest time between two polls, or `"off"`.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_Poll_Prohibit", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_poll_prohibit: Option<Duration>,
    /// Timer_Poll_Periodic: interval of polls while data waits for transmission or acknowledgment,
    /// or `"off"`.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_Poll_Periodic", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_poll_periodic: Option<Duration>,
    /// Timer_STATUS_Prohibit: smallest time between two status reports, or `"off"`.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_STATUS_Prohibit", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_status_prohibit: Option<Duration>,
    /// Timer_STATUS_Periodic: interval of status reports from the first PDU on, or `"off"`.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_STATUS_Periodic", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_status_periodic: Option<Duration>,
    /// Timer_EPC: repeat a status report whose PDUs have not arrived, or `"off"`. The time until
    /// then is this timer plus the time that the requested PDUs take at the bearer's full rate
    /// (estimated PDU counter of Releases 99 and 4).
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Timer_EPC", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 R99 §9.5, §9.7.4; TS 25.331 §10.3.4.4 signals 50 to 900 ms"))]
    pub timer_epc: Option<Duration>,
    /// Missing PDU Indicator: when a missing PDU triggers a status report.
    #[schemars(extend("x-label" = "Missing PDU indication", "x-source" = "TS 25.322 §9.7.2; EURANE for every_pdu"))]
    pub missing_pdu_indication: MissingPduIndication,
    /// Treatment of a gap that is detected while Timer_STATUS_Prohibit runs.
    #[schemars(extend("x-label" = "Gap while reports are prohibited", "x-source" = "TS 25.322 §9.7.2; EURANE for forgotten"))]
    pub gap_while_prohibited: GapWhileProhibited,
    /// Event that acknowledges a move-receiving-window command (MRW).
    #[schemars(extend("x-label" = "Acknowledgment of MRW", "x-source" = "TS 25.322 §11.6; Dubois (2005), §4.4, for implicit"))]
    pub mrw_acknowledgment: MrwAcknowledgment,
    /// Send MRW: whether a move-receiving-window command names every discarded SDU, or only the
    /// last one.
    #[schemars(extend("x-label" = "Send MRW", "x-source" = "TS 25.322 §9.6; TS 25.331 §10.3.4.25"))]
    pub send_mrw: bool,
    /// Timer_MRW: time to wait for the answer to a move-receiving-window command before repeating
    /// it.
    #[schemars(extend("x-label" = "Timer_MRW", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_mrw: Duration,
    /// MaxMRW: RLC sends a move-receiving-window command one time fewer than this, and is then
    /// reset; or `"unlimited"`.
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "MaxMRW", "x-min" = 1, "x-source" = "TS 25.322 §9.6; TS 25.331 §10.3.4.25 signals 1 to 32"))]
    pub max_mrw: Option<u32>,
    /// Reaction to a status report that names a PDU outside the window.
    #[schemars(extend("x-label" = "Reaction to an erroneous SN", "x-source" = "TS 25.322 §10; EURANE for dropped"))]
    pub erroneous_sn: ErroneousSn,
    /// Timer_RST: time to wait for the answer to a RESET before repeating it.
    #[schemars(extend("x-label" = "Timer_RST", "x-min" = "1 ms", "x-max" = "1 h", "x-source" = "TS 25.322 §9.5"))]
    pub timer_rst: Duration,
    /// MaxRST: RLC sends a RESET one time fewer than this, and then gives up.
    #[schemars(extend("x-label" = "MaxRST", "x-min" = 1, "x-source" = "TS 25.322 §9.6; TS 25.331 §10.3.4.23 signals 1 to 32"))]
    pub max_rst: u32,
    /// Capacity of the sender's SDU buffer, in octets, or `"unlimited"`. Packets that do not fit
    /// are dropped.
    #[serde(with = "Unlimited::<Bytes>")]
    #[schemars(extend("x-label" = "RLC buffer", "x-min" = "1 B", "x-max" = "1000 GB", "x-source" = "Dubois (2005), Table 6.1; 3GPP leaves it to the implementation"))]
    pub buffer: Option<Bytes>,
    /// SDUs that occupy the buffer of the sender.
    #[schemars(extend("x-label" = "SDUs that count in the RLC buffer", "x-source" = "TS 25.322 §4.2.1.3; EURANE for unsent"))]
    pub buffer_counts: BufferCounts,
    /// Whether both ends exchange encoded PDUs instead of descriptions. The results are the same;
    /// the run is slower, because every PDU is encoded, decoded and checked. Options of other
    /// simulators that have no encoding are refused.
    #[schemars(extend("x-label" = "Wire mode", "x-source" = "TS 25.322 §9.2"))]
    pub wire_mode: bool,
}

impl Rlc {
    /// RLC configuration of a group's users, the same at both ends.
    pub fn config(&self, group: &Group) -> RlcConfig {
        let (pdu_payload, timer_discard, buffer) = (self.pdu_payload.0, self.timer_discard, self.buffer);
        match self.mode {
            RlcMode::Am => RlcConfig::Am(self.am(group).into()),
            RlcMode::Um => RlcConfig::Um(UmConfig { pdu_payload, timer_discard, buffer }),
            RlcMode::Tm => RlcConfig::Tm(TmConfig {
                pdu_payload,
                segmentation: self.tm_segmentation,
                erroneous_sdus: self.tm_erroneous_sdus,
                timer_discard,
                buffer,
            }),
        }
    }

    fn am(&self, group: &Group) -> AmConfig {
        // Control PDUs have a channel of their own and are never piggybacked.
        let (piggyback, piggyback_wait) = match group.is_granted {
            true => (Piggyback::Off, Duration::ZERO),
            false => (self.piggyback, self.piggyback_wait),
        };
        let arrivals = group.channels.map(|of| Arrivals { pdus: of.format.blocks, tti: of.format.tti });
        AmConfig {
            pdu_payload: self.pdu_payload.0,
            header: self.header,
            length_indicators: self.length_indicators,
            status_format: self.status_format,
            piggyback,
            piggyback_wait,
            window: self.window,
            rx_window: self.rx_window.unwrap_or(self.window),
            granted_window: self.granted_window,
            in_sequence: self.in_sequence,
            discard: group.discard,
            max_dat: self.max_dat,
            max_dat_reading: self.max_dat_reading,
            poll_last_pdu: self.poll_last_pdu,
            poll_last_retransmitted_pdu: self.poll_last_retransmitted_pdu,
            poll_pdu: self.poll_pdu,
            poll_sdu: self.poll_sdu,
            poll_window: self.poll_window,
            timer_poll: self.timer_poll,
            timer_poll_prohibit: self.timer_poll_prohibit,
            timer_poll_periodic: self.timer_poll_periodic,
            timer_status_prohibit: self.timer_status_prohibit,
            timer_status_periodic: self.timer_status_periodic,
            epc: self.timer_epc.map(|timer_epc| Epc { timer_epc, arrivals }),
            missing_pdu_indication: self.missing_pdu_indication,
            gap_while_prohibited: self.gap_while_prohibited,
            mrw_acknowledgment: self.mrw_acknowledgment,
            send_mrw: self.send_mrw,
            timer_mrw: self.timer_mrw,
            max_mrw: self.max_mrw,
            erroneous_sn: self.erroneous_sn,
            timer_rst: self.timer_rst,
            max_rst: self.max_rst,
            buffer: self.buffer,
            buffer_counts: self.buffer_counts,
        }
    }

    /// Bits of a PDU's header, or `None` if the header is not counted.
    pub fn header_bits(&self) -> Option<u32> {
        match (self.header, self.mode) {
            (RlcHeader::Uncounted, _) => None,
            (_, RlcMode::Am) => Some(16),
            (_, RlcMode::Um) => Some(8),
            (_, RlcMode::Tm) => Some(0),
        }
    }
}

impl Default for Rlc {
    /// Defaults of [`AmConfig`].
    fn default() -> Self {
        let am = AmConfig::default();
        Rlc {
            mode: RlcMode::Am,
            tm_segmentation: true,
            tm_erroneous_sdus: ErroneousSdus::Dropped,
            pdu_payload: Octets(am.pdu_payload),
            header: am.header,
            length_indicators: am.length_indicators,
            status_format: am.status_format,
            piggyback: am.piggyback,
            piggyback_wait: am.piggyback_wait,
            window: am.window,
            rx_window: None,
            granted_window: am.granted_window,
            in_sequence: am.in_sequence,
            sdu_discard: SduDiscard::MaxDat,
            timer_discard: None,
            max_dat: am.max_dat,
            max_dat_reading: am.max_dat_reading,
            poll_last_pdu: am.poll_last_pdu,
            poll_last_retransmitted_pdu: am.poll_last_retransmitted_pdu,
            poll_pdu: am.poll_pdu,
            poll_sdu: am.poll_sdu,
            poll_window: am.poll_window,
            timer_poll: am.timer_poll,
            timer_poll_prohibit: am.timer_poll_prohibit,
            timer_poll_periodic: am.timer_poll_periodic,
            timer_status_prohibit: am.timer_status_prohibit,
            timer_status_periodic: am.timer_status_periodic,
            timer_epc: None,
            missing_pdu_indication: am.missing_pdu_indication,
            gap_while_prohibited: am.gap_while_prohibited,
            mrw_acknowledgment: am.mrw_acknowledgment,
            send_mrw: am.send_mrw,
            timer_mrw: am.timer_mrw,
            max_mrw: am.max_mrw,
            erroneous_sn: am.erroneous_sn,
            timer_rst: am.timer_rst,
            max_rst: am.max_rst,
            buffer: am.buffer,
            buffer_counts: am.buffer_counts,
            wire_mode: false,
        }
    }
}

/// Mode of RLC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RlcMode {
    /// Acknowledged (TS 25.322 §4.2.1.3).
    Am,
    /// Unacknowledged (§4.2.1.2).
    Um,
    /// Transparent (§4.2.1.1).
    Tm,
}

/// Condition that ends the attempts to send an SDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SduDiscard {
    /// At `max_dat` the SDU is discarded and the receiver is informed (TS 25.322 §9.7.3.3).
    MaxDat,
    /// At `timer_discard` the SDU is discarded and the receiver is informed (§9.7.3.1). `max_dat`
    /// has no effect.
    Timer,
    /// At `max_dat` RLC is reset (§9.7.3.4).
    Never,
}
