//! The ways in which UEs share a carrier: who of them sends in a TTI. Each has a file of its own with the node that decides.

use umts_kernel::TraceSink;
use umts_kernel::random::{AddressedStream, Streams};

use super::config::{CellConfig, FachMode, RachMode};
use crate::EventContext;
use crate::ids::{CarrierId, CellId, UeId};
use crate::nodeb::EuraneFach;
use crate::radio::Air;
use crate::radio::mac::{Channel, RachAccess};
use crate::rnc::sectors::Sectors;
use crate::rnc::tdd::MacTdd;
use crate::rnc::{MacC, MacD, Plan, Scheduler, SchedulerKind, Turn, Turned};
use crate::trace::TraceEvent;
use crate::ue::{PrivateRach, Rach, Ues};

/// MAC of a carrier.
#[derive(Debug)]
pub(super) enum Sharing {
    /// Each has a channel of its own.
    Dedicated(MacD),
    /// One after another, asked by MAC-c.
    Common(MacC),
    /// All at once, into the Node B's queue.
    Pushed(EuraneFach),
    /// By contention.
    Contention(Rach),
    /// Each has the whole RACH.
    Private(PrivateRach),
    /// Slots and codes of a TDD cell, on request.
    Granted(Box<MacTdd>),
    /// The DSCHs of all cells of a layout, which share the air.
    Sectors(Box<Sectors>),
}

impl Sharing {
    /// As the cell has it for a channel of this plan.
    pub fn new(cell: &CellConfig, scheduler: SchedulerKind, plan: &Plan, streams: &Streams) -> Self {
        let draws = |purpose: &str| -> AddressedStream {
            streams.addressed(&format!("cell{}/{purpose}", plan.cell.0))
        };
        if let Some(tdd) = &cell.tdd {
            return Sharing::Granted(Box::new(MacTdd::new(plan.cell, tdd, streams)));
        }
        match (plan.channel, cell.fach, cell.rach) {
            (Channel::Dch, _, _) => Sharing::Dedicated(MacD::default()),
            (Channel::Dsch, _, _) | (Channel::Fach, FachMode::Pull, _) => {
                Sharing::Common(MacC::new(Scheduler::new(scheduler)))
            }
            (Channel::Fach, FachMode::PerUePush { nodeb_queue, jitter }, _) => {
                Sharing::Pushed(EuraneFach::new(nodeb_queue, jitter, draws("fach/jitter")))
            }
            (Channel::Rach, _, RachMode::Shared) => {
                Sharing::Contention(Rach::new(RachAccess::new(draws("rach/access"), plan.format.tti)))
            }
            (Channel::Rach, _, RachMode::Private { access_delay }) => {
                Sharing::Private(PrivateRach::new(access_delay, draws("rach/delay")))
            }
            (Channel::Ack, _, _) => unreachable!("TDD cells alone have it"),
        }
    }

    /// A TTI begins for RLC.
    #[inline]
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: Turn<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) -> Turned {
        match self {
            Sharing::Dedicated(mac) => return mac.turn(ctx, turn, ues, air),
            Sharing::Pushed(mac) => return mac.turn(ctx, turn, ues, air),
            Sharing::Common(mac) => mac.turn(ctx, turn, ues, air),
            Sharing::Contention(mac) => mac.turn(ctx, turn, ues, air),
            Sharing::Private(mac) => mac.turn(ctx, turn, ues, air),
            // Their turns are those of the cell, and of all cells: `access/tdd.rs`, `access/sectors.rs`.
            Sharing::Granted(_) | Sharing::Sectors(_) => {}
        }
        Turned::default()
    }

    /// The cell of a layout that a UE is in.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        match self {
            Sharing::Sectors(sectors) => sectors.cell_of(ue),
            _ => None,
        }
    }

    /// A frame of the Node B begins, where it has frames of its own.
    pub fn frame<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: CarrierId,
        plan: &Plan,
        ues: &mut Ues,
        air: &mut Air,
    ) {
        if let Sharing::Pushed(mac) = self {
            mac.frame(ctx, carrier, plan, ues, air);
        }
    }
}
