//! Status reports of the receiving side: the missing PDUs that a report lists, its size in bits,
//! and its split into parts if it does not fit into one STATUS PDU (TS 25.322 §9.2.2.11, §9.7.2).
//!
//! A STATUS is a list of super-fields (SUFIs). Three kinds can list missing PDUs, and an ACK with
//! LSN acknowledges all other PDUs below LSN:
//!
//! ```text
//!   BITMAP  type 4 | LENGTH 4 | FSN 12 | 1 to 16 octets, a bit for each PDU         LSN
//!   LIST    type 4 | LENGTH 4 | 1 to 15 times: SN 12, L 4 further ones             type 4 | LSN 12
//!   RLIST   type 4 | LENGTH 4 | FSN 12 | up to 15 codewords of 4 bits
//! ```
//!
//! A codeword of RLIST holds 3 bits of a number, least significant group first, and a flag for the
//! last codeword of the number. A number is the distance from the previous missing PDU. The
//! codeword `0001` instead of a distance means that the next number counts further consecutive
//! missing PDUs. This form is used if three or more missing PDUs follow the first one of a run.
//! LENGTH is the number of octets minus 1 (BITMAP), of pairs (LIST) or of codewords (RLIST).

use super::config::StatusFormat;
use super::receiver::Receiver;
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::{IndexRange, Sn, SnRun, Status};

// Sizes in bits: fields and SUFIs that any STATUS can have.
/// The D/C and type fields of a STATUS PDU.
const PDU_TYPE: u64 = 4;
/// ACK: type 4, LSN 12.
const ACK: u64 = 16;
/// NO_MORE, which ends a STATUS without ACK.
const NO_MORE: u64 = 4;
/// MRW without its SN_MRW: type 4, LENGTH 4, N_LENGTH 4.
const MRW: u64 = 12;
/// One SN_MRW of an MRW.
const SN_MRW: u64 = 12;
/// MRW_ACK: type 4, N 4, SN_ACK 12.
const MRW_ACK: u64 = 20;
/// WINDOW: type 4, WSN 12.
const WINDOW: u64 = 16;

// Sizes in bits: parts of the SUFIs that list missing PDUs.
/// BITMAP and RLIST without map or codewords: type 4, LENGTH 4, FSN 12.
const HEAD: u64 = 20;
/// LIST without its runs: type 4, LENGTH 4.
const LIST_HEAD: u64 = 8;
/// A run of a LIST: SN 12, L 4.
const LIST_RUN: u64 = 16;
/// A codeword of an RLIST.
const CODEWORD: u64 = 4;
/// EURANE's report without its map.
const EURANE_HEAD: u64 = 20;
/// Maximum map of EURANE's report.
const EURANE_MAX_BITS: u64 = 300;

// Numbers.
/// Maximum number of PDUs of a BITMAP: 16 octets.
const BITMAP_MAX_PDUS: u64 = 128;
/// Maximum number of PDUs of a run of a LIST: the first one, and 15 further ones in L.
const LIST_RUN_MAX_PDUS: u64 = 16;
/// Maximum number of runs of a LIST, in the four bits of LENGTH.
const LIST_MAX_RUNS: u64 = 15;
/// Maximum number of codewords of an RLIST, in the four bits of LENGTH.
const RLIST_MAX_CODEWORDS: u64 = 15;
/// Maximum number of PDUs in a window.
const MAX_WINDOW: u64 = 4095;

/// SUFIs of a STATUS that are not part of a report.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OtherSufis {
    /// Number of SN_MRW fields of an MRW. `None`: no MRW.
    pub mrw: Option<u64>,
    pub mrw_ack: bool,
    pub window: bool,
}

impl OtherSufis {
    fn bits(self) -> u64 {
        let mrw = self.mrw.map_or(0, |sns| MRW + sns * SN_MRW);
        let mrw_ack = if self.mrw_ack { MRW_ACK } else { 0 };
        let window = if self.window { WINDOW } else { 0 };
        mrw + mrw_ack + window
    }

    pub fn any(self) -> bool {
        self.bits() > 0
    }

    /// Whether these SUFIs fit into a PDU of `pdu_octets` beside a STATUS of `status_octets`.
    pub fn fit_beside(self, status_octets: u16, pdu_octets: u16) -> bool {
        u64::from(status_octets) * 8 + self.bits() <= u64::from(pdu_octets) * 8
    }

    /// Octets of a STATUS without a report.
    pub fn octets(self) -> u16 {
        (PDU_TYPE + self.bits() + NO_MORE).div_ceil(8) as u16
    }
}

