//! Octets of blocks as the block set that a receiver sees.

use super::encoding::{Encoding, Mode};
use super::sufis::read_status;
use crate::radio::phy::Lost;
use crate::radio::rlc::wire::{AmPdu, AmdPdu, LengthIndicator, Payload, UmSn, UmdPdu, WireError};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, SduEnd, Sn};

/// A data PDU that was read.
#[derive(Debug)]
pub(super) struct Arrived<'a> {
    /// Its number; of an UMD PDU the number of which seven bits were read.
    pub sn: Sn,
    pub payload: Payload<'a>,
    /// Its ends, as they were described.
    pub ends: &'a [SduEnd],
}

impl Encoding {
    /// Reads the blocks of `sent` that are not in `lost`, which appear in `set` in their order; what cannot be read is left
    /// out. `sent` is looked at for its octets and, by block and length indicator, for the packets that end there. Data PDUs
    /// with headers are also shown to `arrived`. Returns which blocks of `set` are lost: transparent mode sees them too.
    ///
    /// # Panics
    /// If a PDU tells another number of ends than was described.
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

/// The ends that PDU number `step` of a run was said to tell.
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

/// Adds the ends that the length indicators tell. No bit says where an SDU begins; `first` says what stands there instead.
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

/// Transparent mode has no header: all blocks of a TTI are one SDU, or each is one.
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
