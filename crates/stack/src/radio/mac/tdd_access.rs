//! Random access for capacity requests in a TDD cell: codes, collisions, back-off (Baiocchi and
//! Vacirca 2002, §II.B, which gives no parameter values).
//!
//! Each UE draws one of the codes of the slot. A request succeeds if no other UE draws the same
//! code. After a collision and after a refusal a UE backs off.

use umts_kernel::random::AddressedStream;

use crate::ids::UeId;

/// The random access of one cell.
#[derive(Debug, Clone)]
pub struct TddAccess {
    /// Number of codes of the slot.
    codes: u32,
    /// Longest back-off in frames.
    longest_backoff: u64,
    /// Draws of the codes.
    draws: AddressedStream,
    /// Draws of the back-offs.
    back_offs: AddressedStream,
}

impl TddAccess {
    /// `longest_backoff` is in frames.
    pub fn new(codes: u32, longest_backoff: u64, draws: AddressedStream, back_offs: AddressedStream) -> Self {
        TddAccess { codes, longest_backoff, draws, back_offs }
    }

    /// Sorts the requesting UEs by the codes that they draw, the order in which the RNC receives the
    /// requests. Returns for each UE whether its request succeeds: no other UE drew its code.
    pub fn resolve(&self, frame: u64, requesting: &mut [UeId]) -> Vec<bool> {
        let draws = self.draws.tti(frame);
        let code = |ue: &UeId| (draws.bits(u32::from(ue.0)) % u64::from(self.codes)) as usize;
        let mut ues_per_code = vec![0_u32; self.codes as usize];
        requesting.iter().for_each(|ue| ues_per_code[code(ue)] += 1);
        requesting.sort_unstable_by_key(|ue| (code(ue), *ue));
        requesting.iter().map(|ue| ues_per_code[code(ue)] == 1).collect()
    }

    /// The frame in which `ue` repeats its request after failure number `failures` in `frame`:
    /// uniform among the next 2^`failures` frames, limited by the longest back-off.
    pub fn backed_off_until(&self, frame: u64, ue: UeId, failures: u32) -> u64 {
        let doubled = 1_u64.checked_shl(failures).unwrap_or(u64::MAX);
        let longest = doubled.min(self.longest_backoff).max(1);
        frame + 1 + self.back_offs.tti(frame).bits(u32::from(ue.0)) % longest
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    fn access(codes: u32) -> TddAccess {
        let streams = Streams::new(1, 0);
        TddAccess::new(codes, 64, streams.addressed("rach/code"), streams.addressed("rach/backoff"))
    }

    /// Of G users on c codes, G (1 - 1/c)^(G-1) succeed on average.
    #[test]
    fn success_count_matches_the_closed_form() {
        const FRAMES: u64 = 40_000;
        for (users, codes) in [(1, 8), (2, 8), (8, 8), (16, 8), (16, 16), (48, 8)] {
            let access = access(codes);
            let mut requesting: Vec<_> = (0..users).map(UeId).collect();
            let (mut sum, mut squares) = (0.0, 0.0);
            for frame in 0..FRAMES {
                let succeed = access.resolve(frame, &mut requesting);
                let count = succeed.iter().filter(|&&succeeds| succeeds).count() as f64;
                sum += count;
                squares += count * count;
            }
            let n = FRAMES as f64;
            let mean = sum / n;
            let error = ((squares / n - mean * mean) / n).sqrt();
            let expected = f64::from(users) * (1.0 - 1.0 / f64::from(codes)).powi(i32::from(users) - 1);
            assert!((mean - expected).abs() <= 3.0 * error, "{users} on {codes}: {mean}, not {expected}");
        }
    }

    /// If two users succeed in one frame, each of them is first equally often.
    #[test]
    fn order_within_a_frame_does_not_depend_on_ue_numbers() {
        const FRAMES: u64 = 20_000;
        let access = access(8);
        let [mut both, mut lower_first] = [0, 0];
        for frame in 0..FRAMES {
            let mut requesting = [UeId(0), UeId(15)];
            if access.resolve(frame, &mut requesting) == [true, true] {
                both += 1;
                lower_first += u64::from(requesting[0] == UeId(0));
            }
        }
        let (expected, deviation) = (both as f64 / 2.0, (both as f64 / 4.0).sqrt());
        assert!((lower_first as f64 - expected).abs() < 3.0 * deviation, "{lower_first} of {both}");
    }

    #[test]
    fn back_off_doubles_up_to_its_maximum() {
        let access = access(8);
        for (failures, longest) in [(1, 2), (2, 4), (6, 64), (7, 64), (200, 64)] {
            let waits: Vec<_> =
                (0..20_000).map(|frame| access.backed_off_until(frame, UeId(3), failures) - frame).collect();
            assert_eq!((waits.iter().min(), waits.iter().max()), (Some(&1), Some(&longest)), "{failures}");
        }
    }
}
