//! Users of an E-DCH in the cells of a layout, from the scenario file to the trace and the metrics.

use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_stack::trace::TraceEvent;

use crate::common::{output, parse, value};
use crate::dch_bearers::{LOSSLESS, ONE_CELL, assert_same_events, events};

/// A download and an upload over HSPA. `layout` and `cell`: further tables; `user`: keys of the E-DCH of both users;
/// `head`: keys before the tables; `bearer`: of both users.
fn two_users([layout, cell, user, head]: [&str; 4], bearer: &str) -> Scenario {
    let ue = |name: &str| {
        format!(
            "[[ue]]\nname = \"{name}\"\nbearer = \"{bearer}\"\n\
             hs_dsch = {{ fading = \"rayleigh\", snr = \"7 dB\" }}\ne_dch = {{ {user} }}\n"
        )
    };
    parse(&format!(
        "version = 1\nduration = \"20 s\"\n{head}{layout}[radio]\nmodel = \"error_free\"\n\
         [[cell]]\nname = \"sector\"\n{cell}{}{}\
         [[flow]]\nue = \"down\"\ntraffic = \"file\"\nsize = \"1 MB\"\n\
         [[flow]]\nue = \"up\"\ntraffic = \"file\"\nsize = \"1 MB\"\ndirection = \"uplink\"\n",
        ue("down"),
        ue("up")
    ))
}

/// With a given path loss, also one that limits the blocks. RRC may switch the users.
#[test]
fn given_path_loss_gives_the_bits_of_a_run_without_a_layout() {
    let common = "fach = {}\nrach = {}\nsccpch = { power = \"50 dBm\" }\n";
    for (bearer, user) in [("hspa-14.4", "path_loss = \"126 dB\""), ("hspa-3.6", "path_loss = \"110 dB\"")] {
        for is_switched in [false, true] {
            let rrc = format!("[rrc]\ndch = [\"{bearer}\"]\ninactivity = \"2 s\"\n");
            let (rrc, common, bearer) =
                if is_switched { (&*rrc, common, "switched") } else { ("", "", bearer) };
            let without = events(&two_users(["", "", user, rrc], bearer));
            let blocks = without.iter().filter(|(_, event)| matches!(event, TraceEvent::EBlockSent { .. }));
            assert!(blocks.count() > 500, "{bearer}");
            let cell = format!("{common}{LOSSLESS}");
            let within = events(&two_users([ONE_CELL, &cell, user, rrc], bearer));
            assert_same_events(&within, &without, bearer);
        }
    }
}

/// Uploads over the E-DCHs of twelve cells for 30 s. `user`: keys of the user, `rest`: further tables.
fn uploads(user: &str, rest: &str) -> MetricSet {
    let text = format!(
        "version = 1\nduration = \"30 s\"\n[rlc]\nwindow = 2047\n[tcp]\nprofile = \"linux-6\"\n\
         [layout]\nsites = [2, 2]\nsector_radius = \"500 m\"\n[propagation]\nshadowing = {{ deviation = \"0 dB\" }}\n\
         [[cell]]\nname = \"sector\"\n[radio]\nmodel = \"error_free\"\n\
         [[ue]]\nname = \"user\"\nbearer = \"hspa-14.4\"\n{user}\
         [[flow]]\nue = \"user\"\ntraffic = \"ftp\"\ndirection = \"uplink\"\n{rest}"
    );
    output(&parse(&text)).metrics.network
}

/// A user that stands at this distance in front of the antenna of the first sector, with this power.
fn standing(metres: u32, power: &str) -> String {
    let place = 375 + metres;
    format!(
        "mobility = {{ model = \"still\", place = [\"{place} m\", \"650 m\"] }}\ne_dch = {{ max_power = \"{power}\" }}\n"
    )
}

#[test]
fn users_far_from_the_antenna_need_more_power_and_may_lack_power() {
    let [near, far] = [200, 900].map(|metres| uploads(&standing(metres, "24 dBm"), ""));
    let [near_dbm, far_dbm] = [&near, &far].map(|metrics| value(metrics, "e_tx_power_dbm"));
    assert!(far_dbm > near_dbm + 10.0 && far_dbm < 24.0, "{near_dbm} and {far_dbm} dBm");
    let weak = uploads(&standing(900, "14 dBm"), "");
    let [strong_kbps, weak_kbps] = [&far, &weak].map(|metrics| value(metrics, "goodput_kbps"));
    assert!(strong_kbps > 2.0 * weak_kbps, "{strong_kbps} and {weak_kbps} kbit/s");
    let limited = value(&weak, "e_power_limited_pct");
    assert!(limited > 50.0 && value(&near, "e_power_limited_pct") == 0.0, "{limited} %");
    assert_eq!(value(&far, "e_other_cells_pct"), 0.0);
}

/// The interference of other cells is a part of the budget: a cell grants less beside loaded cells.
#[test]
fn uploads_in_other_cells_take_noise_rise() {
    let user = standing(200, "24 dBm");
    let alone = uploads(&user, "");
    let others = "[[ue]]\nname = \"other\"\ncount = 11\nbearer = \"hspa-14.4\"\n\
                  [[flow]]\nue = \"other\"\ntraffic = \"ftp\"\ndirection = \"uplink\"\n";
    let among_others = uploads(&user, others);
    let [alone_kbps, mean_kbps] =
        [value(&alone, "goodput_kbps"), value(&among_others, "goodput_kbps") / 12.0];
    assert!(alone_kbps > 1.2 * mean_kbps, "{alone_kbps} and {mean_kbps} kbit/s");
    assert!(value(&among_others, "e_other_cells_pct") > 2.0);
    let rise = value(&among_others, "e_mean_noise_rise_db");
    assert!((1.0..6.5).contains(&rise), "{rise} dB");
}

#[test]
fn each_change_of_the_serving_cell_interrupts_the_upload() {
    let driver = "mobility = { model = \"vehicular\", speed = \"120 km/h\" }\n";
    let run = |interruption: &str| {
        let handover = format!("[handover]\nhysteresis = \"3 dB\"\ninterruption = \"{interruption}\"\n");
        uploads(&format!("count = 6\n{driver}"), &handover)
    };
    let [immediate, late] = ["0 s", "5 s"].map(run);
    for metrics in [&immediate, &late] {
        assert!(value(metrics, "handovers") >= 2.0 && value(metrics, "rlc_retransmissions_uplink") > 0.0);
    }
    let [without, with] = [&immediate, &late].map(|metrics| value(metrics, "goodput_kbps"));
    assert!(without > with, "{without} and {with} kbit/s");
}
