//! The HS-DSCH in whole networks: peak rates, HARQ, schedulers and closed forms.

use std::collections::BTreeMap;

use umts_kernel::TraceSink;
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_stack::detail::{Detail, Stage};
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::rlc::BlockSet;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::common::{assert_near, events, observed, output, parse, value};

/// Octets of RLC payload in a PDU.
const PAYLOAD: f64 = 40.0;
/// RLC payload in kbit/s of one PDU in each TTI of 2 ms.
const KBPS_PER_PDU: f64 = PAYLOAD * 8.0 / 2.0;

/// `users` groups of one UE on bearer `bearer`, each with `radio` as its `[ue.hs_dsch]` and a stream
/// of datagrams that is faster than the bearer. `more`: further tables, the cell's for example.
pub(super) fn saturated(bearer: &str, radios: &[&str], more: &str) -> Scenario {
    saturated_in("rlc = { mode = \"um\" }", bearer, radios, more)
}

/// As `saturated`, with `rlc` instead of the table of RLC in unacknowledged mode.
pub(super) fn saturated_in(rlc: &str, bearer: &str, radios: &[&str], more: &str) -> Scenario {
    // Of many users, each has more data than a cell of category 6 can carry.
    let interval = if radios.len() > 5 { "3 ms" } else { "0.7 ms" };
    let users: String = (0..)
        .zip(radios)
        .map(|(number, radio)| {
            format!(
                "[[ue]]\nname = \"u{number}\"\nbearer = \"{bearer}\"\nhs_dsch = {{ {radio} }}\n\
                 [[flow]]\nue = \"u{number}\"\ntraffic = \"cbr\"\ncbr = {{ payload = \"1400 B\", interval = \"{interval}\" }}\n"
            )
        })
        .collect();
    let link = |from: &str, to: &str| {
        format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n")
    };
    let links = link("server", "ggsn") + &link("ggsn", "sgsn") + &link("sgsn", "rnc");
    let text = format!(
        "version = 1\nduration = \"32 s\"\nmeasure = {{ from = \"2 s\" }}\n{rlc}\n\
         {more}\n{links}{users}"
    );
    parse(&text)
}

/// A cell with `keys` in its `hs_dsch`. A comma after the last one is allowed.
pub(super) fn hs_cell(keys: &str) -> String {
    format!("cell = [{{ name = \"cell\", hs_dsch = {{ {} }} }}]", keys.trim_end_matches(", "))
}

/// Metrics of the network in the downlink.
pub(super) fn metrics(scenario: &Scenario) -> MetricSet {
    output(scenario).metrics.network
}

/// RLC payload on the HS-DSCH in kbit/s.
pub(super) fn payload_kbps(metrics: &MetricSet) -> f64 {
    value(metrics, "iub_pdus_per_s") * PAYLOAD * 8.0 / 1e3
}

/// The largest blocks of these categories have room for 10, 21, 43 and 70 PDUs of 328 bits; 70 are the
/// most that a block may have.
#[test]
fn saturated_categories_carry_their_largest_block_in_every_tti() {
    for (bearer, kbps) in
        [("hsdpa-1.8", 1_600.0), ("hsdpa-3.6", 3_360.0), ("hsdpa-7.2", 6_880.0), ("hsdpa-14.4", 11_200.0)]
    {
        let metrics = metrics(&saturated(bearer, &["cqi = 30, errors = \"none\""], ""));
        assert_near(bearer, payload_kbps(&metrics), kbps, 0.005);
    }
}

/// Categories 1 and 3 may receive a block in every third and in every second TTI.
#[test]
fn categories_with_a_minimum_interval_receive_fewer_blocks() {
    for (category, interval) in [(1, 3.0), (3, 2.0), (5, 1.0)] {
        let radio = format!("category = {category}, cqi = 22, errors = \"none\"");
        let metrics = metrics(&saturated("hsdpa-3.6", &[&radio], ""));
        assert_near(&radio, payload_kbps(&metrics), 3_360.0 / interval, 0.005);
    }
}

