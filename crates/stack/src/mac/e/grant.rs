//! Serving grants: the largest power of the E-DPDCHs relative to the DPCCH that the scheduler allows.

use std::collections::VecDeque;

use umts_units::Time;

/// Amplitude and number of E-DPDCHs of each serving grant: TS 25.321 table 9.2.5.2.1.1, from general
/// knowledge. The power ratio is (amplitude / 15)² times the number.
const STEPS: [(u16, u8); 38] = [
    (5, 1),
    (6, 1),
    (7, 1),
    (8, 1),
    (9, 1),
    (11, 1),
    (12, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 1),
    (21, 1),
    (24, 1),
    (27, 1),
    (30, 1),
    (34, 1),
    (38, 1),
    (42, 1),
    (47, 1),
    (53, 1),
    (60, 1),
    (67, 1),
    (75, 1),
    (84, 1),
    (95, 1),
    (106, 1),
    (119, 1),
    (134, 1),
    (150, 1),
    (168, 1),
    (95, 4),
    (150, 2),
    (119, 4),
    (134, 4),
    (150, 4),
    (168, 4),
    (150, 6),
    (168, 6),
];

/// Index of a serving grant, 0 to 37.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant(u8);

impl Grant {
    pub const LOWEST: Grant = Grant(0);
    pub const HIGHEST: Grant = Grant(STEPS.len() as u8 - 1);

    /// All serving grants, the lowest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Grant> {
        (0..STEPS.len() as u8).map(Grant)
    }

    pub fn index(self) -> u8 {
        self.0
    }

    /// Power of the E-DPDCHs relative to the DPCCH, linear.
    pub fn ratio(self) -> f64 {
        let (amplitude, channels) = STEPS[usize::from(self.0)];
        (f64::from(amplitude) / 15.0) * (f64::from(amplitude) / 15.0) * f64::from(channels)
    }

    /// The lowest serving grant with a power ratio of at least `ratio`.
    pub fn at_least(ratio: f64) -> Option<Grant> {
        Grant::all().find(|grant| grant.ratio() >= ratio)
    }

    /// The next higher one.
    pub fn up(self) -> Option<Grant> {
        (self < Grant::HIGHEST).then_some(Grant(self.0 + 1))
    }

    /// The next lower one.
    pub fn down(self) -> Option<Grant> {
        self.0.checked_sub(1).map(Grant)
    }
}

/// The serving grant of a UE, and those on their way to it. `None` is the zero grant.
#[derive(Debug, Default)]
pub struct Grants {
    in_force: Option<Grant>,
    /// With the time from which the UE uses each.
    pending: VecDeque<(Time, Option<Grant>)>,
}

impl Grants {
    /// Sends a grant that the UE uses from `at` on. Later grants must not take effect earlier.
    pub fn send(&mut self, at: Time, grant: Option<Grant>) {
        self.pending.push_back((at, grant));
    }

    /// The serving grant at `now`.
    pub fn update(&mut self, now: Time) -> Option<Grant> {
        while let Some((_, grant)) = self.pending.pop_front_if(|(at, _)| *at <= now) {
            self.in_force = grant;
        }
        self.in_force
    }

    /// The grant that was sent last.
    pub fn last(&self) -> Option<Grant> {
        self.pending.back().map_or(self.in_force, |(_, grant)| *grant)
    }

    /// The highest grant that the UE uses now or that is on its way.
    pub fn highest(&self) -> Option<Grant> {
        self.pending.iter().map(|(_, grant)| *grant).chain([self.in_force]).max().flatten()
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    /// Steps of 0.6 to 1.8 dB, from -9.5 dB to 28.8 dB.
    #[test]
    fn grants_ascend_in_small_steps() {
        let ratios: Vec<f64> = Grant::all().map(Grant::ratio).collect();
        assert!((ratios[0] - 1.0 / 9.0).abs() < 1e-12 && (ratios[37] - 752.64).abs() < 1e-9);
        for pair in ratios.windows(2) {
            let step_db = 10.0 * libm::log10(pair[1] / pair[0]);
            assert!((0.5..=1.8).contains(&step_db), "{step_db} dB");
        }
    }

    #[test]
    fn grants_take_effect_in_order() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut grants = Grants::default();
        assert_eq!((grants.update(at(0)), grants.last(), grants.highest()), (None, None, None));
        grants.send(at(10), Some(Grant(20)));
        grants.send(at(20), Some(Grant(7)));
        assert_eq!(
            (grants.update(at(9)), grants.last(), grants.highest()),
            (None, Some(Grant(7)), Some(Grant(20)))
        );
        assert_eq!(grants.update(at(10)), Some(Grant(20)));
        assert_eq!((grants.update(at(25)), grants.highest()), (Some(Grant(7)), Some(Grant(7))));
    }
}
