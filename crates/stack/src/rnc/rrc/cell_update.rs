//! Cell update after an RLC unrecoverable error or a radio link failure (TS 25.331 §8.3.1).
//!
//! ```text
//!   UE   ── CELL UPDATE ──────────► RNC    repeated every T302, up to N302 times; then the UE enters idle mode
//!        ◄── CELL UPDATE CONFIRM ──        `delay` after the CELL UPDATE, and several times (§8.3.1.5); RLC is re-established
//! ```
//!
//! The messages use no capacity of the common channels. Each message is lost if the radio would lose a
//! block at that instant. An error at the RNC starts the procedure immediately, as an error at the UE
//! does: the RNC's order to the UE is not modelled.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::RrcConfig;
use crate::Context;
use crate::ids::{Direction, UeId};
use crate::trace::{CellUpdateOutcome, TraceEvent};

/// Supervision of a UE's RRC connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionConfig {
    /// Whether an RLC unrecoverable error leads to a cell update. Otherwise the bearer carries nothing
    /// any more.
    pub recovers_rlc: bool,
    /// Time from a received CELL UPDATE to its CELL UPDATE CONFIRM, which takes effect on reception.
    pub delay: Duration,
    /// Time from a CELL UPDATE CONFIRM to its repetition, until the UE repeats its CELL UPDATE. `None`:
    /// it is sent once.
    pub confirm_interval: Option<Duration>,
    /// T302: time from a CELL UPDATE to its repetition.
    pub t302: Duration,
    /// N302: repetitions of a CELL UPDATE.
    pub n302: u32,
    /// T300: time from an RRC CONNECTION REQUEST without answer to its repetition.
    pub t300: Duration,
    /// Time from an answered RRC CONNECTION REQUEST to the new bearer, after the old connection was
    /// released. `None` for UEs with a modelled idle mode.
    pub new_connection: Option<Duration>,
    /// Supervision of a DCH's radio link. `None`: off.
    pub radio_link: Option<RadioLinkConfig>,
}

impl Default for ConnectionConfig {
    /// Supervision of a UE on a DCH that RRC does not switch.
    fn default() -> Self {
        RrcConfig::default().connection(false, true)
    }
}

/// Criteria of a radio link failure (TS 25.331 §8.5.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadioLinkConfig {
    /// T313: time from the N313-th out-of-sync indication to the failure, unless the link is in sync
    /// before.
    pub t313: Duration,
    /// N313: successive out-of-sync indications that start T313.
    pub n313: u32,
}

/// A cell update in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellUpdate {
    next_step: Step,
    /// When the next step is due.
    due: Time,
    /// CELL UPDATEs sent so far.
    attempts: u32,
    /// When the last CELL UPDATE was sent.
    sent_at: Time,
}

/// A step of a cell update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The UE sends a CELL UPDATE, unless it has sent too many.
    SendUpdate,
    /// The RNC sends a CELL UPDATE CONFIRM.
    SendConfirm,
    /// The UE gave up and requests a new connection.
    RequestConnection,
    /// The new connection is set up.
    EnterConnection,
}

impl CellUpdate {
    /// A procedure with its first CELL UPDATE due at `now`.
    pub fn new(now: Time) -> Self {
        CellUpdate { next_step: Step::SendUpdate, due: now, attempts: 0, sent_at: now }
    }

    /// When the next step is due.
    pub fn poll_timeout(&self) -> Time {
        self.due
    }

    /// Delays the next step until `until`: the UE neither sends nor receives before.
    pub fn postpone(&mut self, until: Time) {
        self.due = until.max(self.due);
    }

    /// Sets the next step.
    fn schedule(&mut self, step: Step, due: Time) {
        (self.next_step, self.due) = (step, due);
    }

