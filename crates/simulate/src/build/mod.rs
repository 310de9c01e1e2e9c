//! From the words of a scenario to those of the stack: a file for each part of it.

mod core_network;
mod radio;
mod rlc;
mod rrc;
mod tcp;
mod traffic;

use umts_record::budget::BudgetConfig;
use umts_record::metrics::MetricsConfig;
use umts_record::series::SeriesConfig;
use umts_scenario::Scenario;
use umts_scenario::model as scenario;
use umts_stack::ids::{ConnectionId, Direction, UeId};
use umts_stack::network::{FlowConfig, NetworkConfig};
use umts_stack::tcp::TcpConfig;
use umts_stack::trace::Channel;
use umts_units::{BitRate, Time};

use core_network::{impairment, link};
use radio::{cell, channel_of, ue};
pub use tcp::tcp_config;
use tcp::version;
use traffic::traffic;

const CHECKED: &str = "the scenario was checked when it was loaded";

/// The network that a checked scenario describes, its groups of UEs spelled out one by one.
pub fn network_config(scenario: &Scenario) -> NetworkConfig {
    let mut ues = Vec::new();
    let mut flows = Vec::new();
    for group in &scenario.ue {
        let first = ues.len() as u16;
        ues.extend((0..group.count).map(|_| ue(scenario, group)));
        let numbered = scenario.flow.iter().enumerate();
        for (number, flow) in numbered.filter(|(_, flow)| flow.ue == group.name) {
            flows.extend((0..group.count).map(|n| flow_of(number as u16, flow, UeId(first + n))));
        }
    }
    NetworkConfig {
        core: scenario.link.iter().map(link).collect(),
        cells: scenario.cell.iter().map(|of| cell(scenario, of)).collect(),
        ues,
        flows,
        impairments: scenario.impairment.iter().map(|line| impairment(scenario, line)).collect(),
    }
}

/// What the metrics of a run need to know of its scenario.
pub fn metrics_config(scenario: &Scenario) -> MetricsConfig {
    let end = Time::ZERO + scenario.duration;
    let (mut rates, mut powers, mut continues) = (Vec::new(), Vec::new(), Vec::new());
    let mut dedicated = 0;
    for group in &scenario.ue {
        if group.has_substitute() {
            let rate = group.flat.as_ref().map(|flat| flat.downlink);
            dedicated += rate.map_or(0, BitRate::bps) * u64::from(group.count);
            rates.extend(std::iter::repeat_n(rate, usize::from(group.count)));
            powers.extend(std::iter::repeat_n(None, usize::from(group.count)));
            continues.extend(std::iter::repeat_n(false, usize::from(group.count)));
            continue;
        }
        let (rate, _, channel) = channel_of(scenario, group, Direction::Downlink);
        let largest = scenario.rrc_of(group).and_then(|rrc| scenario.dedicated_bearer(&rrc.dch[0]));
        let rate = largest.map_or(rate, |dch| dch.downlink.rate);
        let power = scenario.rrc_of(group).map(|of| rrc::state_power(&of.power));
        powers.extend(std::iter::repeat_n(power, usize::from(group.count)));
        let goes_on = scenario.rrc_of(group).is_some_and(rrc::data_continues);
        continues.extend(std::iter::repeat_n(goes_on, usize::from(group.count)));
        rates.extend(std::iter::repeat_n(Some(rate), usize::from(group.count)));
        if channel == Channel::Dch {
            dedicated += rate.bps() * u64::from(group.count);
        }
    }
    let has_common_user = |cell: &&scenario::Cell| {
        let here = |group: &&scenario::Ue| group.cell == cell.name;
        let common =
            |group: &scenario::Ue| channel_of(scenario, group, Direction::Downlink).2 == Channel::Fach;
        scenario.ue.iter().filter(|group| !group.has_substitute()).filter(here).any(common)
    };
    let used = scenario.cell.iter().filter(has_common_user);
    let common: u64 = used.filter_map(|cell| cell.fach.as_ref()).map(|fach| fach.rate.bps()).sum();
    let switched: u64 = scenario.cell.iter().map(|cell| rrc::dch_capacity(scenario, cell)).sum();
    MetricsConfig {
        from: Time::ZERO + scenario.measure.from,
        to: scenario.measure.to.map_or(end, |to| (Time::ZERO + to).min(end)),
        ue_downlink_rate: rates,
        // What a measured radio could have carried is no one number.
        downlink_capacity: BitRate::from_bps(dedicated + common + switched)
            .filter(|_| scenario.ue.iter().all(|group| group.capacity.is_none())),
        ue_power: powers,
        ue_data_continues: continues,
    }
}

/// What is asked of the time budget, if it is asked for. Without `keeps_intervals` there are sums only.
pub fn budget_config(scenario: &Scenario, keeps_intervals: bool) -> Option<BudgetConfig> {
    let MetricsConfig { from, to, .. } = metrics_config(scenario);
    let waterfall = scenario.measure.waterfall.filter(|_| keeps_intervals).map(ConnectionId);
    let sees_senders = true;
    scenario.measure.budget.then_some(BudgetConfig { from, to, keeps_intervals, waterfall, sees_senders })
}

/// What the time series of a run hold.
pub fn series_config(scenario: &Scenario) -> SeriesConfig {
    SeriesConfig { rlc_pdus: scenario.measure.rlc_pdus, ..SeriesConfig::default() }
}

/// The `number`-th flow of the scenario for one UE.
fn flow_of(number: u16, flow: &scenario::Flow, ue: UeId) -> FlowConfig {
    let direction = match flow.direction {
        scenario::FlowDirection::Downlink => Direction::Downlink,
        scenario::FlowDirection::Uplink => Direction::Uplink,
    };
    FlowConfig {
        ue,
        direction,
        traffic: traffic(&flow.traffic, u32::try_from(flow.tcp.segment_payload.0).expect(CHECKED)),
        window_in_segments: matches!(flow.tcp.advertised_window, scenario::Window::Segments(_)),
        start: Time::ZERO + flow.start,
        tcp: TcpConfig { version: version(flow.tcp.variant, number), ..tcp_config(&flow.tcp) },
    }
}
