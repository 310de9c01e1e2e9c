//! From the words of a scenario to those of the stack.

use umts_record::budget::BudgetConfig;
use umts_record::metrics::MetricsConfig;
use umts_scenario::Scenario;
use umts_scenario::model as scenario;
use umts_stack::core_network::{Impairment, LinkConfig, Outage, PacketKind, QueueLimit, Treatment};
use umts_stack::ids::{ConnectionId, Direction, FlowId, UeId};
use umts_stack::network::{
    CellConfig, ChannelConfig, FachMode, FlowConfig, IubTiming, NetworkConfig, RachMode, SubstituteConfig,
    UeConfig,
};
use umts_stack::radio::capacity::{CapacityConfig, CapacityTrace};
use umts_stack::radio::flat::FlatConfig;
use umts_stack::radio::mac::{TransportFormat, block_bits};
use umts_stack::radio::pdcp::PdcpConfig;
use umts_stack::radio::phy::{ErrorModel, ErrorUnit};
use umts_stack::radio::rlc::RlcConfig;
use umts_stack::radio::rlc::am::{
    AmConfig, Arrivals, BufferCounts, Discard, Epc, ErroneousSn, GapWhileProhibited, Header,
    LengthIndicators, MaxDatReading, MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
use umts_stack::radio::rlc::tm::{ErroneousSdus, TmConfig};
use umts_stack::radio::rlc::um::UmConfig;
use umts_stack::tcp::{
    ChargedOptions, CubicConfig, FackConfig, Nagle, NewRenoConfig, Retries, RtoConfig, RtoRule,
    SpuriousConfig, TcpConfig, Variant, VegasConfig,
};
use umts_stack::trace::Channel;
use umts_units::{BitRate, Duration, Time};

use crate::build_rrc as rrc;
use crate::build_traffic::traffic;

pub(crate) const CHECKED: &str = "the scenario was checked when it was loaded";

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
    let (mut rates, mut powers) = (Vec::new(), Vec::new());
    let mut dedicated = 0;
    for group in &scenario.ue {
        if group.has_substitute() {
            let rate = group.flat.as_ref().map(|flat| flat.downlink);
            dedicated += rate.map_or(0, BitRate::bps) * u64::from(group.count);
            rates.extend(std::iter::repeat_n(rate, usize::from(group.count)));
            powers.extend(std::iter::repeat_n(None, usize::from(group.count)));
            continue;
        }
        let (rate, _, channel) = channel_of(scenario, group, Direction::Downlink);
        let largest = scenario.rrc_of(group).and_then(|rrc| scenario.dedicated_bearer(&rrc.dch[0]));
        let rate = largest.map_or(rate, |dch| dch.downlink.rate);
        let power = scenario.rrc_of(group).map(|of| rrc::state_power(&of.power));
        powers.extend(std::iter::repeat_n(power, usize::from(group.count)));
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
    }
}

/// What is asked of the time budget, if it is asked for. Without `keeps_intervals` there are sums only.
pub fn budget_config(scenario: &Scenario, keeps_intervals: bool) -> Option<BudgetConfig> {
    let MetricsConfig { from, to, .. } = metrics_config(scenario);
    let waterfall = scenario.measure.waterfall.filter(|_| keeps_intervals).map(ConnectionId);
    let sees_senders = true;
    scenario.measure.budget.then_some(BudgetConfig { from, to, keeps_intervals, waterfall, sees_senders })
}

fn link(link: &scenario::Link) -> LinkConfig {
    LinkConfig {
        rate: link.rate,
        delay: link.delay,
        jitter: link.jitter,
        queue: link.queue.map(queue_limit),
        mark_from: link.ecn_threshold.map(queue_limit),
        loss: link.loss.value(),
        outages: link.outage.iter().map(outage).collect(),
    }
}

fn queue_limit(limit: scenario::QueueLimit) -> QueueLimit {
    match limit {
        scenario::QueueLimit::Packets(packets) => QueueLimit::Packets(packets),
        scenario::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes),
    }
}

fn outage(outage: &scenario::Outage) -> Outage {
    Outage { from: Time::ZERO + outage.from, to: Time::ZERO + outage.to }
}

