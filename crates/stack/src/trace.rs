//! The trace events of the stack, typed and with units. Metrics, time series, captures and the time
//! budget are computed only from these events.
//!
//! The events keep identities: the packet of a segment is an SDU of RLC (same [`PacketId`]), the
//! PDUs of an SDU are identified by their sequence numbers, and PDUs travel in block sets.

use std::fmt;
use std::hash::{Hash, Hasher};

use umts_units::{BitRate, Bytes, Duration, Time};

use crate::ids::{ConnectionId, Direction, End, FlowId, PacketId, ProxyLeg, UeId};
use crate::packet::{Datagram, Packet, Segment};
pub use crate::radio::mac::transport_channel::Channel;
pub use crate::radio::rrc_state::RrcState;

/// Why a segment was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendCause {
    /// Data (or SYN, FIN) sent for the first time.
    New,
    /// A pure acknowledgment.
    Ack,
    /// Retransmitted after duplicate acknowledgments, or in the recovery that they started.
    DupAck,
    /// Retransmitted after an expiry of the retransmission timer, including go-back-N.
    Rto,
    /// A probe of a closed window.
    WindowProbe,
    /// A RST.
    Reset,
    /// Sent because no ACK arrived during a probe timeout: a tail loss probe.
    TailLoss,
    /// A keep-alive probe.
    KeepAlive,
}

impl SendCause {
    /// Whether the segment is a retransmission.
    #[inline]
    pub fn is_again(self) -> bool {
        matches!(self, SendCause::DupAck | SendCause::Rto | SendCause::TailLoss)
    }
}

/// Why a connection ended before both sides had closed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The other end answered the SYN with a RST.
    Refused,
    /// The other end sent a RST.
    Reset,
    /// A segment was retransmitted too often, or too many keep-alive probes had no answer.
    TimedOut,
    /// A proxy aborted the connection because the other connection of the transfer had failed.
    Aborted,
}

/// How a retransmission was detected as spurious.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpuriousBy {
    /// By the timestamp that an ACK echoed (RFC 3522).
    Eifel,
    /// By the ACKs of segments that were not sent again (RFC 5682).
    FRto,
    /// By reports of duplicates (RFC 3708).
    Dsack,
}

/// The action on a packet by a proxy that does not split connections (snoop, ACK regulation, window
/// clamp).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Help {
    /// Retransmitted a segment from its copy.
    Repeated,
    /// Suppressed an acknowledgment for the server.
    Hid,
    /// Delayed an acknowledgment.
    Held,
    /// Lowered an advertised window.
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
    /// The script of the scenario dropped the packet.
    Script,
    /// The RLC transmission buffer was full.
    RlcBuffer,
    /// Random loss of a flat radio.
    FlatLoss,
    /// Transparent RLC delivered the packet marked as erroneous.
    ErroneousSdu,
    /// RLC delivered the packet with undetected errors, and the checksum failed.
    Checksum,
    /// The packet arrived long after the end of its connection.
    NoConnection,
    /// The packet arrived at a proxy that had failed.
    ProxyDown,
    /// A proxy suppressed the packet. The proxy already had the information in it.
    ProxyHidden,
}

/// A queue with active queue management.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueuePlace {
    /// In front of link number n of the core network.
    Link(u8),
    /// The RLC transmission buffer.
    Rlc,
}

/// Why an RLC entity dropped a PDU that the lower layers gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PduDrop {
    /// The bits are not a valid PDU: invalid or reserved values (TS 25.322 §10).
    Malformed,
    /// The PDU belongs to another mode than the entity's.
    WrongMode,
    /// The sequence number lies outside the receiving window (§11.3.4).
    OutsideWindow,
    /// A RESET is in progress, or was given up (§11.4.2).
    Resetting,
    /// A STATUS names a PDU outside VT(A) to VT(S) (§10).
    ErroneousSn,
}

/// A place where IP packets can be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CapturePoint {
    /// The server's interface.
    Server,
    /// A proxy, on the server's side.
    ProxyServer,
    /// A proxy, on the UE's side.
    ProxyRadio,
    /// The RNC, above RLC.
    Rnc,
    /// The UE, above RLC.
    Ue,
}

/// Limit of the number of PDUs in a block on the E-DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ELimit {
    /// RLC has no more PDUs, or the window of the RNC is full.
    Data,
    /// The category of the UE.
    Category,
    /// The serving grant.
    Grant,
    /// The transmit power of the UE, also if the Node B grants no more because of the reported headroom.
    Power,
}

