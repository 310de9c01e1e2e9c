//! A carrier: the UEs whose blocks are asked for at the same instants, with one tick for all of them.
//!
//! A FACH or RACH is a carrier; so are all DCHs of a cell with the same direction and TTI. A tick is scheduled only
//! while some UE has something to send.

use umts_kernel::random::AddressedStream;
use umts_units::{BitRate, Bytes, Duration, Time};

use super::config::IubTiming;
use crate::ids::{Direction, UeId};
use crate::nodeb::FachQueue;
use crate::radio::mac::RachAccess;
use crate::rnc::RoundRobin;
use crate::trace::Channel;

/// How the members of a carrier share it.
#[derive(Debug)]
pub(super) enum Sharing {
    /// Each has a channel of its own.
    Dedicated,
    /// One after another, asked by MAC-c.
    Pull(RoundRobin),
    /// All at once, into the Node B's queue.
    Push(Push),
    /// By contention.
    Contention(RachAccess),
    /// Each has the whole RACH, after a random delay up to this.
    PrivateAccess(Duration, AddressedStream),
}

/// EURANE's FACH.
#[derive(Debug)]
pub(super) struct Push {
    pub queue: FachQueue,
    pub jitter: Duration,
    pub draws: AddressedStream,
    /// A frame of the Node B is scheduled.
    pub frame_scheduled: bool,
}

/// What a carrier is and how its blocks travel.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub cell: usize,
    pub direction: Direction,
    pub channel: Channel,
    pub tti: Duration,
    /// Blocks in one TTI, where the members share them.
    pub shared_blocks: u32,
    pub iub_rate: Option<BitRate>,
    pub iub_delay: Duration,
    pub iub_timing: IubTiming,
    /// How long before its frame RLC is asked.
    pub lead: Duration,
}

impl Plan {
    /// When blocks that RLC gave at `now` are through: at the UE for the downlink, at the RNC for the uplink. They take
    /// `octets` on the Iub; an uplink message begins `access` after its frame.
    #[inline]
    pub fn arrival(&self, now: Time, octets: Bytes, access: Duration) -> Time {
        let iub = self.iub_delay + self.iub_rate.map_or(Duration::ZERO, |rate| rate.time_to_send(octets));
        match (self.direction, self.iub_timing) {
            (Direction::Uplink, _) => now + self.lead + access + self.tti + iub,
            // The lead of a just-in-time frame is the Iub's delay itself: RLC was asked `iub` before the frame.
            (Direction::Downlink, IubTiming::JustInTime) => now + iub + self.tti,
            (Direction::Downlink, IubTiming::NextFrame) => (now + iub).round_up_to(self.tti) + self.tti,
        }
    }
}

/// What `blocks` of `bits` each take on the Iub.
#[inline]
pub(super) fn iub_octets(blocks: u32, bits: u32) -> Bytes {
    Bytes(u64::from(blocks) * u64::from(bits).div_ceil(8))
}

#[derive(Debug)]
pub(super) struct Carrier {
    pub plan: Plan,
    pub sharing: Sharing,
    members: Members,
    tick_scheduled: bool,
    last_tick: Option<Time>,
}

impl Carrier {
    pub fn new(plan: Plan, sharing: Sharing) -> Self {
        Carrier { plan, sharing, members: Members::default(), tick_scheduled: false, last_tick: None }
    }

    /// `ue` has something to send. Returns when to tick, if no tick is scheduled yet.
    #[inline]
    pub fn activate(&mut self, now: Time, ue: UeId) -> Option<Time> {
        self.members.insert(ue);
        if self.tick_scheduled {
            return None;
        }
        self.tick_scheduled = true;
        let mut tick = (now + self.plan.lead).round_up_to(self.plan.tti);
        // A frame that begins within the lead of the run's start has no tick of its own.
        if tick < Time::ZERO + self.plan.lead || self.last_tick == Some(tick - self.plan.lead) {
            tick += self.plan.tti;
        }
        Some(tick - self.plan.lead)
    }

