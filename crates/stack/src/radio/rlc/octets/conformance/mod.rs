//! The conformance tests by which terminals are certified: the test purposes of TS 34.123-1 §7.2, as
//! conversations between a scripted system simulator (SS) and one RLC entity, octet by octet. The
//! page `docs/reference/rlc-conformance.md` is generated from them.
//!
//! The PDUs of the SS are built bit by bit ([`bits`]) instead of with the codec under test.
//! Parameters are from TS 34.108 §6.11 and TS 34.123-1 Table 7.2/1. If a case and TS 25.322
//! disagree, TS 25.322 takes precedence.

mod bits;
mod discard;
mod formats;
mod page;
mod polling;
mod reset;
mod status;
mod test_ue;
mod transfer;
mod um;

use umts_units::{Duration, Octets};

use self::test_ue::TestUe;
use crate::radio::rlc::am::{MaxDatReading, MissingPduIndication, Piggyback, StatusFormat};
use crate::radio::rlc::{RlcConfig, RlcMode, SduDiscard};

/// One test purpose.
struct Case {
    /// Clause of TS 34.123-1.
    clause: &'static str,
    purpose: &'static str,
    /// Behaviour that TS 25.322 requires.
    requirement: &'static str,
    method: Method,
}

/// How a test purpose is tested.
enum Method {
    /// Runs the conversation, and returns the UE with its log. Panics if the entity deviates.
    Script(fn() -> TestUe),
    /// Reason for not testing this purpose.
    NotApplicable(&'static str),
}

fn cases() -> Vec<Case> {
    [
        um::cases(),
        formats::cases(),
        transfer::cases(),
        polling::cases(),
        status::cases(),
        discard::cases(),
        reset::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn case(
    clause: &'static str,
    purpose: &'static str,
    requirement: &'static str,
    script: fn() -> TestUe,
) -> Case {
    Case { clause, purpose, requirement, method: Method::Script(script) }
}

/// A bearer of unacknowledged mode, TS 34.108 §6.11.1 and §6.11.2, with `pdu_payload` octets per PDU
/// after the header.
fn um(pdu_payload: u16) -> RlcConfig {
    let pdu_payload = Octets(pdu_payload);
    RlcConfig { mode: RlcMode::Um, pdu_payload, buffer: None, ..RlcConfig::default() }
}

/// A bearer of acknowledged mode, TS 34.108 §6.11.3 and §6.11.4 with the parameters of TS 34.123-1
/// Table 7.2/1 and `pdu_payload` octets per PDU after the header. Timer_MRW and Timer_RST are 500 ms.
fn am(pdu_payload: u16) -> RlcConfig {
    RlcConfig {
        pdu_payload: Octets(pdu_payload),
        status_format: StatusFormat::List,
        piggyback: Piggyback::Off,
        window: 128,
        rx_window: Some(128),
        sdu_discard: SduDiscard::MaxDat,
        max_dat: Some(4),
        max_dat_reading: MaxDatReading::Ts25322,
        poll_last_pdu: true,
        poll_last_retransmitted_pdu: true,
        poll_pdu: None,
        timer_poll: None,
        timer_status_prohibit: None,
        missing_pdu_indication: MissingPduIndication::NewGap,
        timer_mrw: Duration::from_millis(500),
        max_mrw: Some(4),
        timer_rst: Duration::from_millis(500),
        max_rst: 4,
        buffer: None,
        ..RlcConfig::default()
    }
}

/// Octets of a PDU of the bearer with 7-bit length indicators: a header of 2 octets, and 16 octets
/// of length indicators and data.
const PDU_OCTETS: usize = 18;
const DATA_OCTETS: usize = 16;

/// AMD PDU `sn` of this bearer with the whole SDU `id` of 4 octets: length indicators 4 (the SDU ends
/// after 4 octets) and 0x7F (the rest is padding), then the SDU.
fn small_sdu_pdu(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    bits::amd7(sn, poll, &[4, 0x7F], &test_ue::sdu(id, 4), PDU_OCTETS)
}

#[test]
fn every_conversation_passes() {
    let failed = |case: &Case| match case.method {
        Method::Script(script) => std::panic::catch_unwind(script).is_err(),
        Method::NotApplicable(_) => false,
    };
    let failed: Vec<_> = cases().iter().filter(|case| failed(case)).map(|case| case.purpose).collect();
    assert!(failed.is_empty(), "failed: {failed:#?}");
}