/// Why a UE's request for a DSCH was postponed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Postponed {
    /// No code of the channel's part of the code tree is free.
    Codes,
    /// The cell has not enough power.
    Power,
    /// A scheduler of the user left the UE out.
    LeftOut,
    /// The UE is changing cells.
    Handover,
}

/// A step of a call in the cells of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallStep {
    Begun,
    /// The call does not begin: no code is free for it.
    Blocked,
    /// This cell serves the call from now on.
    HandedOver,
    /// A call could not use this cell, as its cell or as a further one: no code is free, or none
    /// for its compressed mode gaps.
    Refused,
    /// The call ends early because a better cell refused it.
    Dropped,
    /// This cell transmits to the UE from now on, together with others.
    LegAdded,
    /// This cell no longer transmits to the UE.
    LegRemoved,
}

impl CallStep {
    /// The name in tables.
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

/// Why a UE changes its RRC state or DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwitchCause {
    /// There is data to send.
    Data,
    /// There was no data for long enough.
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
    /// The UE on common channels selected another cell.
    CellReselection,
}

/// How a cell update ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellUpdateOutcome {
    /// The CELL UPDATE CONFIRM reached the UE.
    Confirmed,
    /// No answer to N302 + 1 CELL UPDATEs: the RRC connection was released.
    ConnectionReleased,
}

/// A floating-point field of an event. Its bits are hashed, so equal hashes mean numbers that are
/// equal to the bit.
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

/// A trace event. Sizes are in octets unless the name says bits.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
#[allow(missing_docs, reason = "the variants' sentences name their fields")]
pub enum TraceEvent {
    // ── TCP (one connection, both ends) ──────────────────────────────────────────────────────────
    /// A connection was created. Its SYN follows. `sender` is the end that sends the data of the
    /// flow. A connection on the whole path is a transfer of its own. The two connections of a
    /// proxied transfer have the number of the first one in `transfer`.
    ConnectionOpened {
        connection: ConnectionId,
        transfer: ConnectionId,
        leg: ProxyLeg,
        flow: FlowId,
        ue: UeId,
        sender: End,
        mss: u32,
    },
    /// The application wrote `bytes` more. `u64::MAX`: an unlimited amount.
    AppWrote { connection: ConnectionId, end: End, bytes: u64 },
    /// The handshake is complete at `end`.
    Established { connection: ConnectionId, end: End },
    /// `end` gave the connection up, or was notified by a RST that it does not exist or no longer
    /// exists.
    ConnectionFailed { connection: ConnectionId, end: End, failure: Failure },
    /// Both directions are closed, or a one-way transfer is fully acknowledged.
    ConnectionClosed { connection: ConnectionId },
    /// A segment left TCP.
    SegmentSent { packet: PacketId, segment: Segment, cause: SendCause },
    /// A segment reached TCP. `delivered`: bytes of payload that it made available in order,
    /// including those that waited behind a hole. `duplicate`: all its payload had arrived before.
    SegmentReceived { packet: PacketId, segment: Segment, delivered: u64, duplicate: bool },
    /// New data of `end` was acknowledged: all sequence numbers below `una`. `payload` is the
    /// number of payload bytes among them.
    Acked { connection: ConnectionId, end: End, una: u64, payload: u64 },
    /// The `count`-th duplicate acknowledgment in a row reached `end`.
    DupAck { connection: ConnectionId, end: End, count: u32 },
    /// A round-trip time was measured.
    RttSample { connection: ConnectionId, end: End, rtt: Duration },
    /// The smoothed round-trip time or the timeout changed.
    RtoUpdated { connection: ConnectionId, end: End, srtt: Duration, rto: Duration },
    /// The retransmission timer expired with data outstanding. `backoff` is the factor on the next
    /// timeout: a power of 2.
    RtoExpired { connection: ConnectionId, end: End, backoff: u32 },
    /// `end` detected that its retransmission was spurious: the data had arrived the first time. It
    /// restored its window. `timeout`: the retransmission followed a timeout, not duplicate ACKs.
    SpuriousRetransmission { connection: ConnectionId, end: End, by: SpuriousBy, timeout: bool },
    /// RACK marked `segments` of `end` as lost.
    RackLoss { connection: ConnectionId, end: End, segments: u32 },
    /// `end` sent a tail loss probe: new data, or the last segment again.
    TailLossProbe { connection: ConnectionId, end: End, repeats: bool },
    /// The last probe of `end` repaired a loss.
    TailLossRepaired { connection: ConnectionId, end: End },
    /// `end` reduced its window because a router had marked a segment.
    EcnReduction { connection: ConnectionId, end: End },
    /// Congestion window or slow start threshold changed, in segments.
    Window { connection: ConnectionId, end: End, cwnd: Real<f64>, ssthresh: Real<f64> },