/// A process can be used again after six TTIs.
#[test]
fn fewer_than_six_harq_processes_limit_the_rate() {
    for processes in [1.0, 2.0, 3.0, 5.0, 6.0, 8.0_f64] {
        let cell = hs_cell(&format!("processes = {processes}, window = 32"));
        let metrics = metrics(&saturated("hsdpa-3.6", &["cqi = 22, errors = \"none\""], &cell));
        assert_near(&cell, payload_kbps(&metrics), 3_360.0 * processes.min(6.0) / 6.0, 0.005);
    }
}

/// Three transmissions with error probabilities 0.3, 0.1 and 0.05: 1 + 0.3 + 0.3 x 0.1 transmissions
/// of a block, of which 0.3 x 0.1 x 0.05 are lost. About 11,000 blocks: three standard errors of the
/// first probability are 0.013.
#[test]
fn harq_transmits_as_often_as_the_error_probabilities_imply() {
    let radio = "cqi = 22, errors = \"per_attempt\", attempt_errors = [0.3, 0.1, 0.05]";
    let metrics = metrics(&saturated("hsdpa-3.6", &[radio], ""));
    let blocks = value(&metrics, "hs_transmissions") / value(&metrics, "hs_transmissions_per_block");
    let three_errors = |p: f64| 3.0 * (p * (1.0 - p) / blocks).sqrt();
    let first = value(&metrics, "hs_first_bler_pct") / 100.0;
    assert!((first - 0.3).abs() < three_errors(0.3), "{first} of the first transmissions fail");
    let residual = value(&metrics, "hs_residual_bler_pct") / 100.0;
    assert!((residual - 0.0015).abs() < three_errors(0.0015), "{residual} of the blocks are lost");
    assert_near("transmissions", value(&metrics, "hs_transmissions_per_block"), 1.33, 0.02);
    // Each transmission takes a TTI.
    assert_near("transmissions", value(&metrics, "hs_transmissions"), 30.0 * 500.0, 0.005);
}

/// Block sizes of CQI 1 to 22 in bits.
const SIZES: [f64; 22] = [
    137.0, 173.0, 233.0, 317.0, 377.0, 461.0, 650.0, 792.0, 931.0, 1262.0, 1483.0, 1742.0, 2279.0, 2583.0,
    3319.0, 3565.0, 4189.0, 4664.0, 5287.0, 5887.0, 6554.0, 7168.0,
];

/// The best of several UEs with independent Rayleigh fading around one SNR.
struct BestUser {
    /// Mean of the PDUs in its block.
    pdus: f64,
    /// Probability that a UE has no room for a PDU.
    starving: f64,
}

/// Returns the best of `users` UEs around `snr` dB, from the exact distribution of the CQI, with PDUs
/// of 328 bits (unacknowledged mode).
fn best_user(snr: f64, users: i32) -> BestUser {
    let pdus_in = |cqi: usize| ((SIZES[cqi - 1] - 21.0) / 328.0).floor();
    // Probability that a UE is below the lowest SNR of a CQI.
    let below = |cqi: usize| {
        let lowest = 10.0_f64.powf((cqi as f64 - 16.62) * 1.02 / 10.0);
        1.0 - (-lowest / 10.0_f64.powf(snr / 10.0)).exp()
    };
    let best_below = |cqi: usize| if cqi > 22 { 1.0 } else { below(cqi).powi(users) };
    let pdus = (1..=22).map(|cqi| (best_below(cqi + 1) - best_below(cqi)) * pdus_in(cqi)).sum();
    let first = (1..=22).find(|cqi| pdus_in(*cqi) > 0.0).expect("there is room at CQI 22");
    BestUser { pdus, starving: below(first) }
}

