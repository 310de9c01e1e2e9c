//! The Iub between RNC and Node B: the time that blocks take to cross it.

use umts_units::{BitRate, Bytes, Duration, Time};

use crate::ids::Direction;

/// When blocks cross the Iub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum IubTiming {
    /// 3GPP: the RNC times blocks so that they reach the Node B when their frame begins (TS 25.402).
    JustInTime,
    /// EURANE: blocks leave on the RNC's own ticks and wait at the Node B for the next frame.
    NextFrame,
}

/// The Iub of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Iub {
    /// `None`: no transmission time.
    pub rate: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    pub timing: IubTiming,
    /// Time from the query of RLC for blocks to the start of their frame (EURANE: 1 ms), in both
    /// directions.
    pub lead: Duration,
}

impl Iub {
    /// Octets of `blocks` blocks of `bits` bits on the Iub.
    #[inline]
    pub fn octets(blocks: u32, bits: u32) -> Bytes {
        Bytes(u64::from(blocks) * u64::from(bits).div_ceil(8))
    }

    /// Time that `octets` take to cross the Iub.
    #[inline]
    pub fn crossing(&self, octets: Bytes) -> Duration {
        self.delay + self.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(octets))
    }

    /// Time at which blocks that RLC provided at `now` have crossed the Iub and the air: at the UE
    /// for the downlink, at the RNC for the uplink. An uplink message starts `access` after the
    /// start of its frame.
    #[inline]
    pub fn arrival(
        &self,
        direction: Direction,
        tti: Duration,
        now: Time,
        octets: Bytes,
        access: Duration,
    ) -> Time {
        let iub = self.crossing(octets);
        match (direction, self.timing) {
            (Direction::Uplink, _) => now + self.lead + access + tti + iub,
            // RLC is queried one crossing time before the frame, so the frame starts at `now +
            // iub`.
            (Direction::Downlink, IubTiming::JustInTime) => now + iub + tti,
            (Direction::Downlink, IubTiming::NextFrame) => (now + iub).round_up_to(tti) + tti,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn iub(timing: IubTiming, lead: u64) -> Iub {
        let (delay, lead) = (Duration::from_millis(15), Duration::from_millis(lead));
        Iub { rate: None, delay, timing, lead }
    }

    const TTI: Duration = Duration::from_millis(10);

    #[test]
    fn arrival_includes_iub_crossing_and_tti() {
        let down = iub(IubTiming::JustInTime, 0);
        let octets = Iub::octets(12, 336);
        assert_eq!(down.arrival(Direction::Downlink, TTI, ms(20), octets, Duration::ZERO), ms(45));
        let up = iub(IubTiming::NextFrame, 1);
        let access = Duration::from_millis(2);
        assert_eq!(up.arrival(Direction::Uplink, TTI, ms(19), Iub::octets(1, 336), access), ms(47));
    }

    #[test]
    fn late_blocks_wait_for_the_next_frame() {
        let down = iub(IubTiming::NextFrame, 1);
        // 9 + 15 ms: the next frame starts at 30 ms and takes 10 ms.
        let octets = Iub::octets(12, 320);
        assert_eq!(down.arrival(Direction::Downlink, TTI, ms(9), octets, Duration::ZERO), ms(40));
    }
}
