//! MAC-c: which UE's blocks go on the FACH in a TTI (TS 25.321 §4.2.3.3, priority handling between UEs left to the
//! implementation). Here the UEs with something to send take turns.

use crate::ids::UeId;

/// Turns by UE index: each TTI begins with the UE after the one that was served last.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin {
    next: u16,
}

impl RoundRobin {
    /// `ready` UEs, in index order, in the order of their turns.
    pub fn order<'a>(&self, ready: &'a [UeId]) -> impl Iterator<Item = UeId> + 'a {
        let from = ready.partition_point(|ue| ue.0 < self.next);
        ready[from..].iter().chain(&ready[..from]).copied()
    }

    /// `ue` was served.
    pub fn served(&mut self, ue: UeId) {
        self.next = ue.0.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ues_take_turns_and_an_idle_one_loses_none() {
        let mut turns = RoundRobin::default();
        let mut serve = |ready: &[u16]| {
            let ready: Vec<_> = ready.iter().map(|&n| UeId(n)).collect();
            let ue = turns.order(&ready).next().unwrap();
            turns.served(ue);
            ue.0
        };
        assert_eq!([serve(&[0, 1, 2]), serve(&[0, 1, 2]), serve(&[0, 2]), serve(&[0, 1, 2])], [0, 1, 2, 0]);
    }
}
