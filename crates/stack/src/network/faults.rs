//! Faults: named changes that are in force until they are removed, for example by a test that runs
//! beside an emulation.
//!
//! Each value that faults set has a value below them: the value without any fault. If several faults
//! set one value, the fault that was added last is in force. After the removal of a fault the next
//! one below is in force again. A scheduled change of a value with faults changes the value below.

use std::collections::BTreeMap;

use umts_kernel::TraceSink;
use umts_units::Probability;

use super::{Change, Network};
use crate::context::Context;
use crate::core_network::LinkChange;
use crate::ids::UeId;
use crate::trace::TraceEvent;

/// A single value of the network that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Parameter {
    LinkRate {
        hop: u8,
    },
    LinkDelay {
        hop: u8,
    },
    LinkLoss {
        hop: u8,
        direction_index: usize,
    },
    BlockErrorRate {
        ue: u16,
        direction_index: usize,
    },
    /// Blocks in a full TTI of a DCH of a UE.
    FullTti {
        ue: u16,
        direction_index: usize,
        dch: Option<usize>,
    },
    /// Offered traffic of a class of calls.
    OfferedCalls {
        class: u16,
    },
    /// Whether the air of a UE is cut.
    Cut {
        ue: u16,
    },
}

/// The faults in force.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// In the order in which the faults were added.
    active: Vec<Fault>,
    /// The values below the faults.
    below: BTreeMap<Parameter, Change>,
}

#[derive(Debug)]
struct Fault {
    name: String,
    values: BTreeMap<Parameter, Change>,
}

impl Faults {
    pub(super) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Sets the values of a fault, which keeps its place if it exists. Without values the fault is
    /// removed. Returns the parameters that may change.
    fn replace(&mut self, name: &str, values: BTreeMap<Parameter, Change>) -> Vec<Parameter> {
        let index = self.active.iter().position(|fault| fault.name == name);
        let mut affected: Vec<Parameter> = values.keys().copied().collect();
        match index {
            Some(index) if values.is_empty() => affected.extend(self.active.remove(index).values.into_keys()),
            Some(index) => {
                let values_before = std::mem::replace(&mut self.active[index].values, values);
                affected.extend(values_before.into_keys());
            }
            None if values.is_empty() => {}
            None => self.active.push(Fault { name: name.to_owned(), values }),
        }
        affected.sort_unstable();
        affected.dedup();
        affected
    }

    /// The value of a parameter: of the last fault that sets it, otherwise the value below the
    /// faults, which is then forgotten.
    fn take_value(&mut self, parameter: Parameter) -> Option<Change> {
        let set_by_fault = self.active.iter().rev().find_map(|fault| fault.values.get(&parameter));
        set_by_fault.cloned().or_else(|| self.below.remove(&parameter))
    }
}

/// Splits a change into changes of single values.
fn single_changes(change: &Change) -> Vec<(Parameter, Change)> {
    match *change {
        Change::Link { hop, change: LinkChange::Rate(_) } => {
            vec![(Parameter::LinkRate { hop }, change.clone())]
        }
        Change::Link { hop, change: LinkChange::Delay(_) } => {
            vec![(Parameter::LinkDelay { hop }, change.clone())]
        }
        Change::Link { hop, change: LinkChange::Loss(losses) } => loss_changes(hop, losses),
        Change::BlockErrorRate { ref ues, direction, bler } => {
            let single = |ue| {
                let parameter = Parameter::BlockErrorRate { ue, direction_index: direction.index() };
                (parameter, Change::BlockErrorRate { ues: ue..ue + 1, direction, bler })
            };
            ues.clone().map(single).collect()
        }
        Change::FullTti { ref ues, direction, dch, blocks } => {
            let single = |ue| {
                let parameter = Parameter::FullTti { ue, direction_index: direction.index(), dch };
                (parameter, Change::FullTti { ues: ue..ue + 1, direction, dch, blocks })
            };
            ues.clone().map(single).collect()
        }
        Change::OfferedCalls { class, .. } => vec![(Parameter::OfferedCalls { class }, change.clone())],
        Change::Cut { ref ues, is_cut } => {
            let single = |ue| (Parameter::Cut { ue }, Change::Cut { ues: ue..ue + 1, is_cut });
            ues.clone().map(single).collect()
        }
    }
}

