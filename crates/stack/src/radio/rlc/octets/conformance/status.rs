//! TS 34.123-1 §7.2.3: triggers and contents of status reports.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `sends_exactly` states the PDUs that the UE sends now. `receives_small(ue, sn, POLL)`
//! gives it data PDU `sn` with the polling bit and a whole SDU. `status(&list(&[pdu(2)]), 4, …)` is a
//! STATUS with LSN 4: the PDUs below 4 have arrived, except PDU 2. Times (`at`) are in ms.

use umts_units::Duration;

use super::bits::{NO_POLL, POLL, control, list, pdu, pdus, status};
use super::test_ue::{TestUe, ending};
use super::{Case, PDU_OCTETS, am, case, small_sdu_pdu};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::am::MissingPduIndication;
use crate::trace::TraceEvent;

/// Test cases of status reports: triggers and malformed reports.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.3",
            "AM, receiver status triggers: missing PDU",
            "a gap is reported at once, named in the STATUS (§9.7.2)",
            missing,
        ),
        case(
            "7.2.3",
            "AM, receiver status triggers: Timer_Status_Periodic",
            "each expiry brings a report (§9.5 f, §9.7.2)",
            periodic,
        ),
        case(
            "7.2.3",
            "AM, Timer_Status_Prohibit",
            "no second report inside it; a delayed one after it (§9.5 e)",
            prohibit,
        ),
        case(
            "7.2.3",
            "AM, STATUS with a LIST of length 0",
            "the STATUS is discarded, no RESET (§10)",
            empty_list,
        ),
        case(
            "7.2.3",
            "AM, STATUS with a reserved SUFI type",
            "the STATUS is discarded, no RESET (§10)",
            reserved_sufi,
        ),
        case("7.2.3", "AM, control PDU of a reserved type", "it is discarded, no RESET (§10)", reserved_type),
    ]
}

/// The UE receives PDU `sn`, which contains one whole SDU of 4 octets with id `sn`.
fn receives_small(ue: &mut TestUe, sn: u16, poll: bool) {
    ue.peer_sdu_starts_in(sn.into())
        .receives_sdu_ends(small_sdu_pdu(sn, poll, sn.into()), &[ending(sn.into(), 4)]);
}

fn missing() -> TestUe {
    let mut ue = TestUe::am(am(16));
    receives_small(&mut ue, 0, NO_POLL);
    ue.sends_nothing();
    receives_small(ue.at(20), 3, NO_POLL);
    // PDUs 1 and 2 are missing. The LSN is 4.
    ue.sends_exactly(&[status(&list(&[pdus(1..=2)]), 4, PDU_OCTETS)]);
    // PDU 2 arrives. This is no new gap, so there is no report.
    receives_small(ue.at(40), 2, NO_POLL);
    ue.sends_nothing();
    // A report for a new gap lists all PDUs missing at that time.
    receives_small(ue.at(60), 6, NO_POLL);
    ue.sends_exactly(&[status(&list(&[pdu(1), pdus(4..=5)]), 7, PDU_OCTETS)]);
    ue
}

fn periodic() -> TestUe {
    let config = RlcConfig {
        timer_status_periodic: Some(Duration::from_millis(200)),
        missing_pdu_indication: MissingPduIndication::Off,
        ..am(16)
    };
    let mut ue = TestUe::am(config);
    receives_small(&mut ue, 0, NO_POLL);
    ue.at(199).sends_nothing();
    ue.at(200).sends_exactly(&[status(&[], 1, PDU_OCTETS)]);
    receives_small(ue.at(300), 1, NO_POLL);
    ue.at(400).sends_exactly(&[status(&[], 2, PDU_OCTETS)]);
    ue
}

fn prohibit() -> TestUe {
    let config = RlcConfig { timer_status_prohibit: Some(Duration::from_millis(200)), ..am(16) };
    let mut ue = TestUe::am(config);
    receives_small(&mut ue, 0, POLL);
    ue.sends_exactly(&[status(&[], 1, PDU_OCTETS)]);
    receives_small(ue.at(40), 1, POLL);
    ue.sends_nothing();
    receives_small(ue.at(80), 3, POLL);
    ue.sends_nothing();
    ue.at(199).sends_nothing();
    ue.at(200).sends_exactly(&[status(&list(&[pdu(2)]), 4, PDU_OCTETS)]);
    ue.at(220).sends_nothing();
    ue
}

fn has_reset(ue: &TestUe) -> bool {
    ue.has_recorded(|event| matches!(event, TraceEvent::RlcReset { .. }))
}

/// Checks that an invalid control PDU has no effect while a PDU is outstanding.
fn checks_ignored(octets: Vec<u8>) -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    ue.at(20).receives(octets).sends_nothing();
    assert!(!has_reset(&ue));
    // The next STATUS takes effect.
    ue.at(40).receives(status(&list(&[pdu(0)]), 1, PDU_OCTETS)).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    ue
}

fn empty_list() -> TestUe {
    checks_ignored(status(&list(&[]), 1, PDU_OCTETS))
}

fn reserved_sufi() -> TestUe {
    // SUFI types 1001 to 1111 are reserved. The STATUS has only this type, in 4 bits.
    checks_ignored(status(&[(0b1010, 4)], 1, PDU_OCTETS))
}

fn reserved_type() -> TestUe {
    // D/C = 0 and the reserved PDU type 101, then 12 zero bits.
    checks_ignored(control(&[(0b0101, 4), (0, 12)], PDU_OCTETS))
}
