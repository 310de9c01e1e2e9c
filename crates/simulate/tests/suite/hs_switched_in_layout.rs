//! Users that RRC switches to an HS-DSCH in the cells of a layout, from the scenario file to the trace and the metrics.

use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_stack::trace::TraceEvent;

use crate::common::{output, parse, value};
use crate::dch_bearers::{LOSSLESS, ONE_CELL, assert_same_events, events};

/// A download and an upload of switched users, each with a second flow after a pause. `layout` and `cell`: further
/// tables and keys, `rrc`: keys of `[rrc]`, `user`: keys of the HS-DSCH of both users.
fn two_users(layout: &str, cell: &str, rrc: &str, user: &str) -> Scenario {
    let ue = |name: &str| {
        format!(
            "[[ue]]\nname = \"{name}\"\nbearer = \"switched\"\n\
             hs_dsch = {{ fading = \"rayleigh\", speed = \"10 km/h\", {user} }}\n"
        )
    };
    let flow = |ue: &str, start: &str, keys: &str| {
        format!("[[flow]]\nue = \"{ue}\"\nstart = \"{start}\"\ntraffic = \"file\"\n{keys}\n")
    };
    let upload = "size = \"100 kB\"\ndirection = \"uplink\"";
    parse(&format!(
        "version = 1\nduration = \"60 s\"\n{layout}[radio]\nmodel = \"error_free\"\n[rrc]\ninactivity = \"2 s\"\n{rrc}\n\
         [[cell]]\nname = \"sector\"\n{cell}{}{}{}{}{}{}",
        ue("down"),
        ue("up"),
        flow("down", "0 s", "size = \"1 MB\""),
        flow("up", "0 s", upload),
        flow("down", "30 s", "size = \"500 kB\""),
        flow("up", "32 s", upload),
    ))
}

#[test]
fn given_snr_gives_the_bits_of_a_run_without_a_layout() {
    let rates = "dch = [\"hsdpa-3.6\", \"ps-64\"]\nrate_upswitch_threshold = \"3 kB\"\n\
                 rate_downswitch_utilisation = 0.9\nrate_downswitch_window = \"1 s\"\n";
    let continuing =
        "dch = [\"hsdpa-3.6\"]\ndata_while_switching = \"continues\"\npreemptive_inactivity = \"20 s\"\n";
    for (rrc, keys) in [
        ("dch = [\"hsdpa-3.6\", \"ps-64\"]\n", "hs_dsch = { max_users = 1 }\n"),
        ("dch = [\"hsdpa-3.6\"]\nfach_inactivity = \"2 s\"\nrlc_at_switch = \"reestablished\"\n", ""),
        (rates, ""),
        (continuing, "admission = { dchs = 1, queue = 1 }\n"),
    ] {
        let without = events(&two_users("", keys, rrc, "snr = \"7 dB\""));
        let blocks = without.iter().filter(|(_, event)| matches!(event, TraceEvent::HsBlockSent { .. }));
        let blocks = blocks.count();
        assert!(blocks > 100, "{blocks} blocks on the HS-DSCH: {rrc}");
        for control in ["frame", "ideal"] {
            let common = "fach = {}\nrach = {}\nsccpch = { power = \"50 dBm\" }\n";
            let cell = format!("{common}{keys}{LOSSLESS}control = \"{control}\"\n");
            let within = events(&two_users(ONE_CELL, &cell, rrc, "snr = \"7 dB\""));
            assert_same_events(&within, &without, &format!("{control}, {rrc}"));
        }
    }
}

/// Switched users of small cells download a file each, and are observed for 120 s. `user`, `cell` and `rest`: further
/// keys and tables.
fn downloaders(user: &str, cell: &str, rest: &str) -> MetricSet {
    let text = format!(
        "version = 1\nduration = \"120 s\"\n[layout]\nsites = [2, 2]\nsector_radius = \"200 m\"\n\
         [rrc]\ndch = [\"hsdpa-3.6\", \"ps-64\"]\ninactivity = \"2 s\"\nfach_inactivity = \"4 s\"\n\
         [[cell]]\nname = \"sector\"\nfach = {{}}\nrach = {{}}\n{cell}[radio]\nmodel = \"error_free\"\n\
         [[ue]]\nname = \"downloader\"\nbearer = \"switched\"\nhs_dsch = {{ fading = \"rayleigh\" }}\n{user}\
         [[flow]]\nue = \"downloader\"\ntraffic = \"file\"\nsize = \"2 MB\"\n{rest}"
    );
    output(&parse(&text)).metrics.network
}

#[test]
fn users_change_cells_on_the_fach_and_on_the_hs_dsch() {
    let drivers = "count = 8\nmobility = { model = \"vehicular\", speed = \"50 km/h\" }\n";
    let handover = "[handover]\nhysteresis = \"3 dB\"\ninterruption = \"100 ms\"\n";
    let metrics = downloaders(drivers, "", handover);
    assert!(value(&metrics, "handovers") > 5.0 && value(&metrics, "cell_reselections") > 1.0);
    // Each handover resets MAC-hs.
    assert!(value(&metrics, "hs_handover_flushed") > 0.0 && value(&metrics, "hs_handover_lost") > 0.0);
    assert!(value(&metrics, "hs_pdus_flushed") >= value(&metrics, "hs_handover_flushed"));
    assert!(value(&metrics, "rlc_retransmissions") > 0.0);
    assert!((-5.0..30.0).contains(&value(&metrics, "hs_snr_db")));
    assert!((0.01..100.0).contains(&value(&metrics, "hs_power_pct")));
    let states = ["time_in_cell_dch_s", "time_in_cell_fach_s"];
    assert!(states.iter().all(|state| value(&metrics, state) > 1.0) && value(&metrics, "energy_j") > 1.0);
}

#[test]
fn hs_dsch_with_its_most_users_leaves_dchs_for_the_others() {
    // All users are in one cell.
    let together = "count = 6\nmobility = { model = \"still\", place = [\"500 m\", \"500 m\"] }\n";
    let dch = "dch = { codes = \"one_tree\", associated = {} }\n";
    let unlimited = downloaders(together, &format!("hs_dsch = {{ codes = 5 }}\n{dch}"), "");
    let limited = downloaders(together, &format!("hs_dsch = {{ codes = 5, max_users = 2 }}\n{dch}"), "");
    // All users are on the HS-DSCH, each with a DCH beside it, or some of them on DCHs.
    assert_eq!(unlimited.value("dch_power_pct").unwrap_or(0.0), 0.0);
    assert!(value(&limited, "dch_power_pct") > 0.0);
    for metrics in [&unlimited, &limited] {
        assert!(value(metrics, "associated_power_pct") > 0.0 && value(metrics, "hs_power_pct") > 0.0);
    }
    let [few, many] = [&unlimited, &limited].map(|metrics| value(metrics, "dch_codes_pct"));
    assert!(0.0 < few && few < many, "{few} and {many} %");
    let [fast, slow] = [&unlimited, &limited].map(|metrics| value(metrics, "goodput_kbps"));
    assert!(fast > slow, "{fast} and {slow} kbit/s");
}
