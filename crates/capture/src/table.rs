//! The open connections, which are looked up by their ends.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::connection::Connection;
use crate::ends::Ends;

/// Size of the cache in front of the map.
const RECENT: usize = 1024;

/// Open connections.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Option<Box<Connection>>>,
    /// Unused slots.
    free: Vec<usize>,
    by_ends: HashMap<Ends, usize, RandomState>,
    /// Slots of recently used connections, indexed by bits of the ends' digest.
    recent: Vec<u32>,
}

impl Default for Table {
    fn default() -> Self {
        Table { slots: Vec::new(), free: Vec::new(), by_ends: HashMap::default(), recent: vec![0; RECENT] }
    }
}

impl Table {
    /// Returns the slot of the connection between `ends`. The slot is valid until the connection is
    /// removed.
    #[inline]
    pub fn find(&mut self, ends: &Ends) -> Option<usize> {
        let entry = &mut self.recent[ends.cache_index() % RECENT];
        let cached = *entry as usize;
        let open = self.slots.get(cached).and_then(Option::as_ref);
        if open.is_some_and(|connection| connection.ends == *ends) {
            return Some(cached);
        }
        let slot = *self.by_ends.get(ends)?;
        *entry = slot as u32;
        Some(slot)
    }

    /// Returns the connection in a slot from [`find`](Self::find).
    pub fn at(&mut self, slot: usize) -> &mut Connection {
        self.slots[slot].as_mut().expect("the slot is in use")
    }

    /// Returns the connection between `ends`.
    pub fn get(&self, ends: &Ends) -> Option<&Connection> {
        self.slots[*self.by_ends.get(ends)?].as_deref()
    }

    /// Returns the number of open connections.
    pub fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// Returns the ends of `count` connections: closed ones first, then the ones with the oldest
    /// last packets. The result is in the order of their numbers.
    pub fn quietest(&self, count: usize) -> Vec<Ends> {
        let order = |open: &Connection| (open.closed.is_none(), open.last, open.number);
        let mut all: Vec<_> = self.slots.iter().flatten().map(|open| (order(open), open.ends)).collect();
        let count = count.min(all.len());
        if count < all.len() {
            all.select_nth_unstable_by_key(count, |(key, _)| *key);
        }
        all.truncate(count);
        all.sort_unstable_by_key(|((_, _, number), _)| *number);
        all.into_iter().map(|(_, ends)| ends).collect()
    }

    /// Inserts a connection. Returns its slot.
    pub fn insert(&mut self, connection: Box<Connection>) -> usize {
        let ends = connection.ends;
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(Some(connection));
        } else {
            self.slots[slot] = Some(connection);
        }
        self.by_ends.insert(ends, slot);
        slot
    }

    /// Removes the connection between `ends`.
    pub fn remove(&mut self, ends: &Ends) -> Option<Box<Connection>> {
        let slot = self.by_ends.remove(ends)?;
        self.free.push(slot);
        self.slots[slot].take()
    }

    /// Removes all connections, and returns them in the order of their numbers.
    pub fn take_all(&mut self) -> impl Iterator<Item = Box<Connection>> + use<> {
        let mut all: Vec<_> = std::mem::take(self).slots.into_iter().flatten().collect();
        all.sort_by_key(|connection| connection.number);
        all.into_iter()
    }
}
