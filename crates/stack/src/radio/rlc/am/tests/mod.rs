//! Tests of acknowledged mode: exchanges of a test with one entity ([`TestEntity`]), and properties
//! of two entities joined by a lossy pipe (`pair`).
//!
//! In `entity.at(80).receives_status(6, &[2])` the time is 80 ms, and a STATUS with LSN 6 arrives:
//! all PDUs below 6 have arrived except PDU 2. `receives(&data(0, 4, &[sdu(7, 0..=1)]), &[3])` is a
//! block set of PDUs 0 to 4, in which SDU 7 ends, without block 3, which is lost. `sends(10)` returns
//! the PDUs of a TTI of 10 blocks as text ([`describe`]).

mod closed_forms;
mod conversation;
mod discard;
mod memory;
mod pair;
mod poll_sufi;
mod procedures;
mod properties;
mod respect_figures;
mod segmentation;
mod suspension;
mod triggers;
mod two_channels;

use std::ops::RangeInclusive;

use umts_units::{Bytes, Duration, Octets, Time};

use super::*;
use crate::radio::rlc::testing::packet;
use crate::radio::rlc::{
    BlockSet, DataRun, IndexRange, Mrw, Pdu, PduSize, SduDiscard, SduEnd, Sn, SnRun, Status,
};

/// 3GPP formats: 40 octets of payload per PDU with length indicators of one octet, reports sent
/// immediately in PDUs of their own, no discard. Of the polls only those with the last PDU of a
/// buffer and Timer_Poll (170 ms) are configured.
pub(in crate::radio::rlc) fn config() -> RlcConfig {
    RlcConfig {
        piggyback: Piggyback::Off,
        max_dat: None,
        poll_pdu: None,
        timer_poll: Some(Duration::from_millis(170)),
        timer_status_prohibit: None,
        timer_mrw: Duration::from_millis(500),
        max_mrw: None,
        buffer: None,
        ..RlcConfig::default()
    }
}

