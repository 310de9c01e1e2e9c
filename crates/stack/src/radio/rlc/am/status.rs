//! Status reports: missing PDUs, the size of a report, and its segmentation (TS 25.322 §9.2.2.11,
//! §9.7.2).
//!
//! ```text
//!   BITMAP  type 4 | LENGTH 4 | FSN 12 | 1 to 16 octets, a bit for each PDU         LSN
//!   LIST    type 4 | LENGTH 4 | 1 to 15 times: SN 12, L 4 further ones             type 4 | LSN 12
//!   RLIST   type 4 | LENGTH 4 | FSN 12 | up to 15 codewords of 4 bits
//! ```
//!
//! A codeword of RLIST holds 3 bits of a number, least significant group first, and a flag for the
//! last codeword of the number. A number is the distance from the previous missing PDU. `0001`
//! instead means that the next number counts further consecutive PDUs. Rows of three or more PDUs
//! after the first one are written in this form.

use super::config::StatusFormat;
use super::receiver::Receiver;
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::{Sn, SnRun, Status};

/// Bits of a STATUS PDU's D/C and type fields.
const PDU_TYPE: u64 = 4;
/// ACK: type 4, LSN 12.
const ACK: u64 = 16;
/// NO_MORE, which ends a STATUS without ACK.
const NO_MORE: u64 = 4;
/// MRW without its SN_MRW: type 4, LENGTH 4, N_LENGTH 4.
const MRW: u64 = 12;
const SN_MRW: u64 = 12;
/// MRW_ACK: type 4, N 4, SN_ACK 12.
const MRW_ACK: u64 = 20;
/// WINDOW: type 4, WSN 12.
const WINDOW: u64 = 16;
/// BITMAP and RLIST without map or codewords: type 4, LENGTH 4, FSN 12.
const HEAD: u64 = 20;
/// A BITMAP covers at most 128 PDUs.
const BITMAP_MOST: u64 = 128;
/// LIST without its runs. A run is SN 12 and L 4, for up to 16 PDUs. At most 15 runs.
const LIST_HEAD: u64 = 8;
const LIST_RUN: u64 = 16;
const LIST_RUN_MOST: u64 = 16;
const LIST_MOST: u64 = 15;
/// RLIST: at most 15 codewords.
const CODEWORD: u64 = 4;
const RLIST_MOST: u64 = 15;
/// PDUs in the largest window.
const WINDOW_MOST: u64 = 4095;
/// EURANE: bits before the map, and maximum bits of the map.
const EURANE_HEAD: u64 = 20;
const EURANE_MOST: u64 = 300;

/// Contents of a STATUS besides a report.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside {
    /// SN_MRW fields of an MRW.
    pub mrw: Option<u64>,
    pub mrw_ack: bool,
    pub window: bool,
}

impl Beside {
    fn bits(self) -> u64 {
        self.mrw.map_or(0, |sns| MRW + sns * SN_MRW)
            + if self.mrw_ack { MRW_ACK } else { 0 }
            + if self.window { WINDOW } else { 0 }
    }

    pub fn takes_room(self) -> bool {
        self.bits() > 0
    }

    /// Octets of a STATUS without a report.
    pub fn octets(self) -> u16 {
        (PDU_TYPE + self.bits() + NO_MORE).div_ceil(8) as u16
    }
}

/// The range of a report, and its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    from: u64,
    end: u64,
    pub octets: u16,
    /// A PDU is missing, and not even the first missing PDU fits.
    pub is_cramped: bool,
}

/// SN_MRW fields that fit into a STATUS of `octets` together with a window and an MRW_ACK.
pub(super) fn most_sn_mrw(octets: u16) -> usize {
    let others = PDU_TYPE + MRW + MRW_ACK + WINDOW + NO_MORE;
    ((u64::from(octets) * 8).saturating_sub(others) / SN_MRW).max(1) as usize
}

