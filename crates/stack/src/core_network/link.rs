//! One hop of the chain between server and RNC: store and forward with a rate, a delay, a queue
//! (drop-tail, or with queue management) and random loss. A [`Link`] is one direction of a hop.
//!
//! For a drop-tail queue or RED, `send` computes the fate of a packet as it enters: dropped, lost,
//! or the time of its arrival at the next node. With CoDel or PIE the packet waits in a managed
//! queue (`enqueue`) until the transmitter is free (`dequeue`). A link with nothing but rate, delay
//! and queue has no [`OptionalParts`], which saves time.

use std::collections::VecDeque;

use umts_kernel::random::{Stream, Streams};
use umts_units::{BitRate, Bytes, Duration, Probability, Time};

use super::delay::{Delays, InternetDelay};
use super::managed::{Arrival, ManagedLinkQueue};
use super::queue::TransmitQueue;
use crate::aqm::{Aqm, AqmConfig, Choice, CodelConfig, PieConfig, QueueLimit, Red, RedConfig};
use crate::ids::Direction;
#[cfg(feature = "schema")]
use crate::options::{Off, Unlimited};
use crate::packet::{Content, Packet};

/// One hop of the chain server → … → ggsn → sgsn → rnc, the same in both directions.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields), schemars(rename = "Link"))]
pub struct LinkConfig {
    /// Node nearer to the server. The chain begins at `server`.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Link from")))]
    pub from: String,
    /// Node nearer to the user. The chain ends at `rnc`.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Link to")))]
    pub to: String,
    /// Bit rate in each direction; unlimited if absent.
    #[cfg_attr(feature = "schema", serde(default, with = "Unlimited::<BitRate>"), schemars(extend("x-label" = "Link rate")))]
    pub rate: Option<BitRate>,
    /// Propagation delay in each direction.
    #[cfg_attr(feature = "schema", serde(default), schemars(extend("x-label" = "Link delay", "x-max" = "1 h")))]
    pub delay: Duration,
    /// Largest random addition to the delay of a packet. The addition is uniform from zero to this
    /// value; packets keep their order.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "is_zero"), schemars(extend("x-label" = "Link jitter", "x-max" = "1 h")))]
    pub jitter: Duration,
    /// Capacity of the queue of the link, including the packet in transmission; unlimited if
    /// absent.
    #[cfg_attr(feature = "schema", serde(default, with = "Unlimited::<QueueLimit>"), schemars(extend("x-label" = "Link queue", "x-min" = "1 packets")))]
    pub queue: Option<QueueLimit>,
    /// Queue length from which a packet is marked instead of dropped if its TCP has `ecn`. `"off"`:
    /// no packet is marked.
    #[cfg_attr(feature = "schema", serde(default, with = "Off::<QueueLimit>", skip_serializing_if = "Option::is_none"), schemars(extend("x-label" = "ECN threshold", "x-min" = "1 packets", "x-source" = "RFC 3168 §5")))]
    pub ecn_threshold: Option<QueueLimit>,
    /// Random early detection instead of a drop-tail queue. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "RedConfig", extend("x-default" = "none")))]
    pub red: Option<RedConfig>,
    /// Controlled delay (CoDel) in the queue. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "CodelConfig", extend("x-default" = "none")))]
    pub codel: Option<CodelConfig>,
    /// Proportional integral controller enhanced (PIE) in front of the queue. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "PieConfig", extend("x-default" = "none")))]
    pub pie: Option<PieConfig>,
    /// Random loss of IP packets in each direction.
    #[cfg_attr(feature = "schema", serde(default), schemars(extend("x-label" = "Link loss rate")))]
    pub loss: Probability,
    /// Random loss of packets towards the user, instead of `loss`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "Probability", extend("x-label" = "Link loss rate, downlink", "x-default" = "loss")))]
    pub downlink_loss: Option<Probability>,
    /// Random loss of packets from the user, instead of `loss`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "Probability", extend("x-label" = "Link loss rate, uplink", "x-default" = "loss")))]
    pub uplink_loss: Option<Probability>,
    /// Whether all flows share the link. If not, each flow has a link of its own.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "bool", extend("x-label" = "Shared link", "x-default" = "true, but of the first link of the chain")))]
    pub shared: Option<bool>,
    /// Internet delay after the link, in addition to `delay`: lognormal above a minimum, with
    /// long-range dependence.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "InternetDelay", extend("x-default" = "none")))]
    pub internet_delay: Option<InternetDelay>,
    /// Intervals in which the link is down in both directions and accepts no packet.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub outage: Vec<Outage>,
}

