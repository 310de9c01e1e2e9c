//! Translates the addresses of UDP answers, so that they come from the address to which the
//! question was sent.
//!
//! The server side has every address, and a server that is bound to the wildcard address receives
//! packets to all of them. Its answers carry the address of the device instead, and the program
//! would not match them to its question. Therefore the border keeps a table of flows and restores
//! the original address, as a NAT gateway does (RFC 4787):
//!
//! ```text
//!   program ── to 192.0.2.9 ──► border ── to 192.0.2.9, and to 10.45.0.1 once that has answered ──► server
//!   program ◄─ from 192.0.2.9 ─ border ◄─ from 10.45.0.1 ────────────────────────────────────────── server
//! ```
//!
//! Answers that already come from the original address are not changed. A server that connects its
//! socket to the first program is bound to the device's address from then on: this is why the first
//! line of the figure translates later questions too. If one port of a program sends to the same
//! port of several addresses, each further flow gets another source port at the server side,
//! because its answers could not be distinguished otherwise.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use crate::devices::addresses;
use crate::packets::datagram::{self, End, Fragments, PacketEnd, ReportedDatagram};

/// Maximum number of flows. Beyond it, the least recently used flow is removed.
const MAX_FLOWS: usize = 16_384;

/// Maximum number of fragmented datagrams for which later fragments are translated.
const MAX_FRAGMENTED: usize = 64;

/// A flow as the server side sees it. Flows of one port of a program are neighbours in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ServerSideFlow {
    /// Address of the program.
    address: IpAddr,
    /// The program's port, or the port that is substituted for it.
    port: u16,
    server_port: u16,
}

/// A flow as the program sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ProgramFlow {
    program: End,
    server: End,
}

impl ProgramFlow {
    fn program_port(&self) -> u16 {
        let (_, port) = self.program;
        port
    }

    fn server_address(&self) -> IpAddr {
        let (address, _) = self.server;
        address
    }
}

/// A UDP flow of a program.
#[derive(Debug, Clone, Copy)]
struct Flow {
    /// The flow as the program sees it.
    program_flow: ProgramFlow,
    /// Whether the server answers from the device's address.
    uses_device_address: bool,
    /// Sequence number of the last packet, for the order of use.
    used: u64,
}

/// The translation of a fragmented datagram.
#[derive(Debug, Clone, Copy)]
struct TranslatedDatagram {
    fragments: Fragments,
    packet_end: PacketEnd,
    /// The new address of that end.
    address: IpAddr,
}

/// Table of UDP flows of all UEs.
#[derive(Debug, Default)]
pub struct Answers {
    /// Flows by their addresses and ports at the server side.
    flows: BTreeMap<ServerSideFlow, Flow>,
    /// The keys in `flows`, by the addresses and ports at the program.
    by_program_flow: BTreeMap<ProgramFlow, ServerSideFlow>,
    /// Flows by the sequence number of their last packet.
    by_use: BTreeMap<u64, ServerSideFlow>,
    /// Number of packets that were translated. Each has this number as sequence number.
    packets: u64,
    /// Last port that was substituted for a program's port.
    last_port: u16,
    /// Datagrams of which later fragments are translated too, the oldest first.
    fragmented: VecDeque<TranslatedDatagram>,
}

impl Answers {
    /// Translates a packet from a program to the server side.
    pub fn translate_uplink(&mut self, packet: &mut [u8]) {
        let Some(question) = datagram::read(packet) else { return self.translate_fragment(packet) };
        let program_flow = ProgramFlow { program: question.from, server: question.to };
        let server_flow =
            self.by_program_flow.get(&program_flow).copied().unwrap_or_else(|| self.begin(program_flow));
        let uses_device_address = self.mark_used(server_flow).uses_device_address;
        if server_flow.port != program_flow.program_port() {
            datagram::set_port(packet, PacketEnd::Sender, server_flow.port);
        }
        let server = program_flow.server_address();
        if let Some(own) = device_address(server).filter(|own| uses_device_address && *own != server) {
            self.readdress(packet, question.fragments, PacketEnd::Receiver, own);
        }
    }

    /// Translates a packet from the server side to a program.
    pub fn translate_downlink(&mut self, packet: &mut [u8]) {
        let Some(answer) = datagram::read(packet) else {
            self.translate_error(packet);
            return self.translate_fragment(packet);
        };
        let ((server, server_port), (_, port)) = (answer.from, answer.to);
        let Some(server_flow) = self.flow_of(answer.to, server_port) else { return };
        let program_flow = self.flows[&server_flow].program_flow;
        if program_flow.program_port() != port {
            datagram::set_port(packet, PacketEnd::Receiver, program_flow.program_port());
        }
        if addresses::SERVER.contains(&server) {
            // If a server answers from another port, as in TFTP, later questions must still go to
            // the original port.
            let is_original_port = server_flow.server_port == server_port;
            self.mark_used(server_flow).uses_device_address |= is_original_port;
            if program_flow.server_address() != server {
                let original_address = program_flow.server_address();
                self.readdress(packet, answer.fragments, PacketEnd::Sender, original_address);
            }
        }
    }

