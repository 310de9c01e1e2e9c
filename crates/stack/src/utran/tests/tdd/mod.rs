//! Tests of a TDD cell: scripted conversations, and properties of cells with arbitrary traffic.

mod conversation;
mod fairness;
mod properties;

use std::sync::Arc;

use umts_kernel::EventQueue;
use umts_kernel::random::Streams;
use umts_units::{Bytes, Duration, Time};

use crate::EventContext;
use crate::count::Frames;
use crate::event::Event;
use crate::ids::{CarrierId, Direction, PacketId, UeId};
use crate::nodeb::{Iub, IubTiming};
use crate::packet::{Content, Packet};
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::pdcp::PdcpConfig;
use crate::radio::phy::ErrorModel;
use crate::radio::phy::tdd::layout::{FRAME, LayoutKind};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::am::{MissingPduIndication, Piggyback};

use crate::rnc::rrc::ConnectionConfig;
use crate::rnc::tdd::{AckChannel, AckConfig, GrantConfig, GrantOrder, Refused, TddConfig, TddRachConfig};
use crate::rnc::{Limits, Reserved};
use crate::scheduling::{QosConfig, SchedulerKind};
use crate::trace::TraceEvent;
use crate::ue::{ChannelConfig, UeConfig};
use crate::utran::carrier_mac::CarrierMac;
use crate::utran::{CellConfig, FachMode, RachMode, Utran};

/// The cell of the study, without block errors.
fn tdd() -> TddConfig {
    TddConfig {
        layout: LayoutKind::HighChipRate,
        pattern: None,
        grant: GrantConfig::default(),
        rach: TddRachConfig::default(),
        ack: AckConfig::default(),
        radio: None,
    }
}

/// RLC that retransmits a PDU that is missing in a frame in the next frame.
fn rlc() -> RlcConfig {
    RlcConfig {
        piggyback: Piggyback::Off,
        window: 2047,
        rx_window: Some(2047),
        max_dat: None,
        timer_poll: Some(Duration::from_millis(300)),
        timer_status_prohibit: None,
        missing_pdu_indication: MissingPduIndication::EveryPdu,
        buffer: None,
        ..RlcConfig::default()
    }
}

/// A packet that enters the radio access: at the UE in the uplink, at the RNC in the downlink.
struct SentPacket {
    at_ms: u64,
    ue: u16,
    direction: Direction,
    id: u64,
    octets: u32,
}

/// A cell, its users, and recorded events.
struct Bench {
    access: Utran,
    agenda: EventQueue<Event>,
    trace: Vec<(Time, TraceEvent)>,
    /// UE and id of the delivered packets in order, by direction.
    delivered: [Vec<(UeId, u64)>; 2],
    /// Number of handled events.
    events: u64,
}

impl Bench {
    fn new(tdd: TddConfig, rlc: RlcConfig, users: usize, seed: u64) -> Self {
        let lead = Duration::ZERO;
        let iub = Iub { rate: None, delay: Duration::ZERO, timing: IubTiming::JustInTime, lead };
        let limits = Limits::default();
        let (fach, rach, reserved) = (FachMode::Pull, RachMode::Shared, Reserved::default());
        let cell = CellConfig {
            iub,
            fach,
            rach,
            limits,
            reserved,
            hs_dsch: Arc::default(),
            e_dch: Arc::default(),
            tdd: Some(tdd),
        };
        let channel = ChannelConfig {
            channel: Channel::Dch,
            number: 0,
            scheduler: SchedulerKind::default(),
            format: TransportFormat::up_to(4, FRAME),
            block_bits: 336,
        };
        let ue = UeConfig {
            cell: 0,
            mobility: None,
            qos: QosConfig::default(),
            pdcp: PdcpConfig::default(),
            rlc: rlc.into(),
            wire_mode: false,
            channels: [channel; 2],
            hs_dsch: None,
            dchs: Vec::new(),
            e_dch: None,
            connection: ConnectionConfig { recovers_rlc: false, ..ConnectionConfig::default() }.into(),
            switching: None,
            errors: [ErrorModel::ErrorFree, ErrorModel::ErrorFree],
            substitute: None,
        };
        Bench {
            access: Utran::new(&[cell], None, &vec![ue; users], &Streams::new(seed, 0)),
            agenda: EventQueue::new(),
            trace: Vec::new(),
            delivered: [Vec::new(), Vec::new()],
            events: 0,
        }
    }

