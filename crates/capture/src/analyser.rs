//! All connections of a capture: finds the one that a packet belongs to, and lets go of those that are over.

mod crowd;
mod tunnels;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use umts_units::{Duration, Time};

use crate::analyser::crowd::Crowd;
use crate::clock::BusyClock;
use crate::connection::{Connection, Position, Side, Taken};
use crate::copies::{Recent, digest_of_segment};
use crate::courses::{Course, Courses};
use crate::ends::Ends;
use crate::headers::parse;
use crate::link::LinkType;
use crate::metrics::MetricSet;
use crate::packet::{Packet, PassedOver, Protocol, Skipped};
use crate::table::Table;
use crate::timeseq::{TimeSequence, TimeSequenceTables, Watched};
use crate::totals::Totals;
use crate::udp::{UdpFlowRow, UdpFlows, UdpRest, unread_tunnel};

/// A closed connection is kept for what comes late: twice the longest life of a segment, as Linux has it.
const LINGER: Duration = Duration::from_secs(120);
/// So is one that never got beyond its SYN: longer than a sender repeats that.
const HALF_OPEN: Duration = Duration::from_secs(300);
/// The year 2262, as libpcap's nanoseconds have it: a file that says more is wrong, and sums of times must fit.
const LATEST: Time = Time::from_nanos(i64::MAX as u64);
/// Pairs of hosts without a connection whose last closing is remembered.
const MOST_PAIRS: usize = 1 << 16;

