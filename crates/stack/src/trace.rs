//! What can be observed: every event of the stack, typed, with its units. Metrics, time series, captures and the time
//! budget are computed from these and from nothing else.
//!
//! The identities stay in the events: a segment's packet is an SDU of RLC (same [`PacketId`]), an SDU's PDUs are
//! named by their sequence numbers, and PDUs travel in block sets.

use std::fmt;
use std::hash::{Hash, Hasher};

use umts_units::{Bytes, Duration, Time};

use crate::ids::{ConnectionId, Direction, End, FlowId, PacketId, ProxyLeg, UeId};
use crate::packet::{Datagram, Packet, Segment};
pub use crate::radio::mac::transport_channel::Channel;
pub use crate::radio::rrc_state::RrcState;

/// Why a segment left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendCause {
    /// Data (or SYN, FIN) sent for the first time.
    New,
    /// A pure acknowledgment.
    Ack,
    /// Sent again after duplicate acknowledgments, or inside the recovery that they began.
    DupAck,
    /// Sent again after an expiry of the retransmission timer, go-back-N included.
    Rto,
    /// Asks whether a closed window has opened.
    WindowProbe,
    /// A RST.
    Reset,
    /// Sent again after silence: a tail loss probe.
    TailLoss,
    /// Asks whether the other end is there.
    KeepAlive,
}

impl SendCause {
    /// Whether the segment had left before.
    #[inline]
    pub fn is_again(self) -> bool {
        matches!(self, SendCause::DupAck | SendCause::Rto | SendCause::TailLoss)
    }
}

/// Why a connection came to an end before both sides had closed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The other end answered the SYN with a RST.
    Refused,
    /// The other end sent a RST.
    Reset,
    /// The same segment was sent again too often, or the other end was asked too often.
    TimedOut,
    /// A proxy gave it up, since its other connection of the transfer had failed.
    Aborted,
}

/// How a retransmission was found out to be needless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpuriousBy {
    /// By the timestamp that an ACK echoed (RFC 3522).
    Eifel,
    /// By the ACKs of what was not sent again (RFC 5682).
    FRto,
    /// By duplicate reports (RFC 3708).
    Dsack,
}

/// What a proxy that splits nothing did to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Help {
    /// Sent a segment again from its copy.
    Repeated,
    /// Kept an acknowledgment from the server.
    Hid,
    /// Held an acknowledgment back for a while.
    Held,
    /// Lowered a window.
    Clamped,
}

/// Where a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropPlace {
    /// The queue in front of link number n of the core network was full.
    LinkQueue(u8),
    /// Random loss on link number n.
    LinkLoss(u8),
    /// Link number n was down.
    LinkDown(u8),
    /// The script of the scenario dropped it.
    Script,
    /// The RLC transmission buffer was full.
    RlcBuffer,
    /// Random loss of a flat radio.
    FlatLoss,
    /// Transparent RLC delivered it and said that it is erroneous.
    ErroneousSdu,
    /// RLC delivered it with errors that it did not see, which its checksum told.
    Checksum,
    /// It came long after its connection was closed.
    NoConnection,
    /// It ended at a proxy that was out of order.
    ProxyDown,
    /// A proxy kept it from the server: it repeats what the proxy knows.
    ProxyHidden,
}

/// Why an RLC entity dropped a PDU that the lower layers gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PduDrop {
    /// Its bits are no PDU: invalid or reserved values (TS 25.322 §10).
    Malformed,
    /// It is of another mode than the entity.
    WrongMode,
    /// Its number lies outside the receiving window (§11.3.4).
    OutsideWindow,
    /// A RESET is under way, or was given up (§11.4.2).
    Resetting,
    /// A STATUS that names a PDU outside VT(A) to VT(S) (§10).
    ErroneousSn,
}

/// Where IP packets can be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CapturePoint {
    /// At the server's interface.
    Server,
    /// At a proxy, on the server's side.
    ProxyServer,
    /// At a proxy, on the UE's side.
    ProxyRadio,
    /// At the RNC, above RLC.
    Rnc,
    /// At the UE, above RLC.
    Ue,
}

