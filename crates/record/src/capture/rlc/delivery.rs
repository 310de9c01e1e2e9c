//! The delivery view of a capture of RLC: PDUs in sequence, arranged so that Wireshark reassembles
//! every SDU that the receiver delivered. It works in acknowledged mode (AM), unacknowledged mode
//! (UM) and transparent mode (TM).
//!
//! PDUs are held from the PDU in which an SDU begins until the SDU is complete. If the SDU never
//! completes (discard, RESET, end of the run), its parts are removed from the held PDUs. Wireshark
//! does not reassemble an SDU across a wrap-around of the sequence numbers, so each round of
//! numbers has its own U-RNTI, and the parts of an SDU before the wrap-around are moved to the PDU
//! with number 0 after it. In unacknowledged mode the parts of an SDU of too many PDUs are moved to
//! its last PDU.

use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::octets::{Encoding, PduMode};
use umts_stack::radio::rlc::wire::{LengthIndicator, UmSn};
use umts_stack::radio::rlc::{BlockSet, Pdu, Sn};
use umts_units::Time;

use super::air::Block;
use super::exported::{self, Width};
use super::sdu_parts::{Format, SduParts};

/// A frame of the file.
#[derive(Debug)]
pub(super) struct DeliveryFrame {
    pub at: Time,
    pub octets: Vec<u8>,
    pub comments: Vec<String>,
}

/// SDUs that the sender discarded, of which the last PDU was sent because another SDU shares it.
#[derive(Debug, Clone, Copy)]
struct DiscardedEnds {
    /// The PDU in which they end.
    sn: Sn,
    /// Number of SDUs.
    sdus: u8,
}

/// A data PDU that arrived and may be held until its SDU is complete.
#[derive(Debug, Clone)]
struct HeldPdu {
    at: Time,
    sn: Sn,
    octets: Vec<u8>,
    width: Width,
    comments: Vec<String>,
    parts: SduParts,
}

/// The receiving end of one direction of a bearer.
#[derive(Debug)]
pub(super) struct Delivery {
    ue: UeId,
    direction: Direction,
    mode: PduMode,
    /// `None` in transparent mode.
    format: Option<Format>,
    /// Number of wrap-arounds of the sequence numbers and of RESETs so far.
    round: u16,
    /// Whether no PDU of this round has been processed.
    is_new_round: bool,
    /// AM: PDUs that arrived but are not in sequence yet, by number.
    arrived: Vec<Option<(Time, Block)>>,
    /// AM: discarded SDUs that end in a PDU which is still to come.
    discarded_ends: Option<DiscardedEnds>,
    /// UM: VR(US), the number of the next expected PDU.
    vr_us: UmSn,
    /// UM: whether the start of the SDU that continues in PDU VR(US) was received.
    has_sdu_start: bool,
    /// PDUs from the one in which the incomplete SDU begins.
    held: Vec<HeldPdu>,
    /// Frames that are not written yet.
    frames: Vec<DeliveryFrame>,
}

/// Maximum number of PDUs of an SDU in unacknowledged mode. Wireshark gives up an SDU that spans
/// more than a quarter of the sequence numbers. There are 128 in unacknowledged mode.
const UM_MAX_PDUS: usize = 30;

// Comments of frames.

/// The frame fills the place of a PDU that the sender discarded before its first transmission.
const DISCARDED_PDU: &str = "never on the air: fills the place of a PDU that was given up";
/// The frame fills the place of a PDU that was lost.
const LOST_PDU: &str = "never on the air: fills the place of a PDU that was lost";
/// The part of an SDU that was never completed is removed.
const PART_REMOVED: &str =
    "changed: the SDU that begins or goes on here was never whole, its part is left out";
/// The part of an SDU is moved to a later PDU.
const PART_MOVED: &str = "changed: what was here of an SDU stands in a PDU further on";
/// The parts of an SDU from earlier PDUs are added at the start.
const PARTS_ADDED: &str = "changed: an SDU that began further back stands here from its first octet on";
/// The octet after the last SDU, which no length indicator describes, is removed.
const OCTET_REMOVED: &str = "changed: the octet behind the last SDU, of which nothing is said, is left out";
/// Parts of incomplete SDUs are removed.
const INCOMPLETE_REMOVED: &str = "changed: parts of SDUs that are not whole are left out";

