//! Frames of the Iub of users with an HS-DSCH or an E-DCH, as the RNC sends and receives them:
//! `iub.pcapng`, with an interface for each UE.
//!
//! | frame | time |
//! |---|---|
//! | HS-DSCH Capacity Request, HS-DSCH data (type 1, or type 2 for MAC-ehs) | when the RNC sends it |
//! | HS-DSCH Capacity Allocation (type 1, or type 2 for MAC-ehs), E-DCH data (type 1) | when it reaches the RNC |
//!
//! The octets of a data frame are the RLC PDUs of [the other captures](super), without MAC-d header,
//! because a user has one logical channel. Let tshark decode no MAC here (`-o fp.call_mac:FALSE`): from
//! the hint it learns neither the logical channel of an E-DCH nor the MAC-d flow of an HS-DSCH.

use std::path::Path;

use pcap_file::DataLink;
use umts_stack::ids::{Direction, UeId};
use umts_stack::nodeb::frames::{
    CapacityAllocation, CapacityAllocationType2, CapacityRequest, EDchData, FrameError, HsDschData,
    HsDschType2Data, MacEsPdu, PduBlock, Subframe, UNLIMITED_CREDITS,
};
use umts_stack::radio::rlc::octets::Encoding;
use umts_units::{Bytes, Duration, Time};

use super::air::Block;
use super::fp_hint::{HintChannel, wrap};
use super::mac::{self, PS_DTCH};
use crate::capture::CaptureError;
use crate::capture::file::{CaptureFile, Frame};

/// Maximum number of MAC-d PDUs in an HS-DSCH data frame. Wireshark decodes no more.
const MAX_PDUS: usize = 63;
/// Maximum length of a MAC-d PDU of an HS-DSCH data frame, in bits: its field has 13 bits.
const MAX_PDU_BITS: usize = (1 << 13) - 1;
/// MAC-d flow of all bearers.
const MAC_D_FLOW: u8 = 0;
/// The bit of the hint that marks an HS-DSCH with MAC-ehs.
const MAC_EHS: u8 = 1 << 3;
/// Data description indicator of all bearers.
const DDI: u8 = 1;
/// Unit of the interval of an allocation.
const INTERVAL_UNIT: Duration = Duration::from_millis(10);
/// Length of a radio frame, and of its subframes.
const RADIO_FRAME: Duration = Duration::from_millis(10);
const SUBFRAME: Duration = Duration::from_millis(2);
/// Maximum number of HARQ retransmissions that the field of a frame can hold.
const MAX_RETRANSMISSIONS: u8 = 12;

#[derive(Debug)]
pub(super) struct IubCapture {
    file: CaptureFile,
    /// By UE.
    users: Vec<User>,
}

#[derive(Debug, Clone, Default)]
struct User {
    /// Serials of the block sets that left the RNC after the last HS-DSCH data frame.
    leaving: Vec<u64>,
    /// Frame sequence number (FSN) of the next HS-DSCH data frame, modulo 16.
    hs_fsn: u8,
    /// Frame sequence number of the next E-DCH data frame, modulo 16.
    e_fsn: u8,
}

/// A block of an E-DCH.
#[derive(Debug, Clone, Copy)]
pub(super) struct EDchBlock {
    /// Transmission sequence number.
    pub tsn: u8,
    /// Start of the TTI in which the Node B decoded the block.
    pub tti: Time,
    /// Number of HARQ retransmissions that the block needed.
    pub retransmissions: u8,
}

/// The bearer of a UE on an HS-DSCH.
#[derive(Debug, Clone, Copy)]
pub(super) struct HsBearer<'a> {
    pub encoding: &'a Encoding,
    /// Whether the MAC of the HS-DSCH is MAC-ehs.
    pub is_ehs: bool,
}

/// Data of a UE that waits at the RNC for the HS-DSCH.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingData {
    pub octets: Bytes,
    /// Priority of its queue.
    pub priority: u8,
}

/// An allocation of credits by the Node B.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allocation {
    /// Number of PDUs that the RNC may send.
    pub credits: u32,
    /// Time in which it may send them.
    pub interval: Duration,
    pub priority: u8,
}

impl IubCapture {
    /// Creates the file, with an interface for each UE.
    pub fn create(folder: &Path, interfaces: &[String]) -> Result<Self, CaptureError> {
        let file = CaptureFile::create(folder, "iub", DataLink::WIRESHARK_UPPER_PDU, interfaces)?;
        Ok(IubCapture { file, users: vec![User::default(); interfaces.len()] })
    }

    /// Returns the file, which is not yet complete.
    pub fn into_file(self) -> CaptureFile {
        self.file
    }

    /// A block set leaves the RNC. It belongs to the next HS-DSCH data frame of the UE.
    pub fn leave(&mut self, ue: UeId, serial: u64) {
        self.users[ue.index()].leaving.push(serial);
    }

    /// Takes the serials of the block sets that belong to HS-DSCH data frames that are sent now.
    pub fn take_leaving(&mut self, ue: UeId) -> Vec<u64> {
        std::mem::take(&mut self.users[ue.index()].leaving)
    }

