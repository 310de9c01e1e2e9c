//! All connections of a capture: finds the one that a packet belongs to, and lets go of those that are over.

mod crowd;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use umts_units::{Duration, Time};

use crate::analyser::crowd::Crowd;
use crate::clock::BusyClock;
use crate::connection::{Connection, Position, Side};
use crate::ends::Ends;
use crate::link::LinkType;
use crate::metrics::MetricSet;
use crate::packet::{Packet, Skipped, parse};
use crate::table::Table;
use crate::timeseq::{TimeSequence, TimeSequenceTables, Watched};
use crate::totals::Totals;

/// A closed connection is kept for what comes late: twice the longest life of a segment, as Linux has it.
const LINGER: Duration = Duration::from_secs(120);
/// So is one that never got beyond its SYN: longer than a sender repeats that.
const HALF_OPEN: Duration = Duration::from_secs(300);
/// The year 2262, as libpcap's nanoseconds have it: a file that says more is wrong, and sums of times must fit.
const LATEST: Time = Time::from_nanos(i64::MAX as u64);
/// Pairs of hosts without a connection whose last closing is remembered.
const MOST_PAIRS: usize = 1 << 16;

/// Rows that are handed over at a time in the end.
const ROWS_AT_ONCE: usize = 4096;

/// Two hosts, and the server's port.
type Pair = (IpAddr, IpAddr, u16);

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionRow {
    /// Its number: connections are counted from 0 in the order of their first packets, as tshark does.
    pub connection: u64,
    /// The end that opened it, as far as the capture tells.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Whose data the row is about, that of more payload: `client` or `server`.
    pub sender: &'static str,
    /// Where the capture was taken, seen from that sender.
    pub position: Position,
    /// First packet, in seconds since the capture's first one.
    pub opened_s: f64,
    /// FIN of both ends acknowledged, or RST; none if neither was seen.
    pub closed_s: Option<f64>,
    /// `finished`, `reset` or `open`.
    pub ended: &'static str,
    /// Maximum segment size that the receiver of the data announced.
    pub mss: Option<u32>,
    /// Shift of the windows that the receiver of the data announces; zero without the option.
    pub window_scale: Option<u8>,
    /// Whether both ends permit selective acknowledgments.
    pub sack_permitted: Option<bool>,
    /// Whether both ends sent timestamps in their SYNs.
    pub timestamps: Option<bool>,
    /// Its metrics.
    pub metrics: MetricSet,
}

/// Connections that have no rows of their own, since there are more than were asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// How many.
    pub connections: u64,
    /// Of all of them together.
    pub metrics: MetricSet,
}

/// What was captured besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All packets.
    pub packets: u64,
    /// Their octets on the link.
    pub bytes: u64,
    /// Packets that TCP metrics are made of.
    pub tcp: u64,
    /// Of a link type that is not read here.
    pub unknown_link: u64,
    /// Not IP.
    pub not_ip: u64,
    /// Parts of IP packets.
    pub fragments: u64,
    /// IP, but not TCP.
    pub not_tcp: u64,
    /// Cut off or wrong before the end of TCP's fixed header.
    pub unreadable: u64,
    /// Captured twice.
    pub captured_twice: u64,
    /// With an earlier time than the packet before; they count as of that packet's time.
    pub out_of_time: u64,
}

/// A capture, analysed.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// All connections together.
    pub metrics: MetricSet,
    /// Rows that were not taken before, in the order in which connections closed; open ones last, in that of their
    /// numbers.
    pub connections: Vec<ConnectionRow>,
    /// How many connections there were.
    pub connection_count: u64,
    /// Those that have no rows.
    pub rest: Option<Rest>,
    /// What was captured.
    pub counts: Counts,
    /// The first packet, since 1970.
    pub first: Option<Time>,
    /// The last packet.
    pub last: Option<Time>,
    /// What to look at before the numbers are trusted.
    pub warnings: Vec<String>,
    /// The connections that were asked for, in time.
    pub time_sequences: Vec<TimeSequenceTables>,
}

/// TCP metrics of a capture, packet by packet: no files, no clock.
///
/// Memory is bounded by the connections that are open at one time, if rows are taken with
/// [`take_finished`](Analyser::take_finished), and in any case by [`with_limit`](Analyser::with_limit). Of those that nobody
/// answered, the latest are kept; a warning tells of the others.
#[derive(Debug, Default)]
pub struct Analyser {
    open: Table,
    /// When to look whether a connection is over: sorted, since all wait equally long.
    closing: VecDeque<(Time, Ends, u64)>,
    opening: VecDeque<(Time, Ends, u64)>,
    crowd: Crowd,
    rest: Totals,
    pairs: HashMap<Pair, Idle>,
    idle_pairs: VecDeque<(Pair, Time)>,
    next: u64,
    together: BusyClock,
    totals: Totals,
    finished: Vec<ConnectionRow>,
    counts: Counts,
    first: Option<Time>,
    now: Time,
    watched: Watched,
}

