//! The delivery view: PDUs in sequence, arranged so that Wireshark reassembles every SDU that the
//! receiver delivered.
//!
//! PDUs are held from the one in which an SDU begins until the SDU is complete. If it never
//! completes (discard, RESET, end of the run), or if sequence numbers wrap around inside it, its
//! parts are removed from the held PDUs. After a wrap-around they are added in front of the PDU
//! with number 0. In unacknowledged mode the same is done with SDUs of many PDUs.

use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::octets::{Encoding, PduMode};
use umts_stack::radio::rlc::wire::{LengthIndicator, UmSn};
use umts_stack::radio::rlc::{BlockSet, Pdu, Sn};
use umts_units::Time;

use super::air::Block;
use super::exported::{self, Width};
use super::pieces::{Format, Pieces};

/// A frame of the file.
#[derive(Debug)]
pub(super) struct Shown {
    pub at: Time,
    pub octets: Vec<u8>,
    pub comments: Vec<String>,
}

/// A data PDU that arrived.
#[derive(Debug, Clone)]
struct Kept {
    at: Time,
    sn: Sn,
    octets: Vec<u8>,
    width: Width,
    comments: Vec<String>,
    pieces: Pieces,
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
    /// Whether no PDU of this round has been taken.
    is_fresh: bool,
    /// AM: PDUs that arrived and have not been taken in sequence, by number.
    arrived: Vec<Option<(Time, Block)>>,
    /// AM: the number of SDU ends in this PDU that are not wanted.
    unwanted: Option<(Sn, u8)>,
    /// UM: VR(US), and whether the start of the SDU that continues there was seen.
    vr_us: UmSn,
    knows_start: bool,
    /// PDUs from the one in which the incomplete SDU begins.
    held: Vec<Kept>,
    shown: Vec<Shown>,
}

/// Wireshark gives up an SDU that spans more than a quarter of the sequence numbers. There are 128
/// in unacknowledged mode.
const UM_MOST_PDUS: usize = 30;

const SKIPPED: &str = "never on the air: fills the place of a PDU that was given up";
const LOST: &str = "never on the air: fills the place of a PDU that was lost";
const CUT: &str = "changed: the SDU that begins or goes on here was never whole, its part is left out";
const MOVED: &str = "changed: what was here of an SDU stands in a PDU further on";
const CARRIED: &str = "changed: an SDU that began further back stands here from its first octet on";
const TRIMMED: &str = "changed: the octet behind the last SDU, of which nothing is said, is left out";
const HEADLESS: &str = "changed: parts of SDUs that are not whole are left out";