#[cfg(feature = "schema")]
fn is_zero(duration: &Duration) -> bool {
    duration.is_zero()
}

impl LinkConfig {
    /// Whether the queue keeps its packets until they leave, with CoDel or PIE.
    pub(super) fn has_managed_queue(&self) -> bool {
        self.codel.is_some() || self.pie.is_some()
    }

    /// Loss probability of a packet in `direction`.
    fn loss(&self, direction: Direction) -> f64 {
        let by_direction = [self.downlink_loss, self.uplink_loss][direction.index()];
        by_direction.unwrap_or(self.loss).value()
    }
}

/// An interval in which a link is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Outage {
    /// Time at which the link goes down.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Start of the outage", "x-max" = "1000000 h")))]
    pub from: Duration,
    /// Time at which the link is up again.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "End of the outage", "x-max" = "1000000 h")))]
    pub to: Duration,
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

/// One direction of a link.
#[derive(Debug, Clone)]
pub struct Link {
    /// `None` if the link has none of them.
    optional: Option<Box<OptionalParts>>,
    transmitter: Transmitter,
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
    delay: Duration,
    rate: Option<BitRate>,
    /// Arrival of the last packet before `delay` was changed. Later packets do not arrive before.
    not_before: Time,
    /// Packets that wait or are being sent. `None` if no limit, marking or RED needs the length of
    /// the queue.
    waiting: Option<TransmitQueue>,
}

/// Optional parts of a link.
#[derive(Debug, Clone)]
struct OptionalParts {
    outages: Vec<Outage>,
    red: Option<Red>,
    /// Action of RED on the last packet.
    red_action: Option<QueueAction>,
    ecn_threshold: Option<QueueLimit>,
    /// Probability of a random loss.
    loss: f64,
    loss_draws: Stream,
    /// Maximum addition to the delay.
    jitter: Duration,
    jitter_draws: Stream,
    internet: Option<Internet>,
    /// Arrival time of the last packet. Later packets do not arrive before.
    last_arrival: Time,
}

/// Internet delay after the transmitter.
#[derive(Debug, Clone)]
struct Internet {
    delays: Delays,
    /// Delay of the last packet.
    last_delay: Duration,
}

impl OptionalParts {
    /// Returns `None` if `config` has no optional part for this direction.
    fn new(config: &LinkConfig, direction: Direction, streams: &Streams, name: &str) -> Option<Self> {
        let internet = config.internet_delay.filter(|delay| delay.direction.contains(direction));
        let internet = internet.map(|delay| Internet {
            delays: Delays::new(delay, streams.stream(&format!("{name}/internet_delay"))),
            last_delay: Duration::ZERO,
        });
        let loss = config.loss(direction);
        let LinkConfig { jitter, ecn_threshold, red, outage, .. } = config;
        let is_plain = jitter.is_zero() && ecn_threshold.is_none() && red.is_none() && outage.is_empty();
        (!is_plain || loss != 0.0 || internet.is_some()).then(|| OptionalParts {
            outages: outage.clone(),
            red: red.map(|red| Red::new(red, streams.addressed(&format!("{name}/red")))),
            red_action: None,
            ecn_threshold: *ecn_threshold,
            loss,
            loss_draws: streams.stream(name),
            jitter: *jitter,
            jitter_draws: streams.stream(&format!("{name}/jitter")),
            internet,
            last_arrival: Time::ZERO,
        })
    }

    /// Sends a packet of `size` at `now` through `transmitter`.
    #[inline(never)]
    fn send(
        &mut self,
        transmitter: &mut Transmitter,
        now: Time,
        size: Bytes,
        packet: &mut Packet,
    ) -> Verdict {
        if self.is_down(now) {
            return Verdict::Down;
        }
        if !self.passes_red(transmitter, now, packet) {
            return Verdict::QueueFull;
        }
        let is_marked = self.is_above_ecn_threshold(transmitter, now);
        let Some(arrives_at) = transmitter.transmit(now, size) else { return Verdict::QueueFull };
        if is_marked {
            packet.mark();
        }
        self.lose_or_delay(arrives_at)
    }

