//! Configuration of the cells of a layout and of their calls.

use umts_scenario::{Scenario, model as scenario};
use umts_stack::rnc::multicell::{CallClassConfig, MulticellConfig};

/// The cells of a layout, which all have the same configuration. `None` without a layout.
pub(super) fn sectors(of: &Scenario) -> Option<MulticellConfig> {
    let environment = of.environment()?;
    let power = of.cell[0].power.clone().unwrap_or_default();
    let dsch = of.cell[0].dsch.clone().unwrap_or_default();
    Some(MulticellConfig {
        environment,
        power: power.config(),
        dsch: dsch.config(&power),
        dch: of.cell[0].dch.unwrap_or_default(),
        handover: of.handover.unwrap_or_default(),
        calls: of.ue.iter().filter_map(|ue| call_class(ue, &power)).collect(),
    })
}

fn call_class(ue: &scenario::Ue, power: &scenario::Power) -> Option<CallClassConfig> {
    let calls = ue.calls.as_ref()?;
    let errors = power.link(scenario::LinkTables::CALLS, calls.ebn0);
    Some(CallClassConfig {
        calls: *calls,
        mobility: ue.mobility.as_ref().map(scenario::Mobility::config).unwrap_or_default(),
        target: power.target(&errors),
        errors: errors.into(),
    })
}
