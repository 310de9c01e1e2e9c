//! Figures 1(a) to (f) and 2(a) to (c) of Teyeb et al. (2005), "Emulation based performance
//! investigation of FTP file downloads over UMTS dedicated channels", section 2, as its text
//! describes them. The paper uses the real-time emulator RESPECT. Quoted text is from the paper.
//!
//! The paper's PDU #1 has SN 0, and a TTI is 10 ms. The paper writes "everything up to #n" for LSN =
//! n, the SN after the SN of #n.

use super::*;

/// No polls are triggered, and reports are sent only in answer to polls.
fn without_triggers() -> RlcConfig {
    RlcConfig {
        poll_last_pdu: false,
        poll_last_retransmitted_pdu: false,
        timer_poll: None,
        missing_pdu_indication: MissingPduIndication::Off,
        ..config()
    }
}

/// An entity with PDUs and times numbered as in the paper: PDU #1 is SN 0, and TTI n begins at
/// 10 n ms.
struct Figure {
    entity: TestEntity,
}

impl Figure {
    fn new(config: RlcConfig) -> Self {
        Figure { entity: TestEntity::new(config) }
    }

    /// Submits an SDU that fills this number of PDUs, of 40 octets each, with its length indicator.
    fn submits_pdus(&mut self, pdus: u32) -> &mut Self {
        let id = self.entity.trace.len() as u64;
        self.entity.submits(id, pdus * 40 - 1).unwrap();
        self
    }

    /// PDUs sent in a TTI with room for `blocks`, as in `"#1 #2!"`. `!` marks a PDU that polls.
    fn sends(&mut self, tti: u64, blocks: u32) -> String {
        let set = self.entity.at(tti * 10).sends_set(blocks);
        let mut pdus = Vec::new();
        for pdu in &set.pdus {
            let Pdu::Data(run) = pdu else { panic!("{pdu:?}") };
            for n in 1..=run.count {
                let poll = if run.poll && n == run.count { "!" } else { "" };
                pdus.push(format!("#{}{poll}", run.first.value() + n));
            }
        }
        pdus.join(" ")
    }

    /// Receives a report on the PDUs #1 to #`up_to`: all of them were received except `missing`.
    fn receives_report(&mut self, tti: u64, up_to: u64, missing: &[u64]) -> &mut Self {
        let missing: Vec<u64> = missing.iter().map(|number| number - 1).collect();
        self.entity.at(tti * 10).receives_status(up_to, &missing);
        self
    }

    /// Receives the PDUs with these numbers, without a poll.
    fn receives_pdus(&mut self, tti: u64, numbers: &[u64]) -> &mut Self {
        for &number in numbers {
            self.entity.at(tti * 10).receives(&data(number - 1, number - 1, &[]), &[]);
        }
        self
    }

    /// Receives the PDUs with these numbers. The last one polls.
    fn receives_pdus_with_poll(&mut self, tti: u64, numbers: &[u64]) -> &mut Self {
        let (&last, others) = numbers.split_last().expect("a PDU polls");
        self.receives_pdus(tti, others);
        self.entity.at(tti * 10).receives(&data_with_poll(last - 1, last - 1, &[]), &[]);
        self
    }

    /// The report sent in this TTI.
    fn reports(&mut self, tti: u64) -> Option<Report> {
        let set = self.entity.at(tti * 10).sends_set(1);
        let Some(Pdu::Status(status)) = set.pdus.first() else { return None };
        let (lsn, missing) = (status.lsn.unwrap().value(), missing(&set));
        let acknowledged = missing.first().copied().unwrap_or(lsn);
        let bitmap = (acknowledged..lsn).map(|sn| u8::from(!missing.contains(&sn)));
        Some(report(acknowledged, bitmap.collect()))
    }
}

/// A report as in the paper.
#[derive(Debug, PartialEq)]
struct Report {
    /// Number of the last PDU before the first missing one.
    cumulative_ack: u16,
    /// For each following PDU, 1 if it was received, otherwise 0.
    bitmap: Vec<u8>,
}

fn report(cumulative_ack: u16, bitmap: Vec<u8>) -> Report {
    Report { cumulative_ack, bitmap }
}

/// "PDU #4 will be polled at TTI #i if Poll last PDU is set, and the retransmitted PDU #2 will be polled at TTI #j if Poll
/// last Retransmitted PDU is set."
#[test]
fn figure_1a_poll_last_pdu_and_poll_last_retransmitted_pdu() {
    for (last, last_retransmitted) in [(true, true), (true, false), (false, true)] {
        let config = RlcConfig {
            poll_last_pdu: last,
            poll_last_retransmitted_pdu: last_retransmitted,
            ..without_triggers()
        };
        let mut figure = Figure::new(config);
        figure.submits_pdus(4);
        assert_eq!(figure.sends(1, 3), "#1 #2 #3");
        assert_eq!(figure.sends(2, 3), if last { "#4!" } else { "#4" });
        figure.receives_report(7, 4, &[2]);
        assert_eq!(figure.sends(8, 3), if last_retransmitted { "#2!" } else { "#2" });
    }
}