/// The simplifications of EURANE, an extension of ns-2 for UMTS.
fn eurane() -> RlcConfig {
    RlcConfig {
        header: Header::Uncounted,
        length_indicators: LengthIndicators::Eurane,
        status_format: StatusFormat::Eurane,
        piggyback: Piggyback::BuildAround,
        piggyback_wait: Duration::from_millis(10),
        poll_pdu: Some(256),
        timer_status_prohibit: Some(Duration::from_millis(150)),
        missing_pdu_indication: MissingPduIndication::EveryPdu,
        gap_while_prohibited: GapWhileProhibited::Forgotten,
        mrw_acknowledgment: MrwAcknowledgment::Implicit,
        erroneous_sn: ErroneousSn::Dropped,
        buffer_counts: BufferCounts::Unsent,
        ..config()
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// An entity under test at a time set by the test, with its trace events. The test plays the upper
/// layer and the peer.
struct TestEntity {
    am: AmEntity,
    now: Time,
    trace: Vec<(Time, TraceEvent)>,
}

impl TestEntity {
    fn new(config: RlcConfig) -> Self {
        TestEntity {
            am: AmEntity::new(UeId(0), Direction::Downlink, config),
            now: Time::ZERO,
            trace: Vec::new(),
        }
    }

    fn at(&mut self, milliseconds: u64) -> &mut Self {
        self.now = ms(milliseconds);
        self
    }

    /// The upper layer sends an SDU.
    fn submits(&mut self, id: u64, octets: u32) -> Result<(), BufferFull> {
        let sdu = Sdu::new(packet(id, octets), self.now);
        self.am.handle_sdu(&mut Context::new(self.now, &mut self.trace), &sdu)
    }

    /// PDUs that the entity sends in a TTI of `blocks` blocks, one string per PDU or run of PDUs, as
    /// described by [`describe`].
    fn sends(&mut self, blocks: u32) -> Vec<String> {
        self.sends_set(blocks).pdus.iter().map(describe).collect()
    }

    /// The block set that the entity sends in a TTI of `blocks` blocks.
    fn sends_set(&mut self, blocks: u32) -> BlockSet {
        let mut set = BlockSet::default();
        self.am.poll_transmit(&mut Context::new(self.now, &mut self.trace), blocks, &mut set);
        assert!(set.blocks <= blocks);
        set
    }

    /// Receives a block set without the blocks in `lost`.
    fn receives(&mut self, set: &BlockSet, lost: &[u32]) -> &mut Self {
        let lost = Lost(lost.iter().fold(0, |bits, block| bits | 1 << block));
        self.am.handle_blocks(&mut Context::new(self.now, &mut self.trace), set, lost);
        self
    }

    /// Receives a STATUS: all PDUs below `lsn` have arrived except `missing`.
    fn receives_status(&mut self, lsn: u64, missing: &[u64]) -> &mut Self {
        let runs = missing.iter().map(|&sn| SnRun { first: Sn::of(sn), count: 1 });
        let mut set = BlockSet { missing: runs.collect(), ..BlockSet::default() };
        let range = IndexRange { first: 0, after_last: missing.len() as u16 };
        set.push_status(Status { lsn: Some(Sn::of(lsn)), missing: range, octets: 5, ..Status::default() });
        self.receives(&set, &[])
    }

    /// Receives a PDU other than data.
    fn receives_control(&mut self, pdu: Pdu) -> &mut Self {
        let mut set = BlockSet::default();
        set.push_control(pdu);
        self.receives(&set, &[])
    }

    /// Ids of the delivered SDUs.
    fn delivers(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.am.poll_delivered()).map(|sdu| sdu.packet.id.0).collect()
    }

    /// Ids of the SDUs that the entity has discarded so far.
    fn discarded(&self) -> Vec<u64> {
        let ids = self.trace.iter().filter_map(|(_, event)| match event {
            TraceEvent::SduDiscarded { sdu, .. } => Some(sdu.0),
            _ => None,
        });
        ids.collect()
    }
}

/// Describes a PDU or run. `"3-5 R P"`: data PDUs 3 to 5, retransmitted, the last one polls.
/// `"STATUS MRW 4/1 ack 7"`: MRW with SN_MRW_LENGTH 4 and N_LENGTH 1, and ACK with LSN 7.
fn describe(pdu: &Pdu) -> String {
    match pdu {
        Pdu::Reset(rsn) => format!("RESET {}", u8::from(*rsn)),
        Pdu::ResetAck(rsn) => format!("RESET ACK {}", u8::from(*rsn)),
        Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => {
            let first = run.first.value();
            let mut text = format!("{first}");
            if run.count > 1 {
                text += &format!("-{}", run.first.plus(u64::from(run.count) - 1).value());
            }
            for (set, mark) in
                [(run.retransmission, " R"), (run.poll, " P"), (run.piggyback.is_some(), " +STATUS")]
            {
                if set {
                    text += mark;
                }
            }
            text
        }
        Pdu::Status(status) => {
            let ack = status.lsn.map_or(String::new(), |lsn| format!(" ack {}", lsn.value()));
            let n = |n| if n == 0 { String::new() } else { format!("/{n}") };
            let mrw =
                status.mrw.map_or(String::new(), |mrw| format!(" MRW {}{}", mrw.sn.value(), n(mrw.n_length)));
            let mrw_ack = status
                .mrw_ack
                .map_or(String::new(), |ack| format!(" MRW ACK {}{}", ack.sn.value(), n(ack.n)));
            let window = status.window.map_or(String::new(), |wsn| format!(" window {wsn}"));
            let poll = status.poll.map_or(String::new(), |last| format!(" POLL {}", last.value()));
            format!("STATUS{window}{mrw}{mrw_ack}{poll}{ack}")
        }
    }
}

/// An SDU that the peer sends in the PDUs `first_pdu` to `end_pdu`.
#[derive(Clone, Copy)]
struct PeerSdu {
    id: u64,
    first_pdu: u64,
    end_pdu: u64,
}

/// SDU `id` of the peer, which begins in the first and ends in the last of these PDUs.
fn sdu(id: u64, pdus: RangeInclusive<u64>) -> PeerSdu {
    PeerSdu { id, first_pdu: *pdus.start(), end_pdu: *pdus.end() }
}

/// Data PDUs `first` to `last` without a poll. `ending`: the SDUs that end in them.
fn data(first: u64, last: u64, ending: &[PeerSdu]) -> BlockSet {
    data_run(first, last, false, ending)
}

/// Like [`data`]. The last PDU polls.
fn data_with_poll(first: u64, last: u64, ending: &[PeerSdu]) -> BlockSet {
    data_run(first, last, true, ending)
}

/// Like [`data`]. The last PDU polls if `poll`.
fn data_run(first: u64, last: u64, poll: bool, ending: &[PeerSdu]) -> BlockSet {
    let mut set = BlockSet::default();
    for &PeerSdu { id, first_pdu, end_pdu } in ending {
        let sdu = Sdu::new(packet(id, 40), Time::ZERO);
        set.ends.push(SduEnd { first: Sn::of(first_pdu), sn: Sn::of(end_pdu), sdu });
    }
    set.push_data(DataRun {
        first: Sn::of(first),
        count: (last - first + 1) as u16,
        poll,
        retransmission: false,
        ends: IndexRange { first: 0, after_last: ending.len() as u16 },
        starts: false,
        piggyback: None,
    });
    set
}

/// Sequence numbers of the missing PDUs listed in `set`.
fn missing(set: &BlockSet) -> Vec<u16> {
    let runs = set.missing.iter();
    runs.flat_map(|run| (0..u64::from(run.count)).map(|n| run.first.plus(n).value())).collect()
}
