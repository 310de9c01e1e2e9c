//! State of one direction of a UE's radio bearer for the timeline: the numbers of PDUs, and the
//! rows that are still open.
//!
//! The timeline numbers PDUs by *counts*: the number of new PDUs that left before. Unlike sequence
//! numbers they do not wrap around.

use std::collections::{BTreeMap, VecDeque};

use umts_stack::detail::PollCauses;
use umts_stack::ids::PacketId;
use umts_stack::radio::rlc::{BlockSet, DataRun, RlcConfig, Sn};
use umts_units::{Duration, Time};

use super::table::RowIndex;

/// Rows of a block set on its way.
#[derive(Debug, Default)]
pub(super) struct SetInTransit {
    pub row: RowIndex,
    pub pdus: Vec<RowIndex>,
    pub statuses: Vec<StatusInTransit>,
}

/// A STATUS report in a block set on its way.
#[derive(Debug)]
pub(super) struct StatusInTransit {
    pub row: RowIndex,
    /// Position of its block in the set.
    pub block: u32,
}

/// A Timer_Poll that is running.
#[derive(Debug)]
pub(super) struct RunningPoll {
    pub row: RowIndex,
    /// The count of the PDU that polled, once it is known.
    pub polled: Option<u64>,
}

/// PDUs of a run with the same number of transmissions. A run is a sequence of consecutive PDUs in
/// a block set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunPart {
    /// Count of the first PDU.
    pub first: u64,
    /// Number of PDUs.
    pub pdus: u32,
    /// Number of the transmission, from 1.
    pub transmission: u32,
}

/// PDUs of an SDU: counts of the first and the last one, and when the first one left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SduPdus {
    pub packet: PacketId,
    pub first: u64,
    pub last: u64,
    pub first_sent: Option<Time>,
}

/// A run of new PDUs that left.
#[derive(Debug)]
struct Departure {
    /// Count of the first PDU.
    first: u64,
    at: Time,
}

/// State of one direction of a bearer.
#[derive(Debug, Default)]
pub(super) struct Bearer {
    /// Count of the next new PDU. Counts do not wrap.
    next: u64,
    /// Runs of new PDUs that left. Runs before the current SDU are removed.
    departures: VecDeque<Departure>,
    /// Number of transmissions of PDUs that were retransmitted, by count.
    transmissions: BTreeMap<u64, u32>,
    /// Reasons of the polls in the next block set.
    pub causes: VecDeque<PollCauses>,
    /// Block sets on their way, by serial.
    pub in_transit: BTreeMap<u64, SetInTransit>,
    /// SDUs in the buffer, by packet.
    pub sdus: BTreeMap<PacketId, RowIndex>,
    /// Octets in the sender's buffer.
    pub octets: u64,
    pub timer_poll: Option<Duration>,
    pub timer_status_prohibit: Option<Duration>,
    pub running_poll: Option<RunningPoll>,
}

impl Bearer {
    /// A bearer before its first PDU.
    pub fn new(config: &RlcConfig) -> Self {
        let (timer_poll, timer_status_prohibit) = (config.timer_poll, config.timer_status_prohibit);
        Bearer { timer_poll, timer_status_prohibit, ..Bearer::default() }
    }

    /// Counts the PDUs of a run that leaves. Returns the count of the first one.
    pub fn leave(&mut self, now: Time, run: &DataRun) -> u64 {
        if run.retransmission {
            return self.unwrap(run.first);
        }
        let first = run.first.count_from(self.next);
        self.departures.push_back(Departure { first, at: now });
        self.next = first + u64::from(run.count);
        first
    }

    /// The SDUs that end in a new run. `first`: count of its first PDU.
    pub fn ended_sdus(&mut self, set: &BlockSet, run: &DataRun, first: u64) -> Vec<SduPdus> {
        let mut ended = Vec::new();
        for end in set.ends_of(run) {
            let last = end.sn.count_from(first);
            // Count and sequence number advance together, so the first PDU of the SDU precedes
            // `last` by the difference of their sequence numbers.
            let first_of_sdu = last - Sn::of(last).steps_from(end.first).min(last);
            let departure = self.departures.iter().rev().find(|departure| departure.first <= first_of_sdu);
            let first_sent = departure.map(|departure| departure.at);
            ended.push(SduPdus { packet: end.sdu.packet.id, first: first_of_sdu, last, first_sent });
            while self.departures.get(1).is_some_and(|departure| departure.first <= last) {
                self.departures.pop_front();
            }
        }
        ended
    }

    /// Divides a run that leaves into parts with the same number of transmissions. `first`: count of
    /// its first PDU.
    pub fn transmissions(&mut self, run: &DataRun, first: u64) -> Vec<RunPart> {
        if !run.retransmission {
            return vec![RunPart { first, pdus: u32::from(run.count), transmission: 1 }];
        }
        let mut parts: Vec<RunPart> = Vec::new();
        for count in first..first + u64::from(run.count) {
            let transmission = self.transmissions.entry(count).or_insert(1);
            *transmission += 1;
            match parts.last_mut() {
                Some(last) if last.transmission == *transmission => last.pdus += 1,
                _ => parts.push(RunPart { first: count, pdus: 1, transmission: *transmission }),
            }
        }
        parts
    }

    /// All PDUs below `count` are acknowledged.
    pub fn acknowledged(&mut self, count: u64) {
        self.transmissions = self.transmissions.split_off(&count);
    }

    /// RLC returned to its initial state. Numbers begin at zero.
    pub fn reinitialise(&mut self) {
        self.next = 0;
        self.departures.clear();
        self.transmissions.clear();
    }

    /// The count of a PDU that has left: the latest one below `next` with this sequence number. The
    /// PDU that left last has count `next - 1`, and is `steps` sequence numbers ahead of `sn`.
    pub fn unwrap(&self, sn: Sn) -> u64 {
        let steps = Sn::of(self.next.wrapping_sub(1)).steps_from(sn);
        self.next.saturating_sub(steps + 1)
    }

    /// The count of the LSN of a STATUS, at most the count of the next new PDU.
    pub fn unwrap_lsn(&self, sn: Sn) -> u64 {
        self.next.saturating_sub(Sn::of(self.next).steps_from(sn))
    }
}
