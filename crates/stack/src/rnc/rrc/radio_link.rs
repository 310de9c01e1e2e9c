//! Supervision of a DCH's radio link (TS 25.331 §8.5.6, TS 25.214 §4.3.1.2).
//!
//! In this model a radio frame is bad if the downlink of the DCH would lose a block in it. The link is
//! out of sync in a frame if this frame and the 15 before it (160 ms) are bad, and in sync after one
//! good frame (N315 = 1).

use umts_units::{Duration, Time};

use super::RadioLinkConfig;

/// A radio frame, the period of the indications.
pub const FRAME: Duration = Duration::from_millis(10);

/// Number of successive bad frames, 160 ms, for an out-of-sync indication.
const BAD_FRAMES: u32 = 16;

/// The radio link of a UE in CELL_DCH.
#[derive(Debug, Clone, Copy, Default)]
pub struct RadioLinkSupervision {
    bad_frames: u32,
    /// Expiry of T313. `None`: it does not run.
    t313: Option<Time>,
}

impl RadioLinkSupervision {
    /// Handles the end of a frame at `now`. Returns whether the radio link has failed.
    pub fn handle_frame(&mut self, now: Time, is_bad: bool, config: &RadioLinkConfig) -> bool {
        if !is_bad {
            *self = RadioLinkSupervision::default();
            return false;
        }
        self.bad_frames = self.bad_frames.saturating_add(1);
        let out_of_sync = (self.bad_frames + 1).saturating_sub(BAD_FRAMES);
        if out_of_sync >= config.n313 {
            self.t313.get_or_insert(now + config.t313);
        }
        self.t313.is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: RadioLinkConfig = RadioLinkConfig { t313: Duration::from_millis(3000), n313: 20 };

    /// The number, from 1, of the frame at the end of which the link has failed.
    fn failed_frame(config: &RadioLinkConfig, is_bad: impl Fn(u64) -> bool) -> Option<u64> {
        let mut link = RadioLinkSupervision::default();
        (1..1000).find(|&frame| link.handle_frame(Time::ZERO + FRAME * frame, is_bad(frame), config))
    }

    #[test]
    fn fails_t313_after_n313_indications_out_of_sync() {
        // The first indication follows 16 bad frames, the 20th follows 35; T313 lasts 300 frames.
        assert_eq!(failed_frame(&CONFIG, |_| true), Some(335));
        let at_once = RadioLinkConfig { t313: Duration::ZERO, n313: 1 };
        assert_eq!(failed_frame(&at_once, |_| true), Some(16));
    }

    #[test]
    fn one_good_frame_stops_t313() {
        assert_eq!(failed_frame(&CONFIG, |frame| frame != 334), Some(334 + 335));
        assert_eq!(failed_frame(&CONFIG, |frame| frame % 300 != 0), None);
    }
}
