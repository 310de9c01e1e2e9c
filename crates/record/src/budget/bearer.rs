//! One direction of a UE's bearer as it is seen from outside: the SDUs in it, which of their PDUs have left, which were
//! lost on the air and have not come since, and until when the radio is known to be busy.

use std::collections::VecDeque;

use umts_stack::ids::{ConnectionId, PacketId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{BlockSet, DataRun, Pdu, RlcConfig, Sn, Status};
use umts_units::{Duration, Time};

/// Why a packet is still in a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// All of it, or some data of its connection, is on the air.
    OnAir,
    /// It is served, or nobody else is served before it.
    Served,
    /// Others are served.
    Queued,
    /// PDUs are repaired, the first of which is this one; or the sender may send nothing new.
    Recovering(Option<u16>),
}

/// An SDU that has entered and not left.
#[derive(Debug)]
struct Queued {
    packet: PacketId,
    connection: Option<ConnectionId>,
    /// Its first and last PDU, once the last has left RLC.
    pdus: Option<(u64, u64)>,
}

/// How a bearer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// PDUs are repaired; delivery is in sequence or not; so many may be unacknowledged.
    Acknowledged { in_sequence: bool, window: u64 },
    /// What is lost stays lost.
    Unacknowledged,
}

#[derive(Debug)]
pub(super) struct Bearer {
    mode: Mode,
    sdus: VecDeque<Queued>,
    /// The number of the next new PDU, counted without wrapping; and that of the next to go on the air, where blocks
    /// wait at the Node B.
    next: u64,
    next_on_air: u64,
    /// Blocks that wait there.
    at_nodeb: u32,
    /// PDUs lost on the air and not received since, in order.
    missing: Vec<u64>,
    /// All before are acknowledged.
    acknowledged: u64,
    is_resetting: bool,
    /// The last set that left, and the last that was void because the numbers begin anew.
    last_serial: u64,
    void_serial: u64,
    /// Whose data the channel carries for the first time, and until when: PDUs that are sent again do not count.
    fresh: (Option<ConnectionId>, Time),
    /// Blocks of this bearer, and of others on its channel, are on the air until then.
    served_until: Time,
    others_until: Time,
}

