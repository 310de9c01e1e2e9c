//! Codec of RLC PDUs: round trips of all formats, and errors with their position and rule.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::radio::rlc::{Sn, SnRun};
use LengthIndicator as Li;

/// Length indicators of 7 bits, and HE = 10 is permitted.
const AM7: AmdFormat = AmdFormat { width: LiWidth::Seven, special_he: true };
/// Length indicators of 15 bits, and HE = 10 is reserved.
const AM15: AmdFormat = AmdFormat { width: LiWidth::Fifteen, special_he: false };

fn amd_format() -> impl Strategy<Value = AmdFormat> {
    (select(vec![LiWidth::Seven, LiWidth::Fifteen]), any::<bool>())
        .prop_map(|(width, special_he)| AmdFormat { width, special_he })
}

fn umd_format() -> impl Strategy<Value = UmdFormat> {
    (select(vec![LiWidth::Seven, LiWidth::Fifteen]), any::<bool>())
        .prop_map(|(width, alternative_e_bit)| UmdFormat { width, alternative_e_bit })
}

fn sn() -> impl Strategy<Value = Sn> {
    (0..Sn::MODULUS).prop_map(Sn::of)
}

/// Ascending runs with gaps between them, from any sequence number on, in less than one cycle of
/// sequence numbers.
fn runs(max_runs: usize) -> impl Strategy<Value = Vec<SnRun>> {
    (sn(), vec((2u64..40, 1u16..=16), 1..=max_runs)).prop_map(|(first, steps)| {
        let mut at = first;
        let run = |(gap, count): (u64, u16)| {
            let run = SnRun { first: at, count };
            at = at.plus(u64::from(count) - 1 + gap);
            run
        };
        steps.into_iter().map(run).collect()
    })
}

fn sufi() -> impl Strategy<Value = Sufi> {
    let count = || (0u8..16).prop_map(|n| MrwCount::new(n).expect("four bits"));
    prop_oneof![
        (0u16..4096).prop_map(|pdus| Sufi::Window(WindowSize::new(pdus).expect("twelve bits"))),
        runs(15).prop_map(|runs| Sufi::List(List::new(runs).expect("1 to 15 runs of 1 to 16"))),
        (sn(), vec(any::<u8>(), 1..=16))
            .prop_map(|(fsn, map)| Sufi::Bitmap(Bitmap::new(fsn, map).expect("1 to 16 octets"))),
        runs(20).prop_map(|runs| Sufi::Rlist(Rlist::of(&runs).expect("they ascend").0)),
        (vec(sn(), 1..=15), count()).prop_map(|(sns, n)| Sufi::Mrw(Mrw::new(sns, n).expect("1 to 15"))),
        (sn(), count()).prop_map(|(sn, n)| Sufi::Mrw(Mrw::beyond_window(sn, n))),
        (count(), sn()).prop_map(|(n, sn_ack)| Sufi::MrwAck { n, sn_ack }),
        sn().prop_map(Sufi::Poll),
    ]
}

fn status() -> impl Strategy<Value = StatusPdu<'static>> {
    let end = prop_oneof![Just(StatusEnd::NoMore), sn().prop_map(StatusEnd::Ack), Just(StatusEnd::Full)];
    (vec(sufi(), 0..5), end, 0usize..40).prop_map(|(sufis, end, padding)| {
        let status = StatusPdu::new(sufis, end);
        let size = status.size();
        status.padded_to(size + padding).expect("it grows")
    })
}

/// Consistent length indicators, and the octets after them: data, and 0 to 39 further octets.
fn parts(
    width: LiWidth,
    leading: Vec<Option<Li>>,
    trailing: Vec<Option<Li>>,
) -> impl Strategy<Value = (Vec<Li>, Vec<u8>)> {
    (select(leading), vec(1u16..30, 0..4), select(trailing), vec(any::<u8>(), 0..40)).prop_map(
        move |(leading, sizes, trailing, mut octets)| {
            let mut indicators = Vec::from_iter(leading);
            let mut end = 0;
            for size in sizes.into_iter().filter(|size| size + 90 < width.last_offset()) {
                end += size;
                indicators.push(Li::End(end));
            }
            indicators.extend(trailing);
            octets.resize(octets.len() + usize::from(end), 0xA5);
            (indicators, octets)
        },
    )
}