/// Fading in each TTI without errors, for the closed forms.
fn fading(snr: f64) -> String {
    format!("snr = \"{snr} dB\", fading = \"per_tti\", cqi_delay = \"0 ms\", errors = \"none\"")
}

/// A cell with long queues at the Node B, so that each user always has PDUs there.
fn full_queues(scheduler: &str) -> String {
    hs_cell(&format!("scheduler = \"{scheduler}\", queue_time = \"500 ms\""))
}

/// Maximum C/I serves the best of all users in every TTI.
#[test]
fn max_ci_has_the_rate_of_the_best_user() {
    for (snr, users) in [(0.0, 1), (5.0, 1), (10.0, 2), (0.0, 5), (0.0, 20)] {
        let radio = fading(snr);
        let metrics =
            metrics(&saturated("hsdpa-3.6", &vec![radio.as_str(); users as usize], &full_queues("max_ci")));
        let expected = best_user(snr, users).pdus * KBPS_PER_PDU;
        assert_near(&format!("{users} users at {snr} dB"), payload_kbps(&metrics), expected, 0.02);
    }
}

/// Round robin skips users without room for a PDU: a TTI is unused only if there is no room for any
/// user. With one user it is unused with probability q, with N users with q to the power of N.
#[test]
fn round_robin_skips_starving_users() {
    for (snr, users) in [(0.0, 2), (5.0, 5), (10.0, 20)] {
        let radio = fading(snr);
        let cell = full_queues("round_robin");
        let metrics = metrics(&saturated("hsdpa-3.6", &vec![radio.as_str(); users as usize], &cell));
        let BestUser { pdus, starving } = best_user(snr, 1);
        let expected = pdus * (1.0 - starving.powi(users)) / (1.0 - starving) * KBPS_PER_PDU;
        assert_near(&format!("{users} users at {snr} dB"), payload_kbps(&metrics), expected, 0.02);
    }
}

/// Two users at 0 and 10 dB under proportional fairness: 911 and 1,829 kbit/s in PDUs of 336 bits
/// (100,000 TTIs simulated apart from this program), here PDUs of 328 bits.
#[test]
fn proportional_fairness_of_unequal_users_matches_its_simulation() {
    let radios = [fading(0.0), fading(10.0)];
    let scenario = saturated("hsdpa-3.6", &[&radios[0], &radios[1]], &full_queues("proportional_fair"));
    let sent = transmissions(&scenario);
    let share = sent.iter().filter(|sent| sent.ue == UeId(0)).count() as f64 / sent.len() as f64;
    assert!((share - 0.42).abs() < 0.015, "{share}");
    // 328 instead of 336 bits raise the rate by at most 3 %.
    let kbps = payload_kbps(&metrics(&scenario));
    assert!((2_740.0 * 0.98..2_740.0 * 1.05).contains(&kbps), "{kbps}");
}

/// In acknowledged mode 2,047 PDUs of 320 bits can be sent in a round trip of RLC: the window, not the
/// radio, limits a category 8 UE (6,720 kbit/s) if the round trip is above 97 ms.
#[test]
fn rlc_window_binds_above_its_round_trip() {
    let kbps = |iub_ms: u64| {
        let tables = format!(
            "rlc = {{ mode = \"am\", window = 2047, timer_status_prohibit = \"10 ms\", poll_window = 50, buffer = \"1 MB\" }}\n\
             cell = [{{ name = \"cell\", iub = {{ delay = \"{iub_ms} ms\" }}, hs_dsch = {{ queue_time = \"20 ms\" }} }}]"
        );
        payload_kbps(&metrics(&saturated_in("", "hsdpa-7.2", &["cqi = 30, errors = \"none\""], &tables)))
    };
    // Two crossings of the Iub, the queue of the Node B and the TTIs of both directions.
    let short = kbps(5);
    assert!(short > 0.97 * 6_720.0, "{short}");
    let window_kbit = 2_047.0 * 320.0 / 1e3;
    let long = kbps(200);
    // The Iub both ways, and up to once more both ways for the request and the allocation of credits.
    let round_trip = window_kbit / long;
    assert!((0.4..0.9).contains(&round_trip), "{long} kbit/s are a round trip of {round_trip} s");
}

