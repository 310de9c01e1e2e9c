//! `[[at]]`: changes during a run.

use umts_stack::ids::Direction;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::common::{self, event_texts, metrics, scenario, value};

/// All events of the first 20 s of a scenario.
fn events(name: &str, overrides: &[(&str, &str)]) -> Vec<(Time, String)> {
    let scenario =
        scenario(name, &[&[("duration", "20 s"), ("measure.from", "0 s")][..], overrides].concat());
    event_texts(&scenario)
}

#[test]
fn a_change_leaves_everything_before_it_equal() {
    let at = Time::ZERO + Duration::from_secs(10);
    let before = |events: &[(Time, String)]| events.iter().take_while(|(time, _)| *time < at).count();
    // Name of a shipped scenario, keys that change after 10 s.
    for (name, set) in [
        ("ftp-on-dch-384-3gpp", "radio.bler = 0.3"),
        ("ftp-on-dch-384-3gpp", "radio.uplink.bler = 0.3"),
        ("ftp-on-dch-384-3gpp", "radio.cut = true"),
        ("ftp-on-dch-384-3gpp", "ue.user.radio.cut = true"),
        ("ftp-on-dch-384-3gpp", "link.0.delay = \"300 ms\""),
        ("ftp-on-dch-384-3gpp", "link.ggsn.delay = \"0 ms\""),
        ("ftp-on-dch-384-3gpp", "link.1.rate = \"64 kbit/s\""),
        ("ftp-on-dch-384-3gpp", "link.2.loss = 0.2"),
        ("ftp-on-dch-384-3gpp", "bearer.ps-384.downlink.rate = \"128 kbit/s\""),
        ("ftp-on-dch-384-3gpp", "bearer.0.uplink.rate = \"16 kbit/s\""),
        ("cell-edge-dch", "ue.call.calls.offered = \"40 Erl\""),
        ("ftp-fach-dch-3gpp", "radio.cut = true"),
        ("ftp-fach-dch-3gpp", "bearer.web-64.downlink.rate = \"32 kbit/s\""),
        ("hsdpa", "radio.cut = true"),
        ("tdd-ftp-3gpp", "radio.cut = true"),
    ] {
        let plain = events(name, &[]);
        let changed = events(name, &[("at", &format!("[{{ time = \"10 s\", set = {{ {set} }} }}]"))]);
        let same = before(&plain);
        assert_eq!(before(&changed), same, "{name}: {set}");
        assert!(same > 100 && plain[..same] == changed[..same], "{name}: {set}");
        assert!(plain[same..] != changed[same..], "{name}: {set} has no effect");
    }
}

/// Goodput in kbit/s from 25 s to 45 s of a download that changes at 20 s. The RLC buffer is empty
/// then, if its bearer is faster than the path.
fn goodput_after(set: &str) -> f64 {
    let at = format!("[{{ time = \"20 s\", set = {{ {set} }} }}]");
    let overrides = [("duration", "45 s"), ("measure.from", "25 s"), ("at", at.as_str())];
    value(&metrics("ftp-on-dch-384-3gpp", &overrides), "goodput_kbps")
}

#[test]
fn changed_values_act_like_values_from_the_start() {
    let slow = goodput_after("link.1.rate = \"64 kbit/s\"");
    // 1000 of 1040 octets are payload.
    let share = slow / (64.0 * 1000.0 / 1040.0);
    assert!((0.8..1.05).contains(&share), "{share}");
    assert_eq!(goodput_after("radio.cut = true"), 0.0);
    assert_eq!(goodput_after("link.0.loss = 1"), 0.0);
    let (half, none) = (goodput_after("radio.bler = 0.5"), goodput_after("radio.bler = 0"));
    assert!(half < 0.6 * none, "{half} of {none}");
    // Four of twelve blocks in a TTI.
    let third = goodput_after("bearer.ps-384.downlink.rate = \"128 kbit/s\"");
    assert!((0.3..0.36).contains(&(third / none)), "{third} of {none}");
    assert_eq!(goodput_after("bearer.ps-384.downlink.rate = \"384 kbit/s\""), none);
}

#[test]
fn transfer_survives_a_tunnel() {
    let tunnel =
        "[{ time = \"10 s\", set = { radio.cut = true } }, { time = \"14 s\", set = { radio.cut = false } }]";
    let overrides = [("duration", "60 s"), ("at", tunnel)];
    let with = metrics("ftp-on-dch-384-3gpp", &overrides);
    let without = metrics("ftp-on-dch-384-3gpp", &[("duration", "60 s")]);
    let share = value(&with, "goodput_kbps") / value(&without, "goodput_kbps");
    assert!((0.7..0.95).contains(&share), "{share}");
    assert!(value(&with, "rto_count") >= 1.0);
}

#[test]
fn shorter_delay_does_not_reorder_packets() {
    let at = "[{ time = \"10 s\", set = { link.0.delay = \"1 ms\" } }]";
    let overrides = [("duration", "20 s"), ("link.0.delay", "500 ms"), ("at", at)];
    let events = common::events(&scenario("ftp-on-dch-384-3gpp", &overrides));
    let numbers = events.iter().filter_map(|(_, event)| match event {
        TraceEvent::SegmentReceived { packet, segment, .. } => {
            (segment.direction == Direction::Downlink).then_some(packet.0)
        }
        _ => None,
    });
    // Packets are numbered in the order in which they are sent.
    let received: Vec<u64> = numbers.collect();
    assert!(received.len() > 100 && received.is_sorted());
}

#[test]
fn measured_radio_can_be_cut() {
    let overrides = [("duration", "20 s"), ("at", "[{ time = \"5 s\", set = { radio.cut = true } }]")];
    let name = "measured-radio";
    let (cut, whole) = (metrics(name, &overrides), metrics(name, &overrides[..1]));
    assert!(value(&cut, "goodput_kbps") < value(&whole, "goodput_kbps"));
}

#[test]
fn every_transmission_of_harq_fails_during_a_cut() {
    let at =
        "[{ time = \"5 s\", set = { radio.cut = true } }, { time = \"7 s\", set = { radio.cut = false } }]";
    let scenario = scenario("hspa", &[("duration", "12 s"), ("measure.from", "0 s"), ("at", at)]);
    // Whether the blocks were decoded, by time.
    let (mut hs, mut e) = (Vec::new(), Vec::new());
    for (at, event) in common::events(&scenario) {
        match event {
            TraceEvent::HsBlockSent { is_decoded, .. } => hs.push((at, is_decoded)),
            TraceEvent::EBlockSent { is_decoded, .. } => e.push((at, is_decoded)),
            _ => {}
        }
    }
    let [begin, end] = [5, 7].map(|seconds| Time::ZERO + Duration::from_secs(seconds));
    for (name, sent) in [("HS-DSCH", hs), ("E-DCH", e)] {
        let during = sent.iter().filter(|(at, _)| (begin..end).contains(at));
        let during: Vec<bool> = during.map(|(_, is_decoded)| *is_decoded).collect();
        assert!(during.len() > 20 && !during.contains(&true), "{name}: {}", during.len());
        let decoded = |from: Time, until: Time| {
            sent.iter().filter(|(at, is_decoded)| (from..until).contains(at) && *is_decoded).count()
        };
        assert!(decoded(Time::ZERO, begin) > 100, "{name}: before");
        assert!(decoded(end, Time::ZERO + scenario.duration) > 100, "{name}: afterwards");
    }
}