    /// The flow of a datagram from the server side: the flow with both ports, otherwise the flow of
    /// the program's port that was used last.
    fn flow_of(&self, (address, port): End, server_port: u16) -> Option<ServerSideFlow> {
        let flow = |server_port| ServerSideFlow { address, port, server_port };
        if self.flows.contains_key(&flow(server_port)) {
            return Some(flow(server_port));
        }
        let of_port = self.flows.range(flow(0)..=flow(u16::MAX));
        of_port.max_by_key(|(_, flow)| flow.used).map(|(server_flow, _)| *server_flow)
    }

    /// Adds a flow. Returns the flow at the server side: with the program's port, or with another
    /// port if a flow to the same server port uses the program's port already.
    fn begin(&mut self, program_flow: ProgramFlow) -> ServerSideFlow {
        if self.flows.len() >= MAX_FLOWS
            && let Some((_, oldest)) = self.by_use.pop_first()
            && let Some(flow) = self.flows.remove(&oldest)
        {
            self.by_program_flow.remove(&flow.program_flow);
        }
        let ((address, port), (_, server_port)) = (program_flow.program, program_flow.server);
        let mut server_flow = ServerSideFlow { address, port, server_port };
        // Terminates because there are fewer flows than ports.
        while self.flows.contains_key(&server_flow) {
            self.last_port = if self.last_port <= 1 { u16::MAX } else { self.last_port - 1 };
            server_flow.port = self.last_port;
        }
        self.packets += 1;
        self.flows.insert(server_flow, Flow { program_flow, uses_device_address: false, used: self.packets });
        self.by_use.insert(self.packets, server_flow);
        self.by_program_flow.insert(program_flow, server_flow);
        server_flow
    }

    /// Marks a flow as the most recently used, and returns it.
    fn mark_used(&mut self, server_flow: ServerSideFlow) -> &mut Flow {
        self.packets += 1;
        let flow = self.flows.get_mut(&server_flow).expect("the caller looked the flow up");
        self.by_use.remove(&flow.used);
        self.by_use.insert(self.packets, server_flow);
        flow.used = self.packets;
        flow
    }

    /// Sets an address of a packet, and of later fragments of the same datagram.
    fn readdress(
        &mut self,
        packet: &mut [u8],
        fragments: Option<Fragments>,
        packet_end: PacketEnd,
        address: IpAddr,
    ) {
        if let Some(fragments) = fragments {
            self.fragmented.push_back(TranslatedDatagram { fragments, packet_end, address });
            if self.fragmented.len() > MAX_FRAGMENTED {
                self.fragmented.pop_front();
            }
        }
        datagram::set_address(packet, packet_end, address);
    }

    /// Gives a later fragment the same address as the first one.
    fn translate_fragment(&self, packet: &mut [u8]) {
        let Some(fragments) = datagram::fragments(packet) else { return };
        let mut last_first = self.fragmented.iter().rev();
        if let Some(translated) = last_first.find(|translated| translated.fragments == fragments) {
            datagram::set_address(packet, translated.packet_end, translated.address);
        }
    }

    /// Restores the program's port in an ICMP error about a datagram.
    fn translate_error(&self, packet: &mut [u8]) {
        let Some(ReportedDatagram { from, to, source_port_at }) = datagram::reported(packet) else { return };
        let ((address, port), (_, server_port)) = (from, to);
        let Some(flow) = self.flows.get(&ServerSideFlow { address, port, server_port }) else { return };
        let program_port = flow.program_flow.program_port();
        if program_port != port {
            datagram::set_reported_port(packet, source_port_at, program_port);
        }
    }
}

