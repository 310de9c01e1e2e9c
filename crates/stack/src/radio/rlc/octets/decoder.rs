//! Wire mode: decodes the octets of the blocks that arrived in a TTI into a block set for the
//! receiving RLC entity. A block set describes PDUs by their numbers and the SDUs that end in them.

use super::encoding::{Encoding, Mode};
use super::sufis::read_status;
use crate::radio::phy::Lost;
use crate::radio::rlc::wire::{
    AmPdu, AmdFormat, AmdPdu, LengthIndicator, Payload, UmSn, UmdFormat, UmdPdu, WireError,
};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, SduEnd, Sn};

/// A decoded data PDU.
#[derive(Debug)]
pub(super) struct DecodedPdu<'a> {
    /// Sequence number. For a UMD PDU only seven bits of it were read.
    pub sn: Sn,
    pub payload: Payload<'a>,
    /// The ends of SDUs in this PDU, as the sender described them.
    pub ends: &'a [SduEnd],
}

impl Encoding {
    /// Decodes the blocks of `sent` that are not in `lost` into `set`, in order. Only the octets of
    /// `sent` are used, and the metadata of the packets that end there. AMD and UMD PDUs are also
    /// passed to `decoded`. In transparent mode, which has no headers, `set` also contains the lost
    /// blocks. Returns the lost blocks of `set`: none in the other modes.
    ///
    /// # Errors
    /// Returns an error if a block is not a valid PDU.
    ///
    /// # Panics
    /// Panics if the number of SDU ends in a PDU differs from the description in `sent`.
    pub(super) fn decode<'a>(
        &self,
        sent: &'a BlockSet,
        lost: Lost,
        set: &mut BlockSet,
        mut decoded: impl FnMut(&DecodedPdu<'a>),
    ) -> Result<Lost, WireError> {
        set.clear();
        if let Mode::Tm { segmentation } = self.mode {
            read_transparent(sent, segmentation, set);
            return Ok(lost);
        }
        let mut first_block = 0;
        for pdu in &sent.pdus {
            for step in 0..pdu.blocks() {
                let block = first_block + step;
                if !lost.contains(block) {
                    let octets = &sent.octets[block as usize];
                    let described = DescribedPdu::of(sent, pdu, step);
                    match self.mode {
                        Mode::Am { format, .. } => read_am(octets, format, described, set, &mut decoded)?,
                        Mode::Um(format) => read_um(octets, format, described, set, &mut decoded)?,
                        Mode::Tm { .. } => unreachable!("transparent mode returned above"),
                    }
                }
            }
            first_block += pdu.blocks();
        }
        Ok(Lost::default())
    }
}

/// The description of a data PDU by the sender. For a control PDU there is none.
struct DescribedPdu<'a> {
    sn: Option<Sn>,
    ends: &'a [SduEnd],
}

impl<'a> DescribedPdu<'a> {
    /// The PDU at offset `step` of `pdu`, a PDU or a run.
    fn of(sent: &'a BlockSet, pdu: &Pdu, step: u32) -> Self {
        match pdu {
            Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => {
                let sn = run.first.plus(u64::from(step));
                DescribedPdu { sn: Some(sn), ends: ends_in(sent, run, sn) }
            }
            Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => DescribedPdu { sn: None, ends: &[] },
        }
    }
}

/// Adds a PDU of acknowledged mode to `set`, and passes an AMD PDU to `decoded`.
fn read_am<'a>(
    octets: &'a [u8],
    format: AmdFormat,
    described: DescribedPdu<'a>,
    set: &mut BlockSet,
    decoded: &mut impl FnMut(&DecodedPdu<'a>),
) -> Result<(), WireError> {
    match AmPdu::parse(octets, format)? {
        AmPdu::Data(pdu) => read_amd(&pdu, described.ends, set, decoded),
        AmPdu::Status(pdu) => {
            let status = read_status(&pdu, set);
            set.push_status(status);
        }
        AmPdu::Reset(pdu) if pdu.acknowledges() => set.push_control(Pdu::ResetAck(pdu.rsn())),
        AmPdu::Reset(pdu) => set.push_control(Pdu::Reset(pdu.rsn())),
    }
    Ok(())
}