impl Delivery {
    pub fn new(ue: UeId, direction: Direction, encoding: &Encoding) -> Self {
        let numbers = if encoding.pdu_mode() == PduMode::Am { Sn::MODULUS as usize } else { 0 };
        Delivery {
            ue,
            direction,
            mode: encoding.pdu_mode(),
            format: Format::of(encoding),
            round: 0,
            is_fresh: true,
            arrived: vec![None; numbers],
            unwanted: None,
            vr_us: UmSn::default(),
            knows_start: true,
            held: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Takes the frames to be written.
    pub fn take_shown(&mut self) -> impl Iterator<Item = Shown> + use<'_> {
        self.shown.drain(..)
    }

    /// A block set arrives. The blocks in `lost` are missing.
    pub fn arrive(&mut self, at: Time, set: &BlockSet, blocks: &[Block], lost: Lost) {
        match self.mode {
            PduMode::Am => {
                for (_, block) in good(blocks, lost) {
                    if let Some(sn) = block.sn {
                        self.arrived[usize::from(sn.value())] = Some((at, block.clone()));
                    }
                }
            }
            PduMode::Um => {
                for (_, block) in good(blocks, lost) {
                    if let Some(sn) = block.sn {
                        self.take_unacknowledged(at, sn, block);
                    }
                }
            }
            PduMode::Tm => self.take_transparent(at, set, blocks, lost),
        }
    }

    /// AM: the receiver has `count` more PDUs in sequence.
    pub fn in_sequence(&mut self, first: Sn, count: u64) {
        for step in 0..count {
            let sn = first.plus(step);
            let arrived = self.arrived[usize::from(sn.value())].take();
            let (at, block) = arrived.expect("a PDU arrives before it is in sequence");
            self.take(at, sn, block);
        }
    }

    /// AM: the receiver no longer waits for `count` PDUs, nor for the first `ends` SDUs that end in
    /// the following PDU.
    pub fn skip(&mut self, at: Time, first: Sn, count: u64, ends: u8) {
        self.close(CUT);
        for step in 0..count {
            let sn = first.plus(step);
            self.arrived[usize::from(sn.value())] = None;
            self.begin_round_at(sn);
            self.fill(at, sn, SKIPPED);
        }
        self.unwanted = (ends > 0).then_some((first.plus(count), ends));
    }

    /// RLC returns to its initial state.
    pub fn reset(&mut self) {
        if self.mode != PduMode::Am {
            return;
        }
        self.close(CUT);
        self.next_round();
        self.unwanted = None;
    }

    /// Ends the run: an incomplete SDU is removed.
    pub fn finish(&mut self) {
        self.close(CUT);
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        self.is_fresh = true;
    }

    /// Starts a round at number 0, unless no PDU was taken before. Returns the octets of an SDU
    /// that continues from the previous round.
    fn begin_round_at(&mut self, sn: Sn) -> Vec<u8> {
        let mut carried = Vec::new();
        if sn == Sn::of(0) && !self.is_fresh {
            carried = self.close(MOVED);
            self.next_round();
        }
        self.is_fresh = false;
        carried
    }

    /// AM: takes the next PDU in sequence.
    fn take(&mut self, at: Time, sn: Sn, block: Block) {
        let carried = self.begin_round_at(sn);
        let mut kept = self.keep(at, sn, block);
        if let Some((_, ends)) = self.unwanted.take_if(|(unwanted, _)| *unwanted == sn) {
            kept.pieces.drop_ends(ends);
            self.rewrite(&mut kept, HEADLESS);
        }
        if !carried.is_empty() {
            kept.pieces.prepend(carried);
            self.rewrite(&mut kept, CARRIED);
        }
        self.put(kept);
    }

    /// UM: takes the next PDU that arrives.
    fn take_unacknowledged(&mut self, at: Time, sn: Sn, block: &Block) {
        let this = UmSn::of(sn.value().into());
        if this != self.vr_us {
            self.close(CUT);
            self.knows_start = false;
        }
        while this != self.vr_us {
            let lost = Sn::of(self.vr_us.value().into());
            self.begin_round_at(lost);
            self.fill(at, lost, LOST);
            self.vr_us = UmSn::of(u64::from(self.vr_us.value()) + 1);
        }
        self.vr_us = UmSn::of(u64::from(this.value()) + 1);
        let sn = Sn::of(this.value().into());
        let carried = self.begin_round_at(sn);
        let mut kept = self.keep(at, sn, block.clone());
        if kept.pieces.leading == Some(LengthIndicator::StartsHere) {
            self.close(CUT);
            self.knows_start = true;
        } else if !carried.is_empty() {
            kept.pieces.prepend(carried);
            self.rewrite(&mut kept, CARRIED);
        }
        if !self.knows_start {
            if kept.pieces.has_sdu_end() {
                kept.pieces.drop_ends(1);
                self.knows_start = true;
            } else {
                kept.pieces.open.clear();
            }
            self.rewrite(&mut kept, HEADLESS);
        }
        self.put(kept);
    }

    /// TM: a block is an SDU, or all correct blocks of a TTI together are one.
    fn take_transparent(&mut self, at: Time, set: &BlockSet, blocks: &[Block], lost: Lost) {
        let mut block = 0;
        for pdu in &set.pdus {
            let count = pdu.blocks() as usize;
            let these = &blocks[block..(block + count).min(blocks.len())];
            let is_good = !(block..block + count).any(|block| lost.contains(block as u32));
            block += count;
            if let Pdu::Tmd(_) = pdu
                && is_good
            {
                let octets = these.iter().flat_map(|block| block.octets.iter().copied()).collect();
                let comments = these.iter().map(|block| block.comment.clone()).collect();
                self.show(at, octets, Width::Seven, comments);
            }
        }
    }

    fn keep(&self, at: Time, sn: Sn, block: Block) -> Kept {
        let format = self.format.expect("its PDUs have headers");
        let pieces = Pieces::read(format, &block.octets);
        let comments = vec![format!("UE {}: {}", self.ue.0, block.comment)];
        Kept { at, sn, octets: block.octets, width: format.width(), comments, pieces }
    }

    /// Encodes a PDU again from its pieces.
    fn rewrite(&self, kept: &mut Kept, why: &str) {
        let format = self.format.expect("its PDUs have headers");
        kept.octets = kept.pieces.write(format, kept.sn);
        kept.width = Width::Fifteen;
        kept.comments.push(why.to_owned());
    }

    /// Shows the PDUs of complete SDUs, and holds the others.
    fn put(&mut self, mut kept: Kept) {
        if kept.pieces.has_silent_octet {
            kept.pieces.has_silent_octet = false;
            self.rewrite(&mut kept, TRIMMED);
        }
        if kept.pieces.has_sdu_end() && self.mode == PduMode::Um && self.held.len() >= UM_MOST_PDUS {
            let carried = self.close(MOVED);
            kept.pieces.prepend(carried);
            self.rewrite(&mut kept, CARRIED);
        }
        if kept.pieces.has_sdu_end() {
            for whole in std::mem::take(&mut self.held) {
                self.show_kept(whole);
            }
        }
        if kept.pieces.open.is_empty() && self.held.is_empty() {
            self.show_kept(kept);
        } else {
            self.held.push(kept);
        }
    }

    /// Removes the parts of the incomplete SDU from the held PDUs and shows the PDUs. Returns the
    /// parts.
    fn close(&mut self, why: &str) -> Vec<u8> {
        let mut taken = Vec::new();
        for mut kept in std::mem::take(&mut self.held) {
            taken.append(&mut kept.pieces.open);
            self.rewrite(&mut kept, why);
            self.show_kept(kept);
        }
        taken
    }

    fn fill(&mut self, at: Time, sn: Sn, why: &str) {
        let format = self.format.expect("its PDUs have headers");
        let octets = Pieces::default().write(format, sn);
        self.show(at, octets, Width::Fifteen, vec![format!("UE {}: {why}", self.ue.0)]);
    }

    fn show_kept(&mut self, kept: Kept) {
        self.show(kept.at, kept.octets, kept.width, kept.comments);
    }

    fn show(&mut self, at: Time, pdu: Vec<u8>, width: Width, comments: Vec<String>) {
        let u_rnti = (u32::from(self.ue.0) + 1) << 16 | u32::from(self.round);
        let octets = exported::frame(self.mode, self.direction, u_rnti, width, &pdu);
        self.shown.push(Shown { at, octets, comments });
    }
}

/// The blocks that are not lost, with their indices.
fn good(blocks: &[Block], lost: Lost) -> impl Iterator<Item = (usize, &Block)> {
    blocks.iter().enumerate().filter(move |(at, _)| !lost.contains(*at as u32))
}