impl Receiver {
    /// Range of a report of at most `most` octets: missing PDUs from `report_from` on, as far as
    /// they fit.
    pub(super) fn extent(&self, config: &RlcConfig, most: u16, beside: Beside) -> Extent {
        let from = self.report_from.map_or(self.vr_r, |from| from.max(self.vr_r));
        let from = self.arrived.first_gap(from, self.vr_h);
        let most = u64::from(most) * 8;
        let (end, bits) = match config.status_format {
            StatusFormat::Bitmap => {
                self.map(from, most, u64::MAX, |mapped| PDU_TYPE + bitmaps(mapped) + ACK + beside.bits())
            }
            StatusFormat::Eurane => {
                self.map(from, most, EURANE_MOST - 1, |mapped| eurane(mapped) + beside.bits())
            }
            StatusFormat::List => self.runs(from, most, PDU_TYPE + ACK + beside.bits(), List::default()),
            StatusFormat::Rlist => self.runs(from, most, PDU_TYPE + ACK + beside.bits(), Rlist::default()),
        };
        let is_cramped = bits > most || (end == from && from < self.vr_h);
        Extent { from, end, octets: bits.div_ceil(8) as u16, is_cramped }
    }

    /// A map with one bit per PDU from `from` on, at most `longest`, shortened by octets until it
    /// fits.
    fn map(&self, from: u64, most: u64, longest: u64, bits: impl Fn(u64) -> u64) -> (u64, u64) {
        let mut end = self.vr_h.min(from.saturating_add(longest));
        while end > from && bits(end - from) > most {
            end -= 8.min(end - from);
        }
        (end, bits(end - from))
    }

    /// Rows of missing PDUs, as many as fit.
    fn runs(&self, from: u64, most: u64, around: u64, mut sufis: impl Sufis) -> (u64, u64) {
        let mut bits = around;
        let mut at = from;
        // The first row is shortened if necessary. Its start is always reported.
        if at < self.vr_h && around + sufis.longest_first() > most {
            return (from + 1, around + sufis.add(from, from + 1));
        }
        while at < self.vr_h {
            let arrived = self.arrived.first_member(at, self.vr_h);
            let end = arrived.min(at + sufis.longest_row());
            let more = sufis.add(at, end);
            if bits + more > most {
                return (at, bits);
            }
            bits += more;
            at = self.arrived.first_gap(end, self.vr_h);
        }
        (self.vr_h, bits)
    }

    /// Writes the report or its next part. A part acknowledges only its own range. A part that does
    /// not begin with the oldest missing PDU acknowledges the PDUs below that one (TS 25.322
    /// §9.2.2.11.3). Missing PDUs are appended to `missing`.
    pub(super) fn report(&mut self, config: &RlcConfig, extent: Extent, missing: &mut Vec<SnRun>) -> Status {
        let Extent { from, end, octets, .. } = extent;
        let mark = missing.len() as u16;
        let mut at = from;
        while at < end {
            let arrived = self.arrived.first_member(at, end);
            missing.push(SnRun { first: Sn::of(at), count: (arrived - at) as u16 });
            at = self.arrived.first_gap(arrived, end);
        }
        let is_first = self.report_from.is_none();
        let more = config.status_format != StatusFormat::Eurane
            && self.arrived.first_gap(end, self.vr_h) < self.vr_h
            && end > from;
        self.report_from = more.then_some(end);
        Status {
            lsn: Some(Sn::of(if is_first { end } else { self.vr_r })),
            missing: (mark, missing.len() as u16),
            octets,
            ..Status::default()
        }
    }
}

fn bitmaps(mapped: u64) -> u64 {
    let (whole, rest) = (mapped / BITMAP_MOST, mapped % BITMAP_MOST);
    whole * (HEAD + BITMAP_MOST) + if rest > 0 { HEAD + rest.div_ceil(8) * 8 } else { 0 }
}

fn eurane(mapped: u64) -> u64 {
    EURANE_HEAD + if mapped == 0 { 0 } else { mapped + 1 }
}

/// The size of SUFIs. `add` returns the bits for one more row of missing PDUs.
trait Sufis {
    /// Maximum length of a row that is written as one.
    fn longest_row(&self) -> u64;
    /// Maximum number of bits for the first row.
    fn longest_first(&self) -> u64;
    fn add(&mut self, first: u64, end: u64) -> u64;
}

/// LIST SUFIs: number of runs.
#[derive(Default)]
struct List(u64);

impl Sufis for List {
    fn longest_row(&self) -> u64 {
        LIST_RUN_MOST
    }

    fn longest_first(&self) -> u64 {
        LIST_HEAD + LIST_RUN
    }

    fn add(&mut self, _: u64, _: u64) -> u64 {
        let head = if self.0.is_multiple_of(LIST_MOST) { LIST_HEAD } else { 0 };
        self.0 += 1;
        head + LIST_RUN
    }
}

