//! Scripted impairments: what happens to the n-th packet of its kind, for tests and for teaching.
//!
//! They act where a packet enters the fixed network: behind the server for what goes down, behind the RNC for what comes
//! up. Packets are counted there by flow and kind, beginning with 1.

use umts_units::Duration;

use crate::ids::FlowId;
use crate::packet::Packet;

/// The kinds of packets that a script tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// Payload that is sent for the first time; every UDP datagram is.
    Data,
    /// Payload that was sent before.
    Retransmission,
    /// No payload, no SYN and no FIN.
    Ack,
}

impl PacketKind {
    /// The kind of a packet; SYNs and FINs without payload are of none.
    pub fn of(packet: &Packet) -> Option<Self> {
        let Some(segment) = packet.segment() else { return Some(PacketKind::Data) };
        if segment.payload > 0 {
            let first = segment.transmission == 0;
            return Some(if first { PacketKind::Data } else { PacketKind::Retransmission });
        }
        (segment.flags.ack && !segment.flags.syn && !segment.flags.fin).then_some(PacketKind::Ack)
    }
}

/// What is done to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It goes on as if nothing were.
    Pass,
    /// It is lost.
    Drop,
    /// It goes on later.
    Delay(Duration),
    /// It goes on, and a copy of it later.
    Duplicate(Duration),
    /// It goes on after so many later packets of its flow and direction.
    Reorder(u32),
}

/// One line of a script: packets `first` to `last` of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impairment {
    /// Whose packets.
    pub flow: FlowId,
    /// Which kind.
    pub kind: PacketKind,
    /// The first of them, counted from 1.
    pub first: u32,
    /// The last of them.
    pub last: u32,
    /// What is done.
    pub treatment: Treatment,
}

/// The script of a run, and how far it is.
#[derive(Debug, Clone, Default)]
pub struct Impairments {
    script: Vec<(Impairment, u32)>,
    /// Packets held back until so many others of their flow and direction have passed.
    held: Vec<(Packet, u32)>,
}

impl Impairments {
    /// A script that nothing has passed yet.
    pub fn new(script: &[Impairment]) -> Self {
        Impairments { script: script.iter().map(|&line| (line, 0)).collect(), held: Vec::new() }
    }

    /// Whether there is no script: then nothing needs to be asked.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.script.is_empty()
    }

    /// What is done to a packet that enters now: the first line that names it decides, and all lines count it.
    pub fn treatment(&mut self, packet: &Packet) -> Treatment {
        let Some(kind) = PacketKind::of(packet) else { return Treatment::Pass };
        let mut treatment = Treatment::Pass;
        for (line, seen) in
            self.script.iter_mut().filter(|(line, _)| line.flow == packet.flow && line.kind == kind)
        {
            *seen += 1;
            if treatment == Treatment::Pass && (line.first..=line.last).contains(seen) {
                treatment = line.treatment;
            }
        }
        treatment
    }

    /// Holds a packet back until `others` more of its flow and direction have passed.
    pub fn hold(&mut self, packet: Packet, others: u32) {
        self.held.push((packet, others));
    }

    /// `packet` has passed: the packets that waited for it and need wait no more.
    pub fn passed(&mut self, packet: &Packet, released: &mut Vec<Packet>) {
        let same_way = |held: &Packet| held.flow == packet.flow && held.direction() == packet.direction();
        for (_, others) in self.held.iter_mut().filter(|(held, _)| same_way(held)) {
            *others -= 1;
        }
        released.extend(self.held.extract_if(.., |(_, others)| *others == 0).map(|(held, _)| held));
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::ids::{ConnectionId, Direction, PacketId, UeId};
    use crate::packet::{Content, Flags, Segment};

    fn packet(flow: u32, payload: u32, transmission: u16) -> Packet {
        let flags = Flags { ack: true, ..Flags::default() };
        let segment = Segment::new(ConnectionId(flow), Direction::Downlink);
        let segment = Segment { flags, payload, transmission, ..segment };
        Packet { id: PacketId(0), flow: FlowId(flow), ue: UeId(0), content: Content::Segment(segment) }
    }

    fn line(kind: PacketKind, first: u32, last: u32, treatment: Treatment) -> Impairment {
        Impairment { flow: FlowId(0), kind, first, last, treatment }
    }

    #[test]
    fn packets_are_counted_by_flow_and_kind() {
        let mut script = Impairments::new(&[line(PacketKind::Data, 2, 3, Treatment::Drop)]);
        let mut data = |flow, transmission| script.treatment(&packet(flow, 1000, transmission));
        assert_eq!(data(0, 0), Treatment::Pass);
        // Another flow's packets, and those sent again, do not count.
        assert_eq!([data(1, 0), data(0, 1)], [Treatment::Pass; 2]);
        assert_eq!([data(0, 0), data(0, 0), data(0, 0)], [Treatment::Drop, Treatment::Drop, Treatment::Pass]);
    }

    #[test]
    fn the_first_line_that_names_a_packet_decides() {
        let delay = Treatment::Delay(Duration::from_millis(5));
        let mut script = Impairments::new(&[
            line(PacketKind::Ack, 1, 1, delay),
            line(PacketKind::Ack, 1, 2, Treatment::Drop),
        ]);
        let ack = packet(0, 0, 0);
        assert_eq!([script.treatment(&ack), script.treatment(&ack)], [delay, Treatment::Drop]);
    }

    #[test]
    fn a_held_packet_follows_the_n_th_after_it() {
        let mut script = Impairments::new(&[]);
        script.hold(packet(0, 7, 0), 2);
        let mut released = Vec::new();
        script.passed(&packet(0, 1, 0), &mut released);
        script.passed(&packet(1, 1, 0), &mut released);
        assert_eq!(released, []);
        script.passed(&packet(0, 1, 0), &mut released);
        assert_eq!(released, [packet(0, 7, 0)]);
    }
}
