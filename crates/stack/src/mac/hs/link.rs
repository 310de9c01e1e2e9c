//! The radio link of a UE on the HS-DSCH: its SNR in each TTI, and the CQI that the Node B has.

use std::sync::Arc;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::Time;

use super::TTI;
use super::config::{BlockErrorModel, Fading, HsUeConfig};
use crate::ids::UeId;
use crate::radio::phy::fading::{RayleighFading, doppler};
use crate::radio::phy::link_quality::{CQI_STEP_DB, block_error_probability, cqi, lowest_snr_db};

/// Carrier frequency of the downlink in Hz: band I of TS 25.101 §5.2.
const CARRIER_HZ: f64 = 2.14e9;

/// Addresses of the draws of a TTI.
const FADING_DRAW: u32 = 0;
const CQI_ERROR_DRAW: u32 = 1;
const DECODING_DRAW: u32 = 2;

#[derive(Debug)]
pub(super) struct Link {
    config: Arc<HsUeConfig>,
    /// Fading by speed.
    fading: Option<RayleighFading>,
    draws: AddressedStream,
}

impl Link {
    pub fn new(config: &Arc<HsUeConfig>, ue: UeId, streams: &Streams) -> Self {
        let draws = streams.addressed(&format!("hs_dsch/ue{}", ue.0));
        let fading = (config.fading == Fading::Rayleigh).then(|| {
            let doppler = doppler(config.speed.metres_per_second(), CARRIER_HZ);
            RayleighFading::new(&streams.addressed(&format!("hs_dsch/fading/ue{}", ue.0)), 0, doppler)
        });
        Link { config: config.clone(), fading, draws }
    }

    /// SNR in dB in TTI number `tti`.
    pub fn snr_db(&self, tti: u64) -> f64 {
        if let Some(cqi) = self.config.cqi {
            // The middle of the CQI's step.
            return lowest_snr_db(cqi) + CQI_STEP_DB / 2.0;
        }
        let gain = match self.config.fading {
            Fading::None => return self.config.snr.0,
            // Power of a Rayleigh channel: exponential with mean 1.
            Fading::PerTti => -libm::log(1.0 - self.draws.tti(tti).uniform(FADING_DRAW)),
            Fading::Rayleigh => {
                let fading = self.fading.as_ref().expect("made for this kind of fading");
                fading.power(Time::ZERO + TTI * tti)
            }
        };
        self.config.snr.0 + 10.0 * libm::log10(gain)
    }

    /// The CQI that the Node B uses in TTI number `tti`: the last one that the UE measured and
    /// reported.
    pub fn reported_cqi(&self, tti: u64) -> u8 {
        if let Some(cqi) = self.config.cqi {
            return cqi;
        }
        let measured = tti.saturating_sub(self.config.cqi_delay.as_nanos() / TTI.as_nanos());
        let cycle = (self.config.cqi_cycle.as_nanos() / TTI.as_nanos()).max(1);
        let measured = measured - measured % cycle;
        let error = match self.config.cqi_error.0 {
            0.0 => 0.0,
            deviation => deviation * self.draws.tti(measured).normal(CQI_ERROR_DRAW),
        };
        cqi(self.snr_db(measured) + error)
    }

    /// Whether the UE decodes a block in the format of `format_cqi` in TTI number `tti`. `snr` is the
    /// linear sum over all transmissions of the block, of which this is number `attempt`.
    pub fn decodes(&self, tti: u64, format_cqi: u8, attempt: u8, snr: f64) -> bool {
        let probability = match self.config.errors {
            BlockErrorModel::None => return true,
            BlockErrorModel::Curve => block_error_probability(format_cqi, 10.0 * libm::log10(snr)),
            BlockErrorModel::PerAttempt => {
                let probabilities = &self.config.attempt_errors;
                let last = probabilities.len().saturating_sub(1);
                probabilities.get(usize::from(attempt - 1).min(last)).map_or(0.0, |p| p.value())
            }
        };
        self.draws.tti(tti).uniform(DECODING_DRAW) >= probability
    }
}