/// Adds a UMD PDU to `set`, and passes it to `decoded`. It contains only the lowest seven bits of its
/// number, so the number is taken from the description.
fn read_um<'a>(
    octets: &'a [u8],
    format: UmdFormat,
    described: DescribedPdu<'a>,
    set: &mut BlockSet,
    decoded: &mut impl FnMut(&DecodedPdu<'a>),
) -> Result<(), WireError> {
    let pdu = UmdPdu::parse(octets, format)?;
    let sn = described.sn.expect("a UM entity sends UMD PDUs");
    assert_eq!(UmSn::of(sn.value().into()), pdu.sn(), "the lowest seven bits of the number are sent");
    read_umd(sn, &pdu, described.ends, set, decoded);
    Ok(())
}

/// The described SDU ends in PDU `sn` of a run.
fn ends_in<'a>(sent: &'a BlockSet, run: &DataRun, sn: Sn) -> &'a [SduEnd] {
    let ends = sent.ends_of(run);
    let from = ends.iter().take_while(|end| end.sn != sn).count();
    let count = ends[from..].iter().take_while(|end| end.sn == sn).count();
    &ends[from..from + count]
}

/// Adds an AMD PDU to `set`, and passes it to `decoded`. `described`: the SDU ends in it, as the
/// sender described them.
fn read_amd<'a>(
    pdu: &AmdPdu<'a>,
    described: &'a [SduEnd],
    set: &mut BlockSet,
    decoded: &mut impl FnMut(&DecodedPdu<'a>),
) {
    let first_end = set.next_end_index();
    push_ends(pdu.payload(), pdu.sn(), described, set, |_| pdu.sn());
    let piggyback = pdu.piggyback().map(|status| read_status(status, set));
    let ends = set.ends_since(first_end);
    let run = DataRun::new(pdu.sn().value().into(), 1, ends);
    set.push_data(DataRun { poll: pdu.poll(), piggyback, ..run });
    decoded(&DecodedPdu { sn: pdu.sn(), payload: pdu.payload().clone(), ends: described });
}

/// Adds a UMD PDU to `set`, and passes it to `decoded`, like [`read_amd`].
fn read_umd<'a>(
    sn: Sn,
    pdu: &UmdPdu<'a>,
    described: &'a [SduEnd],
    set: &mut BlockSet,
    decoded: &mut impl FnMut(&DecodedPdu<'a>),
) {
    let first_end = set.next_end_index();
    push_ends(pdu.payload(), sn, described, set, |end| end.first);
    let starts = pdu.payload().indicators().first() == Some(&LengthIndicator::StartsHere);
    let run = DataRun::new(sn.value().into(), 1, set.ends_since(first_end));
    set.push_run(Pdu::Umd(DataRun { starts, ..run }), 1);
    decoded(&DecodedPdu { sn, payload: pdu.payload().clone(), ends: described });
}

/// Adds the SDU ends that the length indicators or the header of a PDU show. No bit shows in which PDU an SDU
/// begins: `first` returns the value for this field.
fn push_ends(
    payload: &Payload<'_>,
    sn: Sn,
    described: &[SduEnd],
    set: &mut BlockSet,
    first: impl Fn(&SduEnd) -> Sn,
) {
    let is_end = |li: &&LengthIndicator| {
        use LengthIndicator as Li;
        matches!(li, Li::End(_) | Li::PreviousFilled | Li::PreviousOneShort)
    };
    let ends = payload.indicators().iter().filter(is_end).count() + usize::from(payload.ends_exactly());
    assert_eq!(ends, described.len(), "the ends of SDUs in PDU {}", sn.value());
    set.ends.extend(described.iter().map(|end| SduEnd { first: first(end), sn, sdu: end.sdu }));
}

/// Transparent mode has no header. With segmentation all blocks of a TTI form one SDU, otherwise
/// each block is one SDU.
fn read_transparent(sent: &BlockSet, segmentation: bool, set: &mut BlockSet) {
    let per_sdu = if segmentation { sent.blocks } else { 1 };
    for (index, end) in sent.ends.iter().enumerate() {
        let first = index as u64 * u64::from(per_sdu);
        let first_end = set.next_end_index();
        let sn = Sn::of(first + u64::from(per_sdu) - 1);
        set.ends.push(SduEnd { first: Sn::of(first), sn, sdu: end.sdu });
        set.push_run(Pdu::Tmd(DataRun::new(first, per_sdu, set.ends_since(first_end))), per_sdu);
    }
}
