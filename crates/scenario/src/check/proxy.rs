//! The proxy: its node must exist, its flows must be splittable, its buffers must hold a segment.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::Inspection;
use crate::error::Problem;
use crate::model::{Flow, FlowChoice, Proxy, ProxyMode, Tcp, TcpConnection, TcpVariant};
use crate::resolved::ProxyPlan;
use crate::tree::{Node, merge};

const SIDES: [&str; 2] = ["server_side", "radio_side"];

impl Inspection<'_> {
    /// Position of the proxy, and the TCP of its ends for each flow.
    pub(super) fn proxy(&mut self) -> Result<Option<ProxyPlan>, Problem> {
        let Some(proxy) = &self.scenario.proxy else { return Ok(None) };
        self.proxy_flows(proxy)?;
        let sides = self.proxy_sides(proxy)?;
        self.proxy_buffers(proxy, &sides)?;
        self.proxy_helper(proxy)?;
        for (i, outage) in proxy.outage.iter().enumerate() {
            if outage.to <= outage.from {
                let message = format!("the outage ends at {}, but begins at {}", outage.to, outage.from);
                let help = "`to` must be later than `from`";
                return Err(self.problem(&format!("proxy.outage.{i}.to"), message).help(help));
            }
        }
        let hops = self.proxy_place(proxy)?;
        Ok(Some(ProxyPlan { hops, sides }))
    }

    /// TCP of both ends for each flow: the keys of the side override the flow's own.
    fn proxy_sides(&mut self, proxy: &Proxy) -> Result<Vec<[Tcp; 2]>, Problem> {
        let tree = self.tree;
        // Without flows the sides are checked against the top-level `[tcp]`.
        let top_level = [tree.get("tcp")];
        let flows = tree.get("flow").map(Node::elements).unwrap_or_default();
        let of_flows: Vec<_> = flows.iter().map(|flow| flow.get("tcp")).collect();
        let bases = if of_flows.is_empty() { &top_level[..] } else { &of_flows };
        let mut sides = Vec::new();
        for (number, base) in bases.iter().enumerate() {
            let [server, radio] = SIDES.map(|side| {
                // Of a table that is not written, `find` returns one further up.
                let (table, is_written) = tree.find(&format!("proxy.{side}"));
                side_of(*base, is_written.then_some(table))
            });
            let ends = [server?, radio?];
            // The ends of flows that the proxy does not split are unused and not checked.
            if of_flows.is_empty() || proxy.splits(number, &self.scenario.flow[number]) {
                for (side, tcp) in SIDES.into_iter().zip(&ends) {
                    self.proxy_side(side, tcp)?;
                    self.tcp(&format!("proxy.{side}"), tcp)?;
                }
            }
            sides.push(ends);
        }
        sides.truncate(of_flows.len());
        Ok(sides)
    }

    /// Returns the number of links between the servers and the proxy.
    fn proxy_place(&self, proxy: &Proxy) -> Result<u32, Problem> {
        let links = &self.scenario.link;
        let Some(last_link) = links.iter().position(|link| link.to == proxy.at) else {
            let nodes: Vec<&str> = links.iter().map(|link| link.to.as_str()).collect();
            let help = format!("the nodes between servers and users are {}", nodes.join(", "));
            let message = format!("no node of the chain of links is called `{}`", proxy.at);
            return Err(self.problem("proxy.at", message).label("this node").help(help));
        };
        Ok(last_link as u32 + 1)
    }

    /// The flows and ports of a proxy exist, and it splits no one-way connection.
    fn proxy_flows(&self, proxy: &Proxy) -> Result<(), Problem> {
        let flows = &self.scenario.flow;
        for (i, choice) in proxy.flows.iter().enumerate() {
            if flows.iter().enumerate().any(|(number, flow)| choice.includes(number, flow)) {
                continue;
            }
            let message = match choice {
                FlowChoice::Number(number) => format!("there is no flow number {number}"),
                FlowChoice::Name(name) => format!("neither a flow nor its users are called `{name}`"),
            };
            return Err(self.problem(&format!("proxy.flows.{i}"), message).help(self.known_flows()));
        }
        let ports: BTreeSet<u16> = flows.iter().map(Flow::server_port).collect();
        for (i, port) in proxy.ports.iter().enumerate() {
            if !ports.is_empty() && !ports.contains(port) {
                let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
                let help = format!("servers listen at {}: set `port` of a [[flow]]", ports.join(", "));
                let message = format!("no flow's server listens at port {port}");
                return Err(self.problem(&format!("proxy.ports.{i}"), message).help(help));
            }
        }
        for (i, flow) in flows.iter().enumerate().filter(|(i, flow)| proxy.splits(*i, flow)) {
            if flow.tcp.connection == TcpConnection::OneWay && flow.traffic.uses_tcp() {
                let message = "a proxy cannot split a one-way connection, which has no handshake";
                let help = "set connection = \"full_duplex\", or name other flows in proxy.flows";
                return Err(self.problem(&format!("flow.{i}.tcp.connection"), message).help(help));
            }
        }
        Ok(())
    }

    /// A help text with the names and numbers of the flows.
    fn known_flows(&self) -> String {
        let flows = &self.scenario.flow;
        let names: BTreeSet<&str> =
            flows.iter().flat_map(|flow| [flow.name.as_deref(), Some(&flow.ue)]).flatten().collect();
        match flows.len() {
            0 => "there are no flows".to_owned(),
            count => {
                let names: Vec<_> = names.into_iter().collect();
                format!("the names are: {}; flows are numbered from 0 to {}", names.join(", "), count - 1)
            }
        }
    }

    /// The memory of a proxy holds the buffers of one transfer, and a buffer holds a segment.
    fn proxy_buffers(&self, proxy: &Proxy, sides: &[[Tcp; 2]]) -> Result<(), Problem> {
        if let (Some(memory), Some(buffer)) = (proxy.memory, proxy.buffer)
            && memory.0 < 2 * buffer.0
        {
            let message = format!("memory = {memory} has no room for the two buffers of one transfer");
            let help =
                format!("two buffers of {buffer} need {} B: raise memory, or lower buffer", 2 * buffer.0);
            return Err(self.problem("proxy.memory", message).help(help));
        }
        if proxy.memory.is_some() && proxy.buffer.is_none() {
            let message = "a limit for all buffers (`memory`) requires a limit for each (`buffer`)";
            return Err(self.problem("proxy.memory", message).help("set buffer, as in buffer = \"64 kB\""));
        }
        let payload = sides.iter().flatten().map(|tcp| tcp.segment_payload).max();
        match proxy.buffer.zip(payload) {
            Some((buffer, payload)) if buffer.0 < u64::from(payload.0) => {
                let message = format!("a buffer of {buffer} is smaller than a segment of {payload}");
                Err(self.problem("proxy.buffer", message).help("choose at least the size of one segment"))
            }
            _ => Ok(()),
        }
    }

    /// Checks the modes that do not split: the key of the mode must hold a segment, and outages are
    /// not possible. `pass` is only warned of outages: it is the reference of a sweep over modes.
    fn proxy_helper(&mut self, proxy: &Proxy) -> Result<(), Problem> {
        let (key, octets) = match proxy.mode {
            ProxyMode::Split => return Ok(()),
            ProxyMode::Pass => {
                if !proxy.outage.is_empty() {
                    self.warn("proxy.outage", "an outage has no effect with mode = \"pass\"");
                }
                return Ok(());
            }
            ProxyMode::Snoop => ("proxy.snoop.cache", proxy.snoop.cache),
            ProxyMode::AckRegulation => ("proxy.ack_regulation.queue", proxy.ack_regulation.queue),
            ProxyMode::WindowClamp => ("proxy.window_clamp.window", proxy.window_clamp.window),
        };
        let payload = self.scenario.flow.iter().map(|flow| flow.tcp.segment_payload).max();
        if let Some(payload) = payload.filter(|payload| octets.0 < u64::from(payload.0)) {
            let message = format!("{octets} is less than a segment of {payload}");
            return Err(self.problem(key, message).help("choose at least the size of one segment"));
        }
        if proxy.outage.is_empty() {
            return Ok(());
        }
        let message =
            "outages require mode = \"split\": in other modes the proxy keeps no state that connections need";
        let help = "remove [[proxy.outage]], or set mode = \"split\"";
        Err(self.problem("proxy.outage.0.from", message).help(help))
    }

    /// The connections of a proxy are full duplex, with built-in congestion control and no read
    /// rate.
    fn proxy_side(&self, side: &str, tcp: &Tcp) -> Result<(), Problem> {
        let fail = |key: &str, message: &str, help: &str| {
            Err(self.problem(&format!("proxy.{side}.{key}"), message).help(help))
        };
        if tcp.connection == TcpConnection::OneWay {
            let help = "set connection = \"full_duplex\" in [tcp]";
            return fail("connection", "the connections of a proxy must be full duplex", help);
        }
        if matches!(tcp.variant, TcpVariant::User(_)) {
            let help = "choose a built-in variant, as in variant = \"reno\"";
            return fail("variant", "a proxy cannot use a congestion control written in Python", help);
        }
        if tcp.read_rate.is_some() {
            let help = "leave it out; set `read_rate` for the flows only";
            return fail(
                "read_rate",
                "`read_rate` has no effect in a proxy: it reads whenever its buffer has room",
                help,
            );
        }
        Ok(())
    }
}

/// The TCP of one end: the flow's TCP, overridden by the keys of `side`.
///
/// `read_rate` of the flow does not apply to the proxy's end, because it describes the user's
/// application.
fn side_of(flow: Option<&Node>, side: Option<&Node>) -> Result<Tcp, Problem> {
    let tcp = match (flow, side) {
        (Some(flow), Some(side)) => Tcp::deserialize(&merge(flow.clone(), side.clone()))?,
        (Some(only), None) | (None, Some(only)) => Tcp::deserialize(only)?,
        (None, None) => Tcp::default(),
    };
    let has_read_rate = side.is_some_and(|side| side.get("read_rate").is_some());
    Ok(Tcp { read_rate: tcp.read_rate.filter(|_| has_read_rate), ..tcp })
}
