//! Evaluates the RLC buffers: whether the UE needs a DCH, a larger one or a smaller one, and when
//! it is promoted from a state that carries no data.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::{FRAME, Measured, Order, Phase, Promotion, Rrc, RrcConfig, ThroughputWindow};
use crate::Context;
use crate::ids::Direction;
use crate::radio::RrcState;
use crate::trace::{SwitchCause, TraceEvent};

/// The UE has no DCH that a requested one would replace.
const NO_DCH: Option<u8> = None;

impl Rrc {
    /// Evaluates the measurements according to the current state.
    pub(super) fn evaluate<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, measured: Measured) {
        match self.phase {
            Phase::Switching { .. } => {}
            Phase::In(RrcState::CellDch) => self.evaluate_rate(cx, measured),
            Phase::In(RrcState::CellFach) => {
                let needs_dch = self.needs_dch(&measured);
                self.evaluate_need(cx, needs_dch, NO_DCH);
            }
            Phase::In(_) => self.evaluate_promotion(cx, measured),
        }
    }

    /// Whether the buffer of a direction exceeds its threshold for a DCH.
    #[inline]
    pub(super) fn needs_dch(&self, measured: &Measured) -> bool {
        let thresholds = self.config.upswitch_thresholds().into_iter();
        thresholds
            .zip(measured.buffered)
            .any(|(threshold, octets)| threshold.is_some_and(|threshold| octets > threshold))
    }

    /// Requests a DCH in CELL_FACH, or a larger one in CELL_DCH, if the need has lasted for the
    /// time to trigger. `instead_of`: number of the current DCH, which the new one replaces.
    fn evaluate_need<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        is_needed: bool,
        instead_of: Option<u8>,
    ) {
        if !is_needed {
            return self.forget_need(cx);
        }
        let RrcConfig { measurement_interval, time_to_trigger, .. } = *self.config;
        let measured_at =
            if measurement_interval.is_zero() { cx.now } else { cx.now.round_up_to(measurement_interval) };
        let trigger = *self.trigger.get_or_insert(measured_at + time_to_trigger);
        let may_request = self.barred_until <= cx.now && !self.queued;
        if trigger <= cx.now && may_request {
            self.request(cx, instead_of);
        }
    }

    /// Requests a DCH. `instead_of`: as for [`evaluate_need`](Self::evaluate_need).
    fn request<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, instead_of: Option<u8>) {
        let (ue, again) = (self.ue, self.requested);
        self.requested = true;
        cx.record(|| TraceEvent::DchRequested { ue, again });
        self.orders.push_back(Order::RequestDch { instead_of });
    }

    /// The need for a DCH has ended: withdraws a queued request.
    pub(super) fn forget_need<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.trigger = None;
        if std::mem::take(&mut self.queued) {
            self.orders.push_back(Order::Withdraw);
        }
        if std::mem::take(&mut self.requested) {
            let ue = self.ue;
            cx.record(|| TraceEvent::DchWithdrawn { ue });
        }
    }

    /// CELL_DCH: changes to a smaller DCH if the utilisation is low, or requests a larger one.
    fn evaluate_rate<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, measured: Measured) {
        if self.window.end <= cx.now {
            let smaller_suffices = self.smaller_dch_suffices(&measured);
            self.open_window(cx.now, measured);
            if smaller_suffices {
                self.dch += 1;
                self.begin_switch(cx, RrcState::CellDch, Duration::ZERO, SwitchCause::SmallerRate);
                return;
            }
        }
        if let Some(threshold) = self.config.rate_upswitch_threshold
            && self.dch > 0
        {
            let needs_larger_dch = measured.buffered[Direction::Downlink.index()] > threshold;
            self.evaluate_need(cx, needs_larger_dch, Some(self.dch));
        }
    }

    /// Whether the next smaller DCH would have carried the traffic of the window with at most the
    /// configured utilisation.
    fn smaller_dch_suffices(&self, measured: &Measured) -> bool {
        let Some(utilisation) = self.config.rate_downswitch_utilisation else { return false };
        let Some(smaller) = self.config.dch_rates.get(usize::from(self.dch) + 1) else { return false };
        let window_s = self.config.rate_downswitch_window.as_secs();
        Direction::BOTH.into_iter().map(Direction::index).all(|direction| {
            let carried_bits = measured.carried[direction] - self.window.carried_at_start[direction];
            let max_bits = smaller.rates[direction].bps() as f64 * window_s * utilisation.value();
            (carried_bits as f64) < max_bits
        })
    }

    /// Starts the next window over which throughput is measured. Without a smaller DCH there is no
    /// window.
    pub(super) fn open_window(&mut self, now: Time, measured: Measured) {
        let has_smaller_dch = usize::from(self.dch) + 1 < self.config.dch_rates.len();
        let may_shrink = has_smaller_dch && self.config.rate_downswitch_utilisation.is_some();
        let end = if may_shrink { now + self.config.rate_downswitch_window } else { Time::NEVER };
        self.window = ThroughputWindow { end, carried_at_start: measured.carried };
    }

    /// PCH states and idle mode: uplink data promotes the UE immediately, downlink data when it is
    /// paged.
    fn evaluate_promotion<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, measured: Measured) {
        let [downlink, uplink] = measured.buffered;
        if downlink.0 > 0 && self.paged_at.is_none() {
            self.paged_at = Some(self.paging_occasion(cx.now));
        }
        let is_paged = self.paged_at.is_some_and(|at| at <= cx.now);
        if uplink.0 == 0 && !is_paged {
            return;
        }
        self.paged_at = None;
        if self.config.promotion == Promotion::CellDch {
            self.request(cx, NO_DCH);
        } else {
            self.begin_switch(cx, RrcState::CellFach, Duration::ZERO, SwitchCause::Data);
        }
    }

    /// The first time from `now` on at which the UE listens for paging, in a frame that depends on
    /// its identity (TS 25.304 §8.3).
    pub(super) fn paging_occasion(&self, now: Time) -> Time {
        let cycle = self.config.paging_cycle;
        let frames = cycle / FRAME;
        if frames == 0 {
            return now;
        }
        // The factor 37 spreads UEs with consecutive numbers over the cycle.
        let offset = FRAME * (u64::from(self.ue.0) * 37 % frames);
        if now <= Time::ZERO + offset {
            return Time::ZERO + offset;
        }
        (now - offset).round_up_to(cycle) + offset
    }
}
