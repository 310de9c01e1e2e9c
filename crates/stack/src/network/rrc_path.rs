//! Radio resource control at work: what it decides for a UE is done to that UE's RLC entities and channels, and what it
//! asks for is decided by the admission of the cell.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::event::Event;
use super::ue::COMMON;
use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::rnc::Decision;
use crate::rnc::rrc::{Answer, Order};
use crate::trace::TraceEvent;

const DIRECTIONS: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

impl Network {
    /// The buffers of a UE changed. Nothing of this is done for UEs with fixed channels, or while nothing depends on it.
    #[inline]
    pub(super) fn buffers_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        queue: &mut EventQueue<Event>,
    ) {
        if let Some(control) = &self.ues[ue.index()].control
            && !control.rrc.ignores_buffers()
        {
            self.switched_buffers_changed(cx, ue, queue);
        }
    }

    fn switched_buffers_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        queue: &mut EventQueue<Event>,
    ) {
        let context = &mut self.ues[ue.index()];
        let measured = context.measured();
        if let Some(control) = &mut context.control
            && control.rrc.handle_buffers(cx, measured)
        {
            self.obey(cx, ue, queue);
        }
    }

    /// A timer of a UE's RRC may be due; waking early, it sleeps again.
    pub(super) fn rrc_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        queue: &mut EventQueue<Event>,
    ) {
        let context = &mut self.ues[ue.index()];
        let measured = context.measured();
        let Some(control) = &mut context.control else { return };
        control.wake = Time::NEVER;
        if control.started {
            control.rrc.handle_timeout(cx, measured);
        } else {
            control.started = true;
            control.rrc.handle_start(cx, measured);
            let cell = context.cell;
            if !std::mem::replace(&mut self.cells[usize::from(cell)].announced, true) {
                self.record_reserved(cx, cell, queue);
            }
        }
        self.obey(cx, ue, queue);
    }

    /// Somebody's DCH may be free for taking, and somebody waits.
    pub(super) fn cell_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        cell: u16,
        queue: &mut EventQueue<Event>,
    ) {
        self.cells[usize::from(cell)].wake = Time::NEVER;
        self.serve_waiting(cx, cell, queue);
    }

    /// Does what the RRC of `ue` orders, and sees to its next wake-up.
    fn obey<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        queue: &mut EventQueue<Event>,
    ) {
        let cell = self.ues[ue.index()].cell;
        let (mut freed, mut settled) = (false, false);
        while let Some(order) =
            self.ues[ue.index()].control.as_mut().and_then(|control| control.rrc.poll_order())
        {
            match order {
                Order::Suspend => self.suspend(ue),
                Order::UseCommon => self.use_channels(cx, ue, COMMON, queue),
                Order::UseDch(dch) => {
                    self.cells[usize::from(cell)].admission.holder_settled();
                    settled = true;
                    self.look_whether_full(cx, cell, queue);
                    self.use_channels(cx, ue, 1 + usize::from(dch), queue);
                }
                Order::Reestablish => self.ues[ue.index()].reestablish(cx),
                Order::RequestDch { instead_of } => self.request_dch(cx, ue, instead_of, queue),
                Order::Withdraw => self.cells[usize::from(cell)].admission.withdraw(ue),
                Order::ReleaseDch => {
                    self.cells[usize::from(cell)].admission.release(ue);
                    freed = true;
                }
                Order::ChangeDch(dch) => {
                    let rates = self.ues[ue.index()].dchs()[usize::from(dch)];
                    self.cells[usize::from(cell)].admission.change(ue, rates);
                    freed = true;
                }
            }
        }
        self.schedule_rrc_wake(ue, queue);
        self.holder_changed(cx, ue, queue);
        if freed {
            self.record_reserved(cx, cell, queue);
        }
        // Whoever waits is told from when on the DCH of one that has settled can be taken away.
        if freed || settled {
            self.serve_waiting(cx, cell, queue);
        }
    }

    fn schedule_rrc_wake(&mut self, ue: UeId, queue: &mut EventQueue<Event>) {
        let Some(control) = &mut self.ues[ue.index()].control else { return };
        if let Some(at) = control.rrc.poll_timeout().filter(|&at| at < control.wake) {
            let at = at.max(queue.now());
            control.wake = at;
            queue.push(at, Phase::Rrc, Event::RrcWake(ue));
        }
    }

    fn suspend(&mut self, ue: UeId) {
        let context = &mut self.ues[ue.index()];
        for direction in DIRECTIONS {
            context.rlc[direction.index()].suspend();
            self.carriers[usize::from(context.legs[direction.index()].carrier)].deactivate(ue);
        }
    }

    /// The UE's blocks go over its channels number `channels` from now on.
    fn use_channels<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        channels: usize,
        queue: &mut EventQueue<Event>,
    ) {
        let context = &mut self.ues[ue.index()];
        for direction in DIRECTIONS {
            self.carriers[usize::from(context.legs[direction.index()].carrier)].deactivate(ue);
        }
        context.change_legs(channels);
        for direction in DIRECTIONS {
            let context = &mut self.ues[ue.index()];
            context.rlc[direction.index()].resume(context.legs[direction.index()].blocks);
            self.rlc_changed(cx.now, ue, direction, queue);
        }
    }

    fn request_dch<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        instead_of: Option<u8>,
        queue: &mut EventQueue<Event>,
    ) {
        let cell = self.ues[ue.index()].cell;
        let wanted = self.ues[ue.index()].dchs();
        let wanted = &wanted[..instead_of.map_or(wanted.len(), usize::from)];
        let ues = &self.ues;
        let preemptible = |holder: UeId| ues[holder.index()].preemptible();
        let decision = self.cells[usize::from(cell)].admission.request(cx.now, ue, wanted, preemptible);
        let answer = match &decision {
            Decision::Granted { dch, after, .. } => Answer::Granted { dch: *dch, after: *after },
            Decision::Queued => Answer::Queued,
            Decision::Refused => Answer::Refused,
        };
        if let Decision::Granted { preempted, .. } = decision {
            for victim in preempted {
                if let Some(control) = &mut self.ues[victim.index()].control {
                    control.rrc.handle_preemption(cx);
                }
                self.obey(cx, victim, queue);
            }
            self.record_reserved(cx, cell, queue);
        }
        if let Some(control) = &mut self.ues[ue.index()].control {
            control.rrc.handle_answer(cx, answer);
        }
        self.schedule_cell_wake(cell, queue);
    }

    /// The UEs that wait for a DCH ask again, in their order, as long as they get one.
    fn serve_waiting<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        cell: u16,
        queue: &mut EventQueue<Event>,
    ) {
        while let Some(ue) = self.cells[usize::from(cell)].admission.first_waiting() {
            self.request_dch(cx, ue, None, queue);
            if self.cells[usize::from(cell)].admission.first_waiting() == Some(ue) {
                break;
            }
            self.obey(cx, ue, queue);
        }
    }

    fn schedule_cell_wake(&mut self, cell: u16, queue: &mut EventQueue<Event>) {
        let context = &mut self.cells[usize::from(cell)];
        if let Some(at) = context.admission.look_again_at().filter(|&at| at < context.wake) {
            let at = at.max(queue.now());
            context.wake = at;
            queue.push(at, Phase::Rrc, Event::CellWake(cell));
        }
    }
}
