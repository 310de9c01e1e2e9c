//! A proxy that does not split connections: its effects on whole networks.

use crate::common::{metrics, output, scenario, value};
use umts_record::metrics::MetricSet;

fn download(mode: &str, more: &[(&str, &str)]) -> MetricSet {
    metrics("split-download", &[&[("proxy.mode", mode), ("duration", "300 s")], more].concat())
}

/// RLC repairs losses on the air before TCP notices them, so the proxy's copies repair nothing.
#[test]
fn snoop_above_rlc_changes_no_delivery_time() {
    for at in ["ggsn", "rnc"] {
        for run in ["1", "2", "3"] {
            let more = [("proxy.at", at), ("flow.0.size", "300 kB"), ("rlc.max_dat", "10"), ("seed", run)];
            let time = |mode| value(&download(mode, &more), "transfer_time_s").to_bits();
            assert_eq!(time("snoop"), time("pass"), "at the {at}, seed {run}");
            let snooped = download("snoop", &more);
            assert_eq!((value(&snooped, "proxy_repeats"), value(&snooped, "residual_loss_pct")), (0.0, 0.0));
        }
    }
}

/// If RLC gives packets up, the proxy repairs a loss in the round-trip time of the radio, and the
/// server keeps its window.
#[test]
fn snoop_repairs_rlc_discards() {
    for at in ["ggsn", "rnc"] {
        let lossy = [("proxy.at", at), ("rlc.max_dat", "3"), ("link.0.loss", "0"), ("flow.0.size", "1 MB")];
        let (snooped, passed) = (download("snoop", &lossy), download("pass", &lossy));
        assert!(value(&snooped, "proxy_repeats") > 5.0 && value(&snooped, "proxy_hidden_acks") > 5.0);
        let times = [&snooped, &passed].map(|metrics| value(metrics, "transfer_time_s"));
        assert!(times[0] < times[1], "{times:?} at the {at}");
        let repeats = [&snooped, &passed].map(|metrics| value(metrics, "tcp_retransmissions_by_dupack"));
        assert!(repeats[0] < repeats[1] / 2.0, "{repeats:?} at the {at}");
    }
}

/// The queue before the radio becomes shorter, and the transfer takes at most 3 % longer.
#[test]
fn regulated_acknowledgments_and_lowered_windows_shorten_the_queue() {
    let plain =
        [("link.0.loss", "0"), ("radio.bler", "0"), ("flow.0.size", "500 kB"), ("ue.0.bearer", "ps-128")];
    let passed = download("pass", &plain);
    for (mode, action, setting) in [
        ("ack_regulation", "proxy_held_acks", ("proxy.ack_regulation.queue", "8 kB")),
        ("window_clamp", "proxy_clamped_windows", ("proxy.window_clamp.window", "12 kB")),
    ] {
        let with_mode = download(mode, &[&plain[..], &[setting]].concat());
        assert!(value(&with_mode, action) > 20.0, "{mode}");
        let [delay, before] = [&with_mode, &passed].map(|metrics| value(metrics, "sdu_delay_ms"));
        assert!(delay < 0.6 * before, "{mode}: {delay} ms of {before}");
        let [time, before] = [&with_mode, &passed].map(|metrics| value(metrics, "transfer_time_s"));
        assert!(time < 1.03 * before, "{mode}: {time} s of {before}");
        assert_eq!(value(&with_mode, "goodput_kbps"), value(&passed, "goodput_kbps"));
    }
}

#[test]
fn helping_proxy_acts_on_both_connections_and_splits_none() {
    for mode in ["snoop", "ack_regulation", "window_clamp"] {
        let two = [("ue.0.count", "2"), ("proxy.ack_regulation.queue", "1460 B"), ("rlc.max_dat", "3")];
        let all = download(mode, &two);
        let actions = ["proxy_repeats", "proxy_held_acks", "proxy_clamped_windows"];
        let count = |metrics: &MetricSet| actions.iter().map(|name| value(metrics, name)).sum::<f64>();
        assert!(count(&all) > 0.0, "{mode}");
        assert_eq!(value(&all, "proxy_passed"), 2.0);
    }
}

/// The budget is complete although packets are hidden, delayed, or sent by the proxy itself.
#[test]
fn the_time_is_explained_when_the_proxy_acts_on_packets() {
    for mode in ["snoop", "ack_regulation", "window_clamp"] {
        let set =
            [("proxy.mode", mode), ("rlc.max_dat", "3"), ("measure.budget", "true"), ("duration", "300 s")];
        let metrics = output(&scenario("split-download", &set)).metrics.network;
        let total = value(&metrics, "budget_total_s");
        assert!(value(&metrics, "budget_unexplained_s") / total < 0.01, "{mode}");
    }
}