    fn is_down(&self, now: Time) -> bool {
        self.outages.iter().any(|outage| (outage.from..outage.to).contains(&(now - Time::ZERO)))
    }

    /// Decides whether a packet that would arrive at `at` is lost, and otherwise when it arrives.
    fn lose_or_delay(&mut self, at: Time) -> Verdict {
        if self.loss > 0.0 && self.loss_draws.uniform() < self.loss {
            return Verdict::Lost;
        }
        Verdict::Arrives(self.arrival(at))
    }

    /// Whether RED accepts a packet, possibly with a mark.
    fn passes_red(&mut self, transmitter: &mut Transmitter, now: Time, packet: &mut Packet) -> bool {
        let (Some(red), Some(waiting), Some(rate)) =
            (&mut self.red, &mut transmitter.waiting, transmitter.rate)
        else {
            return true;
        };
        waiting.remove_finished(now);
        self.red_action =
            match red.choose(now, waiting.packets(), waiting.octets(), transmitter.free_at, rate) {
                Choice::Pass => None,
                Choice::Mark if packet.mark() => Some(QueueAction::Marked),
                Choice::Mark | Choice::Drop => Some(QueueAction::Dropped),
            };
        self.red_action != Some(QueueAction::Dropped)
    }

    /// Whether the queue is long enough that a packet arriving now is marked.
    fn is_above_ecn_threshold(&self, transmitter: &mut Transmitter, now: Time) -> bool {
        let (Some(waiting), Some(threshold)) = (&mut transmitter.waiting, self.ecn_threshold) else {
            return false;
        };
        waiting.remove_finished(now);
        threshold.is_reached(waiting.packets(), waiting.octets())
    }

    /// Arrival time with jitter or Internet delay of a packet that would arrive at `at`.
    fn arrival(&mut self, at: Time) -> Time {
        if let Some(internet) = &mut self.internet {
            let arrival = self.last_arrival.max(at + internet.delays.draw(at));
            internet.last_delay = arrival - at;
            self.last_arrival = arrival;
            return arrival;
        }
        if self.jitter == Duration::ZERO {
            return at;
        }
        let added = self.jitter_draws.uniform() * self.jitter.as_nanos() as f64;
        self.last_arrival = self.last_arrival.max(at + Duration::from_nanos(added as u64));
        self.last_arrival
    }
}

impl Transmitter {
    /// Transmits a packet at `now`. Returns when it arrives at the next node, or `None` if the
    /// queue is full.
    #[inline]
    fn transmit(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let transmission_time = self.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(size));
        let free_at = self.free_at.max(now) + transmission_time;
        if !self.waiting.as_mut().is_none_or(|waiting| waiting.add(now, free_at, size)) {
            return None;
        }
        if now > self.free_at {
            self.busy_since = now;
        }
        self.free_at = free_at;
        Some((free_at + self.delay).max(self.not_before))
    }
}

impl Link {
    /// One direction of a link. The names of its random streams begin with `name`.
    pub fn new(config: &LinkConfig, direction: Direction, streams: &Streams, name: &str) -> Self {
        let is_managed = config.has_managed_queue();
        let needs_queue_length =
            !is_managed && (config.queue.is_some() || config.ecn_threshold.is_some() || config.red.is_some());
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

    /// Changes the link for packets that enter from now on. `name` returns the beginning of the names
    /// of its random streams.
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
        let mut next = None;
        let sent = departure.packet.map(|packet| {
            let arrives_at = self.transmitter.transmit(now, packet.size());
            let arrives_at = arrives_at.expect("the limit applies to the managed queue");
            next = Some(self.transmitter.free_at);
            let verdict = match &mut self.optional {
                Some(optional) => optional.lose_or_delay(arrives_at),
                None => Verdict::Arrives(arrives_at),
            };
            SentPacket { packet, is_marked_now: departure.marked, verdict }
        });
        LinkDeparture { dropped: departure.dropped, sent, next }
    }

    /// Action of RED on the last packet sent.
    #[inline]
    pub fn red_action(&self) -> Option<QueueAction> {
        self.optional.as_ref()?.red_action
    }