/// Why a UE has no turn on a DSCH though it asked for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Postponed {
    /// No code of the channel's share of the tree is free.
    Codes,
    /// The cell has not the power.
    Power,
    /// It has no credit.
    Credit,
    /// It changes cells.
    Handover,
}

/// What a call does in the cells of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallStep {
    /// It begins.
    Begun,
    /// It does not: there is no code for it.
    Blocked,
    /// It is in this cell from now on.
    HandedOver,
    /// This cell, into which it wanted, has no code for it, or none for its gaps.
    Refused,
    /// It ends before its time, since a better cell has refused it.
    Dropped,
    /// This cell sends to it from now on, beside others.
    LegAdded,
    /// This cell no longer does.
    LegRemoved,
}

impl CallStep {
    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            CallStep::Begun => "begun",
            CallStep::Blocked => "blocked",
            CallStep::HandedOver => "handed over",
            CallStep::Refused => "refused",
            CallStep::Dropped => "dropped",
            CallStep::LegAdded => "leg added",
            CallStep::LegRemoved => "leg removed",
        }
    }
}

/// Why a UE is switched to another RRC state or DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwitchCause {
    /// There is data to send.
    Data,
    /// There was none for long enough.
    Inactivity,
    /// Another UE needs the DCH.
    Preempted,
    /// A larger DCH is free, and there is data for it.
    LargerRate,
    /// A smaller DCH is enough.
    SmallerRate,
    /// The UE sends a CELL UPDATE, because RLC or the radio link failed.
    CellUpdate,
}

/// Why a UE sends a CELL UPDATE (TS 25.331 §10.3.3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellUpdateCause {
    /// An RLC entity of the UE's bearer, at either end, reached MaxRST.
    RlcUnrecoverableError,
    /// T313 expired in CELL_DCH.
    RadioLinkFailure,
}

/// How a cell update ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellUpdateOutcome {
    /// The CELL UPDATE CONFIRM reached the UE.
    Confirmed,
    /// No answer to N302 + 1 CELL UPDATEs: the RRC connection was released.
    ConnectionReleased,
}

/// A number of an event. Its bits are what is hashed, so that two events have one hash only if they are the same to the bit.
#[derive(Clone, Copy, PartialEq)]
pub struct Real<F>(pub F);

impl<F: fmt::Debug> fmt::Debug for Real<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Hash for Real<f32> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Hash for Real<f64> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// Something that happened. Sizes are octets unless the name says bits.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
#[allow(missing_docs, reason = "the variants' sentences name their fields")]
pub enum TraceEvent {
    // ── TCP (one connection, both ends) ──────────────────────────────────────────────────────────────────────────
    /// A connection came to be (the SYN follows); `sender` is the end whose data the flow is about. One that takes the whole
    /// way is a transfer by itself; those to both sides of a proxy have the first one's number in `transfer`.
    ConnectionOpened {
        connection: ConnectionId,
        transfer: ConnectionId,
        leg: ProxyLeg,
        flow: FlowId,
        ue: UeId,
        sender: End,
        mss: u32,
    },
    /// The application handed over `bytes` more; `u64::MAX` means that it never runs out.
    AppWrote { connection: ConnectionId, end: End, bytes: u64 },
    /// The handshake is complete, seen from `end`.
    Established { connection: ConnectionId, end: End },
    /// `end` gave the connection up, or was told that there is none (any more).
    ConnectionFailed { connection: ConnectionId, end: End, failure: Failure },
    /// Both directions are closed, or a one-way transfer is wholly acknowledged.
    ConnectionClosed { connection: ConnectionId },
    /// A segment left TCP.
    SegmentSent { packet: PacketId, segment: Segment, cause: SendCause },
    /// A segment reached TCP; `delivered` bytes of payload went up in order because of it (holes that it filled
    /// included) and `duplicate` tells that all its payload had arrived before.
    SegmentReceived { packet: PacketId, segment: Segment, delivered: u64, duplicate: bool },
    /// New data was acknowledged to `end`: all sequence numbers below `una`; `payload` bytes of it were payload.
    Acked { connection: ConnectionId, end: End, una: u64, payload: u64 },
    /// The `count`-th duplicate acknowledgment in a row reached `end`.
    DupAck { connection: ConnectionId, end: End, count: u32 },
    /// A round-trip time was measured.
    RttSample { connection: ConnectionId, end: End, rtt: Duration },
    /// The smoothed round-trip time or the timeout changed.
    RtoUpdated { connection: ConnectionId, end: End, srtt: Duration, rto: Duration },
    /// The retransmission timer expired with data outstanding.
    RtoExpired { connection: ConnectionId, end: End, backoff: u32 },
    /// `end` found out that what it sent again after a timeout, or else after duplicate ACKs, had arrived the first time;
    /// its window is what it was.
    SpuriousRetransmission { connection: ConnectionId, end: End, by: SpuriousBy, timeout: bool },
    /// RACK found `segments` that `end` had sent to be lost.
    RackLoss { connection: ConnectionId, end: End, segments: u32 },
    /// `end` sent a tail loss probe: new data, or the last segment again.
    TailLossProbe { connection: ConnectionId, end: End, repeats: bool },
    /// The last probe of `end` repaired a loss.
    TailLossRepaired { connection: ConnectionId, end: End },
    /// `end` reduced its window because a router had marked a segment.
    EcnReduction { connection: ConnectionId, end: End },
    /// Congestion window or slow start threshold changed, in segments.
    Window { connection: ConnectionId, end: End, cwnd: Real<f64>, ssthresh: Real<f64> },