    /// A tick begins at `now`: the number of its frame, and the UEs with something to send in index order.
    #[inline]
    pub fn begin_tick(&mut self, now: Time, active: &mut Vec<UeId>) -> u64 {
        self.last_tick = Some(now);
        self.tick_scheduled = false;
        active.clear();
        self.members.list(active);
        (now + self.plan.lead).as_nanos() / self.plan.tti.as_nanos()
    }

    /// `ue` has nothing to send any more.
    #[inline]
    pub fn deactivate(&mut self, ue: UeId) {
        self.members.remove(ue);
    }

    /// Ends a tick. Returns the next one, if some UE still has something to send.
    #[inline]
    pub fn end_tick(&mut self, now: Time) -> Option<Time> {
        if self.members.is_empty() || self.tick_scheduled {
            return None;
        }
        self.tick_scheduled = true;
        Some(now + self.plan.tti)
    }
}

/// A set of UEs that lists itself in index order.
#[derive(Debug, Default)]
struct Members {
    words: Vec<u64>,
    count: u32,
}

impl Members {
    #[inline]
    fn insert(&mut self, ue: UeId) {
        let (word, bit) = (ue.index() / 64, 1 << (ue.index() % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.count += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    #[inline]
    fn remove(&mut self, ue: UeId) {
        let (word, bit) = (ue.index() / 64, 1 << (ue.index() % 64));
        let Some(word) = self.words.get_mut(word) else { return };
        self.count -= u32::from(*word & bit != 0);
        *word &= !bit;
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn list(&self, into: &mut Vec<UeId>) {
        for (index, &word) in self.words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                into.push(UeId((index * 64) as u16 + rest.trailing_zeros() as u16));
                rest &= rest - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn carrier(direction: Direction, timing: IubTiming, lead: u64) -> Carrier {
        let plan = Plan {
            cell: 0,
            direction,
            channel: Channel::Dch,
            tti: Duration::from_millis(10),
            shared_blocks: 12,
            iub_rate: None,
            iub_delay: Duration::from_millis(15),
            iub_timing: timing,
            lead: Duration::from_millis(lead),
        };
        Carrier::new(plan, Sharing::Dedicated)
    }

    #[test]
    fn ticks_come_only_while_somebody_has_something_to_send() {
        let mut carrier = carrier(Direction::Downlink, IubTiming::JustInTime, 0);
        let mut active = Vec::new();
        assert_eq!(carrier.activate(ms(13), UeId(70)), Some(ms(20)));
        assert_eq!(carrier.activate(ms(14), UeId(3)), None);
        assert_eq!(carrier.begin_tick(ms(20), &mut active), 2);
        assert_eq!(active, [UeId(3), UeId(70)]);
        carrier.deactivate(UeId(3));
        assert_eq!(carrier.end_tick(ms(20)), Some(ms(30)));
        carrier.begin_tick(ms(30), &mut active);
        carrier.deactivate(UeId(70));
        assert_eq!(carrier.end_tick(ms(30)), None);
        // One tick an instant, though the frame begins now.
        assert_eq!(carrier.activate(ms(30), UeId(3)), Some(ms(40)));
    }

    #[test]
    fn rlc_is_asked_the_lead_before_the_frame() {
        let mut carrier = carrier(Direction::Downlink, IubTiming::NextFrame, 1);
        assert_eq!(carrier.activate(ms(0), UeId(0)), Some(ms(9)));
        let mut active = Vec::new();
        assert_eq!(carrier.begin_tick(ms(9), &mut active), 1);
        // 9 + 15 ms: the next frame begins at 30 ms and takes 10 ms.
        assert_eq!(carrier.plan.arrival(ms(9), iub_octets(12, 320), Duration::ZERO), ms(40));
    }

    #[test]
    fn blocks_take_the_iub_and_a_tti() {
        let down = carrier(Direction::Downlink, IubTiming::JustInTime, 0);
        assert_eq!(down.plan.arrival(ms(20), iub_octets(12, 336), Duration::ZERO), ms(45));
        let up = carrier(Direction::Uplink, IubTiming::NextFrame, 1);
        assert_eq!(up.plan.arrival(ms(19), iub_octets(1, 336), Duration::from_millis(2)), ms(47));
    }
}
