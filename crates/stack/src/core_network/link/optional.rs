//! The optional parts of a link: outages, RED, marking of packets, random loss, jitter, and
//! Internet delay. A packet passes them in this order, with the transmission between marking and
//! loss. A link without any of them has no [`OptionalParts`], which saves time.

use umts_kernel::random::{Stream, Streams};
use umts_units::{Bytes, Duration, Time};

use super::{LinkConfig, Outage, QueueAction, Transmitter, Verdict};
use crate::aqm::{Choice, QueueLimit, Red};
use crate::core_network::delay::Delays;
use crate::ids::Direction;
use crate::packet::Packet;

/// Optional parts of one direction of a link.
#[derive(Debug, Clone)]
pub(super) struct OptionalParts {
    outages: Vec<Outage>,
    red: Option<Red>,
    /// Action of RED on the last packet.
    pub red_action: Option<QueueAction>,
    /// Queue length from which packets are marked.
    ecn_threshold: Option<QueueLimit>,
    /// Probability of a random loss.
    pub loss: f64,
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
    /// Returns `None` if `config` has no optional part for this direction. The names of the random
    /// streams begin with `name`.
    pub fn new(config: &LinkConfig, direction: Direction, streams: &Streams, name: &str) -> Option<Self> {
        let LinkConfig { jitter, ecn_threshold, red, outage, .. } = config;
        let loss = config.loss(direction);
        let internet_delay = config.internet_delay.filter(|delay| delay.direction.contains(direction));
        let is_plain = outage.is_empty()
            && red.is_none()
            && ecn_threshold.is_none()
            && loss == 0.0
            && jitter.is_zero()
            && internet_delay.is_none();
        if is_plain {
            return None;
        }
        Some(OptionalParts {
            outages: outage.clone(),
            red: red.map(|red| Red::new(red, streams.addressed(&format!("{name}/red")))),
            red_action: None,
            ecn_threshold: *ecn_threshold,
            loss,
            loss_draws: streams.stream(name),
            jitter: *jitter,
            jitter_draws: streams.stream(&format!("{name}/jitter")),
            internet: internet_delay.map(|delay| Internet {
                delays: Delays::new(delay, streams.stream(&format!("{name}/internet_delay"))),
                last_delay: Duration::ZERO,
            }),
            last_arrival: Time::ZERO,
        })
    }

    /// Sends a packet of `size` at `now` through `transmitter`.
    #[inline(never)]
    pub fn send(
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

    /// Whether `now` is within an outage.
    pub fn is_down(&self, now: Time) -> bool {
        let since_start = now - Time::ZERO;
        self.outages.iter().any(|outage| (outage.from..outage.to).contains(&since_start))
    }

    /// Whether RED accepts a packet, possibly with a mark. RED needs a rate and a counted queue.
    fn passes_red(&mut self, transmitter: &mut Transmitter, now: Time, packet: &mut Packet) -> bool {
        let Some(red) = &mut self.red else { return true };
        let (Some(waiting), Some(rate)) = (&mut transmitter.waiting, transmitter.rate) else { return true };
        waiting.remove_finished(now);
        let choice = red.choose(now, waiting.packets(), waiting.octets(), transmitter.free_at, rate);
        self.red_action = match choice {
            Choice::Pass => None,
            Choice::Mark if packet.mark() => Some(QueueAction::Marked),
            // A packet that is not ECN-capable cannot be marked.
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

    /// Decides whether a packet that would arrive at `at` is lost, and otherwise when it arrives.
    pub fn lose_or_delay(&mut self, at: Time) -> Verdict {
        if self.loss > 0.0 && self.loss_draws.uniform() < self.loss {
            return Verdict::Lost;
        }
        Verdict::Arrives(self.arrival(at))
    }

    /// Arrival time with Internet delay or jitter of a packet that would arrive at `at`. A link
    /// with Internet delay has no jitter. Packets keep their order.
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
        let added_ns = self.jitter_draws.uniform() * self.jitter.as_nanos() as f64;
        self.last_arrival = self.last_arrival.max(at + Duration::from_nanos(added_ns as u64));
        self.last_arrival
    }

    /// Internet delay of the last packet, if this direction has Internet delays.
    #[inline]
    pub fn internet_delay(&self) -> Option<Duration> {
        self.internet.as_ref().map(|internet| internet.last_delay)
    }
}
