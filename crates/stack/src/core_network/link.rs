//! One direction of a hop of the chain between server and RNC: store and forward with a rate, a
//! delay and a queue (drop-tail, or with queue management). `crossing.rs` sends packets through it.
//!
//! ```text
//!   drop-tail, RED:  send ─► queue ─► transmitter (rate) ─► loss ─► delay ─► arrival
//!   CoDel, PIE:      enqueue ─► managed queue ─► dequeue ─► transmitter ─► loss ─► delay ─► arrival
//! ```
//!
//! For a drop-tail queue or RED, `send` computes the fate of a packet as it enters: dropped, lost,
//! or the time of its arrival at the next node. With CoDel or PIE the packet waits in a managed
//! queue (`managed.rs`) until the transmitter is free.

mod config;
mod optional;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use umts_kernel::random::Streams;
use umts_units::{BitRate, Bytes, Duration, Probability, Time};

pub use self::config::{LinkConfig, Outage};
use self::optional::OptionalParts;
use super::managed::{Arrival, ManagedLinkQueue};
use super::queue::TransmitQueue;
use crate::aqm::{Aqm, AqmConfig};
use crate::ids::Direction;
use crate::packet::{Content, Packet};

/// One direction of a link.
#[derive(Debug, Clone)]
pub struct Link {
    transmitter: Transmitter,
    /// Outages, RED, marking, loss, jitter and Internet delay. `None` if the link has none of them.
    optional: Option<Box<OptionalParts>>,
    /// The queue, if CoDel or PIE manages it.
    managed: Option<Box<ManagedLinkQueue>>,
    /// Packets that were sent and have not arrived, in the order of their arrival.
    in_flight: VecDeque<Packet>,
}

/// The parts of every link: rate, delay and queue.
#[derive(Debug, Clone)]
struct Transmitter {
    /// End of the last transmission.
    free_at: Time,
    /// Start of the transmissions without a pause that end at `free_at`. Later than the current
    /// instant if packets passed several links in one event.
    busy_since: Time,
    /// Propagation delay.
    delay: Duration,
    /// `None`: unlimited, so that a transmission takes no time.
    rate: Option<BitRate>,
    /// Arrival of the last packet before `delay` was changed. Later packets do not arrive before.
    not_before: Time,
    /// Packets that wait or are being sent. `None` if no limit, marking or RED needs the length of
    /// the queue.
    waiting: Option<TransmitQueue>,
}

/// Result of sending a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The packet leaves the link, at the next node, at this time.
    Arrives(Time),
    /// The queue has no room, or RED dropped the packet.
    QueueFull,
    /// The packet is lost after its transmission.
    Lost,
    /// The link is down and accepts no packet.
    Down,
}

/// A change of a link during a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkChange {
    /// `None`: unlimited.
    Rate(Option<BitRate>),
    Delay(Duration),
    /// Probability of a random loss, by direction. `None`: unchanged.
    Loss([Option<Probability>; 2]),
}

/// Action of queue management on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueAction {
    Marked,
    Dropped,
}

/// Packets that left the queue of a link at one instant.
#[derive(Debug)]
pub struct LinkDeparture {
    /// Packets that queue management dropped.
    pub dropped: Vec<Packet>,
    /// The packet in transmission.
    pub sent: Option<SentPacket>,
    /// When the transmitter is free again, if packets can follow.
    pub next: Option<Time>,
}

/// A packet that left a managed queue for transmission.
#[derive(Debug)]
pub struct SentPacket {
    pub packet: Packet,
    /// Whether queue management marked the packet as it left.
    pub is_marked_now: bool,
    pub verdict: Verdict,
}

impl Link {
    /// One direction of a link. The names of its random streams begin with `name`.
    pub fn new(config: &LinkConfig, direction: Direction, streams: &Streams, name: &str) -> Self {
        let counts_queue = config.queue.is_some() || config.ecn_threshold.is_some() || config.red.is_some();
        // A managed queue has its packets and counts them itself.
        let needs_queue_length = counts_queue && !config.has_managed_queue();
        let aqm = AqmConfig { codel: config.codel, pie: config.pie, red: None };
        Link {
            optional: OptionalParts::new(config, direction, streams, name).map(Box::new),
            transmitter: Transmitter {
                free_at: Time::ZERO,
                busy_since: Time::ZERO,
                delay: config.delay,
                rate: config.rate,
                not_before: Time::ZERO,
                waiting: needs_queue_length.then(|| TransmitQueue::new(config.queue)),
            },
            managed: Aqm::new(&aqm, |kind| streams.addressed(&format!("{name}/{kind}")))
                .map(|aqm| Box::new(ManagedLinkQueue::new(aqm, config.queue))),
            in_flight: VecDeque::new(),
        }
    }

    /// Changes the link for packets that enter from now on. `name` returns the beginning of the
    /// names of its random streams.
    pub fn change(
        &mut self,
        change: LinkChange,
        direction: Direction,
        streams: &Streams,
        name: impl FnOnce() -> String,
    ) {
        match change {
            LinkChange::Rate(rate) => self.transmitter.rate = rate,
            LinkChange::Delay(delay) => {
                let transmitter = &mut self.transmitter;
                let last_arrival = transmitter.free_at + transmitter.delay;
                transmitter.not_before = transmitter.not_before.max(last_arrival);
                transmitter.delay = delay;
            }
            LinkChange::Loss(losses) => {
                let Some(loss) = losses[direction.index()] else { return };
                if let Some(optional) = &mut self.optional {
                    optional.loss = loss.value();
                    return;
                }
                let lossy = LinkConfig { loss, ..LinkConfig::default() };
                self.optional = OptionalParts::new(&lossy, direction, streams, &name()).map(Box::new);
            }
        }
    }

