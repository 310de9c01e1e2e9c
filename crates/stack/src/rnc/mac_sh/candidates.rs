//! The users that want to be scheduled in a TTI of a DSCH.

use crate::radio::rlc::WaitingSdu;
use crate::scheduling::Candidate;

/// The candidates of a TTI, with their waiting SDUs if
/// [`MacShConfig::needs_sdus`](super::MacShConfig::needs_sdus). Reused from TTI to TTI.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    list: Vec<ListedCandidate>,
    /// The SDUs of all candidates, in the order of `list`.
    sdus: Vec<WaitingSdu>,
}

#[derive(Debug, Clone)]
struct ListedCandidate {
    candidate: Candidate,
    /// Index of its first SDU in [`Candidates::sdus`].
    first_sdu: usize,
}

impl Candidates {
    /// Removes all candidates.
    pub fn begin(&mut self) {
        self.list.clear();
        self.sdus.clear();
    }

    /// Adds a candidate. `append` appends its SDUs in order.
    pub fn push_with(&mut self, candidate: Candidate, append: impl FnOnce(&mut Vec<WaitingSdu>)) {
        self.list.push(ListedCandidate { candidate, first_sdu: self.sdus.len() });
        append(&mut self.sdus);
    }

    /// Adds a candidate with its SDUs in order.
    #[cfg(test)]
    pub fn push(&mut self, candidate: Candidate, sdus: impl IntoIterator<Item = WaitingSdu>) {
        self.push_with(candidate, |all| all.extend(sdus));
    }

    /// The candidates in the order in which they were added.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Candidate> {
        self.list.iter().map(|listed| &listed.candidate)
    }

    /// The candidate with this index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> &Candidate {
        &self.list[index].candidate
    }

    /// The SDUs of the candidate with this index.
    pub(super) fn sdus(&self, index: usize) -> &[WaitingSdu] {
        let end = self.list.get(index + 1).map_or(self.sdus.len(), |next| next.first_sdu);
        &self.sdus[self.list[index].first_sdu..end]
    }
}
