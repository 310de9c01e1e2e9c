//! The state of one user equipment (UE) with both ends of its bearer: the RLC entities, the channels, and
//! RRC. It can move between cells as a whole. The MAC of a carrier queries it for blocks ([`send`]) in
//! each TTI in which the UE may send.
//!
//! [`send`]: UeContext::send

use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Time};

use super::{Connection, Control, UeChannel, UeConfig};
use crate::aqm::{Aqm, AqmConfig};
use crate::detail::{Detail, Stage};
use crate::event::Event;
use crate::event_context::Wakeup;
use crate::ids::{CellId, Direction, UeId};
use crate::mac::e::{EInLayout, EUeConfig};
use crate::mac::hs::{HsInLayout, HsUeConfig};
use crate::radio::air::{Transmission, TransmittedSet};
use crate::radio::mac::Channel;
use crate::radio::pdcp::Pdcp;
use crate::radio::rlc::{BlockSet, Rlc, RlcConfig};
use crate::rnc::Preemptible;
use crate::rnc::rrc::{DchRates, Measured, Rrc, RrcState, TrafficVolume};
use crate::scheduling::{Candidate, QosConfig, RateGuarantee};
use crate::trace::TraceEvent;
use crate::{Context, EventContext};

/// PDUs to query RLC for, if data and control PDUs have separate logical channels (TS 25.322
/// §4.2.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pdus {
    /// All PDUs, on one logical channel.
    All,
    /// Data PDUs, on the first channel.
    Data,
    /// Control PDUs, on the second channel.
    Control,
}

/// A UE with both ends of its bearer. Arrays are indexed by direction.
#[derive(Debug)]
pub struct UeContext {
    pub id: UeId,
    pub cell: CellId,

    // The bearer.
    /// Quality of service of the bearer.
    pub qos: QosConfig,
    /// Guaranteed rate of the blocks that leave RLC, if the bearer has one. The HS-DSCH measures its rate
    /// at the Node B.
    guarantees: Option<Box<[RateGuarantee; 2]>>,
    /// Header compression before RLC.
    pub pdcp: [Pdcp; 2],
    /// The sending RLC entities: the RNC's for the downlink, the UE's for the uplink.
    pub rlc: [Rlc; 2],
    /// Next wake-up of the sending RLC entity.
    pub wake: [Wakeup; 2],
    /// Number of RLC re-establishments, modulo 2^16. Block sets of earlier epochs are ignored.
    pub epoch: u16,
    /// Number of block sets that were shown to the observer.
    shown: [u64; 2],

    // Channels.
    /// Channels in use.
    pub channels: [UeChannel; 2],
    /// Options of the HS-DSCH, if the UE uses it.
    pub hs_dsch: Option<Arc<HsUeConfig>>,
    /// Its HS-DSCH in a layout, also while RRC has switched the UE to another channel.
    pub hs_in_layout: Option<Box<HsInLayout>>,
    /// Options of the E-DCH, if the UE uses it.
    pub e_dch: Option<Arc<EUeConfig>>,
    /// Its E-DCH in a layout, also while RRC has switched the UE to another channel.
    pub e_in_layout: Option<Box<EInLayout>>,
    /// Whether the carrier queries the UE at its next tick.
    pub on_carrier: [bool; 2],
    /// Whether RLC had more to send after the last query. If not, another query in the same tick is
    /// unnecessary.
    pub has_more: [bool; 2],
    /// Whether the air is cut: no transmission is received, in either direction.
    pub is_cut: bool,
    /// End of the interruption by the last handover. The UE neither sends nor receives before.
    pub silent_until: Time,

    // RRC.
    /// Supervision of the RRC connection.
    pub connection: Connection,
    /// RRC. `None`: the channels never change.
    pub control: Option<Box<Control>>,
    /// Whether RRC must be notified when the buffers change. False for fixed channels, and while
    /// nothing depends on the buffers.
    pub is_measured: bool,
    /// Whether RRC must also be notified when blocks leave.
    pub awaits_fall: bool,
    /// Whether the cell counts the DCH of the UE as preemptible, because the UE does not use it. Set
    /// when the cell is checked for free DCHs, cleared when the UE uses the DCH again.
    pub counts_as_preemptible: bool,
}