    // ── Proxy ────────────────────────────────────────────────────────────────────────────────────
    /// The buffer of a proxy: octets of a transfer that were read on one side and are not
    /// acknowledged on the other. `is_full`: more octets wait to be read.
    ProxyBuffer { transfer: ConnectionId, direction: Direction, octets: u64, is_full: bool },
    /// A side failed, or the proxy failed: these octets are lost although the proxy had
    /// acknowledged them.
    ProxyLost { transfer: ConnectionId, direction: Direction, octets: u64 },
    /// A proxy that does not split connections acted on a packet of a connection.
    ProxyHelped { connection: ConnectionId, help: Help },

    // ── UDP ──────────────────────────────────────────────────────────────────────────────────────
    /// A datagram left its host.
    DatagramSent { flow: FlowId, datagram: Datagram },
    /// A datagram reached its host.
    DatagramReceived { flow: FlowId, datagram: Datagram },

    // ── Applications ─────────────────────────────────────────────────────────────────────────────
    /// A packet call begins. From now on the packet calls of this connection come from these events
    /// and are not inferred.
    PacketCallStarted { connection: ConnectionId },
    /// All data of the packet call that began at `since` is acknowledged.
    PacketCallEnded { connection: ConnectionId, since: Time },
    /// The user has received the whole page requested at `since`.
    PageEnded { flow: FlowId, since: Time },
    /// The session that began at `since` is over.
    SessionEnded { flow: FlowId, since: Time },

    // ── IP ───────────────────────────────────────────────────────────────────────────────────────
    /// A packet passed a capture point.
    PacketCaptured { at: CapturePoint, packet: Packet },
    /// The Internet delay of a packet, recorded when it enters the links that lead there.
    InternetDelay { direction: Direction, delay: Duration },
    /// The rate of the links of hop number `hop`, counted from the server, changed for packets that
    /// enter from now on. `None`: unlimited.
    LinkRateChanged { hop: u8, rate: Option<BitRate> },
    /// The same for the delay.
    LinkDelayChanged { hop: u8, delay: Duration },
    /// A packet was dropped above RLC.
    PacketDropped { place: DropPlace, packet: Packet },
    /// Queue management marked a packet, or dropped it. A drop is followed by
    /// [`PacketDropped`](Self::PacketDropped), or by [`SduDiscarded`](Self::SduDiscarded) if the packet
    /// was already in the RLC buffer.
    QueueManaged { place: QueuePlace, direction: Direction, marked: bool },

    // ── RLC (of one UE, in one direction; recorded at the sending entity unless stated) ──────────
    /// An SDU entered the transmission buffer.
    SduQueued { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes },
    /// The receiving entity delivered an SDU, which had entered the sender's buffer at `entered`.
    SduDelivered { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes, entered: Time },
    /// The sender discarded an SDU.
    SduDiscarded { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes },
    /// From now on the sender starts at most `sdus` further SDUs while it keeps its channel.
    /// `None`: no limit.
    SdusLimited { ue: UeId, direction: Direction, sdus: Option<u32> },
    /// `count` data PDUs from `first_sn` on left for the lower layers.
    PdusSent { ue: UeId, direction: Direction, first_sn: u32, count: u32, retransmission: bool, poll: bool },
    /// A STATUS was sent, alone or piggybacked on a data PDU. `mrw`: the STATUS moves the receiving
    /// window.
    StatusSent { ue: UeId, direction: Direction, octets: u32, piggybacked: bool, mrw: bool },
    /// A STATUS of `octets` was sent that contains nothing but a POLL SUFI.
    PollSufiSent { ue: UeId, direction: Direction, octets: u32 },
    /// The receiving entity dropped `count` PDUs. `direction` is the direction in which it
    /// receives.
    PdusDropped { ue: UeId, direction: Direction, count: u32, why: PduDrop },
    /// Timer_Poll expired.
    TimerPollExpired { ue: UeId, direction: Direction },
    /// The sending entity begins a RESET procedure.
    RlcReset { ue: UeId, direction: Direction },
    /// The entity that sends in `direction` returned to its initial state, and PDUs are counted
    /// from 0 again: a RESET was obeyed or acknowledged, or the bearer was re-established.
    RlcInitialState { ue: UeId, direction: Direction },
    /// MaxRST was reached: the entity neither sends nor receives until it is re-established.
    RlcUnrecoverable { ue: UeId, direction: Direction },
    /// SDU octets in the sender's buffer: not yet sent, or not yet acknowledged.
    RlcBuffer { ue: UeId, direction: Direction, octets: u64 },

