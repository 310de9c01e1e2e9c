//! Octets that tshark accepted, round trips, and errors.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    digits.collect::<Result<_, _>>().expect("it is hexadecimal")
}

/// Headers that tshark 4.0.17 decodes with correct CRCs.
#[test]
fn headers_match_the_reference() {
    let mut data = Vec::new();
    let pdus = vec![vec![0; 42]; 2];
    let frame = HsDschData { priority: 3, pdu_bits: 336, user_buffer: 1000, pdus, ..HsDschData::default() };
    frame.emit(&mut data).expect("all values fit");
    assert_eq!(data[..7], hex("cc030a800203e8"));
    let mut request = Vec::new();
    CapacityRequest { priority: 3, user_buffer: 5000 }.emit(&mut request).expect("all values fit");
    assert_eq!(request, hex("450a031388"));
    let mut allocation = Vec::new();
    let fields = CapacityAllocation {
        congestion: 0,
        priority: 3,
        max_pdu_bits: 336,
        credits: 60,
        interval: 3,
        repetition: 0,
    };
    fields.emit(&mut allocation).expect("all values fit");
    assert_eq!(allocation, hex("c90b030a803c0300"));
    let fields = CapacityAllocationType2 {
        congestion: 0,
        priority: 3,
        max_pdu_octets: 1503,
        credits: 60,
        interval: 3,
        repetition: 0,
    };
    allocation.clear();
    fields.emit(&mut allocation).expect("all values fit");
    assert_eq!(allocation, hex("450c0305df003c0300"));
    let block = PduBlock { channel: 8, octets: 42, pdus: vec![vec![0x80; 42]; 4] };
    let frame = HsDschType2Data { priority: 3, user_buffer: 1000, blocks: vec![block], ..Default::default() };
    data.clear();
    frame.emit(&mut data).expect("all values fit");
    assert_eq!(data[..10], hex("4403080003e805448080"));
    let mut e_dch = Vec::new();
    let pdu = MacEsPdu { ddi: 5, tsn: 0, pdu_bits: 336, pdus: vec![vec![0; 42]; 2] };
    let subframe = |retransmissions, number| {
        let mac_es_pdus = vec![pdu.clone()];
        Subframe { retransmissions, number, mac_es_pdus }
    };
    let frame = EDchData { fsn: 0, cfn: 10, subframes: vec![subframe(0, 0), subframe(1, 3)] };
    frame.emit(&mut e_dch).expect("all values fit");
    assert_eq!(e_dch[..10], hex("7c10010a0011420b1142"));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let mut out = vec![7];
    let pdus = |octets: usize| vec![vec![0; octets]];
    let hs_dsch = HsDschData { pdu_bits: 12, ..HsDschData::default() };
    for (frame, field) in [
        (HsDschData { fsn: 16, ..hs_dsch.clone() }, "the FSN"),
        (HsDschData { priority: 16, ..hs_dsch.clone() }, "CmCH-PI"),
        (HsDschData { pdu_bits: 8192, ..hs_dsch.clone() }, "the length of a PDU"),
        (HsDschData { pdus: vec![vec![0; 2]; 256], ..hs_dsch.clone() }, "the number of PDUs"),
        // Too short for 12 bits.
        (HsDschData { pdus: pdus(1), ..hs_dsch.clone() }, "a MAC-d PDU"),
        // A padding bit is set.
        (HsDschData { pdus: vec![vec![0, 0x18]], ..hs_dsch.clone() }, "a MAC-d PDU"),
    ] {
        assert_eq!(frame.emit(&mut out), Err(FrameError::OutOfField(field)));
    }
    let none = EDchData { fsn: 0, cfn: 0, subframes: vec![] };
    assert_eq!(none.emit(&mut out), Err(FrameError::OutOfField("the number of subframes")));
    let pdu = MacEsPdu { ddi: 1, tsn: 64, pdu_bits: 8, pdus: vec![] };
    let subframe = Subframe { retransmissions: 0, number: 0, mac_es_pdus: vec![pdu] };
    let frame = EDchData { fsn: 0, cfn: 0, subframes: vec![subframe] };
    assert_eq!(frame.emit(&mut out), Err(FrameError::OutOfField("a TSN")));
    assert_eq!(out, [7]);
}

