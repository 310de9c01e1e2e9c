//! One end of a connection under arbitrary segments, also ones that no correct TCP would send. The
//! end must not panic and must keep its invariants: sequence numbers advance, bytes are delivered
//! once and in order, and no timer stays due.

use proptest::prelude::*;
use umts_kernel::NoTrace;
use umts_units::{Duration, Time};

use super::pair::{MSS, config};
use crate::context::Context;
use crate::ids::{ConnectionId, End, FlowId, PacketId, UeId};
use crate::packet::{Flags, Options, SackBlocks, Segment};
use crate::tcp::{Connection, RtoRule, State, TcpConfig, TcpEvent, Variant, WindowSize};

/// A limit above the number of segments that one event can release.
const MAX_SEGMENTS: usize = 100_000;

/// An event at the end of the connection.
#[derive(Debug, Clone)]
enum Step {
    Open,
    Write(u64),
    Close,
    /// Time passes, in ms. Timers expire.
    Wait(u64),
    Arrive(AnySegment),
}

/// A segment with numbers near the connection's, or with arbitrary ones.
#[derive(Debug, Clone)]
struct AnySegment {
    /// One bit for each flag, see [`Driver::segment`].
    flags: u8,
    /// Offset of the sequence number from the next one that the end expects.
    seq_offset: i64,
    /// Offset of the acknowledgment number from the end's oldest unacknowledged sequence number.
    ack_offset: i64,
    /// Sequence number and acknowledgment number to use instead of those that the offsets give.
    absolute: Option<(u32, u32)>,
    payload: u32,
    window: u32,
    /// SACK blocks: offset of the start from the acknowledgment number, and length.
    blocks: Vec<(i64, i64)>,
    /// Timestamp and echo, in ms.
    timestamps: Option<(u64, u64)>,
}

fn any_segment() -> impl Strategy<Value = AnySegment> {
    let seq_offset = prop_oneof![4 => Just(0i64), 2 => -3i64..3, 2 => -5000i64..90_000];
    let ack_offset =
        prop_oneof![2 => Just(0i64), 2 => (0i64..12).prop_map(|n| 1000 * n), 1 => -9000i64..30_000];
    let absolute = proptest::option::weighted(0.05, any::<(u32, u32)>());
    let payload = prop_oneof![3 => Just(0u32), 2 => Just(MSS), 1 => 1u32..3000];
    let window = prop_oneof![4 => Just(60_000u32), 1 => Just(0u32), 1 => 0u32..100_000];
    let blocks = proptest::collection::vec((-3000i64..20_000, 1i64..5000), 0..4);
    let timestamps = proptest::option::of((0u64..20_000, 0u64..20_000));
    // In two of three cases only the ACK flag (bit 1) is set.
    let flags = prop_oneof![6 => Just(0b00_0010u8), 3 => any::<u8>()];
    (flags, seq_offset, ack_offset, absolute, payload, window, blocks, timestamps).prop_map(
        |(flags, seq_offset, ack_offset, absolute, payload, window, blocks, timestamps)| AnySegment {
            flags,
            seq_offset,
            ack_offset,
            absolute,
            payload,
            window,
            blocks,
            timestamps,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Open),
        2 => (1u64..20_000).prop_map(Step::Write),
        1 => Just(Step::Close),
        3 => (1u64..2000).prop_map(Step::Wait),
        12 => any_segment().prop_map(Step::Arrive),
    ]
}

fn any_config() -> impl Strategy<Value = TcpConfig> {
    let variants =
        [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Fack, Variant::Cubic, Variant::Bbr];
    (0..variants.len(), any::<[bool; 12]>(), 1u32..20).prop_map(move |(variant, switches, initial_window)| {
        let [
            sack,
            timestamps,
            rack,
            probes,
            prr,
            lost_retransmissions,
            eifel,
            frto,
            dsack_undo,
            abc_and_validation,
            ecn,
            has_linux_timer,
        ] = switches;
        let mut config = TcpConfig {
            initial_window: WindowSize::Segments(initial_window),
            sack,
            sack_blocks: if sack { 3 } else { 1 },
            timestamps,
            rack,
            tail_loss_probes: rack && probes,
            prr,
            lost_retransmissions,
            eifel,
            frto,
            dsack_undo,
            window_validation: abc_and_validation,
            abc: abc_and_validation,
            ecn,
            ..config(variants[variant])
        };
        config.rto_rule = if has_linux_timer { RtoRule::Linux } else { RtoRule::Rfc6298 };
        config
    })
}

/// One end of a connection, and the bytes that it has delivered.
struct Driver {
    end: Connection,
    now: Time,
    delivered: u64,
}

