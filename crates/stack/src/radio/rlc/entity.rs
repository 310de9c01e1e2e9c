//! An RLC entity of any mode (TS 25.322), the interface of RLC for the RNC and the UE. It takes IP
//! packets (SDUs) from the upper layer, fills the block set of each TTI with PDUs, and delivers the
//! SDUs of the block sets that arrive from its peer.

use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::am::{AmEntity, BufferFull};
use super::octets::{NoEncoding, Wired};
use super::tm::{ErroneousSdu, TmEntity};
use super::um::UmEntity;
use super::{Backlog, BlockSet, RlcConfig, RlcMode, Sdu, Sn, WaitingSdu};
use crate::Context;
use crate::aqm::Aqm;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;

/// One end of a bearer. After any `handle_*`, call [`Rlc::poll_delivered`] and
/// [`Rlc::poll_erroneous`] until they return `None`. While [`Rlc::has_work`] returns true, call
/// [`Rlc::poll_transmit`] at the next TTI. Otherwise nothing is to be done until
/// [`Rlc::poll_timeout`].
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all entities are `Am`, the largest variant")]
// A separate tag: every call reads it, and a tag that the compiler encodes in a field of `AmEntity`
// takes longer to read.
#[repr(u8)]
pub enum Rlc {
    /// Acknowledged.
    Am(AmEntity),
    /// Unacknowledged.
    Um(UmEntity),
    /// Transparent.
    Tm(TmEntity),
    /// An entity of any mode in wire mode: it exchanges octets with its peer.
    Wired(Box<Wired>),
}

/// Evaluates the first expression for an entity that exchanges descriptions of PDUs, in any of the
/// three modes, and the second expression for an entity in wire mode.
macro_rules! in_any_mode {
    ($rlc:expr, $entity:ident => $call:expr, $wired:ident => $wired_call:expr) => {
        match $rlc {
            Rlc::Am($entity) => $call,
            Rlc::Um($entity) => $call,
            Rlc::Tm($entity) => $call,
            Rlc::Wired($wired) => $wired_call,
        }
    };
}

impl Rlc {
    /// An entity of `ue`'s bearer that sends in direction `sends`, on a channel with `blocks`
    /// blocks per TTI.
    pub fn new(ue: UeId, sends: Direction, config: &Arc<RlcConfig>, blocks: u32) -> Self {
        match config.mode {
            RlcMode::Am => Rlc::Am(AmEntity::new(ue, sends, config.clone())),
            RlcMode::Um => Rlc::Um(UmEntity::new(ue, sends, config)),
            RlcMode::Tm => Rlc::Tm(TmEntity::new(ue, sends, config, blocks)),
        }
    }

    /// An entity in wire mode: its block sets carry octets, and its peer must be in wire mode, too.
    ///
    /// # Errors
    /// Returns an error if the options have no encoding.
    pub fn wired(
        ue: UeId,
        sends: Direction,
        config: &Arc<RlcConfig>,
        blocks: u32,
    ) -> Result<Self, NoEncoding> {
        Wired::new(ue, sends, config, blocks).map(|wired| Rlc::Wired(Box::new(wired)))
    }

    /// Adds queue management to the transmission buffer.
    pub fn manage_buffer(&mut self, aqm: Aqm) {
        in_any_mode!(
            self,
            entity => entity.manage_buffer(aqm),
            wired => wired.inner.manage_buffer(aqm)
        );
    }

