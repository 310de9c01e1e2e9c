//! The PDUs of one UE's bearer in one TTI, described as runs of consecutive PDUs without payload.
//! One PDU fills one transport block.
//!
//! A block set is passed unchanged from the sending RLC entity to the receiving one. Its vectors are
//! reused, so a TTI allocates no memory. [`DataRun`] and [`Status`] refer to elements of these
//! vectors by index.

use std::num::NonZeroU16;

use umts_units::{Bytes, Time};

use crate::packet::Packet;
use crate::radio::rlc::sn::Sn;

/// An IP packet in RLC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdu {
    /// The packet. Its id identifies the SDU.
    pub packet: Packet,
    /// Arrival in the transmission buffer.
    pub entered: Time,
    /// Octets of the packet in RLC. Stored because it is read often: code that moves SDUs need not
    /// compute it from the packet.
    size: u32,
}

// Values of more than 128 octets are moved by a call of memcpy, and each SDU is moved several times.
const _: () = assert!(size_of::<Sdu>() <= 128);

impl Sdu {
    /// A packet that enters RLC at `entered` unchanged.
    pub fn new(packet: Packet, entered: Time) -> Self {
        Sdu::compressed(packet, entered, 0)
    }

    /// A packet with headers that PDCP shortened by `octets`.
    #[inline]
    pub fn compressed(packet: Packet, entered: Time, octets: u16) -> Self {
        let size = packet.payload() + u32::from(packet.header()) - u32::from(octets);
        Sdu { packet, entered, size }
    }

    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }
}

/// A range of indices into a vector of a [`BlockSet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexRange {
    pub first: u16,
    pub after_last: u16,
}

impl IndexRange {
    /// The elements of `all` in this range.
    #[inline]
    fn of<E>(self, all: &[E]) -> &[E] {
        &all[usize::from(self.first)..usize::from(self.after_last)]
    }
}

/// Position of an SDU: it begins in PDU `first`, and PDU `sn` holds the length indicator of its
/// end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SduEnd {
    /// The PDU in which the SDU begins. No bit of a PDU carries this information, so a receiver
    /// according to TS 25.322 must not use it for decisions, but only to check whether it assembled
    /// the right SDU.
    pub first: Sn,
    /// The PDU with the length indicator of the end.
    pub sn: Sn,
    pub sdu: Sdu,
}

/// `count` consecutive numbers starting with `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnRun {
    pub first: Sn,
    pub count: u16,
}

/// Moves the receiving window: everything below `sn` is discarded, and the first `n_length` SDU
/// ends in that PDU (TS 25.322 §9.2.2.11.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mrw {
    /// SN_MRW_LENGTH, the last SN_MRW.
    pub sn: Sn,
    /// N_LENGTH.
    pub n_length: u8,
    /// LENGTH is zero: the only SN_MRW lies above the window that the sender had before the discard.
    /// The receiver must not mistake it for a number below its own window.
    pub beyond_window: bool,
}

/// The answer to an MRW (TS 25.322 §9.2.2.11.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MrwAck {
    /// SN_ACK, equal to VR(R).
    pub sn: Sn,
    /// N: the N_LENGTH of the MRW if its SN_MRW_LENGTH is SN_ACK, otherwise zero.
    pub n: u8,
}

/// A STATUS: acknowledgment, missing PDUs, window, MRW, MRW_ACK and poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// LSN: all PDUs below it are received or listed as missing. `None` in a STATUS without a report.
    pub lsn: Option<Sn>,
    /// Runs of missing PDUs, in [`BlockSet::missing`].
    pub missing: IndexRange,
    /// Command to move the receiving window.
    pub mrw: Option<Mrw>,
    /// Confirmation that the window was moved.
    pub mrw_ack: Option<MrwAck>,
    /// WSN of a WINDOW SUFI. Not zero, because the peer would ignore zero.
    pub window: Option<NonZeroU16>,
    /// Poll_SN of a POLL SUFI: the sender has sent all PDUs up to this one, and requests a report.
    pub poll: Option<Sn>,
    /// Size in octets.
    pub octets: u16,
}

/// Consecutive data PDUs of one mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRun {
    /// Number of the first PDU.
    pub first: Sn,
    pub count: u16,
    /// The polling bit, which is set only in the last PDU of the run.
    pub poll: bool,
    /// All of these PDUs were sent before.
    pub retransmission: bool,
    /// Ends of SDUs in these PDUs, in [`BlockSet::ends`].
    pub ends: IndexRange,
    /// UM: an SDU begins with the first data octet, and a length indicator marks its start (runs of
    /// one PDU only).
    pub starts: bool,
    /// A STATUS inside the PDU (runs of one PDU only).
    pub piggyback: Option<Status>,
}

impl DataRun {
    /// A run of new PDUs without a poll. `first`: count of the first PDU.
    pub(super) fn new(first: u64, count: u32, ends: IndexRange) -> Self {
        DataRun {
            first: Sn::of(first),
            count: count as u16,
            poll: false,
            retransmission: false,
            ends,
            starts: false,
            piggyback: None,
        }
    }