    /// Executes the next step if it is due. `arrives` returns whether a message sent now in a direction
    /// is received. Returns the outcome when the procedure ends.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ue: UeId,
        config: &ConnectionConfig,
        mut arrives: impl FnMut(Direction) -> bool,
    ) -> Option<CellUpdateOutcome> {
        if self.poll_timeout() > cx.now {
            return None;
        }
        let is_given_up = self.attempts > config.n302;
        match self.next_step {
            Step::SendUpdate if is_given_up && config.new_connection.is_none() => {
                return Some(CellUpdateOutcome::ConnectionReleased);
            }
            Step::SendUpdate if is_given_up => self.schedule(Step::RequestConnection, cx.now),
            Step::SendUpdate => self.send_update(cx, ue, config, arrives(Direction::Uplink)),
            Step::SendConfirm => {
                let arrives = arrives(Direction::Downlink);
                cx.record(|| TraceEvent::CellUpdateConfirmSent { ue, arrives });
                if arrives {
                    return Some(CellUpdateOutcome::Confirmed);
                }
                self.handle_lost_confirm(cx.now, config);
            }
            Step::RequestConnection => {
                let is_answered = arrives(Direction::Uplink) && arrives(Direction::Downlink);
                match config.new_connection.filter(|_| is_answered) {
                    Some(set_up) => self.schedule(Step::EnterConnection, cx.now + set_up),
                    None => self.schedule(Step::RequestConnection, cx.now + config.t300),
                }
            }
            Step::EnterConnection => return Some(CellUpdateOutcome::ConnectionReleased),
        }
        None
    }

    fn send_update<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ue: UeId,
        config: &ConnectionConfig,
        arrives: bool,
    ) {
        self.attempts += 1;
        self.sent_at = cx.now;
        let attempt = self.attempts;
        cx.record(|| TraceEvent::CellUpdateSent { ue, attempt, arrives });
        if arrives {
            self.schedule(Step::SendConfirm, cx.now + config.delay);
        } else {
            self.schedule(Step::SendUpdate, cx.now + config.t302);
        }
    }

    /// After a lost CELL UPDATE CONFIRM the RNC repeats it, or the UE repeats the CELL UPDATE if T302
    /// expires before.
    fn handle_lost_confirm(&mut self, now: Time, config: &ConnectionConfig) {
        let t302_expiry = self.sent_at + config.t302;
        match config.confirm_interval.map(|interval| now + interval) {
            Some(repetition) if repetition < t302_expiry => self.schedule(Step::SendConfirm, repetition),
            _ => self.schedule(Step::SendUpdate, t302_expiry.max(now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::NoTrace;

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn config() -> ConnectionConfig {
        ConnectionConfig::default()
    }

    /// The course of a procedure that begins at 0 ms.
    #[derive(Debug, PartialEq)]
    struct Course {
        /// Times of the uplink messages in ms.
        uplink_ms: Vec<u64>,
        /// Its end in ms.
        end_ms: u64,
        outcome: CellUpdateOutcome,
    }

    fn confirmed(uplink_ms: &[u64], end_ms: u64) -> Course {
        Course { uplink_ms: uplink_ms.to_vec(), end_ms, outcome: CellUpdateOutcome::Confirmed }
    }

    fn released(uplink_ms: &[u64], end_ms: u64) -> Course {
        Course { uplink_ms: uplink_ms.to_vec(), end_ms, outcome: CellUpdateOutcome::ConnectionReleased }
    }

    /// Runs a procedure that begins at 0 ms. `arrives` receives the time in ms and the direction of each
    /// message.
    fn run(config: &ConnectionConfig, mut arrives: impl FnMut(u64, Direction) -> bool) -> Course {
        let mut update = CellUpdate::new(Time::ZERO);
        let mut uplink_ms = Vec::new();
        loop {
            let now = update.poll_timeout();
            let now_ms = now.as_nanos() / 1_000_000;
            let mut sink = NoTrace;
            let mut cx = Context::new(now, &mut sink);
            let outcome = update.handle_timeout(&mut cx, UeId(0), config, |direction| {
                if direction == Direction::Uplink {
                    uplink_ms.push(now_ms);
                }
                arrives(now_ms, direction)
            });
            if let Some(outcome) = outcome {
                return Course { uplink_ms, end_ms: now_ms, outcome };
            }
        }
    }

    /// The default delay of the confirmation is 300 ms.
    #[test]
    fn cell_update_is_confirmed_after_the_delay() {
        assert_eq!(run(&config(), |_, _| true), confirmed(&[0], 300));
    }

    /// The default T302 is 4 s.
    #[test]
    fn repeats_a_lost_cell_update_after_t302() {
        assert_eq!(run(&config(), |at, _| at >= 4000), confirmed(&[0, 4000], 4300));
    }

    /// The RNC repeats the answer every 200 ms: at 300, 500, 700 ms … until T302.
    #[test]
    fn repeats_the_answer_until_t302_expires() {
        let downlink_from = |start_ms| move |at, direction| direction == Direction::Uplink || at >= start_ms;
        assert_eq!(run(&config(), downlink_from(1001)), confirmed(&[0], 1100));
        assert_eq!(run(&config(), downlink_from(4000)), confirmed(&[0, 4000], 4300));
    }

    #[test]
    fn repeats_the_cell_update_if_its_only_answer_is_lost() {
        let once = ConnectionConfig { confirm_interval: None, ..config() };
        let first_answer_is_lost = |at, direction| direction == Direction::Uplink || at > 300;
        assert_eq!(run(&once, first_answer_is_lost), confirmed(&[0, 4000], 4300));
        // The answer takes longer than T302: the CELL UPDATE is repeated when the answer is lost.
        let slow = ConnectionConfig { t302: ms(100), ..once };
        assert_eq!(run(&slow, first_answer_is_lost), confirmed(&[0, 300], 600));
    }

    /// N302 is 3: the UE sends four CELL UPDATEs and gives up at 16 s.
    #[test]
    fn releases_the_connection_after_n302_repetitions() {
        let with_idle_mode = ConnectionConfig { new_connection: None, ..config() };
        assert_eq!(run(&with_idle_mode, |_, _| false), released(&[0, 4000, 8000, 12_000], 16_000));
        let without_repetition = ConnectionConfig { n302: 0, ..with_idle_mode };
        assert_eq!(run(&without_repetition, |_, _| false), released(&[0], 4000));
    }

    /// From 16 s on, a new connection is requested every second (T300). The request at 21 s is answered,
    /// because the radio is good from 20.5 s on. The set-up takes 2 s.
    #[test]
    fn requests_a_new_connection_until_it_is_answered() {
        let Course { uplink_ms, end_ms, outcome } = run(&config(), |at, _| at >= 20_500);
        assert_eq!((end_ms, outcome), (23_000, CellUpdateOutcome::ConnectionReleased));
        assert_eq!(uplink_ms[..4], [0, 4000, 8000, 12_000]);
    }

    #[test]
    fn waits_until_the_ue_can_send() {
        let mut update = CellUpdate::new(Time::ZERO);
        update.postpone(Time::ZERO + ms(80));
        assert_eq!(update.poll_timeout(), Time::ZERO + ms(80));
        let (mut sink, config) = (NoTrace, config());
        let mut early = Context::new(Time::ZERO + ms(79), &mut sink);
        assert_eq!(update.handle_timeout(&mut early, UeId(0), &config, |_| unreachable!()), None);
    }
}