/// A line of the script, with its flow's number among all flows of all users.
fn impairment(scenario: &Scenario, line: &scenario::Impairment) -> Impairment {
    let flow = FlowId(flow_number(scenario, line.flow as usize) + u32::from(line.user));
    Impairment {
        flow,
        kind: match line.packet.kind {
            scenario::PacketKind::Data => PacketKind::Data,
            scenario::PacketKind::Retransmission => PacketKind::Retransmission,
            scenario::PacketKind::Ack => PacketKind::Ack,
        },
        first: line.packet.first,
        last: line.packet.last,
        treatment: match line.action {
            scenario::Action::Drop => Treatment::Drop,
            scenario::Action::Delay(by) => Treatment::Delay(by),
            scenario::Action::Duplicate(by) => Treatment::Duplicate(by),
            scenario::Action::Reorder(by) => Treatment::Reorder(by),
        },
    }
}

/// How many flows come before those of `[[flow]]` number `wanted`: flows are numbered group by group.
fn flow_number(scenario: &Scenario, wanted: usize) -> u32 {
    let mut number = 0;
    for group in &scenario.ue {
        for (index, _) in scenario.flow.iter().enumerate().filter(|(_, flow)| flow.ue == group.name) {
            if index == wanted {
                return number;
            }
            number += u32::from(group.count);
        }
    }
    unreachable!("{CHECKED}")
}

