//! Finds the packet for which a connection waits, and the causes that this wait can have.

use umts_stack::ids::{Direction, End, PacketId};
use umts_units::Time;

use super::{Connection, Kind};
use crate::budget::cause::Cause;
use crate::budget::direction_state::{DirectionState, Position, SegmentInTransit};
use crate::budget::loss::Loss;

/// Object of a connection's wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitObject {
    /// A packet of this direction in the radio access network. `served` is the cause while the
    /// packet is served.
    Radio { direction: Direction, packet: PacketId, served: Cause },
    /// A packet in the fixed network, which would leave an empty network at `until`. The cause is
    /// `moving` until then and `late` afterwards.
    Core { until: Time, moving: Cause, late: Cause },
    /// A packet of the uplink in the fixed network, while the radio still carries `packet` with
    /// later data. The radio, not the fixed network, then limits the rate: until the awaited packet
    /// would leave an empty network at `until`, the cause is the one of a wait for `packet`.
    /// Afterwards the cause is `late`.
    CoreBehindRadio { until: Time, packet: PacketId, served: Cause, late: Cause },
    /// Data of which every copy is lost.
    Lost(LostData),
    /// An acknowledgment that was lost.
    LostAck(Loss),
    /// No packet.
    Nothing(Cause),
}

/// Lost data that TCP has to retransmit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LostData {
    /// The end that has to retransmit.
    pub sender: End,
    /// The first missing sequence number.
    pub number: u64,
    /// Loss of the last copy.
    pub loss: Loss,
}

/// The causes of a wait for one packet, by its position.
#[derive(Debug, Clone, Copy)]
struct PacketCauses {
    /// In the radio access network, while the packet is served.
    served: Cause,
    /// In the fixed network, for as long as an empty network takes.
    moving: Cause,
    /// In the fixed network, for longer than that.
    late: Cause,
}

/// The causes of a wait for a packet of the handshake.
const SETUP_CAUSES: PacketCauses =
    PacketCauses { served: Cause::Setup, moving: Cause::Setup, late: Cause::CoreQueue };

impl Connection {
    /// Finds the packet for which the connection waits: first the data of the flow's sender, then
    /// the data of the other end, then acknowledgments.
    pub(super) fn find_object(&self) -> WaitObject {
        let order = [self.sender, self.sender.other()];
        if self.kind != Kind::Tcp {
            return self.for_datagram(order);
        }
        for end in order {
            let direction = self.direction(end);
            if direction.rcv_next < direction.max_sent {
                return self.for_data(end);
            }
            if direction.unsent() > 0 {
                return self.for_unsent_data(end);
            }
        }
        for end in order {
            let direction = self.direction(end);
            if direction.una < direction.max_sent {
                return self.for_acknowledgment(end, self.if_visible(Cause::Propagation));
            }
        }
        WaitObject::Nothing(if self.is_established() {
            self.if_visible(Cause::ApplicationIdle)
        } else {
            Cause::Setup
        })
    }

    /// The wait for the first datagram that is on the way.
    fn for_datagram(&self, order: [End; 2]) -> WaitObject {
        let causes = match self.kind {
            Kind::Lookup => {
                PacketCauses { served: Cause::Names, moving: Cause::Names, late: Cause::CoreQueue }
            }
            Kind::Tcp | Kind::Datagrams => PacketCauses {
                served: Cause::Serialisation,
                moving: Cause::Propagation,
                late: Cause::CoreQueue,
            },
        };
        let first = order.into_iter().find_map(|end| Some((end, self.direction(end).first_alive()?)));
        let is_unanswered = self.direction(End::Server).max_sent < self.direction(End::Ue).max_sent;
        match first {
            Some((end, packet)) => self.for_segment(end, packet, causes),
            None if self.kind == Kind::Lookup && is_unanswered => WaitObject::Nothing(Cause::Names),
            None => WaitObject::Nothing(Cause::NotVisible),
        }
    }

    /// Returns `cause` if the state of the senders is known.
    fn if_visible(&self, cause: Cause) -> Cause {
        if self.knows_senders { cause } else { Cause::NotVisible }
    }