impl UeContext {
    /// A UE in `cell` that starts with these channels.
    ///
    /// # Panics
    /// Panics in wire mode if the RLC options have no encoding. A checked scenario has no such
    /// options.
    pub fn new(
        id: UeId,
        cell: CellId,
        config: &UeConfig,
        channels: [UeChannel; 2],
        streams: &Streams,
    ) -> Self {
        let rlc = |sends: Direction| new_rlc(id, sends, config, &channels[sends.index()], streams);
        let control = config.switching.as_ref().map(|switching| {
            let rrc = Rrc::new(id, switching.rrc.clone());
            Box::new(Control::new(rrc, switching, &config.errors))
        });
        UeContext {
            id,
            cell,
            qos: config.qos,
            guarantees: config.qos.guaranteed.map(|rate| Box::new([RateGuarantee::new(rate); 2])),
            pdcp: Direction::BOTH.map(|_| Pdcp::new(config.pdcp)),
            rlc: Direction::BOTH.map(rlc),
            wake: [Wakeup::NONE; 2],
            epoch: 0,
            shown: [0; 2],
            channels,
            hs_dsch: config.hs_dsch.clone(),
            hs_in_layout: config.has_hs_dsch_of_layout().then(Box::default),
            e_dch: config.e_dch.clone(),
            e_in_layout: config.has_e_dch_of_layout().then(Box::default),
            on_carrier: [false; 2],
            has_more: [false; 2],
            is_cut: false,
            silent_until: Time::ZERO,
            connection: Connection::new(config.connection.clone()),
            is_measured: control.as_ref().is_some_and(|control| !control.rrc().ignores_buffers()),
            control,
            awaits_fall: false,
            counts_as_preemptible: false,
        }
    }

    #[inline]
    pub fn channel(&self, direction: Direction) -> &UeChannel {
        &self.channels[direction.index()]
    }

    /// The UE as a candidate to send in `direction` at `now`, for a scheduler.
    pub fn candidate(&self, now: Time, direction: Direction) -> Candidate {
        let backlog = self.rlc[direction.index()].backlog();
        let candidate = Candidate::new(self.id, backlog.octets, backlog.pdus.max(1), backlog.since);
        candidate.with_qos(&self.qos, self.is_rate_met(now, direction))
    }

    /// Whether the UE has received its guaranteed rate in `direction`. False without a guaranteed rate.
    #[inline]
    pub fn is_rate_met(&self, now: Time, direction: Direction) -> bool {
        self.guarantees.as_ref().is_some_and(|guarantees| guarantees[direction.index()].is_met(now))
    }

    /// Whether the UE may change to another cell of a layout: neither during a cell update nor during a switch
    /// of RRC.
    pub fn can_change_cell(&self) -> bool {
        let is_switching = self.control.as_ref().is_some_and(|control| control.rrc().state().is_none());
        !self.connection.updates_cell() && !is_switching
    }

    /// Whether the UE on common channels sends or receives on them. In a PCH state and in idle mode it does not.
    pub fn uses_common_channels(&self) -> bool {
        let state = self.control.as_ref().and_then(|control| control.rrc().state());
        state.is_none_or(RrcState::carries_data)
    }