fn emitted(emit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut octets = Vec::new();
    emit(&mut octets);
    octets
}

/// `octets` with some bits flipped, and without the last `cut` octets.
fn damaged(mut octets: Vec<u8>, flipped_bits: &[usize], cut: usize) -> Vec<u8> {
    for &bit in flipped_bits {
        if let Some(octet) = octets.get_mut(bit / 8) {
            *octet ^= 0x80 >> (bit % 8);
        }
    }
    octets.truncate(octets.len().saturating_sub(cut));
    octets
}

/// Parses arbitrary bytes in all formats. Each parser must return a value that emits the same bytes,
/// or an error at a position inside them.
fn round_trips_or_fails(octets: &[u8], am: AmdFormat, um: UmdFormat) -> Result<(), TestCaseError> {
    let fails = |error: WireError| {
        prop_assert!(error.bit <= octets.len() * 8, "{error} in {} octets", octets.len());
        Ok(())
    };
    match AmPdu::parse(octets, am) {
        Ok(pdu) => prop_assert_eq!(emitted(|out| pdu.emit(out)), octets),
        Err(error) => fails(error)?,
    }
    match UmdPdu::parse(octets, um) {
        Ok(pdu) => {
            prop_assert_eq!(pdu.size(), octets.len());
            prop_assert_eq!(emitted(|out| pdu.emit(out)), octets);
        }
        Err(error) => fails(error)?,
    }
    for bits in (octets.len() * 8).saturating_sub(9)..=octets.len() * 8 + 1 {
        match TmdPdu::parse(octets, bits) {
            Ok(pdu) => prop_assert_eq!(emitted(|out| pdu.emit(out)), octets),
            Err(error) => prop_assert!(error.bit <= bits.max(octets.len() * 8)),
        }
    }
    if let Ok(view) = AmdView::over(octets) {
        prop_assert!(view.raw_length_indicators(am.width).count() <= octets.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_a_pdu_or_an_error(octets in vec(any::<u8>(), 0..200), am in amd_format(), um in umd_format()) {
        round_trips_or_fails(&octets, am, um)?;
    }

    #[test]
    fn amd_pdus_round_trip(
        (format, (indicators, octets)) in amd_format().prop_flat_map(|format| {
            let mut leading = vec![None, Some(Li::PreviousFilled)];
            if format.width == LiWidth::Fifteen {
                leading.push(Some(Li::PreviousOneShort));
            }
            (Just(format), parts(format.width, leading, vec![None, Some(Li::Padding)]))
        }),
        sn in sn(), poll: bool, exact: bool, um in umd_format(), flipped_bits in vec(0usize..64, 0..3), cut in 0usize..4,
    ) {
        let pdu = if exact && format.special_he {
            AmdPdu::ending_exactly(format, sn, poll, &octets)
        } else {
            AmdPdu::new(format, sn, poll, indicators.clone(), &octets)
        };
        prop_assume!(!(octets.is_empty() && (indicators.is_empty() || exact)));
        let pdu = pdu.expect("the parts are consistent");
        let bytes = emitted(|out| pdu.emit(out));
        prop_assert_eq!(bytes.len(), pdu.size());
        let view = AmdView::over(&bytes).expect("it has a header");
        prop_assert_eq!((view.is_data(), view.sn(), view.poll()), (true, sn, poll));
        prop_assert_eq!(AmPdu::parse(&bytes, format), Ok(AmPdu::Data(pdu.clone())));
        // Each octet is either data or rest.
        let data: usize = pdu.payload().segments().iter().map(|segment| segment.octets.len()).sum();
        prop_assert_eq!(data + pdu.payload().rest().len(), octets.len());
        round_trips_or_fails(&damaged(bytes, &flipped_bits, cut), format, um)?;
    }

    #[test]
    fn piggybacked_statuses_round_trip(format in amd_format(), sn in sn(), status in status(), size in 0u16..60) {
        let mut octets = vec![0x5A; usize::from(size)];
        status.emit(&mut octets);
        let end = (size > 0).then_some(Li::End(size));
        let indicators = Vec::from_iter(end.into_iter().chain([Li::PiggybackedStatus]));
        let pdu = AmdPdu::new(format, sn, false, indicators, &octets).expect("the parts are consistent");
        prop_assert_eq!(pdu.piggyback(), Some(&status));
        let bytes = emitted(|out| pdu.emit(out));
        prop_assert_eq!(AmdPdu::parse(&bytes, format), Ok(pdu.clone()));
        prop_assert_eq!(pdu.payload().segments().len(), usize::from(size > 0));
    }

    #[test]
    fn umd_pdus_round_trip(
        (format, (indicators, octets)) in umd_format().prop_flat_map(|format| {
            let mut leading = vec![None, Some(Li::PreviousFilled), Some(Li::StartsHere)];
            if format.width == LiWidth::Fifteen {
                leading.push(Some(Li::PreviousOneShort));
            }
            (Just(format), parts(format.width, leading, vec![None, Some(Li::Padding)]))
        }),
        sn in 0u64..128, alone in select(vec![None, Some(Li::WholeSdu), Some(Li::Middle), Some(Li::WholeSduOneShort)]),
        am in amd_format(), flipped_bits in vec(0usize..48, 0..3), cut in 0usize..4,
    ) {
        let (sn, fifteen) = (UmSn::of(sn), format.width == LiWidth::Fifteen);
        let alone = alone.filter(|&li| {
            format.alternative_e_bit && octets.len() > 1 && (fifteen || li != Li::WholeSduOneShort)
        });
        let indicators = alone.map_or(indicators, |li| vec![li]);
        prop_assume!(!(octets.is_empty() && indicators.is_empty()));
        let pdu = UmdPdu::new(format, sn, indicators, &octets).expect("the parts are consistent");
        let bytes = emitted(|out| pdu.emit(out));
        prop_assert_eq!(bytes.len(), pdu.size());
        prop_assert_eq!(UmdView::over(&bytes).map(|view| view.sn()), Ok(sn));
        prop_assert_eq!(UmdPdu::parse(&bytes, format), Ok(pdu));
        round_trips_or_fails(&damaged(bytes, &flipped_bits, cut), am, format)?;
    }

    #[test]
    fn statuses_round_trip(status in status(), format in amd_format(), um in umd_format(),
                        flipped_bits in vec(0usize..200, 0..3), cut in 0usize..40) {
        let bytes = emitted(|out| status.emit(out));
        prop_assert_eq!(bytes.len(), status.size());
        prop_assert_eq!(AmPdu::parse(&bytes, format), Ok(AmPdu::Status(status)));
        round_trips_or_fails(&damaged(bytes, &flipped_bits, cut), format, um)?;
    }

    #[test]
    fn resets_round_trip(acknowledges: bool, rsn: bool, hfni in 0u32..1 << 20, size in 4usize..50) {
        let reset = ResetPdu::new(acknowledges, rsn, hfni, size).expect("it fits");
        let bytes = emitted(|out| reset.emit(out));
        prop_assert_eq!(bytes.len(), size);
        prop_assert_eq!(AmPdu::parse(&bytes, AM7), Ok(AmPdu::Reset(reset)));
    }

    #[test]
    fn rlist_round_trips_its_runs(missing in runs(20)) {
        let (rlist, listed) = Rlist::of(&missing).expect("they ascend");
        let all = |runs: &[SnRun]| -> Vec<Sn> {
            runs.iter().flat_map(|run| (0..u64::from(run.count)).map(|n| run.first.plus(n))).collect()
        };
        let (decoded, expected) = (all(&rlist.missing()), all(&missing));
        prop_assert_eq!(&decoded[..], &expected[..listed as usize]);
        prop_assert!(listed >= 1);
    }

    #[test]
    fn bitmap_lists_exactly_the_missing_pdus(missing in runs(4), count in 1u64..=128) {
        let fsn = missing[0].first;
        let bitmap = Bitmap::covering(fsn, count, &missing).expect("it fits");
        let listed: Vec<_> = bitmap.missing().iter()
            .flat_map(|run| (0..u64::from(run.count)).map(|n| run.first.plus(n).steps_from(fsn))).collect();
        let expected: Vec<_> = missing.iter()
            .flat_map(|run| (0..u64::from(run.count)).map(|n| run.first.plus(n).steps_from(fsn)))
            .filter(|&at| at < count).collect();
        prop_assert_eq!(listed, expected);
    }
}

/// The position of the wrong bit, and the violated rule.
fn amd_error(format: AmdFormat, octets: &[u8]) -> (usize, Rule) {
    let error = AmPdu::parse(octets, format).expect_err("it breaks a rule");
    (error.bit, error.rule)
}

/// Like [`amd_error`], for a control PDU, in which the format has no effect.
fn control_error(octets: &[u8]) -> (usize, Rule) {
    amd_error(AM7, octets)
}

#[test]
fn errors_name_the_bit_and_the_rule() {
    // The octets 0x80, 0x00 are the header of data PDU 0 without a poll and without length
    // indicators. The lowest two bits of the second octet are HE: 0x01 announces a length indicator.
    // In a 7-bit indicator the lowest bit is E: 1 if another one follows.
    assert_eq!(amd_error(AM7, &[]), (0, Rule::Truncated));
    assert_eq!(amd_error(AM7, &[0x80]), (8, Rule::Truncated));
    assert_eq!(amd_error(AM7, &[0x80, 0x00]), (16, Rule::Empty));
    assert_eq!(amd_error(AM7, &[0x80, 0x03, 0]), (14, Rule::ReservedHeaderExtension));
    assert_eq!(amd_error(AM15, &[0x80, 0x02, 0]), (14, Rule::ReservedHeaderExtension));
    // E = 1 announces a length indicator, but the PDU ends.
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 0x03]), (24, Rule::Truncated));
    assert_eq!(amd_error(AM15, &[0x80, 0x01, 0x00]), (16, Rule::Truncated));
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 0x7C << 1, 0]), (16, Rule::ReservedLengthIndicator));
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 0x7D << 1, 0]), (16, Rule::ReservedLengthIndicator));
    assert_eq!(amd_error(AM15, &[0x80, 0x01, 0xFF, 0xF4, 0, 0]), (16, Rule::ReservedLengthIndicator));
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 2 << 1, 0]), (16, Rule::EndBehindPdu));
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 5, 2 << 1, 0, 0]), (24, Rule::LengthIndicatorsAscend));
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 3, 0, 0, 0]), (24, Rule::FirstOnly));
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 0xFF, 2, 0, 0]), (16, Rule::LastOnly));
    // The piggybacked STATUS is the last octet. Its SUFI begins at bit 4 of this octet.
    assert_eq!(amd_error(AM7, &[0x80, 0x01, 3, 0xFC, 9, 0x0F]), (44, Rule::ReservedSufi));
    // Control PDUs: the first bit is 0, then a type of three bits (0 STATUS, 1 RESET). A STATUS
    // continues with SUFIs.
    assert_eq!(control_error(&[0x30, 0]), (1, Rule::ReservedPduType));
    assert_eq!(control_error(&[0x14, 0, 0, 0]), (5, Rule::ReservedBits));
    assert_eq!(control_error(&[0x10, 0, 0]), (8, Rule::Truncated));
    assert_eq!(control_error(&[0x09, 0, 0]), (4, Rule::ReservedSufi));
    assert_eq!(control_error(&[0x03, 0x00, 0]), (8, Rule::ListLength));
    assert_eq!(control_error(&[0x02, 0x12]), (8, Rule::Truncated));
}

