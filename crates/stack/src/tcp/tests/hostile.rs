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
    flags: Flags,
    numbers: Numbers,
    payload: u32,
    window: u32,
    blocks: Vec<AnyBlock>,
    timestamps: Option<AnyTimestamps>,
}

/// Sequence number and acknowledgment number of a segment.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    Near {
        /// Offset of the sequence number from the next one that the end expects.
        seq_offset: i64,
        /// Offset of the acknowledgment number from the end's oldest unacknowledged one.
        ack_offset: i64,
    },
    Absolute {
        seq: u32,
        ack: u32,
    },
}

/// A SACK block.
#[derive(Debug, Clone, Copy)]
struct AnyBlock {
    /// Offset of its start from the acknowledgment number.
    start_offset: i64,
    length: u64,
}

/// The timestamps option.
#[derive(Debug, Clone, Copy)]
struct AnyTimestamps {
    timestamp_ms: u64,
    echo_ms: u64,
}

/// In two of three cases only ACK is set.
fn any_flags() -> impl Strategy<Value = Flags> {
    let only_ack = Flags { ack: true, ..Flags::default() };
    let any_combination = any::<u8>().prop_map(|bits| {
        let bit = |n: u8| bits >> n & 1 == 1;
        Flags {
            syn: bit(0),
            ack: bit(1),
            fin: bit(2),
            // Two bits, so that a RST, which ends the connection, is rarer than other flags.
            rst: bit(3) && bit(4),
            ece: bit(5),
            cwr: bit(6),
            psh: bit(7),
        }
    });
    prop_oneof![6 => Just(only_ack), 3 => any_combination]
}

/// In one of twenty cases the numbers are arbitrary.
fn any_numbers() -> impl Strategy<Value = Numbers> {
    let seq_offset = prop_oneof![4 => Just(0i64), 2 => -3i64..3, 2 => -5000i64..90_000];
    let ack_offset =
        prop_oneof![2 => Just(0i64), 2 => (0i64..12).prop_map(|n| 1000 * n), 1 => -9000i64..30_000];
    let near = (seq_offset, ack_offset)
        .prop_map(|(seq_offset, ack_offset)| Numbers::Near { seq_offset, ack_offset });
    let absolute = any::<(u32, u32)>().prop_map(|(seq, ack)| Numbers::Absolute { seq, ack });
    prop_oneof![19 => near, 1 => absolute]
}

fn any_segment() -> impl Strategy<Value = AnySegment> {
    let payload = prop_oneof![3 => Just(0u32), 2 => Just(MSS), 1 => 1u32..3000];
    let window = prop_oneof![4 => Just(60_000u32), 1 => Just(0u32), 1 => 0u32..100_000];
    let block =
        (-3000i64..20_000, 1u64..5000).prop_map(|(start_offset, length)| AnyBlock { start_offset, length });
    let blocks = proptest::collection::vec(block, 0..4);
    let timestamps = (0u64..20_000, 0u64..20_000)
        .prop_map(|(timestamp_ms, echo_ms)| AnyTimestamps { timestamp_ms, echo_ms });
    (any_flags(), any_numbers(), payload, window, blocks, proptest::option::of(timestamps)).prop_map(
        |(flags, numbers, payload, window, blocks, timestamps)| AnySegment {
            flags,
            numbers,
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
    /// The arriving segment for the current state of the connection.
    fn segment(&self, arriving: &AnySegment) -> Segment {
        let (seq, ack) = self.resolve(arriving.numbers);
        let blocks = arriving.blocks.iter().map(|block| {
            let start = ack.saturating_add_signed(block.start_offset);
            (start, start + block.length)
        });
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let no_timestamps = AnyTimestamps { timestamp_ms: 0, echo_ms: 0 };
        let AnyTimestamps { timestamp_ms, echo_ms } = arriving.timestamps.unwrap_or(no_timestamps);
        let is_syn = arriving.flags.syn;
        Segment {
            flags: arriving.flags,
            seq,
            ack,
            payload: if is_syn { 0 } else { arriving.payload },
            window: arriving.window,
            mss: 1000,
            sack: SackBlocks::new(ack, blocks),
            options: Options {
                sack_permitted: is_syn,
                timestamps: arriving.timestamps.is_some(),
                ..Options::default()
            },
            timestamp: at(timestamp_ms),
            // An echo from the future is impossible.
            echo: at(echo_ms).min(self.now),
            ..Segment::new(ConnectionId(0), End::Ue.sends())
        }
    }

    /// The sequence number and the acknowledgment number.
    fn resolve(&self, numbers: Numbers) -> (u64, u64) {
        match numbers {
            Numbers::Absolute { seq, ack } => (seq.into(), ack.into()),
            Numbers::Near { seq_offset, ack_offset } => {
                let next = self.end.receiver.next();
                let una = self.end.sender.outstanding.una();
                (next.saturating_add_signed(seq_offset), una.saturating_add_signed(ack_offset))
            }
        }
    }

    /// Calls the end. Then takes all its segments, and counts the bytes that it delivers.
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

    /// Takes a step, if the application may take it now.
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

    /// Handles all timeouts up to `until`.
    fn wait_until(&mut self, until: Time) {
        while let Some(at) = self.end.poll_timeout().filter(|&at| at <= until) {
            assert!(at > self.now, "a timer stays due");
            self.now = at;
            self.call(|end, cx| end.handle_timeout(cx));
        }
        self.now = until;
    }

    /// Checks the invariants after a step. `una_before`: SND.UNA before it.
    fn check_invariants(&self, una_before: u64) -> Result<(), TestCaseError> {
        let outstanding = &self.end.sender.outstanding;
        prop_assert!(outstanding.una() <= outstanding.max_sent());
        // A passive end that was reset in SYN-RECEIVED starts again.
        let starts_again = self.end.state() == State::Listen;
        prop_assert!(outstanding.una() >= una_before || starts_again);
        // The FIN follows the written data.
        prop_assert!(outstanding.max_sent() <= self.end.sender.written.saturating_add(1));
        // Received in order are the SYN, the delivered bytes, and perhaps the FIN.
        let receiver = &self.end.receiver;
        let received = receiver.next().saturating_sub(1 + u64::from(receiver.is_finished()));
        prop_assert_eq!(self.delivered, received);
        let (cwnd, ssthresh) = (self.end.cwnd(), self.end.ssthresh());
        prop_assert!(cwnd.is_finite() && cwnd > 0.0 && ssthresh > 0.0, "{cwnd} {ssthresh}");
        Ok(())
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
        if opens_first {
            driver.act(&Step::Open);
        }
        let mut una_before = 0;
        for step in &steps {
            driver.act(step);
            driver.check_invariants(una_before)?;
            una_before = driver.end.sender.outstanding.una();
        }
    }
}