    /// Schedules a wake-up for the timers of the RLC entity that sends in `direction`. One wake-up is
    /// outstanding at a time: a later deadline is found when the earlier one fires.
    #[inline]
    pub fn schedule_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        direction: Direction,
    ) {
        let deadline = self.rlc[direction.index()].poll_timeout();
        let event = Event::RlcWake(self.id, direction);
        ctx.wake(&mut self.wake[direction.index()], deadline, Phase::Timers, event);
    }

    /// Calls `notify` with the UE's RRC, if there is one. Then updates `is_measured` and `awaits_fall`,
    /// which depend on the state of RRC. Returns the result of `notify`.
    #[inline]
    pub fn notify_rrc_with<R>(&mut self, notify: impl FnOnce(&mut Rrc) -> R) -> Option<R> {
        let rrc = self.control.as_mut()?.rrc_mut();
        let result = notify(rrc);
        self.is_measured = !rrc.ignores_buffers();
        self.awaits_fall = rrc.awaits_fall();
        Some(result)
    }

    /// The measurements that RRC receives.
    pub fn measured(&self, now: Time) -> Measured {
        let control = self.control.as_ref();
        let volume = |rlc| control.map_or(Bytes::ZERO, |control| traffic_volume(control.rrc(), rlc, now));
        Measured {
            buffered: self.rlc.each_ref().map(volume),
            active_until: control.map_or(Time::ZERO, |control| control.active_until),
            carried: [0, 1].map(|index| {
                control.map_or(0, |control| control.sent[index]) * self.rlc[index].pdu_payload().bits()
            }),
        }
    }

    /// Rates of the DCHs that RRC may allocate.
    pub fn dchs(&self) -> &[DchRates] {
        self.control.as_ref().map_or(&[], |control| &control.rrc().config().dch_rates)
    }

    /// The DCH of the UE, for the decision whether other UEs may preempt it. `None`: the UE has no
    /// DCH.
    pub fn preemptible(&self) -> Option<Preemptible> {
        let control = self.control.as_ref()?;
        let rrc = control.rrc();
        Some(Preemptible {
            class: self.qos.class,
            used_until: rrc.dch_used_until(control.active_until)?,
            is_free_then: rrc.gives_unused_dch(),
            release: rrc.release_time(),
        })
    }

    /// Decides which of the UE's blocks on the air are lost.
    #[inline]
    pub fn decide_losses(&mut self, direction: Direction, frame: u64, sent: &mut TransmittedSet) {
        let channel = &mut self.channels[direction.index()];
        sent.lost = channel.losses(frame, sent.first, sent.set.blocks);
    }

    /// Re-establishes RLC at both ends. Data in flight are lost.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.epoch = self.epoch.wrapping_add(1);
        self.rlc.iter_mut().for_each(|rlc| rlc.reestablish(cx));
        let ue = self.id;
        cx.record(|| TraceEvent::RlcReestablished { ue });
    }

    /// Counts sent blocks for RRC, and extends the time in which the UE is active to the end of this TTI,
    /// unless less data than the activity threshold is left.
    #[inline]
    fn count_activity(&mut self, now: Time, direction: Direction, blocks: u32) {
        let Some(control) = &mut self.control else { return };
        control.sent[direction.index()] += u64::from(blocks);
        let threshold = control.rrc().config().activity_threshold;
        let rlc = &self.rlc[direction.index()];
        if threshold.is_none_or(|threshold| traffic_volume(control.rrc(), rlc, now) > threshold) {
            let end = now + self.channels[direction.index()].format.tti;
            control.active_until = control.active_until.max(end);
        }
    }

    /// Queries RLC for up to `blocks` blocks, which leave on `channel` in `set`. Returns their
    /// number.
    #[inline]
    pub fn take_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
        channel: Channel,
        blocks: u32,
        set: &mut BlockSet,
    ) -> u32 {
        self.has_more[direction.index()] = self.rlc[direction.index()].poll_transmit(cx, blocks, set);
        self.record_leaving(cx, direction, channel, set)
    }

    /// Records a set that leaves RLC. Returns its number of blocks.
    #[inline]
    fn record_leaving<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
        channel: Channel,
        set: &mut BlockSet,
    ) -> u32 {
        let blocks = set.blocks;
        if blocks > 0 {
            show_leaving(cx, self.id, direction, channel, &mut self.shown, set);
            self.count_activity(cx.now, direction, blocks);
            let ue = self.id;
            let bits = match set.flexible_octets {
                0 => self.channel(direction).block_bits,
                octets => octets * 8 / blocks,
            };
            cx.record(|| TraceEvent::IubSent { ue, direction, blocks, bits });
        }
        blocks
    }

    /// Number of blocks that the next TTI of a dedicated channel may hold.
    #[inline]
    pub fn blocks_of_tti<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
    ) -> u32 {
        // A hard handover interrupts the DCHs of a layout.
        let is_interruptible =
            self.channel(Direction::Downlink).in_layout.is_some() || self.hs_in_layout.is_some();
        if is_interruptible && self.silent_until > cx.now {
            return 0;
        }
        let format = self.channel(direction).format;
        if format.set.is_any() {
            return format.blocks;
        }
        let rlc = &mut self.rlc[direction.index()];
        rlc.handle_timeout(cx);
        format.blocks_for(rlc.pdus_ready(cx.now))
    }

    /// Queries RLC for up to `blocks` blocks of these PDUs and adds them to `transmission`. Returns
    /// their number.
    ///
    /// With `frame`, the number of the TTI, it is decided at once which blocks are lost, so the losses
    /// must not depend on other UEs. Without `frame` the caller decides this when the transmission is
    /// complete, for example with [`Ues::decide_losses`](super::Ues::decide_losses).
    // Inlined into the MACs.
    #[inline]
    pub fn send<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
        pdus: Pdus,
        blocks: u32,
        frame: Option<u64>,
        transmission: &mut Transmission,
    ) -> u32 {
        let channel = transmission.channel;
        let sent = transmission.add(self.id);
        let (rlc, set) = (&mut self.rlc[direction.index()], &mut sent.set);
        match pdus {
            Pdus::All => self.has_more[direction.index()] = rlc.poll_transmit(cx, blocks, set),
            Pdus::Data => rlc.poll_data(cx, blocks, set),
            Pdus::Control => rlc.poll_control(cx, blocks, set),
        }
        let blocks = self.record_leaving(cx, direction, channel, set);
        if blocks == 0 {
            transmission.drop_last();
            return 0;
        }
        sent.epoch = self.epoch;
        if let Some(guarantees) = &mut self.guarantees {
            let payload = self.rlc[direction.index()].pdu_payload() * u64::from(blocks);
            guarantees[direction.index()].debit(cx.now, payload);
        }
        if let Some(frame) = frame {
            self.decide_losses(direction, frame, sent);
        }
        blocks
    }
}

