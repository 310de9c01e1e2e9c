//! The connections that are open, found by their ends.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::connection::Connection;
use crate::ends::Ends;

/// Connections that are tried before the map is asked.
const RECENT: usize = 1024;

/// Open connections.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    by_ends: HashMap<Ends, usize, RandomState>,
    /// Places of those that packets belonged to lately, by a few bits of their ends.
    recent: Vec<u32>,
}

impl Default for Table {
    fn default() -> Self {
        Table { slots: Vec::new(), free: Vec::new(), by_ends: HashMap::default(), recent: vec![0; RECENT] }
    }
}

impl Table {
    /// The place of the connection between `ends`, until it is removed.
    #[inline]
    pub fn find(&mut self, ends: &Ends) -> Option<usize> {
        let recent = &mut self.recent[ends.few_bits() % RECENT];
        let guess = *recent as usize;
        if self.slots.get(guess).is_some_and(|slot| slot.as_ref().is_some_and(|c| c.ends == *ends)) {
            return Some(guess);
        }
        let slot = *self.by_ends.get(ends)?;
        *recent = slot as u32;
        Some(slot)
    }

    /// The connection at a place that was found.
    pub fn at(&mut self, slot: usize) -> &mut Connection {
        self.slots[slot].as_mut().expect("places are found, and removed with their connections")
    }

    /// The connection between `ends`.
    pub fn get(&self, ends: &Ends) -> Option<&Connection> {
        self.slots[*self.by_ends.get(ends)?].as_deref()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// So many of those that are over, and then of those whose last packets are oldest, in the order of their numbers.
    pub fn quietest(&self, count: usize) -> Vec<Ends> {
        let order = |found: &Connection| (found.closed.is_none(), found.last, found.number);
        let mut all: Vec<_> = self.slots.iter().flatten().map(|found| (order(found), found.ends)).collect();
        let count = count.min(all.len());
        if count < all.len() {
            all.select_nth_unstable_by_key(count, |found| found.0);
        }
        all.truncate(count);
        all.sort_unstable_by_key(|((_, _, number), _)| *number);
        all.into_iter().map(|(_, ends)| ends).collect()
    }

    /// Puts a connection in; tells its place.
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

    /// Takes the connection between `ends` out.
    pub fn remove(&mut self, ends: &Ends) -> Option<Box<Connection>> {
        let slot = self.by_ends.remove(ends)?;
        self.free.push(slot);
        self.slots[slot].take()
    }

    /// Takes all out, in the order of their numbers.
    pub fn take_all(&mut self) -> impl Iterator<Item = Box<Connection>> + use<> {
        let mut all: Vec<_> = std::mem::take(self).slots.into_iter().flatten().collect();
        all.sort_by_key(|connection| connection.number);
        all.into_iter()
    }
}
