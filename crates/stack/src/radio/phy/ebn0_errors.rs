//! Block losses of a downlink DCH or FACH of a UE in the cells of a layout. The powers of all cells
//! determine the Eb/N0 of the channel in each TTI, and the link table of its format gives the block error
//! ratio at that Eb/N0.

use std::sync::Arc;

use umts_kernel::random::AddressedStream;

use super::{LinkTable, Lost};

/// Address of the draw for a block that is not sent, after the addresses of blocks and signalling.
const UNSENT: u32 = Lost::MAX_BLOCKS + 2;

/// The error process of one DCH.
#[derive(Debug, Clone)]
pub struct EbN0Errors {
    table: Arc<LinkTable>,
    draws: AddressedStream,
    /// Eb/N0 of the current TTI of the cells, linear.
    ebn0: f64,
    /// Number of blocks sent, and number of blocks lost, since the last call of
    /// [`take_counts`](Self::take_counts).
    counts: [u32; 2],
}

impl EbN0Errors {
    /// Loses every block until an Eb/N0 is set.
    pub fn new(table: Arc<LinkTable>, draws: AddressedStream) -> Self {
        EbN0Errors { table, draws, ebn0: 0.0, counts: [0; 2] }
    }

    /// From now on blocks are received with this linear Eb/N0.
    pub fn set_ebn0(&mut self, ebn0: f64) {
        self.ebn0 = ebn0;
    }

    /// Decides which of `blocks` blocks in TTI `tti` are lost. `first` is the number of the first block
    /// in the TTI.
    pub fn losses(&mut self, tti: u64, first: u32, blocks: u32) -> Lost {
        let lost = self.table.losses(self.draws.tti(tti), first, blocks, self.ebn0);
        let [sent_count, lost_count] = &mut self.counts;
        *sent_count += blocks;
        *lost_count += lost.count();
        lost
    }

    /// Whether a block that is not sent would be lost in TTI `tti`.
    pub fn would_lose(&self, tti: u64) -> bool {
        !self.table.losses(self.draws.tti(tti), UNSENT, 1, self.ebn0).is_none()
    }

    /// Returns and resets the numbers of blocks sent and lost.
    pub fn take_counts(&mut self) -> [u32; 2] {
        std::mem::take(&mut self.counts)
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    #[test]
    fn blocks_are_lost_with_the_ratio_of_the_table() {
        let table = LinkTable::logistic(2.25, 2.5);
        let mut errors = EbN0Errors::new(table.into(), Streams::new(1, 0).addressed("radio"));
        assert_eq!(errors.losses(0, 0, 12).count(), 12, "no cell sends yet");
        assert_eq!(errors.take_counts(), [12, 12]);
        // The table has 1 % of losses at its target, 2.25 dB, and 11 % at 1 dB below it. The standard
        // error of 120,000 blocks is 0.09 %.
        errors.set_ebn0(libm::exp10(0.125));
        let lost: u32 = (0..10_000).map(|tti| errors.losses(tti, 0, 12).count()).sum();
        assert!((f64::from(lost) / 120_000.0 - 0.11).abs() < 0.004, "{lost}");
        assert_eq!((errors.take_counts(), errors.take_counts()), ([120_000, lost], [0, 0]));
        let unsent = (0..10_000).filter(|&tti| errors.would_lose(tti)).count();
        assert!((900..1300).contains(&unsent), "{unsent}");
        assert_eq!(errors.take_counts(), [0, 0], "no block was sent");
    }
}