/// With equal users, proportional fairness serves the best one, like max C/I, and all of them
/// equally often.
#[test]
fn proportional_fairness_serves_equal_users_alike() {
    let radio = fading(0.0);
    let scenario = |scheduler: &str| {
        let cell = hs_cell(&format!("scheduler = \"{scheduler}\""));
        saturated("hsdpa-3.6", &[radio.as_str(); 2], &cell)
    };
    let [fair, best] = ["proportional_fair", "max_ci"].map(|kind| payload_kbps(&metrics(&scenario(kind))));
    assert_near("rate", fair, best, 0.01);
    let sent = transmissions(&scenario("proportional_fair"));
    for ue in [UeId(0), UeId(1)] {
        let ttis = sent.iter().filter(|sent| sent.ue == ue).count();
        assert_near(&format!("{ue:?}"), ttis as f64 / sent.len() as f64, 0.5, 0.02);
    }
}

/// Chase combining at a constant SNR: the second transmission of a block practically never fails.
#[test]
fn second_transmission_with_chase_combining_succeeds() {
    let radio = "snr = \"5 dB\", cqi_error = \"1 dB\"";
    let metrics = metrics(&saturated("hsdpa-3.6", &[radio], ""));
    assert!(value(&metrics, "hs_first_bler_pct") > 5.0);
    assert_eq!(value(&metrics, "hs_residual_bler_pct"), 0.0);
}

/// T1 that outlasts HARQ never expires while no block is lost for good.
#[test]
fn t1_expires_only_for_lost_blocks() {
    let errors =
        |last: f64| format!("cqi = 22, errors = \"per_attempt\", attempt_errors = [0.3, 0.1, {last}]");
    let expiries = |last: f64| {
        let metrics = metrics(&saturated("hsdpa-3.6", &[&errors(last)], ""));
        (value(&metrics, "hs_t1_expiries"), value(&metrics, "hs_residual_bler_pct"))
    };
    assert_eq!(expiries(0.0), (0.0, 0.0));
    let (t1, residual) = expiries(0.5);
    assert!(t1 > 0.0 && residual > 0.0);
}

/// Credits never let the RNC fill the queue of the Node B beyond its capacity.
#[test]
fn node_b_queue_does_not_overflow() {
    let cell = hs_cell("nodeb_queue = 60, allocation_interval = \"10 ms\"");
    let metrics = metrics(&saturated("hsdpa-3.6", &["snr = \"0 dB\", fading = \"rayleigh\""], &cell));
    assert_eq!(value(&metrics, "hs_pdus_discarded"), 0.0);
    assert!(payload_kbps(&metrics) > 100.0);
}

/// PDUs of 41 octets (328 bits) share an Iub of 1 Mbit/s.
#[test]
fn slow_iub_limits_the_rate() {
    let cell = "cell = [{ name = \"cell\", iub = { rate = \"1 Mbit/s\" } }]";
    let metrics = metrics(&saturated("hsdpa-3.6", &["cqi = 22, errors = \"none\""], cell));
    assert_near("payload", payload_kbps(&metrics), 1_000.0 * PAYLOAD / 41.0, 0.02);
}

/// TCP over acknowledged mode: RLC repairs what HARQ leaves, and TCP retransmits nothing.
#[test]
fn download_is_lossless_for_tcp() {
    let text = "version = 1\nduration = \"30 s\"\n[[ue]]\nname = \"u\"\nbearer = \"hsdpa-7.2\"\n\
                hs_dsch = { snr = \"12 dB\", fading = \"rayleigh\" }\n[[flow]]\nue = \"u\"\ntraffic = \"ftp\"\n";
    let metrics = metrics(&parse(text));
    assert!(value(&metrics, "goodput_kbps") > 1_000.0);
    assert_eq!(value(&metrics, "sdu_error_pct"), 0.0);
}