impl Bearer {
    pub fn new(config: &RlcConfig) -> Self {
        let mode = match config {
            RlcConfig::Am(am) => {
                Mode::Acknowledged { in_sequence: am.in_sequence, window: u64::from(am.window) }
            }
            RlcConfig::Um(_) | RlcConfig::Tm(_) => Mode::Unacknowledged,
        };
        Bearer {
            mode,
            sdus: VecDeque::new(),
            next: 0,
            next_on_air: 0,
            at_nodeb: 0,
            missing: Vec::new(),
            acknowledged: 0,
            is_resetting: false,
            last_serial: 0,
            void_serial: 0,
            fresh: (None, Time::ZERO),
            served_until: Time::ZERO,
            others_until: Time::ZERO,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.sdus.is_empty()
    }

    pub fn enter(&mut self, packet: PacketId, connection: Option<ConnectionId>) {
        self.sdus.push_back(Queued { packet, connection, pdus: None });
    }

    /// A packet is in it no more; whose it was.
    pub fn remove(&mut self, packet: PacketId) -> Option<ConnectionId> {
        let at = self.sdus.iter().position(|queued| queued.packet == packet)?;
        let removed = self.sdus.remove(at)?;
        if self.mode == Mode::Unacknowledged {
            let oldest = self.sdus.front().and_then(|first| first.pdus).map_or(self.next, |(first, _)| first);
            self.missing.retain(|sn| *sn >= oldest);
        }
        removed.connection
    }

    /// Why `packet` is here at `now`, and until when that is so if nothing happens.
    pub fn held(&self, packet: PacketId, now: Time) -> (Held, Time) {
        let Some(place) = self.sdus.iter().position(|queued| queued.packet == packet) else {
            return (Held::Served, Time::NEVER);
        };
        let queued = &self.sdus[place];
        let is_on_air = queued.pdus.is_some_and(|(_, last)| last < self.next_on_air);
        let (fresh, fresh_until) = self.fresh;
        if now < fresh_until && fresh == queued.connection {
            return (Held::OnAir, fresh_until);
        }
        if !is_on_air && now < fresh_until {
            return (Held::Queued, fresh_until);
        }
        let waits = !is_on_air || self.at_nodeb > 0;
        if waits && now < self.others_until && now >= self.served_until {
            return (Held::Queued, self.others_until);
        }
        let until = self.next_change(now);
        if let Some(repair) = self.repair(queued, now) {
            return (repair, until);
        }
        let is_behind = |ahead: &Queued| {
            ahead.connection != queued.connection
                && ahead.pdus.is_none_or(|(_, last)| last >= self.next_on_air)
        };
        if !is_on_air && self.sdus.iter().take(place).any(is_behind) {
            return (Held::Queued, until);
        }
        (if is_on_air { Held::OnAir } else { Held::Served }, until)
    }

    /// The next instant at which the air changes hands, as far as it is known.
    fn next_change(&self, now: Time) -> Time {
        let known = [self.served_until, self.others_until];
        known.into_iter().filter(|at| *at > now).min().unwrap_or(Time::NEVER)
    }

    /// The repair that `queued` has to wait for, or what keeps new PDUs from leaving.
    fn repair(&self, queued: &Queued, now: Time) -> Option<Held> {
        let Mode::Acknowledged { in_sequence, window } = self.mode else { return None };
        if let Some(sn) = self.hole_before(queued, in_sequence) {
            return Some(Held::Recovering(Some(Sn::of(sn).value())));
        }
        let is_full = queued.pdus.is_none() && self.next - self.acknowledged >= window;
        (self.is_resetting || (is_full && now >= self.served_until)).then_some(Held::Recovering(None))
    }

    /// The first lost PDU that `queued` has to wait for: in sequence, any before its last; else one of its own.
    fn hole_before(&self, queued: &Queued, in_sequence: bool) -> Option<u64> {
        match queued.pdus {
            None => self.missing.first().copied(),
            Some((_, last)) if in_sequence => self.missing.first().copied().filter(|sn| *sn <= last),
            Some((first, last)) => self.missing.iter().copied().find(|sn| (first..=last).contains(sn)),
        }
    }

    /// A set leaves RLC. With `waits` its blocks go into a queue at the Node B.
    pub fn leave(&mut self, set: &BlockSet, waits: bool) {
        self.last_serial = set.serial;
        self.fresh.0 = self.first_unsent();
        for pdu in &set.pdus {
            let Some(run) = data(pdu) else { continue };
            if run.retransmission {
                continue;
            }
            let first = run.first.count_from(self.next);
            for end in set.ends_of(run) {
                let last = end.sn.count_from(first);
                let begins = last - Sn::of(last).steps_from(end.first).min(last);
                let id = end.sdu.packet.id;
                if let Some(queued) =
                    self.sdus.iter_mut().find(|queued| queued.packet == id && queued.pdus.is_none())
                {
                    queued.pdus = Some((begins, last));
                }
            }
            self.next = first + u64::from(run.count);
        }
        if waits {
            self.at_nodeb += set.blocks;
        } else {
            self.next_on_air = self.next;
        }
    }

    /// A set that waited at the Node B goes on the air, or found no room there.
    pub fn leave_nodeb(&mut self, set: &BlockSet) {
        self.at_nodeb = self.at_nodeb.saturating_sub(set.blocks);
        for run in set.pdus.iter().filter_map(data).filter(|run| !run.retransmission) {
            let first = self.unwrap(run.first);
            let at = |queued: &&Queued| queued.pdus.is_none_or(|(_, last)| last >= first);
            self.fresh.0 = self.sdus.iter().find(at).and_then(|queued| queued.connection);
            self.next_on_air = self.next_on_air.max((first + u64::from(run.count)).min(self.next));
        }
    }

    fn first_unsent(&self) -> Option<ConnectionId> {
        self.sdus.iter().find(|queued| queued.pdus.is_none())?.connection
    }

    /// The channel carries a set of this bearer for one TTI. New PDUs have their share of it.
    pub fn served(&mut self, now: Time, tti: Duration, set: &BlockSet) {
        let fresh: u32 = set
            .pdus
            .iter()
            .filter_map(data)
            .filter(|run| !run.retransmission)
            .map(|run| u32::from(run.count))
            .sum();
        let share = tti.as_nanos() * u64::from(fresh) / u64::from(set.blocks.max(1));
        self.fresh.1 = now + Duration::from_nanos(share);
        self.served_until = now + tti;
    }

    /// It carries blocks of another.
    pub fn others_served(&mut self, now: Time, tti: Duration) {
        self.others_until = now + tti;
    }

    /// A set has come, without the blocks that are lost. The packets that cannot come any more go into `dead`.
    pub fn arrive(&mut self, set: &BlockSet, lost: Lost, dead: &mut Vec<(PacketId, Option<ConnectionId>)>) {
        if set.serial <= self.void_serial || (lost.0 == 0 && self.missing.is_empty()) {
            return;
        }
        let mut block = 0;
        for pdu in &set.pdus {
            if let Some(run) = data(pdu) {
                let first = self.unwrap(run.first);
                for step in 0..u32::from(run.count) {
                    self.pdu_arrived(
                        first + u64::from(step),
                        lost.contains(block + step),
                        run.retransmission,
                    );
                }
            }
            block += pdu.blocks();
        }
        if self.mode == Mode::Unacknowledged {
            let missing = &self.missing;
            self.sdus.retain(|queued| {
                let hit = |(first, last)| missing.iter().any(|sn| (first..=last).contains(sn));
                let is_dead = queued.pdus.is_some_and(hit);
                if is_dead {
                    dead.push((queued.packet, queued.connection));
                }
                !is_dead
            });
        }
    }

    fn pdu_arrived(&mut self, sn: u64, is_lost: bool, again: bool) {
        match self.missing.binary_search(&sn) {
            Err(place) if is_lost && !again => self.missing.insert(place, sn),
            Ok(place) if !is_lost => {
                self.missing.remove(place);
            }
            _ => {}
        }
    }

    /// A STATUS for the sender of this bearer has come.
    pub fn status(&mut self, set: &BlockSet, status: &Status) {
        let missing = set.missing_of(status).first().map(|run| run.first);
        if let Some(acknowledged) = missing.or(status.lsn) {
            let steps = acknowledged.steps_from(Sn::of(self.acknowledged));
            if steps <= self.next.saturating_sub(self.acknowledged) {
                self.acknowledged += steps;
            }
        }
    }

    /// The receiver does not wait for these any more.
    pub fn skip(&mut self, first: Sn, count: u64) {
        let below = self.unwrap(first) + count;
        self.missing.retain(|sn| *sn >= below);
    }

    pub fn begin_reset(&mut self) {
        self.is_resetting = true;
    }

    /// Numbers begin anew, and what was on its way is void. The packets of which something had left go into `dead`.
    pub fn begin_anew(&mut self, dead: &mut Vec<(PacketId, Option<ConnectionId>)>) {
        self.is_resetting = false;
        self.void_serial = self.last_serial;
        (self.next, self.next_on_air, self.acknowledged) = (0, 0, 0);
        self.missing.clear();
        self.sdus.retain(|queued| {
            let is_dead = queued.pdus.is_some();
            if is_dead {
                dead.push((queued.packet, queued.connection));
            }
            !is_dead
        });
    }

    /// The count of a PDU that has left.
    fn unwrap(&self, sn: Sn) -> u64 {
        let before = Sn::of(self.next.wrapping_sub(1)).steps_from(sn) + 1;
        self.next.saturating_sub(before)
    }
}

#[inline]
fn data(pdu: &Pdu) -> Option<&DataRun> {
    match pdu {
        Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => Some(run),
        Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => None,
    }
}

/// The reports in a set.
pub(super) fn statuses(set: &BlockSet, lost: Lost) -> impl Iterator<Item = &Status> {
    let mut block = 0;
    set.pdus.iter().filter_map(move |pdu| {
        let here = block;
        block += pdu.blocks();
        match pdu {
            Pdu::Status(status) => (!lost.contains(here)).then_some(status),
            Pdu::Data(run) => run.piggyback.as_ref().filter(|_| !lost.contains(here)),
            _ => None,
        }
    })
}
