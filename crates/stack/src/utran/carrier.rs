//! A carrier: the UEs whose blocks are asked for at the same instants, with one tick for all of them.
//!
//! A FACH or RACH is a carrier; so are all DCHs of a cell with the same direction and TTI. A tick is scheduled only
//! while some UE has something to send.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use umts_kernel::random::Streams;
use umts_units::{Duration, Time};

use super::carrier_mac::CarrierMac;
use super::config::CellConfig;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::nodeb::Iub;
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::phy::Lost;
use crate::rnc::multicell::Multicell;
use crate::rnc::{CarrierConfig, TtiInput};
use crate::ue::ChannelConfig;

/// All carriers, by their numbers and by what they are.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    list: Vec<Carrier>,
    numbers: BTreeMap<CarrierKey, CarrierId>,
}

/// UEs whose channels agree in this are asked at the same instants.
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
        CarrierKey { cell, direction, channel, number, tti: format.tti }
    }

    /// The one carrier of a TDD cell, which has both directions.
    pub fn of_both_directions(cell: CellId, channel: ChannelConfig) -> Self {
        CarrierKey::new(cell, Direction::Downlink, channel)
    }
}

impl Carriers {
    /// The carrier of a channel, made if it is the first to use it.
    pub fn find_or_make(
        &mut self,
        key: CarrierKey,
        cell: &CellConfig,
        channel: ChannelConfig,
        streams: &Streams,
    ) -> CarrierId {
        *self.numbers.entry(key).or_insert_with(|| {
            let plan = CarrierConfig {
                cell: key.cell,
                direction: key.direction,
                channel: key.channel,
                format: channel.format,
                iub: cell.iub,
            };
            let sharing = CarrierMac::new(cell, channel.scheduler, &plan, streams);
            self.list.push(Carrier::new(plan, sharing));
            let number = self.list.len() - 1;
            CarrierId(u16::try_from(number).expect("there are few combinations of cell, channel and TTI"))
        })
    }
}

