//! The HS-DSCH in whole networks: peak rates, HARQ, schedulers and closed forms.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use umts_kernel::TraceSink;
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_simulate::observe;
use umts_stack::ids::UeId;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::common::{output, value};

/// Octets of RLC payload in a PDU.
const PAYLOAD: f64 = 40.0;

/// `users` groups of one UE on bearer `bearer`, each with `radio` as its `[ue.hs_dsch]` and a stream
/// of datagrams that is faster than the bearer. `more`: further tables, the cell's for example.
fn saturated(bearer: &str, radios: &[&str], more: &str) -> Scenario {
    let users: String = (0..)
        .zip(radios)
        .map(|(number, radio)| {
            format!(
                "[[ue]]\nname = \"u{number}\"\nbearer = \"{bearer}\"\nhs_dsch = {{ {radio} }}\n\
                 [[flow]]\nue = \"u{number}\"\ntraffic = \"cbr\"\ncbr = {{ payload = \"1400 B\", interval = \"0.7 ms\" }}\n"
            )
        })
        .collect();
    let link = |from: &str, to: &str| {
        format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n")
    };
    let links = link("server", "ggsn") + &link("ggsn", "sgsn") + &link("sgsn", "rnc");
    let text = format!(
        "version = 1\nduration = \"32 s\"\nmeasure = {{ from = \"2 s\" }}\nrlc = {{ mode = \"um\" }}\n\
         {more}\n{links}{users}"
    );
    let parsed = Scenario::parse(&text, "test.toml", Path::new(""), &[]);
    parsed.unwrap_or_else(|e| panic!("{}", e.render(false))).scenario
}

/// Metrics of the network in the downlink.
fn metrics(scenario: &Scenario) -> MetricSet {
    output(scenario).metrics.network
}

/// RLC payload on the HS-DSCH in kbit/s.
fn payload_kbps(metrics: &MetricSet) -> f64 {
    value(metrics, "iub_pdus_per_s") * PAYLOAD * 8.0 / 1e3
}

fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value / expected - 1.0).abs();
    assert!(error <= tolerance, "{what}: {value}, not {expected} within {tolerance}");
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
        let cell =
            format!("cell = [{{ name = \"cell\", hs_dsch = {{ processes = {processes}, window = 32 }} }}]");
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

/// Independent Rayleigh fading without errors: the mean of the PDUs per TTI follows from the exact
/// distribution of the CQI. A UE with CQI 0 to 4 has no block for a PDU of 328 bits (UM).
#[test]
fn fading_users_have_the_rate_of_their_cqi_distribution() {
    // Header of MAC-hs, and a PDU in unacknowledged mode.
    const PDU_BITS: f64 = 328.0;
    const SIZES: [f64; 22] = [
        137.0, 173.0, 233.0, 317.0, 377.0, 461.0, 650.0, 792.0, 931.0, 1262.0, 1483.0, 1742.0, 2279.0,
        2583.0, 3319.0, 3565.0, 4189.0, 4664.0, 5287.0, 5887.0, 6554.0, 7168.0,
    ];
    for (snr, users) in [(0.0, 1), (5.0, 1), (0.0, 5), (10.0, 2)] {
        let mean = 10.0_f64.powf(snr / 10.0);
        // Probability that the best of all users is below the lowest SNR of a CQI.
        let below = |cqi: f64| {
            let lowest = 10.0_f64.powf((cqi - 16.62) * 1.02 / 10.0);
            (1.0 - (-lowest / mean).exp()).powi(users)
        };
        let pdus: f64 = (1..=22)
            .map(|cqi| {
                let above = if cqi == 22 { 1.0 } else { below(f64::from(cqi + 1)) };
                let share = above - below(f64::from(cqi));
                share * ((SIZES[cqi as usize - 1] - 21.0) / PDU_BITS).floor()
            })
            .sum();
        let radio =
            format!("snr = \"{snr} dB\", fading = \"per_tti\", cqi_delay = \"0 ms\", errors = \"none\"");
        // The closed form assumes that the Node B always has PDUs of every user.
        let cell =
            "cell = [{ name = \"cell\", hs_dsch = { scheduler = \"max_ci\", queue_time = \"500 ms\" } }]";
        let metrics = metrics(&saturated("hsdpa-3.6", &vec![radio.as_str(); users as usize], cell));
        assert_near(&format!("{users} users at {snr} dB"), payload_kbps(&metrics), pdus * 160.0, 0.02);
    }
}

/// TTIs of each UE on the HS-DSCH.
#[derive(Default)]
struct Shares(BTreeMap<UeId, u32>);

impl TraceSink<TraceEvent> for Shares {
    fn record(&mut self, _at: Time, event: &TraceEvent) {
        if let TraceEvent::HsBlockSent { ue, .. } = event {
            *self.0.entry(*ue).or_default() += 1;
        }
    }
}

/// With equal users, proportional fairness serves the best one, like max C/I, and all of them
/// equally often.
#[test]
fn proportional_fairness_serves_equal_users_alike() {
    let radio = "snr = \"0 dB\", fading = \"per_tti\", cqi_delay = \"0 ms\", errors = \"none\"";
    let scenario = |scheduler: &str| {
        let cell = format!("cell = [{{ name = \"cell\", hs_dsch = {{ scheduler = \"{scheduler}\" }} }}]");
        saturated("hsdpa-3.6", &[radio; 2], &cell)
    };
    let [fair, best] = ["proportional_fair", "max_ci"].map(|kind| payload_kbps(&metrics(&scenario(kind))));
    assert_near("rate", fair, best, 0.01);
    let continues = |_: f64, _: &mut Shares| ControlFlow::Continue(());
    let fair = scenario("proportional_fair");
    let (_, Shares(ttis)) =
        observe(&fair, fair.seed, 0, Shares::default(), continues).expect("nothing stops it");
    let total: u32 = ttis.values().sum();
    for (ue, ttis) in ttis {
        assert_near(&format!("{ue:?}"), f64::from(ttis) / f64::from(total), 0.5, 0.02);
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
    let cell =
        "cell = [{ name = \"cell\", hs_dsch = { nodeb_queue = 60, allocation_interval = \"10 ms\" } }]";
    let metrics = metrics(&saturated("hsdpa-3.6", &["snr = \"0 dB\", fading = \"rayleigh\""], cell));
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
    let scenario = Scenario::parse(text, "test.toml", Path::new(""), &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{}", e.render(false))).scenario;
    let metrics = metrics(&scenario);
    assert!(value(&metrics, "goodput_kbps") > 1_000.0);
    assert_eq!(value(&metrics, "sdu_error_pct"), 0.0);
}
