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
    step: Step,
    /// CELL UPDATEs sent so far.
    attempts: u32,
    sent_at: Time,
}

/// The next step, and when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    SendUpdate(Time),
    SendConfirm(Time),
    RequestConnection(Time),
    EnterConnection(Time),
}

impl CellUpdate {
    /// A procedure with its first CELL UPDATE due at `now`.
    pub fn new(now: Time) -> Self {
        CellUpdate { step: Step::SendUpdate(now), attempts: 0, sent_at: now }
    }

    /// When the next step is due.
    pub fn poll_timeout(&self) -> Time {
        match self.step {
            Step::SendUpdate(at)
            | Step::SendConfirm(at)
            | Step::RequestConnection(at)
            | Step::EnterConnection(at) => at,
        }
    }

    /// Delays the next step until `until`: the UE neither sends nor receives before.
    pub fn postpone(&mut self, until: Time) {
        match &mut self.step {
            Step::SendUpdate(at)
            | Step::SendConfirm(at)
            | Step::RequestConnection(at)
            | Step::EnterConnection(at) => *at = until.max(*at),
        }
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
        match self.step {
            Step::SendUpdate(_) if self.attempts > config.n302 => {
                if config.new_connection.is_none() {
                    return Some(CellUpdateOutcome::ConnectionReleased);
                }
                self.step = Step::RequestConnection(cx.now);
            }
            Step::SendUpdate(_) => self.send_update(cx, ue, config, arrives(Direction::Uplink)),
            Step::SendConfirm(_) => {
                let arrives = arrives(Direction::Downlink);
                cx.record(|| TraceEvent::CellUpdateConfirmSent { ue, arrives });
                if arrives {
                    return Some(CellUpdateOutcome::Confirmed);
                }
                self.step = self.after_lost_confirm(cx.now, config);
            }
            Step::RequestConnection(_) => {
                let is_answered = arrives(Direction::Uplink) && arrives(Direction::Downlink);
                self.step = match config.new_connection.filter(|_| is_answered) {
                    Some(set_up) => Step::EnterConnection(cx.now + set_up),
                    None => Step::RequestConnection(cx.now + config.t300),
                };
            }
            Step::EnterConnection(_) => return Some(CellUpdateOutcome::ConnectionReleased),
        }
        None
    }

    /// The step after a lost CELL UPDATE CONFIRM: the RNC repeats it, or the UE repeats the CELL UPDATE
    /// if T302 expires before.
    fn after_lost_confirm(&self, now: Time, config: &ConnectionConfig) -> Step {
        let expiry = self.sent_at + config.t302;
        match config.confirm_interval.map(|interval| now + interval) {
            Some(next) if next < expiry => Step::SendConfirm(next),
            _ => Step::SendUpdate(expiry.max(now)),
        }
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
        self.step = match arrives {
            true => Step::SendConfirm(cx.now + config.delay),
            false => Step::SendUpdate(cx.now + config.t302),
        };
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

    /// Runs a procedure that begins at 0 ms. `arrives` receives the time in ms and the direction of each
    /// message. Returns the end in ms, the outcome, and the times of the uplink messages in ms.
    fn run(
        config: &ConnectionConfig,
        mut arrives: impl FnMut(u64, Direction) -> bool,
    ) -> (u64, CellUpdateOutcome, Vec<u64>) {
        let mut update = CellUpdate::new(Time::ZERO);
        let mut sent = Vec::new();
        loop {
            let now = update.poll_timeout();
            let at = now.as_nanos() / 1_000_000;
            let outcome =
                update.handle_timeout(&mut Context::new(now, &mut NoTrace), UeId(0), config, |direction| {
                    if direction == Direction::Uplink {
                        sent.push(at);
                    }
                    arrives(at, direction)
                });
            if let Some(outcome) = outcome {
                return (at, outcome, sent);
            }
        }
    }

    #[test]
    fn cell_update_is_confirmed_after_the_delay() {
        let ended = run(&config(), |_, _| true);
        assert_eq!(ended, (300, CellUpdateOutcome::Confirmed, vec![0]));
    }

    #[test]
    fn repeats_a_lost_cell_update_after_t302() {
        let ended = run(&config(), |at, _| at >= 4000);
        assert_eq!(ended, (4300, CellUpdateOutcome::Confirmed, vec![0, 4000]));
    }

    #[test]
    fn repeats_the_answer_until_t302_expires() {
        let ended = run(&config(), |at, direction| direction == Direction::Uplink || at > 1000);
        assert_eq!(ended, (1100, CellUpdateOutcome::Confirmed, vec![0]));
        let ended = run(&config(), |at, direction| direction == Direction::Uplink || at >= 4000);
        assert_eq!(ended, (4300, CellUpdateOutcome::Confirmed, vec![0, 4000]));
    }

    #[test]
    fn repeats_the_cell_update_if_its_only_answer_is_lost() {
        let once = ConnectionConfig { confirm_interval: None, ..config() };
        let ended = run(&once, |at, direction| direction == Direction::Uplink || at > 300);
        assert_eq!(ended, (4300, CellUpdateOutcome::Confirmed, vec![0, 4000]));
        // The answer takes longer than T302.
        let slow = ConnectionConfig { t302: ms(100), ..once };
        let ended = run(&slow, |at, direction| direction == Direction::Uplink || at > 300);
        assert_eq!(ended, (600, CellUpdateOutcome::Confirmed, vec![0, 300]));
    }

    #[test]
    fn releases_the_connection_after_n302_repetitions() {
        let released = CellUpdateOutcome::ConnectionReleased;
        let sent = vec![0, 4000, 8000, 12_000];
        // From 16 s on, a new connection is requested every second (T300). The request at 21 s is
        // answered, because the radio is good from 20.5 s on. The set-up takes 2 s.
        let (end, outcome, uplink_times) = run(&config(), |at, _| at >= 20_500);
        assert_eq!((end, outcome, &uplink_times[..4]), (23_000, released, &sent[..]));
        let with_idle_mode = ConnectionConfig { new_connection: None, ..config() };
        assert_eq!(run(&with_idle_mode, |_, _| false), (16_000, released, sent));
        let once = ConnectionConfig { n302: 0, ..with_idle_mode };
        assert_eq!(run(&once, |_, _| false), (4000, released, vec![0]));
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