impl Delivery {
    pub fn new(ue: UeId, direction: Direction, encoding: &Encoding) -> Self {
        let numbers = if encoding.pdu_mode() == PduMode::Am { Sn::MODULUS as usize } else { 0 };
        Delivery {
            ue,
            direction,
            mode: encoding.pdu_mode(),
            format: Format::of(encoding),
            round: 0,
            is_new_round: true,
            arrived: vec![None; numbers],
            discarded_ends: None,
            vr_us: UmSn::default(),
            has_sdu_start: true,
            held: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Takes the frames to be written.
    pub fn take_frames(&mut self) -> impl Iterator<Item = DeliveryFrame> + use<'_> {
        self.frames.drain(..)
    }

    /// A block set arrives. The blocks in `lost` are missing.
    pub fn arrive(&mut self, at: Time, set: &BlockSet, blocks: &[Block], lost: Lost) {
        match self.mode {
            PduMode::Am => {
                for block in correct_blocks(blocks, lost) {
                    if let Some(sn) = block.sn {
                        self.arrived[usize::from(sn.value())] = Some((at, block.clone()));
                    }
                }
            }
            PduMode::Um => {
                for block in correct_blocks(blocks, lost) {
                    if let Some(sn) = block.sn {
                        self.take_unacknowledged(at, sn, block);
                    }
                }
            }
            PduMode::Tm => self.take_transparent(at, set, blocks, lost),
        }
    }

    /// AM: the receiver has `count` more PDUs in sequence, from `first` on.
    pub fn in_sequence(&mut self, first: Sn, count: u64) {
        for offset in 0..count {
            let sn = first.plus(offset);
            let arrived = self.arrived[usize::from(sn.value())].take();
            let (at, block) = arrived.expect("a PDU arrives before it is in sequence");
            self.take_acknowledged(at, sn, block);
        }
    }

    /// AM: the receiver no longer waits for `count` PDUs from `first` on, nor for the first `ends`
    /// SDUs that end in the following PDU.
    pub fn skip(&mut self, at: Time, first: Sn, count: u64, ends: u8) {
        self.remove_open_sdu(PART_REMOVED);
        for offset in 0..count {
            let sn = first.plus(offset);
            self.arrived[usize::from(sn.value())] = None;
            self.begin_round_at(sn);
            self.insert_empty_pdu(at, sn, DISCARDED_PDU);
        }
        let following = first.plus(count);
        self.discarded_ends = (ends > 0).then_some(DiscardedEnds { sn: following, sdus: ends });
    }

    /// RLC returns to its initial state.
    pub fn reset(&mut self) {
        if self.mode != PduMode::Am {
            return;
        }
        self.remove_open_sdu(PART_REMOVED);
        self.next_round();
        self.discarded_ends = None;
    }

    /// Ends the run: an incomplete SDU is removed.
    pub fn finish(&mut self) {
        self.remove_open_sdu(PART_REMOVED);
    }

    /// Starts a round of sequence numbers, with another U-RNTI.
    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        self.is_new_round = true;
    }

    /// If `sn` is 0, starts the next round, unless no PDU of the current round was processed.
    /// Returns the octets of an SDU that continues from the previous round.
    fn begin_round_at(&mut self, sn: Sn) -> Vec<u8> {
        let mut carried = Vec::new();
        if sn == Sn::of(0) && !self.is_new_round {
            carried = self.remove_open_sdu(PART_MOVED);
            self.next_round();
        }
        self.is_new_round = false;
        carried
    }

    /// AM: takes the next PDU in sequence.
    fn take_acknowledged(&mut self, at: Time, sn: Sn, block: Block) {
        let carried = self.begin_round_at(sn);
        let mut pdu = self.read_pdu(at, sn, block);
        if let Some(ends) = self.discarded_ends.take_if(|ends| ends.sn == sn) {
            pdu.parts.drop_ends(ends.sdus);
            self.rewrite(&mut pdu, INCOMPLETE_REMOVED);
        }
        if !carried.is_empty() {
            pdu.parts.prepend(carried);
            self.rewrite(&mut pdu, PARTS_ADDED);
        }
        self.show_or_hold(pdu);
    }

    /// UM: takes the next PDU that arrives. PDUs with numbers from VR(US) to before it are lost:
    /// PDUs without data fill their places, and the SDU that continues in them is removed.
    fn take_unacknowledged(&mut self, at: Time, sn: Sn, block: &Block) {
        let um_sn = UmSn::of(sn.value().into());
        if um_sn != self.vr_us {
            self.remove_open_sdu(PART_REMOVED);
            self.has_sdu_start = false;
        }
        while um_sn != self.vr_us {
            let lost_sn = Sn::of(self.vr_us.value().into());
            self.begin_round_at(lost_sn);
            self.insert_empty_pdu(at, lost_sn, LOST_PDU);
            self.vr_us = UmSn::of(u64::from(self.vr_us.value()) + 1);
        }
        self.vr_us = UmSn::of(u64::from(um_sn.value()) + 1);
        let sn = Sn::of(um_sn.value().into());
        let carried = self.begin_round_at(sn);
        let mut pdu = self.read_pdu(at, sn, block.clone());
        if pdu.parts.leading == Some(LengthIndicator::StartsHere) {
            self.remove_open_sdu(PART_REMOVED);
            self.has_sdu_start = true;
        } else if !carried.is_empty() {
            pdu.parts.prepend(carried);
            self.rewrite(&mut pdu, PARTS_ADDED);
        }
        if !self.has_sdu_start {
            if pdu.parts.has_sdu_end() {
                pdu.parts.drop_ends(1);
                self.has_sdu_start = true;
            } else {
                pdu.parts.open.clear();
            }
            self.rewrite(&mut pdu, INCOMPLETE_REMOVED);
        }
        self.show_or_hold(pdu);
    }

