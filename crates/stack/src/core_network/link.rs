//! A link: store and forward at a rate, a delay, a queue (drop-tail, or RED before it), random loss.

use std::collections::VecDeque;

use umts_kernel::random::{Stream, Streams};
use umts_units::{BitRate, Bytes, Duration, Time};

use super::delay::{Delays, InternetDelay};
use super::queue::{QueueLimit, Waiting};
use super::red::{Choice, Red, RedConfig};
use crate::ids::Direction;
use crate::packet::{Content, Packet};

/// What a link is like.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkConfig {
    /// `None`: packets take no time to send.
    pub rate: Option<BitRate>,
    /// Propagation, one way.
    pub delay: Duration,
    /// Up to so much is added to the delay of each packet, uniformly; packets keep their order.
    pub jitter: Duration,
    /// `None`: no packet is dropped for lack of room.
    pub queue: Option<QueueLimit>,
    /// A packet that finds so much in front of it is marked, if its sender allows (RFC 3168).
    pub mark_from: Option<QueueLimit>,
    /// Random early detection in front of the queue; needs a rate.
    pub red: Option<RedConfig>,
    /// Whether all flows share the link, or each has one of its own; `None`: each, where it is the first of the chain.
    pub shared: Option<bool>,
    /// Delays as the Internet has them.
    pub internet_delay: Option<InternetDelay>,
    /// Probability that a packet is lost on the way.
    pub loss: f64,
    /// Another one for packets to the user, and for those from it.
    pub loss_by_direction: [Option<f64>; 2],
    /// When the link is down.
    pub outages: Vec<Outage>,
}

impl LinkConfig {
    /// Whether packets in this direction may come out before others that entered earlier.
    pub fn reorders(&self, direction: Direction) -> bool {
        self.internet_delay
            .is_some_and(|internet| !internet.keeps_order && internet.direction.contains(direction))
    }
}

/// A link is down from `from` until just before `to`: it takes no packet; what is on the way arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// It goes down.
    pub from: Time,
    /// It is up again.
    pub to: Time,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It comes out of the link at this instant.
    Arrives(Time),
    /// The queue has no room, or RED has chosen the packet.
    QueueFull,
    /// It gets lost on the way, after it has taken its time on the link.
    Lost,
    /// The link is down.
    Down,
}

/// One direction of a link.
#[derive(Debug, Clone)]
pub struct Link {
    more: Option<Box<More>>,
    transmitter: Transmitter,
    on_the_way: VecDeque<Packet>,
}

/// What all links have: a rate, a delay and a queue, if only of no length.
#[derive(Debug, Clone)]
struct Transmitter {
    /// When it has sent what it was given.
    free_at: Time,
    delay: Duration,
    rate: Option<BitRate>,
    /// Packets that wait or are being sent. Kept only if somebody asks how long the queue is.
    waiting: Option<Waiting>,
}

/// What a link may have beside a rate, a delay and a queue.
#[derive(Debug, Clone)]
struct More {
    outages: Vec<Outage>,
    red: Option<Red>,
    mark_from: Option<QueueLimit>,
    loss: f64,
    losses: Stream,
    jitter: Duration,
    jitters: Stream,
    internet: Option<Internet>,
    /// When the last packet on the way arrives: none overtakes it.
    arrives_last: Time,
}

/// The delays of the Internet behind the transmitter.
#[derive(Debug, Clone)]
struct Internet {
    delays: Delays,
    keeps_order: bool,
    /// What the last packet took.
    took: Duration,
    /// Where packets may overtake each other: when those on the way come out.
    arrivals: VecDeque<Time>,
}

impl More {
    /// What `config` says of this direction beside a rate, a delay and a queue, if it does.
    fn new(config: &LinkConfig, direction: Direction, streams: &Streams, name: &str) -> Option<Self> {
        let internet = config.internet_delay.filter(|delay| delay.direction.contains(direction));
        let internet = internet.map(|delay| Internet {
            delays: Delays::new(delay, streams.stream(&format!("{name}/internet_delay"))),
            keeps_order: delay.keeps_order,
            took: Duration::ZERO,
            arrivals: VecDeque::new(),
        });
        let loss = config.loss_by_direction[direction.index()].unwrap_or(config.loss);
        let LinkConfig { jitter, mark_from, red, outages, .. } = config;
        let is_plain = jitter.is_zero() && mark_from.is_none() && red.is_none() && outages.is_empty();
        (!is_plain || loss != 0.0 || internet.is_some()).then(|| More {
            outages: outages.clone(),
            red: red.map(|red| Red::new(red, streams.addressed(&format!("{name}/red")))),
            mark_from: *mark_from,
            loss,
            losses: streams.stream(name),
            jitter: *jitter,
            jitters: streams.stream(&format!("{name}/jitter")),
            internet,
            arrives_last: Time::ZERO,
        })
    }

