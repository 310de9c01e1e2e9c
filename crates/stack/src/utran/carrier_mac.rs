//! The MAC of a carrier. A carrier is a channel, or several channels of the same kind, that UEs use
//! together. This file alone distinguishes the kinds of carriers.

use umts_kernel::random::{AddressedStream, Streams};
use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::config::{CellConfig, FachMode, RachMode};
use crate::ids::{CellId, Direction, MacTimer, UeId};
use crate::mac::hs::HeldPdus;
use crate::mac::{Below, CarrierConfig, Dedicated, Mac, MacE, MacHs, PrivateRach, Pushed, Rach, Shared};
use crate::radio::mac::{Channel, RachAccess};
use crate::rnc::multicell::{Handover, Multicell};
use crate::rnc::tdd::MacTdd;
use crate::scheduling::{Scheduler, SharedChannel, UserSchedulers};
use crate::trace::TraceEvent;
use crate::ue::UeContext;
use crate::{Context, EventContext};

/// MAC of a carrier.
#[derive(Debug)]
pub(super) enum CarrierMac {
    /// DCHs.
    Dedicated(Dedicated),
    /// FACH, or the DSCH of a single cell.
    Shared(Shared),
    /// FACH of EURANE.
    Pushed(Pushed),
    Rach(Rach),
    /// HS-DSCH.
    Hs(Box<MacHs>),
    /// E-DCH.
    E(Box<MacE>),
    /// Both directions of a TDD cell.
    Tdd(Box<MacTdd>),
    /// DSCHs and DCHs of all cells of a layout.
    Multicell(Box<Multicell>),
}

/// Calls a method of [`Mac`] on whichever MAC it is.
macro_rules! on_mac {
    ($self:expr, $mac:ident => $call:expr) => {
        match $self {
            CarrierMac::Dedicated($mac) => $call,
            CarrierMac::Shared($mac) => $call,
            CarrierMac::Pushed($mac) => $call,
            CarrierMac::Rach($mac) => $call,
            CarrierMac::Hs($mac) => $call,
            CarrierMac::E($mac) => $call,
            CarrierMac::Tdd($mac) => $call,
            CarrierMac::Multicell($mac) => $call,
        }
    };
}

impl CarrierMac {
    /// The MAC for a channel of this configuration in `cell`. Only channels that UEs share use
    /// `scheduler`.
    pub fn new(cell: &CellConfig, scheduler: Scheduler, config: &CarrierConfig, streams: &Streams) -> Self {
        if let Some(tdd) = &cell.tdd {
            return CarrierMac::Tdd(Box::new(MacTdd::new(config.cell, tdd, streams)));
        }
        match config.channel {
            Channel::HsDsch => CarrierMac::Hs(Box::new(MacHs::new(cell.hs_dsch.clone(), streams))),
            Channel::EDch => CarrierMac::E(Box::new(MacE::new(cell.e_dch.clone(), streams))),
            Channel::Dch => CarrierMac::Dedicated(Dedicated::default()),
            Channel::Dsch => CarrierMac::Shared(Shared::new(scheduler)),
            Channel::Fach => CarrierMac::fach(cell.fach, scheduler, config.cell, streams),
            Channel::Rach => CarrierMac::Rach(rach(cell.rach, config, streams)),
            Channel::Ack => unreachable!("only TDD cells have an ACK channel"),
        }
    }

    fn fach(mode: FachMode, scheduler: Scheduler, cell: CellId, streams: &Streams) -> Self {
        match mode {
            FachMode::Pull => CarrierMac::Shared(Shared::new(scheduler)),
            FachMode::PerUePush { nodeb_queue, jitter } => {
                CarrierMac::Pushed(Pushed::new(nodeb_queue, jitter, draws(streams, cell, "fach/jitter")))
            }
        }
    }

    /// The next handover that the MAC's measurements require.
    #[inline]
    pub fn poll_handover(&mut self) -> Option<Handover> {
        if let CarrierMac::Multicell(mac) = self { mac.poll_handover() } else { None }
    }

    /// Sets the scheduler of the user for a channel of this configuration, if it has one. `number`
    /// distinguishes the shared bearers of a cell.
    pub fn set_scheduler(&mut self, schedulers: &UserSchedulers, config: &CarrierConfig, number: u16) {
        let cell = config.cell;
        match self {
            CarrierMac::Shared(mac) => mac.set_scheduler(schedulers.make(match config.channel {
                Channel::Fach => SharedChannel::Fach(cell),
                _ => SharedChannel::Bearer { cell, bearer: number },
            })),
            CarrierMac::Hs(mac) => mac.set_scheduler(schedulers.make(SharedChannel::HsDsch(cell))),
            CarrierMac::Tdd(mac) => mac.set_schedulers(
                Direction::BOTH.map(|direction| schedulers.make(SharedChannel::Tdd(cell, direction))),
            ),
            CarrierMac::Dedicated(_)
            | CarrierMac::Pushed(_)
            | CarrierMac::Rach(_)
            | CarrierMac::E(_)
            | CarrierMac::Multicell(_) => {}
        }
    }

    /// PDUs at the Node B that a UE on the HS-DSCH has not received yet. `None`: it is another channel.
    pub fn held_on_hs_dsch(&self, ue: UeId) -> Option<HeldPdus> {
        if let CarrierMac::Hs(mac) = self { Some(mac.held(ue)) } else { None }
    }

    /// MAC-hs or MAC-ehs.
    pub fn hs(&self) -> Option<&MacHs> {
        if let CarrierMac::Hs(mac) = self { Some(mac) } else { None }
    }

    /// The MAC of the cells of a layout.
    pub fn multicell(&self) -> Option<&Multicell> {
        if let CarrierMac::Multicell(mac) = self { Some(mac) } else { None }
    }

    /// The MAC of the cells of a layout.
    pub fn multicell_mut(&mut self) -> Option<&mut Multicell> {
        if let CarrierMac::Multicell(mac) = self { Some(mac) } else { None }
    }
}

fn rach(mode: RachMode, config: &CarrierConfig, streams: &Streams) -> Rach {
    match mode {
        RachMode::Shared => {
            Rach::new(RachAccess::new(draws(streams, config.cell, "rach/access"), config.format.tti))
        }
        RachMode::Private { access_delay } => {
            let draws = draws(streams, config.cell, "rach/delay");
            Rach::private(PrivateRach { max_delay: access_delay, draws })
        }
    }
}

/// The random stream of a cell for `purpose`.
fn draws(streams: &Streams, cell: CellId, purpose: &str) -> AddressedStream {
    streams.addressed(&format!("cell{}/{purpose}", cell.0))
}

impl Mac for CarrierMac {
    #[inline]
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        on_mac!(self, mac => mac.handle_backlog(cx, config, ue, direction))
    }

    #[inline]
    fn handle_empty_backlog(&mut self, ue: UeId) {
        on_mac!(self, mac => mac.handle_empty_backlog(ue));
    }

    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    ) {
        on_mac!(self, mac => mac.leave(ctx, config, below, ue));
    }

    #[inline]
    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        on_mac!(self, mac => mac.poll_timeouts())
    }

    #[inline]
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        on_mac!(self, mac => mac.handle_timeout(ctx, timer, config, below));
    }
}