fn cell(scenario: &Scenario, cell: &scenario::Cell) -> CellConfig {
    let fach = match &cell.fach {
        Some(fach) if fach.scheduling == scenario::FachScheduling::PerUePush => {
            FachMode::PerUePush { nodeb_queue: fach.nodeb_queue, jitter: fach.rnc_jitter }
        }
        _ => FachMode::Pull,
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

fn ue(scenario: &Scenario, group: &scenario::Ue) -> UeConfig {
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
fn channel_of(
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

pub(crate) fn channel_config(
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

/// Bits of RLC header, `None` where no header is charged.
fn rlc_header_bits(rlc: &scenario::Rlc) -> Option<u32> {
    match (rlc.header, rlc.mode) {
        (scenario::RlcHeader::Uncounted, _) => None,
        (_, scenario::RlcMode::Am) => Some(16),
        (_, scenario::RlcMode::Um) => Some(8),
        (_, scenario::RlcMode::Tm) => Some(0),
    }
}

fn rlc_config(rlc: &scenario::Rlc, arrivals: [Arrivals; 2]) -> RlcConfig {
    let pdu_payload = u16::try_from(rlc.pdu_payload.0).expect(CHECKED);
    let (timer_discard, buffer) = (rlc.timer_discard, rlc.buffer);
    match rlc.mode {
        scenario::RlcMode::Am => RlcConfig::Am(am(rlc, arrivals).into()),
        scenario::RlcMode::Um => RlcConfig::Um(UmConfig { pdu_payload, timer_discard, buffer }),
        scenario::RlcMode::Tm => RlcConfig::Tm(TmConfig {
            pdu_payload,
            segmentation: rlc.tm_segmentation,
            erroneous_sdus: match rlc.tm_erroneous_sdus {
                scenario::ErroneousSdus::Dropped => ErroneousSdus::Dropped,
                scenario::ErroneousSdus::Marked => ErroneousSdus::Marked,
                scenario::ErroneousSdus::Undetected => ErroneousSdus::Undetected,
            },
            timer_discard,
            buffer,
        }),
    }
}

fn am(rlc: &scenario::Rlc, arrivals: [Arrivals; 2]) -> AmConfig {
    AmConfig {
        pdu_payload: u16::try_from(rlc.pdu_payload.0).expect(CHECKED),
        header: match rlc.header {
            scenario::RlcHeader::Ts25322 => Header::Counted,
            scenario::RlcHeader::Uncounted => Header::Uncounted,
        },
        length_indicators: match rlc.length_indicators {
            scenario::LengthIndicators::Ts25322 => LengthIndicators::Ts25322,
            scenario::LengthIndicators::Eurane => LengthIndicators::Eurane,
        },
        status_format: match rlc.status_format {
            scenario::StatusFormat::Bitmap => StatusFormat::Bitmap,
            scenario::StatusFormat::List => StatusFormat::List,
            scenario::StatusFormat::Rlist => StatusFormat::Rlist,
            scenario::StatusFormat::Eurane => StatusFormat::Eurane,
        },
        piggyback: match rlc.piggyback {
            scenario::Piggyback::Off => Piggyback::Off,
            scenario::Piggyback::Padding => Piggyback::Padding,
            scenario::Piggyback::BuildAround => Piggyback::BuildAround,
        },
        piggyback_wait: rlc.piggyback_wait,
        window: rlc.window,
        rx_window: rlc.rx_window.unwrap_or(rlc.window),
        granted_window: rlc.granted_window,
        in_sequence: rlc.in_sequence,
        discard: match rlc.sdu_discard {
            scenario::SduDiscard::MaxDat => Discard::AfterMaxDat,
            scenario::SduDiscard::Timer => Discard::Timer(rlc.timer_discard.expect(CHECKED)),
            scenario::SduDiscard::Never => Discard::Never,
        },
        max_dat: rlc.max_dat,
        max_dat_reading: match rlc.max_dat_reading {
            scenario::MaxDatReading::Transmissions => MaxDatReading::Transmissions,
            scenario::MaxDatReading::Ts25322 => MaxDatReading::Ts25322,
        },
        poll_last_pdu: rlc.poll_last_pdu,
        poll_last_retransmitted_pdu: rlc.poll_last_retransmitted_pdu,
        poll_pdu: rlc.poll_pdu,
        poll_sdu: rlc.poll_sdu,
        poll_window: rlc.poll_window,
        timer_poll: rlc.timer_poll,
        timer_poll_prohibit: rlc.timer_poll_prohibit,
        timer_poll_periodic: rlc.timer_poll_periodic,
        timer_status_prohibit: rlc.timer_status_prohibit,
        timer_status_periodic: rlc.timer_status_periodic,
        epc: rlc.timer_epc.map(|timer_epc| Epc { timer_epc, arrivals }),
        missing_pdu_indication: match rlc.missing_pdu_indication {
            scenario::MissingPduIndication::Off => MissingPduIndication::Off,
            scenario::MissingPduIndication::NewGap => MissingPduIndication::NewGap,
            scenario::MissingPduIndication::EveryPdu => MissingPduIndication::EveryPdu,
        },
        gap_while_prohibited: match rlc.gap_while_prohibited {
            scenario::GapWhileProhibited::Remembered => GapWhileProhibited::Remembered,
            scenario::GapWhileProhibited::Forgotten => GapWhileProhibited::Forgotten,
        },
        mrw_acknowledgment: match rlc.mrw_acknowledgment {
            scenario::MrwAcknowledgment::Explicit => MrwAcknowledgment::Explicit,
            scenario::MrwAcknowledgment::Implicit => MrwAcknowledgment::Implicit,
        },
        send_mrw: rlc.send_mrw,
        timer_mrw: rlc.timer_mrw,
        max_mrw: rlc.max_mrw,
        erroneous_sn: match rlc.erroneous_sn {
            scenario::ErroneousSn::Reset => ErroneousSn::Reset,
            scenario::ErroneousSn::Dropped => ErroneousSn::Dropped,
        },
        timer_rst: rlc.timer_rst,
        max_rst: rlc.max_rst,
        buffer: rlc.buffer,
        buffer_counts: match rlc.buffer_counts {
            scenario::BufferCounts::Unacknowledged => BufferCounts::Unacknowledged,
            scenario::BufferCounts::Unsent => BufferCounts::Unsent,
        },
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

/// One end of a connection as a checked `[tcp]` describes it.
pub fn tcp_config(tcp: &scenario::Tcp) -> TcpConfig {
    let mss = u32::try_from(tcp.segment_payload.0).expect(CHECKED);
    let segments = |window: scenario::Window| match window {
        scenario::Window::Segments(segments) => segments,
        scenario::Window::Bytes(bytes) => u32::try_from(bytes.0).expect(CHECKED).div_ceil(mss),
    };
    let advertised_window = match tcp.advertised_window {
        scenario::Window::Segments(segments) => segments * mss,
        scenario::Window::Bytes(bytes) => u32::try_from(bytes.0).expect(CHECKED),
    };
    TcpConfig {
        version: version(tcp.variant, 0),
        one_way: tcp.connection == scenario::TcpConnection::OneWay,
        segment_payload: mss,
        header: u16::try_from(tcp.header.0).expect(CHECKED),
        advertised_window,
        initial_window: segments(tcp.initial_window),
        initial_ssthresh: tcp.initial_ssthresh.map(segments),
        delayed_ack: tcp.delayed_ack.then_some(tcp.delayed_ack_timeout),
        limited_transmit: tcp.limited_transmit,
        sack_blocks: match tcp.variant {
            scenario::TcpVariant::Sack | scenario::TcpVariant::Fack => tcp.sack_blocks,
            _ if tcp.sack => tcp.sack_blocks,
            _ => 0,
        },
        dsack: tcp.dsack,
        timestamps: tcp.timestamps,
        timestamp_tick: tcp.timestamp_tick,
        window_scaling: tcp.window_scaling,
        charged_options: match tcp.charged_options {
            scenario::ChargedOptions::All => ChargedOptions::All,
            scenario::ChargedOptions::AfterSyn => ChargedOptions::AfterSyn,
            scenario::ChargedOptions::None => ChargedOptions::None,
        },
        spurious: SpuriousConfig { eifel: tcp.eifel, frto: tcp.frto, dsack: tcp.dsack_undo },
        abc: tcp.abc,
        slow_start_restart: tcp.slow_start_restart,
        nagle: match tcp.nagle {
            scenario::Nagle::Off => Nagle::Off,
            scenario::Nagle::On => Nagle::On,
            scenario::Nagle::Minshall => Nagle::Minshall,
        },
        read_rate: tcp.read_rate,
        retries: Retries { syn: tcp.syn_retries, syn_ack: tcp.syn_ack_retries, data: tcp.data_retries },
        listens: tcp.listens,
        ecn: tcp.ecn,
        quick_acks: tcp.quick_acks,
        fack: FackConfig { data_smoothing: tcp.fack_data_smoothing, over_damping: tcp.fack_over_damping },
        newreno: NewRenoConfig { careful: tcp.newreno_careful, impatient: tcp.newreno_impatient },
        vegas: VegasConfig {
            alpha: tcp.vegas_alpha,
            beta: tcp.vegas_beta,
            gamma: tcp.vegas_gamma,
            ns2_no_header: tcp.ns2_vegas_no_header,
            ..VegasConfig::default()
        },
        cubic: CubicConfig {
            fast_convergence: tcp.cubic_fast_convergence,
            reno_friendly: tcp.cubic_reno_friendly,
        },
        rto: RtoConfig {
            rule: match tcp.rto_rule {
                scenario::RtoRule::Rfc6298 => RtoRule::Rfc6298,
                scenario::RtoRule::Ns2 => RtoRule::Ns2,
                scenario::RtoRule::Linux => RtoRule::Linux,
            },
            granularity: tcp.rto_granularity,
            clock_phase: tcp.rto_clock_phase,
            initial: tcp.rto_initial,
            min: tcp.rto_min,
            max: tcp.rto_max,
        },
    }
}

/// `number`: of the flow, by which a law from outside is asked for.
fn version(variant: scenario::TcpVariant, number: u16) -> Variant {
    match variant {
        scenario::TcpVariant::Tahoe => Variant::Tahoe,
        scenario::TcpVariant::Reno => Variant::Reno,
        scenario::TcpVariant::NewReno => Variant::NewReno,
        scenario::TcpVariant::Vegas => Variant::Vegas,
        scenario::TcpVariant::Sack => Variant::Sack,
        scenario::TcpVariant::Fack => Variant::Fack,
        scenario::TcpVariant::Westwood => Variant::Westwood,
        scenario::TcpVariant::Cubic => Variant::Cubic,
        scenario::TcpVariant::Bbr => Variant::Bbr,
        scenario::TcpVariant::Python => Variant::User(number),
    }
}
