//! Builds packets and conversations between a client and a server for tests, and analyses them.

use etherparse::{PacketBuilder, TcpOptionElement};
use umts_capture::{Analyser, Analysis, ConnectionRow, LinkType};
use umts_units::Time;

/// The sending end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Client,
    Server,
}

/// A segment to build. Methods like `window` set a field or add an option.
#[derive(Debug, Clone)]
pub struct Packet {
    pub from: End,
    pub seq: u32,
    /// Acknowledgment number. `None`: the segment has no ACK flag.
    pub ack: Option<u32>,
    pub window: u16,
    /// Octets of payload.
    pub payload: usize,
    /// Any of `S` (SYN), `F` (FIN), `R` (RST), `P` (PSH), `U` (URG), `E` (ECE) and `C` (CWR).
    pub flags: &'static str,
    pub options: Vec<TcpOptionElement>,
    /// The client's port.
    pub port: u16,
    /// Identification of the IPv4 header.
    pub identification: u16,
}

/// Initial sequence numbers of the client and of the server.
pub const ISN: [u32; 2] = [1_000, 5_000_000];

impl Packet {
    pub fn new(from: End, flags: &'static str) -> Self {
        Packet {
            from,
            seq: 0,
            ack: None,
            window: 60_000,
            payload: 0,
            flags,
            options: vec![],
            port: 40_000,
            identification: 0,
        }
    }

    pub fn option(mut self, option: TcpOptionElement) -> Self {
        self.options.push(option);
        self
    }

    pub fn timestamps(self, value: u32, echo: u32) -> Self {
        self.option(TcpOptionElement::Timestamp(value, echo))
    }

    /// Adds SACK blocks: the first one, and up to three more.
    pub fn sack(self, first: (u32, u32), more: [Option<(u32, u32)>; 3]) -> Self {
        self.option(TcpOptionElement::SelectiveAcknowledgement(first, more))
    }

    pub fn window(self, window: u16) -> Self {
        Packet { window, ..self }
    }

    /// Returns the segment as an IPv4 packet.
    pub fn ipv4(&self) -> Vec<u8> {
        let (from, to) = match self.from {
            End::Client => ([10, 0, 0, 1], [192, 0, 2, 1]),
            End::Server => ([192, 0, 2, 1], [10, 0, 0, 1]),
        };
        let mut bytes = self.build(PacketBuilder::ipv4(from, to, 64));
        bytes[4..6].copy_from_slice(&self.identification.to_be_bytes());
        bytes
    }

    /// Returns the segment as an IPv6 packet.
    pub fn ipv6(&self) -> Vec<u8> {
        let (mut from, mut to) = ([0x20; 16], [0x30; 16]);
        if self.from == End::Server {
            std::mem::swap(&mut from, &mut to);
        }
        self.build(PacketBuilder::ipv6(from, to, 64))
    }

    /// Builds the frame of this segment above the link and IP headers of `builder`. The server's
    /// port is 80.
    fn build(&self, builder: etherparse::PacketBuilderStep<etherparse::IpHeaders>) -> Vec<u8> {
        let (from, to) = match self.from {
            End::Client => (self.port, 80),
            End::Server => (80, self.port),
        };
        let mut step = builder.tcp(from, to, self.seq, self.window).options(&self.options).unwrap();
        for flag in self.flags.chars() {
            step = match flag {
                'S' => step.syn(),
                'F' => step.fin(),
                'R' => step.rst(),
                'P' => step.psh(),
                'U' => step.urg(0),
                'E' => step.ece(),
                'C' => step.cwr(),
                other => panic!("no flag {other}"),
            };
        }
        if let Some(ack) = self.ack {
            step = step.ack(ack);
        }
        let payload = vec![0; self.payload];
        let mut bytes = Vec::new();
        step.write(&mut bytes, &payload).unwrap();
        bytes
    }
}

/// A conversation between the client and the server, which a test writes packet by packet. Sequence
/// numbers are relative to the initial ones, times are in milliseconds.
pub struct Conversation {
    pub analyser: Analyser,
    pub isn: [u32; 2],
    pub packets: Vec<(u64, Packet)>,
}

impl Conversation {
    pub fn new() -> Self {
        Conversation::with_isn(ISN)
    }