/// The RLC entity of a UE that sends in direction `sends` on `channel`, with its queue management.
fn new_rlc(id: UeId, sends: Direction, config: &UeConfig, channel: &UeChannel, streams: &Streams) -> Rlc {
    let blocks = channel.format.blocks;
    let mut rlc = if config.wire_mode {
        Rlc::wired(id, sends, &config.rlc, blocks).expect("a checked scenario has an encoding")
    } else {
        Rlc::new(id, sends, &config.rlc, blocks)
    };
    let RlcConfig { codel, pie, red, .. } = *config.rlc;
    let aqm = AqmConfig { codel, pie, red: red.map(|red| (red, channel.full_rate())) };
    let draws = |kind: &str| streams.addressed(&format!("rlc/{sends:?}/ue{}/{kind}", id.0));
    if let Some(aqm) = Aqm::new(&aqm, draws) {
        rlc.manage_buffer(aqm);
    }
    rlc
}

/// Numbers a set that leaves RLC and shows it to an observer of block sets.
#[inline]
fn show_leaving<T: TraceSink<TraceEvent>>(
    cx: &mut Context<'_, T>,
    ue: UeId,
    direction: Direction,
    channel: Channel,
    shown: &mut [u64; 2],
    set: &mut BlockSet,
) {
    if T::WANTS_DETAIL {
        shown[direction.index()] += 1;
        set.serial = shown[direction.index()];
        cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Leaves });
    }
}

/// Traffic volume of a sending entity as configured for its RRC.
fn traffic_volume(rrc: &Rrc, rlc: &Rlc, now: Time) -> Bytes {
    match rrc.config().traffic_volume {
        TrafficVolume::BufferOccupancy => rlc.available_for_transmission(now),
        TrafficVolume::Unacknowledged => rlc.buffer_occupancy(),
    }
}
