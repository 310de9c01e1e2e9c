//! A map from the numbers of open connections to values, such as the state that a recorder keeps of
//! a connection.
//!
//! Numbers ascend, and most connections are short. Recent connections are in a queue, indexed by
//! their numbers. A connection that stays open while many others open and close is moved to a
//! sorted list. Memory is therefore proportional to the number of open connections, and does not
//! grow with time.

use std::collections::VecDeque;

use umts_stack::ids::ConnectionId;

/// Number of empty entries beyond which the queue of recent connections is shortened.
const SLACK: usize = 64;

#[derive(Debug)]
pub(crate) struct Open<T> {
    /// Connections that have been open for a long time, sorted by number. All numbers are below
    /// `first`.
    old: Vec<(ConnectionId, Box<T>)>,
    /// Number of the first element of `recent`.
    first: u32,
    /// Recent connections, by number from `first` on.
    recent: VecDeque<Option<Box<T>>>,
    /// Number of open connections in `recent`. Closed ones are `None`.
    recent_count: usize,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Open { old: Vec::new(), first: 0, recent: VecDeque::new(), recent_count: 0 }
    }
}

impl<T> Open<T> {
    pub fn insert(&mut self, id: ConnectionId, value: T) {
        if self.recent.is_empty() {
            self.first = id.0;
        }
        // Numbers need not ascend strictly: two flows may open connections in another order.
        if id.0 < self.first {
            let at = self.old.partition_point(|(old, _)| *old < id);
            self.old.insert(at, (id, Box::new(value)));
            return;
        }
        let index = (id.0 - self.first) as usize;
        if index >= self.recent.len() {
            self.recent.resize_with(index + 1, || None);
        }
        self.recent[index] = Some(Box::new(value));
        self.recent_count += 1;
        while self.recent.len() > 2 * self.recent_count + SLACK {
            self.remove_first_entry();
        }
    }

    #[inline]
    pub fn get(&mut self, id: ConnectionId) -> Option<&mut T> {
        match id.0.checked_sub(self.first) {
            Some(index) => self.recent.get_mut(index as usize)?.as_deref_mut(),
            None => {
                let at = self.old.binary_search_by_key(&id, |(old, _)| *old).ok()?;
                Some(&mut self.old[at].1)
            }
        }
    }

    pub fn remove(&mut self, id: ConnectionId) -> Option<Box<T>> {
        let Some(index) = id.0.checked_sub(self.first) else {
            let at = self.old.binary_search_by_key(&id, |(old, _)| *old).ok()?;
            return Some(self.old.remove(at).1);
        };
        let entry = self.recent.get_mut(index as usize)?.take()?;
        self.recent_count -= 1;
        while let Some(None) = self.recent.front() {
            self.remove_first_entry();
        }
        Some(entry)
    }

    /// All values, in the order of the connection numbers.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let recent = self.recent.iter_mut().flatten();
        self.old.iter_mut().map(|(_, value)| value).chain(recent).map(|value| &mut **value)
    }

    /// All values, in the order of the connection numbers.
    pub fn into_values(self) -> impl Iterator<Item = Box<T>> {
        let recent = self.recent.into_iter().flatten();
        self.old.into_iter().map(|(_, value)| value).chain(recent)
    }

    /// Removes the first entry of `recent`. If its connection is open, it moves to `old`.
    fn remove_first_entry(&mut self) {
        if let Some(Some(value)) = self.recent.pop_front() {
            self.old.push((ConnectionId(self.first), value));
            self.recent_count -= 1;
        }
        self.first += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn memory_is_bounded_by_open_connections() {
        let mut open = Open::default();
        open.insert(ConnectionId(0), 0);
        for id in 1..100_000 {
            open.insert(ConnectionId(id), id);
            assert_eq!(open.remove(ConnectionId(id)), Some(Box::new(id)));
        }
        assert_eq!(open.get(ConnectionId(0)), Some(&mut 0));
        assert!(open.recent.capacity() < 1000, "{}", open.recent.capacity());
        assert_eq!(open.into_values().collect::<Vec<_>>(), [Box::new(0)]);
    }

    proptest! {
        /// Compares with a map, for any sequence of openings and closings. A distance of 1 to 3
        /// opens the connection with a number so far above the last one; 0 closes any connection,
        /// which may not exist.
        #[test]
        fn agrees_with_a_map_of_open_connections(steps in proptest::collection::vec((0u32..4, any::<prop::sample::Index>()), 1..400)) {
            let (mut open, mut map, mut last) = (Open::default(), BTreeMap::new(), 0);
            for (distance, choice) in steps {
                if distance > 0 {
                    last += distance;
                    open.insert(ConnectionId(last), last);
                    map.insert(last, last);
                } else {
                    let id = choice.index(last as usize + 2) as u32;
                    prop_assert_eq!(open.remove(ConnectionId(id)).map(|value| *value), map.remove(&id));
                }
                let id = choice.index(last as usize + 2) as u32;
                prop_assert_eq!(open.get(ConnectionId(id)), map.get_mut(&id));
            }
            prop_assert!(open.values_mut().eq(map.values_mut()));
            prop_assert!(open.into_values().map(|value| *value).eq(map.into_values()));
        }
    }
}
