//! Tests of the series, with events of one connection or one user. The connection opens at 0.5 s
//! and has segments of 500 bytes, which are 4 kbit.

use umts_stack::ids::{Direction, FlowId, PacketId, ProxyLeg, UeId};
use umts_stack::packet::{Flags, Packets, SackBlocks};
use umts_stack::trace::{CallStep, Real};
use umts_units::Bytes;

use super::*;

const CONNECTION: ConnectionId = ConnectionId(0);
/// Payload of a segment, in bytes.
const MSS: u32 = 500;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// A full segment of the server, from sequence number `seq` on.
fn data(seq: u64) -> Segment {
    let flags = Flags { ack: true, ..Flags::default() };
    let segment = Segment::new(CONNECTION, Direction::Downlink);
    Segment { flags, seq, ack: 1, payload: MSS, window: 10_000, ..segment }
}

fn series_of_a_connection() -> Series {
    let mut series = Series::new(SeriesConfig::default());
    let opened = TraceEvent::ConnectionOpened {
        connection: CONNECTION,
        transfer: CONNECTION,
        leg: ProxyLeg::Whole,
        flow: FlowId(0),
        ue: UeId(0),
        sender: End::Server,
        mss: MSS,
    };
    series.record(at(500), &opened);
    series
}

/// The server sends a full segment from `seq` on.
fn send(series: &mut Series, ms: u64, seq: u64, cause: SendCause) {
    series.record(at(ms), &TraceEvent::SegmentSent { packet: PacketId(0), segment: data(seq), cause });
}

/// The server receives an ACK that moves SND.UNA to `una` and covers `payload` new bytes.
fn ack(series: &mut Series, ms: u64, una: u64, payload: u64) {
    let end = End::Server;
    series.record(at(ms), &TraceEvent::Acked { connection: CONNECTION, end, una, payload });
}

fn floats<'a>(tables: &'a SeriesTables, table: &str, column: &str) -> &'a [f64] {
    match tables.table(table).and_then(|table| table.column(column)) {
        Some(Values::Float(values)) => values,
        other => panic!("{table}.{column} is {other:?}"),
    }
}

#[test]
fn outstanding_data_change_by_steps() {
    let mut series = series_of_a_connection();
    send(&mut series, 1000, 1, SendCause::New);
    send(&mut series, 1000, 501, SendCause::New);
    // The acknowledgment releases a segment immediately: two segments are outstanding before and
    // after.
    ack(&mut series, 2000, 501, 500);
    send(&mut series, 2000, 1001, SendCause::New);
    ack(&mut series, 3000, 1501, 1000);
    let tables = series.finish(at(4000));
    assert_eq!(floats(&tables, "outstanding", "time_s"), [1.0, 3.0]);
    assert_eq!(floats(&tables, "outstanding", "outstanding_segments"), [2.0, 0.0]);
}