    /// What becomes of a packet of `size` that enters at `now`, with a transmitter as of all links.
    #[inline(never)]
    fn send(&mut self, of: &mut Transmitter, now: Time, size: Bytes, packet: &mut Packet) -> Verdict {
        if self.outages.iter().any(|outage| (outage.from..outage.to).contains(&now)) {
            return Verdict::Down;
        }
        if !self.passes_red(of, now, packet) {
            return Verdict::QueueFull;
        }
        let marks = self.marks(of, now);
        let Some(out) = of.transmit(now, size) else { return Verdict::QueueFull };
        if marks {
            packet.mark();
        }
        if self.loss > 0.0 && self.losses.uniform() < self.loss {
            return Verdict::Lost;
        }
        Verdict::Arrives(self.arrival(out))
    }

    /// Whether RED lets a packet go on, marked perhaps.
    fn passes_red(&mut self, of: &mut Transmitter, now: Time, packet: &mut Packet) -> bool {
        let (Some(red), Some(waiting), Some(rate)) = (&mut self.red, &mut of.waiting, of.rate) else {
            return true;
        };
        waiting.forget_what_is_through(now);
        match red.choose(now, waiting.packets(), waiting.octets(), of.free_at, rate) {
            Choice::Pass => true,
            Choice::Mark => packet.mark(),
            Choice::Drop => false,
        }
    }

    /// Whether a packet that comes now finds the queue so long that it is marked.
    fn marks(&self, of: &mut Transmitter, now: Time) -> bool {
        let (Some(waiting), Some(from)) = (&mut of.waiting, self.mark_from) else { return false };
        waiting.forget_what_is_through(now);
        from.is_reached(waiting.packets(), waiting.octets())
    }

    /// When what would arrive at `at` arrives.
    fn arrival(&mut self, at: Time) -> Time {
        if let Some(internet) = &mut self.internet {
            let out = at + internet.delays.draw(at);
            let out = if internet.keeps_order { self.arrives_last.max(out) } else { out };
            internet.took = out - at;
            self.arrives_last = out;
            return out;
        }
        if self.jitter == Duration::ZERO {
            return at;
        }
        let added = self.jitters.uniform() * self.jitter.as_nanos() as f64;
        self.arrives_last = self.arrives_last.max(at + Duration::from_nanos(added as u64));
        self.arrives_last
    }
}

impl Transmitter {
    /// It takes a packet, if there is room: when that comes out.
    #[inline]
    fn transmit(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let sending = self.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(size));
        let free_at = self.free_at.max(now) + sending;
        if !self.waiting.as_mut().is_none_or(|waiting| waiting.take(now, free_at, size)) {
            return None;
        }
        self.free_at = free_at;
        Some(free_at + self.delay)
    }
}

impl Link {
    /// One direction of a link, which nothing has crossed yet, with draws of its own by its `name`.
    pub fn new(config: &LinkConfig, direction: Direction, streams: &Streams, name: &str) -> Self {
        let is_asked_for = config.queue.is_some() || config.mark_from.is_some() || config.red.is_some();
        Link {
            more: More::new(config, direction, streams, name).map(Box::new),
            transmitter: Transmitter {
                free_at: Time::ZERO,
                delay: config.delay,
                rate: config.rate,
                waiting: is_asked_for.then(|| Waiting::new(config.queue)),
            },
            on_the_way: VecDeque::new(),
        }
    }

    /// What becomes of a packet of `size` that enters at `now`; it may be marked. Packets enter in the order of their times.
    #[inline]
    pub fn send(&mut self, now: Time, size: Bytes, packet: &mut Packet) -> Verdict {
        if let Some(more) = &mut self.more {
            return more.send(&mut self.transmitter, now, size, packet);
        }
        self.transmitter.transmit(now, size).map_or(Verdict::QueueFull, Verdict::Arrives)
    }

    /// The delays of the Internet, if it has any.
    #[inline]
    fn internet(&mut self) -> Option<&mut Internet> {
        self.more.as_mut()?.internet.as_mut()
    }

