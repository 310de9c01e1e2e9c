//! Fuzz test of RLC in all modes: two entities with an unreliable pipe between them, and random
//! operations of the upper layers. At the end the pipe is reliable until both entities are idle.
//! Every SDU must then have arrived, once and in order, or (in acknowledged mode) must have been
//! reported as discarded.

use std::sync::Arc;

use umts_stack::Context;
use umts_stack::ids::{Direction, FlowId, PacketId, UeId};
use umts_stack::packet::{Content, Datagram, Packet};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::am::{Arrivals, MaxDatReading, MissingPduIndication, Piggyback, StatusFormat};
use umts_stack::radio::rlc::tm::ErroneousSdus;
use umts_stack::radio::rlc::{BlockSet, PduSize, Rlc, RlcConfig, RlcMode, Sdu, SduDiscard};
use umts_stack::trace::TraceEvent;
use umts_units::{Bytes, Duration, Octets, Time};

use crate::draw::Draw;

const TTI: Duration = Duration::from_millis(10);
/// Number of TTIs in which a reliable pipe delivers everything, even with a window of four PDUs and
/// one window per polling period.
const MAX_DRAIN_TTIS: u64 = 400_000;
/// Delay of the pipe, and the largest additional delay of a set, in TTIs.
const DELAY_TTIS: u64 = 4;
const MAX_EXTRA_DELAY_TTIS: u64 = 11;

/// A packet of `octets` octets.
pub fn packet(id: u64, octets: u32) -> Packet {
    let direction = Direction::Downlink;
    let datagram = Datagram { direction, number: id, payload: octets, header: 0, timestamp: Time::ZERO };
    Packet { id: PacketId(id), flow: FlowId(0), ue: UeId(0), content: Content::Datagram(datagram) }
}

/// A timer of at least `from_ms`, or none.
fn timer(draw: &mut Draw, from_ms: u64) -> Option<Duration> {
    draw.bool().then(|| Duration::from_millis(draw.range(from_ms, 400)))
}

/// A configuration of acknowledged mode with at least one trigger that recovers from any loss:
/// Timer_Poll or Timer_Poll_Periodic. `buffer_octets`: size of the send buffer, unlimited if
/// `None`.
fn any_am(draw: &mut Draw, buffer_octets: Option<u64>) -> RlcConfig {
    let window = draw.of(&[4, 8, 64, 1024, 2047]);
    let arrivals = [Arrivals { pdus: draw.range(0, 12) as u32, tti: TTI }; 2];
    let by_timer_poll = draw.bool();
    let granted_window = if draw.one_in(4) { Some(draw.range(2, 2_047) as u32) } else { None };
    // A poll is needed before the window, or the granted window, closes.
    let max_unpolled = granted_window.unwrap_or(window).min(window).min(32) / 2;
    // If the granted window is smaller, it closes before a poll at a share of the larger window
    // (`poll_window`).
    let by_pdus = granted_window.is_some() || draw.bool();
    let (poll_pdu, poll_window) = if by_pdus { (Some(max_unpolled), None) } else { (None, Some(50)) };
    let (sdu_discard, timer_discard) = match draw.below(4) {
        0 => (SduDiscard::Timer, Some(Duration::from_millis(draw.range(50, 2_000)))),
        1 => (SduDiscard::Never, None),
        _ => (SduDiscard::MaxDat, None),
    };
    RlcConfig {
        pdu_payload: Octets(draw.of(&[16, 40, 160, 123, 124, 125])),
        pdu_size: draw.of(&[PduSize::Fixed, PduSize::Flexible]),
        largest_pdu: Octets(draw.of(&[16, 42, 200, 1503])),
        poll_sufi: draw.bool(),
        status_format: draw.of(&[StatusFormat::Bitmap, StatusFormat::List, StatusFormat::Rlist]),
        piggyback: draw.of(&[Piggyback::Off, Piggyback::Padding]),
        window,
        granted_window,
        in_sequence: !draw.one_in(4),
        sdu_discard,
        timer_discard,
        max_dat: if draw.bool() { Some(draw.range(2, 6) as u32) } else { None },
        max_dat_reading: draw.of(&[MaxDatReading::Transmissions, MaxDatReading::Ts25322]),
        poll_last_pdu: by_timer_poll || draw.bool(),
        // A NACK stops Timer_Poll. The retransmitted PDU must then poll, or its loss is not
        // detected.
        poll_last_retransmitted_pdu: by_timer_poll || draw.bool(),
        poll_pdu: poll_pdu.filter(|_| by_timer_poll),
        poll_sdu: draw.bool().then(|| draw.range(1, 6) as u32),
        poll_window: poll_window.filter(|_| by_timer_poll),
        timer_poll: by_timer_poll.then(|| Duration::from_millis(draw.range(20, 400))),
        timer_poll_prohibit: timer(draw, 10),
        timer_poll_periodic: if by_timer_poll {
            None
        } else {
            Some(Duration::from_millis(draw.range(20, 400)))
        },
        timer_status_prohibit: timer(draw, 10),
        // Reports in every TTI would leave no capacity for data if a TTI has one block.
        timer_status_periodic: timer(draw, 60),
        timer_epc: draw.one_in(3).then(|| Duration::from_millis(draw.range(50, 300))),
        arrivals,
        missing_pdu_indication: draw.of(&[MissingPduIndication::Off, MissingPduIndication::NewGap]),
        send_mrw: draw.bool(),
        max_mrw: if draw.bool() { Some(draw.range(3, 8) as u32) } else { None },
        max_rst: u32::MAX,
        buffer: buffer_octets.map(Bytes),
        ..RlcConfig::default()
    }
}

