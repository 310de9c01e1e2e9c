//! Radio access (UTRAN): from above RLC at the RNC to above RLC at the UE, and back. UMTS itself, or a
//! link emulation that replaces it.
//!
//! ```text
//!   enter ─► RLC ─► MAC of the carrier: pulls RLC, decides losses ─► transmission ─► delivery ─► RLC ─► next_sdu
//!     │                     (carrier.rs, mac/)                       (radio/air)   (delivery.rs)        ▲
//!     └───────────────────────── a measured or a flat link (link_emulation/) ───────────────────────────┘
//! ```
//!
//! `rlc_changed` passes each new backlog to the MAC of the UE's carrier, and
//! [`Utran::mac_timeout`] calls the MAC when one of its timers expires. A MAC schedules, pulls RLC
//! ([`UeContext::send`](crate::ue::UeContext::send)), and lets the radio decide the losses of all
//! blocks on the air ([`Ues::decide_losses`]). Kinds of carriers are distinguished only in
//! `carrier_mac.rs`.
//!
//! `rrc_orders.rs` executes the orders of RRC, `handover.rs` handovers between the cells of a layout,
//! and `cell_occupancy.rs` records when a cell has no DCH left. Nothing here calls a higher layer:
//! delivered SDUs are pulled ([`Utran::next_sdu`]).

mod build;
mod carrier;
mod carrier_mac;
mod cell_occupancy;
mod cell_update;
mod changes;
mod channels;
mod config;
mod delivery;
mod handover;
mod link_emulation;
mod rrc_orders;

#[cfg(test)]
mod tests;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Bytes, Time};

pub use self::config::{CellConfig, FachMode, RachMode};

use self::carrier::{Carrier, Carriers};
use self::link_emulation::LinkEmulation;
use crate::EventContext;
use crate::event::Event;
use crate::event_context::Wakeup;
use crate::ids::{CarrierId, Direction, MacTimer, UeId};
use crate::mac::hs::NodebQueue;
use crate::mac::{Below, Mac};
use crate::packet::Packet;
use crate::radio::Air;
use crate::radio::rlc::Sdu;
use crate::rnc::Admission;
use crate::rnc::multicell::Multicell;
use crate::scheduling::UserSchedulers;
use crate::trace::{DropPlace, TraceEvent};
use crate::ue::Ues;

/// All of radio access.
#[derive(Debug)]
pub struct Utran {
    cells: Vec<Cell>,
    carriers: Carriers,
    ues: Ues,
    air: Air,
    /// Carrier of the DSCHs of a layout.
    multicell: Option<CarrierId>,
    /// Replacements of UMTS by UE. Empty if there are none.
    link_emulations: Vec<Option<Box<LinkEmulation>>>,
    /// For carriers and channels that are created later.
    streams: Streams,
    /// UEs whose RRC must be notified of a transmission. Empty between events.
    watched: Vec<UeId>,
}

/// State of a cell.
#[derive(Debug)]
struct Cell {
    config: CellConfig,
    /// Decides on requests for DCHs.
    admission: Admission,
    /// When the UEs that wait for a DCH repeat their requests.
    retry_wake: Wakeup,
    /// Whether the cell was recorded as full.
    is_full: bool,
    /// When it is checked whether a full cell has room.
    opening_wake: Wakeup,
    /// Whether the reservations at the start were recorded.
    start_is_recorded: bool,
}

impl Utran {
    /// Sets the schedulers of the user on the shared channels for which it has one.
    pub fn set_schedulers(&mut self, schedulers: UserSchedulers) {
        self.carriers.set_schedulers(schedulers);
    }