#[test]
fn errors_name_the_field_or_the_check() {
    let mut frame = Vec::new();
    let data = HsDschData { pdu_bits: 16, pdus: vec![vec![1, 2]], ..HsDschData::default() };
    data.emit(&mut frame).expect("all values fit");
    let parse = |frame: &[u8]| HsDschData::parse(frame).expect_err("it is damaged");
    assert_eq!(parse(&frame[..5]), FrameError::Truncated(5));
    assert_eq!(parse(&[&frame[..], &[0]].concat()), FrameError::TooLong(1));
    let damaged = |at: usize| {
        let mut damaged = frame.clone();
        damaged[at] ^= 0x10;
        parse(&damaged)
    };
    assert!(matches!(damaged(1), FrameError::HeaderCrc { .. }));
    assert!(matches!(damaged(8), FrameError::PayloadCrc { .. }));
    assert_eq!(parse(&hex("450a031388")), FrameError::OtherType);
    assert_eq!(CapacityAllocation::parse(&hex("450a031388")), Err(FrameError::OtherType));
    assert_eq!(EDchData::parse(&hex("7c10010a001142"), |_| None), Err(FrameError::UnknownDdi(5)));
}

#[test]
fn frames_of_type_2_refuse_values_that_do_not_fit_and_unknown_parts() {
    let frame = |channel, octets, sizes: &[usize]| {
        let pdus = sizes.iter().map(|size| vec![0; *size]).collect();
        let blocks = vec![PduBlock { channel, octets, pdus }];
        HsDschType2Data { blocks, ..Default::default() }
    };
    let mut out = vec![7];
    for (frame, field) in [
        (frame(16, 1, &[1]), "LCH-ID"),
        (frame(0, 2048, &[]), "the length of a PDU"),
        (frame(0, 1, &[1; 16]), "the number of PDUs"),
        (frame(0, 2, &[1]), "a MAC-d PDU"),
        (
            HsDschType2Data { blocks: vec![frame(0, 0, &[]).blocks[0].clone(); 32], ..Default::default() },
            "the number of blocks",
        ),
    ] {
        assert_eq!(frame.emit(&mut out), Err(FrameError::OutOfField(field)));
    }
    assert_eq!(out, [7]);
    // The indicator of a DRT, with the CRC of this header.
    let mut with_drt = hex("000001000000");
    with_drt[0] = (crc::HEADER.of(&with_drt) << 1) as u8;
    let error = HsDschType2Data::parse(&[&with_drt[..], &[0, 0]].concat());
    assert_eq!(error, Err(FrameError::Unsupported("a DRT or a UE in CELL_FACH")));
}

/// Strategy: a block of up to 15 PDUs of one size.
fn pdu_block() -> impl Strategy<Value = PduBlock> {
    (0..16_u8, 0..60_u16, 0..=15_usize, any::<u8>()).prop_map(|(channel, octets, count, value)| PduBlock {
        channel,
        octets,
        pdus: vec![vec![value; octets.into()]; count],
    })
}

/// Strategy: the size of a PDU in bits, and up to `most` PDUs of this size, padded with zeros to
/// octets.
fn pdus(most: usize) -> impl Strategy<Value = (u16, Vec<Vec<u8>>)> {
    (0..200_u16).prop_flat_map(move |bits| {
        let octets = usize::from(bits).div_ceil(8);
        let padding = octets * 8 - usize::from(bits);
        let mask = 0xff_u8 << padding;
        let pdu = vec(any::<u8>(), octets).prop_map(move |mut pdu| {
            pdu.last_mut().into_iter().for_each(|last| *last &= mask);
            pdu
        });
        (Just(bits), vec(pdu, 0..=most))
    })
}

/// Size of the PDUs of a DDI in these tests.
fn size_of(ddi: u8) -> u16 {
    u16::from(ddi) * 3 + 1
}

fn mac_es_pdu() -> impl Strategy<Value = MacEsPdu> {
    (0..64_u8, 0..64_u8, 0..64_usize, any::<u8>()).prop_map(|(ddi, tsn, count, first)| {
        let pdu_bits = size_of(ddi);
        let mut pdu = vec![0; usize::from(pdu_bits).div_ceil(8)];
        pdu[0] = first & 0x80;
        MacEsPdu { ddi, tsn, pdu_bits, pdus: vec![pdu; count] }
    })
}

fn subframe() -> impl Strategy<Value = Subframe> {
    (0..16_u8, 0..8_u8, vec(mac_es_pdu(), 0..=15))
        .prop_map(|(retransmissions, number, mac_es_pdus)| Subframe { retransmissions, number, mac_es_pdus })
}

