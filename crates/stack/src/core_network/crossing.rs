//! Packets on their way over the links, past the script.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::{CoreNetwork, Treatment, Verdict};
use crate::Step;
use crate::event::Event;
use crate::ids::{HeldId, LinkId};
use crate::packet::Packet;
use crate::trace::{DropPlace, TraceEvent};

impl CoreNetwork {
    /// A packet enters, unless the script has something else in mind.
    #[inline]
    pub fn enter<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        if self.impairments.is_empty() {
            self.enter_first_link(step, packet);
        } else {
            self.treat(step, packet);
        }
    }

    fn treat<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        match self.impairments.treatment(&packet) {
            Treatment::Pass => self.pass_script(step, packet),
            Treatment::Drop => {
                step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::Script, packet });
            }
            Treatment::Delay(by) => self.delay(step, step.cx.now + by, packet),
            Treatment::Duplicate(by) => {
                self.pass_script(step, packet);
                self.delay(step, step.cx.now + by, packet);
            }
            Treatment::Reorder(others) => self.impairments.hold(packet, others),
        }
    }

    /// A packet passes the script, and those that waited for it follow.
    fn pass_script<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        let mut following = Vec::new();
        self.impairments.passed(&packet, &mut following);
        for packet in std::iter::once(packet).chain(following) {
            self.enter_first_link(step, packet);
        }
    }

    fn delay<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, until: Time, packet: Packet) {
        let id = self.delayed.last_key_value().map_or(HeldId(0), |(id, _)| HeldId(id.0 + 1));
        self.delayed.insert(id, packet);
        step.at(until, Phase::Receive, Event::HeldPacketEnters(id));
    }

    /// The time of a delayed packet has come.
    pub fn held_packet_enters<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, held: HeldId) {
        let packet = self.delayed.remove(&held).expect("it was put there when it was delayed");
        self.pass_script(step, packet);
    }

    /// A packet comes out of a link: into the next one, or through all of them; then it is returned.
    #[inline]
    pub fn link_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        link: LinkId,
    ) -> Option<Packet> {
        let packet = self.links[link.index()].arrive();
        match self.next(link, packet.direction(), packet.flow) {
            Some(next) => {
                self.enter_link(step, next, packet);
                None
            }
            None => Some(packet),
        }
    }

    fn enter_first_link<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        let entry = self.entry(packet.direction(), packet.flow);
        self.enter_link(step, entry, packet);
    }

    fn enter_link<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, link: LinkId, packet: Packet) {
        let place = match self.links[link.index()].send(step.cx.now, packet) {
            Verdict::Arrives(at) => return step.at(at, Phase::Receive, Event::LinkArrival(link)),
            Verdict::QueueFull => DropPlace::LinkQueue,
            Verdict::Lost => DropPlace::LinkLoss,
            Verdict::Down => DropPlace::LinkDown,
        };
        let hop = self.hop(link) as u8;
        step.cx.record(|| TraceEvent::PacketDropped { place: place(hop), packet });
    }
}