/// The device's own address of the same IP version.
fn device_address(address: IpAddr) -> Option<IpAddr> {
    addresses::SERVER.into_iter().find(|own| own.is_ipv4() == address.is_ipv4())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::datagram::generated::datagram as build;
    use crate::packets::datagram::read;

    fn ue(port: u16) -> End {
        (addresses::of_ue(0)[0], port)
    }

    fn server(last: u8, port: u16) -> End {
        ([192, 0, 2, last].into(), port)
    }

    fn own(port: u16) -> End {
        (addresses::SERVER[0], port)
    }

    /// Sends a datagram from a program. Returns its ends at the server side.
    fn send_question(answers: &mut Answers, from: End, to: End) -> (End, End) {
        let mut packet = build(from, to, b"question");
        answers.translate_uplink(&mut packet);
        ends(&packet)
    }

    /// Sends a datagram from the server side. Returns its ends at the program.
    fn send_answer(answers: &mut Answers, from: End, to: End) -> (End, End) {
        let mut packet = build(from, to, b"answer");
        answers.translate_downlink(&mut packet);
        ends(&packet)
    }

    fn ends(packet: &[u8]) -> (End, End) {
        let parsed = read(packet).unwrap();
        let payload = &packet[packet.len() - usize::from(parsed.payload)..];
        assert_eq!(packet, build(parsed.from, parsed.to, payload), "the checksums are valid");
        (parsed.from, parsed.to)
    }

    #[test]
    fn answer_comes_from_the_original_address() {
        let answers = &mut Answers::default();
        assert_eq!(send_question(answers, ue(4000), server(9, 53)), (ue(4000), server(9, 53)));
        assert_eq!(send_answer(answers, own(53), ue(4000)), (server(9, 53), ue(4000)));
        // Later questions go to the address from which the server answered, because its socket may
        // be connected.
        assert_eq!(send_question(answers, ue(4000), server(9, 53)), (ue(4000), own(53)));
        assert_eq!(send_answer(answers, own(53), ue(4000)), (server(9, 53), ue(4000)));
    }

    #[test]
    fn answers_from_the_original_address_are_unchanged() {
        let answers = &mut Answers::default();
        for _ in 0..2 {
            assert_eq!(send_question(answers, ue(4000), server(9, 53)), (ue(4000), server(9, 53)));
            assert_eq!(send_answer(answers, server(9, 53), ue(4000)), (server(9, 53), ue(4000)));
        }
        assert_eq!(send_question(answers, ue(4001), own(53)), (ue(4001), own(53)));
        assert_eq!(send_answer(answers, own(53), ue(4001)), (own(53), ue(4001)));
    }

    #[test]
    fn one_port_gets_each_answer_from_its_original_address() {
        let answers = &mut Answers::default();
        let sources: Vec<End> =
            (1..=200).map(|last| send_question(answers, ue(4000), server(last, 53)).0).collect();
        assert_eq!(sources[0], ue(4000));
        for (last, &to) in (1..=200).zip(&sources).rev() {
            assert_eq!(send_answer(answers, own(53), to), (server(last, 53), ue(4000)));
        }
        // If a program's own port is in use as a substitute, the program gets a substitute too.
        let (other, _) = send_question(answers, sources[1], server(1, 53));
        assert!(other != sources[1] && !sources.contains(&other));
        assert_eq!(send_answer(answers, own(53), other), (server(1, 53), sources[1]));
    }

    #[test]
    fn answer_from_another_port_belongs_to_the_last_question() {
        let answers = &mut Answers::default();
        send_question(answers, ue(4000), server(8, 69));
        send_question(answers, ue(4000), server(9, 70));
        assert_eq!(send_answer(answers, own(3333), ue(4000)), (server(9, 3333), ue(4000)));
        assert_eq!(send_question(answers, ue(4000), server(9, 70)), (ue(4000), server(9, 70)));
        assert_eq!(send_answer(answers, own(3333), ue(4001)), (own(3333), ue(4001)));
    }

    #[test]
    fn later_fragments_get_the_address_of_the_first() {
        let answers = &mut Answers::default();
        send_question(answers, ue(4000), server(9, 53));
        let mut first = build(own(53), ue(4000), &[7; 64]);
        first[6] = 0x20;
        let mut second = first.clone();
        second[6..8].copy_from_slice(&[0, 9]);
        let mut other = second.clone();
        other[5] = 200;
        for packet in [&mut first, &mut second, &mut other] {
            answers.translate_downlink(packet);
        }
        assert_eq!(first[12..16], [192, 0, 2, 9]);
        assert_eq!(second[12..16], [192, 0, 2, 9]);
        assert_eq!(other[12..16], [10, 45, 0, 1]);
    }

    #[test]
    fn table_is_bounded_and_drops_the_least_recently_used_flow() {
        let answers = &mut Answers::default();
        let to = |n: usize| ([10, 9, (n >> 8) as u8, n as u8].into(), 53);
        send_question(answers, ue(4000), server(9, 53));
        for n in 0..MAX_FLOWS + 5 {
            send_question(answers, ue(5000 + (n % 50_000) as u16), to(n));
            send_question(answers, ue(4000), server(9, 53));
        }
        assert_eq!(
            (answers.flows.len(), answers.by_program_flow.len(), answers.by_use.len()),
            (MAX_FLOWS, MAX_FLOWS, MAX_FLOWS)
        );
        assert_eq!(send_answer(answers, own(53), ue(4000)).0, server(9, 53));
        assert_eq!(send_answer(answers, own(53), ue(5000)).0, own(53));
    }
}
