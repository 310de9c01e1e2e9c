//! The E-DCH in whole networks: rates, HARQ, grants, noise rise and the order of PDUs.

use std::collections::BTreeMap;

use umts_kernel::TraceSink;
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_stack::detail::{Detail, Stage};
use umts_stack::ids::{Direction, UeId};
use umts_stack::mac::e::category::Category;
use umts_stack::mac::e::grant::Grant;
use umts_stack::mac::e::uplink_load::UplinkLoad;
use umts_stack::trace::{Channel, TraceEvent};
use umts_units::{Duration, Time};

use crate::common::{self, assert_near, output, parse, value};

/// Key of `[ue.e_dch]` for a channel without block errors.
const NO_ERRORS: &str = "attempt_errors = [0]";

/// Headers of a block in bits: DDI 6 and N 6 of MAC-e, TSN 6 of MAC-es (TS 25.321 §9.2.4).
const HEADER_BITS: f64 = 18.0;

/// Bits of a PDU in unacknowledged mode: 40 octets of payload and a header of one octet.
const UM_PDU_BITS: f64 = 328.0;

/// A group of one UE for each of `users`: the bearer, and the keys of its `[ue.e_dch]`. Each sends
/// datagrams of 1,400 octets in the uplink, every `interval`.
fn uploads(users: &[(&str, &str)], interval: &str, more: &str) -> Scenario {
    let users: String = (0..)
        .zip(users)
        .map(|(number, (bearer, keys))| {
            format!(
                "[[ue]]\nname = \"u{number}\"\nbearer = \"{bearer}\"\ne_dch = {{ {keys} }}\n\
                 [[flow]]\nue = \"u{number}\"\ndirection = \"uplink\"\ntraffic = \"cbr\"\n\
                 cbr = {{ payload = \"1400 B\", interval = \"{interval}\" }}\n"
            )
        })
        .collect();
    let text = format!("version = 1\nduration = \"32 s\"\nmeasure = {{ from = \"2 s\" }}\n{more}\n{users}");
    parse(&text)
}

fn metrics(scenario: &Scenario) -> MetricSet {
    output(scenario).metrics.network
}

/// A datagram takes 1,429 octets: 1,400 of payload, 28 of headers, and a length indicator of one
/// octet. The largest block of category 3 has 43 PDUs with 40 octets of payload. With 100 blocks
/// per second it carries 120.4 datagrams per second. A measured network carried 119.8 (T-Mobile
/// uplink trace of mahimahi). RLC is in acknowledged mode, with the largest window.
#[test]
fn a_saturated_ue_of_category_3_carries_120_datagrams_a_second() {
    let rlc = "rlc = { window = 2047, timer_status_prohibit = \"60 ms\" }";
    let metrics = metrics(&uploads(&[("hspa-7.2", NO_ERRORS)], "7 ms", rlc));
    let datagrams = value(&metrics, "udp_goodput_kbps_uplink") * 1e3 / 8.0 / 1400.0;
    assert_near("datagrams", datagrams, 43.0 * 40.0 * 100.0 / 1429.0, 0.015);
    assert_near("datagrams of the trace", datagrams, 119.8, 0.015);
}

/// The RLC payload of the largest blocks, in unacknowledged mode: PDUs of 328 bits.
#[test]
fn saturated_categories_send_their_largest_block_in_every_tti() {
    let pdus = |bits: f64| ((bits - HEADER_BITS) / UM_PDU_BITS).floor();
    let cases = [
        ("hspa-3.6", "", pdus(7_110.0) / 10.0),
        ("hspa-7.2", "", pdus(14_484.0) / 10.0),
        ("hspa-7.2", ", category = 5", pdus(20_000.0) / 10.0),
        ("hspa-14.4", "", pdus(11_484.0) / 2.0),
        ("hspa-14.4", ", category = 2", pdus(2_798.0) / 2.0),
        ("hspa-14.4", ", tti = \"10 ms\"", pdus(20_000.0) / 10.0),
    ];
    for (bearer, keys, pdus_per_ms) in cases {
        let keys = format!("{NO_ERRORS}{keys}");
        let metrics = metrics(&uploads(&[(bearer, &keys)], "1.5 ms", "rlc = { mode = \"um\" }"));
        // Scheduling information takes the place of a PDU now and then.
        assert_near(&keys, value(&metrics, "iub_pdus_per_s_uplink"), pdus_per_ms * 1e3, 0.005);
        assert_eq!(value(&metrics, "e_residual_bler_pct"), 0.0);
    }
}