/// The changes of the loss of a link in each direction that `losses` gives.
fn loss_changes(hop: u8, losses: [Option<Probability>; 2]) -> Vec<(Parameter, Change)> {
    let mut changes = Vec::new();
    for (direction_index, loss) in losses.into_iter().enumerate() {
        if loss.is_some() {
            let mut single = [None; 2];
            single[direction_index] = loss;
            let change = Change::Link { hop, change: LinkChange::Loss(single) };
            changes.push((Parameter::LinkLoss { hop, direction_index }, change));
        }
    }
    changes
}

impl Network {
    /// Adds a fault, or gives the fault with this name other values. The fault keeps its place
    /// among the faults that set the same values.
    pub fn set_fault<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        name: &str,
        changes: &[Change],
    ) {
        // Of several changes of one value, the last one is in force.
        let values: BTreeMap<_, _> = changes.iter().flat_map(single_changes).collect();
        for (&parameter, change) in &values {
            if !self.faults.below.contains_key(&parameter)
                && let Some(undo) = self.undo_of(change)
            {
                self.faults.below.insert(parameter, undo);
            }
        }
        self.update_faults(cx, name, values);
    }

    /// Removes a fault. Its values become the values of the faults below or the values without
    /// faults. An unknown name has no effect.
    pub fn remove_fault<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, name: &str) {
        self.update_faults(cx, name, BTreeMap::new());
    }

    /// Replaces the values of a fault, and applies the values that are in force afterwards.
    fn update_faults<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        name: &str,
        values: BTreeMap<Parameter, Change>,
    ) {
        for parameter in self.faults.replace(name, values) {
            if let Some(change) = self.faults.take_value(parameter) {
                self.apply(cx, &change);
            }
        }
    }

    /// Makes a scheduled change. Values with a fault change below the fault.
    pub(super) fn change_below_faults<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        change: &Change,
    ) {
        for (parameter, change) in single_changes(change) {
            match self.faults.below.get_mut(&parameter) {
                Some(below) => *below = change,
                None => self.apply(cx, &change),
            }
        }
    }

    /// Returns the change that would undo `change`, a change of a single value, if it were made now.
    /// `None` if `change` has no effect.
    fn undo_of(&self, change: &Change) -> Option<Change> {
        let access = &self.path.access;
        match change {
            Change::Link { hop, change } => {
                Some(Change::Link { hop: *hop, change: self.path.core.undo_of(*hop, *change) })
            }
            Change::BlockErrorRate { ues, direction, .. } => {
                let bler = access.block_error_rate(UeId(ues.start), *direction)?;
                Some(Change::BlockErrorRate { ues: ues.clone(), direction: *direction, bler })
            }
            Change::FullTti { ues, direction, dch, .. } => {
                let blocks = access.full_tti(UeId(ues.start), *direction, *dch)?;
                Some(Change::FullTti { ues: ues.clone(), direction: *direction, dch: *dch, blocks })
            }
            Change::OfferedCalls { class, .. } => {
                let offered = access.offered_calls(usize::from(*class))?;
                Some(Change::OfferedCalls { class: *class, offered })
            }
            Change::Cut { ues, .. } => {
                Some(Change::Cut { ues: ues.clone(), is_cut: access.is_cut(UeId(ues.start)) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::NoTrace;
    use umts_kernel::random::Streams;
    use umts_units::{BitRate, Duration, Time};

    use super::*;
    use crate::core_network::LinkConfig;
    use crate::network::{NetworkConfig, TimedChange};

    const HOP: u8 = 0;

    /// A network of one link with a delay of 10 ms and an unlimited rate.
    fn network(changes: Vec<TimedChange>) -> Network {
        let link = LinkConfig {
            from: "server".into(),
            to: "rnc".into(),
            delay: Duration::from_millis(10),
            ..LinkConfig::default()
        };
        let config = NetworkConfig {
            core: vec![link],
            proxy: None,
            cells: Vec::new(),
            sectors: None,
            ues: Vec::new(),
            flows: Vec::new(),
            programs: true,
            splits_programs: false,
            impairments: Vec::new(),
            changes,
        };
        Network::new(&config, &Streams::new(1, 0))
    }

    fn delay(ms: u64) -> Change {
        Change::Link { hop: HOP, change: LinkChange::Delay(Duration::from_millis(ms)) }
    }

    fn rate(rate: Option<BitRate>) -> Change {
        Change::Link { hop: HOP, change: LinkChange::Rate(rate) }
    }

    fn loss(downlink: Option<Probability>, uplink: Option<Probability>) -> Change {
        Change::Link { hop: HOP, change: LinkChange::Loss([downlink, uplink]) }
    }

    fn set_fault(network: &mut Network, name: &str, changes: &[Change]) {
        network.set_fault(&mut Context::new(Time::ZERO, &mut NoTrace), name, changes);
    }

    fn remove_fault(network: &mut Network, name: &str) {
        network.remove_fault(&mut Context::new(Time::ZERO, &mut NoTrace), name);
    }

    /// The current value of the parameter that `change` sets, as a change.
    fn value(network: &Network, change: &Change) -> Change {
        network.undo_of(change).expect("links always change")
    }

    #[test]
    fn removed_fault_restores_the_values_before_it() {
        let mut network = network(Vec::new());
        let half = Probability::new(0.5);
        let changes = [delay(300), rate(BitRate::from_bps(64_000)), loss(half, None)];
        set_fault(&mut network, "slow", &changes);
        for change in &changes {
            assert_eq!(value(&network, change), *change);
        }
        remove_fault(&mut network, "slow");
        let before = [delay(10), rate(None), loss(Some(Probability::ZERO), None)];
        for change in &before {
            assert_eq!(value(&network, change), *change);
        }
        assert!(network.faults.below.is_empty() && network.faults.is_empty());
    }

    #[test]
    fn last_added_of_several_faults_is_in_force() {
        let mut network = network(Vec::new());
        set_fault(&mut network, "a", &[delay(100)]);
        set_fault(&mut network, "b", &[delay(200)]);
        // A changed fault keeps its place below.
        set_fault(&mut network, "a", &[delay(150)]);
        assert_eq!(value(&network, &delay(0)), delay(200));
        remove_fault(&mut network, "b");
        assert_eq!(value(&network, &delay(0)), delay(150));
        set_fault(&mut network, "b", &[delay(200)]);
        remove_fault(&mut network, "a");
        assert_eq!(value(&network, &delay(0)), delay(200));
        remove_fault(&mut network, "b");
        remove_fault(&mut network, "b");
        assert_eq!(value(&network, &delay(0)), delay(10));
    }

    #[test]
    fn changed_fault_restores_values_that_it_does_not_set_any_more() {
        let mut network = network(Vec::new());
        let uplink = loss(None, Some(Probability::ONE));
        set_fault(&mut network, "a", &[delay(100), uplink.clone()]);
        set_fault(&mut network, "a", std::slice::from_ref(&uplink));
        assert_eq!(value(&network, &delay(0)), delay(10));
        assert_eq!(value(&network, &uplink), uplink);
    }

    #[test]
    fn scheduled_change_of_a_value_with_a_fault_is_in_force_after_the_fault() {
        let changed = TimedChange { at: Time::ZERO, change: delay(50) };
        let mut network = network(vec![changed]);
        set_fault(&mut network, "a", &[delay(100)]);
        network.make_change(&mut Context::new(Time::ZERO, &mut NoTrace), 0);
        assert_eq!(value(&network, &delay(0)), delay(100));
        remove_fault(&mut network, "a");
        assert_eq!(value(&network, &delay(0)), delay(50));
    }
}
