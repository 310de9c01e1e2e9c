//! Scheduling information: the buffer status and the power headroom of a UE (TS 25.321 §9.2.5.3).

/// Upper limits of the levels of the total buffer status in octets: TS 25.321 table 9.2.5.3.2.1, from
/// general knowledge. A larger buffer has the last level, 31.
const BUFFER_LEVELS: [u64; 31] = [
    0, 10, 14, 18, 24, 32, 42, 55, 73, 97, 129, 171, 228, 302, 401, 533, 708, 940, 1_248, 1_658, 2_202,
    2_925, 3_884, 5_160, 6_853, 9_103, 12_092, 16_062, 21_335, 28_339, 37_642,
];

/// Highest headroom that can be reported, in dB (TS 25.133 §9.1.13).
const HIGHEST_HEADROOM_DB: f64 = 31.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SchedulingInformation {
    /// Total E-DCH buffer status (TEBS), 0 to 31.
    level: u8,
    /// UE power headroom (UPH) in dB, 0 to 31.
    headroom_db: u8,
}

impl SchedulingInformation {
    /// For a buffer of `octets` octets.
    pub fn new(octets: u64, headroom_db: f64) -> Self {
        let level = BUFFER_LEVELS.partition_point(|limit| *limit < octets) as u8;
        SchedulingInformation { level, headroom_db: headroom_db.clamp(0.0, HIGHEST_HEADROOM_DB) as u8 }
    }

    /// Largest buffer of the reported level in octets. `None` if the level has no upper limit.
    pub fn octets(self) -> Option<u64> {
        BUFFER_LEVELS.get(usize::from(self.level)).copied()
    }

    /// Lowest headroom of the reported step in dB. `None` if it is the last step, which has no upper limit.
    pub fn headroom_db(self) -> Option<f64> {
        let headroom_db = f64::from(self.headroom_db);
        (headroom_db < HIGHEST_HEADROOM_DB).then_some(headroom_db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_bounds_the_buffer_from_above() {
        let reported = |octets| SchedulingInformation::new(octets, 0.0).octets();
        for (octets, limit) in [(0, 0), (1, 10), (10, 10), (11, 14), (1_658, 1_658), (37_642, 37_642)] {
            assert_eq!(reported(octets), Some(limit), "{octets}");
        }
        assert_eq!(reported(37_643), None);
    }

    /// Each level is larger than the one before by about a third.
    #[test]
    fn levels_ascend_geometrically() {
        for pair in BUFFER_LEVELS[4..].windows(2) {
            let factor = pair[1] as f64 / pair[0] as f64;
            assert!((1.3..1.36).contains(&factor), "{pair:?}");
        }
    }

    #[test]
    fn headroom_is_rounded_down_and_limited() {
        let reported = |headroom_db| SchedulingInformation::new(0, headroom_db).headroom_db();
        assert_eq!((reported(-3.0), reported(12.9), reported(31.0)), (Some(0.0), Some(12.0), None));
    }
}