/// Windows of 1 s begin at whole seconds. 500 bytes in 1 s are 4 kbit/s.
#[test]
fn goodput_has_a_constant_grid() {
    let mut series = series_of_a_connection();
    ack(&mut series, 999, 501, 500);
    ack(&mut series, 3000, 1501, 1000);
    let tables = series.finish(at(4500));
    assert_eq!(floats(&tables, "goodput", "time_s"), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(floats(&tables, "goodput", "goodput_kbps"), [4.0, 0.0, 0.0, 8.0, 0.0]);
}

/// The end of the run cuts the last window short: 4 kbit in 0.5 s are 8 kbit/s. The end of a
/// connection does not: 4 kbit in 1 s.
#[test]
fn last_goodput_window_is_divided_by_its_length() {
    let mut series = series_of_a_connection();
    ack(&mut series, 4200, 501, 500);
    assert_eq!(floats(&series.finish(at(4500)), "goodput", "goodput_kbps").last(), Some(&8.0));
    let mut series = series_of_a_connection();
    ack(&mut series, 1200, 501, 500);
    series.record(at(1300), &TraceEvent::ConnectionClosed { connection: CONNECTION });
    assert_eq!(floats(&series.finish(at(3000)), "goodput", "goodput_kbps"), [0.0, 4.0]);
}

#[test]
fn time_sequence_marks_retransmissions() {
    let mut series = series_of_a_connection();
    send(&mut series, 1000, 1, SendCause::New);
    send(&mut series, 2000, 1, SendCause::Rto);
    ack(&mut series, 3000, 501, 500);
    let tables = series.finish(at(4000));
    let sent = tables.table("sent").expect("every run has this table");
    assert_eq!(sent.column("seq"), Some(&Values::Count(vec![1, 1])));
    assert_eq!(sent.column("end"), Some(&Values::Count(vec![501, 501])));
    assert_eq!(sent.column("retransmission"), Some(&Values::Flag(vec![false, true])));
    assert_eq!(tables.table("acked").and_then(|table| table.column("ack")), Some(&Values::Count(vec![501])));
}

#[test]
fn only_the_sender_of_the_data_is_recorded() {
    let mut series = series_of_a_connection();
    for (end, cwnd) in [(End::Server, Real(2.0)), (End::Ue, Real(10.0))] {
        let ssthresh = Real(20.0);
        series.record(at(600), &TraceEvent::Window { connection: CONNECTION, end, cwnd, ssthresh });
        let (srtt, rto) = (Duration::from_secs(1), Duration::from_secs(3));
        series.record(at(600), &TraceEvent::RtoUpdated { connection: CONNECTION, end, srtt, rto });
        series.record(at(600), &TraceEvent::RttSample { connection: CONNECTION, end, rtt: srtt });
    }
    let tables = series.finish(at(4000));
    assert_eq!(floats(&tables, "cwnd", "cwnd_segments"), [2.0]);
    assert_eq!(floats(&tables, "ssthresh", "ssthresh_segments"), [20.0]);
    assert_eq!(floats(&tables, "srtt", "srtt_s"), [1.0]);
    assert_eq!(floats(&tables, "rto", "rto_s"), [3.0]);
    assert_eq!(floats(&tables, "rtt", "rtt_s"), [1.0]);
}

#[test]
fn the_rlc_buffer_has_a_user_and_a_direction() {
    let mut series = series_of_a_connection();
    for (ue, direction) in [(1, Direction::Downlink), (1, Direction::Uplink), (0, Direction::Downlink)] {
        series.record(at(600), &TraceEvent::RlcBuffer { ue: UeId(ue), direction, octets: 40 });
    }
    let tables = series.finish(at(4000));
    let buffer = tables.table("rlc_buffer").expect("every run has this table");
    assert_eq!(buffer.column("ue"), Some(&Values::Id(vec![1, 1, 0])));
    assert_eq!(buffer.column("direction"), Some(&Values::Word(vec!["downlink", "uplink", "downlink"])));
}

#[test]
fn deliveries_have_a_user_a_direction_and_a_size() {
    let mut series = series_of_a_connection();
    for (ms, ue, direction, octets) in [(600, 1, Direction::Downlink, 1500), (610, 0, Direction::Uplink, 40)]
    {
        let (ue, sdu, size, entered) = (UeId(ue), PacketId(0), Bytes(octets), at(500));
        series.record(at(ms), &TraceEvent::SduDelivered { ue, direction, sdu, size, entered });
    }
    let tables = series.finish(at(4000));
    let delivered = tables.table("rlc_delivered").expect("every run has this table");
    assert_eq!(delivered.column("time_s"), Some(&Values::Float(vec![0.6, 0.61])));
    assert_eq!(delivered.column("ue"), Some(&Values::Id(vec![1, 0])));
    assert_eq!(delivered.column("direction"), Some(&Values::Word(vec!["downlink", "uplink"])));
    assert_eq!(delivered.column("octets"), Some(&Values::Count(vec![1500, 40])));
    assert_eq!(floats(&tables, "rlc_delivered", "delay_s"), [0.1, 0.11]);
}

/// Three acknowledgments: a window of 2000 bytes; the same window with a SACK block; a zero window.
/// The series of the window has a row per change.
#[test]
fn acknowledgments_show_the_window_and_the_blocks_that_they_report() {
    let mut series = series_of_a_connection();
    for (ms, window, blocks) in [(600, 2000, vec![]), (700, 2000, vec![(1001, 1501)]), (800, 0, vec![])] {
        let mut segment = Segment::new(CONNECTION, Direction::Uplink);
        (segment.flags.ack, segment.ack, segment.window) = (true, 501, window);
        segment.sack = SackBlocks::new(501, blocks);
        let packet = PacketId(0);
        series
            .record(at(ms), &TraceEvent::SegmentReceived { packet, segment, delivered: 0, duplicate: false });
        // The same segment in the other direction does not acknowledge the data and is not
        // recorded.
        segment.direction = Direction::Downlink;
        series
            .record(at(ms), &TraceEvent::SegmentReceived { packet, segment, delivered: 0, duplicate: false });
    }
    let tables = series.finish(at(4000));
    assert_eq!(floats(&tables, "window", "time_s"), [0.6, 0.8]);
    assert_eq!(floats(&tables, "window", "window_octets"), [2000.0, 0.0]);
    let sacked = tables.table("sacked").expect("every run has this table");
    assert_eq!(sacked.column("left"), Some(&Values::Count(vec![1001])));
    assert_eq!(sacked.column("right"), Some(&Values::Count(vec![1501])));
}

#[test]
fn page_row_has_its_duration() {
    let mut series = series_of_a_connection();
    series.record(at(900), &TraceEvent::PageEnded { flow: FlowId(2), since: at(400) });
    let tables = series.finish(at(4000));
    let pages = tables.table("pages").expect("every run has this table");
    assert_eq!(pages.column("flow"), Some(&Values::Id(vec![2])));
    assert_eq!(floats(&tables, "pages", "page_time_s"), [0.5]);
}

#[test]
fn columns_of_a_table_are_equally_long() {
    let mut series = series_of_a_connection();
    send(&mut series, 1000, 1, SendCause::New);
    ack(&mut series, 3000, 501, 500);
    for table in series.finish(at(4000)).tables {
        assert!(table.columns.iter().all(|column| column.values.len() == table.rows()), "{}", table.name);
        assert_eq!(table.columns[0].name, "time_s");
    }
}

#[test]
fn every_answer_to_a_request_for_a_dch_is_a_row() {
    let (mut series, ue) = (series_of_a_connection(), UeId(3));
    for (ms, again, answer) in [
        (1000, false, TraceEvent::DchRefused { ue }),
        (1010, true, TraceEvent::DchQueued { ue }),
        (2000, false, TraceEvent::DchGranted { ue, after_release: true }),
    ] {
        series.record(at(ms), &TraceEvent::DchRequested { ue, again });
        series.record(at(ms), &answer);
    }
    let tables = series.finish(at(4500));
    let table = tables.table("dch_requests").expect("the table exists");
    assert_eq!(floats(&tables, "dch_requests", "time_s"), [1.0, 1.01, 2.0]);
    let Some(Values::Word(answers)) = table.column("answer") else { panic!("answers are words") };
    assert_eq!(answers[..], ["refused", "queued", "granted after a release"]);
    let Some(Values::Flag(again)) = table.column("again") else { panic!("repetitions are flags") };
    assert_eq!(again[..], [false, true, false]);
}

/// A handover is a row of the table `handovers`, which only runs with a layout have.
#[test]
fn every_change_of_cells_is_a_row_of_a_layout() {
    let handover =
        TraceEvent::Handover { ue: UeId(2), from: 4, to: 9, interruption: Duration::from_millis(20) };
    for is_layout in [true, false] {
        let mut series = Series::new(SeriesConfig { handovers: is_layout, ..SeriesConfig::default() });
        series.record(at(700), &handover);
        let tables = series.finish(at(1000));
        assert_eq!(tables.table("handovers").is_some(), is_layout);
        if is_layout {
            assert_eq!(floats(&tables, "handovers", "time_s"), [0.7]);
            assert_eq!(floats(&tables, "handovers", "interruption_s"), [0.02]);
        }
    }
}

#[test]
fn every_step_of_a_call_is_a_row() {
    let mut series = Series::new(SeriesConfig { calls: true, ..SeriesConfig::default() });
    series.record(at(700), &TraceEvent::Call { cell: 3, step: CallStep::Blocked });
    series.record(at(720), &TraceEvent::Call { cell: 5, step: CallStep::LegAdded });
    let tables = series.finish(at(1000));
    let table = tables.table("calls").expect("the table exists");
    assert_eq!(floats(&tables, "calls", "time_s"), [0.7, 0.72]);
    assert_eq!(table.column("cell"), Some(&Values::Id(vec![3, 5])));
    assert_eq!(table.column("step"), Some(&Values::Word(vec!["blocked", "leg added"])));
}

#[test]
fn a_dropped_packet_has_its_numbers_and_its_place() {
    // Two segments of 500 octets, an ACK, and a segment of an unknown connection, which has no row.
    let mut series = series_of_a_connection();
    let mut drop = |ms, segment, place| {
        let content = Content::Segment(segment);
        let packet = Packets::default().number(FlowId(0), UeId(0), content);
        series.record(at(ms), &TraceEvent::PacketDropped { place, packet });
    };
    drop(1000, data(501), DropPlace::Script);
    drop(2000, data(1001), DropPlace::LinkQueue(1));
    let flags = Flags { ack: true, ..Flags::default() };
    drop(
        3000,
        Segment { flags, ack: 501, ..Segment::new(CONNECTION, Direction::Uplink) },
        DropPlace::FlatLoss,
    );
    drop(4000, Segment { ..Segment::new(ConnectionId(7), Direction::Downlink) }, DropPlace::Script);
    let tables = series.finish(at(5000));
    let dropped = tables.table("dropped").expect("every run has this table");
    assert_eq!(floats(&tables, "dropped", "time_s"), [1.0, 2.0, 3.0]);
    assert_eq!(dropped.column("kind"), Some(&Values::Word(vec!["data", "data", "ack"])));
    assert_eq!(dropped.column("seq"), Some(&Values::Count(vec![501, 1001, 501])));
    assert_eq!(dropped.column("end"), Some(&Values::Count(vec![1001, 1501, 501])));
    assert_eq!(dropped.column("place"), Some(&Values::Word(vec!["script", "link_queue", "radio"])));
}