    /// TM: the blocks of an entry of the set are one SDU, which is lost if one of them is lost.
    fn take_transparent(&mut self, at: Time, set: &BlockSet, blocks: &[Block], lost: Lost) {
        let mut first_block = 0;
        for pdu in &set.pdus {
            let end = first_block + pdu.blocks() as usize;
            let sdu_blocks = &blocks[first_block..end.min(blocks.len())];
            let is_whole = !(first_block..end).any(|block| lost.contains(block as u32));
            first_block = end;
            if let Pdu::Tmd(_) = pdu
                && is_whole
            {
                let octets = sdu_blocks.iter().flat_map(|block| block.octets.iter().copied()).collect();
                let comments = sdu_blocks.iter().map(|block| block.comment.clone()).collect();
                self.show(at, octets, Width::Seven, comments);
            }
        }
    }

    /// Splits a PDU into parts of SDUs.
    fn read_pdu(&self, at: Time, sn: Sn, block: Block) -> HeldPdu {
        let format = self.format.expect("its PDUs have headers");
        let parts = SduParts::read(format, &block.octets);
        let comments = vec![format!("UE {}: {}", self.ue.0, block.comment)];
        HeldPdu { at, sn, octets: block.octets, width: format.width(), comments, parts }
    }

    /// Encodes a PDU again from its parts. The length indicators are wide, because the PDU may have
    /// become longer than narrow ones can describe.
    fn rewrite(&self, pdu: &mut HeldPdu, why: &str) {
        let format = self.format.expect("its PDUs have headers");
        pdu.octets = pdu.parts.write(format, pdu.sn);
        pdu.width = Width::Fifteen;
        pdu.comments.push(why.to_owned());
    }

    /// Adds the PDU and the held ones to the frames if their SDUs are complete. Otherwise holds the
    /// PDU.
    fn show_or_hold(&mut self, mut pdu: HeldPdu) {
        if pdu.parts.has_undescribed_octet {
            pdu.parts.has_undescribed_octet = false;
            self.rewrite(&mut pdu, OCTET_REMOVED);
        }
        if pdu.parts.has_sdu_end() && self.mode == PduMode::Um && self.held.len() >= UM_MAX_PDUS {
            let carried = self.remove_open_sdu(PART_MOVED);
            pdu.parts.prepend(carried);
            self.rewrite(&mut pdu, PARTS_ADDED);
        }
        if pdu.parts.has_sdu_end() {
            for held in std::mem::take(&mut self.held) {
                self.show_pdu(held);
            }
        }
        if pdu.parts.open.is_empty() && self.held.is_empty() {
            self.show_pdu(pdu);
        } else {
            self.held.push(pdu);
        }
    }

    /// Removes the parts of the incomplete SDU from the held PDUs, and adds the PDUs to the frames.
    /// Returns the parts.
    fn remove_open_sdu(&mut self, why: &str) -> Vec<u8> {
        let mut removed = Vec::new();
        for mut pdu in std::mem::take(&mut self.held) {
            removed.append(&mut pdu.parts.open);
            self.rewrite(&mut pdu, why);
            self.show_pdu(pdu);
        }
        removed
    }

    /// Adds a PDU without data in place of PDU `sn`.
    fn insert_empty_pdu(&mut self, at: Time, sn: Sn, why: &str) {
        let format = self.format.expect("its PDUs have headers");
        let octets = SduParts::default().write(format, sn);
        self.show(at, octets, Width::Fifteen, vec![format!("UE {}: {why}", self.ue.0)]);
    }

    fn show_pdu(&mut self, pdu: HeldPdu) {
        self.show(pdu.at, pdu.octets, pdu.width, pdu.comments);
    }

    /// Adds a frame with this PDU.
    fn show(&mut self, at: Time, pdu: Vec<u8>, width: Width, comments: Vec<String>) {
        // One U-RNTI per UE and round.
        let u_rnti = (u32::from(self.ue.0) + 1) << 16 | u32::from(self.round);
        let octets = exported::frame(self.mode, self.direction, u_rnti, width, &pdu);
        self.frames.push(DeliveryFrame { at, octets, comments });
    }
}

/// The blocks that are not lost.
fn correct_blocks(blocks: &[Block], lost: Lost) -> impl Iterator<Item = &Block> {
    let is_correct = move |index: usize| !lost.contains(index as u32);
    blocks.iter().enumerate().filter(move |(index, _)| is_correct(*index)).map(|(_, block)| block)
}
