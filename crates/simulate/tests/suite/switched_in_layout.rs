//! Users that RRC switches in the cells of a layout, from the scenario file to the trace and the metrics.

use umts_record::metrics::MetricSet;

use crate::common::{assert_near, output, parse, value};
use crate::fach_in_layout::assert_same_bits;

#[test]
fn switched_users_of_one_cell_without_losses_give_the_bits_of_a_run_without_a_layout() {
    // Two rates, with changes between them, and a second user that waits for the DCH of the first.
    let rates = "[rrc]\ndch = [\"ps-384\", \"ps-64\"]\nrate_upswitch_threshold = \"3 kB\"\n\
                 rate_downswitch_utilisation = 0.9\nrate_downswitch_window = \"1 s\"\n";
    let resting = "[rrc]\ninitial_state = \"idle\"\ninactivity = \"1 s\"\nfach_inactivity = \"1 s\"\n\
                   cell_pch_inactivity = \"2 s\"\nura_pch_inactivity = \"4 s\"\n";
    let continuing = "[rrc]\ndata_while_switching = \"continues\"\ninactivity = \"300 ms\"\n\
                      preemptive_inactivity = \"20 s\"\n";
    for (rrc, cell) in [
        ("", ""),
        (rates, "admission = { downlink = \"480 kbit/s\" }\n"),
        (resting, ""),
        (continuing, "admission = { dchs = 1, queue = 1 }\n"),
    ] {
        assert_same_bits("switched", rrc, cell);
    }
}

/// Switched users of small cells download pages for 300 s. `user`, `cell` and `rest`: further keys and
/// tables.
fn surfers(user: &str, cell: &str, rest: &str) -> MetricSet {
    let text = format!(
        "version = 1\nduration = \"300 s\"\n[layout]\nsites = [2, 2]\nsector_radius = \"200 m\"\n\
         [rrc]\ndch = [\"ps-384\", \"ps-64\"]\ninactivity = \"2 s\"\nfach_inactivity = \"4 s\"\n\
         [[cell]]\nname = \"sector\"\nfach = {{}}\nrach = {{}}\n{cell}[radio]\nmodel = \"error_free\"\n\
         [[ue]]\nname = \"surfer\"\nbearer = \"switched\"\n{user}[[flow]]\nue = \"surfer\"\ntraffic = \"web\"\n{rest}"
    );
    output(&parse(&text)).metrics.network
}

#[test]
fn users_change_cells_in_every_state() {
    let drivers = "count = 5\nmobility = { model = \"vehicular\", speed = \"20 km/h\" }\n";
    let hard = surfers(drivers, "", "[handover]\nhysteresis = \"3 dB\"\ninterruption = \"100 ms\"\n");
    assert!(value(&hard, "handovers") > 5.0 && value(&hard, "cell_reselections") > 5.0);
    let states = ["time_in_cell_dch_s", "time_in_cell_fach_s", "time_in_cell_pch_s"];
    assert!(states.iter().all(|state| value(&hard, state) > 1.0) && value(&hard, "energy_j") > 1.0);
    assert_eq!((value(&hard, "dch_refusals"), value(&hard, "cell_updates")), (0.0, 0.0));
    let soft = surfers(drivers, "", "[handover]\nhysteresis = \"3 dB\"\n[handover.soft]\n");
    assert!(value(&soft, "dch_legs") > 1.05 && soft.value("handovers").unwrap_or(0.0) == 0.0);
}

#[test]
fn requests_beyond_the_codes_or_the_power_of_a_cell_are_refused() {
    // All users are in one cell.
    let together = "count = 8\nmobility = { model = \"still\", place = [\"500 m\", \"500 m\"] }\n";
    let unlimited = surfers(together, "", "");
    assert_eq!(value(&unlimited, "dch_refusals"), 0.0);
    for limit in [
        // The tree has room for two codes of 384 kbit/s.
        "dch = { codes = \"one_tree\", common = \"1/2\" }\n",
        // 6 mW more than the pilot.
        "admission = { power = \"12 dBm\" }\n",
    ] {
        let limited = surfers(together, limit, "");
        assert!(value(&limited, "dch_refusals") > 10.0, "{}", value(&limited, "dch_refusals"));
        let [most, other] = [&limited, &unlimited].map(|metrics| value(metrics, "max_simultaneous_dch"));
        assert!(most < other, "{most} and {other}");
        // Refused users stay on the FACH, and their pages arrive there.
        assert!(value(&limited, "time_in_cell_fach_s") > value(&unlimited, "time_in_cell_fach_s"));
        assert_near("goodput", value(&limited, "goodput_kbps"), value(&unlimited, "goodput_kbps"), 0.5);
    }
}