    // ── A proxy ──────────────────────────────────────────────────────────────────────────────────────────────────
    /// It holds so many octets of a transfer that were read on one side and are not acknowledged on the other; `is_full`
    /// tells that more wait to be read.
    ProxyBuffer { transfer: ConnectionId, direction: Direction, octets: u64, is_full: bool },
    /// A side has failed, or the proxy is out of order: so many octets are lost that it had acknowledged to their sender.
    ProxyLost { transfer: ConnectionId, direction: Direction, octets: u64 },
    /// One that splits nothing did this to a packet of a connection.
    ProxyHelped { connection: ConnectionId, help: Help },

    // ── UDP ──────────────────────────────────────────────────────────────────────────────────────────────────────
    /// A datagram left its host.
    DatagramSent { flow: FlowId, datagram: Datagram },
    /// A datagram reached its host.
    DatagramReceived { flow: FlowId, datagram: Datagram },

    // ── Applications ─────────────────────────────────────────────────────────────────────────────────────────────
    /// A packet call begins: the user asks for something. From now on this connection's calls are told, not guessed.
    PacketCallStarted { connection: ConnectionId },
    /// All that was sent for the packet call that began at `since` is acknowledged.
    PacketCallEnded { connection: ConnectionId, since: Time },
    /// The user has the whole page that was asked for at `since`.
    PageEnded { flow: FlowId, since: Time },
    /// The session that began at `since` is over.
    SessionEnded { flow: FlowId, since: Time },

    // ── IP ───────────────────────────────────────────────────────────────────────────────────────────────────────
    /// A packet passed a capture point.
    PacketCaptured { at: CapturePoint, packet: Packet },
    /// A packet takes so long because of the Internet on its way, recorded when it enters the links that lead there.
    InternetDelay { direction: Direction, delay: Duration },
    /// A packet was dropped above RLC.
    PacketDropped { place: DropPlace, packet: Packet },