    // ── MAC, Iub and air interface ───────────────────────────────────────────────────────────────
    /// Blocks of `bits` each crossed the Iub.
    IubSent { ue: UeId, direction: Direction, blocks: u32, bits: u32 },
    /// The Node B dropped blocks because its queue was full.
    FachQueueDropped { ue: UeId, blocks: u32 },
    /// The Node B sent a block on the HS-DSCH: `pdus` MAC-d PDUs in the format for the reported
    /// `cqi`. `attempt`: number of the transmission, from 1. `is_decoded`: the UE has the block from
    /// now on.
    /// `is_last`: the Node B does not transmit the block again.
    HsBlockSent { ue: UeId, cqi: u8, attempt: u8, pdus: u32, is_decoded: bool, is_last: bool },
    /// The Node B discarded a PDU for the HS-DSCH: its queue was full, or its discard timer expired.
    HsPduDiscarded { ue: UeId },
    /// Timer T1 of the reordering queue of a UE expired: a block was given up.
    T1Expired { ue: UeId },
    /// The Node B flushed a PDU for the HS-DSCH: RLC had discarded the PDU, RLC was reset after it
    /// sent the PDU, or the UE left the channel.
    HsPduFlushed { ue: UeId },
    /// The reordering queue of a UE dropped a block of `pdus` PDUs, which it had given up before.
    HsBlockDropped { ue: UeId, pdus: u32 },
    /// The reordering queue of a UE mistook the TSN of a block for one of another cycle, because a
    /// whole window of blocks was lost before.
    HsTsnMisread { ue: UeId },
    /// The Node B read an ACK for a block that the UE does not have.
    HsFalseAck { ue: UeId },
    /// RLC retransmits `pdus` PDUs although their previous transmission is still in progress: on
    /// the Iub, at the Node B or in HARQ.
    HsNeedlessRetransmission { ue: UeId, pdus: u32 },
    /// A UE sent a block of `bits` bits with `pdus` MAC-d PDUs on the E-DCH. `attempt`: number of the
    /// transmission, from 1. `is_decoded`: the Node B has the block from now on. `is_last`: the block has
    /// ended. `is_happy`: its happy bit.
    EBlockSent {
        ue: UeId,
        attempt: u8,
        bits: u32,
        pdus: u32,
        is_decoded: bool,
        is_last: bool,
        is_happy: bool,
    },
    /// A UE read an ACK for a block that the Node B does not have.
    EFalseAck { ue: UeId },
    /// The Node B sent a serving grant to a UE. `index`: of the grant, `None` for the zero grant.
    /// `is_absolute`: by an absolute grant, otherwise by a relative one.
    EGrantSent { ue: UeId, index: Option<u8>, is_absolute: bool },
    /// Noise rise of a cell in dB by its E-DCH users, for `time` from now on. Recorded while there are
    /// blocks on the air.
    ENoiseRise { cell: u16, rise: Real<f32>, time: Duration },
    /// The reordering queue of the RNC dropped a block of `pdus` PDUs of a UE, which it had given up before.
    EBlockDropped { ue: UeId, pdus: u32 },
    /// Timer T1 of the reordering queue of the RNC for a UE expired: a block was given up.
    ET1Expired { ue: UeId },
    /// A block set ended on the air: `errors` of its `blocks` were lost.
    BlocksReceived { ue: UeId, direction: Direction, channel: Channel, blocks: u32, errors: u32 },
    /// A UE collided with another on the RACH: same access slot and signature, in a TDD cell the
    /// same code.
    RachCollision { ue: UeId },

