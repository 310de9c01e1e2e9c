//! Ticks of a carrier: the instants at which it queries RLC of the UEs with data. An idle carrier has
//! no ticks.

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
    /// Handles a change of the backlog, as in [`Mac::handle_backlog`](super::Mac::handle_backlog).
    #[inline]
    pub fn handle_backlog(
        &mut self,
        now: Time,
        config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        if !ue.rlc[direction.index()].has_work(now) {
            return true;
        }
        self.join(now, config, ue.id, &mut ue.on_carrier[direction.index()]);
        false
    }

    /// Adds `ue`, which has data, to the members unless `is_member` is already set, and schedules the
    /// next tick.
    #[inline]
    fn join(&mut self, now: Time, config: &CarrierConfig, ue: UeId, is_member: &mut bool) {
        if !std::mem::replace(is_member, true)
            && let Err(at) = self.members.binary_search(&ue)
        {
            self.members.insert(at, ue);
        }
        if self.next.is_none() {
            let (lead, tti) = (config.iub.lead, config.format.tti);
            let mut frame = (now + lead).round_up_to(tti);
            // A frame that starts within the lead after the start of the run has no tick.
            if frame < Time::ZERO + lead || self.last == Some(frame - lead) {
                frame += tti;
            }
            self.next = Some(frame - lead);
        }
    }

    /// `ue` leaves the carrier.
    #[inline]
    pub fn leave(&mut self, ue: &mut UeContext, direction: Direction) {
        if std::mem::take(&mut ue.on_carrier[direction.index()])
            && let Ok(at) = self.members.binary_search(&ue.id)
        {
            self.members.remove(at);
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

    /// Starts a tick. Returns the number of the frame.
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
            if context.is_takeable | context.awaits_fall {
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

    fn join(ticks: &mut Ticks, now: u64, lead: u64, ue: u16, is_member: &mut bool) -> Option<Time> {
        ticks.join(ms(now), &config(lead), UeId(ue), is_member);
        ticks.next
    }

    #[test]
    fn carrier_ticks_only_while_a_ue_has_data() {
        let mut ticks = Ticks::default();
        let [mut three, mut seventy] = [false; 2];
        assert_eq!(join(&mut ticks, 13, 0, 70, &mut seventy), Some(ms(20)));
        assert_eq!(join(&mut ticks, 14, 0, 3, &mut three), Some(ms(20)));
        assert_eq!(join(&mut ticks, 15, 0, 3, &mut three), Some(ms(20)));
        assert_eq!(ticks.begin(ms(20), &config(0)), 2);
        assert_eq!((ticks.members(), ticks.next), (&[UeId(3), UeId(70)][..], None));
        // There is one tick per instant, although a frame starts now.
        assert_eq!(join(&mut ticks, 20, 0, 3, &mut three), Some(ms(30)));
        assert_eq!([three, seventy], [true, true]);
    }

    #[test]
    fn tick_precedes_its_frame_by_the_lead() {
        let mut ticks = Ticks::default();
        assert_eq!(join(&mut ticks, 0, 1, 0, &mut false), Some(ms(9)));
        assert_eq!(ticks.begin(ms(9), &config(1)), 1);
    }
}
