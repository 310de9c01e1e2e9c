//! Segmentation and reassembly of MAC-ehs: TS 25.321 §9.2.2 and §11.6, from Release 7 on.
//!
//! A MAC-ehs PDU has a header and one reordering PDU, in octets. The reordering PDU consists of parts of MAC-d
//! PDUs (reordering SDUs) in their order: the last part of one that began in an earlier block, whole ones, and the
//! first part of one that continues in a later block.
//!
//! ```text
//!   │ LCH-ID 4 │ L 11 │ TSN 6 │ SI 2 │ F 1 │ { LCH-ID 4 │ L 11 │ F 1 } │ end of a │ b │ c │ beginning of d │
//! ```
//!
//! The receiver joins parts of blocks with consecutive TSNs. A part whose neighbour is missing is lost with its
//! MAC-d PDU.

use super::tsn::Tsn;

/// Octets of the header for the first part: LCH-ID, L, TSN, SI and F.
pub const FIRST_PART_HEADER: u32 = 3;
/// Octets of the header for each further part: LCH-ID, L and F.
pub const PART_HEADER: u32 = 2;
/// Largest part in octets: L has 11 bits.
pub const MAX_PART: u32 = (1 << 11) - 1;

/// Segmentation indication (SI) of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segmentation {
    /// The first part continues a PDU of an earlier block.
    pub starts_inside: bool,
    /// The PDU of the last part continues in a later block.
    pub ends_inside: bool,
}

impl Segmentation {
    /// Value of the field SI: 00 only whole PDUs, 01 the first part is the end of a PDU, 10 the last part is
    /// the beginning of one, 11 both.
    pub fn si(self) -> u8 {
        u8::from(self.ends_inside) << 1 | u8::from(self.starts_inside)
    }
}

/// The receiving side of segmentation for one reordering queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reassembly {
    /// TSN after the last block.
    next: Tsn,
    /// Whether the beginning of a PDU waits for its further parts.
    has_beginning: bool,
}

impl Default for Reassembly {
    fn default() -> Self {
        Reassembly { next: Tsn::of(0), has_beginning: false }
    }
}

impl Reassembly {
    /// Handles a block that the reordering queue passes on. `ends`: number of PDUs that end in the block.
    /// Returns how many of them are lost, 0 or 1: the first one, if its earlier parts are missing.
    pub fn handle_block(&mut self, tsn: Tsn, segmentation: Segmentation, ends: usize) -> usize {
        let Segmentation { starts_inside, ends_inside } = segmentation;
        let continues = self.has_beginning && tsn == self.next;
        self.next = tsn.plus(1);
        // A block in which no PDU ends and whose first part continues one has only the middle of that PDU.
        let is_middle = starts_inside && ends == 0;
        self.has_beginning = ends_inside && (continues || !is_middle);
        usize::from(starts_inside && !continues && ends > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Segmentation = Segmentation { starts_inside: false, ends_inside: false };
    const BEGINS: Segmentation = Segmentation { starts_inside: false, ends_inside: true };
    const ENDS: Segmentation = Segmentation { starts_inside: true, ends_inside: false };
    const BOTH: Segmentation = Segmentation { starts_inside: true, ends_inside: true };

    /// Lost PDUs of blocks with these TSNs, segmentations and numbers of PDUs that end there.
    fn lost(blocks: &[(u64, Segmentation, usize)]) -> usize {
        let mut reassembly = Reassembly::default();
        let lost = blocks
            .iter()
            .map(|&(count, segmentation, ends)| reassembly.handle_block(Tsn::of(count), segmentation, ends));
        lost.sum()
    }

    #[test]
    fn parts_of_consecutive_blocks_are_joined() {
        assert_eq!(lost(&[(0, BEGINS, 2), (1, BOTH, 0), (2, BOTH, 1), (3, ENDS, 1), (4, WHOLE, 3)]), 0);
        assert_eq!([WHOLE, ENDS, BEGINS, BOTH].map(Segmentation::si), [0, 1, 2, 3]);
    }

    #[test]
    fn a_pdu_is_lost_without_its_beginning_or_its_middle() {
        // Block 0 with the beginning is missing.
        assert_eq!(lost(&[(1, BOTH, 0), (2, ENDS, 2)]), 1);
        // Block 1 with the middle is missing.
        assert_eq!(lost(&[(0, BEGINS, 1), (2, ENDS, 1)]), 1);
        // Blocks 1 and 2 are missing, and the next one begins with another PDU.
        assert_eq!(lost(&[(0, BEGINS, 1), (3, WHOLE, 1)]), 0);
    }

    #[test]
    fn a_new_beginning_replaces_one_without_an_end() {
        // The Node B flushed the PDU that began in block 0.
        assert_eq!(lost(&[(0, BEGINS, 0), (1, BEGINS, 1), (2, ENDS, 1)]), 0);
    }
}
