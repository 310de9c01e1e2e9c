//! What the users of a cell have coming to them, by their numbers.

use super::Credit;
use super::config::CreditConfig;
use crate::ids::UeId;

/// Users and their credits. The numbers, among which somebody is looked for in each TTI, stand together.
#[derive(Debug, Default)]
pub(super) struct Credits {
    /// Rising.
    ues: Vec<UeId>,
    credits: Vec<Credit>,
}

impl Credits {
    /// A user comes with what he has.
    pub fn join(&mut self, ue: UeId, credit: Credit) {
        match self.ues.binary_search(&ue) {
            Ok(at) => self.credits[at] = credit,
            Err(at) => self.insert(at, ue, credit),
        }
    }

    /// A user leaves; what he takes along, if he was there.
    pub fn leave(&mut self, ue: UeId) -> Option<Credit> {
        let at = self.ues.binary_search(&ue).ok()?;
        self.ues.remove(at);
        Some(self.credits.remove(at))
    }

    /// What a user has who is there.
    pub fn get(&self, ue: UeId) -> Option<&Credit> {
        Some(&self.credits[self.ues.binary_search(&ue).ok()?])
    }

    /// What a user has, who may be new in TTI number `tti`.
    pub fn of(&mut self, config: &CreditConfig, tti: u64, ue: UeId) -> &mut Credit {
        let at = self.ues.binary_search(&ue).unwrap_or_else(|at| {
            self.insert(at, ue, Credit::new(config, tti));
            at
        });
        &mut self.credits[at]
    }

    fn insert(&mut self, at: usize, ue: UeId, credit: Credit) {
        self.ues.insert(at, ue);
        self.credits.insert(at, credit);
    }
}