#[test]
fn invalid_rlist_codewords_are_refused() {
    let rlist = |codewords: &[u8]| Rlist::new(Sn::of(4000), codewords.to_vec()).map(|rlist| rlist.missing());
    assert_eq!(rlist(&[0b0000]), Err(Rule::RlistOpen));
    assert_eq!(rlist(&[0b0001]), Err(Rule::RlistOpen), "a burst of unknown length");
    assert_eq!(rlist(&[0b0001, 0b0001]), Err(Rule::RlistZero));
    assert_eq!(rlist(&[0b0000, 0b0001]), Err(Rule::RlistZero));
    assert_eq!(rlist(&[0b1110, 0b1110, 0b1110, 0b1111]), Ok(vec![run(4000, 1), run(3999, 1)]));
    assert_eq!(rlist(&[0b0000, 0b0000, 0b0000, 0b0000, 0b0011]), Err(Rule::RlistBeyondRound));
    assert_eq!(rlist(&[0b0011; 16]), Err(Rule::RlistLength));
}

fn run(first: u64, count: u16) -> SnRun {
    SnRun { first: Sn::of(first), count }
}

#[test]
fn rlist_distances_have_a_codeword_for_three_bits() {
    // The missing PDUs are 4090, and those at distances 1, 7, 8, 64 and 1.
    let missing = [run(4090, 2), run(2, 1), run(10, 1), run(74, 2)];
    let (rlist, listed) = Rlist::of(&missing).expect("they ascend");
    assert_eq!((rlist.missing(), listed), (missing.to_vec(), 6));
    let status = StatusPdu::new(vec![Sufi::Rlist(rlist)], StatusEnd::Ack(Sn::of(80)));
    let bytes = emitted(|out| status.emit(out));
    // Codewords in hexadecimal: 3 (+1), F (+7), 0 3 (+8), 0 0 3 (+64), 3 (+1).
    assert_eq!(bytes, [0x05, 0x8F, 0xFA, 0x3F, 0x03, 0x00, 0x33, 0x20, 0x50]);
}