impl Driver {
    /// The arriving segment with sequence numbers near the ones that the connection expects, or
    /// with the absolute ones.
    fn segment(&self, arriving: &AnySegment) -> Segment {
        let bit = |n: u8| arriving.flags >> n & 1 == 1;
        let (next, una) = (self.end.receiver.next(), self.end.sender.outstanding.una());
        let (mut seq, mut ack) =
            (next.saturating_add_signed(arriving.seq_offset), una.saturating_add_signed(arriving.ack_offset));
        if let Some((any_seq, any_ack)) = arriving.absolute {
            (seq, ack) = (any_seq.into(), any_ack.into());
        }
        let blocks = arriving.blocks.iter().map(|&(from, length)| {
            let from = ack.saturating_add_signed(from);
            (from, from + length.unsigned_abs())
        });
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let (timestamp, echo) = arriving.timestamps.unwrap_or_default();
        Segment {
            flags: Flags {
                syn: bit(0),
                ack: bit(1),
                fin: bit(2),
                // Two bits, so that a RST, which ends the connection, is rarer than other flags.
                rst: bit(3) && bit(4),
                ece: bit(5),
                cwr: bit(6),
                psh: bit(7),
            },
            seq,
            ack,
            payload: if bit(0) { 0 } else { arriving.payload },
            window: arriving.window,
            mss: 1000,
            sack: SackBlocks::new(ack, blocks),
            options: Options {
                sack_permitted: bit(0),
                timestamps: arriving.timestamps.is_some(),
                ..Options::default()
            },
            timestamp: at(timestamp),
            echo: at(echo).min(self.now),
            ..Segment::new(ConnectionId(0), End::Ue.sends())
        }
    }

    fn call(&mut self, action: impl FnOnce(&mut Connection, &mut Context<'_, NoTrace>)) {
        let mut sink = NoTrace;
        let mut cx = Context::new(self.now, &mut sink);
        action(&mut self.end, &mut cx);
        let mut segment = Segment::new(ConnectionId(0), End::Server.sends());
        let mut sent = 0;
        while self.end.poll_transmit(&mut cx, &mut segment).is_some() {
            sent += 1;
            assert!(sent < MAX_SEGMENTS, "segments are sent without end");
        }
        while let Some(event) = self.end.poll_event() {
            if let TcpEvent::Delivered(bytes) = event {
                self.delivered += bytes;
            }
        }
    }

    fn act(&mut self, step: &Step) {
        match step {
            Step::Open if self.end.state() == State::Listen => self.call(|end, cx| end.handle_open(cx)),
            Step::Write(bytes) if !self.end.sender.close_requested => {
                self.call(|end, cx| end.handle_write(cx, *bytes));
            }
            Step::Close => self.call(|end, cx| end.handle_close(cx)),
            Step::Wait(ms) => self.wait_until(self.now + Duration::from_millis(*ms)),
            Step::Arrive(arriving) => {
                let packet = self.end.packet(PacketId(0), self.segment(arriving));
                self.call(|end, cx| end.handle_packet(cx, &packet));
            }
            Step::Open | Step::Write(_) => {}
        }
    }

    fn wait_until(&mut self, until: Time) {
        while let Some(at) = self.end.poll_timeout().filter(|&at| at <= until) {
            assert!(at > self.now, "a timer stays due");
            self.now = at;
            self.call(|end, cx| end.handle_timeout(cx));
        }
        self.now = until;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn arbitrary_segments_keep_the_invariants(
        config in any_config(),
        opens_first in any::<bool>(),
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let end = Connection::new(ConnectionId(0), FlowId(0), UeId(0), End::Server, config);
        let mut driver = Driver { end, now: Time::ZERO, delivered: 0 };
        let mut una = 0;
        if opens_first {
            driver.act(&Step::Open);
        }
        for step in &steps {
            driver.act(step);
            let outstanding = &driver.end.sender.outstanding;
            prop_assert!(outstanding.una() <= outstanding.max_sent());
            // A passive end that was reset in SYN-RECEIVED starts again.
            prop_assert!(outstanding.una() >= una || driver.end.state() == State::Listen);
            una = outstanding.una();
            prop_assert!(outstanding.max_sent() <= driver.end.sender.written.saturating_add(1));
            let receiver = &driver.end.receiver;
            let received = receiver.next().saturating_sub(1 + u64::from(receiver.is_finished()));
            prop_assert_eq!(driver.delivered, received);
            let (cwnd, ssthresh) = (driver.end.cwnd(), driver.end.ssthresh());
            prop_assert!(cwnd.is_finite() && cwnd > 0.0 && ssthresh > 0.0, "{cwnd} {ssthresh}");
        }
    }
}