/// RLIST SUFIs: the last missing PDU so far, and the codewords in the last SUFI.
#[derive(Default)]
struct Rlist(Option<(u64, u64)>);

impl Sufis for Rlist {
    fn longest_row(&self) -> u64 {
        WINDOW_MOST
    }

    fn longest_first(&self) -> u64 {
        HEAD + (1 + codewords(WINDOW_MOST)) * CODEWORD
    }

    fn add(&mut self, first: u64, end: u64) -> u64 {
        let further = end - 1 - first;
        let Some((last, used)) = self.0.replace((end - 1, row(further))) else {
            return HEAD + row(further) * CODEWORD;
        };
        let distance = codewords(first - last);
        if used + distance > RLIST_MOST {
            return HEAD + row(further) * CODEWORD;
        }
        if used + distance + row(further) > RLIST_MOST {
            // The PDUs after the first one of the row begin another SUFI.
            self.0 = Some((end - 1, row(further - 1)));
            return distance * CODEWORD + HEAD + row(further - 1) * CODEWORD;
        }
        self.0 = Some((end - 1, used + distance + row(further)));
        (distance + row(further)) * CODEWORD
    }
}

/// Codewords for `further` consecutive PDUs after a listed one.
fn row(further: u64) -> u64 {
    if further < 3 { further } else { 1 + codewords(further) }
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
    use crate::radio::rlc::am::tests::config;
    use crate::radio::rlc::am::timers::Timers;
    use crate::radio::rlc::octets::missing_sufis;
    use crate::radio::rlc::wire::{StatusEnd, StatusPdu};

    proptest! {
        /// The computed size of a report equals the encoded size, for all PDU sizes.
        #[test]
        fn computed_report_size_matches_the_encoding(
            arrived in prop::collection::btree_set(0u64..1500, 1..300),
            dense in prop::collection::btree_set(0u64..200, 0..200),
            format in prop_oneof![Just(StatusFormat::Bitmap), Just(StatusFormat::List), Just(StatusFormat::Rlist)],
            most in prop_oneof![8u16..20, 20u16..200, Just(4000)],
        ) {
            let config = RlcConfig { status_format: format, rx_window: Some(2047), ..config() };
            let mut receiver = Receiver::new(UeId(0), Direction::Downlink, &config);
            let mut trace = NoTrace;
            let mut cx = Context::new(Time::ZERO, &mut trace);
            for pdu in arrived.union(&dense) {
                receiver.take_run(&mut cx, &config, &mut Timers::default(), Sn::of(*pdu), 1, &[]);
            }
            let mut named = std::collections::BTreeSet::new();
            loop {
                let mut set = BlockSet::default();
                let extent = receiver.extent(&config, most, Beside::default());
                let status = receiver.report(&config, extent, &mut set.missing);
                let sufis = missing_sufis(format, &set.missing, extent.end - extent.from);
                let wire = StatusPdu::new(sufis, StatusEnd::Ack(status.lsn.unwrap())).padded_to(most.into());
                prop_assert!(wire.is_ok(), "{} octets said, {most} are there", status.octets);
                let fits = |octets: u16| {
                    let sufis = missing_sufis(format, &set.missing, extent.end - extent.from);
                    StatusPdu::new(sufis, StatusEnd::Ack(status.lsn.unwrap())).padded_to(octets.into()).is_ok()
                };
                prop_assert!(fits(status.octets) && !fits(status.octets - 1), "{} octets", status.octets);
                for run in &set.missing {
                    named.extend((0..u64::from(run.count)).map(|n| u64::from(run.first.value()) + n));
                }
                if receiver.report_from.is_none() {
                    break;
                }
            }
            let missing: std::collections::BTreeSet<u64> =
                (0..receiver.vr_h).filter(|pdu| !arrived.contains(pdu) && !dense.contains(pdu)).collect();
            prop_assert_eq!(named, missing);
        }
    }

    #[test]
    fn numbers_take_a_codeword_for_three_of_their_bits() {
        // 300, 301, 309 to 318, 326: FSN and eight codewords, 3 0 3 1 2 3 0 3 in hexadecimal.
        let mut rlist = Rlist::default();
        let bits = rlist.add(300, 302) + rlist.add(309, 319) + rlist.add(326, 327);
        assert_eq!(bits, HEAD + 8 * CODEWORD);
        assert_eq!([1, 7, 8, 63, 64, 511, 512].map(codewords), [1, 1, 2, 2, 3, 3, 4]);
    }
}