/// Error probabilities 0.3, 0.1 and 0.05 with three transmissions, as for the HS-DSCH.
#[test]
fn harq_transmits_as_often_as_the_error_probabilities_imply() {
    let more = "rlc = { mode = \"um\" }\ncell = [{ name = \"cell\", e_dch = { max_transmissions = 3 } }]";
    let metrics = metrics(&uploads(&[("hspa-14.4", "attempt_errors = [0.3, 0.1, 0.05]")], "2 ms", more));
    let blocks = value(&metrics, "e_transmissions") / value(&metrics, "e_transmissions_per_block");
    let three_errors = |p: f64| 3.0 * (p * (1.0 - p) / blocks).sqrt();
    let first = value(&metrics, "e_first_bler_pct") / 100.0;
    assert!((first - 0.3).abs() < three_errors(0.3), "{first} of the first transmissions fail");
    let residual = value(&metrics, "e_residual_bler_pct") / 100.0;
    assert!((residual - 0.0015).abs() < three_errors(0.0015), "{residual} of the blocks are lost");
    assert_near("transmissions", value(&metrics, "e_transmissions_per_block"), 1.33, 0.02);
}

/// PDUs and events of the E-DCH.
#[derive(Debug, Default)]
struct Observed {
    /// PDUs that left RLC of UEs.
    sent: u64,
    /// PDUs that arrived.
    delivered: u64,
    /// PDUs of lost blocks.
    lost: u64,
    /// Serials of block sets in the order of their delivery, by UE.
    order: BTreeMap<UeId, Vec<u64>>,
    /// Numbers of events by cause.
    events: BTreeMap<&'static str, u64>,
    max_noise_rise_db: f32,
    max_block_bits: u32,
    /// Transmissions of UE 0.
    transmissions: Vec<Transmission>,
    /// Time of the first grant.
    first_grant: Option<Time>,
    /// Time of the first block with PDUs.
    first_pdus: Option<Time>,
    /// Number of absolute grants.
    absolute: u64,
    /// Number of relative grants.
    relative: u64,
}

/// A transmission of a block.
#[derive(Debug)]
struct Transmission {
    at: Time,
    /// Number of the transmission of this block, from 1.
    attempt: u8,
}

impl TraceSink<TraceEvent> for Observed {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, at: Time, event: &TraceEvent) {
        let (name, count) = match *event {
            TraceEvent::EBlockSent { ue, attempt, bits, pdus, .. } => {
                self.max_block_bits = self.max_block_bits.max(bits);
                if pdus > 0 {
                    self.first_pdus.get_or_insert(at);
                }
                if ue == UeId(0) {
                    self.transmissions.push(Transmission { at, attempt });
                }
                return;
            }
            TraceEvent::ENoiseRise { rise, .. } => {
                self.max_noise_rise_db = self.max_noise_rise_db.max(rise.0);
                return;
            }
            TraceEvent::EGrantSent { is_absolute, .. } => {
                self.first_grant.get_or_insert(at);
                self.absolute += u64::from(is_absolute);
                self.relative += u64::from(!is_absolute);
                return;
            }
            TraceEvent::EFalseAck { .. } => ("false ACKs", 1),
            TraceEvent::EBlockDropped { pdus, .. } => ("late", u64::from(pdus)),
            TraceEvent::ET1Expired { .. } => ("T1", 1),
            _ => return,
        };
        *self.events.entry(name).or_default() += count;
    }

    fn show(&mut self, _at: Time, detail: &Detail<'_>) {
        let Detail::Blocks { ue, direction: Direction::Uplink, channel: Channel::EDch, set, stage } = detail
        else {
            return;
        };
        let pdus = u64::from(set.blocks);
        match stage {
            Stage::Leaves => self.sent += pdus,
            Stage::Arrives(lost) if lost.count() > 0 => self.lost += pdus,
            Stage::Arrives(_) => {
                self.delivered += pdus;
                self.order.entry(*ue).or_default().push(set.serial);
            }
            Stage::OnAir | Stage::Dropped => {}
        }
    }
}

fn observed(scenario: &Scenario) -> Observed {
    common::observed(scenario, Observed::default())
}

