//! The carriers of all cells: each has a MAC and the wake-ups of its timers. UEs on channels of the
//! same kind, direction and TTI in a cell share a carrier ([`CarrierKey`]).

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, NoTrace, Phase, TraceSink};
use umts_units::{Duration, Time};

use super::carrier_mac::CarrierMac;
use super::config::CellConfig;
use crate::EventContext;
use crate::event::Event;
use crate::event_context::Wakeup;
use crate::ids::{CarrierId, CellId, Direction, MacTimer};
use crate::mac::{CarrierConfig, Mac};
use crate::nodeb::Iub;
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::phy::Lost;
use crate::rnc::multicell::Multicell;
use crate::scheduling::{Scheduler, UserSchedulers};
use crate::trace::TraceEvent;
use crate::ue::ChannelConfig;

/// All carriers by number and by key.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    list: Vec<Carrier>,
    numbers: BTreeMap<CarrierKey, CarrierId>,
    /// Whether UEs can differ in their priority level.
    has_levels: bool,
    /// Schedulers of the user, for carriers that are created later.
    user_schedulers: Option<UserSchedulers>,
}

/// Key of a carrier. UEs share a carrier if the keys of their channels are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CarrierKey {
    cell: CellId,
    direction: Direction,
    channel: Channel,
    number: u16,
    tti: Duration,
}

impl CarrierKey {
    pub fn new(cell: CellId, direction: Direction, channel: ChannelConfig) -> Self {
        let ChannelConfig { channel, number, format, .. } = channel;
        // UEs with different TTIs share the noise rise of an E-DCH.
        let tti = if channel == Channel::EDch { Duration::ZERO } else { format.tti };
        CarrierKey { cell, direction, channel, number, tti }
    }

    /// The carrier of a TDD cell, which has both directions.
    pub fn of_both_directions(cell: CellId, channel: ChannelConfig) -> Self {
        CarrierKey::new(cell, Direction::Downlink, channel)
    }
}

impl Carriers {
    /// No carriers. `has_levels`: UEs can differ in their priority level.
    pub fn new(has_levels: bool) -> Self {
        Carriers { has_levels, ..Carriers::default() }
    }

    /// The carrier of a channel. It is created for the first UE that uses it.
    pub fn find_or_make(
        &mut self,
        key: CarrierKey,
        cell: &CellConfig,
        channel: ChannelConfig,
        streams: &Streams,
    ) -> CarrierId {
        if let Some(&id) = self.numbers.get(&key) {
            return id;
        }
        let config = CarrierConfig {
            cell: key.cell,
            direction: key.direction,
            channel: key.channel,
            format: channel.format,
            iub: cell.iub,
        };
        let new_scheduler = if self.has_levels { Scheduler::new } else { Scheduler::of_one_level };
        let mut mac = CarrierMac::new(cell, new_scheduler(channel.scheduler), &config, streams);
        if let Some(schedulers) = &self.user_schedulers {
            mac.set_scheduler(schedulers, &config, key.number);
        }
        let id = self.push(config, mac);
        self.numbers.insert(key, id);
        id
    }

    /// Sets the schedulers of the user on all carriers, those that are created later included.
    pub fn set_schedulers(&mut self, schedulers: UserSchedulers) {
        for (key, id) in &self.numbers {
            let Carrier { config, mac, .. } = &mut self.list[id.index()];
            mac.set_scheduler(&schedulers, config, key.number);
        }
        for mac in self.list.iter_mut().filter_map(|carrier| carrier.mac.multicell_mut()) {
            mac.set_schedulers(&schedulers);
        }
        self.user_schedulers = Some(schedulers);
    }

    /// Adds the carrier of the DSCHs of a layout, with the Iub of its cells.
    pub fn add_multicell(&mut self, multicell: Multicell, iub: Iub) -> CarrierId {
        let format = TransportFormat::up_to(Lost::MAX_BLOCKS, multicell.tti());
        let (cell, direction, channel) = (CellId(0), Direction::Downlink, Channel::Dsch);
        let config = CarrierConfig { cell, direction, channel, format, iub };
        self.push(config, CarrierMac::Multicell(Box::new(multicell)))
    }

    fn push(&mut self, config: CarrierConfig, mac: CarrierMac) -> CarrierId {
        let number = u16::try_from(self.list.len()).expect("few combinations of cell, channel and TTI");
        self.list.push(Carrier { config, mac, wakes: [Wakeup::NONE; 2] });
        CarrierId(number)
    }

    /// Schedules the timers that run from the start.
    pub fn start(&mut self, agenda: &mut EventQueue<Event>) {
        let mut trace = NoTrace;
        let mut ctx = EventContext::new(Time::ZERO, &mut trace, agenda);
        for (number, carrier) in (0..).zip(&mut self.list) {
            carrier.schedule(&mut ctx, CarrierId(number));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Carrier> {
        self.list.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Carrier> {
        self.list.iter_mut()
    }
}

impl Index<CarrierId> for Carriers {
    type Output = Carrier;
    #[inline]
    fn index(&self, carrier: CarrierId) -> &Carrier {
        &self.list[carrier.index()]
    }
}

impl IndexMut<CarrierId> for Carriers {
    #[inline]
    fn index_mut(&mut self, carrier: CarrierId) -> &mut Carrier {
        &mut self.list[carrier.index()]
    }
}

/// A carrier.
#[derive(Debug)]
pub(super) struct Carrier {
    pub config: CarrierConfig,
    pub mac: CarrierMac,
    /// Wake-up of each of the two timers of the MAC.
    wakes: [Wakeup; 2],
}

impl Carrier {
    /// Clears the wake-up of a timer that fired.
    #[inline]
    pub fn fired(&mut self, now: Time, timer: MacTimer) {
        self.wakes[timer as usize].fired(now);
    }

    /// Schedules the timers of the MAC.
    #[inline]
    pub fn schedule<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        self.schedule_at(ctx, id, self.mac.poll_timeouts());
    }

    /// Schedules the timers of the MAC, which expire at `timeouts`.
    #[inline]
    pub fn schedule_at<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
        timeouts: [Option<(Time, Phase)>; 2],
    ) {
        for timer in MacTimer::BOTH {
            if let Some((at, phase)) = timeouts[timer as usize] {
                ctx.wake(&mut self.wakes[timer as usize], Some(at), phase, Event::MacTimeout(id, timer));
            }
        }
    }
}
