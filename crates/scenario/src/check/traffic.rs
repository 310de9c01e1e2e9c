//! Checks of TCP, flows and impairments.

use umts_stack::ids::FlowId;
use umts_units::{Bytes, Duration};

use super::Inspection;
use crate::error::Problem;
use crate::model::{Flow, QueueLimit, RtoRule, SlowStart, Tcp, TcpConnection, Window};

/// Largest TCP window with the largest scale (RFC 7323 §2.2), 2^30 octets, rounded down.
const MAX_WINDOW: Bytes = Bytes(1_000_000_000);

/// Largest window without scaling (RFC 9293 §3.1).
const MAX_UNSCALED_WINDOW: Bytes = Bytes(65_535);

impl Inspection<'_> {
    /// Checks TCP and the flows. Returns the flow of each `[[impairment]]`.
    pub(super) fn traffic(&mut self) -> Result<Vec<FlowId>, Problem> {
        if self.scenario.flow.is_empty() {
            self.warn("flow", "there is no flow: no data will be sent");
            self.tcp("tcp", &self.scenario.tcp)?;
            if !self.scenario.impairment.is_empty() {
                return Err(self.problem("impairment", "there is no flow to impair".to_owned()));
            }
            return Ok(Vec::new());
        }
        for i in 0..self.scenario.flow.len() {
            let flow = &self.scenario.flow[i];
            self.tcp(&format!("flow.{i}.tcp"), &flow.tcp)?;
            self.traffic_model(i, flow)?;
            self.flow(i, flow);
        }
        self.impairments()
    }

    /// The flow and user of each impairment exist. Returns the numbers of the impaired flows.
    fn impairments(&self) -> Result<Vec<FlowId>, Problem> {
        let mut impaired = Vec::new();
        for (i, impairment) in self.scenario.impairment.iter().enumerate() {
            let flows = self.scenario.flow.len();
            let Some(flow) = self.scenario.flow.get(impairment.flow as usize) else {
                let message = format!("there is no flow number {}", impairment.flow);
                let help = format!("flows are numbered from 0 to {}", flows - 1);
                return Err(self.problem(&format!("impairment.{i}.flow"), message).help(help));
            };
            let users = self.scenario.ue[self.names.group_of(impairment.flow as usize)].count;
            if impairment.user >= users {
                let message = format!("the group {:?} has no user number {}", flow.ue, impairment.user);
                let help = format!("its users are numbered from 0 to {}", users.saturating_sub(1));
                return Err(self.problem(&format!("impairment.{i}.user"), message).help(help));
            }
            let first_flow = self.first_flow(impairment.flow as usize);
            impaired.push(FlowId(first_flow + u32::from(impairment.user)));
        }
        Ok(impaired)
    }

    /// Number of the first user's flow of a `[[flow]]`. Flows are numbered group by group.
    fn first_flow(&self, flow: usize) -> u32 {
        let group = self.names.group_of(flow);
        let users = |group: usize| u32::from(self.scenario.ue[group].count);
        let in_groups_before: u32 =
            (0..group).map(|earlier| users(earlier) * self.names.flows_of(earlier).count() as u32).sum();
        let in_own_group =
            self.names.flows_of(group).take_while(|earlier_flow| *earlier_flow < flow).count() as u32;
        in_groups_before + in_own_group * users(group)
    }

    /// Windows are at least one segment and can be advertised, timers are in order, and options
    /// that need each other are set together.
    pub(super) fn tcp(&mut self, path: &str, tcp: &Tcp) -> Result<(), Problem> {
        let windows = [("advertised_window", tcp.advertised_window), ("initial_window", tcp.initial_window)];
        for (key, window) in windows {
            if window.in_bytes(tcp.segment_payload) > MAX_WINDOW {
                let message = format!("a window of {window} is larger than the largest TCP window");
                let help = format!("choose at most {MAX_WINDOW} (RFC 7323)");
                return Err(self.problem(&format!("{path}.{key}"), message).label("this window").help(help));
            }
            if window.in_bytes(tcp.segment_payload) < tcp.segment_payload.into() {
                let message =
                    format!("a window of {window} is smaller than a segment of {}", tcp.segment_payload);
                let help = "choose at least one segment, as in \"1 segments\", or a size in octets";
                return Err(self.problem(&format!("{path}.{key}"), message).label("this window").help(help));
            }
        }
        if let Some(window @ Window::Bytes(octets)) = tcp.initial_ssthresh
            && octets > MAX_WINDOW
        {
            let message = format!("a slow start threshold of {window} is larger than any window of TCP");
            let help = format!("choose at most {MAX_WINDOW}, or \"unlimited\"");
            return Err(self.problem(&format!("{path}.initial_ssthresh"), message).help(help));
        }
        for (key, value) in [("rto_min", tcp.rto_min), ("rto_initial", tcp.rto_initial)] {
            if value > tcp.rto_max {
                let message = format!("{key} = {value} is above rto_max = {}", tcp.rto_max);
                let help = "raise rto_max, or lower this value";
                return Err(self.problem(&format!("{path}.{key}"), message).help(help));
            }
        }
        self.tcp_version(path, tcp)?;
        if tcp.eifel && !tcp.timestamps {
            let message = "eifel needs TCP timestamps, which are off";
            let help = "set timestamps = true";
            return Err(self.problem(&format!("{path}.eifel"), message).help(help));
        }
        if tcp.tail_loss_probes && !tcp.rack {
            let message = "tail_loss_probes needs rack, which is off";
            let help = "set rack = true";
            return Err(self.problem(&format!("{path}.tail_loss_probes"), message).help(help));
        }
        let times_every_ack = tcp.timestamps || tcp.rto_rule == RtoRule::Linux;
        if tcp.slow_start != SlowStart::Standard && !times_every_ack {
            let message =
                "this slow start needs the round-trip time of every ACK, but only a few ACKs are timed";
            let help = "set timestamps = true, or rto_rule = \"linux\"";
            return Err(self.problem(&format!("{path}.slow_start"), message).help(help));
        }
        let unscaled = tcp.connection == TcpConnection::FullDuplex && !tcp.window_scaling;
        if unscaled && tcp.advertised_window.in_bytes(tcp.segment_payload) > MAX_UNSCALED_WINDOW {
            let message = format!(
                "{} is above {MAX_UNSCALED_WINDOW}, the most without window_scaling",
                tcp.advertised_window
            );
            self.warn(&self.written(&format!("{path}.advertised_window")), &message);
        }
        if is_larger(tcp.initial_window, tcp.advertised_window, tcp) {
            let message = format!(
                "{} is above the advertised window of {}, which limits it",
                tcp.initial_window, tcp.advertised_window
            );
            self.warn(&self.written(&format!("{path}.initial_window")), &message);
        }
        Ok(())
    }

    /// The thresholds of Vegas are in order, and the phase of the clock is less than a tick.
    fn tcp_version(&self, path: &str, tcp: &Tcp) -> Result<(), Problem> {
        if tcp.vegas_alpha > tcp.vegas_beta {
            let message =
                format!("vegas_alpha = {} is above vegas_beta = {}", tcp.vegas_alpha, tcp.vegas_beta);
            let help = "the window is kept between the two: raise vegas_beta, or lower vegas_alpha";
            return Err(self.problem(&format!("{path}.vegas_alpha"), message).help(help));
        }
        if tcp.rto_clock_phase > Duration::ZERO && tcp.rto_clock_phase >= tcp.rto_granularity {
            let message = format!(
                "rto_clock_phase = {} must be less than a tick of {}",
                tcp.rto_clock_phase, tcp.rto_granularity
            );
            let help = "choose less than rto_granularity";
            return Err(self.problem(&format!("{path}.rto_clock_phase"), message).help(help));
        }
        Ok(())
    }

    /// The path at which a key is written: a flow's TCP mostly comes from `[tcp]`.
    fn written(&self, path: &str) -> String {
        match self.tree.find(path) {
            (node, true) => node.path.clone(),
            _ => path.to_owned(),
        }
    }

    /// Warns of a flow that never starts, and of buffers that cannot hold a full segment.
    fn flow(&mut self, i: usize, flow: &Flow) {
        if flow.start >= self.scenario.duration {
            let message = format!("{} is not before the end of the run: the flow never starts", flow.start);
            self.warn(&format!("flow.{i}.start"), &message);
        }
        let packet = flow.tcp.full_segment();
        for (j, link) in self.scenario.link.iter().enumerate() {
            if let Some(QueueLimit::Bytes(capacity)) = link.queue
                && capacity < packet
            {
                let message =
                    format!("{capacity} is smaller than a packet of {packet}: every full segment is dropped");
                self.warn(&format!("link.{j}.queue"), &message);
            }
        }
        let group = self.names.group_of(i);
        let ue = &self.scenario.ue[group];
        let rlc = self.scenario.rlc_of(ue);
        if let Some(capacity) = rlc.buffer.filter(|capacity| *capacity < packet) {
            let path =
                if ue.rlc.is_some() { format!("ue.{group}.rlc.buffer") } else { "rlc.buffer".to_owned() };
            let message =
                format!("{capacity} is smaller than a packet of {packet}: every full segment is dropped");
            self.warn(&path, &message);
        }
    }
}

/// Returns whether a window is larger than another one.
fn is_larger(window: Window, other: Window, tcp: &Tcp) -> bool {
    window.in_bytes(tcp.segment_payload) > other.in_bytes(tcp.segment_payload)
}
