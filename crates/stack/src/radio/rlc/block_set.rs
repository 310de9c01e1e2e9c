//! What one UE's bearer sends in one TTI: runs of consecutive PDUs, described and not copied.
//!
//! A set is one object from the sending RLC to the receiving one. Its vectors are reused, so a TTI allocates nothing.

use std::num::NonZeroU16;

use umts_units::{Bytes, Time};

use crate::packet::Packet;
use crate::radio::rlc::sn::Sn;

/// An IP packet as RLC sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdu {
    /// The packet; its id names the SDU.
    pub packet: Packet,
    /// When it entered the transmission buffer.
    pub entered: Time,
    /// What RLC carries of it. It is asked for at each step, and who moves SDUs need not look into packets for it.
    size: u32,
}

/// What is larger is moved by calls, and SDUs are moved a few times each.
const _: () = assert!(size_of::<Sdu>() <= 128);

impl Sdu {
    /// A packet that enters RLC at `entered` as it is.
    pub fn new(packet: Packet, entered: Time) -> Self {
        Sdu::compressed(packet, entered, 0)
    }

    /// One of whose headers PDCP took `octets` away.
    #[inline]
    pub fn compressed(packet: Packet, entered: Time, octets: u16) -> Self {
        let size = packet.payload() + u32::from(packet.header()) - u32::from(octets);
        Sdu { packet, entered, size }
    }

    /// Its size.
    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }
}

/// Where an SDU lies: it begins in PDU `first`, and PDU `sn` holds the length indicator that ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SduEnd {
    /// The PDU in which it begins. Bits do not say this, so no receiver of TS 25.322 decides by it; it tells whether what
    /// a receiver put together is that SDU.
    pub first: Sn,
    /// The PDU that tells its end.
    pub sn: Sn,
    /// The SDU.
    pub sdu: Sdu,
}

/// `count` consecutive numbers from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnRun {
    /// The first number.
    pub first: Sn,
    /// How many.
    pub count: u16,
}

/// Move the receiving window: everything below `sn` is given up, and the first `n_length` SDU ends in that PDU
/// (TS 25.322 §9.2.2.11.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mrw {
    /// SN_MRW_LENGTH, the last SN_MRW.
    pub sn: Sn,
    /// N_LENGTH.
    pub n_length: u8,
    /// LENGTH is zero: the one SN_MRW lies above the sender's window as it was, so it is no old one whatever it is.
    pub beyond_window: bool,
}

/// The answer to an MRW (TS 25.322 §9.2.2.11.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MrwAck {
    /// SN_ACK: VR(R).
    pub sn: Sn,
    /// N: the N_LENGTH of the MRW if its SN_MRW_LENGTH is SN_ACK, else zero.
    pub n: u8,
}

/// A STATUS: acknowledgment, what is missing, window, MRW and its acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// All PDUs below are received or named as missing; absent in a STATUS that reports nothing.
    pub lsn: Option<Sn>,
    /// Runs of missing PDUs, as a range of the set's `missing`.
    pub missing: (u16, u16),
    /// Move the receiving window.
    pub mrw: Option<Mrw>,
    /// The window was moved.
    pub mrw_ack: Option<MrwAck>,
    /// WSN of a WINDOW SUFI; one of zero would be ignored.
    pub window: Option<NonZeroU16>,
    /// Octets that it takes.
    pub octets: u16,
}

/// Consecutive data PDUs of one mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRun {
    /// Number of the first PDU.
    pub first: Sn,
    /// How many PDUs.
    pub count: u16,
    /// The polling bit, set in the last PDU of the run only.
    pub poll: bool,
    /// All of them were sent before.
    pub retransmission: bool,
    /// Ends of SDUs in these PDUs, as a range of the set's `ends`.
    pub ends: (u16, u16),
    /// UM: an SDU begins with the first data octet, and a length indicator says so (runs of one PDU only).
    pub starts: bool,
    /// A STATUS inside the PDU (runs of one PDU only).
    pub piggyback: Option<Status>,
}

impl DataRun {
    /// PDUs that are sent once and poll nobody.
    pub(super) fn new(first: u64, count: u32, ends: (u16, u16)) -> Self {
        let (retransmission, poll, starts, piggyback) = (false, false, false, None);
        DataRun { first: Sn::of(first), count: count as u16, poll, retransmission, ends, starts, piggyback }
    }
}

/// One PDU, or several alike.
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
    /// UMD PDUs; of their numbers the lowest 7 bits travel.
    Umd(DataRun),
    /// TMD PDUs; their numbers do not travel.
    Tmd(DataRun),
}

impl Pdu {
    /// How many blocks it fills.
    #[inline]
    pub fn blocks(&self) -> u32 {
        match self {
            Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => u32::from(run.count),
            Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => 1,
        }
    }
}

/// The transport block set of one UE in one TTI, as RLC PDUs in the order of their blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockSet {
    /// The PDUs.
    pub pdus: Vec<Pdu>,
    /// Where SDUs end in them.
    pub ends: Vec<SduEnd>,
    /// What the STATUS PDUs name as missing.
    pub missing: Vec<SnRun>,
    /// What their MRW, of which there is one at most, names before the last SN_MRW.
    pub discarded: Vec<Sn>,
    /// How many blocks the PDUs fill.
    pub blocks: u32,
    /// Its number among all sets of a run, if somebody watches blocks; else zero.
    pub serial: u64,
    /// The PDUs as octets, one entry each, in wire mode; else empty.
    pub octets: Vec<Vec<u8>>,
}

impl BlockSet {
    /// Empties it and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.pdus.clear();
        self.ends.clear();
        self.missing.clear();
        self.discarded.clear();
        self.blocks = 0;
        self.octets.clear();
    }

    /// The ends of SDUs in `run`.
    #[inline]
    pub fn ends_of(&self, run: &DataRun) -> &[SduEnd] {
        &self.ends[usize::from(run.ends.0)..usize::from(run.ends.1)]
    }

    /// What `status` names as missing.
    #[inline]
    pub fn missing_of(&self, status: &Status) -> &[SnRun] {
        &self.missing[usize::from(status.missing.0)..usize::from(status.missing.1)]
    }

    /// Adds a PDU that fills a block by itself.
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

    /// Adds AMD PDUs whose ends were pushed to `ends` from `ends_from` on; they lengthen the run before them if they
    /// continue it in every respect.
    #[inline]
    pub(super) fn push_data(&mut self, run: DataRun) {
        self.blocks += u32::from(run.count);
        if let Some(Pdu::Data(last)) = self.pdus.last_mut() {
            let continues = last.first.plus(u64::from(last.count)) == run.first
                && last.retransmission == run.retransmission
                && !last.poll
                && last.piggyback.is_none()
                && run.piggyback.is_none();
            if continues {
                last.count += run.count;
                last.poll = run.poll;
                last.ends.1 = run.ends.1;
                return;
            }
        }
        self.pdus.push(Pdu::Data(run));
    }

    /// Where the next end will be put.
    #[inline]
    pub(super) fn ends_mark(&self) -> u16 {
        u16::try_from(self.ends.len()).expect("a TTI ends few SDUs")
    }
}
