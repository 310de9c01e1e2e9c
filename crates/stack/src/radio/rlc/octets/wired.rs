//! Wire mode: an RLC entity whose block sets carry octets. It wraps an ordinary entity, encodes the
//! block sets that this entity sends, and decodes those that arrive.

use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::Time;

use super::composer::Composer;
use super::encoding::{Encoding, NoEncoding};
use super::verifier::Verifier;
use crate::Context;
use crate::detail::Detail;
use crate::ids::{Direction, PacketId, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::{BlockSet, Rlc, RlcConfig, Sdu};
use crate::trace::TraceEvent;

/// An entity that encodes its block sets as octets when they leave, and decodes them when they
/// arrive.
#[derive(Debug, Clone)]
pub struct Wired {
    pub(in crate::radio::rlc) inner: Rlc,
    composer: Composer,
    /// Formats of the PDUs of the peer.
    received: Encoding,
    verifier: Verifier,
    /// The decoded block set, stored to reuse its memory.
    decoded: BlockSet,
}

impl Wired {
    /// An entity of `ue`'s bearer that sends in direction `sends`, on a channel with `blocks`
    /// blocks per TTI.
    ///
    /// # Errors
    /// Returns an error if the options have no encoding.
    pub fn new(ue: UeId, sends: Direction, config: &Arc<RlcConfig>, blocks: u32) -> Result<Self, NoEncoding> {
        let encoding = Encoding::of_wire_mode(config)?;
        Ok(Wired {
            inner: Rlc::new(ue, sends, config, blocks),
            composer: Composer::new(encoding.sent_in(sends)),
            received: encoding.sent_in(sends.reversed()),
            verifier: Verifier::new(),
            decoded: BlockSet::default(),
        })
    }

    /// Calls a method of the entity while the composer observes its events.
    pub(in crate::radio::rlc) fn run_observed<T: TraceSink<TraceEvent>, R>(
        &mut self,
        cx: &mut Context<'_, T>,
        call: impl FnOnce(&mut Rlc, &mut Context<'_, ComposerSink<'_>>) -> R,
    ) -> R {
        let now = cx.now;
        let mut sink = ComposerSink { composer: &mut self.composer, next: cx };
        call(&mut self.inner, &mut Context::new(now, &mut sink))
    }

    /// Fills `set` with at most `blocks` blocks and their octets. Returns the value of
    /// [`Rlc::has_work`] afterwards.
    pub(in crate::radio::rlc) fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        self.fill_and_encode(cx, set, |rlc, cx, set| rlc.poll_transmit(cx, blocks, set))
    }

    /// Calls `fill` to fill `set`, and adds the octets. Returns the result of `fill`.
    pub(in crate::radio::rlc) fn fill_and_encode<T: TraceSink<TraceEvent>, R>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &mut BlockSet,
        fill: impl FnOnce(&mut Rlc, &mut Context<'_, ComposerSink<'_>>, &mut BlockSet) -> R,
    ) -> R {
        let result = self.run_observed(cx, |rlc, cx| fill(rlc, cx, set));
        set.octets = self.composer.compose(set).into_iter().map(|block| block.octets).collect();
        if self.composer.encoding().is_flexible() {
            let octets: usize = set.octets.iter().map(Vec::len).sum();
            assert_eq!(octets, set.flexible_octets as usize, "the described size of the PDUs");
        }
        result
    }

    /// Receives the octets of a block set.
    pub(in crate::radio::rlc) fn handle_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        let mut decoded = std::mem::take(&mut self.decoded);
        let verifier = &mut self.verifier;
        let lost_in_decoded = self
            .received
            .decode(set, lost, &mut decoded, |pdu| verifier.store(pdu))
            .expect("composed PDUs can be parsed");
        self.run_observed(cx, |rlc, cx| {
            rlc.handle_blocks(cx, &decoded, lost_in_decoded);
            // Except in transparent mode, lost blocks are not in `decoded`, so `handle_blocks` could
            // not record the SDUs that end in them.
            if lost_in_decoded != lost {
                rlc.record_lost_ends(cx, set, lost);
            }
        });
        self.decoded = decoded;
    }

    /// Whether an SDU is ready for the upper layer.
    pub(in crate::radio::rlc) fn has_delivered(&self) -> bool {
        self.inner.has_delivered()
    }

    /// The next SDU for the upper layer, checked to have the octets that were queued.
    pub(in crate::radio::rlc) fn poll_delivered(&mut self) -> Option<Sdu> {
        let sdu = self.inner.poll_delivered()?;
        if !matches!(self.inner, Rlc::Tm(_)) {
            let (id, size) = (sdu.packet.id, sdu.size().0 as usize);
            assert_eq!(
                self.verifier.assemble(&sdu),
                Some(pattern(id, size)),
                "the octets of packet {}",
                id.0
            );
        }
        Some(sdu)
    }
}

/// A trace sink that passes the events of an entity to the composer, and then to the next sink.
pub(in crate::radio::rlc) struct ComposerSink<'a> {
    composer: &'a mut Composer,
    next: &'a mut dyn NextSink,
}

/// The sink of the caller's context, without its type parameter.
trait NextSink {
    fn record(&mut self, event: &TraceEvent);
    fn show(&mut self, detail: &Detail<'_>);
}

impl<T: TraceSink<TraceEvent>> NextSink for Context<'_, T> {
    fn record(&mut self, event: &TraceEvent) {
        Context::record(self, || *event);
    }

    fn show(&mut self, detail: &Detail<'_>) {
        self.pass_on(detail);
    }
}

impl TraceSink<TraceEvent> for ComposerSink<'_> {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, _: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::SduQueued { sdu, size, .. } => {
                self.composer.queue(sdu, pattern(sdu, size.0 as usize))
            }
            _ => self.composer.observe(event),
        }
        self.next.record(event);
    }

    fn show(&mut self, _: Time, detail: &Detail<'_>) {
        self.next.show(detail);
    }
}

/// The octets of a packet in wire mode: pseudo-random, seeded by the packet's id, so that octets
/// assembled from wrong PDUs are detected.
pub(in crate::radio::rlc) fn pattern(sdu: PacketId, octets: usize) -> Vec<u8> {
    // The id is spread by the 64-bit golden ratio. Each octet is a step of the xorshift generator
    // with the shifts 13, 7 and 17 (Marsaglia, 2003), whose state must not be 0.
    let mut state = sdu.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(octets).collect()
}
