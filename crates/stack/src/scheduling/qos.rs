//! Quality of service of a bearer (TS 23.107 §6.3, §6.4): service class, guaranteed rate and
//! transfer delay, and the measurement of whether the guaranteed rate is met.

use umts_units::{BitRate, Bytes, Duration, Time};

#[cfg(feature = "schema")]
use crate::options::OrNone;
use crate::options::options;

/// Traffic class of a bearer (TS 23.107 §6.3), in the order of priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ServiceClass {
    /// Real time between persons, such as telephony.
    Conversational,
    /// Real time in one direction, such as video.
    Streaming,
    /// Request and response, such as web pages.
    #[default]
    Interactive,
    /// No user waits for the data, as for electronic mail.
    Background,
}

impl ServiceClass {
    /// All classes in the order of priority.
    pub const ALL: [ServiceClass; 4] = [
        ServiceClass::Conversational,
        ServiceClass::Streaming,
        ServiceClass::Interactive,
        ServiceClass::Background,
    ];

    /// The word for the class in scenario files.
    pub fn keyword(self) -> &'static str {
        match self {
            ServiceClass::Conversational => "conversational",
            ServiceClass::Streaming => "streaming",
            ServiceClass::Interactive => "interactive",
            ServiceClass::Background => "background",
        }
    }

    /// Whether bearers of the class have a guaranteed rate and a transfer delay (TS 23.107 §6.4.4).
    pub fn is_real_time(self) -> bool {
        matches!(self, ServiceClass::Conversational | ServiceClass::Streaming)
    }
}

options! {
    /// Quality of service of the bearer of each user of a group (TS 23.107).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct QosConfig as "Qos" {
        /// Service class: `conversational`, `streaming`, `interactive` or `background`. Schedulers serve
        /// the users of a class before the users of the following classes.
        [label = "Service class", source = "TS 23.107 §6.3"]
        pub class: ServiceClass = ServiceClass::Interactive,
        /// Rate of RLC payload in each direction up to which the class takes effect. A user that has
        /// received it is served after all other users. `"none"`: the class always takes effect.
        [label = "Guaranteed rate of the bearer", keyword = "OrNone::<BitRate>", min = "1 kbit/s", max = "100 Mbit/s",
            source = "TS 23.107 §6.4.3"]
        pub guaranteed: Option<BitRate> = None,
        /// Time in which the packets of the user should be sent, for schedulers of the kind `timeout`.
        /// `"none"`: the timeout of the DSCH of a layout, elsewhere no deadline.
        [label = "Transfer delay of the bearer", keyword = "OrNone::<Duration>", min = "10 ms", max = "4 s",
            source = "TS 23.107 §6.4.3; range: TS 24.008 §10.5.6.5"]
        pub transfer_delay: Option<Duration> = None,
    }
}

/// Largest SDU, which is the depth of the token bucket (TS 23.107 annex B).
const LARGEST_SDU: Bytes = Bytes(1500);

/// Longest TTI. A bucket that held less than the tokens of one TTI would lose some in each TTI, and a
/// user would get less than its guaranteed rate.
const LONGEST_TTI: Duration = Duration::from_millis(80);

/// Measures whether a user has received its guaranteed rate: the token bucket of TS 23.107 annex B. Its
/// token rate is the guaranteed rate. Its depth is an SDU of 1,500 octets, or the tokens of 80 ms if
/// these are more.
///
/// A block set may be sent if there are tokens, whatever its size: the tokens then are negative, and
/// the guaranteed rate is met until they are positive again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateGuarantee {
    rate: BitRate,
    /// Time in which the empty bucket is filled.
    depth: Duration,
    /// Instant at which the bucket is empty. At a later instant the bucket has the tokens of the
    /// time in between.
    empty_at: Time,
}

impl RateGuarantee {
    /// A bucket that is empty at time 0.
    pub fn new(rate: BitRate) -> Self {
        let depth = rate.time_to_send(LARGEST_SDU).max(LONGEST_TTI);
        RateGuarantee { rate, depth, empty_at: Time::ZERO }
    }

    /// Whether the user has received its guaranteed rate up to `now`.
    #[inline]
    pub fn is_met(&self, now: Time) -> bool {
        self.empty_at > now
    }

    /// Removes tokens for `payload` that is sent.
    #[inline]
    pub fn debit(&mut self, now: Time, payload: Bytes) {
        // The bucket of a user that has sent nothing for long is full: it was empty one depth ago.
        let empty_at_if_full = Time::ZERO + now.saturating_since(Time::ZERO + self.depth);
        self.empty_at = self.empty_at.max(empty_at_if_full) + self.rate.time_to_send(payload);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn rate_is_met_while_tokens_are_negative() {
        // 64 kbit/s fill 1,500 octets in 187.5 ms, and 160 octets in 20 ms.
        let mut guarantee = RateGuarantee::new(BitRate::from_bps(64_000).unwrap());
        assert!(!guarantee.is_met(ms(0)));
        guarantee.debit(ms(1000), Bytes(1500));
        assert!(!guarantee.is_met(ms(1000)));
        guarantee.debit(ms(1000), Bytes(160));
        assert!(guarantee.is_met(ms(1019)) && !guarantee.is_met(ms(1020)));
    }

    proptest! {
        /// A user that sends whenever the rate is not met gets the guaranteed rate, with an error
        /// of at most two block sets. This holds for any TTI and any size of block sets.
        #[test]
        fn a_user_that_is_served_until_the_rate_is_met_gets_it(
            kbps in 1_u64..2000,
            tti_ms in prop::sample::select(vec![2_u64, 10, 20, 40, 80]),
            share in 1.0..4.0_f64,
        ) {
            let rate = BitRate::from_bps(kbps * 1000).unwrap();
            let set = Bytes((kbps as f64 * tti_ms as f64 / 8.0 * share) as u64 + 1);
            let mut guarantee = RateGuarantee::new(rate);
            let (end, mut sent) = (20_000, 0);
            for at in (0..end).step_by(tti_ms as usize) {
                if !guarantee.is_met(ms(at)) {
                    guarantee.debit(ms(at), set);
                    sent += set.0;
                }
            }
            let guaranteed = kbps * end / 8;
            prop_assert!(sent + set.0 >= guaranteed, "{sent} of {guaranteed}");
            prop_assert!(sent <= guaranteed + 2 * set.0, "{sent} of {guaranteed}");
        }
    }
}