/// A transmission of a block.
struct Transmission {
    ue: UeId,
    at: Time,
    /// Number of the transmission of this block, from 1.
    attempt: u8,
}

/// Transmissions of blocks in the order of their times.
fn transmissions(scenario: &Scenario) -> Vec<Transmission> {
    let events = events(scenario).into_iter();
    let sent = events.filter_map(|(at, event)| match event {
        TraceEvent::HsBlockSent { ue, attempt, .. } => Some(Transmission { ue, at, attempt }),
        _ => None,
    });
    sent.collect()
}

/// With processes of the cell, the six processes take turns: a block is repeated in the sixth TTI
/// after its transmission, before new blocks of all users.
#[test]
fn processes_of_the_cell_repeat_a_block_in_their_next_tti() {
    let radio = "cqi = 15, errors = \"per_attempt\", attempt_errors = [0.5, 0.5, 0.0]";
    let cell = hs_cell("process_scope = \"cell\", ack_delay = \"4 ms\"");
    let sent = transmissions(&saturated("hsdpa-3.6", &[radio; 2], &cell));
    let by_time: BTreeMap<Time, (UeId, u8)> =
        sent.iter().map(|sent| (sent.at, (sent.ue, sent.attempt))).collect();
    let mut repeated = 0;
    for Transmission { ue, at, attempt } in sent.iter().filter(|sent| sent.attempt > 1) {
        let before = *at - Duration::from_millis(12);
        assert_eq!(by_time.get(&before), Some(&(*ue, attempt - 1)), "{at:?}");
        repeated += 1;
    }
    assert!(repeated > 5_000, "{repeated}");
}

/// A lone user's only process is free again after the TTI of the block and the delay of its
/// acknowledgment.
#[test]
fn acknowledgment_delay_sets_the_round_trip_of_a_process() {
    for (delay, round_trip_ms) in [("4 ms", 6), ("10 ms", 12), ("auto", 12), ("5 ms", 8)] {
        let cell = hs_cell(&format!("processes = 1, ack_delay = \"{delay}\""));
        let sent = transmissions(&saturated("hsdpa-3.6", &["cqi = 15, errors = \"none\""], &cell));
        let shortest = sent.windows(2).map(|pair| pair[1].at - pair[0].at).min();
        assert_eq!(shortest, Some(Duration::from_millis(round_trip_ms)), "{delay}");
    }
}

/// A file with `lines` as a link trace. The name of the file is unique to the test.
fn trace_file(name: &str, lines: &str) -> String {
    let path = std::env::temp_dir().join(format!("umts-{}-{name}.txt", std::process::id()));
    std::fs::write(&path, lines).expect("the folder of temporary files is writable");
    path.display().to_string()
}

/// One required SNR for all transmissions of a block: of the blocks, the share that fails at the
/// power of the n-th transmission fails n times.
#[test]
fn blocks_of_a_trace_fail_until_a_power_reaches_their_required_snr() {
    use umts_stack::radio::phy::link_quality::block_error_probability;
    // Powers in dB of CQI 15 in each TTI.
    let powers = [-2.0, -1.82, -1.68];
    let shares = powers.map(|power| block_error_probability(15, power));
    assert!(shares[0] < 0.9 && shares[2] > 0.02, "{shares:?}");
    let file = trace_file("required", &format!("{} {} {} 15\n", powers[0], powers[1], powers[2]));
    let radio = format!("errors = \"required_snr\", trace = \"{file}\", trace_repeats = true");
    let metrics = metrics(&saturated("hsdpa-3.6", &[&radio], ""));
    std::fs::remove_file(&file).expect("it was written");
    let blocks = value(&metrics, "hs_transmissions") / value(&metrics, "hs_transmissions_per_block");
    let assert_share = |name: &str, expected: f64| {
        let three_errors = 3.0 * (expected * (1.0 - expected) / blocks).sqrt();
        let share = value(&metrics, name) / 100.0;
        assert!((share - expected).abs() < three_errors, "{name}: {share}, not {expected}");
    };
    assert_share("hs_first_bler_pct", shares[0]);
    assert_share("hs_residual_bler_pct", shares[2]);
    let transmissions = value(&metrics, "hs_transmissions_per_block");
    assert_near("transmissions", transmissions, 1.0 + shares[0] + shares[1], 0.02);
    assert_eq!(value(&metrics, "hs_mean_cqi"), 15.0);
}