/// The part of a report that fits into a STATUS, and the size of the STATUS.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// The first missing PDU that is reported.
    from: u64,
    /// The end of the reported range: one above its last PDU.
    end: u64,
    /// Octets of the STATUS without padding, other SUFIs included.
    pub octets: u16,
    /// A PDU is missing, and not even the first missing PDU fits.
    pub fits_no_missing_pdu: bool,
}

/// The range of a report, and the size of its STATUS.
struct Reported {
    /// One above the last reported PDU.
    end: u64,
    /// Bits of the STATUS.
    bits: u64,
}

/// Number of SN_MRW fields that fit into a STATUS of `octets` beside a WINDOW and an MRW_ACK.
pub(super) fn max_sn_mrw(octets: u16) -> usize {
    let others = PDU_TYPE + MRW + MRW_ACK + WINDOW + NO_MORE;
    ((u64::from(octets) * 8).saturating_sub(others) / SN_MRW).max(1) as usize
}

impl Receiver {
    /// The part of the report, from `next_part_from` on, that fits into a STATUS of at most
    /// `max_octets` together with the SUFIs `others`.
    pub(super) fn extent(&self, config: &RlcConfig, max_octets: u16, others: OtherSufis) -> Extent {
        let from = self.next_part_from.map_or(self.vr_r, |from| from.max(self.vr_r));
        let from = self.arrived.first_gap(from, self.vr_h);
        let max_bits = u64::from(max_octets) * 8;
        // Bits of a STATUS of TS 25.322 without the SUFIs that list missing PDUs.
        let fixed_bits = PDU_TYPE + ACK + others.bits();
        let Reported { end, bits } = match config.status_format {
            StatusFormat::Bitmap => {
                self.fit_map(from, max_bits, u64::MAX, |mapped| fixed_bits + bitmaps(mapped))
            }
            StatusFormat::Eurane => {
                self.fit_map(from, max_bits, EURANE_MAX_BITS - 1, |mapped| eurane(mapped) + others.bits())
            }
            StatusFormat::List => self.fit_runs(from, max_bits, fixed_bits, List::default()),
            StatusFormat::Rlist => self.fit_runs(from, max_bits, fixed_bits, Rlist::default()),
        };
        let is_any_missing = from < self.vr_h;
        let fits_no_missing_pdu = bits > max_bits || (end == from && is_any_missing);
        Extent { from, end, octets: bits.div_ceil(8) as u16, fits_no_missing_pdu }
    }

    /// A map with one bit per PDU from `from` on, for at most `max_pdus` PDUs, shortened by octets
    /// until it fits into `max_bits`. `bits` returns the bits of the STATUS for a number of mapped
    /// PDUs.
    fn fit_map(&self, from: u64, max_bits: u64, max_pdus: u64, bits: impl Fn(u64) -> u64) -> Reported {
        let mut end = self.vr_h.min(from.saturating_add(max_pdus));
        while end > from && bits(end - from) > max_bits {
            end -= 8.min(end - from);
        }
        Reported { end, bits: bits(end - from) }
    }

    /// A list of the runs of missing PDUs from `from` on, as many as fit into `max_bits`.
    /// `fixed_bits`: bits of the STATUS without the runs.
    fn fit_runs(&self, from: u64, max_bits: u64, fixed_bits: u64, mut sufis: impl SufiSize) -> Reported {
        // If the STATUS may be too small for one run, only the first missing PDU is reported.
        let is_any_missing = from < self.vr_h;
        if is_any_missing && fixed_bits + sufis.max_first_bits() > max_bits {
            return Reported { end: from + 1, bits: fixed_bits + sufis.add(from, from + 1) };
        }
        let mut bits = fixed_bits;
        let mut at = from;
        while at < self.vr_h {
            let arrived = self.arrived.first_member(at, self.vr_h);
            let end = arrived.min(at + sufis.max_run());
            let run_bits = sufis.add(at, end);
            if bits + run_bits > max_bits {
                return Reported { end: at, bits };
            }
            bits += run_bits;
            at = self.arrived.first_gap(end, self.vr_h);
        }
        Reported { end: self.vr_h, bits }
    }

