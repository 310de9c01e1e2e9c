//! HARQ and reordering of one direction of a bearer on the HS-DSCH or the E-DCH, from trace events:
//! whether a block is being repeated, and whether the reordering queue holds blocks back. The time
//! budget uses both to explain waits below RLC.

use umts_units::{Duration, Time};

/// State of the blocks of one direction of a bearer.
#[derive(Debug, Default)]
pub(super) struct Harq {
    /// Number of blocks that failed and will be repeated.
    failed_blocks: u32,
    /// End of the last repetition.
    repeated_until: Time,
    /// A block was lost for good, and no later block has gone up to RLC since.
    has_lost_block: bool,
    /// Serial number of the block set that went on the air last, and the same at the time of the
    /// last loss of a block.
    on_air_serial: u64,
    serial_at_loss: u64,
    /// A block was decoded while an earlier one is missing. It waits in the reordering queue.
    has_held_block: bool,
}

/// A transmission of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transmission {
    /// Number of the transmission, from 1.
    pub attempt: u8,
    /// Whether the receiver has decoded the block after this transmission.
    pub is_decoded: bool,
    /// Whether the block is not transmitted again: it is decoded, or given up.
    pub is_last: bool,
}

impl Harq {
    /// A transmission of a block begins at `now` and lasts one `tti`.
    pub fn transmitted(&mut self, now: Time, tti: Duration, transmission: Transmission) {
        let Transmission { attempt, is_decoded, is_last } = transmission;
        let is_repetition = attempt > 1;
        if is_repetition {
            self.failed_blocks = self.failed_blocks.saturating_sub(u32::from(is_last));
            self.repeated_until = now + tti;
        } else if !is_last {
            self.failed_blocks += 1;
        }
        if is_last && !is_decoded {
            (self.has_lost_block, self.serial_at_loss) = (true, self.on_air_serial);
        }
        let is_block_missing = self.failed_blocks > 0 || self.has_lost_block;
        self.has_held_block = is_block_missing && (self.has_held_block || is_decoded);
    }

    /// A block set goes on the air for the first time.
    pub fn on_air(&mut self, serial: u64) {
        self.on_air_serial = serial;
    }

    /// A block of a set went up to RLC. If the set went on the air after the loss, the reordering
    /// queue does not wait for the lost block.
    pub fn delivered(&mut self, serial: u64) {
        if serial > self.serial_at_loss {
            self.released();
        }
    }

    /// The reordering queue no longer waits for lost blocks: timer T1 expired, or the window moved.
    pub fn released(&mut self) {
        (self.has_lost_block, self.has_held_block) = (false, false);
    }

    /// Whether a block of the bearer is repeated, or waits to be repeated.
    pub fn is_repeating(&self, now: Time) -> bool {
        self.failed_blocks > 0 || now < self.repeated_until
    }

    /// End of the repetition on the air, if there is one.
    pub fn repeated_until(&self) -> Time {
        self.repeated_until
    }

    /// Whether the reordering queue holds blocks back because an earlier block was lost for good.
    pub fn holds_blocks(&self) -> bool {
        self.has_lost_block && self.has_held_block
    }

    /// HARQ is reset: the UE leaves the channel.
    pub fn reset(&mut self) {
        *self = Harq::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTI: Duration = Duration::from_millis(2);

    // Whether the receiver decodes the block, and whether this is the last transmission of the
    // block.
    const DECODED: bool = true;
    const FAILED: bool = false;
    const LAST: bool = true;
    const NOT_LAST: bool = false;

    fn attempt(attempt: u8, is_decoded: bool, is_last: bool) -> Transmission {
        Transmission { attempt, is_decoded, is_last }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_block_is_repeated_from_its_first_failure_to_the_end_of_its_last_transmission() {
        let mut harq = Harq::default();
        harq.transmitted(ms(0), TTI, attempt(1, FAILED, NOT_LAST));
        assert!(harq.is_repeating(ms(11)));
        harq.transmitted(ms(12), TTI, attempt(2, DECODED, LAST));
        assert!(harq.is_repeating(ms(13)));
        assert!(!harq.is_repeating(ms(14)));
    }

    #[test]
    fn a_repetition_after_a_misread_answer_ends_no_block() {
        let mut harq = Harq::default();
        harq.transmitted(ms(0), TTI, attempt(1, DECODED, LAST));
        harq.transmitted(ms(2), TTI, attempt(1, FAILED, NOT_LAST));
        harq.transmitted(ms(12), TTI, attempt(2, FAILED, NOT_LAST));
        assert!(harq.is_repeating(ms(14)), "the second block still waits");
    }

    #[test]
    fn a_block_that_overtook_a_lost_one_is_held() {
        let mut harq = Harq::default();
        harq.transmitted(ms(0), TTI, attempt(1, FAILED, NOT_LAST));
        harq.transmitted(ms(2), TTI, attempt(1, DECODED, LAST));
        assert!(!harq.holds_blocks(), "HARQ still repeats the first block");
        harq.transmitted(ms(12), TTI, attempt(2, FAILED, LAST));
        assert!(harq.holds_blocks());
    }

    #[test]
    fn delivery_of_an_earlier_block_does_not_end_the_wait_for_a_lost_one() {
        let mut harq = Harq::default();
        harq.on_air(7);
        harq.transmitted(ms(0), TTI, attempt(1, FAILED, LAST));
        harq.on_air(8);
        harq.transmitted(ms(2), TTI, attempt(1, DECODED, LAST));
        harq.delivered(6);
        assert!(harq.holds_blocks());
        harq.delivered(8);
        assert!(!harq.holds_blocks());
    }

    #[test]
    fn blocks_after_a_lost_one_are_held_until_timer_t1_expires() {
        let mut harq = Harq::default();
        harq.transmitted(ms(0), TTI, attempt(1, FAILED, LAST));
        assert!(!harq.holds_blocks(), "no later block was decoded");
        harq.transmitted(ms(2), TTI, attempt(1, DECODED, LAST));
        assert!(harq.holds_blocks());
        harq.released();
        assert!(!harq.holds_blocks());
    }
}