/// The CQI of a trace is used without delay: with CQIs that alternate, the format does too.
#[test]
fn cqi_of_a_trace_is_used_in_its_tti() {
    let file = trace_file("alternate", "30 30 30 10\n30 30 30 22\n");
    let radio = format!("errors = \"none\", trace = \"{file}\", trace_repeats = true");
    let metrics = metrics(&saturated("hsdpa-3.6", &[&radio], ""));
    std::fs::remove_file(&file).expect("it was written");
    // 3 and 21 PDUs of 328 bits.
    assert_near("payload", payload_kbps(&metrics), (3.0 + 21.0) / 2.0 * KBPS_PER_PDU, 0.005);
}

/// FCDS gives users of unequal mean SNR the same share of the TTIs, each in its good ones.
#[test]
fn fcds_serves_far_users_as_often_as_near_ones() {
    let radios = [fading(0.0), fading(5.0)];
    let scenario = |scheduler: &str| {
        let cell = hs_cell(&format!("scheduler = \"{scheduler}\", queue_time = \"200 ms\""));
        saturated("hsdpa-3.6", &[&radios[0], &radios[1]], &cell)
    };
    let sent = transmissions(&scenario("fcds"));
    let share = sent.iter().filter(|sent| sent.ue == UeId(0)).count() as f64 / sent.len() as f64;
    // The distribution of the SNR in dB has the same shape for both, except below CQI 1.
    assert!((share - 0.5).abs() < 0.05, "{share}");
    let [fcds, turns] = ["fcds", "round_robin"].map(|kind| payload_kbps(&metrics(&scenario(kind))));
    assert!(fcds > 1.1 * turns, "{fcds} and {turns}");
}

/// With `credit_rule = "queue_room"` the credits and the PDUs of a user are never more than its queue
/// has room for, so that it does not overflow.
#[test]
fn credits_for_the_room_of_the_queue_do_not_overflow_it() {
    let cell = hs_cell("nodeb_queue = 250, credit_rule = \"queue_room\", allocation_interval = \"30 ms\"");
    let metrics = metrics(&saturated("hsdpa-3.6", &["cqi = 22, errors = \"none\""], &cell));
    assert_eq!(value(&metrics, "hs_pdus_discarded"), 0.0);
    // 250 PDUs are sent at most once in 60 ms, the time from an allocation to the use of its PDUs and
    // the next allocation.
    let pdus_per_s = value(&metrics, "iub_pdus_per_s");
    assert!((3_500.0..=8_400.0).contains(&pdus_per_s), "{pdus_per_s} PDUs/s");
}

/// Numbers of PDUs of the downlink by their fate.
#[derive(Default)]
pub(super) struct Accounts {
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// Dropped at the Node B.
    pub(super) dropped: u64,
    /// On the Iub and in the queue.
    pub(super) before_air: u64,
    /// Maximum of `before_air`.
    pub(super) max_before_air: u64,
    /// Serials of sets in the order of their delivery.
    pub(super) order: Vec<u64>,
    /// Numbers of events by cause.
    pub(super) events: BTreeMap<&'static str, u64>,
}