/// Under any loss and any error of the feedback each PDU that a UE sent arrives once and in order, is lost,
/// or is pending; and each loss has a cause that must occur in the case.
#[test]
fn every_pdu_goes_up_in_order_at_most_once_or_is_lost() {
    /// Largest number of blocks in the reordering queue of a UE at the RNC: the default `window`.
    const MAX_BLOCKS_IN_WINDOW: u64 = 32;
    /// Rough limit of the blocks of a UE on the Iub.
    const MAX_BLOCKS_ON_IUB: u64 = 8;
    let feedback = "nack_to_ack = 0.1, ack_to_nack = 0.1";
    // Keys of the cell, of the users, and the causes that must occur.
    let cases: [(&str, &str, &[&str]); 4] = [
        ("max_transmissions = 3", "attempt_errors = [0.3, 0.1, 0]", &[]),
        ("max_transmissions = 2, t1 = \"50 ms\"", "attempt_errors = [0.3, 0.5]", &["T1"]),
        ("t1 = \"10 ms\"", "attempt_errors = [0.3]", &["T1", "late"]),
        ("window = 8, t1 = \"10 ms\"", &format!("attempt_errors = [0.4], {feedback}"), &["T1", "false ACKs"]),
    ];
    for (bearer, processes, pdus_per_block) in [("hspa-7.2", 4, 44), ("hspa-14.4", 8, 35)] {
        for (cell, keys, causes) in cases {
            let more =
                format!("rlc = {{ mode = \"um\" }}\ncell = [{{ name = \"cell\", e_dch = {{ {cell} }} }}]");
            let channel = observed(&uploads(&[(bearer, keys); 2], "5 ms", &more));
            let pending = channel.sent - channel.delivered - channel.lost;
            // Each of the two UEs can have one block in each HARQ process.
            let max_blocks = 2 * (processes + MAX_BLOCKS_IN_WINDOW + MAX_BLOCKS_ON_IUB);
            assert!(pending <= max_blocks * pdus_per_block, "{keys}: {pending} PDUs are pending");
            assert!(channel.delivered > 10_000, "{bearer} {keys}: {}", channel.delivered);
            for order in channel.order.values() {
                assert!(order.is_sorted_by(|before, after| before < after), "{bearer} {keys}");
            }
            for cause in causes {
                assert!(
                    channel.events.contains_key(cause),
                    "{bearer} {keys}: {cause} of {:?}",
                    channel.events
                );
            }
            if causes.is_empty() {
                assert_eq!(
                    (channel.lost, channel.events.len()),
                    (0, 0),
                    "{bearer} {keys}: {:?}",
                    channel.events
                );
            }
        }
    }
}

/// Grants keep the noise rise within its budget, repetitions and scheduling information included. Blocks of
/// whole PDUs do not use it up.
#[test]
fn the_noise_rise_stays_within_its_budget() {
    let keys = "attempt_errors = [0.2, 0.1]";
    for budget_db in ["3 dB", "6 dB", "9 dB"] {
        let more = format!(
            "rlc = {{ mode = \"um\" }}\ncell = [{{ name = \"cell\", e_dch = {{ noise_rise = \"{budget_db}\" }} }}]"
        );
        let users = [("hspa-14.4", keys), ("hspa-7.2", keys), ("hspa-14.4", keys), ("hspa-3.6", keys)];
        let channel = observed(&uploads(&users, "3 ms", &more));
        let budget: f32 = budget_db[..1].parse().expect("a digit");
        assert!(channel.max_noise_rise_db <= budget + 0.001, "{} dB", channel.max_noise_rise_db);
        assert!(channel.max_noise_rise_db > budget / 2.0, "{} dB", channel.max_noise_rise_db);
        let category = Category::new(6).expect("it exists");
        assert!(channel.max_block_bits <= category.max_bits(Duration::from_millis(10)).expect("all have it"));
        assert!(channel.absolute > 0 && channel.relative > 0);
    }
}

/// Two users of category 6 get half of the load each: 0.374 in place of 0.749, which is 2.3 Mbit/s at
/// an Eb/N0 of 2 dB. The grants have steps, of which one of the users gets one more.
#[test]
fn two_users_share_the_noise_rise() {
    let users = [("hspa-14.4", NO_ERRORS); 2];
    let scenario = uploads(&users, "3 ms", "rlc = { mode = \"um\" }");
    let metrics = metrics(&scenario);
    let uplink = UplinkLoad::new(&scenario.cell[0].e_dch);
    let tti = Duration::from_millis(2);
    let half = Grant::all().rev().find(|grant| uplink.load(grant.ratio()) <= uplink.budget() / 2.0);
    let pdus = (f64::from(uplink.bits(half.expect("a grant").ratio(), tti)) - HEADER_BITS) / UM_PDU_BITS;
    assert_near("PDUs", value(&metrics, "iub_pdus_per_s_uplink"), 2.0 * pdus.floor() * 500.0, 0.2);
    assert!(value(&metrics, "e_happy_pct") < 10.0);
}

