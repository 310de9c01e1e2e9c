//! Packets that were captured twice: by a mirror port for both directions of a link, or on two
//! interfaces.
//!
//! The second copy comes within milliseconds, possibly with other packets between, and is equal
//! down to the IP identification. An equal packet that comes later is a retransmission: no
//! retransmission timer expires within milliseconds.

use umts_units::{Duration, Time};

use crate::packet::Packet;

/// Maximum time from a packet to its copy.
pub(crate) const LATEST: Duration = Duration::from_millis(10);

/// The table is set-associative. Number of sets, and of entries in each: enough for 10 ms of a link
/// of several Gbit/s.
const SETS: usize = 2048;
const ENTRIES_PER_SET: usize = 4;

/// A packet that was seen: a digest of the fields that are compared, and its time. The digest is 0
/// in an unused entry.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    digest: u64,
    at: Time,
}

/// Digests of recent packets.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    sets: Vec<[Entry; ENTRIES_PER_SET]>,
}

impl Recent {
    /// Returns the time since a packet with this digest was seen, if that is at most `LATEST`.
    /// Otherwise, stores the packet and returns `None`.
    #[inline]
    pub fn age(&mut self, now: Time, digest: u64) -> Option<Duration> {
        if self.sets.is_empty() {
            self.sets = vec![[Entry::default(); ENTRIES_PER_SET]; SETS];
        }
        let set = &mut self.sets[set_of(digest)];
        for entry in set.iter() {
            let age = now.saturating_since(entry.at);
            if entry.digest == digest && age <= LATEST {
                return Some(age);
            }
        }
        set.rotate_right(1);
        set[0] = Entry { digest, at: now };
        None
    }

    /// Restarts the age of a stored digest, because its latest packet was not a copy of the
    /// previous one.
    #[cold]
    pub fn renew(&mut self, now: Time, digest: u64) {
        let set = &mut self.sets[set_of(digest)];
        if let Some(entry) = set.iter_mut().find(|entry| entry.digest == digest) {
            entry.at = now;
        }
    }

    /// Removes a stored digest after the copy of its packet: a third packet is not a copy.
    #[cold]
    pub fn forget(&mut self, digest: u64) {
        let set = &mut self.sets[set_of(digest)];
        if let Some(entry) = set.iter_mut().find(|entry| entry.digest == digest) {
            entry.digest = 0;
        }
    }
}

/// Returns a digest of the fields that are equal in two copies of a segment.
#[inline]
pub(crate) fn digest_of_segment(packet: &Packet) -> u64 {
    let segment = &packet.segment;
    let pair = |(a, b): (u32, u32)| u64::from(a) << 32 | u64::from(b);
    let numbers = pair((segment.seq, segment.ack));
    let header = u64::from(segment.identification) << 48
        | u64::from(segment.window) << 32
        | u64::from(segment.flags.bits_of_copies()) << 24 ^ u64::from(segment.payload);
    let stamps = segment.options.timestamps.map_or(0, pair);
    let block = segment.options.sack.as_slice().first().copied().map_or(0, pair);
    fold(numbers ^ KEYS[0], header ^ KEYS[1])
        ^ fold(stamps ^ KEYS[2], block ^ packet.ends.digest() ^ u64::from(packet.is_from_first))
}

/// Returns a digest of the fields that are equal in two copies of a UDP datagram. The checksum
/// represents the content.
pub(crate) fn digest_of_datagram(packet: &Packet) -> u64 {
    let header = u64::from(packet.segment.identification) << 48
        | u64::from(packet.datagram.checksum) << 32
        | u64::from(packet.segment.payload);
    fold(header ^ KEYS[3], packet.ends.digest() ^ u64::from(packet.is_from_first))
}

/// Digits of pi, made odd.
const KEYS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89];

/// Returns the set of a digest. A second multiplication makes the index depend on all bits of the
/// digest.
#[inline]
fn set_of(digest: u64) -> usize {
    (digest.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) as usize % SETS
}

/// Returns the exclusive or of both halves of the product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(at: u64) -> Time {
        Time::from_nanos(1_000_000_000 + 1_000 * at)
    }

    #[test]
    fn copy_is_found_within_10_ms_only() {
        let mut recent = Recent::default();
        assert_eq!(recent.age(us(0), 77), None);
        assert_eq!(recent.age(us(5_000), 77), Some(Duration::from_millis(5)));
        assert_eq!(recent.age(us(10_001), 77), None, "too late: stored again");
        assert_eq!(recent.age(us(10_002), 77), Some(Duration::from_micros(1)));
    }

    #[test]
    fn recent_digests_survive_500_others() {
        let mut recent = Recent::default();
        let digest = |number: u64| fold(number ^ KEYS[0], KEYS[1]);
        (0..500).for_each(|number| assert_eq!(recent.age(us(number), digest(number)), None));
        (0..500).for_each(|number| assert!(recent.age(us(500 + number), digest(number)).is_some()));
    }
}