#[derive(Debug, Clone, Copy, Default)]
struct Idle {
    open: u64,
    since: Option<Time>,
}

impl Analyser {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Analyser::default()
    }

    /// Also collects the course of the connection with this number.
    pub fn with_time_sequence(self, connection: u64) -> Self {
        Analyser {
            watched: Watched::One(Box::new(TimeSequence::new(connection))),
            ..self.with_row_of(connection)
        }
    }

    /// Also collects the course of every connection.
    pub(crate) fn with_all_time_sequences(self) -> Self {
        Analyser { watched: Watched::All(BTreeMap::new(), Vec::new()), ..self }
    }

    /// Takes in a packet: `bytes` of it were captured at `time` since 1970, of `original_length` octets on the link.
    /// Nothing in it is trusted; what cannot be read is counted.
    pub fn packet(&mut self, time: Time, link: LinkType, bytes: &[u8], original_length: u32) {
        let mut packet = Packet::default();
        let read = parse(link, bytes, original_length, &mut packet);
        self.read(time, original_length, read, &packet);
    }

    /// What the packet that is read next holds of payload: its beginning is kept of connections whose course is.
    pub(crate) fn show(&mut self, payload: &[u8]) {
        self.watched.show(payload);
    }

    /// Takes in a packet that was read, with what came of that.
    pub(crate) fn read(
        &mut self,
        time: Time,
        original_length: u32,
        read: Result<(), Skipped>,
        packet: &Packet,
    ) {
        self.counts.packets += 1;
        self.counts.bytes += u64::from(original_length);
        let time = time.min(LATEST);
        self.first.get_or_insert(time);
        self.counts.out_of_time += u64::from(time < self.now);
        self.now = self.now.max(time);
        match read {
            Ok(()) => self.segment(packet),
            Err(Skipped::LinkType) => self.counts.unknown_link += 1,
            Err(Skipped::NotIp) => self.counts.not_ip += 1,
            Err(Skipped::Fragment) => self.counts.fragments += 1,
            Err(Skipped::NotTcp) => self.counts.not_tcp += 1,
            Err(Skipped::Short) => self.counts.unreadable += 1,
        }
    }

    /// Takes the rows of connections that are over.
    pub fn take_finished(&mut self) -> Vec<ConnectionRow> {
        std::mem::take(&mut self.finished)
    }

    /// How many rows there are to take.
    pub fn finished(&self) -> usize {
        self.finished.len()
    }

    /// Closes what is open, and adds up.
    pub fn finish(self) -> Analysis {
        let mut rows = Vec::new();
        let analysis = self.finish_with(&mut |mut some| rows.append(&mut some));
        Analysis { connections: rows, ..analysis }
    }

    /// The same; the rows go to `taken`, some at a time.
    pub fn finish_with(mut self, taken: &mut dyn FnMut(Vec<ConnectionRow>)) -> Analysis {
        for connection in self.open.take_all() {
            self.fold(connection);
            if self.finished.len() >= ROWS_AT_ONCE {
                taken(self.take_finished());
            }
        }
        taken(self.take_finished());
        self.totals.window = self.window();
        self.totals.active_union = u128::from(self.together.total().as_nanos());
        Analysis {
            metrics: MetricSet::of(&self.totals),
            warnings: self.warnings(),
            connections: Vec::new(),
            connection_count: self.next,
            rest: self.rest(),
            counts: self.counts,
            first: self.first,
            last: self.first.map(|_| self.now),
            time_sequences: self.watched.finish(),
        }
    }

    fn segment(&mut self, packet: &Packet) {
        self.counts.tcp += 1;
        self.let_go();
        let slot = self.connection_of(packet);
        let connection = self.open.at(slot);
        let number = connection.number;
        let was_closed = connection.closed.is_some();
        let watcher = self.watched.of(number, self.first);
        if !connection.packet(self.now, packet, watcher, &mut self.together) {
            self.counts.captured_twice += 1;
            return;
        }
        if !was_closed && connection.closed.is_some() {
            let pair = pair(connection);
            self.closing.push_back((self.now + LINGER, packet.ends, number));
            self.pair_closed_at(pair, self.now);
        }
    }

    /// The place of the connection that the packet belongs to, or begins.
    fn connection_of(&mut self, packet: &Packet) -> usize {
        let found = self.open.find(&packet.ends);
        if let Some(slot) = found {
            // Only a SYN can end a connection.
            if !packet.segment.flags.syn() || !self.open.at(slot).is_succeeded_by(packet) {
                return slot;
            }
            let over = self.open.remove(&packet.ends).expect("it was found");
            self.fold(over);
        }
        self.begin(packet)
    }

    /// Lets go of connections that closed, or never opened, long enough ago.
    fn let_go(&mut self) {
        while let Some((_, key, number)) = pop_due(&mut self.closing, self.now) {
            self.let_go_of(key, number, |connection, now| {
                let quiet_since = connection.last + LINGER;
                (quiet_since > now).then_some(quiet_since)
            });
        }
        while let Some((_, key, number)) = pop_due(&mut self.opening, self.now) {
            let is_half_open = self.open.get(&key).is_some_and(|connection| {
                connection.number == number
                    && connection.is_one_sided()
                    && connection.last + HALF_OPEN <= self.now
            });
            if is_half_open && let Some(over) = self.open.remove(&key) {
                self.fold(over);
            }
        }
    }

    fn let_go_of(&mut self, key: Ends, number: u64, later: impl Fn(&Connection, Time) -> Option<Time>) {
        let Some(connection) = self.open.get(&key).filter(|connection| connection.number == number) else {
            return;
        };
        match later(connection, self.now) {
            Some(time) => self.closing.push_back((time.max(self.now), key, number)),
            None => {
                if let Some(over) = self.open.remove(&key) {
                    self.fold(over);
                }
            }
        }
    }

    /// Adds a connection to the sums and writes its row.
    fn fold(&mut self, mut connection: Box<Connection>) {
        let mut totals = connection.close(self.now, &mut self.together);
        if connection.closed.is_none() {
            let pair = pair(&connection);
            self.pair_closed_at(pair, connection.last);
        }
        self.totals.add(&totals);
        if self.crowd.has_row(connection.number) {
            totals.window = self.window();
            self.finished.push(self.row(&connection, &totals));
        } else {
            self.rest.add(&totals);
        }
    }

    fn row(&self, connection: &Connection, totals: &Totals) -> ConnectionRow {
        let sender = connection.sender();
        let receiver = connection.options(sender.other());
        let both = [Side::Client, Side::Server].map(|side| connection.options(side));
        let timestamps = both[0].zip(both[1]).map(|(a, b)| a.timestamps.is_some() && b.timestamps.is_some());
        let since_first = |time: Time| time.saturating_since(self.first.unwrap_or(time)).as_secs();
        ConnectionRow {
            connection: connection.number,
            client: connection.address(Side::Client),
            server: connection.address(Side::Server),
            sender: if sender == Side::Client { "client" } else { "server" },
            position: connection.position(),
            opened_s: since_first(connection.first),
            closed_s: connection.closed.map(since_first),
            ended: match (connection.reset, connection.closed) {
                (true, _) => "reset",
                (false, Some(_)) => "finished",
                (false, None) => "open",
            },
            mss: receiver.and_then(|options| options.mss).map(u32::from),
            window_scale: connection.window_scale(sender.other()),
            sack_permitted: connection.is_sack_permitted(),
            timestamps,
            metrics: MetricSet::of(totals),
        }
    }

    fn window(&self) -> Duration {
        self.first.map_or(Duration::ZERO, |first| self.now.saturating_since(first))
    }

    fn pair_closed_at(&mut self, pair: Pair, at: Time) {
        let Some(idle) = self.pairs.get_mut(&pair) else { return };
        idle.open = idle.open.saturating_sub(1);
        if idle.open > 0 {
            return;
        }
        idle.since = Some(at);
        self.idle_pairs.push_back((pair, at));
        if self.idle_pairs.len() > MOST_PAIRS
            && let Some((oldest, since)) = self.idle_pairs.pop_front()
            && self.pairs.get(&oldest).is_some_and(|idle| idle.since == Some(since))
        {
            self.pairs.remove(&oldest);
        }
    }

    fn warnings(&self) -> Vec<String> {
        let Counts { packets, tcp, unknown_link, fragments, unreadable, captured_twice, out_of_time, .. } =
            self.counts;
        [
            (unknown_link, "packets are of a link type that is not read here"),
            (fragments, "packets are IP fragments, and were left out"),
            (unreadable, "packets are cut off or wrong before the end of TCP's header, and were left out"),
            (captured_twice, "packets were captured twice, and count once"),
            (
                self.crowd.one_sided,
                "connections of which one end was heard only were let go of early, since there were too many at a \
                 time: what came of them later counts as another connection",
            ),
            (
                self.crowd.open,
                "connections were let go of while they were open, the quietest first, since there were too many at a \
                 time: what came of them later counts as another connection",
            ),
            (
                self.rest.connections,
                "connections have no rows of their own, since there are too many: they are summed in one row",
            ),
            (out_of_time, "packets have earlier times than those before them, and count as of the same time"),
            (u64::from(packets > 0 && tcp == 0) * packets, "packets, and no TCP among them"),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect()
    }
}

/// One more connection of a pair; tells how long there was none.
fn pair_opened(pairs: &mut HashMap<Pair, Idle>, pair: Pair, now: Time) -> Duration {
    let idle = pairs.entry(pair).or_default();
    idle.open += 1;
    idle.since.take().map_or(Duration::ZERO, |since| now.saturating_since(since))
}

fn pair(connection: &Connection) -> Pair {
    let server = connection.address(Side::Server);
    (connection.address(Side::Client).ip(), server.ip(), server.port())
}

fn pop_due(queue: &mut VecDeque<(Time, Ends, u64)>, now: Time) -> Option<(Time, Ends, u64)> {
    if queue.front().is_none_or(|(due, ..)| *due > now) { None } else { queue.pop_front() }
}
