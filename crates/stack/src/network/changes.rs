//! Changes of the network during a run, at instants that the configuration sets.
//!
//! A change affects what is decided from its instant on. A packet that has entered a link keeps the
//! values of that time. A block that was sent keeps its losses, but it is lost if it arrives while
//! the air is cut. So the run before the first change is the same as without it.

use std::ops::Range;

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Erlang, Time};

use super::Network;
use crate::context::Context;
use crate::core_network::LinkChange;
use crate::event::Event;
use crate::ids::{Direction, UeId};
use crate::trace::TraceEvent;

/// A change and its time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedChange {
    pub at: Time,
    pub change: Change,
}

/// A change of one or more values of the network.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Link number `hop`, counted from the server, in both directions.
    Link { hop: u8, change: LinkChange },
    /// Block error ratio of these UEs in one direction, for UEs with independent errors or none.
    BlockErrorRate { ues: Range<u16>, direction: Direction, bler: f64 },
    /// Rate of the DCHs of these UEs in one direction, as the number of blocks in a full TTI. `dch`
    /// is the DCH bearer of UEs that RRC switches, `None` of UEs that keep their DCH.
    FullTti { ues: Range<u16>, direction: Direction, dch: Option<usize>, blocks: u32 },
    /// Offered traffic of calls of class number `class` in a layout.
    OfferedCalls { class: u16, offered: Erlang },
    /// Whether the air of these UEs is cut: no block or packet arrives in either direction.
    Cut { ues: Range<u16>, is_cut: bool },
}

impl Network {
    /// Schedules the changes. They precede all other events of their instants.
    pub(super) fn schedule_changes(&self, agenda: &mut EventQueue<Event>) {
        for (number, timed) in self.changes.iter().enumerate() {
            agenda.push(timed.at, Phase::Receive, Event::Change(number as u32));
        }
    }

    /// Makes change `number`. A fault is a named change in force until its removal (`faults.rs`).
    /// While a fault overrides a value, a change of this value has no effect. It takes effect when
    /// no fault overrides the value any more.
    #[cold]
    pub(super) fn make_change<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, number: u32) {
        let change = self.changes[number as usize].change.clone();
        if self.faults.is_empty() {
            self.apply(cx, &change);
        } else {
            self.change_below_faults(cx, &change);
        }
    }

    /// Makes a change.
    pub(super) fn apply<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, change: &Change) {
        match change {
            Change::Link { hop, change } => {
                self.path.core.change_link(*hop, *change);
                match *change {
                    LinkChange::Rate(rate) => cx.record(|| TraceEvent::LinkRateChanged { hop: *hop, rate }),
                    LinkChange::Delay(delay) => {
                        cx.record(|| TraceEvent::LinkDelayChanged { hop: *hop, delay });
                    }
                    LinkChange::Loss(_) => {}
                }
            }
            Change::BlockErrorRate { ues, direction, bler } => {
                for ue in ues.clone() {
                    self.path.access.set_block_error_rate(UeId(ue), *direction, *bler);
                }
            }
            Change::FullTti { ues, direction, dch, blocks } => {
                for ue in ues.clone() {
                    self.path.access.set_full_tti(UeId(ue), *direction, *dch, *blocks);
                }
            }
            Change::OfferedCalls { class, offered } => {
                self.path.access.set_offered_calls(cx.now, usize::from(*class), *offered);
            }
            Change::Cut { ues, is_cut } => {
                ues.clone().for_each(|ue| self.path.access.set_cut(UeId(ue), *is_cut));
            }
        }
    }
}
