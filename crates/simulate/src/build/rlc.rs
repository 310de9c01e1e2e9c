//! RLC entities.

use umts_scenario::model as scenario;
use umts_stack::radio::rlc::RlcConfig;
use umts_stack::radio::rlc::am::{
    AmConfig, Arrivals, BufferCounts, Discard, Epc, ErroneousSn, GapWhileProhibited, Header,
    LengthIndicators, MaxDatReading, MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
use umts_stack::radio::rlc::tm::{ErroneousSdus, TmConfig};
use umts_stack::radio::rlc::um::UmConfig;

use super::CHECKED;

/// Bits of RLC header, `None` where no header is charged.
pub(super) fn rlc_header_bits(rlc: &scenario::Rlc) -> Option<u32> {
    match (rlc.header, rlc.mode) {
        (scenario::RlcHeader::Uncounted, _) => None,
        (_, scenario::RlcMode::Am) => Some(16),
        (_, scenario::RlcMode::Um) => Some(8),
        (_, scenario::RlcMode::Tm) => Some(0),
    }
}

pub(super) fn rlc_config(rlc: &scenario::Rlc, arrivals: [Arrivals; 2]) -> RlcConfig {
    let pdu_payload = u16::try_from(rlc.pdu_payload.0).expect(CHECKED);
    let (timer_discard, buffer) = (rlc.timer_discard, rlc.buffer);
    match rlc.mode {
        scenario::RlcMode::Am => RlcConfig::Am(am(rlc, arrivals).into()),
        scenario::RlcMode::Um => RlcConfig::Um(UmConfig { pdu_payload, timer_discard, buffer }),
        scenario::RlcMode::Tm => RlcConfig::Tm(TmConfig {
            pdu_payload,
            segmentation: rlc.tm_segmentation,
            erroneous_sdus: match rlc.tm_erroneous_sdus {
                scenario::ErroneousSdus::Dropped => ErroneousSdus::Dropped,
                scenario::ErroneousSdus::Marked => ErroneousSdus::Marked,
                scenario::ErroneousSdus::Undetected => ErroneousSdus::Undetected,
            },
            timer_discard,
            buffer,
        }),
    }
}

fn am(rlc: &scenario::Rlc, arrivals: [Arrivals; 2]) -> AmConfig {
    AmConfig {
        pdu_payload: u16::try_from(rlc.pdu_payload.0).expect(CHECKED),
        header: match rlc.header {
            scenario::RlcHeader::Ts25322 => Header::Counted,
            scenario::RlcHeader::Uncounted => Header::Uncounted,
        },
        length_indicators: match rlc.length_indicators {
            scenario::LengthIndicators::Ts25322 => LengthIndicators::Ts25322,
            scenario::LengthIndicators::Eurane => LengthIndicators::Eurane,
        },
        status_format: match rlc.status_format {
            scenario::StatusFormat::Bitmap => StatusFormat::Bitmap,
            scenario::StatusFormat::List => StatusFormat::List,
            scenario::StatusFormat::Rlist => StatusFormat::Rlist,
            scenario::StatusFormat::Eurane => StatusFormat::Eurane,
        },
        piggyback: match rlc.piggyback {
            scenario::Piggyback::Off => Piggyback::Off,
            scenario::Piggyback::Padding => Piggyback::Padding,
            scenario::Piggyback::BuildAround => Piggyback::BuildAround,
        },
        piggyback_wait: rlc.piggyback_wait,
        window: rlc.window,
        rx_window: rlc.rx_window.unwrap_or(rlc.window),
        granted_window: rlc.granted_window,
        in_sequence: rlc.in_sequence,
        discard: match rlc.sdu_discard {
            scenario::SduDiscard::MaxDat => Discard::AfterMaxDat,
            scenario::SduDiscard::Timer => Discard::Timer(rlc.timer_discard.expect(CHECKED)),
            scenario::SduDiscard::Never => Discard::Never,
        },
        max_dat: rlc.max_dat,
        max_dat_reading: match rlc.max_dat_reading {
            scenario::MaxDatReading::Transmissions => MaxDatReading::Transmissions,
            scenario::MaxDatReading::Ts25322 => MaxDatReading::Ts25322,
        },
        poll_last_pdu: rlc.poll_last_pdu,
        poll_last_retransmitted_pdu: rlc.poll_last_retransmitted_pdu,
        poll_pdu: rlc.poll_pdu,
        poll_sdu: rlc.poll_sdu,
        poll_window: rlc.poll_window,
        timer_poll: rlc.timer_poll,
        timer_poll_prohibit: rlc.timer_poll_prohibit,
        timer_poll_periodic: rlc.timer_poll_periodic,
        timer_status_prohibit: rlc.timer_status_prohibit,
        timer_status_periodic: rlc.timer_status_periodic,
        epc: rlc.timer_epc.map(|timer_epc| Epc { timer_epc, arrivals }),
        missing_pdu_indication: match rlc.missing_pdu_indication {
            scenario::MissingPduIndication::Off => MissingPduIndication::Off,
            scenario::MissingPduIndication::NewGap => MissingPduIndication::NewGap,
            scenario::MissingPduIndication::EveryPdu => MissingPduIndication::EveryPdu,
        },
        gap_while_prohibited: match rlc.gap_while_prohibited {
            scenario::GapWhileProhibited::Remembered => GapWhileProhibited::Remembered,
            scenario::GapWhileProhibited::Forgotten => GapWhileProhibited::Forgotten,
        },
        mrw_acknowledgment: match rlc.mrw_acknowledgment {
            scenario::MrwAcknowledgment::Explicit => MrwAcknowledgment::Explicit,
            scenario::MrwAcknowledgment::Implicit => MrwAcknowledgment::Implicit,
        },
        send_mrw: rlc.send_mrw,
        timer_mrw: rlc.timer_mrw,
        max_mrw: rlc.max_mrw,
        erroneous_sn: match rlc.erroneous_sn {
            scenario::ErroneousSn::Reset => ErroneousSn::Reset,
            scenario::ErroneousSn::Dropped => ErroneousSn::Dropped,
        },
        timer_rst: rlc.timer_rst,
        max_rst: rlc.max_rst,
        buffer: rlc.buffer,
        buffer_counts: match rlc.buffer_counts {
            scenario::BufferCounts::Unacknowledged => BufferCounts::Unacknowledged,
            scenario::BufferCounts::Unsent => BufferCounts::Unsent,
        },
    }
}