    /// The wait for the next byte in order, which has left `end`: for the first copy on the way, or
    /// for a retransmission if all copies are lost.
    fn for_data(&self, end: End) -> WaitObject {
        let direction = self.direction(end);
        let number = direction.rcv_next;
        if let Some(copy) = direction.copies(number).find(|copy| copy.is_alive()) {
            return self.for_segment(end, copy, data_causes(direction, copy));
        }
        match direction.copies(number).last().map(|copy| copy.place) {
            Some(Position::Lost(loss)) => WaitObject::Lost(LostData { sender: end, number, loss }),
            _ => WaitObject::Nothing(Cause::Unexplained),
        }
    }

    /// The wait for a segment that `end` sent. An uplink segment that has left the radio holds
    /// nothing up while later data keeps the radio busy.
    fn for_segment(&self, end: End, segment: &SegmentInTransit, causes: PacketCauses) -> WaitObject {
        let direction = self.direction(end);
        if end == End::Ue
            && let Position::Core(until) = segment.place
            && let Some(later) = direction.first_data_on_radio()
        {
            let is_needless = later.is_needless(direction.rcv_next);
            return WaitObject::CoreBehindRadio {
                until,
                packet: later.packet,
                served: if is_needless { Cause::NeedlessRepeats } else { causes.served },
                late: causes.late,
            };
        }
        wait_for_packet(end, segment, causes)
    }

    /// The wait if all data sent by `end` has arrived and unsent data exists.
    fn for_unsent_data(&self, end: End) -> WaitObject {
        let direction = self.direction(end);
        if direction.in_setup() {
            let first = [end.other(), end].into_iter().find_map(|from| {
                let segment = self.direction(from).first_alive()?;
                Some(wait_for_packet(from, segment, SETUP_CAUSES))
            });
            let answer = self.direction(end.other());
            return match first {
                Some(wait) => wait,
                None if answer.rcv_next < answer.max_sent => self.for_data(end.other()),
                None => WaitObject::Nothing(Cause::Setup),
            };
        }
        match direction.limiting_window() {
            None => WaitObject::Nothing(Cause::SenderIdle),
            Some(cause) => self.for_acknowledgment(end, cause),
        }
    }

    /// The wait of `end` for an acknowledgment. `cause` is the reason why it has to wait.
    fn for_acknowledgment(&self, end: End, cause: Cause) -> WaitObject {
        let una = self.direction(end).una;
        let reverse = self.direction(end.other());
        match (reverse.first_ack_beyond(una), reverse.lost_ack) {
            (Some(ack), _) => {
                let causes = PacketCauses { served: cause, moving: cause, late: Cause::CoreQueue };
                wait_for_packet(end.other(), ack, causes)
            }
            (None, Some(loss)) => WaitObject::LostAck(loss),
            (None, None) => WaitObject::Nothing(cause),
        }
    }
}

/// The causes of a wait for `copy`, which contains the next byte in order of its direction.
fn data_causes(direction: &DirectionState, copy: &SegmentInTransit) -> PacketCauses {
    let is_syn = direction.rcv_next == 0;
    let causes = if direction.in_setup() || is_syn {
        SETUP_CAUSES
    } else {
        // While the packet crosses the fixed network, a window that holds back data is the cause:
        // without it, the radio would have data to send at this time.
        let moving = direction.limiting_window().unwrap_or(Cause::Propagation);
        PacketCauses { served: Cause::Serialisation, moving, late: Cause::CoreQueue }
    };
    if direction.has_needless_ahead(copy.packet) {
        PacketCauses { served: Cause::NeedlessRepeats, late: Cause::NeedlessRepeats, ..causes }
    } else {
        causes
    }
}

/// The wait for a packet that `end` sent.
fn wait_for_packet(end: End, packet: &SegmentInTransit, causes: PacketCauses) -> WaitObject {
    let PacketCauses { served, moving, late } = causes;
    match packet.place {
        Position::Core(until) => WaitObject::Core { until, moving, late },
        Position::Radio => WaitObject::Radio { direction: end.sends(), packet: packet.packet, served },
        Position::Lost(loss) => WaitObject::LostAck(loss),
    }
}
