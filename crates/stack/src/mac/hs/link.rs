//! The radio link of a UE on the HS-DSCH: its SNR in each TTI, and the CQI that the Node B has.

use std::sync::Arc;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::{Probability, Time};

use super::TTI;
use super::config::{BlockErrorModel, Fading, HsUeConfig};
use super::in_layout::HsInLayout;
use super::mean_snr::MeanSnr;
use crate::ids::UeId;
use crate::radio::mac::hs::harq::Feedback;
use crate::radio::phy::fading::{RayleighFading, doppler};
use crate::radio::phy::link_quality::{CQI_STEP_DB, block_error_probability, cqi, lowest_snr_db};

/// Carrier frequency of the downlink in Hz: band I of TS 25.101 §5.2.
const CARRIER_HZ: f64 = 2.14e9;

/// Mean SNR in dB outside a layout, if none is given.
const DEFAULT_SNR_DB: f64 = 10.0;

/// Addresses of the draws of a TTI.
const FADING_DRAW: u32 = 0;
const CQI_ERROR_DRAW: u32 = 1;
const DECODING_DRAW: u32 = 2;
const HS_SCCH_DRAW: u32 = 3;
const ANSWER_DRAW: u32 = 4;

#[derive(Debug)]
pub(super) struct Link {
    config: Arc<HsUeConfig>,
    mean: MeanSnr,
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
        let mean = MeanSnr::constant(config.snr.map_or(DEFAULT_SNR_DB, |snr| snr.0));
        Link { config: config.clone(), mean, fading, draws }
    }

    /// Takes over the mean SNR that the cells of a layout have set, unless the SNR is given.
    pub fn follow(&mut self, in_layout: &HsInLayout) {
        if self.config.snr.is_none() {
            self.mean.follow(&in_layout.snr);
        }
    }

    /// SNR in dB in TTI number `tti`.
    pub fn snr_db(&self, tti: u64) -> f64 {
        if !self.config.link_trace.is_empty() {
            return self.config.link_trace.power_db(tti, 1);
        }
        if let Some(cqi) = self.config.cqi {
            // The middle of the CQI's step.
            return lowest_snr_db(cqi) + CQI_STEP_DB / 2.0;
        }
        let gain = match self.config.fading {
            Fading::None => return self.mean.at(tti),
            // Power of a Rayleigh channel: exponential with mean 1.
            Fading::PerTti => -libm::log(1.0 - self.draws.tti(tti).uniform(FADING_DRAW)),
            Fading::Rayleigh => {
                let fading = self.fading.as_ref().expect("made for this kind of fading");
                fading.power(Time::ZERO + TTI * tti)
            }
        };
        self.mean.at(tti) + 10.0 * libm::log10(gain)
    }

    /// The CQI that the Node B uses in TTI number `tti`: the last one that the UE measured and
    /// reported.
    pub fn reported_cqi(&self, tti: u64) -> u8 {
        if !self.config.link_trace.is_empty() {
            return self.config.link_trace.at(tti).cqi;
        }
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

    /// Whether the UE misses the HS-SCCH of TTI number `tti`.
    pub fn misses_hs_scch(&self, tti: u64) -> bool {
        self.happens(tti, HS_SCCH_DRAW, self.config.missed_hs_scch)
    }

    /// Returns the answer that the Node B reads after the transmission in TTI number `tti`: `answer`, or a
    /// wrong one by an error of the feedback.
    pub fn read_answer(&self, tti: u64, answer: Feedback) -> Feedback {
        let (error, wrong) = match answer {
            Feedback::Ack => (self.config.ack_to_nack, Feedback::Nack),
            Feedback::Nack => (self.config.nack_to_ack, Feedback::Ack),
            Feedback::Dtx => (self.config.dtx_to_ack, Feedback::Ack),
        };
        if self.happens(tti, ANSWER_DRAW, error) { wrong } else { answer }
    }

    fn happens(&self, tti: u64, draw: u32, probability: Probability) -> bool {
        probability != Probability::ZERO && self.draws.tti(tti).uniform(draw) < probability.value()
    }

    /// SNR in dB in TTI number `tti` for the scheduler: from the trace, or the lowest SNR of the reported
    /// CQI.
    pub fn scheduled_snr_db(&self, tti: u64) -> f64 {
        match self.config.link_trace.is_empty() {
            true => lowest_snr_db(self.reported_cqi(tti)),
            false => self.snr_db(tti),
        }
    }

    /// Whether the UE decodes a block in TTI number `tti`. `combined` is the linear sum of the SNRs of
    /// all its transmissions.
    pub fn decodes(&self, tti: u64, block: &SentBlock, combined: f64) -> bool {
        let trace = &self.config.link_trace;
        let snr_db = match trace.is_empty() {
            true => 10.0 * libm::log10(combined),
            false => trace.power_db(block.first_tti, block.attempt),
        };
        let (probability, drawn_in) = match self.config.errors {
            BlockErrorModel::None => return true,
            BlockErrorModel::Curve => (block_error_probability(block.format_cqi, snr_db), tti),
            // The same draw for all transmissions.
            BlockErrorModel::RequiredSnr => (block_error_probability(block.cqi, snr_db), block.first_tti),
            BlockErrorModel::PerAttempt => {
                let probabilities = &self.config.attempt_errors;
                let last = probabilities.len().saturating_sub(1);
                let attempt = usize::from(block.attempt - 1).min(last);
                (probabilities.get(attempt).map_or(0.0, |p| p.value()), tti)
            }
        };
        self.draws.tti(drawn_in).uniform(DECODING_DRAW) >= probability
    }
}

/// A transmission of a block, as its decoding depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentBlock {
    /// TTI number of the first transmission.
    pub first_tti: u64,
    /// Number of this transmission, from 1.
    pub attempt: u8,
    /// The CQI that the UE had reported, 1 to 30.
    pub cqi: u8,
    /// The CQI of the format of the block.
    pub format_cqi: u8,
}