/// Kinds of packets without TCP and UDP that are told apart.
const MOST_KINDS: usize = 64;

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
    /// TEIDs of the GTP-U tunnels in which the packets of client and server were last.
    pub teid: [Option<u32>; 2],
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
    /// Of these, datagrams of UDP.
    pub udp: u64,
    /// Cut off or wrong before the end of the fixed header of TCP or UDP.
    pub unreadable: u64,
    /// In more tunnels, one in another, than are read.
    pub too_deep: u64,
    /// With a header that promises more octets than the frame had on the link; as many as the frame had are counted.
    pub beyond_frame: u64,
    /// Captured twice.
    pub captured_twice: u64,
    /// With an acknowledgment or a reset that cannot be one of the connection.
    pub not_believed: u64,
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
    /// The courses that were asked for.
    pub courses: Vec<Course>,
    /// UDP flows, in the order of their first packets.
    pub udp_flows: Vec<UdpFlowRow>,
    /// UDP flows that have no rows.
    pub udp_rest: UdpRest,
    /// Packets that are neither TCP nor UDP, by what they are.
    pub passed_over: BTreeMap<String, u64>,
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
    recent: Recent,
    udp: UdpFlows,
    passed_over: BTreeMap<PassedOver, u64>,
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

    /// Also collects every connection in time.
    pub(crate) fn with_all_time_sequences(self) -> Self {
        Analyser { watched: Watched::All(BTreeMap::new()), ..self }
    }

    /// Also collects the courses of the first connections.
    pub(crate) fn with_courses(self, connections: usize) -> Self {
        Analyser { watched: Watched::Courses(Box::new(Courses::new(connections))), ..self }
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
        read: Result<Protocol, Skipped>,
        packet: &Packet,
    ) {
        self.counts.packets += 1;
        self.counts.bytes += u64::from(original_length);
        let time = time.min(LATEST);
        self.first.get_or_insert(time);
        self.counts.out_of_time += u64::from(time < self.now);
        self.now = self.now.max(time);
        match read {
            Ok(Protocol::Tcp) => self.segment(packet),
            Ok(Protocol::Udp) => self.datagram(packet),
            Err(skipped) => self.skipped(skipped),
        }
    }

    fn skipped(&mut self, skipped: Skipped) {
        let (count, what) = match skipped {
            Skipped::LinkType => (&mut self.counts.unknown_link, None),
            Skipped::NotIp(what) => (&mut self.counts.not_ip, Some(what)),
            Skipped::Fragment => (&mut self.counts.fragments, None),
            Skipped::NotTcp(what) => (&mut self.counts.not_tcp, Some(what)),
            Skipped::Short => (&mut self.counts.unreadable, None),
            Skipped::TooDeep => (&mut self.counts.too_deep, None),
        };
        *count += 1;
        if let Some(what) = what {
            self.pass_over(what);
        }
    }

    fn pass_over(&mut self, what: PassedOver) {
        if self.passed_over.len() < MOST_KINDS || self.passed_over.contains_key(&what) {
            *self.passed_over.entry(what).or_default() += 1;
        }
    }

    fn datagram(&mut self, packet: &Packet) {
        self.counts.not_tcp += 1;
        self.counts.udp += 1;
        self.counts.beyond_frame += u64::from(packet.exceeds_frame);
        if !self.udp.datagram(self.now, packet) {
            self.counts.captured_twice += 1;
        } else if let Some(tunnel) = unread_tunnel(packet) {
            self.pass_over(tunnel);
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
        let (rest, warnings) = (self.rest(), self.warnings());
        let (time_sequences, courses) = self.watched.finish();
        Analysis {
            metrics: MetricSet::of(&self.totals),
            warnings,
            connections: Vec::new(),
            connection_count: self.next,
            rest,
            counts: self.counts,
            first: self.first,
            last: self.first.map(|_| self.now),
            udp_flows: self.udp.rows(self.first.unwrap_or_default()),
            udp_rest: self.udp.rest,
            passed_over: self.passed_over.iter().map(|(what, count)| (what.name().into(), *count)).collect(),
            time_sequences,
            courses,
        }
    }

    fn segment(&mut self, packet: &Packet) {
        self.counts.tcp += 1;
        self.counts.beyond_frame += u64::from(packet.exceeds_frame);
        self.let_go();
        let digest = digest_of_segment(packet);
        let age = self.recent.age(self.now, digest);
        let slot = self.connection_of(packet, age.is_some());
        if age.is_some_and(|age| self.is_copy(slot, packet, digest, age)) {
            self.counts.captured_twice += 1;
            return;
        }
        let connection = self.open.at(slot);
        let number = connection.number;
        let was_closed = connection.closed.is_some();
        let watcher = self.watched.of(number, self.first);
        let taken = connection.packet(self.now, packet, watcher, &mut self.together);
        self.counts.not_believed += u64::from(taken == Taken::NotBelieved);
        if !was_closed && connection.closed.is_some() {
            let pair = pair(connection);
            self.closing.push_back((self.now + LINGER, connection.ends, number));
            self.pair_closed_at(pair, self.now);
        }
    }

    /// Whether a packet is the second copy of an equal one that came `age` earlier.
    #[cold]
    fn is_copy(&mut self, slot: usize, packet: &Packet, digest: u64, age: Duration) -> bool {
        let segment = &packet.segment;
        if !self.open.at(slot).is_copy(age, segment) {
            self.recent.renew(self.now, digest);
            return false;
        }
        // Of acknowledgments without identification each one has one copy: more may be duplicates.
        if segment.identification == 0 && segment.sequence_length() == 0 {
            self.recent.forget(digest);
        }
        true
    }

    /// The place of the connection that the packet belongs to, or begins.
    fn connection_of(&mut self, packet: &Packet, is_copy: bool) -> usize {
        match self.open.find(&packet.ends) {
            Some(slot) if self.open.at(slot).is_in_tunnel_of(packet) => self.or_successor(slot, packet),
            None if packet.teid.is_none() => self.begin(packet),
            _ => {
                let packet = Packet { ends: self.ends_in_tunnel(packet, is_copy), ..*packet };
                match self.open.find(&packet.ends) {
                    Some(slot) => self.or_successor(slot, &packet),
                    None => self.begin(&packet),
                }
            }
        }
    }

    /// The place of this connection, or of one that the packet begins between the same ends.
    fn or_successor(&mut self, slot: usize, packet: &Packet) -> usize {
        // Only a SYN can end a connection.
        if !packet.segment.flags.syn() || !self.open.at(slot).is_succeeded_by(packet) {
            return slot;
        }
        let over = self.open.remove(&packet.ends).expect("it was found");
        self.fold(over);
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
            teid: connection.teid,
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
        let counts = &self.counts;
        let without_tcp = if counts.tcp == 0 { counts.packets } else { 0 };
        let general = [
            (counts.unknown_link, "packets are of a link type that is not read here"),
            (counts.fragments, "packets are IP fragments, and were left out"),
            (
                counts.unreadable,
                "packets are cut off or wrong before the end of the header of TCP or UDP, and were left out",
            ),
            (counts.too_deep, "packets have more headers in each other than are read, and were left out"),
            (
                counts.beyond_frame,
                "packets have headers that promise more octets than their frames had: only those of the frame count",
            ),
            (counts.captured_twice, "packets were captured twice, and count once"),
            (
                counts.not_believed,
                "segments acknowledge or reset what their connection cannot have sent, and were not believed",
            ),
            (
                self.totals.untold,
                "segments filled holes more than 3 ms late and count as sent again; without timestamps they cannot be \
                 told from first copies that were overtaken",
            ),
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
            (
                self.udp.rest.packets,
                "datagrams are of UDP flows that have no rows of their own, since there are too many",
            ),
            (
                self.watched.thinned(),
                "connections have courses of which steps were left out, since there were too many: delays are less exact",
            ),
            (
                counts.out_of_time,
                "packets have earlier times than those before them, and count as of the same time",
            ),
            (without_tcp, "packets, and no TCP among them"),
        ];
        let unread = self.passed_over.iter().filter(|(what, _)| what.may_carry_tcp());
        let unread = unread.map(|(what, number)| {
            format!("{number} packets are {}, whose contents are not read here", what.name())
        });
        general
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .chain(unread)
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