    // ── Capacity of a TDD cell (`direction`: of the data) ────────────────────────────────────────
    /// There is data to send but no capacity for it. A UE will send a request on the RACH. The RNC
    /// issues its own request.
    CapacityNeeded { ue: UeId, direction: Direction },
    /// A UE sent a request on the RACH. `heard`: it did not collide.
    CapacityRequested { ue: UeId, heard: bool },
    /// There was no room for one block. `waits`: the RNC keeps the request. Otherwise the UE backs
    /// off.
    CapacityRefused { ue: UeId, direction: Direction, waits: bool },
    /// The data to send is gone, and no capacity is needed.
    CapacityWithdrawn { ue: UeId, direction: Direction },
    /// From this frame on, `blocks` are granted in each frame. `wanted`: the number that the
    /// backlog required.
    CapacityGranted { ue: UeId, direction: Direction, blocks: u32, wanted: u32 },
    /// A granted frame was unused, and the capacity is free again. It was held for `frames`.
    /// Meanwhile `blocks` were sent, and `sdus` were acknowledged or given up.
    CapacityReleased { ue: UeId, direction: Direction, frames: u32, blocks: u32, sdus: u32 },
    /// A frame of a TDD cell with granted capacity. `slots`: number in each direction. `held`,
    /// `used`: resource units that are allocated, and that carried blocks, by direction. `sent`,
    /// `lost`: blocks, indexed by the number of blocks of other UEs in the same slot (3: three or
    /// more).
    FrameUsed { cell: u16, slots: [u8; 2], held: [u16; 2], used: [u16; 2], sent: [u8; 4], lost: [u8; 4] },
    /// A UE collided with another on the common channel of uplink acknowledgments.
    AckCollision { ue: UeId },
    /// A UE's control PDU was not scheduled on the common channel of downlink acknowledgments.
    AckDeferred { ue: UeId },

    // ── Cells of a layout (downlink) ─────────────────────────────────────────────────────────────
    /// A UE moved to another cell by a hard handover. Its DSCH or its DCHs are interrupted for
    /// `interruption`.
    Handover { ue: UeId, from: u16, to: u16, interruption: Duration },
    /// SDUs of a UE, of which nothing had been sent, were lost with the buffer of the cell that it
    /// left. `size` is their total.
    HandoverLost { ue: UeId, cell: u16, size: Bytes },
    /// A UE has a TTI of the DSCH. `blocks`: capacity of its format; `sent`: blocks that RLC used.
    /// `spreading_factor`: of its code; `wanted`: the requested factor. `code`: number among the
    /// codes of the factor. `power`: in mW.
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
    /// The DSCH TTIs of a cell that began in the previous frame continue in this frame. Recorded if
    /// the cell allocates in each frame. `users`: number of UEs with such a TTI; `codes`: their
    /// share of the code tree; `power`: their power in mW.
    DschHeld { cell: u16, users: u32, codes: Real<f32>, power: Real<f32> },
    /// A UE requested a TTI of the DSCH, and the request was postponed.
    DschPostponed { ue: UeId, cell: u16, why: Postponed },
    /// A TTI of a cell, with power in mW and load factor. `calls`: number of calls; `sent`, `lost`:
    /// their blocks. `scaled`: the power did not suffice for all dedicated channels and was scaled
    /// down.
    CellPower { cell: u16, power: Real<f32>, load: Real<f32>, calls: u32, sent: u32, lost: u32, scaled: bool },
    /// A user of a DCH bearer received power in a TTI of the cells. `cell`: the best of its `legs` cells;
    /// `power`, `further_power`: in mW, of the code in this cell and of its codes in the others. `ebn0`:
    /// linear.
    DchSent { ue: UeId, cell: u16, legs: u8, power: Real<f32>, further_power: Real<f32>, ebn0: Real<f32> },
    /// A user on the FACH of a cell of a layout had data in a TTI of the cells. `ebn0`: linear.
    FachSent { ue: UeId, cell: u16, ebn0: Real<f32> },
    /// The S-CCPCH of a cell of a layout was sent in a TTI of the cells, with this power in mW.
    SccpchSent { cell: u16, power: Real<f32> },
    /// The HS-DSCH of a cell of a layout was sent in a part of a TTI of the cells. `share`: this part; `power`:
    /// the mean over the whole TTI, in mW.
    HsDschSent { cell: u16, power: Real<f32>, share: Real<f32> },
    /// A user on the HS-DSCH of a cell of a layout received blocks in the TTI of the cells before this one. `snr`:
    /// its mean SNR from now on, linear.
    HsSnr { ue: UeId, cell: u16, snr: Real<f32> },
    /// The serving HS-DSCH cell of a UE changes. `queued`: PDUs on the Iub or at the former Node B, which are
    /// flushed; `in_harq`: PDUs in its HARQ processes, which are lost.
    HsCellChanged { ue: UeId, queued: u32, in_harq: u32 },
    /// A UE in a cell of a layout began to send a block on the E-DCH. `power`: of all its channels, in mW.
    /// `limit`: of a new block, `None` of a repetition.
    EPowerSent { ue: UeId, cell: u16, power: Real<f32>, limit: Option<ELimit> },
    /// Share of the uplink power that a cell of a layout receives from E-DCH users of other cells, for
    /// `time` from now on. Recorded together with `ENoiseRise`.
    EFromOthers { cell: u16, share: Real<f32>, time: Duration },

