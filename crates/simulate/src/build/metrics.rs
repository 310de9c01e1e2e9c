//! Converts a scenario into the configurations of the recorders.

use std::collections::BTreeMap;

use umts_record::budget::{BudgetConfig, ConnectionOrigin};
use umts_record::metrics::{CellSupply, MetricsConfig, StatePower};
use umts_record::series::SeriesConfig;
use umts_scenario::{Scenario, model};
use umts_stack::ids::ConnectionId;
use umts_stack::trace::Channel;
use umts_units::{BitRate, MilliWatts, Time};

/// Configuration of the metrics of a run.
pub fn metrics_config(scenario: &Scenario) -> MetricsConfig {
    let end = Time::ZERO + scenario.duration;
    // Values by UE.
    let (mut rates, mut powers, mut continues) = (Vec::new(), Vec::new(), Vec::new());
    for (ue, group) in scenario.ue.iter().zip(&scenario.plan().groups) {
        let users = usize::from(ue.count);
        let rrc = scenario.rrc_of(ue);
        // The first DCH of switched users is the largest one.
        let [largest_downlink, _] = group.dchs.first().unwrap_or(&group.channels);
        let flat_rate = ue.flat.as_ref().map(|flat| flat.downlink);
        let rate = if ue.has_emulated_link() { flat_rate } else { Some(largest_downlink.rate) };
        rates.extend(std::iter::repeat_n(rate, users));
        powers.extend(std::iter::repeat_n(rrc.map(|rrc| state_power(&rrc.power)), users));
        continues.extend(std::iter::repeat_n(rrc.is_some_and(model::Rrc::data_continues), users));
    }
    let cells = (0..scenario.cell.len()).map(|cell| cell_capacity(scenario, cell));
    MetricsConfig {
        from: Time::ZERO + scenario.measure.from,
        to: scenario.measure.to.map_or(end, |to| (Time::ZERO + to).min(end)),
        stall: scenario.measure.stall,
        ue_downlink_rate: rates,
        // The capacity of a measured radio is not a single number.
        downlink_capacity: BitRate::from_bps(cells.sum())
            .filter(|_| scenario.ue.iter().all(|group| group.capacity.is_none())),
        ue_power: powers,
        ue_data_continues: continues,
        has_proxy: scenario.proxy.is_some(),
        layout: has_layout(scenario).then(|| cell_supply(scenario)),
        has_queue_management: has_queue_management(scenario),
    }
}

/// Whether a queue of a link, or the RLC buffer of a user, has queue management.
fn has_queue_management(scenario: &Scenario) -> bool {
    let is_managed = |link: &model::Link| link.red.is_some() || link.codel.is_some() || link.pie.is_some();
    let rlc_is_managed = |ue: &model::Ue| {
        let rlc = scenario.rlc_of(ue);
        rlc.codel.is_some() || rlc.pie.is_some() || rlc.red.is_some()
    };
    scenario.link.iter().any(is_managed) || scenario.ue.iter().any(rlc_is_managed)
}

/// Whether the scenario has a layout. The cells of a layout share the carrier.
fn has_layout(scenario: &Scenario) -> bool {
    scenario.layout.is_some()
}

/// Supply power of each cell of a layout. One `[[cell]]` describes all of them.
fn cell_supply(scenario: &Scenario) -> CellSupply {
    let power = scenario.cell.first().and_then(|cell| cell.power.as_ref());
    let supply = power.map(|power| power.supply).unwrap_or_default();
    CellSupply { fixed: supply.fixed.value(), slope: supply.slope }
}

/// Power of a device in watts.
fn state_power(power: &model::StatePower) -> StatePower {
    let watts = |power: MilliWatts| power.value() / 1e3;
    StatePower {
        idle: watts(power.idle),
        ura_pch: watts(power.ura_pch),
        cell_pch: watts(power.cell_pch),
        cell_fach: watts(power.cell_fach),
        cell_dch: watts(power.cell_dch),
        promotion_from_idle: watts(power.promotion_from_idle),
        promotion_from_fach: watts(power.promotion_from_fach),
    }
}

/// Capacity of the downlinks of a cell in bit/s: flat radios, permanent DCHs, shared channels that
/// have users, and the largest DCHs of switched users, limited by admission.
fn cell_capacity(scenario: &Scenario, cell: usize) -> u64 {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups).filter(|(_, group)| group.cell == cell);
    let (mut fixed, mut switched) = (0, 0);
    let mut shared = BTreeMap::new();
    for (ue, group) in groups {
        let users = u64::from(ue.count);
        let [downlink, _] = group.channels;
        match (&ue.flat, downlink.kind) {
            (Some(flat), _) => fixed += flat.downlink.bps() * users,
            (None, _) if ue.has_emulated_link() => {}
            (None, Channel::Dch) => fixed += downlink.rate.bps() * users,
            (None, _) => {
                shared.insert((downlink.kind, downlink.number), downlink.rate.bps());
            }
        }
        match group.dchs.first() {
            None => {}
            Some([largest, _]) if largest.kind == Channel::HsDsch => {
                shared.insert((largest.kind, largest.number), largest.rate.bps());
            }
            Some([largest, _]) => switched += largest.rate.bps() * users,
        }
    }
    // Admission limits the rates of DCHs, and the common channels have reserved a part of the limit.
    let [reserved, _] = scenario.plan().reserved[cell].rates;
    let limit = scenario.cell[cell].admission.downlink;
    let room = limit.map_or(u64::MAX, |limit| limit.bps() - reserved);
    fixed + shared.values().sum::<u64>() + switched.min(room)
}

/// Configuration of the time budget for the window of `metrics`, or `None` if the scenario does not
/// enable it. Without `keeps_intervals` only sums are recorded.
pub fn budget_config(
    scenario: &Scenario,
    metrics: &MetricsConfig,
    keeps_intervals: bool,
) -> Option<BudgetConfig> {
    let MetricsConfig { from, to, .. } = *metrics;
    let waterfall = scenario.measure.waterfall.filter(|_| keeps_intervals).map(ConnectionId);
    let timeline = scenario.measure.timeline && keeps_intervals;
    let origin = ConnectionOrigin::Simulated;
    let config = BudgetConfig { from, to, keeps_intervals, waterfall, timeline, origin };
    scenario.measure.budget.then_some(config)
}

/// Configuration of the time series of a run.
pub fn series_config(scenario: &Scenario) -> SeriesConfig {
    let model::Measure { rlc_pdus, slots, dsch, .. } = scenario.measure;
    let is_layout = has_layout(scenario);
    SeriesConfig {
        rlc_pdus,
        slots,
        dsch,
        cells: is_layout,
        handovers: is_layout,
        calls: is_layout && records_calls(scenario),
        ..SeriesConfig::default()
    }
}

/// Whether calls can be refused, have several cells or have gaps.
fn records_calls(scenario: &Scenario) -> bool {
    let is_limited =
        |cell: &model::Cell| cell.dch.as_ref().is_some_and(|dch| dch.codes == model::DchCodes::OneTree);
    let handover = scenario.handover.as_ref();
    let is_soft =
        handover.is_some_and(|handover| handover.soft.is_some() || handover.compressed_mode.is_some());
    is_soft || scenario.cell.iter().any(is_limited)
}