    /// Returns the change that would undo `change` if it were made now.
    pub fn undo_of(&self, change: LinkChange, direction: Direction) -> LinkChange {
        match change {
            LinkChange::Rate(_) => LinkChange::Rate(self.transmitter.rate),
            LinkChange::Delay(_) => LinkChange::Delay(self.transmitter.delay),
            LinkChange::Loss(mut losses) => {
                let loss = self.optional.as_ref().map_or(0.0, |optional| optional.loss);
                losses[direction.index()] = losses[direction.index()].and(Probability::new(loss));
                LinkChange::Loss(losses)
            }
        }
    }

    /// Sends a packet of `size` at `now`. May mark the packet. `now` must not decrease.
    #[inline]
    pub fn send(&mut self, now: Time, size: Bytes, packet: &mut Packet) -> Verdict {
        if let Some(optional) = &mut self.optional {
            return optional.send(&mut self.transmitter, now, size, packet);
        }
        self.transmitter.transmit(now, size).map_or(Verdict::QueueFull, Verdict::Arrives)
    }

    /// Whether packets must enter by [`enqueue`](Self::enqueue) instead of [`send`](Self::send).
    #[inline]
    pub fn has_managed_queue(&self) -> bool {
        self.managed.is_some()
    }

    /// A packet enters the managed queue at `now`. `None`: the link is down.
    pub fn enqueue(&mut self, now: Time, packet: Packet) -> Option<Arrival> {
        if self.optional.as_ref().is_some_and(|optional| optional.is_down(now)) {
            return None;
        }
        Some(self.managed.as_mut()?.enqueue(now, packet))
    }

    /// The transmitter is free at `now`: transmits the next packet of the managed queue.
    pub fn dequeue(&mut self, now: Time) -> LinkDeparture {
        let departure = self.managed.as_mut().map(|queue| queue.dequeue(now)).unwrap_or_default();
        let dropped = departure.dropped;
        let Some(packet) = departure.packet else {
            return LinkDeparture { dropped, sent: None, next: None };
        };
        let arrives_at = self.transmitter.transmit(now, packet.size());
        let arrives_at = arrives_at.expect("the limit applies to the managed queue");
        let verdict = match &mut self.optional {
            Some(optional) => optional.lose_or_delay(arrives_at),
            None => Verdict::Arrives(arrives_at),
        };
        let sent = SentPacket { packet, is_marked_now: departure.marked, verdict };
        LinkDeparture { dropped, sent: Some(sent), next: Some(self.transmitter.free_at) }
    }

    /// Action of RED on the last packet sent.
    #[inline]
    pub fn red_action(&self) -> Option<QueueAction> {
        self.optional.as_ref()?.red_action
    }

    /// Internet delay of the last packet sent, if this direction has Internet delays.
    #[inline]
    pub fn internet_delay(&self) -> Option<Duration> {
        self.optional.as_ref()?.internet_delay()
    }

    /// Stores a packet until it leaves the link.
    #[inline]
    pub fn store(&mut self, packet: &Packet) {
        self.in_flight.push_back(*packet);
    }

    /// Octets that wait for the transmitter or are being sent at `now`, rounded up. Zero without a
    /// rate.
    pub fn queued(&self, now: Time) -> Bytes {
        let Transmitter { free_at, busy_since, rate, .. } = &self.transmitter;
        // Packets of later transmissions are still in front of the link.
        let rate = rate.filter(|_| now >= *busy_since);
        let unsent = rate.map_or(0, |rate| rate.bits_in(free_at.saturating_since(now)).div_ceil(8));
        let waiting = self.managed.as_ref().map_or(Bytes::ZERO, |queue| queue.octets());
        Bytes(unsent) + waiting
    }

    /// Whether the next packet to leave belongs to a real program.
    pub fn next_is_foreign(&self) -> bool {
        self.in_flight.front().is_some_and(is_foreign)
    }

    /// Whether a packet of a real program is in flight.
    pub fn has_foreign(&self) -> bool {
        let waiting = self.managed.iter().flat_map(|queue| queue.packets());
        self.in_flight.iter().chain(waiting).any(is_foreign)
    }

    /// Removes and returns the packet that leaves now: the first one in flight.
    #[inline]
    pub fn take_next(&mut self) -> Packet {
        self.in_flight.pop_front().expect("every packet in flight was stored")
    }
}

impl Transmitter {
    /// Transmits a packet at `now`. Returns when it arrives at the next node, or `None` if the
    /// queue is full.
    #[inline]
    fn transmit(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let transmission_time = self.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(size));
        let free_at = self.free_at.max(now) + transmission_time;
        let has_room = self.waiting.as_mut().is_none_or(|waiting| waiting.add(now, free_at, size));
        if !has_room {
            return None;
        }
        if now > self.free_at {
            self.busy_since = now;
        }
        self.free_at = free_at;
        Some((free_at + self.delay).max(self.not_before))
    }
}

/// Whether a packet belongs to a real program.
fn is_foreign(packet: &Packet) -> bool {
    matches!(packet.content, Content::Foreign(_))
}