impl Accounts {
    /// Number of events of a cause.
    pub(super) fn count(&self, cause: &str) -> u64 {
        self.events.get(cause).copied().unwrap_or_default()
    }

    /// Moves the PDUs of a set to their next stage.
    fn move_set(&mut self, set: &BlockSet, stage: &Stage) {
        let pdus = u64::from(set.blocks);
        match stage {
            Stage::Leaves => {
                self.sent += pdus;
                self.before_air += pdus;
                self.max_before_air = self.max_before_air.max(self.before_air);
            }
            Stage::OnAir => self.before_air -= pdus,
            Stage::Dropped => {
                self.before_air -= pdus;
                self.dropped += pdus;
            }
            Stage::Arrives(lost) if lost.count() > 0 => self.lost += pdus,
            Stage::Arrives(_) => {
                self.delivered += pdus;
                self.order.push(set.serial);
            }
        }
    }
}

impl TraceSink<TraceEvent> for Accounts {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, _at: Time, event: &TraceEvent) {
        let (name, count) = match event {
            TraceEvent::HsPduDiscarded { .. } => ("discarded", 1),
            TraceEvent::HsPduFlushed { .. } => ("flushed", 1),
            TraceEvent::HsBlockDropped { pdus, .. } => ("late", u64::from(*pdus)),
            TraceEvent::HsFalseAck { .. } => ("false ACKs", 1),
            TraceEvent::HsTsnMisread { .. } => ("misread", 1),
            TraceEvent::T1Expired { .. } => ("T1", 1),
            _ => return,
        };
        *self.events.entry(name).or_default() += count;
    }

    fn show(&mut self, _at: Time, detail: &Detail<'_>) {
        if let Detail::Blocks { direction: Direction::Downlink, set, stage, .. } = detail {
            self.move_set(set, stage);
        }
    }
}

pub(super) fn accounts(scenario: &Scenario) -> Accounts {
    observed(scenario, Accounts::default())
}

/// Under any loss and any error of the feedback: each PDU that the RNC sent is queued, on the air,
/// delivered or lost for a known cause; delivered PDUs are in order and none is delivered twice;
/// credits and queue of the Node B keep their limit.
#[test]
fn every_pdu_is_delivered_once_in_order_or_lost_for_a_cause() {
    let feedback = "missed_hs_scch = 0.05, nack_to_ack = 0.1, ack_to_nack = 0.1, dtx_to_ack = 0.1";
    // Keys of the cell, of the users, and the causes that must occur.
    let cases: [(&str, &str, &[&str]); 5] = [
        ("", "attempt_errors = [0.3, 0.1, 0.0]", &[]),
        ("", "attempt_errors = [0.3, 0.3, 0.5]", &["T1"]),
        ("t1 = \"10 ms\", max_transmissions = 4", "attempt_errors = [0.3, 0.3, 0.3]", &["T1", "late"]),
        ("window = 8, t1 = \"20 ms\"", &format!("attempt_errors = [0.4], {feedback}"), &["T1", "false ACKs"]),
        (
            "process_scope = \"cell\", ack_delay = \"4 ms\", discard_timer = \"20 ms\", credit_rule = \"queue_room\"",
            &format!("attempt_errors = [0.5, 0.2], {feedback}"),
            &["false ACKs", "discarded"],
        ),
    ];
    for (cell, user, causes) in cases {
        let radio = format!("cqi = 15, errors = \"per_attempt\", {user}");
        let tables = hs_cell(&format!("nodeb_queue = 200, {cell}"));
        let pdus = accounts(&saturated("hsdpa-3.6", &[radio.as_str(); 2], &tables));
        // Of two users each: 6 or 8 blocks of 9 PDUs in HARQ, and a window of them in the reordering queue.
        let on_air = pdus.sent - pdus.before_air - pdus.delivered - pdus.lost - pdus.dropped;
        assert!(on_air <= 2 * (8 + 32) * 10, "{cell} {user}: {on_air} PDUs on the air");
        let at_node_b = pdus.max_before_air;
        assert!(at_node_b <= 2 * 200, "{cell} {user}: {at_node_b} PDUs at the Node B");
        assert!(pdus.delivered > 10_000, "{cell} {user}: {}", pdus.delivered);
        let count = |cause: &str| pdus.count(cause);
        assert_eq!(pdus.dropped, count("discarded") + count("flushed"), "{cell} {user}");
        assert_eq!(count("misread"), 0, "{cell} {user}");
        for cause in causes {
            assert!(count(cause) > 0, "{cell} {user}: {cause} of {:?}", pdus.events);
        }
        if causes.is_empty() {
            assert_eq!((pdus.lost, count("T1"), count("late")), (0, 0, 0), "{cell} {user}");
        }
    }
}

