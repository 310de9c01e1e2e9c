//! Ends of TCP connections.

use umts_scenario::model as scenario;
use umts_stack::tcp::{
    ChargedOptions, CubicConfig, FackConfig, Nagle, NewRenoConfig, Retries, RtoConfig, RtoRule,
    SpuriousConfig, TcpConfig, Variant, VegasConfig,
};

use super::CHECKED;

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
        prr: tcp.prr,
        finds_lost_again: tcp.lost_retransmissions,
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
pub(super) fn version(variant: scenario::TcpVariant, number: u16) -> Variant {
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
