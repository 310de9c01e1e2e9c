//! Converts the cells of a layout, their calls, and users of DCH and HS-DSCH bearers in them.

use umts_scenario::{Channel as PlannedChannel, Group, Scenario, model};
use umts_stack::radio::mac::Channel;
use umts_stack::radio::phy::sir::CHIP_RATE;
use umts_stack::rnc::multicell::{
    CallClassConfig, DchUserConfig, DownlinkConfig, HsCellConfig, MulticellConfig, SccpchConfig,
};
use umts_units::BitRate;

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
        hs_dsch: hs_dsch(scenario),
        admission_power: scenario.cell[0].admission.power.map(model::milliwatts),
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

/// The HS-DSCH of a cell. `None` if no user has one.
fn hs_dsch(scenario: &Scenario) -> Option<HsCellConfig> {
    let mut groups = scenario.plan().groups.iter();
    groups.any(|group| group.hs_dsch_category.is_some()).then(|| {
        let hs_dsch = &scenario.cell[0].hs_dsch;
        HsCellConfig {
            max_power: hs_dsch.power.map_or(f64::INFINITY, model::milliwatts),
            codes: hs_dsch.codes,
            users_per_tti: hs_dsch.users_per_tti,
        }
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

/// Downlinks on DCHs and HS-DSCHs of the users of a group in a layout: of their bearer, or of each bearer that RRC may
/// switch them to. Empty for other users, and for calls.
pub(super) fn dchs(scenario: &Scenario, ue: &model::Ue, group: &Group) -> Vec<DownlinkConfig> {
    if scenario.layout.is_none() || ue.calls.is_some() || ue.has_emulated_link() {
        return Vec::new();
    }
    let config = |name: &str, [downlink, _]: &[PlannedChannel; 2]| match downlink.kind {
        Channel::HsDsch => DownlinkConfig::HsDsch,
        _ => dch(scenario, ue, name, downlink.rate).into(),
    };
    if matches!(group.channels[0].kind, Channel::Dch | Channel::HsDsch) {
        return vec![config(&ue.bearer, &group.channels)];
    }
    let names = scenario.rrc_of(ue).into_iter().flat_map(|rrc| &rrc.dch);
    names.zip(&group.dchs).map(|(name, channels)| config(name, channels)).collect()
}

/// Downlink DCH of the named bearer.
fn dch(scenario: &Scenario, ue: &model::Ue, bearer: &str, rate: BitRate) -> DchUserConfig {
    let (power, options) = (scenario.cell[0].power.clone().unwrap_or_default(), ue.dch.unwrap_or_default());
    let errors = power.link(bearer, options.ebn0);
    DchUserConfig {
        processing: CHIP_RATE / rate.bps() as f64,
        spreading_factor: options.spreading_factor(rate).expect("a checked scenario has one code"),
        target: power.target(&errors),
        errors: errors.into(),
    }
}
