//! CoDel, PIE and RED on links and in the RLC buffer: effects on a download.

use umts_record::metrics::MetricSet;

use crate::common::{event_texts, metrics, scenario, value};

/// A minute of a greedy flow over a link of 300 kbit/s with a queue of 50 packets.
fn with_bottleneck(keys: &[(&str, &str)]) -> MetricSet {
    let all = [&[("link.1.rate", "300 kbit/s"), ("tcp.variant", "sack"), ("duration", "60 s")][..], keys];
    metrics("ftp-on-dch-384-3gpp", &all.concat())
}

/// A minute of a greedy flow with a window of 40 segments over a DCH of 64 kbit/s.
fn on_slow_dch(keys: &[(&str, &str)]) -> MetricSet {
    let all = [
        &[("tcp.variant", "sack"), ("tcp.advertised_window", "40 segments"), ("duration", "60 s")][..],
        keys,
    ];
    metrics("ftp-on-dch-64", &all.concat())
}

const CODEL: &str = "{ target = \"100 ms\", interval = \"500 ms\" }";
const PIE: &str = "{ target = \"100 ms\" }";
const SLOW_CODEL: &str = "{ target = \"300 ms\", interval = \"2 s\" }";
const SLOW_PIE: &str = "{ target = \"400 ms\" }";
/// The average follows the queue within ten packets: the flow has only 40.
const SLOW_RED: &str = "{ min_thresh = \"2 packets\", max_thresh = \"6 packets\", w_q = 0.1 }";

#[test]
fn managed_links_halve_the_delay_and_stay_busy() {
    let tail = with_bottleneck(&[]);
    for (key, options) in [("link.1.codel", CODEL), ("link.1.pie", PIE)] {
        let managed = with_bottleneck(&[(key, options)]);
        assert!(value(&managed, "mean_rtt_s") < 0.6 * value(&tail, "mean_rtt_s"), "{key}");
        assert!(value(&managed, "goodput_kbps") > 0.85 * value(&tail, "goodput_kbps"), "{key}");
        let drops = value(&managed, "link_aqm_drops");
        assert!(drops > 0.0 && drops <= value(&managed, "link_drops"), "{key}");
        assert_eq!(value(&managed, "link_aqm_marks"), 0.0, "{key}");
    }
    assert!(tail.value("link_aqm_drops").is_none(), "drop-tail has no metrics of queue management");
}

#[test]
fn managed_links_mark_packets_of_tcp_with_ecn() {
    for (key, options) in [
        ("link.1.codel", "{ target = \"100 ms\", interval = \"500 ms\", ecn = true }"),
        ("link.1.pie", "{ target = \"100 ms\", ecn = true }"),
    ] {
        let marked = with_bottleneck(&[(key, options), ("tcp.ecn", "true")]);
        assert!(value(&marked, "link_aqm_marks") > 0.0, "{key}");
        assert_eq!(value(&marked, "link_aqm_marks"), value(&marked, "ecn_marks"), "{key}");
        // PIE drops packets instead of marking them if its drop probability is `ecn_threshold` or
        // more. CoDel drops only packets that are not ECN-capable, such as retransmissions: none in
        // this run.
        assert!(key == "link.1.pie" || value(&marked, "link_aqm_drops") == 0.0);
    }
}

#[test]
fn codel_that_never_drops_changes_nothing() {
    let names = ["goodput_kbps", "mean_rtt_s", "download_time_s", "link_drops", "tcp_retransmissions"];
    let plain = with_bottleneck(&[("link.1.queue", "unlimited")]);
    let idle = with_bottleneck(&[("link.1.queue", "unlimited"), ("link.1.codel", "{ target = \"1 h\" }")]);
    assert_eq!(names.map(|name| idle.value(name)), names.map(|name| plain.value(name)));
    let plain = on_slow_dch(&[]);
    let idle = on_slow_dch(&[("rlc.codel", "{ target = \"1 h\" }")]);
    assert_eq!(names.map(|name| idle.value(name)), names.map(|name| plain.value(name)));
}

#[test]
fn managed_rlc_buffers_shorten_the_delay_and_keep_the_bearer_busy() {
    let tail = on_slow_dch(&[]);
    for (key, options) in [("rlc.codel", SLOW_CODEL), ("rlc.pie", SLOW_PIE), ("rlc.red", SLOW_RED)] {
        let managed = on_slow_dch(&[(key, options)]);
        assert!(value(&managed, "mean_rtt_s") < 0.7 * value(&tail, "mean_rtt_s"), "{key}");
        assert!(value(&managed, "goodput_kbps") > 0.85 * value(&tail, "goodput_kbps"), "{key}");
        assert!(value(&managed, "rlc_aqm_drops") > 0.0, "{key}");
    }
}

/// SDUs that are dropped before they have a PDU leave no trace in the octets of other PDUs.
#[test]
fn wire_mode_gives_the_same_run_with_queue_management() {
    let events = |wire_mode, key, options| {
        let overrides = [
            ("duration", "20 s"),
            ("rlc.wire_mode", wire_mode),
            ("tcp.advertised_window", "40 segments"),
            ("tcp.ecn", "true"),
            ("radio.bler", "0.05"),
            (key, options),
        ];
        event_texts(&scenario("ftp-on-fach-3gpp", &overrides))
    };
    for (key, options) in [
        ("rlc.codel", "{ target = \"500 ms\", interval = \"1 s\" }"),
        ("rlc.codel", "{ target = \"500 ms\", interval = \"1 s\", ecn = true }"),
        ("rlc.pie", "{ target = \"500 ms\" }"),
        ("rlc.red", SLOW_RED),
    ] {
        let described = events("false", key, options);
        assert!(described.iter().any(|(_, event)| event.starts_with("QueueManaged")), "{options}");
        assert!(described == events("true", key, options), "{options}");
    }
}
