//! Users with something to send on the DSCH of a cell, and their backlog when RLC was last queried.
//!
//! In an overloaded cell most users wait in most TTIs, and their backlogs do not change. RLC is
//! queried again only after a change.

use umts_units::Time;

use super::Multicell;
use crate::ids::{Direction, UeId};
use crate::radio::rlc::Backlog;
use crate::ue::UeContext;

/// A user of a DSCH with something to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready {
    pub ue: UeId,
    /// Something has changed in RLC since the last query.
    is_stale: bool,
    /// The backlog. `None`: there is nothing to send.
    backlog: Option<Backlog>,
}

impl Ready {
    /// Queries RLC if its state has changed since the last query. Returns the backlog, or `None` if
    /// there is nothing to send.
    #[inline]
    pub fn backlog(&mut self, now: Time, context: &UeContext) -> Option<Backlog> {
        let rlc = &context.rlc[Direction::Downlink.index()];
        let query = || rlc.has_work(now).then(|| rlc.backlog());
        if std::mem::take(&mut self.is_stale) {
            self.backlog = query();
        }
        debug_assert!(self.backlog == query(), "{:?} has changed unnoticed", self.ue);
        self.backlog
    }
}

/// Adds a user to the list of a cell. If it is in the list already, RLC will be queried again.
pub(super) fn insert(ready: &mut Vec<Ready>, ue: UeId) {
    match ready.binary_search_by_key(&ue, |ready| ready.ue) {
        Ok(at) => ready[at].is_stale = true,
        Err(at) => ready.insert(at, Ready { ue, is_stale: true, backlog: None }),
    }
}

/// Removes a user. Returns whether it was there.
pub(super) fn remove(ready: &mut Vec<Ready>, ue: UeId) -> bool {
    let at = ready.binary_search_by_key(&ue, |ready| ready.ue);
    at.map(|at| ready.remove(at)).is_ok()
}

impl Multicell {
    /// Adds a user to the list of its cell.
    pub(super) fn mark_ready(&mut self, ue: UeId) {
        insert(&mut self.dschs.cells[self.mobility.user(ue).cell.index()].ready, ue);
    }

    /// The backlog of `ue` changed: RLC is queried again, or the user leaves its cell's list.
    pub(super) fn backlog_changed(&mut self, ue: UeId, has_data: bool) {
        let ready = &mut self.dschs.cells[self.mobility.user(ue).cell.index()].ready;
        if !has_data {
            remove(ready, ue);
        } else if let Ok(at) = ready.binary_search_by_key(&ue, |ready| ready.ue) {
            ready[at].is_stale = true;
        }
    }
}
