//! Users of an HS-DSCH in the cells of a layout, from the scenario file to the trace and the metrics.

use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;

use crate::common::{output, parse, value};
use crate::dch_bearers::{LOSSLESS, ONE_CELL, assert_same_events, events};

/// A download and an upload over HS-DSCHs with Rayleigh fading. `layout` and `cell`: further tables; `user`: keys of
/// the HS-DSCH of both users.
fn two_users(layout: &str, cell: &str, user: &str) -> Scenario {
    let ue = |name: &str| {
        format!(
            "[[ue]]\nname = \"{name}\"\nbearer = \"hsdpa-3.6\"\n\
             hs_dsch = {{ fading = \"rayleigh\", speed = \"10 km/h\", {user} }}\n"
        )
    };
    parse(&format!(
        "version = 1\nduration = \"30 s\"\n{layout}[radio]\nmodel = \"error_free\"\n[[cell]]\nname = \"sector\"\n{cell}{}{}\
         [[flow]]\nue = \"down\"\ntraffic = \"file\"\nsize = \"3 MB\"\n\
         [[flow]]\nue = \"up\"\ntraffic = \"file\"\nsize = \"300 kB\"\ndirection = \"uplink\"\n",
        ue("down"),
        ue("up")
    ))
}

#[test]
fn given_snr_gives_the_bits_of_a_run_without_a_layout() {
    let without = events(&two_users("", "", "snr = \"7 dB\""));
    assert!(without.len() > 50_000, "{} events", without.len());
    for control in ["frame", "ideal", "steps"] {
        let cell = format!("{LOSSLESS}control = \"{control}\"\n");
        let within = events(&two_users(ONE_CELL, &cell, "snr = \"7 dB\""));
        assert_same_events(&within, &without, control);
    }
}

/// Without other cells and with much power, the SNR depends on the orthogonality alone: 16 codes times the share of
/// the HS-DSCH in the power of the cell, less the pilot of 10 mW, divided by 1 - 0.6.
#[test]
fn single_cell_without_noise_gives_the_bits_of_a_run_with_its_snr() {
    let snr_db = 10.0 * (16.0 * (1.0 - 10.0 / 1e6) / 0.4_f64).log10();
    let without = events(&two_users("", "", &format!("snr = \"{snr_db} dB\"")));
    let cell = format!("{LOSSLESS}noise = \"-140 dBm\"\n");
    let within = events(&two_users(ONE_CELL, &cell, ""));
    assert_same_events(&within, &without, &format!("{snr_db} dB"));
}

/// Downloads over an HS-DSCH of twelve cells for 60 s. `user`: keys of the user, `cell`: keys of the cells, `rest`:
/// further tables.
fn downloads(user: &str, cell: &str, rest: &str) -> MetricSet {
    let text = format!(
        "version = 1\nduration = \"60 s\"\n[rlc]\nwindow = 2047\n[tcp]\nprofile = \"linux-6\"\n[layout]\nsites = [2, 2]\n\
         [[cell]]\nname = \"sector\"\n{cell}[radio]\nmodel = \"error_free\"\n\
         [[ue]]\nname = \"user\"\nbearer = \"hsdpa-7.2\"\n{user}[[flow]]\nue = \"user\"\ntraffic = \"ftp\"\n{rest}"
    );
    output(&parse(&text)).metrics.network
}

/// Downloads of a user that stands at this distance in front of the antenna of the first sector.
fn standing(metres: u32, cell: &str) -> MetricSet {
    let user = format!("mobility = {{ model = \"still\", place = [\"{} m\", \"650 m\"] }}\n", 375 + metres);
    downloads(&user, cell, "[propagation]\nshadowing = { deviation = \"0 dB\" }\n")
}

#[test]
fn users_near_the_antenna_have_more_snr_and_goodput() {
    // The pilots have half of the power of all cells. They interfere with the user at 900 m.
    let [near, far] = [100, 900].map(|metres| standing(metres, "power = { pilot = \"40 dBm\" }\n"));
    let [near_snr, far_snr] = [&near, &far].map(|metrics| value(metrics, "hs_snr_db"));
    assert!(near_snr > far_snr + 3.0, "{near_snr} and {far_snr} dB");
    let [near, far] = [&near, &far].map(|metrics| value(metrics, "goodput_kbps"));
    assert!(near > far && far > 200.0, "{near} and {far} kbit/s");
}

#[test]
fn power_of_the_hs_dsch_is_limited_and_counts() {
    let with = |hs_dsch: &str| {
        standing(300, &format!("power = {{ pilot = \"33 dBm\" }}\nhs_dsch = {{ {hs_dsch} }}\n"))
    };
    let (all, little) = (with(""), with("power = \"24 dBm\""));
    let [all_snr, little_snr] = [&all, &little].map(|metrics| value(metrics, "hs_snr_db"));
    assert!(all_snr > little_snr + 3.0, "{all_snr} and {little_snr} dB");
    let [all_pct, little_pct] = [&all, &little].map(|metrics| value(metrics, "hs_power_pct"));
    assert!(all_pct > 3.0 * little_pct && little_pct > 0.1, "{all_pct} and {little_pct} %");
    let [all_j, little_j] = [&all, &little].map(|metrics| value(metrics, "cell_energy_j"));
    assert!(all_j > little_j, "{all_j} and {little_j} J");
    // Half of the power for each of two blocks in a TTI.
    let halves = value(&with("users_per_tti = 2, power = \"24 dBm\""), "hs_snr_db");
    assert!((little_snr - 10.0 * 2.0_f64.log10() - halves).abs() < 1e-3, "{little_snr} and {halves} dB");
}

#[test]
fn change_of_the_serving_cell_loses_what_the_node_b_holds() {
    let user = "mobility = { model = \"vehicular\", speed = \"50 km/h\" }\n\
                hs_dsch = { fading = \"rayleigh\", speed = \"50 km/h\" }\n";
    let run = |interruption: &str| {
        downloads(
            user,
            "",
            &format!("[handover]\nhysteresis = \"3 dB\"\ninterruption = \"{interruption}\"\n"),
        )
    };
    let [immediate, late] = ["0 s", "1 s"].map(run);
    for metrics in [&immediate, &late] {
        assert!(value(metrics, "handovers") >= 2.0);
        let [flushed, all] = ["hs_handover_flushed", "hs_pdus_flushed"].map(|name| value(metrics, name));
        assert!(flushed > 0.0 && flushed == all, "{flushed} and {all} PDUs");
        assert!(value(metrics, "hs_handover_lost") > 0.0);
        assert!(value(metrics, "rlc_retransmissions") > 0.0);
    }
    let [without, with] = [&immediate, &late].map(|metrics| value(metrics, "goodput_kbps"));
    assert!(without > with, "{without} and {with} kbit/s");
}
