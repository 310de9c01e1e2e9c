//! Converts cells, users with their channels, and block errors of a scenario.

use umts_scenario::{Channel, Group, Scenario, model};
use umts_stack::ids::Direction;
use umts_stack::mac::e::EUeConfig;
use umts_stack::mac::hs::HsUeConfig;
use umts_stack::network::{CellConfig, ChannelConfig, FachMode, Iub, RachMode, SubstituteConfig, UeConfig};
use umts_stack::radio::capacity::CapacityConfig;
use umts_stack::radio::mac::{Channel as Kind, block_bits};
use umts_stack::radio::phy::ErrorModel;
use umts_stack::radio::rlc::RlcConfig;
use umts_stack::radio::rlc::am::{Arrivals, Piggyback};
use umts_stack::rnc::Limits;
use umts_stack::rnc::rrc::ConnectionConfig;
use umts_units::{Bytes, Duration};

use super::{multicell, rrc};

/// Configuration of cell `index` of the file.
pub(super) fn cell(scenario: &Scenario, index: usize) -> CellConfig {
    let cell = &scenario.cell[index];
    let push = cell.fach.as_ref().filter(|fach| fach.scheduling == model::FachScheduling::PerUePush);
    let private_rach = cell.rach.as_ref().filter(|rach| rach.access == model::RachAccess::Private);
    let model::Admission { downlink, uplink, dchs, power: _, queue, preemption } = cell.admission;
    CellConfig {
        iub: Iub { rate: cell.iub.rate, delay: cell.iub.delay, timing: cell.iub.timing, lead: cell.rlc_lead },
        fach: push.map_or(FachMode::Pull, |fach| FachMode::PerUePush {
            nodeb_queue: fach.nodeb_queue,
            jitter: fach.rnc_jitter,
        }),
        rach: private_rach
            .map_or(RachMode::Shared, |rach| RachMode::Private { access_delay: rach.access_delay }),
        limits: Limits {
            rates: [downlink, uplink],
            dchs,
            hs_users: cell.hs_dsch.max_users,
            queue,
            preemption,
        },
        reserved: scenario.plan().reserved[index],
        hs_dsch: cell.hs_dsch.clone().into(),
        e_dch: cell.e_dch.clone().into(),
        tdd: cell.tdd.as_ref().map(model::Tdd::config),
    }
}

/// Configuration of any user of a group. Large values in it are shared.
pub(super) fn ue(scenario: &Scenario, ue: &model::Ue, group: &Group) -> UeConfig {
    let rlc = scenario.rlc_of(ue);
    let radio = scenario.radio_of(ue);
    let capacity = ue.capacity.as_ref().zip(group.traces.clone());
    let capacity = capacity.map(|(capacity, traces)| CapacityConfig { traces, queue: capacity.queue });
    let flat = ue.flat.as_ref().map(|flat| SubstituteConfig::Flat(flat.config()));
    UeConfig {
        cell: group.cell,
        mobility: ue.mobility.as_ref().map(model::Mobility::config),
        qos: ue.qos.unwrap_or_default(),
        pdcp: scenario.pdcp,
        rlc: rlc_config(rlc, group).into(),
        wire_mode: rlc.wire_mode,
        channels: group.channels.map(|planned| channel(rlc, planned)),
        hs_dsch: group.hs_dsch_category.map(|category| hs_dsch(ue, category).into()),
        dchs: multicell::dchs(scenario, ue, group),
        e_dch: group.e_dch_category.map(|category| e_dch(ue, category).into()),
        connection: connection(scenario, ue, group).into(),
        switching: scenario.rrc_of(ue).map(|rrc| rrc::switching(rlc, rrc, group)),
        errors: [(&radio.downlink).into(), radio.uplink.as_ref().map_or(ErrorModel::ErrorFree, Into::into)],
        substitute: capacity.map(SubstituteConfig::Capacity).or(flat),
    }
}

/// HS-DSCH of a group. `category` is the category of the bearer.
fn hs_dsch(ue: &model::Ue, category: u8) -> HsUeConfig {
    let config = ue.hs_dsch.clone().unwrap_or_default();
    HsUeConfig { category: config.category.or(Some(category)), ..config }
}

/// E-DCH of a group. `category` is the category of the bearer.
fn e_dch(ue: &model::Ue, category: u8) -> EUeConfig {
    let config = ue.e_dch.clone().unwrap_or_default();
    EUeConfig { category: config.category.or(Some(category)), ..config }
}

/// RLC of a group, which depends on its channels.
pub(crate) fn rlc_config(rlc: &model::Rlc, group: &Group) -> RlcConfig {
    let arrivals =
        group.channels.map(|channel| Arrivals { pdus: channel.format.blocks, tti: channel.format.tti });
    let rlc = RlcConfig { arrivals, ..rlc.clone() };
    if group.is_granted {
        // Control PDUs have a channel of their own and are never piggybacked.
        RlcConfig { piggyback: Piggyback::Off, piggyback_wait: Duration::ZERO, ..rlc }
    } else {
        rlc
    }
}

/// RRC connection of a group: its state at the start of the run, and its recovery from failures.
fn connection(scenario: &Scenario, ue: &model::Ue, group: &Group) -> ConnectionConfig {
    let [downlink, _] = group.channels;
    // Capacity of a TDD cell is granted on request: no DCH is set up.
    let has_dch = matches!(downlink.kind, Kind::Dch | Kind::Dsch | Kind::HsDsch) && !group.is_granted;
    scenario.connection_of(ue).connection(ue.is_switched(), has_dch)
}

/// A channel of the plan, with the bits of its blocks, which depend on the PDU size of RLC.
pub(super) fn channel(rlc: &model::Rlc, planned: Channel) -> ChannelConfig {
    let Channel { kind, number, scheduler, format, .. } = planned;
    // PDUs of flexible size have at most the size of the largest one.
    let payload = match kind {
        Kind::HsDsch => Bytes(rlc.largest_payload(Direction::Downlink).into()),
        _ => rlc.pdu_payload.into(),
    };
    ChannelConfig {
        channel: kind,
        number,
        scheduler,
        format,
        block_bits: block_bits(payload, kind, rlc.header_bits()),
    }
}