/// A configuration of unacknowledged mode.
fn any_um(draw: &mut Draw, buffer_octets: Option<u64>) -> RlcConfig {
    RlcConfig {
        mode: RlcMode::Um,
        pdu_payload: Octets(draw.of(&[16, 40, 160, 124])),
        timer_discard: timer(draw, 50),
        buffer: buffer_octets.map(Bytes),
        ..RlcConfig::default()
    }
}

/// A configuration of transparent mode.
fn any_tm(draw: &mut Draw, buffer_octets: Option<u64>) -> RlcConfig {
    RlcConfig {
        mode: RlcMode::Tm,
        pdu_payload: Octets(draw.of(&[16, 40, 160])),
        tm_segmentation: draw.bool(),
        tm_erroneous_sdus: draw.of(&[
            ErroneousSdus::Dropped,
            ErroneousSdus::Marked,
            ErroneousSdus::Undetected,
        ]),
        timer_discard: timer(draw, 50),
        buffer: buffer_octets.map(Bytes),
        ..RlcConfig::default()
    }
}

/// A configuration of any mode, half of them acknowledged.
pub fn any_config(draw: &mut Draw, buffer_octets: Option<u64>) -> Arc<RlcConfig> {
    Arc::new(match draw.below(4) {
        0 => any_um(draw, buffer_octets),
        1 => any_tm(draw, buffer_octets),
        _ => any_am(draw, buffer_octets),
    })
}

/// Checks acknowledged mode: every SDU arrives once, or is discarded if the configuration allows
/// it.
pub fn acknowledged(draw: &mut Draw) {
    let config = any_am(draw, None);
    let in_sequence = config.in_sequence;
    let never_discards = config.max_dat.is_none() && config.sdu_discard != SduDiscard::Timer;
    let bearer = Bearer::exercised(draw, &config.into());
    for from in 0..2 {
        let discarded = bearer.discarded(from);
        let mut delivered = bearer.delivered[from].clone();
        if !in_sequence {
            delivered.sort_unstable();
        }
        assert!(delivered.is_sorted_by(|id, next| id < next), "twice or out of order: {delivered:?}");
        for id in &bearer.queued[from] {
            assert!(delivered.contains(id) || discarded.contains(id), "SDU {id} vanished");
        }
        if never_discards {
            assert_eq!(delivered, bearer.queued[from]);
        }
    }
}

