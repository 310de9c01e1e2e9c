//! MAC headers: sizes and bits, errors, and round trips.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn channel(number: u8) -> LogicalChannel {
    LogicalChannel::new(number).expect("1 to 15")
}

/// A block with this header and an SDU of 336 bits, all ones.
fn block(header: MacHeader) -> Vec<u8> {
    let mut block = Vec::new();
    header.emit(&[0xFF; 42], 336, &mut block);
    block
}

#[test]
fn blocks_have_the_sizes_of_ts_34_108() {
    let dtch = channel(9);
    // Bits of a block with an AMD PDU of 42 octets.
    let bits = |header: MacHeader| header.bits() + 336;
    assert_eq!(bits(MacHeader::Absent), 336);
    assert_eq!(bits(MacHeader::Dch(dtch)), 340);
    assert_eq!(bits(MacHeader::RachDedicated(7, dtch)), 360);
    assert_eq!(bits(MacHeader::FachDedicated(UeAddress::CRnti(7), dtch)), 360);
    assert_eq!(bits(MacHeader::FachDedicated(UeAddress::URnti(7), dtch)), 376);
    // CCCH: transparent mode in the uplink, unacknowledged mode in the downlink.
    assert_eq!(MacHeader::RachCcch.bits() + 166, 168);
    assert_eq!(MacHeader::FachCcch.bits() + 8 + 152, 168);
    assert_eq!(MacHsHeader::new(0, 0, vec![MacHsSizes { sid: 0, pdus: 3 }]).expect("fits").bits(), 21);
}

#[test]
fn header_bits_match_the_reference() {
    // First octets of blocks that tshark decodes as C-RNTI 0x1234 (U-RNTI 0x00200004) and C/T 8.
    // The SDU is all ones.
    let begins = |header: MacHeader, octets: &[u8]| assert_eq!(&block(header)[..octets.len()], octets);
    let dtch = channel(9);
    begins(MacHeader::Dch(dtch), &[0x8F, 0xFF]);
    begins(MacHeader::FachDedicated(UeAddress::CRnti(0x1234), dtch), &[0xD1, 0x23, 0x48, 0xFF]);
    begins(
        MacHeader::FachDedicated(UeAddress::URnti(0x0020_0004), dtch),
        &[0xC0, 0x02, 0x00, 0x00, 0x48, 0xFF],
    );
    begins(MacHeader::RachDedicated(0x1234, dtch), &[0x51, 0x23, 0x48, 0xFF]);
    begins(MacHeader::FachCcch, &[0x40, 0xFF]);
    begins(MacHeader::FachCtch, &[0x80, 0xFF]);
    begins(MacHeader::FachBcch, &[0x3F]);
    begins(MacHeader::RachCcch, &[0x3F]);
}

#[test]
fn reserved_values_are_rejected() {
    let rule = |block: &[u8], on| MacHeader::parse(block, on).expect_err("it is reserved");
    // The first two bits are the TCTF, and the next two the UE-Id type.
    assert_eq!(rule(&[0b1100_0000], HeaderChannel::Rach), MacRule::ReservedTctf.at(0));
    assert_eq!(rule(&[0b0100_0001], HeaderChannel::Fach), MacRule::ReservedTctf.at(0));
    assert_eq!(rule(&[0b1110_0000], HeaderChannel::Fach), MacRule::ReservedUeIdType.at(2));
    assert_eq!(rule(&[0b0100_0000; 9], HeaderChannel::Rach), MacRule::ReservedUeIdType.at(2));
    assert_eq!(rule(&[0xF0], HeaderChannel::SharedDch), MacRule::ReservedLogicalChannel.at(0));
    assert_eq!(rule(&[0b1101_0000, 0], HeaderChannel::Fach), MacRule::Truncated.at(4));
    // A MAC-hs header: version flag, queue 3, TSN 6, and from bit 10 on SID 3 and the number of PDUs 7.
    assert_eq!(MacHsHeader::parse(&[0x80]), Err(MacRule::Version.at(0)));
    assert_eq!(MacHsHeader::parse(&[0, 0, 0]), Err(MacRule::OutOfField.at(13)));
    assert_eq!(MacHsHeader::parse(&[0]), Err(MacRule::Truncated.at(4)));
    assert_eq!(MacEhsHeader::parse(&[0x80, 0, 0]), Err(MacRule::OutOfField.at(0)));
    assert_eq!(MacEhsHeader::parse(&[0x80, 0x54]), Err(MacRule::Truncated.at(15)));
}