    /// Internet delay of the last packet sent, if this direction has Internet delays.
    #[inline]
    pub fn internet_delay(&self) -> Option<Duration> {
        Some(self.optional.as_ref()?.internet.as_ref()?.last_delay)
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

fn is_foreign(packet: &Packet) -> bool {
    matches!(packet.content, Content::Foreign(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};
    use crate::packet::{Ecn, Segment};

    /// Payload of a packet with 1,250 octets, including the header of 40. It takes 10 ms at 1
    /// Mbit/s.
    const TEN_MS: u32 = 1210;

    fn packet(payload: u32) -> Packet {
        let segment = Segment { payload, ..Segment::new(ConnectionId(0), Direction::Downlink) };
        Packet { id: PacketId(0), flow: FlowId(0), ue: UeId(0), content: Content::Segment(segment) }
    }

    /// A link of 1 Mbit/s with a delay of 10 ms that is down from 90 to 95 ms.
    fn config() -> LinkConfig {
        let rate = BitRate::from_bps(1_000_000);
        let outage = vec![Outage { from: Duration::from_millis(90), to: Duration::from_millis(95) }];
        LinkConfig { rate, delay: Duration::from_millis(10), outage, ..LinkConfig::default() }
    }

    /// The downlink of a link with this configuration.
    fn link_with(config: &LinkConfig) -> Link {
        Link::new(config, Direction::Downlink, &Streams::new(1, 0), "link")
    }

    fn send(link: &mut Link, now: Time, packet: &mut Packet) -> Verdict {
        link.send(now, packet.size(), packet)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn queued_octets_leave_at_the_rate_of_the_link() {
        // 1 Mbit/s: packets of 1,000 octets take 8 ms each.
        let mut link = link_with(&config());
        for _ in 0..2 {
            let mut packet = packet(960);
            assert_eq!(packet.size(), Bytes(1000));
            send(&mut link, ms(0), &mut packet);
        }
        assert_eq!([0, 4, 16, 20].map(|t| link.queued(ms(t)).0), [2000, 1500, 0, 0]);
        assert_eq!(link_with(&LinkConfig { rate: None, ..config() }).queued(ms(0)), Bytes::ZERO);
        // A packet that comes from another link at 50 ms has not arrived at 20 ms.
        send(&mut link, ms(50), &mut packet(960));
        assert_eq!([20, 49, 50, 54].map(|t| link.queued(ms(t)).0), [0, 0, 1000, 500]);
    }

    #[test]
    fn packets_queue_behind_each_other() {
        let mut link = link_with(&config());
        // Each packet takes 10 ms of transmission and 10 ms of delay.
        assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(20)));
        assert_eq!(send(&mut link, ms(1), &mut packet(TEN_MS)), Verdict::Arrives(ms(30)));
        assert_eq!(send(&mut link, ms(50), &mut packet(TEN_MS)), Verdict::Arrives(ms(70)));
    }

    #[test]
    fn packet_in_transmission_counts_against_the_limit() {
        let mut link = link_with(&LinkConfig { queue: Some(QueueLimit::Packets(2)), ..config() });
        assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(20)));
        assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(30)));
        assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::QueueFull);
        assert_eq!(send(&mut link, ms(10), &mut packet(TEN_MS)), Verdict::QueueFull);
        assert_eq!(send(&mut link, ms(11), &mut packet(TEN_MS)), Verdict::Arrives(ms(40)));
    }

    #[test]
    fn octet_limit_accepts_packets_that_fit() {
        let mut link = link_with(&LinkConfig { queue: Some(QueueLimit::Bytes(Bytes(1300))), ..config() });
        assert_eq!(send(&mut link, ms(0), &mut packet(TEN_MS)), Verdict::Arrives(ms(20)));
        // 40 octets of header and 10 of payload fill the queue of 1,300 octets exactly.
        assert_eq!(send(&mut link, ms(0), &mut packet(11)), Verdict::QueueFull);
        assert!(matches!(send(&mut link, ms(0), &mut packet(10)), Verdict::Arrives(_)));
    }

    #[test]
    fn long_queue_marks_only_ecn_capable_packets() {
        let mut link = link_with(&LinkConfig { ecn_threshold: Some(QueueLimit::Packets(2)), ..config() });
        let capable = || {
            let segment = Segment {
                payload: TEN_MS,
                ecn: Ecn::Capable,
                ..Segment::new(ConnectionId(0), Direction::Downlink)
            };
            Packet { content: Content::Segment(segment), ..packet(0) }
        };
        let mut marks = Vec::new();
        for (at, mut packet) in
            [(0, capable()), (1, capable()), (2, capable()), (3, packet(TEN_MS)), (60, capable())]
        {
            assert!(matches!(send(&mut link, ms(at), &mut packet), Verdict::Arrives(_)));
            marks.push(packet.segment().expect("a segment").ecn);
        }
        use Ecn::{Capable, Experienced, NotCapable};
        assert_eq!(marks, [Capable, Capable, Experienced, NotCapable, Capable]);
    }

    #[test]
    fn red_keeps_the_queue_shorter_than_drop_tail() {
        let red = RedConfig { w_q: 0.02, mean_packet: Bytes(1250), ..RedConfig::default() };
        // Packets of 10 ms arrive every 9 ms, so a tenth must be dropped. Measured from the 2,000th
        // packet on.
        let longest_and_lost = |red| {
            let queue = Some(QueueLimit::Packets(50));
            let rate = BitRate::from_bps(1_000_000);
            let mut link = link_with(&LinkConfig { rate, queue, red, ..LinkConfig::default() });
            let (mut longest, mut lost) = (0, 0);
            for n in 0..6_000 {
                let verdict = send(&mut link, ms(9 * n), &mut packet(TEN_MS));
                if n >= 2_000 {
                    longest =
                        longest.max(link.transmitter.waiting.as_ref().map_or(0, TransmitQueue::packets));
                    lost += u32::from(verdict == Verdict::QueueFull);
                }
            }
            (longest, lost)
        };
        let (drop_tail_longest, drop_tail_lost) = longest_and_lost(None);
        let (red_longest, red_lost) = longest_and_lost(Some(red));
        assert_eq!(drop_tail_longest, 50);
        assert!(red_longest < 30, "{red_longest}");
        // A tenth of 4,000 packets.
        assert!(
            drop_tail_lost.abs_diff(400) < 10 && red_lost.abs_diff(400) < 30,
            "{drop_tail_lost} {red_lost}"
        );
    }

    #[test]
    fn link_that_is_down_accepts_no_packets() {
        let mut link = link_with(&config());
        assert_eq!(send(&mut link, ms(89), &mut packet(TEN_MS)), Verdict::Arrives(ms(109)));
        assert_eq!(
            [send(&mut link, ms(90), &mut packet(1)), send(&mut link, ms(94), &mut packet(1))],
            [Verdict::Down; 2]
        );
        assert_eq!(send(&mut link, ms(95), &mut packet(TEN_MS)), Verdict::Arrives(ms(119)));
    }

    #[test]
    fn jitter_spreads_the_delay_and_keeps_the_order() {
        let mut link = link_with(&LinkConfig { rate: None, jitter: Duration::from_millis(20), ..config() });
        let mut last_arrival = Time::ZERO;
        let mut spaced = Vec::new();
        for n in 0..2_000 {
            // Packets come in pairs at the same time, 100 ms apart.
            let at = Time::ZERO + Duration::from_secs(1) + Duration::from_millis(100 * (n / 2));
            let Verdict::Arrives(arrives) = send(&mut link, at, &mut packet(0)) else {
                panic!("nothing is lost")
            };
            assert!(arrives >= last_arrival);
            last_arrival = arrives;
            if n % 2 == 0 {
                spaced.push(arrives - at);
            }
        }
        let [min_delay, max_delay] =
            [spaced.iter().min(), spaced.iter().max()].map(|delay| *delay.expect("there are many"));
        assert!(
            min_delay >= Duration::from_millis(10) && min_delay < Duration::from_millis(11),
            "{min_delay}"
        );
        assert!(
            max_delay < Duration::from_millis(30) && max_delay > Duration::from_millis(29),
            "{max_delay}"
        );
    }

    #[test]
    fn losses_have_the_configured_ratio() {
        let loss = Probability::new(0.1).expect("a probability");
        let mut link = link_with(&LinkConfig { loss, ..config() });
        let lost = (0..100_000)
            .filter(|&n| send(&mut link, ms(100 * (n + 1)), &mut packet(0)) == Verdict::Lost)
            .count();
        // The standard deviation is 95.
        assert!((9_500..10_500).contains(&lost), "{lost}");
    }
}