/// Checks unacknowledged mode, in which SDUs may be lost.
pub fn unacknowledged(draw: &mut Draw) {
    let config = any_um(draw, None).into();
    check_without_retransmission(&Bearer::exercised(draw, &config));
}

/// Checks transparent mode, in which SDUs may be lost.
pub fn transparent(draw: &mut Draw) {
    let config = any_tm(draw, None).into();
    check_without_retransmission(&Bearer::exercised(draw, &config));
}

/// Checks a bearer without retransmission: no SDU arrives twice, out of order, without having been
/// queued, or after it was discarded.
fn check_without_retransmission(bearer: &Bearer) {
    for from in 0..2 {
        let (delivered, discarded) = (&bearer.delivered[from], bearer.discarded(from));
        assert!(delivered.is_sorted_by(|id, next| id < next), "twice or out of order: {delivered:?}");
        assert!(delivered.iter().all(|id| bearer.queued[from].contains(id) && !discarded.contains(id)));
    }
}

/// What happens to a block set in the pipe.
#[derive(Debug, Clone, Copy, Default)]
struct Fate {
    lost: Lost,
    /// Delay beyond [`DELAY_TTIS`].
    delay_ttis: u64,
    is_duplicated: bool,
}

/// Two entities and the pipe between them. Arrays are indexed by the sending end.
struct Bearer {
    ends: [Rlc; 2],
    /// Only acknowledged mode accepts a set that arrives twice.
    accepts_duplicates: bool,
    traces: [Vec<(Time, TraceEvent)>; 2],
    /// Block sets on their way: the TTI of arrival, the set, and its lost blocks.
    pipe: [Vec<(u64, BlockSet, Lost)>; 2],
    /// Maximum number of blocks per TTI.
    blocks: [u32; 2],
    tti: u64,
    /// Packet ids of the SDUs that were passed to the entity.
    queued: [Vec<u64>; 2],
    /// Packet ids of the SDUs that arrived at the other end.
    delivered: [Vec<u64>; 2],
}

impl Bearer {
    /// Performs random operations, then waits until both ends are idle.
    fn exercised(draw: &mut Draw, config: &Arc<RlcConfig>) -> Self {
        let blocks = [draw.range(1, 24) as u32, draw.range(1, 6) as u32];
        let ends = [(Direction::Downlink, 0), (Direction::Uplink, 1)];
        // PDUs are encoded as octets in one run of three, if the options have an encoding.
        let in_octets = draw.one_in(3) && Rlc::wired(UeId(0), Direction::Downlink, config, 1).is_ok();
        let entity = |sends, blocks| {
            if in_octets {
                Rlc::wired(UeId(0), sends, config, blocks).expect("the options have an encoding")
            } else {
                Rlc::new(UeId(0), sends, config, blocks)
            }
        };
        let mut bearer = Bearer {
            ends: ends.map(|(sends, end)| entity(sends, blocks[end])),
            accepts_duplicates: config.mode == RlcMode::Am,
            traces: Default::default(),
            pipe: Default::default(),
            blocks,
            tti: 0,
            queued: Default::default(),
            delivered: Default::default(),
        };
        for id in 0..draw.range(1, 200) {
            bearer.operate(draw, id);
        }
        bearer.ends.iter_mut().zip(bearer.blocks).for_each(|(end, blocks)| end.resume(blocks));
        bearer.drain();
        bearer
    }