    // ── RLC (of one UE, in one direction; recorded at the sending entity unless stated) ───────────────────────────
    /// An SDU entered the transmission buffer.
    SduQueued { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes },
    /// The receiving entity handed an SDU up; it had entered the sender's buffer at `entered`.
    SduDelivered { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes, entered: Time },
    /// The sender gave an SDU up.
    SduDiscarded { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes },
    /// The sender begins `sdus` further SDUs from now on and no more, as long as it has its channel; `None`: as many as there
    /// are.
    SdusLimited { ue: UeId, direction: Direction, sdus: Option<u32> },
    /// Data PDUs `first_sn` onwards, `count` of them, left for the lower layers.
    PdusSent { ue: UeId, direction: Direction, first_sn: u32, count: u32, retransmission: bool, poll: bool },
    /// A STATUS left: in a PDU of its own, or in a data PDU. `mrw` tells that it moves the receiving window.
    StatusSent { ue: UeId, direction: Direction, octets: u32, piggybacked: bool, mrw: bool },
    /// The receiving entity dropped `count` PDUs; `direction` is the one that it receives.
    PdusDropped { ue: UeId, direction: Direction, count: u32, why: PduDrop },
    /// Timer_Poll expired.
    TimerPollExpired { ue: UeId, direction: Direction },
    /// The sending entity begins a RESET procedure.
    RlcReset { ue: UeId, direction: Direction },
    /// The entity that sends in `direction` went back to its initial state, and PDUs are counted from zero again: a RESET
    /// was obeyed or acknowledged, or the bearer re-established.
    RlcInitialState { ue: UeId, direction: Direction },
    /// MaxRST was reached: the entity sends and takes nothing until it is re-established.
    RlcUnrecoverable { ue: UeId, direction: Direction },
    /// SDU octets held by the sender: not yet sent, or not yet acknowledged.
    RlcBuffer { ue: UeId, direction: Direction, octets: u64 },

    // ── MAC, Iub and the air ─────────────────────────────────────────────────────────────────────────────────────
    /// Blocks of `bits` each crossed the Iub.
    IubSent { ue: UeId, direction: Direction, blocks: u32, bits: u32 },
    /// Blocks found the Node B's queue full.
    FachQueueDropped { ue: UeId, blocks: u32 },
    /// A block set ended on the air: `errors` of its `blocks` were lost.
    BlocksReceived { ue: UeId, direction: Direction, channel: Channel, blocks: u32, errors: u32 },
    /// A UE met another on the RACH with the same access slot and signature, in a TDD cell with the same code.
    RachCollision { ue: UeId },

    // ── Capacity of a TDD cell (`direction` is that of the data) ─────────────────────────────────────────────────
    /// There is something to send, and no capacity for it: a UE will ask on the RACH, the RNC of itself.
    CapacityNeeded { ue: UeId, direction: Direction },
    /// A UE asked on the RACH; `heard` unless it met another.
    CapacityRequested { ue: UeId, heard: bool },
    /// There was no room for one block; `waits` tells that the RNC keeps the request, else the UE backs off.
    CapacityRefused { ue: UeId, direction: Direction, waits: bool },
    /// What was to be sent is gone, and no capacity is needed.
    CapacityWithdrawn { ue: UeId, direction: Direction },
    /// From this frame on there are `blocks` in each frame, of `wanted` that the backlog was worth.
    CapacityGranted { ue: UeId, direction: Direction, blocks: u32, wanted: u32 },
    /// A frame was left unused, and the capacity is free again: it was held for `frames`, and `blocks` were sent; `sdus` were
    /// acknowledged or given up meanwhile.
    CapacityReleased { ue: UeId, direction: Direction, frames: u32, blocks: u32, sdus: u32 },
    /// A frame of a TDD cell with capacity granted: slots that go each way, and resource units that are held and used; blocks
    /// that were sent, and those of them that were lost, by how many blocks of others were in their slot, none to three.
    FrameUsed { cell: u16, slots: [u8; 2], held: [u16; 2], used: [u16; 2], sent: [u8; 4], lost: [u8; 4] },
    /// A UE met another on the common channel of uplink acknowledgments.
    AckCollision { ue: UeId },
    /// A UE's control PDU had no turn on the common channel of downlink acknowledgments.
    AckDeferred { ue: UeId },

