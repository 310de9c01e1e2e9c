//! Where real packets go into the network and come out of it, the same for an emulation and its replay.

use umts_kernel::{EventQueue, TraceSink};
use umts_stack::Cx;
use umts_stack::ids::{Direction, UeId};
use umts_stack::network::{Event, Network};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::addresses;
use crate::cargo::Cargo;
use crate::foreign;
use crate::topology::{SERVER_PORT, port_of, ue_port};
use crate::wall_clock::Arrival;

/// What became of the packets of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Packets that came in.
    pub packets_in: u64,
    /// Their octets.
    pub bytes_in: u64,
    /// Packets that went out.
    pub packets_out: u64,
    /// Their octets.
    pub bytes_out: u64,
    /// Neither IPv4 nor IPv6, or with a header that no router could read: dropped.
    pub malformed: u64,
    /// For an address that no UE has (multicast among them): dropped.
    pub unroutable: u64,
    /// Taken out of the network, but not taken by the kernel.
    pub refused: u64,
}

/// A packet that enters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// A program sent it.
    Program(Arrival),
    /// One UE sent it to another.
    Turned(Vec<u8>),
}

/// Who is behind the ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// So many UEs, each with addresses of ours.
    Ues(usize),
    /// One UE, whatever addresses it and the other side have.
    Anybody,
}

/// The border between programs and network.
#[derive(Debug)]
pub struct Exchange {
    behind: Behind,
    cargo: Cargo,
    /// What became of the packets so far.
    pub counts: Counts,
    /// When the last one entered.
    pub last_entry: Time,
}

impl Exchange {
    /// Between the network and who is behind its ports.
    pub fn new(behind: Behind, cargo: Cargo) -> Self {
        Exchange { behind, cargo, counts: Counts::default(), last_entry: Time::ZERO }
    }

    /// Takes in a packet.
    pub fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        network: &mut Network,
        cx: &mut Cx<'_, T>,
        incoming: Incoming,
        queue: &mut EventQueue<Event>,
    ) {
        self.last_entry = cx.now;
        let (port, bytes) = match incoming {
            Incoming::Turned(bytes) => (SERVER_PORT, bytes),
            Incoming::Program(Arrival { port, bytes }) => {
                self.counts.packets_in += 1;
                self.counts.bytes_in += bytes.len() as u64;
                (port, bytes)
            }
        };
        let Ok((_, to)) = foreign::addresses(&bytes) else {
            self.counts.malformed += 1;
            return;
        };
        let (ue, direction) = match port.checked_sub(ue_port(0)) {
            Some(ue) => (Some(ue), Direction::Uplink),
            None if self.behind == Behind::Anybody => (Some(0), Direction::Downlink),
            None => (addresses::ue_of(to), Direction::Downlink),
        };
        let ues = match self.behind {
            Behind::Ues(ues) => ues,
            Behind::Anybody => 1,
        };
        let Some(ue) = ue.filter(|&ue| ue < ues && !to.is_multicast()) else {
            self.counts.unroutable += 1;
            return;
        };
        let packet = network.new_foreign(UeId(ue as u16), direction, bytes.len() as u32);
        self.cargo.load(packet.id, bytes);
        network.enter_foreign(cx, packet, queue);
    }

    /// Hands out what left the network: `write` gets a port and the octets, and says whether they were taken. A packet
    /// for another UE is answered: it goes back in.
    pub fn leave(
        &mut self,
        network: &mut Network,
        mut write: impl FnMut(usize, &[u8]) -> bool,
    ) -> Option<Incoming> {
        while let Some(packet) = network.poll_foreign() {
            let Some(bytes) = self.cargo.unload(packet.id) else { continue };
            let port = match packet.direction() {
                Direction::Downlink => ue_port(packet.ue.index()),
                Direction::Uplink if self.behind == Behind::Anybody => SERVER_PORT,
                Direction::Uplink => {
                    let (_, to) = foreign::addresses(&bytes).expect("it was read when it entered");
                    port_of(to)
                }
            };
            if packet.direction() == Direction::Uplink && port != SERVER_PORT {
                return Some(Incoming::Turned(bytes));
            }
            let is_taken = write(port, &bytes);
            self.counts.packets_out += u64::from(is_taken);
            self.counts.bytes_out += if is_taken { bytes.len() as u64 } else { 0 };
            self.counts.refused += u64::from(!is_taken);
        }
        None
    }
}