/// "The polling bit is set on every poll_PDUth (re)transmitted PDU … the poll_PDU value was set to 4. Thus, at TTI #i,
/// when the 4th PDU is sent, and when PDU #7 is sent at TTI #j the poll bits are set."
#[test]
fn figure_1b_poll_every_poll_pdu() {
    let mut figure = Figure::new(RlcConfig { poll_pdu: Some(4), ..without_triggers() });
    figure.submits_pdus(9);
    assert_eq!(figure.sends(1, 2), "#1 #2");
    assert_eq!(figure.sends(2, 2), "#3 #4!");
    // The retransmitted #3 counts, too: #3, #5, #6 and #7 are the four PDUs since the last poll.
    figure.receives_report(3, 4, &[3]);
    assert_eq!(figure.sends(3, 2), "#3 #5");
    assert_eq!(figure.sends(4, 2), "#6 #7!");
    assert_eq!(figure.sends(5, 2), "#8 #9");
}

/// "The polling bit is set on the last PDU of every poll_SDUth SDU … set to 1. At TTI #i, when #2 is sent, and at TTI #j,
/// when #9 is sent, the polling bit is set, as they are the last PDUs of the corresponding SDUs."
#[test]
fn figure_1c_poll_every_poll_sdu() {
    let mut figure = Figure::new(RlcConfig { poll_sdu: Some(1), ..without_triggers() });
    figure.submits_pdus(2).submits_pdus(7);
    assert_eq!(figure.sends(1, 3), "#1 #2! #3");
    assert_eq!(figure.sends(2, 3), "#4 #5 #6");
    assert_eq!(figure.sends(3, 3), "#7 #8 #9!");
    let mut every_second = Figure::new(RlcConfig { poll_sdu: Some(2), ..without_triggers() });
    every_second.submits_pdus(2).submits_pdus(2).submits_pdus(1).submits_pdus(1);
    assert_eq!(every_second.sends(1, 6), "#1 #2 #3 #4! #5 #6!");
}

/// "A poll is sent when the % of the occupied transmission window (i.e. the spacing between the first and last non-ACKed
/// PDUs) reaches a certain threshold … set to 60 %, and the window size is set to 10 PDUs. At TTI #j, % reaches 60,
/// triggering the sending of a poll along with PDU #6."
#[test]
fn figure_1d_window_based_polling() {
    let mut figure = Figure::new(RlcConfig { poll_window: Some(60), window: 10, ..without_triggers() });
    figure.submits_pdus(20);
    assert_eq!(figure.sends(1, 3), "#1 #2 #3");
    assert_eq!(figure.sends(2, 3), "#4 #5 #6!");
    // Every further PDU polls, too, until an acknowledgment frees the window.
    assert_eq!(figure.sends(3, 3), "#7! #8! #9!");
    figure.receives_report(4, 8, &[]);
    assert_eq!(figure.sends(5, 9), "#10 #11 #12 #13 #14! #15! #16! #17! #18!");
}

/// "A poll is sent regularly at a specified period … set to ten TTIs. When the ten TTIs have elapsed (when we reach TTI #j),
/// a poll is triggered. As there are no PDUs scheduled to be sent, one of the PDUs that have not been acknowledged yet
/// will be resent with the poll."
#[test]
fn figure_1e_periodic_polling() {
    let period = Some(Duration::from_millis(100));
    let mut figure = Figure::new(RlcConfig { timer_poll_periodic: period, ..without_triggers() });
    figure.submits_pdus(4);
    assert_eq!(figure.sends(1, 2), "#1 #2");
    assert_eq!(figure.sends(2, 2), "#3 #4");
    for tti in 3..10 {
        assert_eq!(figure.sends(tti, 2), "");
    }
    assert_eq!(figure.sends(10, 2), "#4!");
    assert_eq!(figure.entity.am.poll_timeout(), Some(ms(200)));
    // When all PDUs are acknowledged, no poll is needed, and after its next expiry the timer stops.
    figure.receives_report(12, 4, &[]);
    assert_eq!(figure.sends(20, 2), "");
    assert_eq!(figure.entity.am.poll_timeout(), None);
}

/// "A poll was sent at TTI #i and when this poll was sent, the last PDU that was expecting an ACK was #4. When the timer
/// expired at TTI #j, neither a NACK nor a cumulative ACK for #4 has been received so a poll will be sent along with the
/// retransmission of #4."
#[test]
fn figure_1f_timer_based_polling() {
    let timer_poll = Some(Duration::from_millis(60));
    let config = || RlcConfig { poll_last_pdu: true, timer_poll, ..without_triggers() };
    let mut figure = Figure::new(config());
    figure.submits_pdus(4);
    assert_eq!(figure.sends(1, 4), "#1 #2 #3 #4!");
    figure.receives_report(3, 2, &[]);
    for tti in 4..7 {
        assert_eq!(figure.sends(tti, 4), "");
    }
    assert_eq!(figure.sends(7, 4), "#4!");
    // A NACK or a cumulative ACK for #4 answers the poll.
    for missing in [&[4][..], &[]] {
        let mut figure = Figure::new(config());
        figure.submits_pdus(4);
        figure.sends(1, 4);
        figure.receives_report(3, 4, missing);
        assert_eq!(figure.entity.am.poll_timeout(), None);
    }
}

