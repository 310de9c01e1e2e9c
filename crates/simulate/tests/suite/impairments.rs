//! Scripted impairments, and queues with early drops or marks: effects on TCP.

use crate::common::{metrics, value};

/// Runs `three-losses` with other impairments, written as TOML.
fn three_losses_with(impairments: &str, variant: &str) -> umts_record::metrics::MetricSet {
    metrics("three-losses", &[("impairment", impairments), ("tcp.variant", variant)])
}

#[test]
fn reno_stalls_on_three_losses_in_a_window_and_newreno_does_not() {
    let reno = metrics("three-losses", &[]);
    let newreno = metrics("three-losses", &[("tcp.variant", "newreno")]);
    assert!(value(&reno, "rto_count") >= 1.0);
    assert_eq!(value(&newreno, "rto_count"), 0.0);
    assert_eq!(value(&newreno, "tcp_retransmissions_by_dupack"), 3.0);
    assert!(value(&newreno, "download_time_s") < value(&reno, "download_time_s"));
}

#[test]
fn a_lost_segment_is_retransmitted_after_three_duplicate_acknowledgments() {
    let one = three_losses_with(r#"[{ packet = "data 20", action = "drop" }]"#, "reno");
    assert_eq!(value(&one, "link_drops"), 1.0);
    assert_eq!([value(&one, "tcp_retransmissions"), value(&one, "rto_count")], [1.0, 0.0]);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    let script =
        r#"[{ packet = "data 20", action = "drop" }, { packet = "retransmission 1", action = "drop" }]"#;
    let twice = three_losses_with(script, "newreno");
    assert_eq!(value(&twice, "link_drops"), 2.0);
    assert_eq!(value(&twice, "rto_count"), 1.0);
}

#[test]
fn later_acknowledgments_replace_lost_ones() {
    let acks = three_losses_with(r#"[{ packet = "ack 10-14", action = "drop" }]"#, "reno");
    assert_eq!(value(&acks, "link_drops"), 5.0);
    assert_eq!(value(&acks, "tcp_retransmissions"), 0.0);
}

#[test]
fn a_segment_overtaken_by_three_is_retransmitted_and_one_overtaken_by_two_is_not() {
    let reorder_by = |packets| {
        let script = format!(r#"[{{ packet = "data 20", action = "reorder", by = "{packets} packets" }}]"#);
        three_losses_with(&script, "reno")
    };
    assert_eq!(value(&reorder_by(2), "tcp_retransmissions"), 0.0);
    let three = reorder_by(3);
    assert_eq!(value(&three, "tcp_retransmissions"), 1.0);
    assert_eq!(value(&three, "tcp_retransmissions_unneeded"), 1.0);
}

#[test]
fn a_duplicate_is_acknowledged_and_causes_no_retransmission() {
    let script = r#"[{ packet = "data 20", action = "duplicate", by = "50 ms" }]"#;
    let one_ack_per_segment =
        |script| metrics("three-losses", &[("impairment", script), ("tcp.delayed_ack", "false")]);
    let (twice, plain) = (one_ack_per_segment(script), one_ack_per_segment("[]"));
    assert_eq!(value(&twice, "tcp_retransmissions"), 0.0);
    assert_eq!(value(&twice, "acks_received"), value(&plain, "acks_received") + 1.0);
}

#[test]
fn a_long_delay_causes_a_spurious_timeout() {
    let late = three_losses_with(r#"[{ packet = "data 4-30", action = "delay", by = "4 s" }]"#, "reno");
    assert!(value(&late, "rto_count") >= 1.0);
    assert!(value(&late, "tcp_retransmissions_unneeded") >= 1.0);
}

#[test]
fn outage_drops_packets_and_delays_the_download() {
    let outage = r#"[{ from = "2 s", to = "4 s" }]"#;
    let down = metrics("three-losses", &[("impairment", "[]"), ("link.0.outage", outage)]);
    assert!(value(&down, "link_drops") > 0.0);
    assert!(value(&down, "rto_count") >= 1.0);
    assert!(value(&down, "download_time_s") > 4.0);
}

/// Runs one minute of a greedy flow with a bottleneck link of 300 kbit/s and a queue of 50 packets.
fn with_bottleneck(keys: &[(&str, &str)]) -> umts_record::metrics::MetricSet {
    let all = [&[("link.1.rate", "300 kbit/s"), ("tcp.variant", "sack"), ("duration", "60 s")][..], keys];
    metrics("ftp-on-dch-384-3gpp", &all.concat())
}

#[test]
fn red_halves_the_delay_and_keeps_the_link_busy() {
    let tail = with_bottleneck(&[]);
    let red = with_bottleneck(&[("link.1.red", "{ w_q = 0.02 }")]);
    assert!(value(&red, "mean_rtt_s") < 0.6 * value(&tail, "mean_rtt_s"));
    assert!(value(&red, "goodput_kbps") > 0.9 * value(&tail, "goodput_kbps"));
    assert!(value(&red, "link_drops") > 5.0 && value(&red, "ecn_marks") == 0.0);
}

#[test]
fn red_marks_instead_of_dropping_with_ecn() {
    let marks = with_bottleneck(&[("link.1.red", "{ w_q = 0.02, ecn = true }"), ("tcp.ecn", "true")]);
    assert!(value(&marks, "ecn_marks") > 5.0 && value(&marks, "link_drops") == 0.0);
    // Packets of a TCP without ECN are dropped instead of marked.
    let without_ecn = with_bottleneck(&[("link.1.red", "{ w_q = 0.02, ecn = true }")]);
    assert!(value(&without_ecn, "ecn_marks") == 0.0 && value(&without_ecn, "link_drops") > 5.0);
}

/// Downloads 300 kB with CUBIC and the TCP options of Linux through an RLC buffer of 20 kB.
fn small_buffer(keys: &[(&str, &str)]) -> umts_record::metrics::MetricSet {
    let all = [&[("tcp.variant", "cubic"), ("rlc.buffer", "20 kB"), ("duration", "60 s")][..], keys];
    metrics("download-beside-kernel", &all.concat())
}

#[test]
fn linux_recovery_avoids_buffer_drops_and_timeouts() {
    let kernel = small_buffer(&[]);
    // Measured with the TCP of Linux: 6.78 s, 24 packets lost, 24 retransmissions, no timeout.
    let counts =
        ["rlc_buffer_sdu_drops", "tcp_retransmissions", "rto_count"].map(|name| value(&kernel, name));
    assert_eq!(counts, [24.0, 24.0, 0.0]);
    assert!((value(&kernel, "download_time_data_s") / 6.78 - 1.0).abs() < 0.01);
    // RFC 6675 alone fills the buffer in recovery, loses a retransmission and waits for the timer.
    let plain = small_buffer(&[("tcp.prr", "false"), ("tcp.lost_retransmissions", "false")]);
    let counts = ["rlc_buffer_sdu_drops", "tcp_retransmissions", "rto_count"].map(|name| value(&plain, name));
    assert_eq!(counts, [45.0, 49.0, 1.0]);
}