    /// Schedules the start of RRC, the timers of carriers, and the supervision of radio links.
    pub fn start(&mut self, agenda: &mut EventQueue<Event>) {
        for ue in self.ues.iter().filter(|ue| ue.control.is_some()) {
            agenda.push(Time::ZERO, Phase::Rrc, Event::RrcWake(ue.id));
        }
        self.carriers.start(agenda);
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

    /// A timer of a carrier's MAC expires. If the MAC sets it to the same instant, it is called again after
    /// the handovers that it requires.
    #[inline]
    pub fn mac_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
        timer: MacTimer,
    ) {
        self.carriers[id].fired(ctx.cx.now, timer);
        loop {
            let Utran { carriers, ues, air, watched, .. } = self;
            let Carrier { mac, config, .. } = &mut carriers[id];
            mac.handle_timeout(ctx, timer, config, &mut Below { ues, air, watched });
            if !self.watched.is_empty() {
                self.notify_rrc(ctx);
            }
            self.execute_handovers(ctx, id);
            if self.multicell == Some(id) {
                self.repeat_requests(ctx);
            }
            let carrier = &mut self.carriers[id];
            let timeouts = carrier.mac.poll_timeouts();
            if timeouts[timer as usize].is_none_or(|(at, _)| at > ctx.cx.now) {
                carrier.schedule_at(ctx, id, timeouts);
                break;
            }
        }
    }

    /// Notifies admission and RRC of UEs that transmitted: a DCH that was preemptible is in use, and the
    /// traffic volume may have fallen.
    #[inline(never)]
    fn notify_rrc<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        let mut watched = std::mem::take(&mut self.watched);
        for &ue in &watched {
            self.holder_changed(ctx, ue);
        }
        watched.retain(|&ue| self.ues[ue].awaits_fall);
        for &ue in &watched {
            self.measure(ctx, ue);
        }
    }

    /// Calls `change` with the MAC of the cells of a layout, if there is one.
    fn in_multicell(&mut self, change: impl FnOnce(&mut Multicell, &mut Ues)) {
        let Some(id) = self.multicell else { return };
        if let Some(mac) = self.carriers[id].mac.multicell_mut() {
            change(mac, &mut self.ues);
        }
    }

    /// The backlog of the RLC entity of `ue` that sends in `direction` may have changed, or a timer of it.
    #[inline]
    fn rlc_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let id = self.update_backlog(ctx, ue, direction);
        self.execute_handovers(ctx, id);
    }

    /// Passes the backlog to the MAC of the UE's carrier, which it returns. The MAC may require a
    /// handover.
    #[inline]
    fn update_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) -> CarrierId {
        let context = &mut self.ues[ue];
        let id = context.channel(direction).carrier;
        let carrier = &mut self.carriers[id];
        if context.rlc[direction.index()].has_work(ctx.cx.now) {
            if carrier.mac.handle_backlog(&mut ctx.cx, &carrier.config, context, direction) {
                context.schedule_wake(ctx, direction);
            }
            carrier.schedule(ctx, id);
        } else {
            carrier.mac.handle_empty_backlog(ue);
            context.schedule_wake(ctx, direction);
        }
        id
    }

    /// Like [`rlc_changed`](Self::rlc_changed). Also passes the buffers to RRC.
    #[inline]
    fn buffers_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let is_measured = self.ues[ue].is_measured;
        self.rlc_changed(ctx, ue, direction);
        if is_measured {
            self.measure(ctx, ue);
        }
    }

    /// A timer of an RLC entity may be due. An event that comes early changes nothing.
    #[inline]
    pub fn rlc_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let context = &mut self.ues[ue];
        context.wake[direction.index()].fired(ctx.cx.now);
        if context.rlc[direction.index()].take_unrecoverable_error() {
            self.rlc_failed(ctx, ue);
        }
        self.ues[ue].rlc[direction.index()].handle_timeout(&mut ctx.cx);
        self.buffers_changed(ctx, ue, direction);
    }

    /// SDU octets in the RLC entity of `ue` that sends in `direction`.
    pub fn rlc_buffer(&self, ue: UeId, direction: Direction) -> Bytes {
        self.ues[ue].rlc[direction.index()].buffer_occupancy()
    }

    /// Data of `ue` at the Node B at `now`. `None` if the UE has no HS-DSCH at present.
    pub fn nodeb_queue(&self, ue: UeId, now: Time) -> Option<NodebQueue> {
        if let Some(Some(_)) = self.link_emulations.get(ue.index()) {
            return None;
        }
        let carrier = self.ues[ue].channel(Direction::Downlink).carrier;
        Some(self.carriers[carrier].mac.hs()?.nodeb_queue(ue, now))
    }
}
