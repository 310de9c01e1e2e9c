//! The estimated PDU counter (EPC) of Timer_EPC: a report is repeated if the PDUs that it requests do
//! not arrive in the time that they take, plus Timer_EPC. The entity receives PDUs and sends reports:
//! `receives(&data(0, 2, &[]), &[1])` are PDUs 0 to 2 without PDU 1, which is lost, and `"STATUS ack
//! 3"` is a report on the PDUs below 3. Times (`at`) are in ms.

use super::*;

/// With Timer_EPC in ms, and four PDUs per TTI of 10 ms for the estimated PDU counter (EPC).
fn with_epc(timer_epc: u64) -> RlcConfig {
    let arrivals = [Arrivals { pdus: 4, tti: Duration::from_millis(10) }; 2];
    RlcConfig { timer_epc: Some(Duration::from_millis(timer_epc)), arrivals, ..config() }
}

#[test]
fn unanswered_status_report_is_repeated_by_timer_epc() {
    let mut entity = TestEntity::new(with_epc(100));
    // Ten PDUs are missing. At four per TTI they take three TTIs, 30 ms, in addition to Timer_EPC.
    entity.at(10).receives(&data(0, 11, &[]), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(entity.at(20).sends(1), ["STATUS ack 12"]);
    assert_eq!(entity.am.poll_timeout(), Some(ms(20 + 100 + 30)));
    // PDUs 9 and 10 are still missing.
    entity.at(120).receives(&data(1, 8, &[]), &[]);
    let retransmitted = entity.at(150).sends_set(1);
    assert_eq!(
        (describe(&retransmitted.pdus[0]).as_str(), missing(&retransmitted)),
        ("STATUS ack 12", vec![9, 10])
    );
    // Two PDUs take one TTI, 10 ms. When they have arrived, the EPC stops.
    assert_eq!(entity.am.poll_timeout(), Some(ms(150 + 100 + 10)));
    entity.at(200).receives(&data(9, 10, &[]), &[]);
    assert!(entity.at(260).sends(1).is_empty());
    assert_eq!(entity.am.poll_timeout(), None);
}

#[test]
fn report_without_requests_starts_no_epc() {
    let mut entity = TestEntity::new(with_epc(100));
    entity.at(10).receives(&data_with_poll(0, 3, &[]), &[]);
    assert_eq!(entity.at(20).sends(1), ["STATUS ack 4"]);
    assert_eq!(entity.am.poll_timeout(), None);
}

#[test]
fn report_due_by_epc_respects_status_prohibit() {
    let prohibit = Some(Duration::from_millis(200));
    let mut entity = TestEntity::new(RlcConfig { timer_status_prohibit: prohibit, ..with_epc(50) });
    entity.at(10).receives(&data(0, 2, &[]), &[1]);
    assert_eq!(entity.at(20).sends(1), ["STATUS ack 3"]);
    assert!(entity.at(100).sends(1).is_empty());
    assert_eq!(entity.at(220).sends(1), ["STATUS ack 3"]);
}
