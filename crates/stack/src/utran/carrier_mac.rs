//! The ways in which UEs share a carrier: who of them sends in a TTI. Each has a file of its own with the node that decides.

use umts_kernel::TraceSink;
use umts_kernel::random::{AddressedStream, Streams};

use super::config::{CellConfig, FachMode, RachMode};
use crate::EventContext;
use crate::ids::{CarrierId, CellId, UeId};
use crate::nodeb::EuraneFach;
use crate::radio::Air;
use crate::radio::mac::{Channel, RachAccess};
use crate::rnc::multicell::Multicell;
use crate::rnc::tdd::MacTdd;
use crate::rnc::{CarrierConfig, MacC, MacD, TtiInput, TtiOutcome};
use crate::scheduling::{Scheduler, SchedulerKind};
use crate::trace::TraceEvent;
use crate::ue::{PrivateRach, Rach, Ues};

/// MAC of a carrier.
#[derive(Debug)]
pub(super) enum CarrierMac {
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
    Multicell(Box<Multicell>),
}

impl CarrierMac {
    /// As the cell has it for a channel of this plan.
    pub fn new(cell: &CellConfig, scheduler: SchedulerKind, plan: &CarrierConfig, streams: &Streams) -> Self {
        let draws = |purpose: &str| -> AddressedStream {
            streams.addressed(&format!("cell{}/{purpose}", plan.cell.0))
        };
        if let Some(tdd) = &cell.tdd {
            return CarrierMac::Granted(Box::new(MacTdd::new(plan.cell, tdd, streams)));
        }
        match (plan.channel, cell.fach, cell.rach) {
            (Channel::Dch, _, _) => CarrierMac::Dedicated(MacD),
            (Channel::Dsch, _, _) | (Channel::Fach, FachMode::Pull, _) => {
                CarrierMac::Common(MacC::new(Scheduler::new(scheduler)))
            }
            (Channel::Fach, FachMode::PerUePush { nodeb_queue, jitter }, _) => {
                CarrierMac::Pushed(EuraneFach::new(nodeb_queue, jitter, draws("fach/jitter")))
            }
            (Channel::Rach, _, RachMode::Shared) => {
                CarrierMac::Contention(Rach::new(RachAccess::new(draws("rach/access"), plan.format.tti)))
            }
            (Channel::Rach, _, RachMode::Private { access_delay }) => {
                CarrierMac::Private(PrivateRach::new(access_delay, draws("rach/delay")))
            }
            (Channel::Ack, _, _) => unreachable!("TDD cells alone have it"),
        }
    }

    /// A TTI begins for RLC.
    #[inline]
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: TtiInput<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) -> TtiOutcome {
        match self {
            CarrierMac::Dedicated(mac) => return mac.turn(ctx, turn, ues, air),
            CarrierMac::Pushed(mac) => return mac.turn(ctx, turn, ues, air),
            CarrierMac::Common(mac) => mac.turn(ctx, turn, ues, air),
            CarrierMac::Contention(mac) => mac.turn(ctx, turn, ues, air),
            CarrierMac::Private(mac) => mac.turn(ctx, turn, ues, air),
            // Their turns are those of the cell, and of all cells: `utran/tdd.rs`, `utran/sectors.rs`.
            CarrierMac::Granted(_) | CarrierMac::Multicell(_) => {}
        }
        TtiOutcome::default()
    }

    /// The cell of a layout that a UE is in.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        match self {
            CarrierMac::Multicell(sectors) => sectors.cell_of(ue),
            _ => None,
        }
    }

    /// A frame of the Node B begins, where it has frames of its own.
    pub fn frame<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: CarrierId,
        plan: &CarrierConfig,
        ues: &mut Ues,
        air: &mut Air,
    ) {
        if let CarrierMac::Pushed(mac) = self {
            mac.frame(ctx, carrier, plan, ues, air);
        }
    }
}