    /// One random operation at one end: a new SDU, a suspension, a resumption, or a TTI with
    /// losses.
    fn operate(&mut self, draw: &mut Draw, id: u64) {
        let end = draw.below(2) as usize;
        match draw.below(16) {
            0..=3 => {
                let octets = if draw.bool() { draw.range(1, 200) } else { draw.range(1, 2_000) };
                let sdu = Sdu::new(packet(id, octets as u32), self.now());
                let mut cx = Context::new(sdu.entered, &mut self.traces[end]);
                self.ends[end].handle_sdu(&mut cx, &sdu).expect("the buffer has no limit");
                self.queued[end].push(id);
            }
            4 => self.ends[end].suspend(),
            5 => drop(self.ends[end].suspend_after(draw.below(20) as u32)),
            // The transport channel changes, and with it the number of blocks per TTI.
            6 => {
                self.blocks[end] = draw.range(1, 24) as u32;
                self.ends[end].resume(self.blocks[end]);
            }
            _ => {
                let lost_bits = match draw.below(6) {
                    0 => u128::MAX,
                    1 => draw.bits(),
                    2 => draw.sparse_bits(),
                    _ => 0,
                };
                let delay_ttis = if draw.one_in(5) { draw.below(MAX_EXTRA_DELAY_TTIS + 1) } else { 0 };
                let fate = Fate { lost: Lost(lost_bits), delay_ttis, is_duplicated: draw.one_in(10) };
                self.step([fate, if draw.bool() { fate } else { Fate::default() }]);
            }
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + TTI * self.tti
    }

    /// One TTI: arrived sets are delivered, then both ends send. Sets are not reordered.
    fn step(&mut self, fates: [Fate; 2]) {
        let now = self.now();
        for from in 0..2 {
            let due = self.pipe[from].partition_point(|&(at, ..)| at <= self.tti);
            let (to, trace) = (&mut self.ends[1 - from], &mut self.traces[1 - from]);
            for (_, set, lost) in self.pipe[from].drain(..due) {
                to.handle_blocks(&mut Context::new(now, trace), &set, lost);
            }
            self.delivered[from]
                .extend(std::iter::from_fn(|| to.poll_delivered()).map(|sdu| sdu.packet.id.0));
            while to.poll_erroneous().is_some() {}
        }
        for (from, Fate { lost, delay_ttis, is_duplicated }) in fates.into_iter().enumerate() {
            let mut set = BlockSet::default();
            let mut cx = Context::new(now, &mut self.traces[from]);
            self.ends[from].poll_transmit(&mut cx, self.blocks[from], &mut set);
            assert!(set.blocks <= self.blocks[from]);
            assert!(self.ends[from].poll_timeout().is_none_or(|at| at > now), "a deadline in the past");
            let copies = 1 + usize::from(is_duplicated && self.accepts_duplicates);
            let at =
                (self.tti + DELAY_TTIS + delay_ttis).max(self.pipe[from].last().map_or(0, |&(at, ..)| at));
            let lost = Lost(lost.0 & Lost::all(set.blocks).0);
            self.pipe[from].extend(std::iter::repeat_n((at, set, lost), copies));
        }
        self.tti += 1;
    }

    /// Runs with a reliable pipe until the buffers are empty and all sets have arrived.
    fn drain(&mut self) {
        let from = self.tti;
        while self.ends.iter().any(|end| end.buffer_occupancy() > Bytes(0)) {
            assert!(self.tti - from < MAX_DRAIN_TTIS, "undelivered after {MAX_DRAIN_TTIS} TTIs without loss");
            self.step([Fate::default(); 2]);
        }
        for _ in 0..=DELAY_TTIS + MAX_EXTRA_DELAY_TTIS {
            self.step([Fate::default(); 2]);
        }
    }

    /// Packet ids of the SDUs that this end reported as discarded.
    fn discarded(&self, end: usize) -> Vec<u64> {
        let events = self.traces[end].iter();
        let ids = events.filter_map(|(_, event)| match event {
            TraceEvent::SduDiscarded { sdu, .. } => Some(sdu.0),
            _ => None,
        });
        ids.collect()
    }
}