    /// How long the last packet took because of the Internet, if that is on its way.
    #[inline]
    pub fn internet_delay(&mut self) -> Option<Duration> {
        self.internet().map(|internet| internet.took)
    }

    /// Keeps a packet until it comes out, at `until`.
    #[inline]
    pub fn keep(&mut self, packet: &Packet, until: Time) {
        let place = self.internet().and_then(|internet| internet.place_of(until));
        match place {
            None => self.on_the_way.push_back(*packet),
            Some(place) => self.on_the_way.insert(place, *packet),
        }
    }

    /// Whether the packet that comes out next is one of a real program.
    pub fn brings_foreign(&self) -> bool {
        self.on_the_way.front().is_some_and(is_foreign)
    }

    /// Whether packets of real programs are on the way.
    pub fn has_foreign(&self) -> bool {
        self.on_the_way.iter().any(is_foreign)
    }

    /// The packet that comes out now: the first of those on the way.
    #[inline]
    pub fn arrive(&mut self) -> Packet {
        if let Some(internet) = self.internet() {
            internet.arrivals.pop_front();
        }
        self.on_the_way.pop_front().expect("every packet on its way was kept")
    }
}

impl Internet {
    /// Where packets may overtake each other: the place among those on the way of one that comes out at `until`, behind those that
    /// come out at that instant and entered earlier.
    fn place_of(&mut self, until: Time) -> Option<usize> {
        if self.keeps_order {
            return None;
        }
        let place = self.arrivals.partition_point(|arrival| *arrival <= until);
        self.arrivals.insert(place, until);
        Some(place)
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

    fn packet(payload: u32) -> Packet {
        let segment = Segment { payload, ..Segment::new(ConnectionId(0), Direction::Downlink) };
        Packet { id: PacketId(0), flow: FlowId(0), ue: UeId(0), content: Content::Segment(segment) }
    }

    fn config() -> LinkConfig {
        let rate = BitRate::from_bps(1_000_000);
        let outages = vec![Outage { from: ms(90), to: ms(95) }];
        LinkConfig { rate, delay: Duration::from_millis(10), outages, ..LinkConfig::default() }
    }

    fn link_as(config: &LinkConfig) -> Link {
        Link::new(config, Direction::Downlink, &Streams::new(1, 0), "link")
    }

    fn link(queue: Option<QueueLimit>, loss: f64) -> Link {
        link_as(&LinkConfig { queue, loss, ..config() })
    }

    fn send(link: &mut Link, now: Time, packet: &mut Packet) -> Verdict {
        link.send(now, packet.size(), packet)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn packets_queue_behind_each_other() {
        let mut link = link(None, 0.0);
        // 1,250 octets take 10 ms at 1 Mbit/s.
        assert_eq!(send(&mut link, ms(0), &mut packet(1210)), Verdict::Arrives(ms(20)));
        assert_eq!(send(&mut link, ms(1), &mut packet(1210)), Verdict::Arrives(ms(30)));
        assert_eq!(send(&mut link, ms(50), &mut packet(1210)), Verdict::Arrives(ms(70)));
    }

    #[test]
    fn the_packet_in_transmission_takes_a_place() {
        let mut link = link(Some(QueueLimit::Packets(2)), 0.0);
        assert_eq!(send(&mut link, ms(0), &mut packet(1210)), Verdict::Arrives(ms(20)));
        assert_eq!(send(&mut link, ms(0), &mut packet(1210)), Verdict::Arrives(ms(30)));
        assert_eq!(send(&mut link, ms(0), &mut packet(1210)), Verdict::QueueFull);
        assert_eq!(send(&mut link, ms(10), &mut packet(1210)), Verdict::QueueFull);
        assert_eq!(send(&mut link, ms(11), &mut packet(1210)), Verdict::Arrives(ms(40)));
    }

    #[test]
    fn a_queue_in_octets_takes_what_fits() {
        let mut link = link(Some(QueueLimit::Bytes(Bytes(1300))), 0.0);
        assert_eq!(send(&mut link, ms(0), &mut packet(1210)), Verdict::Arrives(ms(20)));
        assert_eq!(send(&mut link, ms(0), &mut packet(11)), Verdict::QueueFull);
        assert!(matches!(send(&mut link, ms(0), &mut packet(10)), Verdict::Arrives(_)));
    }

    #[test]
    fn a_long_queue_marks_what_may_be_marked() {
        let mut link = link_as(&LinkConfig { mark_from: Some(QueueLimit::Packets(2)), ..config() });
        let capable = || {
            let segment = Segment {
                payload: 1210,
                ecn: Ecn::Capable,
                ..Segment::new(ConnectionId(0), Direction::Downlink)
            };
            Packet { content: Content::Segment(segment), ..packet(0) }
        };
        let mut marks = Vec::new();
        for (at, mut packet) in
            [(0, capable()), (1, capable()), (2, capable()), (3, packet(1210)), (60, capable())]
        {
            assert!(matches!(send(&mut link, ms(at), &mut packet), Verdict::Arrives(_)));
            marks.push(packet.segment().expect("a segment").ecn);
        }
        use Ecn::{Capable, Experienced, NotCapable};
        assert_eq!(marks, [Capable, Capable, Experienced, NotCapable, Capable]);
    }

    #[test]
    fn red_keeps_the_queue_short_where_drop_tail_lets_it_fill() {
        let red = RedConfig {
            min_thresh: 5.0,
            max_thresh: 15.0,
            in_octets: false,
            max_p: 0.1,
            w_q: 0.02,
            gentle: true,
            ecn: false,
            mean_packet: Bytes(1250),
        };
        // Packets of 10 ms come every 9 ms: a tenth of them must go. Queues after every packet from the 2,000th on.
        let longest_and_lost = |red| {
            let queue = Some(QueueLimit::Packets(50));
            let rate = BitRate::from_bps(1_000_000);
            let mut link = link_as(&LinkConfig { rate, queue, red, ..LinkConfig::default() });
            let (mut longest, mut lost) = (0, 0);
            for n in 0..6_000 {
                let verdict = send(&mut link, ms(9 * n), &mut packet(1210));
                if n >= 2_000 {
                    longest = longest.max(link.transmitter.waiting.as_ref().map_or(0, Waiting::packets));
                    lost += u32::from(verdict == Verdict::QueueFull);
                }
            }
            (longest, lost)
        };
        let ((tail_longest, tail_lost), (longest, lost)) =
            (longest_and_lost(None), longest_and_lost(Some(red)));
        assert_eq!(tail_longest, 50);
        assert!(longest < 30, "{longest}");
        assert!(tail_lost.abs_diff(400) < 10 && lost.abs_diff(400) < 30, "{tail_lost} {lost}");
    }

    #[test]
    fn a_link_that_is_down_takes_nothing() {
        let mut link = link(None, 0.0);
        assert_eq!(send(&mut link, ms(89), &mut packet(1210)), Verdict::Arrives(ms(109)));
        assert_eq!(
            [send(&mut link, ms(90), &mut packet(1)), send(&mut link, ms(94), &mut packet(1))],
            [Verdict::Down; 2]
        );
        assert_eq!(send(&mut link, ms(95), &mut packet(1210)), Verdict::Arrives(ms(119)));
    }

    #[test]
    fn jitter_spreads_the_delay_and_keeps_the_order() {
        let mut link = link_as(&LinkConfig { rate: None, jitter: Duration::from_millis(20), ..config() });
        let mut last = Time::ZERO;
        let mut spaced = Vec::new();
        for n in 0..2_000 {
            // Every other packet follows the one before at once, the rest are far apart.
            let at = Time::ZERO + Duration::from_secs(1) + Duration::from_millis(100 * (n / 2));
            let Verdict::Arrives(arrives) = send(&mut link, at, &mut packet(0)) else {
                panic!("nothing is lost")
            };
            assert!(arrives >= last);
            last = arrives;
            if n % 2 == 0 {
                spaced.push(arrives - at);
            }
        }
        let [least, most] =
            [spaced.iter().min(), spaced.iter().max()].map(|delay| *delay.expect("there are many"));
        assert!(least >= Duration::from_millis(10) && least < Duration::from_millis(11), "{least}");
        assert!(most < Duration::from_millis(30) && most > Duration::from_millis(29), "{most}");
    }

    #[test]
    fn losses_have_their_ratio() {
        let mut link = link(None, 0.1);
        let lost = (0..100_000)
            .filter(|&n| send(&mut link, ms(100 * (n + 1)), &mut packet(0)) == Verdict::Lost)
            .count();
        // One standard deviation is 95.
        assert!((9_500..10_500).contains(&lost), "{lost}");
    }
}