impl Carriers {
    /// The one carrier of the DSCHs of a layout, with the Iub of its cells.
    pub fn add_multicell(&mut self, sectors: Multicell, iub: Iub) -> CarrierId {
        let format = TransportFormat { tti: sectors.tti(), blocks: Lost::MOST_BLOCKS };
        let (cell, direction, channel) = (CellId(0), Direction::Downlink, Channel::Dsch);
        let plan = CarrierConfig { cell, direction, channel, format, iub };
        self.list.push(Carrier::new(plan, CarrierMac::Multicell(Box::new(sectors))));
        CarrierId(u16::try_from(self.list.len() - 1).expect("it is the first"))
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

/// UEs that are asked together.
#[derive(Debug)]
pub(super) struct Carrier {
    pub plan: CarrierConfig,
    pub sharing: CarrierMac,
    members: Members,
    tick_scheduled: bool,
    last_tick: Option<Time>,
}

impl Carrier {
    pub fn new(plan: CarrierConfig, sharing: CarrierMac) -> Self {
        Carrier { plan, sharing, members: Members::default(), tick_scheduled: false, last_tick: None }
    }

    /// `ue` has something to send; `is_member` says whether it had. Returns when to tick, if no tick is scheduled yet.
    #[inline]
    pub fn activate(&mut self, now: Time, ue: UeId, is_member: &mut bool) -> Option<Time> {
        if !std::mem::replace(is_member, true) {
            self.members.insert(ue);
        }
        if self.tick_scheduled {
            return None;
        }
        self.tick_scheduled = true;
        let mut tick = (now + self.plan.iub.lead).round_up_to(self.plan.format.tti);
        // A frame that begins within the lead of the run's start has no tick of its own.
        if tick < Time::ZERO + self.plan.iub.lead || self.last_tick == Some(tick - self.plan.iub.lead) {
            tick += self.plan.format.tti;
        }
        Some(tick - self.plan.iub.lead)
    }

    /// A tick begins at `now`: what is turned, for the UEs with something to send, in index order.
    #[inline]
    pub fn begin_tick(&mut self, now: Time, id: CarrierId) -> (&mut CarrierMac, TtiInput<'_>) {
        self.last_tick = Some(now);
        self.tick_scheduled = false;
        let Carrier { plan, sharing, members, .. } = self;
        let frame = (now + plan.iub.lead).as_nanos() / plan.format.tti.as_nanos();
        (sharing, TtiInput { carrier: id, plan, frame, ready: &members.0 })
    }

    /// The UEs with something to send, in index order.
    pub fn members(&self) -> &[UeId] {
        &self.members.0
    }

    /// Those of which `stays` does not say so have nothing to send any more.
    #[inline]
    pub fn keep(&mut self, mut stays: impl FnMut(UeId) -> bool) {
        // In one loop, unlike `retain`: what is asked is there once.
        let (members, mut kept) = (&mut self.members.0, 0);
        for at in 0..members.len() {
            let ue = members[at];
            members[kept] = ue;
            kept += usize::from(stays(ue));
        }
        members.truncate(kept);
    }

    /// `ue` has nothing to send any more.
    #[inline]
    pub fn deactivate(&mut self, ue: UeId, is_member: &mut bool) {
        if std::mem::take(is_member) {
            self.members.remove(ue);
        }
    }

    /// Ends a tick. Returns the next one, if some UE still has something to send.
    #[inline]
    pub fn end_tick(&mut self, now: Time) -> Option<Time> {
        if self.members.is_empty() || self.tick_scheduled {
            return None;
        }
        self.tick_scheduled = true;
        Some(now + self.plan.format.tti)
    }
}

/// A set of UEs in index order. It is as large as it has members: in a network of many cells few of all UEs are on a carrier.
#[derive(Debug, Default)]
struct Members(Vec<UeId>);

impl Members {
    #[inline]
    fn insert(&mut self, ue: UeId) {
        if let Err(at) = self.0.binary_search(&ue) {
            self.0.insert(at, ue);
        }
    }

    #[inline]
    fn remove(&mut self, ue: UeId) {
        if let Ok(at) = self.0.binary_search(&ue) {
            self.0.remove(at);
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodeb::{Iub, IubTiming};
    use crate::radio::mac::TransportFormat;
    use crate::rnc::MacD;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn carrier(lead: u64) -> Carrier {
        let tti = Duration::from_millis(10);
        let iub = Iub {
            rate: None,
            delay: Duration::from_millis(15),
            timing: IubTiming::JustInTime,
            lead: Duration::from_millis(lead),
        };
        let plan = CarrierConfig {
            cell: CellId(0),
            direction: Direction::Downlink,
            channel: Channel::Dch,
            format: TransportFormat { tti, blocks: 12 },
            iub,
        };
        Carrier::new(plan, CarrierMac::Dedicated(MacD))
    }

    #[test]
    fn ticks_come_only_while_somebody_has_something_to_send() {
        let mut carrier = carrier(0);
        let [mut three, mut seventy] = [false; 2];
        assert_eq!(carrier.activate(ms(13), UeId(70), &mut seventy), Some(ms(20)));
        assert_eq!(carrier.activate(ms(14), UeId(3), &mut three), None);
        assert_eq!(carrier.activate(ms(15), UeId(3), &mut three), None);
        let (_, turn) = carrier.begin_tick(ms(20), CarrierId(0));
        assert_eq!((turn.frame, turn.ready), (2, &[UeId(3), UeId(70)][..]));
        carrier.keep(|ue| ue == UeId(70));
        three = false;
        assert_eq!(carrier.members(), [UeId(70)]);
        assert_eq!(carrier.end_tick(ms(20)), Some(ms(30)));
        carrier.begin_tick(ms(30), CarrierId(0));
        carrier.deactivate(UeId(70), &mut seventy);
        assert_eq!(carrier.end_tick(ms(30)), None);
        // One tick an instant, though the frame begins now.
        assert_eq!(carrier.activate(ms(30), UeId(3), &mut three), Some(ms(40)));
        assert_eq!([three, seventy], [true, false]);
    }

    #[test]
    fn rlc_is_asked_the_lead_before_the_frame() {
        let mut carrier = carrier(1);
        assert_eq!(carrier.activate(ms(0), UeId(0), &mut false), Some(ms(9)));
        assert_eq!(carrier.begin_tick(ms(9), CarrierId(0)).1.frame, 1);
    }
}