/// A UE without a grant reports its buffer at once. The grant follows at the next decision and takes
/// effect after its latency; the first PDUs do not leave earlier.
#[test]
fn the_first_pdus_wait_for_the_latency_of_the_grant() {
    for (latency, milliseconds) in [("10 ms", 10), ("60 ms", 60)] {
        let more = format!("cell = [{{ name = \"cell\", e_dch = {{ grant_latency = \"{latency}\" }} }}]");
        let channel = observed(&uploads(&[("hspa-14.4", NO_ERRORS)], "20 ms", &more));
        let (grant, pdus) = (channel.first_grant.expect("a grant"), channel.first_pdus.expect("PDUs"));
        let wait = pdus - grant;
        assert!(wait >= Duration::from_millis(milliseconds), "{wait}");
        assert!(wait <= Duration::from_millis(milliseconds + 2), "{wait}");
    }
}

/// Non-scheduled bits need no grant.
#[test]
fn non_scheduled_pdus_leave_at_once() {
    let keys = format!("{NO_ERRORS}, non_scheduled = 400");
    let channel = observed(&uploads(&[("hspa-14.4", &keys)], "100 ms", ""));
    assert_eq!(channel.first_pdus, Some(channel.transmissions[0].at));
}

/// HARQ is synchronous: a block that failed is repeated 40 ms later with TTIs of 10 ms, and 16 ms later with
/// TTIs of 2 ms.
#[test]
fn repetitions_follow_after_all_processes() {
    for (bearer, round_trip_ms) in [("hspa-7.2", 40), ("hspa-14.4", 16)] {
        let channel = observed(&uploads(&[(bearer, "attempt_errors = [0.3, 0.1]")], "20 ms", ""));
        let attempts: BTreeMap<Time, u8> =
            channel.transmissions.iter().map(|sent| (sent.at, sent.attempt)).collect();
        let repetitions: Vec<_> = channel.transmissions.iter().filter(|sent| sent.attempt > 1).collect();
        assert!(repetitions.len() > 50, "{bearer}: {} repetitions", repetitions.len());
        for Transmission { at, attempt } in repetitions {
            let before = Time::from_nanos(at.as_nanos() - round_trip_ms * 1_000_000);
            assert_eq!(attempts.get(&before), Some(&(attempt - 1)), "{bearer} at {at}");
        }
    }
}

/// At a path loss of 126 dB the UE has 26 dB of headroom, less than the largest block needs, and at 132 dB 20 dB.
#[test]
fn power_limits_the_blocks_of_distant_ues() {
    let rate = |path_loss: u32| {
        let keys = format!("{NO_ERRORS}, path_loss = \"{path_loss} dB\"");
        value(
            &metrics(&uploads(&[("hspa-14.4", &keys)], "2 ms", "rlc = { mode = \"um\" }")),
            "e_block_rate_kbps",
        )
    };
    let (near, far, farther) = (rate(110), rate(126), rate(132));
    assert!(near > 2.0 * far && far > 2.0 * farther && farther > 100.0, "{near}, {far}, {farther} kbit/s");
}

/// Users that RRC switches leave the E-DCH when they become inactive, with blocks in HARQ, and return to it.
#[test]
fn rrc_switches_users_to_the_e_dch() {
    let text = "version = 1\nduration = \"40 s\"\n[rrc]\ndch = [\"hspa-7.2\"]\ninactivity = \"500 ms\"\n\
                [[ue]]\nname = \"u\"\nbearer = \"switched\"\n[[flow]]\nue = \"u\"\ndirection = \"uplink\"\n\
                traffic = \"on_off\"\non_off = { payload = \"1000 B\" }\n";
    let scenario = parse(text);
    let channel = observed(&scenario);
    assert!(channel.delivered > 100 && channel.sent >= channel.delivered + channel.lost, "{channel:?}");
    let metrics = metrics(&scenario);
    assert!(value(&metrics, "e_transmissions") > 0.0 && value(&metrics, "rrc_switches") >= 2.0);
}

/// Without a user of the channel there is no noise rise, no error rate and no happy bit.
#[test]
fn metrics_of_the_e_dch_are_unknown_without_it() {
    let text = "version = 1\nduration = \"5 s\"\n[[ue]]\nname = \"u\"\nbearer = \"hsdpa-3.6\"\n[[flow]]\nue = \"u\"\n";
    let metrics = metrics(&parse(text));
    for name in ["e_first_bler_pct", "e_residual_bler_pct", "e_max_noise_rise_db", "e_happy_pct"] {
        assert_eq!(metrics.value(name), None, "{name}");
    }
}
