//! Converts the cells of a layout, their calls, and users of DCH bearers in them.

use umts_scenario::{Group, Scenario, model};
use umts_stack::radio::mac::Channel;
use umts_stack::radio::phy::sir::CHIP_RATE;
use umts_stack::rnc::multicell::{CallClassConfig, DchUserConfig, MulticellConfig, SccpchConfig};

/// The cells of a layout, which all have the same configuration. `None` without a layout.
pub(super) fn sectors(scenario: &Scenario) -> Option<MulticellConfig> {
    let environment = scenario.environment()?;
    let power = scenario.cell[0].power.clone().unwrap_or_default();
    let dsch = scenario.cell[0].dsch.clone().unwrap_or_default();
    Some(MulticellConfig {
        environment,
        power: power.config(),
        dsch: dsch.config(&power),
        dch: scenario.cell[0].dch.unwrap_or_default(),
        sccpch: sccpch(&scenario.cell[0], &power),
        handover: scenario.handover.unwrap_or_default(),
        calls: scenario.ue.iter().filter_map(|ue| call_class(ue, &power)).collect(),
    })
}

/// The S-CCPCH of a cell with a FACH.
fn sccpch(cell: &model::Cell, power: &model::Power) -> Option<SccpchConfig> {
    let (fach, options) = (cell.fach.as_ref()?, cell.sccpch.unwrap_or_default());
    Some(SccpchConfig {
        power: model::milliwatts(options.power),
        code: options.code(fach.rate).expect("a checked scenario has one code"),
        processing: CHIP_RATE / fach.rate.bps() as f64,
        errors: power.link(model::LinkTables::FACH, options.ebn0).into(),
    })
}

fn call_class(ue: &model::Ue, power: &model::Power) -> Option<CallClassConfig> {
    let calls = ue.calls.as_ref()?;
    let errors = power.link(model::LinkTables::CALLS, calls.ebn0);
    Some(CallClassConfig {
        calls: *calls,
        mobility: ue.mobility.as_ref().map(model::Mobility::config).unwrap_or_default(),
        target: power.target(&errors),
        errors: errors.into(),
    })
}

/// Downlink DCH of the users of a group in a layout. `None` for other users, and for calls.
pub(super) fn dch_user(scenario: &Scenario, ue: &model::Ue, group: &Group) -> Option<DchUserConfig> {
    scenario.layout.as_ref()?;
    let [downlink, _] = group.channels;
    if downlink.kind != Channel::Dch || ue.calls.is_some() || ue.has_emulated_link() {
        return None;
    }
    let (power, options) = (scenario.cell[0].power.clone().unwrap_or_default(), ue.dch.unwrap_or_default());
    let errors = power.link(&ue.bearer, options.ebn0);
    Some(DchUserConfig {
        processing: CHIP_RATE / downlink.rate.bps() as f64,
        spreading_factor: options.spreading_factor(downlink.rate).expect("a checked scenario has one code"),
        target: power.target(&errors),
        errors: errors.into(),
    })
}