    /// The RNC sends a Capacity Request for the `waiting` data.
    pub fn write_request(
        &mut self,
        at: Time,
        ue: UeId,
        encoding: &Encoding,
        waiting: WaitingData,
    ) -> Result<(), CaptureError> {
        let WaitingData { octets, priority } = waiting;
        let request = CapacityRequest { priority, user_buffer: saturate(octets.0) };
        let bearer = HsBearer { encoding, is_ehs: false };
        self.write_hs(at, ue, Direction::Downlink, bearer, "Capacity Request", |octets| request.emit(octets))
    }

    /// A Capacity Allocation reaches the RNC.
    pub fn write_allocation(
        &mut self,
        at: Time,
        ue: UeId,
        bearer: HsBearer<'_>,
        allocation: Allocation,
    ) -> Result<(), CaptureError> {
        let Allocation { credits, interval, priority } = allocation;
        // The largest value of the field means unlimited credits.
        let max_credits =
            if bearer.is_ehs { u32::from(u16::MAX) - 1 } else { u32::from(UNLIMITED_CREDITS) - 1 };
        let mut comment = "Capacity Allocation".to_owned();
        if credits > max_credits {
            comment += &format!(" of {credits} credits, of which the frame can state {max_credits}");
        }
        let interval = interval.as_nanos().div_ceil(INTERVAL_UNIT.as_nanos()).clamp(1, 255);
        let (credits, interval) = (credits.min(max_credits) as u16, interval as u8);
        // The credits can be used once.
        let (congestion, repetition) = (0, 1);
        if bearer.is_ehs {
            let max_pdu_octets = bearer.encoding.pdu_octets() as u16;
            let frame = CapacityAllocationType2 {
                congestion,
                priority,
                max_pdu_octets,
                credits,
                interval,
                repetition,
            };
            return self.write_hs(at, ue, Direction::Uplink, bearer, &comment, |octets| frame.emit(octets));
        }
        let Some(max_pdu_bits) = pdu_bits(bearer.encoding) else { return Ok(()) };
        let frame = CapacityAllocation { congestion, priority, max_pdu_bits, credits, interval, repetition };
        self.write_hs(at, ue, Direction::Uplink, bearer, &comment, |octets| frame.emit(octets))
    }

    /// The RNC sends `blocks` to the Node B, in as many frames as they need. `waiting`: the data
    /// that still waits at the RNC afterwards.
    pub fn write_hs_data(
        &mut self,
        at: Time,
        ue: UeId,
        bearer: HsBearer<'_>,
        blocks: &[Block],
        waiting: WaitingData,
    ) -> Result<(), CaptureError> {
        if bearer.is_ehs {
            return self.write_type_2_data(at, ue, bearer, blocks, waiting);
        }
        let Some(pdu_bits) = pdu_bits(bearer.encoding) else { return Ok(()) };
        let mut unsent_blocks = blocks.len();
        for blocks in blocks.chunks(MAX_PDUS) {
            unsent_blocks -= blocks.len();
            let unsent_octets = (unsent_blocks * bearer.encoding.pdu_octets()) as u64;
            let frame = HsDschData {
                fsn: take_fsn(&mut self.users[ue.index()].hs_fsn),
                priority: waiting.priority,
                pdu_bits,
                flush: false,
                reset: false,
                user_buffer: saturate(waiting.octets.0 + unsent_octets),
                pdus: blocks.iter().map(|block| block.octets.clone()).collect(),
            };
            let comment = contents(blocks);
            self.write_hs(at, ue, Direction::Downlink, bearer, &comment, |octets| frame.emit(octets))?;
        }
        Ok(())
    }

    /// As `write_hs_data`, in frames for MAC-ehs: successive PDUs of one size form a block of the frame.
    fn write_type_2_data(
        &mut self,
        at: Time,
        ue: UeId,
        bearer: HsBearer<'_>,
        blocks: &[Block],
        waiting: WaitingData,
    ) -> Result<(), CaptureError> {
        let by_size = blocks.chunk_by(|before, after| before.octets.len() == after.octets.len());
        let pdu_blocks: Vec<&[Block]> =
            by_size.flat_map(|pdus| pdus.chunks(HsDschType2Data::MAX_PDUS)).collect();
        let octets = |pdus: &[Block]| pdus.iter().map(|pdu| pdu.octets.len() as u64).sum::<u64>();
        let mut unsent_octets = octets(blocks);
        for pdu_blocks in pdu_blocks.chunks(HsDschType2Data::MAX_BLOCKS) {
            unsent_octets -= pdu_blocks.iter().map(|pdus| octets(pdus)).sum::<u64>();
            let blocks = pdu_blocks.iter().map(|pdus| PduBlock {
                channel: PS_DTCH - 1,
                octets: pdus[0].octets.len() as u16,
                pdus: pdus.iter().map(|pdu| pdu.octets.clone()).collect(),
            });
            let frame = HsDschType2Data {
                fsn: take_fsn(&mut self.users[ue.index()].hs_fsn),
                priority: waiting.priority,
                flush: false,
                reset: false,
                user_buffer: saturate(waiting.octets.0 + unsent_octets),
                blocks: blocks.collect(),
            };
            let comment = contents(&pdu_blocks.concat());
            self.write_hs(at, ue, Direction::Downlink, bearer, &comment, |octets| frame.emit(octets))?;
        }
        Ok(())
    }