/// Two parts of 42 and 7 octets with TSN 5, of which the second one continues in the next block.
#[test]
fn mac_ehs_header_has_a_tsn_once() {
    let parts = vec![MacEhsPart { channel: 8, octets: 42 }, MacEhsPart { channel: 8, octets: 7 }];
    let header = MacEhsHeader::new(5, 0b10, parts).expect("it fits");
    let mut octets = Vec::new();
    header.emit(&mut octets);
    // 1000 00000101010 000101 10 0 1000 00000000111 1
    assert_eq!(octets, [0x80, 0x54, 0x2C, 0x80, 0x0F]);
    assert_eq!((header.octets(), MacEhsHeader::parse(&octets)), (5, Ok(header)));
}

fn header() -> impl Strategy<Value = (MacHeader, HeaderChannel)> {
    (any::<u16>(), any::<u32>(), 1u8..=15).prop_flat_map(|(c_rnti, u_rnti, number)| {
        let number = channel(number);
        select(vec![
            (MacHeader::Absent, HeaderChannel::Headless),
            (MacHeader::Dch(number), HeaderChannel::SharedDch),
            (MacHeader::RachDedicated(c_rnti, number), HeaderChannel::Rach),
            (MacHeader::RachCcch, HeaderChannel::Rach),
            (MacHeader::FachDedicated(UeAddress::CRnti(c_rnti), number), HeaderChannel::Fach),
            (MacHeader::FachDedicated(UeAddress::URnti(u_rnti), number), HeaderChannel::Fach),
            (MacHeader::FachCcch, HeaderChannel::Fach),
            (MacHeader::FachBcch, HeaderChannel::Fach),
            (MacHeader::FachCtch, HeaderChannel::Fach),
            (MacHeader::Dsch(c_rnti, None), HeaderChannel::Dsch { multiplexed: false }),
            (MacHeader::Dsch(c_rnti, Some(number)), HeaderChannel::Dsch { multiplexed: true }),
        ])
    })
}

proptest! {
    #[test]
    fn headers_round_trip((header, on) in header(), sdu in proptest::collection::vec(any::<u8>(), 0..50), cut in 0usize..8) {
        let bits = (sdu.len() * 8).saturating_sub(cut);
        let mut block = Vec::new();
        header.emit(&sdu, bits, &mut block);
        prop_assert_eq!(block.len(), (header.bits() as usize + bits).div_ceil(8));
        prop_assert_eq!(MacHeader::parse(&block, on), Ok(header));
        let mut again = Vec::new();
        header.emit(&sdu_bits(&block, header.bits() as usize, bits).expect("all is there"), bits, &mut again);
        prop_assert_eq!(again, block);
    }

    #[test]
    fn parsing_any_block_round_trips_or_fails(block in proptest::collection::vec(any::<u8>(), 0..12)) {
        for on in [HeaderChannel::Headless, HeaderChannel::SharedDch, HeaderChannel::Rach, HeaderChannel::Fach,
                   HeaderChannel::Dsch { multiplexed: false }, HeaderChannel::Dsch { multiplexed: true }] {
            match MacHeader::parse(&block, on) {
                Ok(header) => {
                    let rest = block.len() * 8 - header.bits() as usize;
                    let sdu = sdu_bits(&block, header.bits() as usize, rest).expect("all is there");
                    let mut again = Vec::new();
                    header.emit(&sdu, rest, &mut again);
                    prop_assert_eq!(&again, &block);
                }
                Err(error) => prop_assert!(error.bit <= block.len() * 8),
            }
        }
        if let Ok(header) = MacEhsHeader::parse(&block) {
            let mut again = Vec::new();
            header.emit(&mut again);
            prop_assert_eq!(again.len(), header.octets());
            prop_assert_eq!(&again[..], &block[..again.len()]);
        }
        if let Ok(header) = MacHsHeader::parse(&block) {
            let rest = block.len() * 8 - header.bits() as usize;
            let pdus = sdu_bits(&block, header.bits() as usize, rest).expect("all is there");
            let mut again = Vec::new();
            header.emit(&pdus, rest, &mut again);
            prop_assert_eq!(&again, &block);
        }
    }
}
