//! Access to a shared RACH: TS 25.211 §5.2.2.1 (15 access slots in two frames, 16 signatures), TS
//! 25.214 §6.
//!
//! In each TTI every UE with data draws an access slot of the TTI and a signature. The Node B has one
//! demodulator for message parts: it acquires the UE with the earliest preamble. UEs with a later
//! preamble, or with another signature in the same slot, are not acquired and retry in the next TTI. If
//! two UEs have the same earliest slot and signature, both are acquired, and their messages collide
//! and are lost. Preamble power ramping and persistence values are not modelled.

use umts_kernel::random::AddressedStream;
use umts_units::Duration;

use crate::ids::UeId;

const ACCESS_SLOTS: u64 = 15;
const SIGNATURES: u64 = 16;
/// Two radio frames of 10 ms contain 15 access slots.
const ACCESS_SLOT: Duration = Duration::from_nanos(20_000_000 / ACCESS_SLOTS);

/// A UE that may send its message in a TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RachAttempt {
    pub ue: UeId,
    /// Delay of the message from the start of the TTI.
    pub delay: Duration,
    /// Another UE has chosen the same slot and signature: the message is lost.
    pub collides: bool,
}

/// The access slot and signature that a UE draws in a TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    /// Access slot of the TTI.
    slot: u64,
    signature: u64,
}

/// The contention of one cell's RACH.
#[derive(Debug, Clone)]
pub struct RachAccess {
    draws: AddressedStream,
    /// Number of access slots to choose from: those that begin and end in the TTI, so that no
    /// message overtakes a message of the previous TTI.
    slots: u64,
}

impl RachAccess {
    pub fn new(draws: AddressedStream, tti: Duration) -> Self {
        let slots = (tti / ACCESS_SLOT).clamp(1, ACCESS_SLOTS);
        RachAccess { draws, slots }
    }

    /// Determines the UEs of `ready` that may send in TTI `tti`: none if `ready` is empty, and more
    /// than one only if they collide.
    pub fn resolve(&self, tti: u64, ready: impl Iterator<Item = UeId>, acquired: &mut Vec<RachAttempt>) {
        acquired.clear();
        let draws = self.draws.tti(tti);
        // A later slot than any that can be drawn.
        let mut earliest = Choice { slot: u64::MAX, signature: 0 };
        for ue in ready {
            let bits = draws.bits(u32::from(ue.0));
            let choice = Choice { slot: (bits >> 32) % self.slots, signature: bits % SIGNATURES };
            if choice.slot < earliest.slot {
                earliest = choice;
                acquired.clear();
            }
            if choice == earliest {
                acquired.push(RachAttempt { ue, delay: ACCESS_SLOT * choice.slot, collides: false });
            }
        }
        if acquired.len() > 1 {
            acquired.iter_mut().for_each(|access| access.collides = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    fn rach() -> RachAccess {
        rach_with_tti(20)
    }

    fn rach_with_tti(ms: u64) -> RachAccess {
        RachAccess::new(Streams::new(1, 0).addressed("rach"), Duration::from_millis(ms))
    }

    #[test]
    fn messages_begin_within_their_tti() {
        // Of the 15 slots in 20 ms, seven end within the first 10 ms.
        for (ms, slots) in [(10, 7), (20, 15), (40, 15), (80, 15)] {
            let (rach, mut acquired) = (rach_with_tti(ms), Vec::new());
            let delays: std::collections::BTreeSet<_> = (0..1000)
                .map(|tti| {
                    rach.resolve(tti, [UeId(3)].into_iter(), &mut acquired);
                    acquired[0].delay
                })
                .collect();
            assert_eq!(delays.len(), slots, "{ms} ms");
            assert!(delays.iter().all(|delay| *delay < Duration::from_millis(ms)), "{ms} ms");
        }
    }

    #[test]
    fn single_user_always_gets_access() {
        let (rach, mut acquired) = (rach(), Vec::new());
        for tti in 0..1000 {
            rach.resolve(tti, [UeId(3)].into_iter(), &mut acquired);
            assert_eq!((acquired.len(), acquired[0].ue, acquired[0].collides), (1, UeId(3), false));
            assert!(acquired[0].delay < Duration::from_millis(20));
        }
    }

    #[test]
    fn two_users_share_access_and_rarely_collide() {
        let (rach, mut acquired) = (rach(), Vec::new());
        // TTIs in which each UE alone gets access, and TTIs in which both collide.
        let (mut won, mut collided) = ([0u32; 2], 0u32);
        const TTIS: u64 = 100_000;
        for tti in 0..TTIS {
            rach.resolve(tti, [UeId(0), UeId(1)].into_iter(), &mut acquired);
            match acquired[..] {
                [winner] => won[winner.ue.index()] += 1,
                [a, b] if a.collides && b.collides => collided += 1,
                _ => panic!("{acquired:?}"),
            }
        }
        // Both UEs have the same slot and signature in one of 240 TTIs. With the same slot and another
        // signature, the UE with the lower index is acquired.
        let expected = TTIS as f64 / 240.0;
        assert!((f64::from(collided) - expected).abs() < 6.0 * expected.sqrt(), "{collided}");
        assert!(won[0] > 40_000 && won[1] > 40_000, "{won:?}");
    }
}
