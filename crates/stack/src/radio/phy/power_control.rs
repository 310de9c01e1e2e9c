//! Downlink power of a cell: who needs how much, and what all of them together come to (equation (2) of Rendón et al. 2004).
//!
//! The power that reaches each user's Eb/N0 depends on the power of all, so that the users of a cell are one linear equation,
//! and the cells of a network one for each:
//!
//! ```text
//! P_i = (om P_T + L_i (chi_i + P_N)) / (G_i + om)
//! P_T = P_c + sum P_i = (P_c + b) / (1 - a)          a = sum om / (G_i + om),   b = sum L_i (chi_i + P_N) / (G_i + om)
//! ```
//!
//! Above its limit a cell sends all users the same share of what they need.

mod coupled;
mod loops;

pub use self::coupled::Coupled;
pub use self::loops::{InnerLoop, OuterLoop, OuterLoopConfig};
use super::sir::Link;

/// How the powers of a TTI are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum PowerControl {
    /// All cells together, so that every user has his Eb/N0.
    Ideal,
    /// Each cell alone, from the interference of the TTI before.
    #[default]
    Frame,
    /// Step by step: 1,500 commands a second, each a slot late.
    Steps,
}

/// The downlink power of a cell, in mW.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerConfig {
    /// The most that it sends.
    pub max: f64,
    /// Pilot and common channels.
    pub common: f64,
    /// Noise at a receiver.
    pub noise: f64,
    /// The share of the own cell's power that disturbs, 1 - alpha.
    pub own_share: f64,
    /// The most of one DCH; `None`: no limit of its own.
    pub dch_max: Option<f64>,
    /// How powers are found.
    pub control: PowerControl,
    /// The step of commands under [`PowerControl::Steps`], in dB.
    pub step_db: f64,
    /// The loop that moves targets; `None`: they are fixed.
    pub outer_loop: Option<OuterLoopConfig>,
}

impl Default for PowerConfig {
    /// 43 dBm at most, 10 mW of pilot, -99 dBm of noise, an orthogonality of 0.6 (Rendón et al. 2004, §3.2; TR 25.942).
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

/// What the users of a cell come to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load {
    /// Σ om / (G + om): the part of the load factor that the own cell makes.
    pub own: f64,
    /// Σ L (chi + P_N) / (G + om), in mW.
    pub outside: f64,
    /// Σ L chi / (G + om), in mW: that part of it which is other cells'.
    pub others: f64,
}

/// What a cell sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Its power, in mW.
    pub total: f64,
    /// What every user has of what he needs: 1 below the limit.
    pub factor: f64,
}

impl Load {
    /// That of one user.
    #[inline]
    pub fn of(power: &PowerConfig, link: &Link) -> Self {
        let weight = 1.0 / (link.margin() + power.own_share);
        let others = weight * link.interference / link.gain;
        Load { own: power.own_share * weight, outside: weight * link.outside(power.noise), others }
    }

    /// This and that together.
    #[inline]
    #[must_use]
    pub fn with(self, other: Load) -> Self {
        Load {
            own: self.own + other.own,
            outside: self.outside + other.outside,
            others: self.others + other.others,
        }
    }

    /// What the cell would have to send; `None` if no power is enough.
    #[inline]
    pub fn total(&self, common: f64) -> Option<f64> {
        (self.own < 1.0).then(|| (common + self.outside) / (1.0 - self.own))
    }

    /// Whether the cell can send that.
    #[inline]
    pub fn fits(&self, power: &PowerConfig) -> bool {
        self.total(power.common).is_some_and(|total| total <= power.max)
    }

    /// What it does send: the limit if more is needed, and everybody the same share.
    #[inline]
    pub fn sent(&self, power: &PowerConfig) -> Sent {
        match self.total(power.common) {
            Some(total) if total <= power.max => Sent { total, factor: 1.0 },
            _ => self.limited(power),
        }
    }

    fn limited(&self, power: &PowerConfig) -> Sent {
        let needed = self.own * power.max + self.outside;
        Sent { total: power.max, factor: (power.max - power.common) / needed }
    }

    /// The load factor of a cell that sends `total`: Σ (om + f) / (G + om), f what a user receives from other cells over what
    /// he receives from his own.
    #[inline]
    pub fn factor(&self, total: f64) -> f64 {
        self.own + self.others / total
    }
}

impl Sent {
    /// What of it is this user's.
    #[inline]
    pub fn power_of(&self, power: &PowerConfig, link: &Link) -> f64 {
        let needed =
            (power.own_share * self.total + link.outside(power.noise)) / (link.margin() + power.own_share);
        self.factor * needed
    }
}

impl PowerConfig {
    /// What of `sent` is the user's of a DCH, who has a limit of his own.
    #[inline]
    pub fn dch_power(&self, sent: &Sent, link: &Link) -> f64 {
        let power = sent.power_of(self, link);
        self.dch_max.map_or(power, |most| power.min(most))
    }
}

#[cfg(test)]
mod tests;