    /// An E-DCH data frame with `blocks`, the PDUs of `block`, reaches the RNC.
    pub fn write_e_dch_data(
        &mut self,
        at: Time,
        ue: UeId,
        encoding: &Encoding,
        blocks: &[Block],
        block: EDchBlock,
    ) -> Result<(), CaptureError> {
        let Ok(pdu_bits) = u16::try_from(encoding.pdu_octets() * 8) else { return Ok(()) };
        let EDchBlock { tsn, tti, retransmissions } = block;
        let pdus = blocks.iter().map(|block| block.octets.clone()).collect();
        let in_radio_frame = tti.as_nanos() % RADIO_FRAME.as_nanos();
        let subframe = Subframe {
            retransmissions: retransmissions.min(MAX_RETRANSMISSIONS),
            number: (in_radio_frame / SUBFRAME.as_nanos()) as u8,
            mac_es_pdus: vec![MacEsPdu { ddi: DDI, tsn, pdu_bits, pdus }],
        };
        let fsn = take_fsn(&mut self.users[ue.index()].e_fsn);
        let frame = EDchData { fsn, cfn: mac::cfn(tti), subframes: vec![subframe] };
        let mut octets = Vec::new();
        frame.emit(&mut octets).map_err(|error| self.invalid(error))?;
        let [low, high] = pdu_bits.to_le_bytes();
        let description = [MAC_D_FLOW, 1, DDI, PS_DTCH, low, high];
        let bearer = (ue, encoding.pdu_mode(), 1);
        let data = wrap(bearer, Direction::Uplink, HintChannel::EDch, &description, &octets);
        self.write(at, ue, &data, &contents(blocks))
    }

    /// Writes a frame of an HS-DSCH. `emit` appends its octets.
    fn write_hs(
        &mut self,
        at: Time,
        ue: UeId,
        direction: Direction,
        bearer: HsBearer<'_>,
        comment: &str,
        emit: impl FnOnce(&mut Vec<u8>) -> Result<(), FrameError>,
    ) -> Result<(), CaptureError> {
        let mut octets = Vec::new();
        emit(&mut octets).map_err(|error| self.invalid(error))?;
        // Wireshark needs one bearer at least.
        let one_bearer = (ue, bearer.encoding.pdu_mode(), 1);
        let flow = MAC_D_FLOW | if bearer.is_ehs { MAC_EHS } else { 0 };
        let data = wrap(one_bearer, direction, HintChannel::HsDsch, &[flow], &octets);
        self.write(at, ue, &data, comment)
    }

    fn write(&mut self, at: Time, ue: UeId, data: &[u8], comment: &str) -> Result<(), CaptureError> {
        let (interface, length) = (u32::from(ue.0), data.len() as u32);
        let comments = vec![format!("UE {}: {comment}", ue.0)];
        self.file.write(Frame { at, interface, data, length, comments })
    }

    fn invalid(&self, error: FrameError) -> CaptureError {
        self.file.error(std::io::Error::new(std::io::ErrorKind::InvalidInput, error))
    }
}

/// Takes a frame sequence number, and increases it for the next frame.
fn take_fsn(fsn: &mut u8) -> u8 {
    let taken = *fsn;
    *fsn = (taken + 1) % 16;
    taken
}

/// Bits of a MAC-d PDU. `None` if no HS-DSCH data frame can carry it.
fn pdu_bits(encoding: &Encoding) -> Option<u16> {
    let bits = encoding.pdu_octets() * 8;
    (bits <= MAX_PDU_BITS).then_some(bits as u16)
}

/// A number of octets for a field of 16 bits: at most 65,535.
fn saturate(octets: u64) -> u16 {
    u16::try_from(octets).unwrap_or(u16::MAX)
}

/// The sequence numbers of the RLC PDUs in `blocks`, as ranges.
fn contents(blocks: &[Block]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    let mut control_pdus = 0;
    for block in blocks {
        match (block.sn.map(|sn| sn.value()), ranges.last_mut()) {
            (None, _) => control_pdus += 1,
            (Some(sn), Some((_, last))) if *last + 1 == sn => *last = sn,
            (Some(sn), _) => ranges.push((sn, sn)),
        }
    }
    let ranges = ranges.iter().map(|(first, last)| match last - first {
        0 => format!("{first}"),
        _ => format!("{first}-{last}"),
    });
    let mut parts: Vec<String> = ranges.collect();
    if !parts.is_empty() {
        parts[0].insert_str(0, "RLC PDUs ");
    }
    if control_pdus > 0 {
        parts.push(format!("control PDUs: {control_pdus}"));
    }
    parts.join(", ")
}
