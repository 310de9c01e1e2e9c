//! Link traces: received powers and CQI of a UE in each TTI, in the format of EURANE.
//!
//! A line of the file has three powers in dB, of the first, second and third transmission of a block
//! whose first transmission is in this TTI, and the CQI of this TTI. The gain of combining is
//! included in the powers.

use std::fmt::Write;
use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_units::Duration;

use super::config::HsUeConfig;
use super::link::Link;
use super::{ROUND_TRIP_TTIS, TTI};
use crate::ids::UeId;

/// Powers in a line.
pub const POWERS: usize = 3;

/// A line of a link trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceTti {
    /// Received power in dB of the first, second and third transmission.
    pub powers_db: [f64; POWERS],
    /// Channel quality indicator, 0 to 30.
    pub cqi: u8,
}

/// A link trace. It repeats at its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkTrace(Arc<[TraceTti]>);

impl LinkTrace {
    pub fn new(ttis: Vec<TraceTti>) -> Self {
        LinkTrace(ttis.into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn ttis(&self) -> &[TraceTti] {
        &self.0
    }

    pub fn duration(&self) -> Duration {
        TTI * self.0.len() as u64
    }

    /// Line for TTI number `tti`.
    ///
    /// # Panics
    /// If the trace is empty.
    pub fn at(&self, tti: u64) -> &TraceTti {
        &self.0[(tti % self.0.len() as u64) as usize]
    }

    /// Power in dB of transmission number `attempt` of a block that was first sent in TTI number `tti`.
    /// The last power also holds for further transmissions.
    pub fn power_db(&self, tti: u64, attempt: u8) -> f64 {
        self.at(tti).powers_db[usize::from(attempt).clamp(1, POWERS) - 1]
    }

    /// Records the link of `ue` with `config` for the first `ttis` TTIs. A retransmission follows after a
    /// HARQ round trip, and adds its energy (Chase combining).
    pub fn record(config: &Arc<HsUeConfig>, ue: UeId, streams: &Streams, ttis: u64) -> Self {
        let link = Link::new(config, ue, streams);
        let row = |tti: u64| {
            let mut energy = 0.0;
            let powers_db = std::array::from_fn(|attempt| {
                let sent_in = tti + ROUND_TRIP_TTIS * attempt as u64;
                energy += libm::pow(10.0, link.snr_db(sent_in) / 10.0);
                10.0 * libm::log10(energy)
            });
            TraceTti { powers_db, cqi: link.reported_cqi(tti) }
        };
        LinkTrace::new((0..ttis).map(row).collect())
    }

    /// The lines of the file, with powers in steps of 0.01 dB.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for TraceTti { powers_db: [first, second, third], cqi } in self.ttis() {
            let _ = writeln!(text, "{first:.2} {second:.2} {third:.2} {cqi}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Db;

    use super::*;
    use crate::mac::hs::Fading;

    fn config(fading: Fading) -> Arc<HsUeConfig> {
        Arc::new(HsUeConfig {
            snr: Some(Db(5.0)),
            fading,
            cqi_delay: Duration::ZERO,
            ..HsUeConfig::default()
        })
    }

    #[test]
    fn transmissions_of_a_constant_link_add_3_and_4_8_db() {
        // An SNR of 5 dB. Two and three transmissions have 2 and 3 times its energy: 3.01 and 4.77 dB
        // more.
        let trace = LinkTrace::record(&config(Fading::None), UeId(0), &Streams::new(1, 0), 3);
        assert_eq!(trace.to_text(), "5.00 8.01 9.77 21\n".repeat(3));
        assert_eq!(trace.duration(), Duration::from_millis(6));
        let powers: Vec<_> = (1..=4).map(|attempt| trace.power_db(7, attempt).round()).collect();
        assert_eq!(powers, [5.0, 8.0, 10.0, 10.0]);
    }

    #[test]
    fn second_transmission_adds_the_power_of_the_sixth_tti_after() {
        let trace = LinkTrace::record(&config(Fading::PerTti), UeId(0), &Streams::new(1, 0), 20);
        let linear = |db: f64| libm::pow(10.0, db / 10.0);
        for tti in 0..14 {
            let sum = linear(trace.power_db(tti, 1)) + linear(trace.power_db(tti + 6, 1));
            assert!((linear(trace.power_db(tti, 2)) / sum - 1.0).abs() < 1e-9);
        }
    }
}
