//! A set of PDU counts inside a window, as a ring of 4096 bits. Acknowledged mode stores in such
//! sets which PDUs have arrived, are reported missing, or were retransmitted. Ranges are processed
//! in words of 64 bits: `count >> 6` is the number of the word of a count, which is taken modulo 64,
//! and `count & 63` is the bit in this word. A range `from..to` contains `from` and not `to`.

/// A set of PDU counts. All members must be in a range of at most 4096 consecutive counts. Bit `n`
/// of the ring stands for the count that is `n` modulo 4096.
#[derive(Debug, Clone, Default)]
pub(super) struct PduSet {
    /// `None` until the first count is added, so that an idle user needs no memory for it.
    words: Option<Box<Words>>,
}

type Words = [u64; 64];

const EMPTY: &Words = &[0; 64];

impl PduSet {
    #[inline]
    fn words(&self) -> &Words {
        self.words.as_deref().unwrap_or(EMPTY)
    }

    #[inline]
    fn words_mut(&mut self) -> &mut Words {
        self.words.get_or_insert_with(|| Box::new(*EMPTY))
    }

    pub fn contains(&self, count: u64) -> bool {
        self.words()[word_index(count)] & bit_mask(count) != 0
    }

    /// Adds a count. Returns false if it was already a member.
    #[inline]
    pub fn insert(&mut self, count: u64) -> bool {
        let (word, bit) = (&mut self.words_mut()[word_index(count)], bit_mask(count));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Adds all of `from..to`, which must not be empty, unless one of them is already a member.
    /// Returns whether they were added.
    #[inline(always)]
    pub fn insert_new_range(&mut self, from: u64, to: u64) -> bool {
        let is_in_one_word = from >> 6 == (to - 1) >> 6;
        if is_in_one_word {
            let mask = (u64::MAX >> (64 - (to - from))) << (from & 63);
            let word = &mut self.words_mut()[word_index(from)];
            let is_new = *word & mask == 0;
            *word |= if is_new { mask } else { 0 };
            return is_new;
        }
        let is_new = self.first_member(from, to) == to;
        if is_new {
            by_words(self.words_mut(), from, to, |word, mask| *word |= mask);
        }
        is_new
    }

    /// Removes all of `from..to`. Returns the number of members removed.
    #[inline]
    pub fn remove_range(&mut self, from: u64, to: u64) -> u32 {
        let mut removed = 0;
        let Some(words) = &mut self.words else { return removed };
        by_words(words, from, to, |word, mask| {
            if *word & mask != 0 {
                removed += (*word & mask).count_ones();
                *word &= !mask;
            }
        });
        removed
    }

    /// Removes all of `from..to`.
    #[inline]
    pub fn clear_range(&mut self, from: u64, to: u64) {
        if let Some(words) = &mut self.words {
            by_words(words, from, to, |word, mask| *word &= !mask);
        }
    }

    /// Number of members in `from..to`.
    pub fn count(&self, from: u64, to: u64) -> u64 {
        let mut counted = 0;
        let mut at = from;
        while at < to {
            let member = self.first_member(at, to);
            at = self.first_gap(member, to);
            counted += at - member;
        }
        counted
    }

    /// The first member of `from..to`, or `to`.
    #[inline]
    pub fn first_member(&self, from: u64, to: u64) -> u64 {
        self.first_set_bit(from, to, 0)
    }

    /// The first non-member in `from..to`, or `to`.
    #[inline]
    pub fn first_gap(&self, from: u64, to: u64) -> u64 {
        self.first_set_bit(from, to, u64::MAX)
    }

    /// The first count in `from..to` whose bit is set after an exclusive or of its word with
    /// `inverted`, or `to`. `inverted` is 0 to search members, `u64::MAX` to search non-members.
    #[inline]
    fn first_set_bit(&self, from: u64, to: u64, inverted: u64) -> u64 {
        let (words, mut at) = (self.words(), from);
        while at < to {
            let bits_from_here = (words[word_index(at)] ^ inverted) >> (at & 63);
            if bits_from_here != 0 {
                return (at + u64::from(bits_from_here.trailing_zeros())).min(to);
            }
            at = start_of_next_word(at);
        }
        to
    }
}

/// Index of the word of a count in the ring.
#[inline]
fn word_index(count: u64) -> usize {
    (count >> 6) as usize & 63
}

/// Mask of the bit of a count in its word.
#[inline]
fn bit_mask(count: u64) -> u64 {
    1 << (count & 63)
}

/// The first count above `count` that is in the next word.
#[inline]
fn start_of_next_word(count: u64) -> u64 {
    (count | 63) + 1
}

/// Calls `change` for each word that holds bits of `from..to`, with a mask of these bits.
#[inline]
fn by_words(words: &mut Words, from: u64, to: u64, mut change: impl FnMut(&mut u64, u64)) {
    let mut at = from;
    while at < to {
        let end = start_of_next_word(at).min(to);
        let mask = (u64::MAX >> (64 - (end - at))) << (at & 63);
        change(&mut words[word_index(at)], mask);
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each operation on a [`PduSet`], here `flags`, gives the result of a search in a
        /// `BTreeSet` with the same members.
        #[test]
        fn behaves_like_a_btree_set(start in 0u64..10_000, members in proptest::collection::btree_set(0u64..2047, 0..200),
                        bounds in (0u64..2047, 0u64..2047)) {
            let mut flags = PduSet::default();
            prop_assert_eq!((flags.remove_range(0, 100), flags.first_member(0, 100)), (0, 100));
            let mut set: BTreeSet<u64> = members.iter().map(|m| m + start).collect();
            for &m in &set {
                prop_assert!(flags.insert(m));
                prop_assert!(!flags.insert(m));
            }
            let (one_bound, other_bound) = bounds;
            let (from, to) = (start + one_bound.min(other_bound), start + one_bound.max(other_bound));
            let first = set.range(from..to).next().copied().unwrap_or(to);
            prop_assert_eq!(flags.first_member(from, to), first);
            let gap = (from..to).find(|n| !set.contains(n)).unwrap_or(to);
            prop_assert_eq!(flags.first_gap(from, to), gap);
            prop_assert_eq!(flags.count(from, to) as usize, set.range(from..to).count());
            let mut with_range = flags.clone();
            if from < to {
                let is_new = set.range(from..to).next().is_none();
                prop_assert_eq!(with_range.insert_new_range(from, to), is_new);
                for n in start..start + 2047 {
                    let is_expected = set.contains(&n) || (is_new && (from..to).contains(&n));
                    prop_assert_eq!(with_range.contains(n), is_expected);
                }
            }
            let mut cleared = flags.clone();
            cleared.clear_range(from, to);
            let removed = flags.remove_range(from, to);
            prop_assert_eq!(removed as usize, set.range(from..to).count());
            prop_assert!((start..start + 2047).all(|n| cleared.contains(n) == flags.contains(n)));
            set.retain(|n| !(from..to).contains(n));
            for n in start..start + 2047 {
                prop_assert_eq!(flags.contains(n), set.contains(&n));
            }
        }
    }
}