    pub fn with_isn(isn: [u32; 2]) -> Self {
        Conversation { analyser: Analyser::new().with_time_sequence(0), isn, packets: vec![] }
    }

    /// A conversation that begins with a [`handshake`](Self::handshake) without further options.
    pub fn with_handshake() -> Self {
        let mut conversation = Conversation::new();
        conversation.handshake(&[]);
        conversation
    }

    /// Adds SYN, SYN+ACK and ACK as captured at the server, with an MSS of 1000 octets and these
    /// options. The client is 100 ms away.
    pub fn handshake(&mut self, options: &[TcpOptionElement]) {
        let mss = TcpOptionElement::MaximumSegmentSize(1000);
        for (at, from, ack) in [(0, End::Client, None), (0, End::Server, Some(1))] {
            let mut syn = Packet::new(from, "S").option(mss.clone());
            options.iter().for_each(|option| syn.options.push(option.clone()));
            self.add(at, 0, ack, syn);
        }
        self.add(100, 1, Some(1), Packet::new(End::Client, ""));
    }

    /// Adds a packet. `seq` and `ack` are relative.
    pub fn add(&mut self, at_ms: u64, seq: u32, ack: Option<u32>, packet: Packet) {
        let (own, other) = match packet.from {
            End::Client => (self.isn[0], self.isn[1]),
            End::Server => (self.isn[1], self.isn[0]),
        };
        let seq = own.wrapping_add(seq);
        let ack = ack.map(|ack| other.wrapping_add(ack));
        let options = packet.options.iter().map(|option| match option {
            TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                let absolute = |(a, b): (u32, u32)| (other.wrapping_add(a), other.wrapping_add(b));
                TcpOptionElement::SelectiveAcknowledgement(absolute(*first), more.map(|b| b.map(absolute)))
            }
            option => option.clone(),
        });
        let packet = Packet { seq, ack, options: options.collect(), ..packet };
        let bytes = packet.ipv4();
        self.analyser.packet(ms(at_ms), LinkType::Raw, &bytes, bytes.len() as u32);
        self.packets.push((at_ms, packet));
    }

    /// The server sends a full segment of 1000 octets. Segments are numbered from 0.
    pub fn data(&mut self, at_ms: u64, number: u32) -> &mut Self {
        let packet = Packet { payload: 1000, ..Packet::new(End::Server, "") };
        self.add(at_ms, 1 + 1000 * number, Some(1), packet);
        self
    }

    /// The server sends its first `count` segments at once.
    pub fn flight(&mut self, at_ms: u64, count: u32) -> &mut Self {
        for number in 0..count {
            self.data(at_ms, number);
        }
        self
    }

    /// The client acknowledges the first `number` segments.
    pub fn ack(&mut self, at_ms: u64, number: u32) -> &mut Self {
        self.add(at_ms, 1, Some(1 + 1000 * number), Packet::new(End::Client, ""));
        self
    }

    /// The client acknowledges the first `number` segments, and segments `from..to` selectively.
    pub fn sack(&mut self, at_ms: u64, number: u32, from: u32, to: u32) -> &mut Self {
        let packet = Packet::new(End::Client, "").sack((1 + 1000 * from, 1 + 1000 * to), [None; 3]);
        self.add(at_ms, 1, Some(1 + 1000 * number), packet);
        self
    }

    pub fn analysis(self) -> Analysis {
        self.analyser.finish()
    }

    /// Returns the row of the only connection.
    pub fn row(self) -> ConnectionRow {
        let mut analysis = self.analysis();
        assert_eq!(analysis.connections.len(), 1);
        analysis.connections.remove(0)
    }
}

/// Returns the time this number of milliseconds after the beginning of all captures.
pub fn ms(at: u64) -> Time {
    Time::from_nanos(1_700_000_000_000_000_000 + at * 1_000_000)
}

/// Returns the value of a metric. Panics if it has none.
pub fn value(row: &ConnectionRow, name: &str) -> f64 {
    row.metrics.value(name).unwrap_or_else(|| panic!("{name} has no value"))
}

/// Panics unless each metric has the given value.
#[track_caller]
pub fn expect(row: &ConnectionRow, values: &[(&str, f64)]) {
    for &(name, expected) in values {
        let actual = value(row, name);
        assert!((actual - expected).abs() < 1e-9, "{name} is {actual}, not {expected}");
    }
}
