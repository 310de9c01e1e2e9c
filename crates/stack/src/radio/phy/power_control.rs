//! Downlink power of a cell of a layout: the power of each user, and their sum (equation (2) of Rendón et
//! al. 2004). All powers are in mW, and gains, losses and Eb/N0 are linear.
//!
//! The power that a user needs for its Eb/N0 depends on the powers of all users. So the users of a
//! cell form one linear equation, and a network has one equation per cell:
//!
//! ```text
//! P_i = (om P_T + L_i (chi_i + P_N)) / (G_i + om)
//! P_T = P_c + sum P_i = (P_c + b) / (1 - a)          a = sum om / (G_i + om),   b = sum L_i (chi_i + P_N) / (G_i + om)
//! ```
//!
//! P_i is the power for user i, P_T the total power of the cell, P_c that of its common channels, P_N
//! the noise. om is the fraction of the own cell's power that interferes, L_i the path loss, chi_i the
//! power received from other cells, and G_i the processing gain over the target Eb/N0.
//!
//! At its power limit a cell transmits the same fraction of the needed power to all users.

mod coupled;
mod loops;

pub use self::coupled::Coupled;
pub use self::loops::{InnerLoop, OuterLoop, OuterLoopConfig};
use super::sir::Link;

/// Method to determine the powers of a TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum PowerControl {
    /// All cells together, so that every user reaches its Eb/N0.
    Ideal,
    /// Each cell alone, with the interference of the previous TTI.
    #[default]
    Frame,
    /// Step by step: 1,500 commands per second, each delayed by one slot.
    Steps,
}

/// Downlink power parameters of a cell, in mW.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerConfig {
    /// Maximum transmit power.
    pub max: f64,
    /// Power of the pilot and the common channels.
    pub common: f64,
    /// Noise power at a receiver.
    pub noise: f64,
    /// Share of the own cell's power that interferes, 1 - alpha.
    pub own_share: f64,
    /// Maximum power of one DCH. `None`: unlimited.
    pub dch_max: Option<f64>,
    pub control: PowerControl,
    /// Step of a command under [`PowerControl::Steps`], in dB.
    pub step_db: f64,
    /// Outer loop that moves the targets. `None`: fixed targets.
    pub outer_loop: Option<OuterLoopConfig>,
}

impl Default for PowerConfig {
    /// Maximum power 43 dBm, pilot 10 mW, noise -99 dBm, orthogonality 0.6 (Rendón et al. 2004, §3.2;
    /// TR 25.942).
    fn default() -> Self {
        PowerConfig {
            max: libm::exp10(4.3),
            common: 10.0,
            noise: libm::exp10(-9.9),
            own_share: 0.4,
            dch_max: None,
            control: PowerControl::default(),
            step_db: 1.0,
            outer_loop: None,
        }
    }
}

/// Sums over the users of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load {
    /// Σ om / (G + om): the own cell's part of the load factor.
    pub own: f64,
    /// Σ L (chi + P_N) / (G + om), in mW.
    pub outside: f64,
    /// Σ L chi / (G + om), in mW: the part of `outside` that comes from other cells.
    pub others: f64,
}

/// Transmit power of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Total power in mW.
    pub total: f64,
    /// Transmitted power of each user divided by the power that it needs. 1 below the limit.
    pub factor: f64,
}

impl Load {
    /// The terms of one user.
    #[inline]
    pub fn of(power: &PowerConfig, link: &Link) -> Self {
        let weight = 1.0 / (link.margin() + power.own_share);
        let others = weight * link.interference / link.gain;
        Load { own: power.own_share * weight, outside: weight * link.outside(power.noise), others }
    }

    /// The sum of two loads.
    #[inline]
    #[must_use]
    pub fn with(self, other: Load) -> Self {
        Load {
            own: self.own + other.own,
            outside: self.outside + other.outside,
            others: self.others + other.others,
        }
    }

    /// Total power in mW that the cell needs. `None` if no power is enough.
    #[inline]
    pub fn total(&self, common: f64) -> Option<f64> {
        (self.own < 1.0).then(|| (common + self.outside) / (1.0 - self.own))
    }

    /// Whether the needed power is within the limit.
    #[inline]
    pub fn fits(&self, power: &PowerConfig) -> bool {
        self.total(power.common).is_some_and(|total| total <= power.max)
    }

    /// Transmitted power: the needed power, or if this exceeds the limit, the limit with the same
    /// factor for all users.
    #[inline]
    pub fn sent(&self, power: &PowerConfig) -> Sent {
        match self.total(power.common) {
            Some(total) if total <= power.max => Sent { total, factor: 1.0 },
            _ => self.limited(power),
        }
    }

    /// The power at the limit. The users need the sum of P_i for P_T = max, which is a max + b, and the
    /// cell has max - P_c for them.
    fn limited(&self, power: &PowerConfig) -> Sent {
        let needed = self.own * power.max + self.outside;
        Sent { total: power.max, factor: (power.max - power.common) / needed }
    }

    /// Load factor of a cell that transmits `total`: Σ (om + f) / (G + om), where f is the power
    /// received from other cells relative to the own cell.
    #[inline]
    pub fn factor(&self, total: f64) -> f64 {
        self.own + self.others / total
    }
}

impl Sent {
    /// Power of a user in mW.
    #[inline]
    pub fn power_of(&self, power: &PowerConfig, link: &Link) -> f64 {
        let needed =
            (power.own_share * self.total + link.outside(power.noise)) / (link.margin() + power.own_share);
        self.factor * needed
    }
}

impl PowerConfig {
    /// Power of a user's DCH in mW for the total power `sent`, limited by `dch_max`.
    #[inline]
    pub fn dch_power(&self, sent: &Sent, link: &Link) -> f64 {
        let power = sent.power_of(self, link);
        self.dch_max.map_or(power, |max| power.min(max))
    }
}

#[cfg(test)]
mod tests;