    // ── Cells that share their radio: the downlink of a layout ───────────────────────────────────────────────────
    /// A UE is in another cell from now on, and has no turn on its DSCH for so long.
    Handover { ue: UeId, from: u16, to: u16, interruption: Duration },
    /// SDUs for a UE of which nothing was sent were lost with the buffer of the cell that it left, of so many octets.
    HandoverLost { ue: UeId, cell: u16, size: Bytes },
    /// A TTI of the DSCH is a UE's: its format, which holds so many `blocks`, of which RLC used `sent`, with the code of this
    /// spreading factor, where `wanted` was asked for, and of this power in mW. `code` counts among the codes of the factor.
    DschGranted {
        ue: UeId,
        cell: u16,
        blocks: u8,
        sent: u8,
        spreading_factor: u16,
        wanted: u16,
        code: u16,
        power: Real<f32>,
    },
    /// TTIs of the DSCH of a cell go on for a second frame, where it is decided each frame: of so many users, with this share of the
    /// code tree and this power in mW.
    DschHeld { cell: u16, users: u32, codes: Real<f32>, power: Real<f32> },
    /// A UE asked for a TTI of the DSCH, and got none.
    DschPostponed { ue: UeId, cell: u16, why: Postponed },
    /// A TTI of a cell with its power in mW and its load factor; the calls in it, of whose blocks some were lost. `scaled`
    /// tells that there was not the power for all dedicated channels.
    CellPower { cell: u16, power: Real<f32>, load: Real<f32>, calls: u32, sent: u32, lost: u32, scaled: bool },

    /// A call did something, where codes are limited, handover is soft, or calls have gaps.
    Call { cell: u16, step: CallStep },
    /// The dedicated channels of a cell in a TTI: legs of calls of other cells, and DCHs beside the DSCH, with their power in mW;
    /// its own calls that had a gap; and the share of a code tree that all of them have. Told where codes are limited, handover
    /// is soft, calls have gaps, or those DCHs are charged.
    CellDchs {
        cell: u16,
        further: u32,
        further_power: Real<f32>,
        associated: u32,
        associated_power: Real<f32>,
        compressed: u32,
        codes: Real<f32>,
    },

    // ── RRC (of UEs that are switched between channels) ──────────────────────────────────────────────────────────
    /// A UE is in `state` from now on: at the beginning, and at the end of every switch.
    RrcState { ue: UeId, state: RrcState },
    /// A switch begins: no user data moves until the state is entered, unless the scenario lets it.
    RrcSwitch { ue: UeId, from: RrcState, to: RrcState, cause: SwitchCause },
    /// A UE asks for a DCH; `again` if the same need was refused before.
    DchRequested { ue: UeId, again: bool },
    /// It will get one; `after_release` tells that another UE's is released first.
    DchGranted { ue: UeId, after_release: bool },
    /// It gets none.
    DchRefused { ue: UeId },
    /// It waits for one.
    DchQueued { ue: UeId },
    /// It no longer needs the one that it asked for.
    DchWithdrawn { ue: UeId },
    /// What a cell has reserved: bit/s by direction, the common channel included, and the number of DCHs. `is_full` tells
    /// that nobody could be given a DCH: none is free, and none can be taken away.
    CellReserved { cell: u16, rates: [u64; 2], dchs: u32, is_full: bool },

    // ── Cell update (of UEs with RLC of their own) ───────────────────────────────────────────────────────────────
    /// A cell update begins. Until `CellUpdateEnded` RLC sends nothing in either direction.
    CellUpdateStarted { ue: UeId, cause: CellUpdateCause },
    /// The UE sent a CELL UPDATE, the `attempt`-th of this procedure, counted from 1. `arrives`: not lost on the air.
    CellUpdateSent { ue: UeId, attempt: u32, arrives: bool },
    /// The RNC sent a CELL UPDATE CONFIRM. `arrives`: not lost on the air.
    CellUpdateConfirmSent { ue: UeId, arrives: bool },
    /// The cell update is over: RLC was re-established at this instant. The UE may send again, unless it is in idle mode.
    CellUpdateEnded { ue: UeId, outcome: CellUpdateOutcome },
    /// RRC re-established both RLC entities of the UE's bearer.
    RlcReestablished { ue: UeId },

    // ── RLC without acknowledgments ──────────────────────────────────────────────────────────────────────────────
    /// An SDU of unacknowledged or transparent mode, or a packet of a flat radio, can no longer be delivered because a part of
    /// it was lost. Recorded when its last block arrives, is lost on the air, or is dropped.
    SduLost { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes },
}