    /// Whether the PDUs of `next` follow the PDUs of this run and can be appended to it: only the
    /// last PDU of a run may poll, and a PDU with a STATUS is a run of its own.
    #[inline]
    fn can_append(&self, next: &DataRun) -> bool {
        let follows = self.first.plus(u64::from(self.count)) == next.first;
        let is_same_kind = self.retransmission == next.retransmission;
        let has_status = self.piggyback.is_some() || next.piggyback.is_some();
        follows && is_same_kind && !self.poll && !has_status
    }
}

/// A PDU, or a run of PDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pdu {
    /// AMD PDUs.
    Data(DataRun),
    /// A STATUS PDU.
    Status(Status),
    /// A RESET PDU with its RSN.
    Reset(bool),
    /// A RESET ACK PDU with its RSN.
    ResetAck(bool),
    /// UMD PDUs. Only the lowest 7 bits of their numbers are sent.
    Umd(DataRun),
    /// TMD PDUs. Their numbers are not sent.
    Tmd(DataRun),
}

impl Pdu {
    /// Number of blocks.
    #[inline]
    pub fn blocks(&self) -> u32 {
        match self {
            Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => u32::from(run.count),
            Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => 1,
        }
    }

    /// Name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Pdu::Data(_) => "amd",
            Pdu::Umd(_) => "umd",
            Pdu::Tmd(_) => "tmd",
            Pdu::Status(_) => "status",
            Pdu::Reset(_) => "reset",
            Pdu::ResetAck(_) => "reset_ack",
        }
    }
}

/// The transport block set of one UE in one TTI, as RLC PDUs in the order of their blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockSet {
    pub pdus: Vec<Pdu>,
    /// Ends of SDUs in the PDUs.
    pub ends: Vec<SduEnd>,
    /// Missing PDUs listed in STATUS PDUs.
    pub missing: Vec<SnRun>,
    /// SN_MRW fields before the last one. A set has at most one MRW.
    pub discarded: Vec<Sn>,
    /// Number of blocks of the PDUs.
    pub blocks: u32,
    /// Octets of the PDUs if they have a flexible size, otherwise zero.
    pub flexible_octets: u32,
    /// Serial number among all block sets of a simulation run if a sink observes block sets,
    /// otherwise zero.
    pub serial: u64,
    /// The PDUs as octets, one entry per block, in wire mode. Otherwise empty.
    pub octets: Vec<Vec<u8>>,
}

impl BlockSet {
    /// Clears the set and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.pdus.clear();
        self.ends.clear();
        self.missing.clear();
        self.discarded.clear();
        self.blocks = 0;
        self.flexible_octets = 0;
        self.octets.clear();
    }

    /// The ends of SDUs in `run`.
    #[inline]
    pub fn ends_of(&self, run: &DataRun) -> &[SduEnd] {
        run.ends.of(&self.ends)
    }

    /// Runs of missing PDUs in `status`.
    #[inline]
    pub fn missing_of(&self, status: &Status) -> &[SnRun] {
        status.missing.of(&self.missing)
    }

    /// Adds a PDU that takes a whole block.
    pub(super) fn push_control(&mut self, pdu: Pdu) {
        self.pdus.push(pdu);
        self.blocks += 1;
    }

    /// Adds UMD or TMD PDUs.
    pub(super) fn push_run(&mut self, run: Pdu, blocks: u32) {
        self.pdus.push(run);
        self.blocks += blocks;
    }

    /// Adds a STATUS PDU.
    pub(super) fn push_status(&mut self, status: Status) {
        self.push_control(Pdu::Status(status));
    }

    /// Adds AMD PDUs. The ends of SDUs in them must already be in `ends`. The PDUs are appended to
    /// the previous run if they follow it and the polling bit and STATUS allow it.
    #[inline]
    pub(super) fn push_data(&mut self, run: DataRun) {
        self.blocks += u32::from(run.count);
        if let Some(Pdu::Data(last)) = self.pdus.last_mut()
            && last.can_append(&run)
        {
            last.count += run.count;
            last.poll = run.poll;
            last.ends.after_last = run.ends.after_last;
            return;
        }
        self.pdus.push(Pdu::Data(run));
    }

    /// The ends that were pushed since [`next_end_index`](Self::next_end_index) returned `first`.
    #[inline]
    pub(super) fn ends_since(&self, first: u16) -> IndexRange {
        IndexRange { first, after_last: self.next_end_index() }
    }

    /// The range of the ends of a run in which no SDU ends.
    #[inline]
    pub(super) fn no_ends(&self) -> IndexRange {
        self.ends_since(self.next_end_index())
    }

    /// Index in `ends` that the next end gets when it is pushed.
    #[inline]
    pub(super) fn next_end_index(&self) -> u16 {
        u16::try_from(self.ends.len()).expect("fewer than 65,536 SDUs end in a TTI")
    }
}
