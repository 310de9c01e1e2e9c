//! Decodes the octets of blocks to the block set that a receiver uses.

use super::encoding::{Encoding, Mode};
use super::sufis::read_status;
use crate::radio::phy::Lost;
use crate::radio::rlc::wire::{AmPdu, AmdPdu, LengthIndicator, Payload, UmSn, UmdPdu, WireError};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, SduEnd, Sn};

/// A decoded data PDU.
#[derive(Debug)]
pub(super) struct Arrived<'a> {
    /// Sequence number. For a UMD PDU only seven bits of it were read.
    pub sn: Sn,
    pub payload: Payload<'a>,
    /// The ends of SDUs according to the description.
    pub ends: &'a [SduEnd],
}

impl Encoding {
    /// Decodes the blocks of `sent` that are not in `lost` and adds them to `set` in order. Blocks
    /// that cannot be decoded are omitted. Only the octets of `sent` are read, and the packets that
    /// end there, by block and length indicator. Data PDUs with headers are also passed to
    /// `arrived`. Returns the lost blocks of `set`, which only transparent mode has.
    ///
    /// # Panics
    /// Panics if the number of ends in a PDU differs from the description.
    pub(super) fn decode<'a>(
        &self,
        sent: &'a BlockSet,
        lost: Lost,
        set: &mut BlockSet,
        mut arrived: impl FnMut(&Arrived<'a>),
    ) -> Result<Lost, WireError> {
        set.clear();
        if let Mode::Tm { segmentation } = self.mode {
            read_transparent(sent, segmentation, set);
            return Ok(lost);
        }
        let mut block = 0;
        for pdu in &sent.pdus {
            let (run, count) = match pdu {
                Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => (Some(run), u32::from(run.count)),
                Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => (None, 1),
            };
            for step in 0..count {
                let octets = &sent.octets[(block + step) as usize];
                if lost.contains(block + step) {
                    continue;
                }
                let told = run.map(|run| ends_in(sent, run, step));
                match self.mode {
                    Mode::Am { format, .. } => match AmPdu::parse(octets, format)? {
                        AmPdu::Data(pdu) => read_amd(&pdu, told.unwrap_or_default(), set, &mut arrived),
                        AmPdu::Status(pdu) => {
                            let status = read_status(&pdu, set);
                            set.push_status(status);
                        }
                        AmPdu::Reset(pdu) if pdu.acknowledges() => set.push_control(Pdu::ResetAck(pdu.rsn())),
                        AmPdu::Reset(pdu) => set.push_control(Pdu::Reset(pdu.rsn())),
                    },
                    Mode::Um(format) => {
                        let pdu = UmdPdu::parse(octets, format)?;
                        let run = run.expect("a UM entity sends UMD PDUs");
                        let sn = run.first.plus(u64::from(step));
                        assert_eq!(UmSn::of(sn.value().into()), pdu.sn(), "seven bits of the number travel");
                        read_umd(sn, &pdu, told.unwrap_or_default(), set, &mut arrived);
                    }
                    Mode::Tm { .. } => unreachable!("it was read before"),
                }
            }
            block += count;
        }
        Ok(Lost::default())
    }
}

/// The ends in PDU `step` of a run according to the description.
fn ends_in<'a>(sent: &'a BlockSet, run: &DataRun, step: u32) -> &'a [SduEnd] {
    let sn = run.first.plus(u64::from(step));
    let ends = sent.ends_of(run);
    let from = ends.iter().take_while(|end| end.sn != sn).count();
    let count = ends[from..].iter().take_while(|end| end.sn == sn).count();
    &ends[from..from + count]
}

fn read_amd<'a>(
    pdu: &AmdPdu<'a>,
    told: &'a [SduEnd],
    set: &mut BlockSet,
    arrived: &mut impl FnMut(&Arrived<'a>),
) {
    let mark = set.ends_mark();
    put_ends(pdu.payload(), pdu.sn(), told, set, |_| pdu.sn());
    let piggyback = pdu.piggyback().map(|status| read_status(status, set));
    let ends = (mark, set.ends_mark());
    let run = DataRun::new(pdu.sn().value().into(), 1, ends);
    set.push_data(DataRun { poll: pdu.poll(), piggyback, ..run });
    arrived(&Arrived { sn: pdu.sn(), payload: pdu.payload().clone(), ends: told });
}

fn read_umd<'a>(
    sn: Sn,
    pdu: &UmdPdu<'a>,
    told: &'a [SduEnd],
    set: &mut BlockSet,
    arrived: &mut impl FnMut(&Arrived<'a>),
) {
    let mark = set.ends_mark();
    put_ends(pdu.payload(), sn, told, set, |end| end.first);
    let starts = pdu.payload().indicators().first() == Some(&LengthIndicator::StartsHere);
    let run = DataRun::new(sn.value().into(), 1, (mark, set.ends_mark()));
    set.push_run(Pdu::Umd(DataRun { starts, ..run }), 1);
    arrived(&Arrived { sn, payload: pdu.payload().clone(), ends: told });
}

/// Adds the ends of the length indicators. No bit shows where an SDU begins. `first` returns a
/// replacement for its start.
fn put_ends(
    payload: &Payload<'_>,
    sn: Sn,
    told: &[SduEnd],
    set: &mut BlockSet,
    first: impl Fn(&SduEnd) -> Sn,
) {
    let is_end = |li: &&LengthIndicator| {
        use LengthIndicator as Li;
        matches!(li, Li::End(_) | Li::PreviousFilled | Li::PreviousOneShort)
    };
    let ends = payload.indicators().iter().filter(is_end).count();
    assert_eq!(ends, told.len(), "the ends of SDUs in PDU {}", sn.value());
    set.ends.extend(told.iter().map(|end| SduEnd { first: first(end), sn, sdu: end.sdu }));
}

/// Transparent mode has no header: all blocks of a TTI form one SDU, or each block is one.
fn read_transparent(sent: &BlockSet, segmentation: bool, set: &mut BlockSet) {
    let per_sdu = if segmentation { sent.blocks } else { 1 };
    for (index, end) in sent.ends.iter().enumerate() {
        let first = index as u64 * u64::from(per_sdu);
        let mark = set.ends_mark();
        let sn = Sn::of(first + u64::from(per_sdu) - 1);
        set.ends.push(SduEnd { first: Sn::of(first), sn, sdu: end.sdu });
        set.push_run(Pdu::Tmd(DataRun::new(first, per_sdu, (mark, set.ends_mark()))), per_sdu);
    }
}
