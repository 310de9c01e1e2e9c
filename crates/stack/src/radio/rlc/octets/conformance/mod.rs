//! RLC as a handset is certified: the test purposes of TS 34.123-1 §7.2 as conversations between a scripted system
//! simulator (SS) and one entity, octet by octet. The page `docs/reference/rlc-conformance.md` is written from them.
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
mod talk;
mod transfer;
mod um;

use umts_units::{Duration, Octets};

use self::talk::Talk;
use crate::radio::rlc::am::{MaxDatReading, MissingPduIndication, Piggyback, StatusFormat};
use crate::radio::rlc::{RlcConfig, RlcMode, SduDiscard};

/// One test purpose.
struct Case {
    /// Clause of TS 34.123-1.
    clause: &'static str,
    purpose: &'static str,
    /// Behaviour that TS 25.322 requires.
    requirement: &'static str,
    how: How,
}

enum How {
    /// Runs the exchange. Panics if the entity deviates. Returns the log.
    Talks(fn() -> Talk),
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

fn talks(clause: &'static str, purpose: &'static str, requirement: &'static str, talk: fn() -> Talk) -> Case {
    Case { clause, purpose, requirement, how: How::Talks(talk) }
}

/// TS 34.108 §6.11.1 and .2: a bearer of unacknowledged mode.
fn um(pdu_payload: u16) -> RlcConfig {
    let pdu_payload = Octets(pdu_payload);
    RlcConfig { mode: RlcMode::Um, pdu_payload, buffer: None, ..RlcConfig::default() }
}

/// TS 34.108 §6.11.3 and .4 with TS 34.123-1 Table 7.2/1: a bearer of acknowledged mode.
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

/// Octets of a PDU of the bearer with 7-bit length indicators, and of its data.
const PDU: usize = 18;
const DATA: usize = 16;

#[test]
fn every_conversation_goes_as_the_standard_says() {
    let failed = |case: &Case| match case.how {
        How::Talks(talk) => std::panic::catch_unwind(talk).is_err(),
        How::NotApplicable(_) => false,
    };
    let failed: Vec<_> = cases().iter().filter(|case| failed(case)).map(|case| case.purpose).collect();
    assert!(failed.is_empty(), "these do not: {failed:#?}");
}
