//! Radio access: from above RLC at the RNC to above RLC at the UE, and back. UMTS itself, or a radio that stands in its
//! place.
//!
//! ```text
//!   enter ─► RLC ─► tick of the carrier ─► turn of its MAC: RLC is asked, the radio answers ─► flight ─► land ─► RLC ─► next_sdu
//!     │    (wake.rs)  (carrier.rs)    (rnc/mac_d, rnc/mac_c, ue/rach, nodeb/eurane_fach)      (radio/air)   (delivery.rs)   ▲
//!     └───────────────────────────── a measured or a flat radio (link_emulation/) ─────────────────────────────────────────┘
//! ```
//!
//! A turn has four steps, on every carrier:
//!
//! 1. *grant*: who may send, and how many blocks, which may be another number in each TTI;
//! 2. *pull*: RLC is asked for them, and they go aboard a flight ([`UeContext::send`](crate::ue::UeContext::send));
//! 3. *place*: where they lie on the air (`TransmittedSet::first`);
//! 4. *judge*: the radio gets all that is on the air at the instant as one slice and says which blocks are lost
//!    ([`Ues::judge`]). On DCHs, where nobody's blocks depend on another's, each UE's radio is asked when the UE was pulled.
//!
//! `rrc_orders.rs` does what RRC orders, and `cell_occupancy.rs` tells when a cell has no DCH left. Nothing here calls up: what is
//! delivered is pulled ([`Utran::next_sdu`]).

mod build;
mod carrier;
mod carrier_mac;
mod cell_occupancy;
mod cell_update;
mod channels;
mod config;
mod delivery;
mod link_emulation;
mod multicell;
mod rrc_orders;
mod tdd;
mod wake;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Bytes, Time};

pub use self::config::{CellConfig, FachMode, RachMode};

use self::carrier::Carriers;
use self::carrier_mac::CarrierMac;
use self::link_emulation::LinkEmulation;
use self::wake::put_to_sleep;
use crate::EventContext;
use crate::event::Event;
use crate::event_context::Wakeup;
use crate::ids::{CarrierId, Direction, UeId};
use crate::packet::Packet;
use crate::radio::Air;
use crate::radio::rlc::Sdu;
use crate::rnc::Admission;
use crate::trace::{DropPlace, TraceEvent};
use crate::ue::Ues;

/// All of radio access.
#[derive(Debug)]
pub struct Utran {
    cells: Vec<Cell>,
    carriers: Carriers,
    ues: Ues,
    air: Air,
    /// The carrier of the DSCHs of a layout, if there is one.
    sectors: Option<CarrierId>,
    /// Whether the channels of any UE are switched: then its RRC may have to be called when blocks leave.
    measures_volume: bool,
    /// What stands in place of UMTS, by UE; empty if nothing does for any.
    link_emulations: Vec<Option<Box<LinkEmulation>>>,
    /// Makes the draws of carriers and channels that come to be later.
    streams: Streams,
    /// UEs that a step is about to see to; empty between steps.
    scratch: Vec<UeId>,
}

/// What is kept of one cell.
#[derive(Debug)]
struct Cell {
    config: CellConfig,
    admission: Admission,
    /// When the UEs that wait for a DCH next ask.
    wake: Wakeup,
    /// Whether what is reserved at the beginning was told.
    announced: bool,
    /// Whether it was told to be full, and when that is looked at again.
    is_full: bool,
    opens: Wakeup,
}

impl Utran {
    /// Schedules the beginning of every RRC.
    pub fn start(&mut self, agenda: &mut EventQueue<Event>) {
        for ue in self.ues.iter().filter(|ue| ue.control.is_some()) {
            agenda.push(Time::ZERO, Phase::Rrc, Event::RrcWake(ue.id));
        }
        self.start_multicell(agenda);
        self.start_radio_links(agenda);
    }

    /// A packet enters: at the RNC for the downlink, at the UE for the uplink.
    #[inline]
    pub fn enter<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: &Packet) {
        if let Some(Some(_)) = self.link_emulations.get(packet.ue.index()) {
            self.enter_link_emulation(ctx, *packet);
        } else {
            self.enter_rlc(ctx, packet);
        }
    }

    #[inline]
    fn enter_rlc<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: &Packet) {
        let (ue, direction) = (packet.ue, packet.direction());
        let context = &mut self.ues[ue];
        let compressed = context.pdcp[direction.index()].compress(packet);
        let sdu = Sdu::compressed(*packet, ctx.cx.now, compressed);
        match context.rlc[direction.index()].handle_sdu(&mut ctx.cx, &sdu) {
            Ok(()) => self.buffers_changed(ctx, ue, direction),
            Err(_) => {
                ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet: *packet });
            }
        }
    }

    /// A TTI begins for RLC on this carrier.
    #[inline]
    pub fn turn<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        match self.carriers[id].sharing {
            CarrierMac::Granted(_) => return self.granted_turn(ctx, id),
            CarrierMac::Multicell(_) => return self.multicell_turn(ctx, id),
            _ => {}
        }
        let (sharing, turn) = self.carriers[id].begin_tick(ctx.cx.now, id);
        let turned = sharing.turn(ctx, turn, &mut self.ues, &mut self.air);
        if turned.is_watched {
            self.holders_changed(ctx, id);
        }
        if self.measures_volume && self.carriers[id].members().iter().any(|&ue| self.ues[ue].awaits_fall) {
            self.volumes_fell(ctx, id);
        }
        let carrier = &mut self.carriers[id];
        if !turned.all_have_more {
            put_to_sleep(ctx, carrier, &mut self.ues);
        }
        if let Some(next) = carrier.end_tick(ctx.cx.now) {
            ctx.at(next, Phase::Transmit, Event::Tick(id));
        }
    }

    /// Some of the UEs that were asked in a turn could have lost their DCH to others until now.
    #[inline(never)]
    fn holders_changed<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        let mut ready = std::mem::take(&mut self.scratch);
        ready.extend_from_slice(self.carriers[id].members());
        for &ue in &ready {
            self.holder_changed(ctx, ue);
        }
        ready.clear();
        self.scratch = ready;
    }

    /// Blocks left: reports the traffic volume of each member whose request for a DCH lasts only while the volume is large.
    #[inline(never)]
    fn volumes_fell<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        let mut ready = std::mem::take(&mut self.scratch);
        ready.extend(self.carriers[id].members().iter().filter(|&&ue| self.ues[ue].awaits_fall));
        for &ue in &ready {
            self.measure(ctx, ue);
        }
        ready.clear();
        self.scratch = ready;
    }

    /// A frame begins at a Node B that has a queue of its own.
    pub fn frame<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        let carrier = &mut self.carriers[id];
        carrier.sharing.frame(ctx, id, &carrier.plan, &mut self.ues, &mut self.air);
    }

    /// SDU octets in the RLC entity of `ue` that sends in `direction`.
    pub fn rlc_buffer(&self, ue: UeId, direction: Direction) -> Bytes {
        self.ues[ue].rlc[direction.index()].buffer_occupancy()
    }
}