    /// Builds the report, or its next part, and appends the missing PDUs to `missing`. The first
    /// part acknowledges up to the end of its range. Later parts do not list the oldest missing
    /// PDUs, so they acknowledge only the PDUs below VR(R) (TS 25.322 §9.2.2.11.3).
    pub(super) fn report(&mut self, config: &RlcConfig, extent: Extent, missing: &mut Vec<SnRun>) -> Status {
        let Extent { from, end, octets, .. } = extent;
        let first_run = missing.len() as u16;
        let mut at = from;
        while at < end {
            let arrived = self.arrived.first_member(at, end);
            missing.push(SnRun { first: Sn::of(at), count: (arrived - at) as u16 });
            at = self.arrived.first_gap(arrived, end);
        }
        let is_first = self.next_part_from.is_none();
        let has_listed_a_pdu = end > from;
        let is_missing_more = self.arrived.first_gap(end, self.vr_h) < self.vr_h;
        // EURANE sends no further parts.
        let may_have_parts = config.status_format != StatusFormat::Eurane;
        let has_next_part = may_have_parts && has_listed_a_pdu && is_missing_more;
        self.next_part_from = has_next_part.then_some(end);
        Status {
            lsn: Some(Sn::of(if is_first { end } else { self.vr_r })),
            missing: IndexRange { first: first_run, after_last: missing.len() as u16 },
            octets,
            ..Status::default()
        }
    }
}

/// Bits of BITMAP SUFIs for `mapped` PDUs.
fn bitmaps(mapped: u64) -> u64 {
    let (full_sufis, rest) = (mapped / BITMAP_MAX_PDUS, mapped % BITMAP_MAX_PDUS);
    // A BITMAP has whole octets.
    let last_sufi = if rest > 0 { HEAD + rest.div_ceil(8) * 8 } else { 0 };
    full_sufis * (HEAD + BITMAP_MAX_PDUS) + last_sufi
}

/// Bits of EURANE's report for `mapped` PDUs: the map also has a bit for the PDU before them.
fn eurane(mapped: u64) -> u64 {
    EURANE_HEAD + if mapped == 0 { 0 } else { mapped + 1 }
}

/// Computes the size of SUFIs that list runs of missing PDUs.
trait SufiSize {
    /// Maximum number of PDUs in one run.
    fn max_run(&self) -> u64;
    /// Maximum number of bits for the first run.
    fn max_first_bits(&self) -> u64;
    /// Adds the run `first..end`. Returns the bits that it takes.
    fn add(&mut self, first: u64, end: u64) -> u64;
}

/// LIST SUFIs.
#[derive(Default)]
struct List {
    /// Number of runs so far.
    runs: u64,
}

impl SufiSize for List {
    fn max_run(&self) -> u64 {
        LIST_RUN_MAX_PDUS
    }

    fn max_first_bits(&self) -> u64 {
        LIST_HEAD + LIST_RUN
    }

    fn add(&mut self, _: u64, _: u64) -> u64 {
        let begins_sufi = self.runs.is_multiple_of(LIST_MAX_RUNS);
        self.runs += 1;
        if begins_sufi { LIST_HEAD + LIST_RUN } else { LIST_RUN }
    }
}

/// RLIST SUFIs.
#[derive(Default)]
struct Rlist {
    /// `None` before the first run.
    last_sufi: Option<RlistEnd>,
}

/// The end of the last RLIST SUFI so far.
struct RlistEnd {
    /// The last missing PDU in it.
    last_missing: u64,
    /// Number of codewords in it.
    codewords: u64,
}

impl SufiSize for Rlist {
    fn max_run(&self) -> u64 {
        MAX_WINDOW
    }

    fn max_first_bits(&self) -> u64 {
        HEAD + (1 + codewords(MAX_WINDOW)) * CODEWORD
    }

    fn add(&mut self, first: u64, end: u64) -> u64 {
        let last_missing = end - 1;
        let following = last_missing - first;
        // Codewords of the PDUs after the first one of the run.
        let run = run_codewords(following);
        // A new SUFI names the first PDU of the run in its FSN.
        let new_sufi = RlistEnd { last_missing, codewords: run };
        let Some(previous) = self.last_sufi.replace(new_sufi) else {
            return HEAD + run * CODEWORD;
        };
        // In the previous SUFI, the first PDU of the run is a distance from the last missing PDU.
        let distance = codewords(first - previous.last_missing);
        let used = previous.codewords;
        if used + distance > RLIST_MAX_CODEWORDS {
            return HEAD + run * CODEWORD;
        }
        if used + distance + run > RLIST_MAX_CODEWORDS {
            // The first PDU of the run still fits. The other PDUs of the run begin another SUFI.
            let run_without_first = run_codewords(following - 1);
            self.last_sufi = Some(RlistEnd { last_missing, codewords: run_without_first });
            return distance * CODEWORD + HEAD + run_without_first * CODEWORD;
        }
        self.last_sufi = Some(RlistEnd { last_missing, codewords: used + distance + run });
        (distance + run) * CODEWORD
    }
}

