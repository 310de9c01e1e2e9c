//! Conversion of the keys of `[tcp]` into the configuration of one end of a connection, and their
//! defaults.

use umts_stack::tcp::{
    CubicConfig, DEFAULT_MSS, FackConfig, Keepalive, NewRenoConfig, Retries, RtoConfig, SpuriousConfig,
    TcpConfig, VegasConfig,
};
use umts_units::{Bytes, Octets};

use super::{Tcp, TcpConnection, TcpProfile, TcpVariant, Window};

impl Tcp {
    /// Configuration of one end of a connection.
    pub fn config(&self) -> TcpConfig {
        let mss = self.segment_payload;
        let always_selective = matches!(self.variant, TcpVariant::Sack | TcpVariant::Fack);
        TcpConfig {
            variant: self.variant,
            one_way: self.connection == TcpConnection::OneWay,
            segment_payload: mss.0.into(),
            header: self.header.0,
            advertised_window: self.advertised_window.in_octets(mss),
            initial_window: self.initial_window.in_segments(mss),
            initial_ssthresh: self.initial_ssthresh.map(|window| window.in_segments(mss)),
            delayed_ack: self.delayed_ack.then_some(self.delayed_ack_timeout),
            limited_transmit: self.limited_transmit,
            sack_blocks: if always_selective || self.sack { self.sack_blocks } else { 0 },
            dsack: self.dsack,
            timestamps: self.timestamps,
            timestamp_tick: self.timestamp_tick,
            window_scaling: self.window_scaling,
            charged_options: self.charged_options,
            spurious: SpuriousConfig { eifel: self.eifel, frto: self.frto, dsack: self.dsack_undo },
            abc: self.abc,
            abc_limit: self.abc_limit,
            window_validation: self.window_validation,
            slow_start: self.slow_start,
            keepalive: self.keepalive.then_some(Keepalive {
                idle: self.keepalive_idle,
                interval: self.keepalive_interval,
                probes: self.keepalive_probes,
            }),
            slow_start_restart: self.slow_start_restart,
            nagle: self.nagle,
            read_rate: self.read_rate,
            retries: Retries {
                syn: self.syn_retries,
                syn_ack: self.syn_ack_retries,
                data: self.data_retries,
            },
            listens: self.listens,
            ecn: self.ecn,
            quick_acks: self.quick_acks,
            prr: self.prr,
            lost_retransmissions: self.lost_retransmissions,
            rack: self.rack,
            tail_loss_probes: self.tail_loss_probes,
            fack: FackConfig {
                data_smoothing: self.fack_data_smoothing,
                over_damping: self.fack_over_damping,
            },
            newreno: NewRenoConfig { careful: self.newreno_careful, impatient: self.newreno_impatient },
            vegas: VegasConfig {
                alpha: self.vegas_alpha,
                beta: self.vegas_beta,
                gamma: self.vegas_gamma,
                ns2_no_header: self.ns2_vegas_no_header,
                ..VegasConfig::default()
            },
            cubic: CubicConfig {
                fast_convergence: self.cubic_fast_convergence,
                reno_friendly: self.cubic_reno_friendly,
            },
            rto: RtoConfig {
                rule: self.rto_rule,
                granularity: self.rto_granularity,
                clock_phase: self.rto_clock_phase,
                initial: self.rto_initial,
                min: self.rto_min,
                max: self.rto_max,
            },
        }
    }

    /// Size of the packet of a full segment.
    pub fn full_segment(&self) -> Bytes {
        Bytes::from(self.segment_payload) + Bytes::from(self.header)
    }
}

impl Default for Tcp {
    /// Defaults of [`TcpConfig`].
    fn default() -> Self {
        let tcp = TcpConfig::default();
        let keepalive = tcp.keepalive.unwrap_or_default();
        Tcp {
            profile: TcpProfile::None,
            variant: tcp.variant,
            connection: TcpConnection::FullDuplex,
            segment_payload: Octets(DEFAULT_MSS),
            header: Octets(tcp.header),
            advertised_window: Window::Bytes(Bytes(tcp.advertised_window.into())),
            initial_window: Window::Segments(tcp.initial_window),
            initial_ssthresh: tcp.initial_ssthresh.map(Window::Segments),
            delayed_ack: tcp.delayed_ack.is_some(),
            delayed_ack_timeout: tcp.delayed_ack.unwrap_or_default(),
            limited_transmit: tcp.limited_transmit,
            read_rate: tcp.read_rate,
            listens: tcp.listens,
            syn_retries: tcp.retries.syn,
            syn_ack_retries: tcp.retries.syn_ack,
            data_retries: tcp.retries.data,
            ecn: tcp.ecn,
            quick_acks: tcp.quick_acks,
            nagle: tcp.nagle,
            abc: tcp.abc,
            abc_limit: tcp.abc_limit,
            window_validation: tcp.window_validation,
            slow_start: tcp.slow_start,
            keepalive: tcp.keepalive.is_some(),
            keepalive_idle: keepalive.idle,
            keepalive_interval: keepalive.interval,
            keepalive_probes: keepalive.probes,
            slow_start_restart: tcp.slow_start_restart,
            eifel: tcp.spurious.eifel,
            frto: tcp.spurious.frto,
            dsack_undo: tcp.spurious.dsack,
            rto_rule: tcp.rto.rule,
            rto_granularity: tcp.rto.granularity,
            rto_initial: tcp.rto.initial,
            rto_min: tcp.rto.min,
            rto_max: tcp.rto.max,
            rto_clock_phase: tcp.rto.clock_phase,
            sack: false,
            sack_blocks: 3,
            dsack: tcp.dsack,
            timestamps: tcp.timestamps,
            timestamp_tick: tcp.timestamp_tick,
            window_scaling: tcp.window_scaling,
            charged_options: tcp.charged_options,
            newreno_careful: tcp.newreno.careful,
            newreno_impatient: tcp.newreno.impatient,
            prr: tcp.prr,
            lost_retransmissions: tcp.lost_retransmissions,
            rack: tcp.rack,
            tail_loss_probes: tcp.tail_loss_probes,
            fack_data_smoothing: tcp.fack.data_smoothing,
            fack_over_damping: tcp.fack.over_damping,
            vegas_alpha: tcp.vegas.alpha,
            vegas_beta: tcp.vegas.beta,
            vegas_gamma: tcp.vegas.gamma,
            python: String::new(),
            python_control: None,
            cubic_fast_convergence: tcp.cubic.fast_convergence,
            cubic_reno_friendly: tcp.cubic.reno_friendly,
            ns2_vegas_no_header: tcp.vegas.ns2_no_header,
        }
    }
}
