//! Supervision of a UE's RRC connection: its cell update, and the radio link of its DCH.

use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::Context;
use crate::event_context::Wakeup;
use crate::ids::{Direction, UeId};
use crate::rnc::rrc::{CellUpdate, ConnectionConfig, FRAME, RadioLinkSupervision};
use crate::trace::{CellUpdateCause, CellUpdateOutcome, TraceEvent};

/// Number of the random draw for a signalling message in a TTI. Data blocks have the numbers 0 to
/// 127, and the error chain has 128.
pub const SIGNALLING_BLOCK: u32 = 129;

/// The RRC connection of one UE.
#[derive(Debug)]
pub struct Connection {
    config: Arc<ConnectionConfig>,
    update: Option<CellUpdate>,
    /// Whether the cell update follows a cell reselection, without any failure: RLC then continues.
    keeps_rlc: bool,
    /// The supervised radio link of a DCH.
    link: Option<SupervisedLink>,
    /// Next wake-up for the cell update or the radio link.
    pub wake: Wakeup,
}

/// A radio link under supervision.
#[derive(Debug)]
struct SupervisedLink {
    supervision: RadioLinkSupervision,
    /// End of the current frame.
    frame_end: Time,
}

impl Connection {
    /// A connection without a failure.
    pub fn new(config: Arc<ConnectionConfig>) -> Self {
        Connection { config, update: None, keeps_rlc: false, link: None, wake: Wakeup::NONE }
    }

    /// Whether an RLC unrecoverable error leads to a cell update.
    pub fn recovers_rlc(&self) -> bool {
        self.config.recovers_rlc
    }

    /// Whether a cell update is in progress.
    pub fn updates_cell(&self) -> bool {
        self.update.is_some()
    }

    /// Begins a cell update. Supervision of the radio link pauses.
    pub fn begin_update(&mut self, now: Time, cause: CellUpdateCause) {
        self.update = Some(CellUpdate::new(now));
        self.keeps_rlc = cause == CellUpdateCause::CellReselection;
        self.stop_supervision();
    }

    /// RLC fails during a cell update, which therefore re-establishes it.
    pub fn handle_failure_in_update(&mut self) {
        self.keeps_rlc = false;
    }

    /// Whether RLC continues after the cell update that ends with `outcome`.
    pub fn keeps_rlc(&self, outcome: CellUpdateOutcome) -> bool {
        self.keeps_rlc && outcome == CellUpdateOutcome::Confirmed
    }

    /// Starts supervision of the radio link at `now` if the UE has a DCH and T313 is configured.
    /// Otherwise stops supervision.
    pub fn supervise(&mut self, now: Time, has_dch: bool) {
        let is_supervised = has_dch && self.config.radio_link.is_some();
        self.link = is_supervised.then(|| SupervisedLink {
            supervision: RadioLinkSupervision::default(),
            frame_end: (now + FRAME).round_up_to(FRAME),
        });
    }

    /// Stops supervision of the radio link.
    pub fn stop_supervision(&mut self) {
        self.link = None;
    }

    /// When [`handle_update`](Self::handle_update) or [`handle_frame`](Self::handle_frame) is due.
    pub fn poll_timeout(&self) -> Option<Time> {
        let update = self.update.as_ref().map(CellUpdate::poll_timeout);
        update.or(self.link.as_ref().map(|link| link.frame_end))
    }

    /// Executes the next step of the cell update if it is due. The UE neither sends nor receives before
    /// `silent_until`. `arrives` returns whether a message sent now in a direction is received. Returns
    /// the outcome when the procedure ends.
    pub fn handle_update<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ue: UeId,
        silent_until: Time,
        arrives: impl FnMut(Direction) -> bool,
    ) -> Option<CellUpdateOutcome> {
        let update = self.update.as_mut()?;
        if silent_until > cx.now {
            update.postpone(silent_until);
        }
        let outcome = update.handle_timeout(cx, ue, &self.config, arrives)?;
        self.update = None;
        Some(outcome)
    }

    /// Handles the end of a frame of the radio link, if one has ended. `is_bad` returns whether layer 1
    /// would have lost a block in the frame. Returns whether the link has failed.
    pub fn handle_frame(&mut self, now: Time, is_bad: impl FnOnce() -> bool) -> bool {
        let Some(config) = &self.config.radio_link else { return false };
        let Some(link) = self.link.as_mut().filter(|link| link.frame_end <= now) else { return false };
        link.frame_end = now + FRAME;
        link.supervision.handle_frame(now, is_bad(), config)
    }
}
