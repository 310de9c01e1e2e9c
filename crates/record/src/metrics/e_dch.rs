//! Totals of the blocks, grants and noise rise of E-DCHs.

use umts_stack::trace::TraceEvent;
use umts_units::Duration;

#[derive(Debug, Default)]
pub(super) struct EDchTotals {
    pub transmissions: u64,
    pub first_transmissions: u64,
    pub first_failures: u64,
    /// Transmissions with the happy bit set.
    pub happy: u64,
    /// Bits of blocks, repetitions excluded.
    pub bits: u64,
    /// Blocks that the Node B decoded.
    pub decoded: u64,
    /// Blocks that the Node B had not decoded after their last transmission.
    pub lost: u64,
    pub absolute_grants: u64,
    pub relative_grants: u64,
    /// Time with blocks on the air.
    pub time_on_air: Duration,
    /// Integral of the noise rise over this time, in dB times seconds.
    pub noise_rise: f64,
    pub max_noise_rise: Option<f32>,
    pub false_acks: u64,
    pub blocks_dropped: u64,
    pub t1_expiries: u64,
}

impl EDchTotals {
    /// Adds an event of the E-DCH.
    pub fn record(&mut self, event: &TraceEvent) {
        match *event {
            TraceEvent::EBlockSent { attempt, bits, is_decoded, is_last, is_happy, .. } => {
                let is_first = attempt == 1;
                self.transmissions += 1;
                self.first_transmissions += u64::from(is_first);
                self.first_failures += u64::from(is_first && !is_decoded);
                self.happy += u64::from(is_happy);
                self.bits += u64::from(bits) * u64::from(is_first);
                self.decoded += u64::from(is_decoded);
                self.lost += u64::from(is_last && !is_decoded);
            }
            TraceEvent::EGrantSent { is_absolute: true, .. } => self.absolute_grants += 1,
            TraceEvent::EGrantSent { is_absolute: false, .. } => self.relative_grants += 1,
            TraceEvent::ENoiseRise { rise, time, .. } => {
                self.time_on_air += time;
                self.noise_rise += f64::from(rise.0) * time.as_secs();
                self.max_noise_rise = Some(self.max_noise_rise.map_or(rise.0, |max| max.max(rise.0)));
            }
            TraceEvent::EFalseAck { .. } => self.false_acks += 1,
            TraceEvent::EBlockDropped { .. } => self.blocks_dropped += 1,
            TraceEvent::ET1Expired { .. } => self.t1_expiries += 1,
            _ => {}
        }
    }
}