/// The order of one user: PDUs go up in the order in which RLC sent them, each at most once.
#[test]
fn pdus_of_a_user_go_up_in_order_under_any_loss() {
    let radio = "cqi = 15, errors = \"per_attempt\", attempt_errors = [0.4], missed_hs_scch = 0.05, \
                 nack_to_ack = 0.1, ack_to_nack = 0.1, dtx_to_ack = 0.1";
    for t1 in ["10 ms", "50 ms", "400 ms"] {
        let cell = hs_cell(&format!("t1 = \"{t1}\", window = 16"));
        let pdus = accounts(&saturated("hsdpa-3.6", &[radio], &cell));
        assert!(pdus.order.is_sorted_by(|before, after| before < after), "T1 of {t1}");
        assert!(pdus.lost > 0 && pdus.delivered > 10_000);
    }
}

/// More blocks lost in a row than TSNs can express: a block is taken for one with another number, and
/// that is counted.
#[test]
fn misread_tsns_are_counted() {
    let lost = "-50 -50 -50 15\n".repeat(250);
    let received = "50 50 50 15\n".repeat(250);
    let file = trace_file("misread", &(received + &lost));
    let radio = format!("errors = \"required_snr\", trace = \"{file}\", trace_repeats = true");
    // With a window of 32, 33 or more blocks that are lost in a row can be misread.
    let cell = hs_cell("max_transmissions = 1, window = 32, t1 = \"400 ms\"");
    let pdus = accounts(&saturated("hsdpa-3.6", &[&radio], &cell));
    std::fs::remove_file(&file).expect("it was written");
    assert!(pdus.count("misread") > 0, "{:?}", pdus.events);
}

/// RLC discards SDUs with PDUs at the Node B. With `flush_discarded` they leave the queue and take
/// no TTI; otherwise they are sent.
#[test]
fn discarded_pdus_are_flushed_or_sent() {
    let rlc = "rlc = { mode = \"am\", window = 2047, sdu_discard = \"timer\", timer_discard = \"100 ms\" }";
    let flushed = |keys: &str| {
        let cell = hs_cell(&format!("queue_time = \"1 s\", {keys}"));
        accounts(&saturated_in(rlc, "hsdpa-3.6", &["cqi = 10, errors = \"none\""], &cell)).count("flushed")
    };
    assert_eq!(flushed(""), 0);
    assert!(flushed("flush_discarded = true") > 1_000);
}

/// In `hsdpa.toml` Timer_Status_Prohibit (60 ms) is shorter than the round trip of a retransmission: RLC
/// repeats PDUs that are still on their way. Without errors there is nothing to repeat.
#[test]
fn needless_retransmissions_are_counted() {
    let needless = |scenario: &str, changes: &[(&str, &str)]| {
        value(&crate::common::metrics(scenario, changes), "hs_needless_retransmissions")
    };
    // Reports follow each other while a retransmission waits at the Node B.
    assert!(needless("hsdpa", &[("rlc.timer_status_prohibit", "off")]) > 1000.0);
    assert_eq!(needless("hsdpa-eurane-cqi14", &[]), 0.0);
}
