//! Sets of sequence numbers as ranges in bounded memory: for example the octets of a connection
//! that were sent, or that SACK blocks reported.

/// Maximum number of ranges: more than a window has holes in practice. Beyond it, the highest
/// ranges are dropped.
const MAX_RANGES: usize = 1024;

/// The numbers `from..to`.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: u64,
    to: u64,
}

/// Ranges, sorted and not adjacent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges(Vec<Span>);

impl Ranges {
    /// Adds `from..to`. Returns whether any of it is new.
    pub fn insert(&mut self, mut from: u64, mut to: u64) -> bool {
        if from >= to || self.covers(from, to) {
            return false;
        }
        let first = self.0.partition_point(|range| range.to < from);
        let mut end = first;
        while end < self.0.len() && self.0[end].from <= to {
            from = from.min(self.0[end].from);
            to = to.max(self.0[end].to);
            end += 1;
        }
        self.0.splice(first..end, [Span { from, to }]);
        self.0.truncate(MAX_RANGES);
        true
    }

    /// Removes `from..to`. Returns whether the set contained any of it.
    pub fn remove(&mut self, from: u64, to: u64) -> bool {
        let first = self.0.partition_point(|range| range.to <= from);
        let end = first + self.0[first..].partition_point(|range| range.from < to);
        if first == end || from >= to {
            return false;
        }
        let before = Span { from: self.0[first].from, to: from };
        let after = Span { from: to, to: self.0[end - 1].to };
        let remaining = [before, after].into_iter().filter(|range| range.from < range.to);
        self.0.splice(first..end, remaining);
        true
    }

    /// Removes all numbers below `limit`.
    pub fn remove_below(&mut self, limit: u64) {
        if self.0.first().is_some_and(|range| range.from < limit) {
            self.remove(0, limit);
        }
    }

    /// Returns whether the set contains all of `from..to`.
    pub fn covers(&self, from: u64, to: u64) -> bool {
        let index = self.0.partition_point(|range| range.to < to);
        self.0.get(index).is_some_and(|range| range.from <= from && to <= range.to)
    }

    /// Calls `take` with each part of `from..to` that the set does not contain.
    pub fn for_each_gap(&self, from: u64, to: u64, mut take: impl FnMut(u64, u64)) {
        let first = self.0.partition_point(|range| range.to <= from);
        let mut next = from;
        for range in self.0[first..].iter().take_while(|range| range.from < to) {
            if next < range.from {
                take(next, range.from);
            }
            next = range.to;
        }
        if next < to {
            take(next, to);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the count of numbers in the set from `from` on.
    pub fn count_above(&self, from: u64) -> u64 {
        self.0.iter().map(|range| range.to.saturating_sub(range.from.max(from))).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Operation {
        Insert,
        Remove,
        RemoveBelow,
        Covers,
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            Just(Operation::Insert),
            Just(Operation::Remove),
            Just(Operation::RemoveBelow),
            Just(Operation::Covers),
        ]
    }

    proptest! {
        /// After any operations, all queries give the same results as on a set of single numbers.
        #[test]
        fn equals_a_set_of_numbers(
            steps in proptest::collection::vec((0u64..40, 0u64..12, operation()), 1..100)
        ) {
            let mut ranges = Ranges::default();
            let mut set = BTreeSet::new();
            for (from, length, operation) in steps {
                let to = from + length;
                let size = set.len();
                match operation {
                    Operation::Insert => {
                        set.extend(from..to);
                        prop_assert_eq!(ranges.insert(from, to), set.len() > size);
                    }
                    Operation::Remove => {
                        set.retain(|number| !(from..to).contains(number));
                        prop_assert_eq!(ranges.remove(from, to), set.len() < size);
                    }
                    Operation::RemoveBelow => {
                        set.retain(|&number| number >= from);
                        ranges.remove_below(from);
                    }
                    // An empty range has no defined result.
                    Operation::Covers if length == 0 => {}
                    Operation::Covers => {
                        let all = (from..to).all(|number| set.contains(&number));
                        prop_assert_eq!(ranges.covers(from, to), all);
                    }
                }
                prop_assert_eq!(ranges.count_above(from), set.range(from..).count() as u64);
                prop_assert_eq!(ranges.is_empty(), set.is_empty());
                let mut gaps = Vec::new();
                ranges.for_each_gap(from, to, |begin, end| gaps.push((begin, end)));
                prop_assert!(gaps.iter().all(|(begin, end)| begin < end));
                let in_gaps: Vec<u64> = gaps.iter().flat_map(|&(begin, end)| begin..end).collect();
                let missing: Vec<u64> = (from..to).filter(|number| !set.contains(number)).collect();
                prop_assert_eq!(in_gaps, missing);
                prop_assert!(ranges.0.windows(2).all(|pair| pair[0].to < pair[1].from));
            }
        }
    }
}
