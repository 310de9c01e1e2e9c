//! The Eb/N0 of a user in a WCDMA downlink: equation (1) of Rendón et al. (2004).
//!
//! ```text
//!                         P_i / L_i                 om   fraction of the own cell's power that interferes
//! Eb/N0 = W/R -------------------------------       chi  power received from other cells
//!             om (P_T - P_i) / L_i + chi + P_N      P_N  noise
//! ```
//!
//! P_i is the power for the user, P_T the total power of its cell, W/R the processing gain. om is not
//! 0 because multipath propagation impairs the orthogonality of the codes. Powers are in mW. Losses L
//! are stored as gains, 1/L.

/// Chips per second (TS 25.213 §4.1).
pub const CHIP_RATE: f64 = 3.84e6;

/// A user of a cell in one TTI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Processing gain W/R, chips per bit.
    pub processing: f64,
    /// Target Eb/N0, linear.
    pub target: f64,
    /// Gain from the cell, 1/L.
    pub gain: f64,
    /// Power received from other cells, chi, in mW.
    pub interference: f64,
}

impl Link {
    /// Linear Eb/N0 of a user that receives `power` of the cell's `total` power, in mW.
    #[inline]
    pub fn achieved(&self, own_share: f64, noise: f64, total: f64, power: f64) -> f64 {
        let interference_and_noise = own_share * (total - power) * self.gain + self.interference + noise;
        self.processing * power * self.gain / interference_and_noise
    }

    /// G, the processing gain over the target Eb/N0.
    #[inline]
    pub fn margin(&self) -> f64 {
        self.processing / self.target
    }

    /// L (chi + P_N): power of other cells and noise, referred to the transmitter.
    #[inline]
    pub fn outside(&self, noise: f64) -> f64 {
        (self.interference + noise) / self.gain
    }
}
