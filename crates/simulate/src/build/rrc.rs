//! Radio resource control: from the words of a scenario to those of the stack.

use std::sync::Arc;

use umts_record::metrics::StatePower;
use umts_scenario::Scenario;
use umts_scenario::model as scenario;
use umts_stack::network::SwitchingConfig;
use umts_stack::rnc::rrc::{
    DchRates, Delays, Inactivity, RateChange, RateDown, RrcConfig, RrcState, Upswitch,
};
use umts_stack::rnc::{Limits, Reserved};
use umts_stack::trace::Channel;

use super::CHECKED;
use super::radio::channel_config;

/// The most that a cell gives away.
pub(super) fn limits(admission: &scenario::Admission) -> Limits {
    Limits { rates: [admission.downlink, admission.uplink], dchs: admission.dchs, queue: admission.queue }
}

/// What is reserved in a cell for good: its FACH, and the DCHs of users that are not switched.
pub(super) fn reserved(scenario: &Scenario, cell: &scenario::Cell) -> Reserved {
    let mut reserved = Reserved { rates: [cell.fach.as_ref().map_or(0, |fach| fach.rate.bps()), 0], dchs: 0 };
    for group in scenario.ue.iter().filter(|group| group.cell == cell.name) {
        if let Some(bearer) = scenario.dedicated_bearer(&group.bearer) {
            reserved.rates[0] += bearer.downlink.rate.bps() * u64::from(group.count);
            reserved.rates[1] += bearer.uplink.rate.bps() * u64::from(group.count);
            reserved.dchs += u32::from(group.count);
        }
    }
    reserved
}

/// How a group is switched.
pub(super) fn switching(scenario: &Scenario, rlc: &scenario::Rlc, rrc: &scenario::Rrc) -> SwitchingConfig {
    let bearers: Vec<_> =
        rrc.dch.iter().map(|name| scenario.dedicated_bearer(name).expect(CHECKED)).collect();
    let rates = bearers.iter().map(|bearer| DchRates([bearer.downlink.rate, bearer.uplink.rate]));
    let channels = bearers.iter().map(|bearer| {
        [&bearer.downlink, &bearer.uplink].map(|dch| channel_config(rlc, dch.rate, dch.tti, Channel::Dch))
    });
    SwitchingConfig { rrc: Arc::new(config(rrc, rates.collect())), dchs: channels.collect() }
}

fn config(rrc: &scenario::Rrc, dchs: Vec<DchRates>) -> RrcConfig {
    RrcConfig {
        initial: state(rrc.initial_state),
        dchs,
        upswitch: Upswitch {
            threshold: [rrc.upswitch_threshold, rrc.upswitch_threshold_uplink],
            measurement_interval: rrc.measurement_interval,
            time_to_trigger: rrc.time_to_trigger,
            retry: rrc.retry,
        },
        inactivity: Inactivity {
            non_preemptive: rrc.inactivity,
            preemptive: rrc.preemptive_inactivity,
            after_dch: state(rrc.after_dch),
            counts_above: rrc.activity_threshold,
            fach: rrc.fach_inactivity.map(|timer| (timer, state(rrc.after_fach))),
            cell_pch: rrc.cell_pch_inactivity.map(|timer| (timer, state(rrc.after_cell_pch))),
            ura_pch: rrc.ura_pch_inactivity.map(|timer| (timer, RrcState::Idle)),
        },
        delays: Delays {
            fach_to_dch: rrc.fach_to_dch,
            dch_to_fach: rrc.dch_to_fach,
            dch_to_dch: rrc.dch_to_dch,
            pch_to_fach: rrc.pch_to_fach,
            pch_to_dch: rrc.pch_to_dch,
            idle_to_fach: rrc.idle_to_fach,
            idle_to_dch: rrc.idle_to_dch,
            fach_to_pch: rrc.fach_to_pch,
        },
        paging_cycle: rrc.paging_cycle,
        promotes_to_dch: rrc.promotion == scenario::Promotion::CellDch,
        data_continues: data_continues(rrc),
        reestablishes: rrc.rlc_at_switch == scenario::RlcAtSwitch::Reestablished,
        rate_change: RateChange {
            up_above: rrc.rate_upswitch_threshold,
            down: rrc.rate_downswitch_utilisation.map(|utilisation| RateDown {
                window: rrc.rate_downswitch_window,
                utilisation: utilisation.value(),
            }),
        },
    }
}

/// Data goes on during a switch between CELL_FACH and CELL_DCH.
pub(super) fn data_continues(rrc: &scenario::Rrc) -> bool {
    rrc.data_while_switching == scenario::DataWhileSwitching::Continues
}

fn state(state: scenario::RestingState) -> RrcState {
    match state {
        scenario::RestingState::Idle => RrcState::Idle,
        scenario::RestingState::UraPch => RrcState::UraPch,
        scenario::RestingState::CellPch => RrcState::CellPch,
        scenario::RestingState::CellFach => RrcState::CellFach,
    }
}

/// What a device draws, in watts.
pub(super) fn state_power(power: &scenario::StatePower) -> StatePower {
    let watts = |power: umts_units::MilliWatts| power.value() / 1e3;
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

/// The most that the DCHs of a cell's switched users can add up to, in bit/s.
pub(super) fn dch_capacity(scenario: &Scenario, cell: &scenario::Cell) -> u64 {
    let here = scenario.ue.iter().filter(|group| group.cell == cell.name);
    let largest = here.filter_map(|group| {
        let rrc = scenario.rrc_of(group)?;
        let dch = scenario.dedicated_bearer(&rrc.dch[0]).expect(CHECKED);
        Some(dch.downlink.rate.bps() * u64::from(group.count))
    });
    let room = cell.admission.downlink.map(|most| most.bps() - reserved(scenario, cell).rates[0]);
    largest.sum::<u64>().min(room.unwrap_or(u64::MAX))
}