#[test]
fn single_last_octet_is_ignored_with_15_bit_indicators() {
    let octets = [1, 2, 3, 4];
    let indicated = AmdPdu::new(AM15, Sn::of(0), false, vec![Li::End(3)], &octets).expect("valid");
    assert_eq!(indicated.payload().segments(), [Segment { octets: &[1, 2, 3], ends: true }]);
    assert_eq!(indicated.payload().rest(), [4]);
    // With 7-bit indicators the last octet is the start of the next SDU.
    let continued = AmdPdu::new(AM7, Sn::of(0), false, vec![Li::End(3)], &octets).expect("valid");
    assert_eq!(continued.payload().segments()[1], Segment { octets: &[4], ends: false });
    let um = UmdFormat { width: LiWidth::Fifteen, alternative_e_bit: true };
    let whole = UmdPdu::new(um, UmSn::of(9), vec![Li::WholeSduOneShort], &octets).expect("valid");
    assert_eq!(whole.payload().segments(), [Segment { octets: &[1, 2, 3], ends: true }]);
    assert_eq!(emitted(|out| whole.emit(out)), [0x13, 0xFF, 0xF4, 1, 2, 3, 4]);
}

#[test]
fn alternative_e_bit_marks_a_whole_sdu_without_indicators() {
    let format = |alternative_e_bit| UmdFormat { width: LiWidth::Seven, alternative_e_bit };
    let ends = |alternative| {
        UmdPdu::parse(&[0x02, 7, 8], format(alternative)).expect("valid").payload().segments()[0].ends
    };
    assert!(ends(true) && !ends(false));
    let middle = [0x03, 0x7E << 1, 7, 8];
    assert!(!UmdPdu::parse(&middle, format(true)).expect("valid").payload().segments()[0].ends);
    let error = UmdPdu::parse(&middle, format(false)).expect_err("reserved without it");
    assert_eq!((error.bit, error.rule), (8, Rule::ReservedLengthIndicator));
}

#[test]
fn full_status_needs_no_end_field() {
    // MRW_ACK takes 20 bits, and D/C and the PDU type 4: exactly three octets.
    let ack = Sufi::MrwAck { n: MrwCount::default(), sn_ack: Sn::of(5) };
    let status = StatusPdu::new(vec![ack.clone()], StatusEnd::Full);
    assert_eq!(emitted(|out| status.emit(out)), [0x07, 0x00, 0x05]);
    let padded = status.padded_to(5).expect("it grows");
    assert_eq!((padded.end(), padded.size()), (StatusEnd::NoMore, 5));
    assert_eq!(StatusPdu::new(vec![ack], StatusEnd::NoMore).size(), 4);
    assert_eq!(StatusPdu::new(vec![], StatusEnd::Full).end(), StatusEnd::NoMore);
}
