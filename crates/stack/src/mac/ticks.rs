//! Ticks of a carrier: the instants at which its MAC queries RLC of the UEs with data, one tick per TTI.
//! A tick precedes the start of its TTI by the *lead*, the time that blocks need to reach the Node B. A
//! carrier without data has no ticks.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::{Below, CarrierConfig};
use crate::EventContext;
use crate::ids::{Direction, UeId};
use crate::trace::TraceEvent;
use crate::ue::UeContext;

/// The UEs with data in ascending order, and the next tick.
#[derive(Debug, Default)]
pub struct Ticks {
    members: Vec<UeId>,
    next: Option<Time>,
    last: Option<Time>,
}

impl Ticks {
    /// Adds `ue`, which has data in `direction`, to the members, and schedules the next tick.
    #[inline]
    pub fn join(&mut self, now: Time, config: &CarrierConfig, ue: &mut UeContext, direction: Direction) {
        self.add(now, config, ue.id, &mut ue.on_carrier[direction.index()]);
    }

    /// Adds `ue` to the members unless `is_member` is already set, and schedules the next tick.
    #[inline]
    fn add(&mut self, now: Time, config: &CarrierConfig, ue: UeId, is_member: &mut bool) {
        if !std::mem::replace(is_member, true)
            && let Err(position) = self.members.binary_search(&ue)
        {
            self.members.insert(position, ue);
        }
        if self.next.is_none() {
            let (lead, tti) = (config.iub.lead, config.format.tti);
            let mut tti_start = (now + lead).round_up_to(tti);
            // A TTI that starts within the lead after the start of the run has no tick, and a tick is
            // not repeated.
            if tti_start < Time::ZERO + lead || self.last == Some(tti_start - lead) {
                tti_start += tti;
            }
            self.next = Some(tti_start - lead);
        }
    }

    /// `ue` leaves the carrier.
    #[inline]
    pub fn leave(&mut self, ue: &mut UeContext, direction: Direction) {
        if std::mem::take(&mut ue.on_carrier[direction.index()])
            && let Ok(position) = self.members.binary_search(&ue.id)
        {
            self.members.remove(position);
        }
        ue.has_more[direction.index()] = false;
    }

    /// The next tick, in the phase in which carriers transmit.
    #[inline]
    pub fn next(&self) -> Option<(Time, Phase)> {
        self.next.map(|at| (at, Phase::Transmit))
    }

    /// The UEs with data in ascending order.
    #[inline]
    pub fn members(&self) -> &[UeId] {
        &self.members
    }

    /// Starts a tick. Returns the number of its TTI, from 0 at the start of the run.
    #[inline]
    pub fn begin(&mut self, now: Time, config: &CarrierConfig) -> u64 {
        (self.last, self.next) = (Some(now), None);
        (now + config.iub.lead).as_nanos() / config.format.tti.as_nanos()
    }

    /// Ends a tick after RLC was queried. UEs without further data leave, with a wake-up for the
    /// timers of their RLC.
    #[inline]
    pub fn end<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (direction, now) = (config.direction, ctx.cx.now);
        self.members.retain(|&ue| {
            let context = &mut below.ues[ue];
            if context.counts_as_preemptible | context.awaits_fall {
                below.watched.push(ue);
            }
            let has_more = std::mem::take(&mut context.has_more[direction.index()]);
            let stays = has_more || context.rlc[direction.index()].has_work(now);
            if !stays {
                context.on_carrier[direction.index()] = false;
                context.schedule_wake(ctx, direction);
            }
            stays
        });
        if !self.members.is_empty() {
            self.next = Some(now + config.format.tti);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use umts_units::Duration;

    use super::*;
    use crate::ids::CellId;
    use crate::nodeb::{Iub, IubTiming};
    use crate::radio::mac::{Channel, TransportFormat};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn config(lead: u64) -> CarrierConfig {
        CarrierConfig {
            cell: CellId(0),
            direction: Direction::Downlink,
            channel: Channel::Dch,
            format: TransportFormat::up_to(12, Duration::from_millis(10)),
            iub: Iub {
                rate: None,
                delay: Duration::from_millis(15),
                timing: IubTiming::JustInTime,
                lead: Duration::from_millis(lead),
            },
        }
    }

    /// The ticks of a carrier with TTIs of 10 ms and this lead in ms, and whether each UE is a member.
    struct TestTicks {
        ticks: Ticks,
        config: CarrierConfig,
        is_member: BTreeMap<u16, bool>,
    }

    impl TestTicks {
        fn new(lead: u64) -> Self {
            TestTicks { ticks: Ticks::default(), config: config(lead), is_member: BTreeMap::new() }
        }

        /// UE `ue` gets data at `now` ms. Returns the next tick.
        fn join(&mut self, now: u64, ue: u16) -> Option<Time> {
            let is_member = self.is_member.entry(ue).or_default();
            self.ticks.add(ms(now), &self.config, UeId(ue), is_member);
            self.ticks.next
        }

        /// Starts the tick at `now` ms. Returns the number of its TTI.
        fn begin(&mut self, now: u64) -> u64 {
            self.ticks.begin(ms(now), &self.config)
        }
    }

    #[test]
    fn carrier_ticks_only_while_a_ue_has_data() {
        let mut carrier = TestTicks::new(0);
        assert_eq!(carrier.join(13, 70), Some(ms(20)));
        assert_eq!(carrier.join(14, 3), Some(ms(20)));
        assert_eq!(carrier.join(15, 3), Some(ms(20)));
        assert_eq!(carrier.begin(20), 2);
        assert_eq!((carrier.ticks.members(), carrier.ticks.next), (&[UeId(3), UeId(70)][..], None));
        // There is one tick per instant, although a TTI starts now.
        assert_eq!(carrier.join(20, 3), Some(ms(30)));
        assert_eq!(carrier.is_member, BTreeMap::from([(3, true), (70, true)]));
    }

    #[test]
    fn tick_precedes_its_tti_by_the_lead() {
        let mut carrier = TestTicks::new(1);
        assert_eq!(carrier.join(0, 0), Some(ms(9)));
        assert_eq!(carrier.begin(9), 1);
    }
}