    /// Handles the events before `at_ms`, then sends a packet.
    fn sends(&mut self, packet: SentPacket) {
        let SentPacket { at_ms, ue, direction, id, octets } = packet;
        let at = Time::ZERO + Duration::from_millis(at_ms);
        self.until(at);
        let mut packet =
            Packet { id: PacketId(id), ue: UeId(ue), ..crate::radio::rlc::testing::packet(id, octets) };
        if let Content::Segment(segment) = &mut packet.content {
            segment.direction = direction;
        }
        let mut ctx = EventContext::new(at, &mut self.trace, &mut self.agenda);
        self.access.enter(&mut ctx, &packet);
    }

    /// Handles the events before `end`.
    fn until(&mut self, end: Time) {
        while self.agenda.next_time().is_some_and(|at| at < end) {
            let (now, event) = self.agenda.pop().expect("it was seen");
            self.events += 1;
            self.handle(now, event);
        }
    }

    /// Handles the events of the first `frames` frames.
    fn frames(&mut self, frames: u64) {
        self.until(Time::ZERO + FRAME * frames);
    }

    fn handle(&mut self, now: Time, event: Event) {
        let mut ctx = EventContext::new(now, &mut self.trace, &mut self.agenda);
        match event {
            Event::MacTimeout(id, timer) => {
                self.access.mac_timeout(&mut ctx, id, timer);
                self.check(id);
            }
            Event::RlcWake(ue, direction) => self.access.rlc_wake(&mut ctx, ue, direction),
            Event::BlocksArrive(transmission) => {
                let transmission = self.access.receive(transmission);
                for sent in transmission.sets() {
                    assert!(self.access.deliver(&mut ctx, &transmission, sent).is_some());
                    while let Some(packet) = self.access.next_sdu(sent.ue, transmission.direction) {
                        self.delivered[transmission.direction.index()].push((packet.ue, packet.id.0));
                    }
                    self.access.finish_delivery(&mut ctx, sent.ue, transmission.direction);
                }
                self.access.recycle(transmission);
            }
            other => panic!("{other:?} is not of a TDD cell"),
        }
    }

    /// Checks the invariants of the MAC.
    fn check(&self, id: CarrierId) {
        if let CarrierMac::Tdd(mac) = &self.access.carriers[id].mac {
            mac.check();
        }
    }

    /// Number of grants and requests of the cell.
    fn grants_and_requests(&self) -> usize {
        match &self.access.carriers[CarrierId(0)].mac {
            CarrierMac::Tdd(mac) => mac.grants_and_requests(),
            _ => panic!("the cell is TDD"),
        }
    }

    /// Capacity requests, grants and acknowledgments as text, each with the number of its frame.
    fn story(&self) -> Vec<String> {
        let line_of = |(at, event): &(Time, TraceEvent)| {
            let frame = at.as_nanos() / FRAME.as_nanos();
            let arrow = |direction: Direction| if direction == Direction::Uplink { "▲" } else { "▼" };
            let text = match *event {
                TraceEvent::CapacityNeeded { ue, direction } => {
                    format!("UE {} {} needs capacity", ue.0, arrow(direction))
                }
                TraceEvent::CapacityRequested { ue, heard } => {
                    format!("UE {} request {}", ue.0, if heard { "received" } else { "collides" })
                }
                TraceEvent::CapacityRefused { ue, direction, waits } => {
                    format!("UE {} {} {}", ue.0, arrow(direction), if waits { "queued" } else { "refused" })
                }
                TraceEvent::CapacityWithdrawn { ue, direction } => {
                    format!("UE {} {} withdraws", ue.0, arrow(direction))
                }
                TraceEvent::CapacityGranted { ue, direction, blocks, .. } => {
                    format!("UE {} {} granted {blocks}", ue.0, arrow(direction))
                }
                TraceEvent::CapacityReleased { ue, direction, blocks, .. } => {
                    format!("UE {} {} releases after {blocks}", ue.0, arrow(direction))
                }
                TraceEvent::AckCollision { ue } => format!("UE {} STATUS collides", ue.0),
                TraceEvent::StatusSent { ue, direction, .. } => {
                    format!("UE {} {} STATUS", ue.0, arrow(direction))
                }
                _ => return None,
            };
            Some(format!("{frame}: {text}"))
        };
        self.trace.iter().filter_map(line_of).collect()
    }

    /// The frames of the lines of the story in which `word` occurs.
    fn frames_with(&self, word: &str) -> Vec<u64> {
        let frame_of = |line: &String| {
            let (frame, _) = line.split_once(": ").expect("a line begins with its frame");
            frame.parse().expect("a number")
        };
        self.lines_with(word).iter().map(frame_of).collect()
    }

    /// The part of the story in which `word` occurs.
    fn lines_with(&self, word: &str) -> Vec<String> {
        self.story().into_iter().filter(|line| line.contains(word)).collect()
    }

    fn occupancy(&self, ue: u16, direction: Direction) -> Bytes {
        self.access.rlc_buffer(UeId(ue), direction)
    }
}