/// "The receiver gets a status request along with PDU #4 at TTI #i. During the next TTI, the receiver sends a status
/// report. In this case, as everything up to PDU #4 is received, the status contains a cumulative ACK for #4."
#[test]
fn figure_2a_status_on_poll() {
    let mut figure = Figure::new(without_triggers());
    figure.receives_pdus(1, &[1, 2]).receives_pdus_with_poll(2, &[3, 4]);
    assert_eq!(figure.reports(3), Some(report(4, vec![])));
    assert_eq!(figure.reports(4), None);
}

/// "The status periodic is set to two TTIs. At TTI #i a poll is received so the receiver sends a status report (containing
/// cumulative ACK for #2). At TTI #i + 2, the periodic status fires for the first time. At TTI #i + 4, the periodic status
/// timer fires again and a new status report, containing cumulative ACK #4, is sent."
#[test]
fn figure_2b_periodic_status_reporting() {
    let period = Some(Duration::from_millis(20));
    let mut figure = Figure::new(RlcConfig { timer_status_periodic: period, ..without_triggers() });
    let i = 1;
    figure.receives_pdus_with_poll(i, &[1, 2]);
    assert_eq!(figure.reports(i), Some(report(2, vec![])));
    assert_eq!(figure.reports(i + 1), None);
    assert_eq!(figure.reports(i + 2), Some(report(2, vec![])));
    figure.receives_pdus(i + 3, &[3, 4]);
    assert_eq!(figure.reports(i + 3), None);
    assert_eq!(figure.reports(i + 4), Some(report(4, vec![])));
}

/// "PDUs #3 and #4 are lost in the air interface. The receiver gets PDU #5 while it was expecting #3 at TTI #i + 2. The
/// receiver responds, if missing PDU indication is set, by sending a status PDU, containing cumulative ACK for #2, and a
/// [0, 0, 1, 1] bitmap."
#[test]
fn figure_2c_missing_pdu_indication() {
    for (indication, expected) in
        [(MissingPduIndication::NewGap, Some(report(2, vec![0, 0, 1, 1]))), (MissingPduIndication::Off, None)]
    {
        let mut figure = Figure::new(RlcConfig { missing_pdu_indication: indication, ..without_triggers() });
        figure.receives_pdus(1, &[1, 2]);
        assert_eq!(figure.reports(2), None);
        figure.receives_pdus(3, &[5, 6]);
        assert_eq!(figure.reports(4), expected);
    }
}

/// "If the receiver has received PDUs #1, 2, 4, 6 but not PDU #3 and 5, it will put 2 in the cumulative ACK field and the
/// values [0, 1, 0, 1] in the bitmap."
#[test]
fn report_matches_the_example_of_the_paper() {
    let mut figure = Figure::new(without_triggers());
    figure.receives_pdus_with_poll(1, &[1, 2, 4, 6]);
    assert_eq!(figure.reports(2), Some(report(2, vec![0, 1, 0, 1])));
}

/// "Consecutive polls (status reports) will not be sent unless they are separated by a time greater than the configured
/// timers."
#[test]
fn timer_poll_prohibit_delays_polls_until_it_expires() {
    let prohibit = Some(Duration::from_millis(50));
    let mut figure =
        Figure::new(RlcConfig { poll_pdu: Some(1), timer_poll_prohibit: prohibit, ..without_triggers() });
    figure.submits_pdus(5);
    assert_eq!(figure.sends(1, 1), "#1!");
    assert_eq!(figure.sends(2, 2), "#2 #3");
    assert_eq!(figure.sends(3, 2), "#4 #5");
    assert_eq!(figure.entity.am.poll_timeout(), Some(ms(60)));
    assert!(!figure.entity.am.has_work(ms(59)) && figure.entity.am.has_work(ms(60)));
    assert_eq!(figure.sends(6, 2), "#5!");
    assert_eq!(figure.sends(11, 2), "");
}

/// "If a PDU has been retransmitted maxDAT - 1 number of times and still has not been received properly, the SDU that this
/// PDU is part of will be discarded." In TS 25.322 the last transmission does not take place.
#[test]
fn max_dat_counts_transmissions_or_follows_ts25322() {
    for (max_dat_reading, sent) in [(MaxDatReading::Transmissions, 3), (MaxDatReading::Ts25322, 2)] {
        let mut figure = Figure::new(RlcConfig {
            max_dat: Some(3),
            max_dat_reading,
            poll_last_pdu: true,
            ..without_triggers()
        });
        figure.submits_pdus(1);
        for n in 0..sent {
            assert_ne!(figure.sends(n * 5 + 1, 1), "", "{max_dat_reading:?}");
            assert!(figure.entity.discarded().is_empty());
            figure.receives_report(n * 5 + 3, 1, &[1]);
        }
        assert_eq!(figure.entity.discarded().len(), 1);
    }
}