    /// A step of a call. Recorded if codes are limited, handover is soft, or calls have gaps.
    Call { cell: u16, step: CallStep },
    /// The dedicated channels of a cell in a TTI. `further`: legs of calls of other cells;
    /// `associated`: DCHs beside the DSCH, both with their power in mW. `compressed`: own calls
    /// that had a gap. `codes`: the share of a code tree that all of them and DCH bearers use. Recorded
    /// if codes are limited, handover is soft, calls have gaps, associated DCHs are charged, or there
    /// are users of DCH bearers or of the FACH.
    CellDchs {
        cell: u16,
        further: u32,
        further_power: Real<f32>,
        associated: u32,
        associated_power: Real<f32>,
        compressed: u32,
        codes: Real<f32>,
    },

    // ── RRC (UEs that change channels) ───────────────────────────────────────────────────────────
    /// A UE is in `state` from now on. Recorded at the beginning and at the end of each switch.
    RrcState { ue: UeId, state: RrcState },
    /// A switch begins. No user data moves until the new state is entered, unless the scenario
    /// allows it.
    RrcSwitch { ue: UeId, from: RrcState, to: RrcState, cause: SwitchCause },
    /// A UE requests a DCH. `again`: the same need was refused before.
    DchRequested { ue: UeId, again: bool },
    /// The UE will get a DCH. `after_release`: the DCH of another UE is released first.
    DchGranted { ue: UeId, after_release: bool },
    /// The UE's request for a DCH is refused.
    DchRefused { ue: UeId },
    /// The UE waits for a DCH.
    DchQueued { ue: UeId },
    /// The UE no longer needs the DCH that it requested.
    DchWithdrawn { ue: UeId },
    /// Reservations of a cell: bit/s by direction, including the common channel, and the number of
    /// DCHs. `is_full`: a request for a DCH would fail, because none is free and none can be
    /// preempted.
    CellReserved { cell: u16, rates: [u64; 2], dchs: u32, is_full: bool },

    // ── Cell update (UEs with their own RLC) ─────────────────────────────────────────────────────
    /// A cell update begins. RLC sends nothing in either direction until `CellUpdateEnded`.
    CellUpdateStarted { ue: UeId, cause: CellUpdateCause },
    /// The UE sent a CELL UPDATE. `attempt`: its number in this procedure, from 1. `arrives`: not
    /// lost on the air.
    CellUpdateSent { ue: UeId, attempt: u32, arrives: bool },
    /// The RNC sent a CELL UPDATE CONFIRM. `arrives`: not lost on the air.
    CellUpdateConfirmSent { ue: UeId, arrives: bool },
    /// The cell update ended, and RLC was re-established at this instant. The UE may send again
    /// unless it is in idle mode.
    CellUpdateEnded { ue: UeId, outcome: CellUpdateOutcome },
    /// RRC re-established both RLC entities of the UE's bearer.
    RlcReestablished { ue: UeId },

    // ── RLC without acknowledgments and flat radio ───────────────────────────────────────────────
    /// An SDU of unacknowledged or transparent mode, or a packet of a flat radio, can no longer be
    /// delivered because a part of it was lost. Recorded when its last block arrives, is lost on
    /// the air, or is dropped.
    SduLost { ue: UeId, direction: Direction, sdu: PacketId, size: Bytes },
}