    /// Enqueues an SDU. Returns an error if it does not fit into the transmission buffer.
    #[inline]
    pub fn handle_sdu<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sdu: &Sdu,
    ) -> Result<(), BufferFull> {
        in_any_mode!(
            self,
            entity => entity.handle_sdu(cx, sdu),
            wired => wired.run_observed(cx, |rlc, cx| rlc.handle_sdu(cx, sdu))
        )
    }

    /// Receives the block set of a TTI without the blocks in `lost`.
    #[inline(always)]
    pub fn handle_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        in_any_mode!(
            self,
            entity => entity.handle_blocks(cx, set, lost),
            wired => wired.handle_blocks(cx, set, lost)
        );
    }

    /// Records the SDUs of the peer that end in the `lost` blocks of `set` as lost. Does nothing in
    /// acknowledged mode, which retransmits the blocks.
    #[cold]
    pub fn record_lost_ends<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        match self {
            Rlc::Am(_) => {}
            Rlc::Um(entity) => entity.record_lost_ends(cx, set, lost),
            Rlc::Tm(entity) => entity.record_lost_ends(cx, set, lost),
            Rlc::Wired(wired) => wired.inner.record_lost_ends(cx, set, lost),
        }
    }

    /// Handles all timers that are due.
    #[inline]
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        in_any_mode!(
            self,
            entity => entity.handle_timeout(cx),
            wired => wired.run_observed(cx, |rlc, cx| rlc.handle_timeout(cx))
        );
    }

    /// Fills `set` with at most `blocks` blocks. Returns the value of [`has_work`](Self::has_work)
    /// afterwards.
    #[inline]
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        in_any_mode!(
            self,
            entity => entity.poll_transmit(cx, blocks, set),
            wired => wired.poll_transmit(cx, blocks, set)
        )
    }

    /// Whether an SDU is ready for the upper layer.
    #[inline]
    pub fn has_delivered(&self) -> bool {
        in_any_mode!(self, entity => entity.has_delivered(), wired => wired.has_delivered())
    }

    /// The next SDU for the upper layer.
    #[inline]
    pub fn poll_delivered(&mut self) -> Option<Sdu> {
        in_any_mode!(self, entity => entity.poll_delivered(), wired => wired.poll_delivered())
    }

    /// The next SDU with errors. Always `None` in acknowledged mode, and not marked in unacknowledged
    /// mode.
    #[inline]
    pub fn poll_erroneous(&mut self) -> Option<ErroneousSdu> {
        match self {
            Rlc::Tm(entity) => entity.poll_erroneous(),
            Rlc::Um(entity) => entity.poll_erroneous().map(|sdu| ErroneousSdu { sdu, is_marked: false }),
            Rlc::Am(_) => None,
            Rlc::Wired(wired) => wired.inner.poll_erroneous(),
        }
    }

    /// The earliest deadline of a timer.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        in_any_mode!(self, entity => entity.poll_timeout(), wired => wired.inner.poll_timeout())
    }

    /// Whether an unrecoverable error of acknowledged mode occurred since the last call (TS 25.322
    /// §11.4.4). Call it when [`poll_timeout`](Self::poll_timeout) is due.
    #[inline]
    pub fn take_unrecoverable_error(&mut self) -> bool {
        match self {
            Rlc::Am(entity) => entity.take_unrecoverable_error(),
            Rlc::Um(_) | Rlc::Tm(_) => false,
            Rlc::Wired(wired) => wired.inner.take_unrecoverable_error(),
        }
    }

    /// Fills `set` with at most `blocks` control PDUs, on the second of two logical channels (TS
    /// 25.322 §4.2.1.3). Only acknowledged mode can have this channel.
    pub fn poll_control<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        match self {
            Rlc::Am(entity) => entity.poll_control(cx, blocks, set),
            Rlc::Um(_) | Rlc::Tm(_) => {}
            Rlc::Wired(wired) => {
                wired.fill_and_encode(cx, set, |rlc, cx, set| rlc.poll_control(cx, blocks, set))
            }
        }
    }

    /// Fills `set` with at most `blocks` data PDUs, on the first of two logical channels.
    pub fn poll_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        match self {
            Rlc::Am(entity) => entity.poll_data(cx, blocks, set),
            Rlc::Um(entity) => {
                entity.poll_transmit(cx, blocks, set);
            }
            Rlc::Tm(entity) => {
                entity.poll_transmit(cx, blocks, set);
            }
            Rlc::Wired(wired) => {
                wired.fill_and_encode(cx, set, |rlc, cx, set| rlc.poll_data(cx, blocks, set))
            }
        }
    }

    /// Whether control PDUs wait to be sent.
    #[inline]
    pub fn has_control(&self, now: Time) -> bool {
        match self {
            Rlc::Am(entity) => entity.has_control(now),
            Rlc::Um(_) | Rlc::Tm(_) => false,
            Rlc::Wired(wired) => wired.inner.has_control(now),
        }
    }

    /// Whether data PDUs can be sent now.
    #[inline]
    pub fn has_data(&self, now: Time) -> bool {
        match self {
            Rlc::Am(entity) => entity.has_data(now),
            Rlc::Um(entity) => entity.has_work(),
            Rlc::Tm(entity) => entity.has_work(),
            Rlc::Wired(wired) => wired.inner.has_data(now),
        }
    }

    /// Lets acknowledged mode start only `sdus` further SDUs. `None`: unlimited.
    pub fn limit_sdus<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, sdus: Option<u32>) {
        match self {
            Rlc::Am(entity) => entity.limit_sdus(cx, sdus),
            Rlc::Um(_) | Rlc::Tm(_) => {}
            Rlc::Wired(wired) => wired.run_observed(cx, |rlc, cx| rlc.limit_sdus(cx, sdus)),
        }
    }

    /// Number of SDUs of acknowledged mode that were completely acknowledged or discarded.
    pub fn sdus_done(&self) -> u64 {
        match self {
            Rlc::Am(entity) => entity.sdus_done(),
            Rlc::Um(_) | Rlc::Tm(_) => 0,
            Rlc::Wired(wired) => wired.inner.sdus_done(),
        }
    }

    /// Whether the entity may have PDUs for the next TTI.
    #[inline(always)]
    pub fn has_work(&self, now: Time) -> bool {
        match self {
            Rlc::Am(entity) => entity.has_work(now),
            Rlc::Um(entity) => entity.has_work(),
            Rlc::Tm(entity) => entity.has_work(),
            Rlc::Wired(wired) => wired.inner.has_work(now),
        }
    }

    /// Stops sending until [`resume`](Self::resume). All state is kept.
    pub fn suspend(&mut self) {
        in_any_mode!(self, entity => entity.suspend(), wired => wired.inner.suspend());
    }

    /// Sends only `n` further new PDUs until [`resume`](Self::resume). Retransmissions and reports
    /// continue (TS 25.322 §9.7.5). Returns VT(S) or VT(US). Returns `None` in transparent mode,
    /// which has no such suspension and continues.
    pub fn suspend_after(&mut self, n: u32) -> Option<Sn> {
        match self {
            Rlc::Am(entity) => Some(entity.suspend_after(n)),
            Rlc::Um(entity) => Some(entity.suspend_after(n)),
            Rlc::Tm(_) => None,
            Rlc::Wired(wired) => wired.inner.suspend_after(n),
        }
    }

    /// Continues after [`suspend`](Self::suspend) or [`suspend_after`](Self::suspend_after), on a
    /// channel with `blocks` blocks per TTI.
    pub fn resume(&mut self, blocks: u32) {
        match self {
            Rlc::Am(entity) => entity.resume(),
            Rlc::Um(entity) => entity.resume(),
            Rlc::Tm(entity) => entity.resume(blocks),
            Rlc::Wired(wired) => wired.inner.resume(blocks),
        }
    }

    /// Re-establishes the entity. SDUs with a sent part are lost, the others stay. The peer must be
    /// re-established at the same time.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        in_any_mode!(
            self,
            entity => entity.reestablish(cx),
            wired => wired.run_observed(cx, |rlc, cx| rlc.reestablish(cx))
        );
    }

    /// Discards the SDUs without a sent part. Transmission of the others continues.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        in_any_mode!(
            self,
            entity => entity.lose_unsent(cx),
            wired => wired.run_observed(cx, |rlc, cx| rlc.lose_unsent(cx))
        );
    }

    /// Data to send, for schedulers.
    pub fn backlog(&self) -> Backlog {
        in_any_mode!(self, entity => entity.backlog(), wired => wired.inner.backlog())
    }

    /// Number of PDUs that [`poll_transmit`](Self::poll_transmit) would send now, or a lower bound,
    /// for the choice of a transport format. In transparent mode always a full TTI, because all
    /// segments of an SDU must be sent in one TTI.
    pub fn pdus_ready(&self, now: Time) -> u32 {
        match self {
            Rlc::Am(entity) => entity.pdus_ready(now),
            Rlc::Um(entity) => entity.backlog().pdus,
            Rlc::Tm(_) => u32::MAX,
            Rlc::Wired(wired) => wired.inner.pdus_ready(now),
        }
    }

    /// Appends the SDUs that wait to be sent in order, for schedulers that need each SDU.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        in_any_mode!(self, entity => entity.waiting_sdus(into), wired => wired.inner.waiting_sdus(into));
    }

    /// Octets that wait for transmission or retransmission: the buffer occupancy of traffic volume
    /// measurement (TS 25.321 §8.2.2).
    pub fn available_for_transmission(&self, now: Time) -> Bytes {
        match self {
            Rlc::Am(entity) => entity.available_for_transmission(now),
            Rlc::Um(entity) => entity.available_for_transmission(),
            Rlc::Tm(entity) => entity.available_for_transmission(),
            Rlc::Wired(wired) => wired.inner.available_for_transmission(now),
        }
    }

    /// Octets of SDUs in the buffer, including sent and unacknowledged ones.
    pub fn buffer_occupancy(&self) -> Bytes {
        in_any_mode!(self, entity => entity.buffer_occupancy(), wired => wired.inner.buffer_occupancy())
    }

    /// The outstanding PDUs: the count of the first PDU that is neither acknowledged nor discarded,
    /// and the count of the next new PDU. Counts start from 0 and do not wrap around. `None` in the
    /// modes without acknowledgment.
    pub fn sent_window(&self) -> Option<(u64, u64)> {
        match self {
            Rlc::Am(entity) => Some(entity.sent_window()),
            Rlc::Wired(wired) => wired.inner.sent_window(),
            Rlc::Um(_) | Rlc::Tm(_) => None,
        }
    }

    /// Octets after the header of the largest PDU that the entity sends.
    pub fn pdu_payload(&self) -> Bytes {
        in_any_mode!(self, entity => entity.pdu_payload(), wired => wired.inner.pdu_payload())
    }
}
