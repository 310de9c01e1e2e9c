//! Power, load and noise rise of the uplink of a cell.
//!
//! The received chip energy of the DPCCH is a constant share of the interference, which power control
//! maintains. A block of `R` bit/s needs an Eb/N0 of `rho`, so the power of the E-DPDCHs is
//! proportional to the size of the block. With `x = Ec/N0` of all channels of a UE its load is
//! `x / (1 + x)`, which equals `1 / (1 + W / (rho R))`; the noise rise is `1 / (1 - sum of the loads)`.
//!
//! In a layout a cell also receives the power `I` of users of other cells. With the noise `N` its noise
//! rise is `(1 + I / N) / (1 - sum of the loads)`, and a UE with the load `L` is received with the power
//! `L N` times the noise rise.

use umts_units::{Db, Duration};

use super::config::EDchConfig;

/// Chip rate in Hz (TS 25.201 §4.2).
const CHIP_RATE: f64 = 3.84e6;

/// Load with a noise rise of 30 dB. The DPCCHs of many UEs can exceed it.
const HIGHEST_LOAD: f64 = 0.999;

/// Relations that are the same for all UEs of a cell. Ratios are linear.
#[derive(Debug, Clone, Copy)]
pub struct UplinkLoad {
    /// Ec/N0 of a DPCCH.
    dpcch: f64,
    /// Eb/N0 of the E-DPDCHs.
    eb_n0: f64,
    /// Largest noise rise.
    max_noise_rise: f64,
    /// Thermal noise of the Node B in dBm.
    noise_dbm: f64,
    /// Power from users of other cells, relative to the noise.
    from_others: f64,
}

fn linear(level: Db) -> f64 {
    libm::pow(10.0, level.0 / 10.0)
}

impl UplinkLoad {
    pub fn new(config: &EDchConfig) -> Self {
        UplinkLoad {
            dpcch: linear(config.dpcch_ec_n0),
            eb_n0: linear(config.eb_n0),
            max_noise_rise: linear(config.noise_rise),
            noise_dbm: config.noise.0,
            from_others: 0.0,
        }
    }

    /// The same cell while it receives `mw` from users of other cells.
    pub fn with_power_from_others(self, mw: f64) -> Self {
        UplinkLoad { from_others: mw / self.noise_mw(), ..self }
    }

    fn noise_mw(&self) -> f64 {
        linear(Db(self.noise_dbm))
    }

    /// Largest sum of the loads of all UEs. Not positive if other cells alone cause the largest noise rise.
    pub fn budget(&self) -> f64 {
        1.0 - (1.0 + self.from_others) / self.max_noise_rise
    }

    /// Bits in `tti` for each unit of the power ratio.
    fn bits_per_ratio(&self, tti: Duration) -> f64 {
        self.dpcch * CHIP_RATE * tti.as_secs() / self.eb_n0
    }

    /// Largest block in bits with a power ratio of at most `ratio`.
    pub fn bits(&self, ratio: f64, tti: Duration) -> u32 {
        (ratio.max(0.0) * self.bits_per_ratio(tti)) as u32
    }

    /// Power ratio of a block of `bits` bits.
    pub fn ratio(&self, bits: u32, tti: Duration) -> f64 {
        f64::from(bits) / self.bits_per_ratio(tti)
    }

    /// Load of a UE with a power ratio of `ratio`; 0 while it sends the DPCCH only.
    pub fn load(&self, ratio: f64) -> f64 {
        let received = self.dpcch * (1.0 + ratio);
        received / (1.0 + received)
    }

    /// Noise rise in dB for the sum of the loads of all UEs, at most 30 dB without users of other cells.
    pub fn noise_rise_db(&self, load: f64) -> f64 {
        -10.0 * libm::log10((1.0 - load.min(HIGHEST_LOAD)) / (1.0 + self.from_others))
    }

    /// Power in mW that the Node B receives if the loads of all UEs have the sum `load`, noise included.
    pub fn received_mw(&self, load: f64) -> f64 {
        self.noise_mw() * (1.0 + self.from_others) / (1.0 - load.min(HIGHEST_LOAD))
    }

    /// Share of this power that comes from users of other cells.
    pub fn share_of_others(&self, load: f64) -> f64 {
        self.from_others * self.noise_mw() / self.received_mw(load)
    }

    /// The power of a UE relative to its DPCCH in dB, if the loads of all UEs have the sum `load` (UE
    /// power headroom, TS 25.215 §5.1.13).
    pub fn headroom_db(&self, max_power_dbm: f64, path_loss: Db, load: f64) -> f64 {
        let interference_dbm = self.noise_dbm + self.noise_rise_db(load);
        max_power_dbm - (interference_dbm + 10.0 * libm::log10(self.dpcch) + path_loss.0)
    }
}

/// Power ratio that a headroom in dB allows.
pub fn ratio_of_headroom(headroom_db: f64) -> f64 {
    linear(Db(headroom_db)) - 1.0
}

#[cfg(test)]
mod tests {
    use super::super::category::{LONG_TTI, SHORT_TTI};
    use super::super::grant::Grant;
    use super::*;

    /// The load of a UE that sends R bit/s follows from R, W and Eb/N0 alone, apart from its DPCCH.
    #[test]
    fn load_agrees_with_the_formula_for_the_rate() {
        let uplink = UplinkLoad::new(&EDchConfig::default());
        for (bits, tti) in [(354, LONG_TTI), (14_484, LONG_TTI), (11_484, SHORT_TTI)] {
            let rate = f64::from(bits) / tti.as_secs();
            let expected = 1.0 / (1.0 + CHIP_RATE / (linear(Db(2.0)) * rate));
            let load = uplink.load(uplink.ratio(bits, tti) - 1.0);
            assert!((load - expected).abs() < 1e-12, "{load}, not {expected}");
        }
        // 6 dB: 1 - 10^-0.6.
        assert!((uplink.budget() - 0.748_811_356_9).abs() < 1e-9);
        assert!((uplink.noise_rise_db(uplink.budget()) - 6.0).abs() < 1e-9);
    }

    /// With the defaults the highest grant and a noise rise of 6 dB carry the largest block of category 6.
    #[test]
    fn defaults_carry_the_largest_block() {
        let uplink = UplinkLoad::new(&EDchConfig::default());
        assert!(uplink.bits(Grant::HIGHEST.ratio(), SHORT_TTI) >= 11_484);
        assert!(uplink.load(uplink.ratio(11_484, SHORT_TTI)) < uplink.budget());
    }

    #[test]
    fn bits_and_ratio_are_inverse() {
        let uplink = UplinkLoad::new(&EDchConfig::default());
        for grant in Grant::all() {
            let bits = uplink.bits(grant.ratio(), SHORT_TTI);
            assert!(uplink.ratio(bits, SHORT_TTI) <= grant.ratio());
            assert!(uplink.ratio(bits + 1, SHORT_TTI) > grant.ratio());
        }
    }

    /// 24 dBm against -103 dBm of noise, -25 dB and 120 dB of path loss: 32 dB, less the noise rise.
    #[test]
    fn noise_rise_costs_headroom() {
        let uplink = UplinkLoad::new(&EDchConfig::default());
        let headroom = |load| uplink.headroom_db(24.0, Db(120.0), load);
        assert!((headroom(0.0) - 32.0).abs() < 1e-9);
        assert!((headroom(uplink.budget()) - 26.0).abs() < 1e-9);
        assert!((ratio_of_headroom(10.0) - 9.0).abs() < 1e-9);
    }
}