proptest! {
    #[test]
    fn hs_dsch_data_round_trips(
        (fsn, priority, user_buffer) in (0..16_u8, 0..16_u8, any::<u16>()),
        (flush, reset) in any::<(bool, bool)>(),
        (pdu_bits, pdus) in pdus(255),
    ) {
        let frame = HsDschData { fsn, priority, pdu_bits, flush, reset, user_buffer, pdus };
        let mut octets = Vec::new();
        prop_assert_eq!(frame.emit(&mut octets), Ok(()));
        prop_assert_eq!(HsDschData::parse(&octets), Ok(frame));
    }

    #[test]
    fn hs_dsch_data_of_type_2_round_trips(
        (fsn, priority, user_buffer) in (0..16_u8, 0..16_u8, any::<u16>()),
        (flush, reset) in any::<(bool, bool)>(), blocks in vec(pdu_block(), 0..=31), at in 0..100_000_usize,
    ) {
        let frame = HsDschType2Data { fsn, priority, flush, reset, user_buffer, blocks };
        let mut octets = Vec::new();
        prop_assert_eq!(frame.emit(&mut octets), Ok(()));
        prop_assert_eq!(HsDschType2Data::parse(&octets), Ok(frame));
        // A single wrong bit is detected.
        let at = at % (octets.len() * 8);
        octets[at / 8] ^= 0x80 >> (at % 8);
        prop_assert!(HsDschType2Data::parse(&octets).is_err());
    }

    #[test]
    fn control_frames_round_trip(
        (priority, user_buffer, congestion) in (0..16_u8, any::<u16>(), 0..4_u8),
        (max_pdu_bits, credits, interval, repetition) in (0..8192_u16, 0..2048_u16, any::<u8>(), any::<u8>()),
    ) {
        let request = CapacityRequest { priority, user_buffer };
        let mut octets = Vec::new();
        prop_assert_eq!(request.emit(&mut octets), Ok(()));
        prop_assert_eq!(CapacityRequest::parse(&octets), Ok(request));
        let allocation =
            CapacityAllocation { congestion, priority, max_pdu_bits, credits, interval, repetition };
        octets.clear();
        prop_assert_eq!(allocation.emit(&mut octets), Ok(()));
        prop_assert_eq!(CapacityAllocation::parse(&octets), Ok(allocation));
        let max_pdu_octets = max_pdu_bits / 8;
        let allocation =
            CapacityAllocationType2 { congestion, priority, max_pdu_octets, credits, interval, repetition };
        octets.clear();
        prop_assert_eq!(allocation.emit(&mut octets), Ok(()));
        prop_assert_eq!(CapacityAllocationType2::parse(&octets), Ok(allocation));
    }

    #[test]
    fn e_dch_data_round_trips(
        (fsn, cfn) in (0..16_u8, any::<u8>()),
        subframes in vec(subframe(), 1..=4),
    ) {
        let frame = EDchData { fsn, cfn, subframes };
        let mut octets = Vec::new();
        prop_assert_eq!(frame.emit(&mut octets), Ok(()));
        prop_assert_eq!(EDchData::parse(&octets, |ddi| Some(size_of(ddi))), Ok(frame));
    }

    /// A single wrong bit is detected, wherever it is. Spare bits are covered by the CRCs, too.
    #[test]
    fn no_wrong_bit_is_accepted(pdu in vec(any::<u8>(), 4), at in 0..1000_usize) {
        let frame = HsDschData { pdu_bits: 32, pdus: vec![pdu], ..HsDschData::default() };
        let mut octets = Vec::new();
        prop_assert_eq!(frame.emit(&mut octets), Ok(()));
        let at = at % (octets.len() * 8);
        octets[at / 8] ^= 0x80 >> (at % 8);
        prop_assert!(HsDschData::parse(&octets).is_err());
    }

    #[test]
    fn any_octets_are_parsed_without_a_panic(octets in vec(any::<u8>(), 0..60), size in 0..100_u16) {
        let _ = HsDschData::parse(&octets);
        let _ = HsDschType2Data::parse(&octets);
        let _ = CapacityAllocationType2::parse(&octets);
        let _ = CapacityRequest::parse(&octets);
        let _ = CapacityAllocation::parse(&octets);
        let _ = EDchData::parse(&octets, |_| Some(size));
    }
}
