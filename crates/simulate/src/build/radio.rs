//! Cells, users with their channels, and block errors.

use umts_scenario::Scenario;
use umts_scenario::model as scenario;
use umts_stack::ids::Direction;
use umts_stack::network::{
    CellConfig, ChannelConfig, FachMode, IubTiming, RachMode, SchedulerKind, SubstituteConfig, UeConfig,
};
use umts_stack::radio::capacity::{CapacityConfig, CapacityTrace};
use umts_stack::radio::flat::FlatConfig;
use umts_stack::radio::mac::{TransportFormat, block_bits};
use umts_stack::radio::pdcp::PdcpConfig;
use umts_stack::radio::phy::{ErrorModel, ErrorUnit};
use umts_stack::radio::rlc::am::Arrivals;
use umts_stack::trace::Channel;
use umts_units::{BitRate, Duration};

use super::core_network::queue_limit;
use super::rlc::{rlc_config, rlc_header_bits};
use super::{CHECKED, rrc};

pub(super) fn cell(scenario: &Scenario, cell: &scenario::Cell) -> CellConfig {
    let fach = match &cell.fach {
        Some(fach) if fach.scheduling == scenario::FachScheduling::PerUePush => {
            FachMode::PerUePush { nodeb_queue: fach.nodeb_queue, jitter: fach.rnc_jitter }
        }
        _ => FachMode::Pull(SchedulerKind::RoundRobin),
    };
    let rach = match &cell.rach {
        Some(rach) if rach.access == scenario::RachAccess::Private => {
            RachMode::Private { access_delay: rach.access_delay }
        }
        _ => RachMode::Shared,
    };
    CellConfig {
        iub_rate: cell.iub.rate,
        iub_delay: cell.iub.delay,
        iub_timing: match cell.iub.timing {
            scenario::IubTiming::JustInTime => IubTiming::JustInTime,
            scenario::IubTiming::NextFrame => IubTiming::NextFrame,
        },
        rlc_lead: cell.rlc_lead,
        fach,
        rach,
        limits: rrc::limits(&cell.admission),
        reserved: rrc::reserved(scenario, cell),
    }
}

pub(super) fn ue(scenario: &Scenario, group: &scenario::Ue) -> UeConfig {
    let rlc = group.rlc.as_ref().unwrap_or(&scenario.rlc);
    let radio = group.radio.as_ref().unwrap_or(&scenario.radio);
    let uplink = radio.uplink.as_ref().unwrap_or(&scenario::BlockErrors::ErrorFree);
    let channels =
        [Direction::Downlink, Direction::Uplink].map(|direction| channel(scenario, group, rlc, direction));
    let arrivals = channels.map(|channel| Arrivals { pdus: channel.format.blocks, tti: channel.format.tti });
    let capacity = group.capacity.as_ref().map(|of| SubstituteConfig::Capacity(capacity(of)));
    let flat = group.flat.as_ref().map(|of| SubstituteConfig::Flat(flat(of)));
    UeConfig {
        cell: scenario.cell.iter().position(|cell| cell.name == group.cell).expect(CHECKED),
        pdcp: pdcp(&scenario.pdcp),
        rlc: rlc_config(rlc, arrivals),
        wire_mode: rlc.wire_mode,
        channels,
        switching: scenario.rrc_of(group).map(|of| rrc::switching(scenario, rlc, of)),
        errors: [errors(&radio.downlink), errors(uplink)],
        substitute: capacity.or(flat),
    }
}

fn capacity(capacity: &scenario::Capacity) -> CapacityConfig {
    CapacityConfig {
        traces: [0, 1].map(|way| CapacityTrace::new(capacity.traces[way].as_slice()).expect(CHECKED)),
        queue: capacity.queue.map(queue_limit),
    }
}

fn flat(flat: &scenario::Flat) -> FlatConfig {
    FlatConfig {
        rates: [flat.downlink, flat.uplink],
        delay: Duration::from_nanos(flat.rtt.as_nanos() / 2),
        loss: flat.loss.value(),
        queue: flat.queue.map(queue_limit),
    }
}

/// Rate and TTI of the channel that a group uses, and which it is.
pub(super) fn channel_of(
    scenario: &Scenario,
    group: &scenario::Ue,
    direction: Direction,
) -> (BitRate, Duration, Channel) {
    let cell = scenario.cell.iter().find(|cell| cell.name == group.cell).expect(CHECKED);
    if let Some(bearer) = scenario.dedicated_bearer(&group.bearer) {
        let dch = match direction {
            Direction::Downlink => bearer.downlink,
            Direction::Uplink => bearer.uplink,
        };
        return (dch.rate, dch.tti, Channel::Dch);
    }
    match direction {
        Direction::Downlink => {
            let fach = cell.fach.as_ref().expect(CHECKED);
            (fach.rate, fach.tti, Channel::Fach)
        }
        Direction::Uplink => {
            let rach = cell.rach.as_ref().expect(CHECKED);
            (rach.rate, rach.tti, Channel::Rach)
        }
    }
}

fn channel(
    scenario: &Scenario,
    group: &scenario::Ue,
    rlc: &scenario::Rlc,
    direction: Direction,
) -> ChannelConfig {
    let (rate, tti, kind) = channel_of(scenario, group, direction);
    channel_config(rlc, rate, tti, kind)
}

pub(super) fn channel_config(
    rlc: &scenario::Rlc,
    rate: BitRate,
    tti: Duration,
    kind: Channel,
) -> ChannelConfig {
    ChannelConfig {
        dedicated: kind == Channel::Dch,
        format: TransportFormat::new(rate, tti, rlc.pdu_payload).expect(CHECKED),
        block_bits: block_bits(rlc.pdu_payload, kind, rlc_header_bits(rlc)),
    }
}

fn pdcp(pdcp: &scenario::Pdcp) -> Option<PdcpConfig> {
    match pdcp.header_compression {
        scenario::HeaderCompression::Off => None,
        scenario::HeaderCompression::Ideal => Some(PdcpConfig {
            compressed_header: u16::try_from(pdcp.compressed_header.0).expect(CHECKED),
            refresh: pdcp.refresh,
        }),
    }
}

fn errors(errors: &scenario::BlockErrors) -> ErrorModel {
    let unit = |unit: &scenario::ErrorUnit| match unit {
        scenario::ErrorUnit::Pdu => ErrorUnit::Pdu,
        scenario::ErrorUnit::Tti => ErrorUnit::Tti,
    };
    match errors {
        scenario::BlockErrors::ErrorFree => ErrorModel::ErrorFree,
        scenario::BlockErrors::Independent { bler, unit: of } => {
            ErrorModel::Independent { bler: bler.value(), unit: unit(of) }
        }
        scenario::BlockErrors::Gilbert { p_good_to_bad, p_bad_to_good, bler_good, bler_bad, step } => {
            ErrorModel::Gilbert {
                good_to_bad: p_good_to_bad.value(),
                bad_to_good: p_bad_to_good.value(),
                bler_good: bler_good.value(),
                bler_bad: bler_bad.value(),
                step: unit(step),
            }
        }
        scenario::BlockErrors::Trace { verdicts, .. } => ErrorModel::Trace(verdicts.as_slice().into()),
    }
}
