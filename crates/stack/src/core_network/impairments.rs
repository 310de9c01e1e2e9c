//! Scripted impairments of the n-th packet of a kind, for tests and for teaching.
//!
//! They act where a packet enters the fixed network: at the server in the downlink, at the RNC in
//! the uplink. Packets are counted there per flow and kind, starting with 1.

use umts_units::Duration;

use crate::ids::FlowId;
use crate::packet::Packet;

/// Kinds of packets that a script distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// Payload that is sent for the first time. Includes every UDP datagram.
    Data,
    /// Payload that was sent before.
    Retransmission,
    /// An ACK without payload, SYN or FIN.
    Ack,
}

impl PacketKind {
    /// The kind of a packet. `None` for SYNs and FINs without payload, and for other segments
    /// without an ACK.
    pub fn of(packet: &Packet) -> Option<Self> {
        let Some(segment) = packet.segment() else { return Some(PacketKind::Data) };
        if segment.payload > 0 {
            let is_first = segment.transmission == 0;
            return Some(if is_first { PacketKind::Data } else { PacketKind::Retransmission });
        }
        (segment.flags.ack && !segment.flags.syn && !segment.flags.fin).then_some(PacketKind::Ack)
    }
}

/// Treatment of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    Pass,
    Drop,
    /// Forwards the packet later.
    Delay(Duration),
    /// Forwards the packet, and a copy after this time.
    Duplicate(Duration),
    /// Forwards the packet after this number of later packets of the same flow and direction.
    Reorder(u32),
}

/// One line of a script: packets `first` to `last` of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impairment {
    pub flow: FlowId,
    pub kind: PacketKind,
    /// Counted from 1.
    pub first: u32,
    pub last: u32,
    pub treatment: Treatment,
}

/// The script of a run.
#[derive(Debug, Clone, Default)]
pub struct Impairments {
    script: Vec<ScriptLine>,
    held: Vec<HeldPacket>,
}

#[derive(Debug, Clone)]
struct ScriptLine {
    impairment: Impairment,
    /// Number of packets of the line's flow and kind so far.
    count: u32,
}

#[derive(Debug, Clone)]
struct HeldPacket {
    packet: Packet,
    /// Number of further packets of the same flow and direction that must pass before this one.
    must_pass_first: u32,
}

impl Impairments {
    pub fn new(script: &[Impairment]) -> Self {
        let script = script.iter().map(|&impairment| ScriptLine { impairment, count: 0 }).collect();
        Impairments { script, held: Vec::new() }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.script.is_empty()
    }

    /// Treatment of a packet that enters now. The first matching line decides. All lines for its
    /// flow and kind count the packet.
    pub fn treatment(&mut self, packet: &Packet) -> Treatment {
        let Some(kind) = PacketKind::of(packet) else { return Treatment::Pass };
        let mut treatment = Treatment::Pass;
        for ScriptLine { impairment, count } in &mut self.script {
            if impairment.flow != packet.flow || impairment.kind != kind {
                continue;
            }
            *count += 1;
            let is_in_range = (impairment.first..=impairment.last).contains(count);
            if treatment == Treatment::Pass && is_in_range {
                treatment = impairment.treatment;
            }
        }
        treatment
    }

    /// Holds a packet back until `others` more of its flow and direction have passed.
    pub fn hold(&mut self, packet: Packet, others: u32) {
        self.held.push(HeldPacket { packet, must_pass_first: others });
    }

    /// Notes that `packet` passed. Appends the held packets that may follow to `released`.
    pub fn passed(&mut self, packet: &Packet, released: &mut Vec<Packet>) {
        let is_same_direction =
            |held: &Packet| held.flow == packet.flow && held.direction() == packet.direction();
        for held in self.held.iter_mut().filter(|held| is_same_direction(&held.packet)) {
            held.must_pass_first -= 1;
        }
        let follows = |held: &mut HeldPacket| held.must_pass_first == 0;
        released.extend(self.held.extract_if(.., follows).map(|held| held.packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ConnectionId, Direction, PacketId, UeId};
    use crate::packet::{Content, Flags, Segment};

    const ORIGINAL: u16 = 0;
    const RETRANSMISSION: u16 = 1;

    /// A downlink packet. Without payload it is an ACK.
    fn packet(flow: u32, payload: u32, transmission: u16) -> Packet {
        let flags = Flags { ack: true, ..Flags::default() };
        let segment = Segment::new(ConnectionId(flow), Direction::Downlink);
        let segment = Segment { flags, payload, transmission, ..segment };
        Packet { id: PacketId(0), flow: FlowId(flow), ue: UeId(0), content: Content::Segment(segment) }
    }

    /// A script line for packets of flow 0 with these numbers, counted from 1.
    fn line(kind: PacketKind, numbers: std::ops::RangeInclusive<u32>, treatment: Treatment) -> Impairment {
        Impairment { flow: FlowId(0), kind, first: *numbers.start(), last: *numbers.end(), treatment }
    }

    #[test]
    fn packets_are_counted_by_flow_and_kind() {
        let mut script = Impairments::new(&[line(PacketKind::Data, 2..=3, Treatment::Drop)]);
        let mut data = |flow, transmission| script.treatment(&packet(flow, 1000, transmission));
        assert_eq!(data(0, ORIGINAL), Treatment::Pass);
        // Packets of another flow and retransmissions are not counted.
        assert_eq!([data(1, ORIGINAL), data(0, RETRANSMISSION)], [Treatment::Pass; 2]);
        let second_to_fourth = [data(0, ORIGINAL), data(0, ORIGINAL), data(0, ORIGINAL)];
        assert_eq!(second_to_fourth, [Treatment::Drop, Treatment::Drop, Treatment::Pass]);
    }

    #[test]
    fn first_matching_script_line_decides() {
        let delay = Treatment::Delay(Duration::from_millis(5));
        let mut script = Impairments::new(&[
            line(PacketKind::Ack, 1..=1, delay),
            line(PacketKind::Ack, 1..=2, Treatment::Drop),
        ]);
        let ack = packet(0, 0, ORIGINAL);
        assert_eq!([script.treatment(&ack), script.treatment(&ack)], [delay, Treatment::Drop]);
    }

    #[test]
    fn held_packet_is_released_after_the_nth_later_packet() {
        let mut script = Impairments::new(&[]);
        script.hold(packet(0, 7, ORIGINAL), 2);
        let mut released = Vec::new();
        script.passed(&packet(0, 1, ORIGINAL), &mut released);
        script.passed(&packet(1, 1, ORIGINAL), &mut released);
        assert_eq!(released, []);
        script.passed(&packet(0, 1, ORIGINAL), &mut released);
        assert_eq!(released, [packet(0, 7, ORIGINAL)]);
    }
}