/// Codewords for `following` consecutive missing PDUs after a listed one: a distance of 1 for each
/// of them, or from three PDUs on, the codeword `0001` and their number.
fn run_codewords(following: u64) -> u64 {
    if following < 3 { following } else { 1 + codewords(following) }
}

/// Codewords of a number, with three bits of the number in each.
fn codewords(number: u64) -> u64 {
    u64::from(64 - number.leading_zeros()).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umts_kernel::NoTrace;
    use umts_units::Time;

    use super::*;
    use crate::Context;
    use crate::ids::{Direction, UeId};
    use crate::radio::rlc::BlockSet;
    use crate::radio::rlc::am::receiver::ReceivedRun;
    use crate::radio::rlc::am::tests::config;
    use crate::radio::rlc::am::timers::Timers;
    use crate::radio::rlc::octets::missing_sufis;
    use crate::radio::rlc::wire::{StatusEnd, StatusPdu};

    proptest! {
        /// The computed size of each part of a report equals the encoded size, for all PDU sizes,
        /// and the parts together list exactly the missing PDUs. Arrived are the PDUs of two sets:
        /// one spread over the window, and one dense at its start.
        #[test]
        fn computed_report_size_matches_the_encoding(
            arrived in prop::collection::btree_set(0u64..1500, 1..300),
            dense in prop::collection::btree_set(0u64..200, 0..200),
            format in prop_oneof![Just(StatusFormat::Bitmap), Just(StatusFormat::List), Just(StatusFormat::Rlist)],
            max_octets in prop_oneof![8u16..20, 20u16..200, Just(4000)],
        ) {
            let config = RlcConfig { status_format: format, rx_window: Some(2047), ..config() };
            let mut receiver = Receiver::new(UeId(0), Direction::Downlink, &config);
            let mut trace = NoTrace;
            let mut cx = Context::new(Time::ZERO, &mut trace);
            for pdu in arrived.union(&dense) {
                let run = ReceivedRun { first: Sn::of(*pdu), count: 1, ends: &[] };
                receiver.receive_pdus(&mut cx, &config, &mut Timers::default(), run);
            }
            let mut listed = std::collections::BTreeSet::new();
            loop {
                let mut set = BlockSet::default();
                let extent = receiver.extent(&config, max_octets, OtherSufis::default());
                let status = receiver.report(&config, extent, &mut set.missing);
                // Whether the encoder fits this part of the report into a STATUS of `octets`.
                let fits = |octets: u16| {
                    let sufis = missing_sufis(format, &set.missing, extent.end - extent.from);
                    StatusPdu::new(sufis, StatusEnd::Ack(status.lsn.unwrap())).padded_to(octets.into()).is_ok()
                };
                prop_assert!(fits(max_octets), "{} octets computed, {max_octets} allowed", status.octets);
                prop_assert!(fits(status.octets) && !fits(status.octets - 1), "{} octets", status.octets);
                for run in &set.missing {
                    listed.extend((0..u64::from(run.count)).map(|n| u64::from(run.first.value()) + n));
                }
                if receiver.next_part_from.is_none() {
                    break;
                }
            }
            let missing: std::collections::BTreeSet<u64> =
                (0..receiver.vr_h).filter(|pdu| !arrived.contains(pdu) && !dense.contains(pdu)).collect();
            prop_assert_eq!(listed, missing);
        }
    }

    #[test]
    fn rlist_lists_distances_and_lengths_of_runs_in_codewords() {
        // Missing are PDUs 300, 301, 309 to 318 and 326. The FSN is 300. A codeword is written as a
        // digit: its three bits, then the flag, so 3 = 001 1 is the number 1. Eight codewords
        // follow: 3 (distance 1), 0 3 (distance 8), 1 2 3 (nine further PDUs), 0 3 (distance 8).
        let mut rlist = Rlist::default();
        let bits = rlist.add(300, 302) + rlist.add(309, 319) + rlist.add(326, 327);
        assert_eq!(bits, HEAD + 8 * CODEWORD);
    }

    #[test]
    fn rlist_codeword_holds_three_bits_of_a_number() {
        assert_eq!([1, 7, 8, 63, 64, 511, 512].map(codewords), [1, 1, 2, 2, 3, 3, 4]);
    }
}
