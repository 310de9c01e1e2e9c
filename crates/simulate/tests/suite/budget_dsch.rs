//! The time budget in the cells of a layout: refusals and handovers have their own causes.

use umts_record::budget::Cause;
use umts_record::series::{SeriesTables, Values};
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, RunOutput, run};

use crate::common::{parse, value};

/// Twelve sites with downloads over their DSCHs. Blocks arrive at the end of their TTI, and no TCP
/// timer expires.
fn cells(cell: &str, users: &str, more: &str) -> Scenario {
    let text = format!(
        "version = 1\nname = \"cells\"\nduration = \"60 s\"\n\
         [measure]\nbudget = true\ndsch = true\n\
         [radio]\nmodel = \"error_free\"\n[rlc]\nbuffer = \"unlimited\"\n\
         [tcp]\nrto_initial = \"60 s\"\nrto_min = \"60 s\"\n\
         [layout]\nsites = [3, 4]\n[propagation]\n\
         [[cell]]\nname = \"sector\"\n{cell}\n\
         iub = {{ rate = \"unlimited\", delay = \"0 s\" }}\n\
         [[ue]]\nname = \"user\"\ncell = \"best\"\nbearer = \"dsch\"\n{users}\n\
         [[flow]]\nue = \"user\"\nstart = \"0 s\"\n{more}\n"
    );
    parse(&text)
}

fn recorded(scenario: &Scenario) -> (RunOutput, SeriesTables) {
    let options = RunOptions { seed: scenario.seed, series: true, ..RunOptions::default() };
    let mut output = run(scenario, options).expect("no callback stops the run");
    let series = output.series.take().expect("the series are enabled");
    (output, series)
}

fn words(series: &SeriesTables, table: &str, name: &str) -> Vec<&'static str> {
    match series.table(table).expect("it is recorded").column(name) {
        Some(Values::Word(words)) => words.clone(),
        other => panic!("{other:?}"),
    }
}

fn users(series: &SeriesTables, table: &str) -> Vec<u32> {
    match series.table(table).expect("it is recorded").column("ue") {
        Some(Values::Id(numbers)) => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

fn floats(series: &SeriesTables, table: &str, name: &str) -> Vec<f64> {
    match series.table(table).expect("it is recorded").column(name) {
        Some(Values::Float(values)) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// Seconds of a cause in these metrics.
fn seconds(metrics: &umts_record::metrics::MetricSet, cause: Cause) -> f64 {
    value(metrics, &format!("budget_{}_s", cause.name()))
}

fn is_near(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() < 1e-6
}

/// Checks that the parts add up to the total, with no time unexplained.
fn check_sum(output: &RunOutput) {
    for row in &output.metrics.connections {
        let parts: f64 = Cause::ALL.iter().map(|cause| seconds(&row.metrics(), *cause)).sum();
        assert!(is_near(parts, value(&row.metrics(), "budget_total_s")), "{parts}");
        assert_eq!(seconds(&row.metrics(), Cause::Unexplained), 0.0);
    }
}

/// Three users at one place: with only one code, or little power, most of them wait. The reason is
/// recorded in each TTI.
#[test]
fn postponed_ttis_are_waiting_time() {
    let at_one_place = "count = 3\nmobility = { model = \"still\", place = [\"1 km\", \"1 km\"] }";
    let round_robin = "requirement = \"full_backlog\", priority = \"round_robin\"";
    let one_code = format!("dsch = {{ codes = \"1/8\", {round_robin} }}");
    let little_power = format!("power = {{ max = \"14 dBm\" }}\ndsch = {{ codes = \"1/1\", {round_robin} }}");
    for (cell, fate, cause) in
        [(one_code, "codes", Cause::PostponedCodes), (little_power, "power", Cause::PostponedPower)]
    {
        let (output, series) = recorded(&cells(&cell, at_one_place, ""));
        check_sum(&output);
        let requests: Vec<_> =
            users(&series, "dsch").into_iter().zip(words(&series, "dsch", "fate")).collect();
        for row in &output.metrics.connections {
            let is_of_row = |(ue, recorded): &&(u32, &str)| *ue == u32::from(row.ue.0) && *recorded == fate;
            let refused = requests.iter().filter(is_of_row).count();
            assert!(refused > 300, "{fate}: {refused}");
            // Each refused request costs the UE a TTI.
            let tti_s = 0.02;
            let (expected, spent) = (tti_s * refused as f64, seconds(&row.metrics(), cause));
            assert!(is_near(spent, expected), "{fate}: {spent} of {expected}");
            assert_eq!(seconds(&row.metrics(), Cause::RadioQueue), 0.0, "{fate}");
        }
    }
}

/// A user in a car moves between cells. Each handover costs exactly its interruption.
#[test]
fn a_handover_during_a_download_costs_its_interruption() {
    let car = "mobility = { model = \"vehicular\", speed = \"120 km/h\" }";
    for interruption_ms in [0, 50, 100] {
        let handover = format!("[handover]\ninterruption = \"{interruption_ms} ms\"");
        let (output, series) = recorded(&cells("dsch = { requirement = \"full_backlog\" }", car, &handover));
        check_sum(&output);
        let handovers = floats(&series, "handovers", "time_s");
        assert!(handovers.len() >= 10, "{}", handovers.len());
        let expected = f64::from(interruption_ms) / 1000.0 * handovers.len() as f64;
        let spent = seconds(&output.metrics.network, Cause::Handover);
        // It is less if a handover in slow start finds RLC's buffer empty. The loop below checks
        // the handovers after 5 s one by one.
        assert!(spent <= expected + 1e-9, "{spent} of {expected}");
        let [starts, ends] = ["start_s", "end_s"].map(|name| floats(&series, "budget_intervals", name));
        let causes = words(&series, "budget_intervals", "cause");
        let waits: Vec<_> = (0..causes.len()).filter(|&row| causes[row] == "handover").collect();
        for from in handovers.into_iter().filter(|at| *at > 5.0) {
            let until = from + f64::from(interruption_ms) / 1000.0;
            let covered = |&row: &usize| (ends[row].min(until) - starts[row].max(from)).max(0.0);
            let actual: f64 = waits.iter().map(covered).sum();
            assert!(is_near(actual, until - from), "{actual} at {from}");
        }
    }
}
