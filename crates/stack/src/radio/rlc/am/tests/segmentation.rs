//! Segmentation of SDUs into PDUs of acknowledged mode: the octets that length indicators, padding
//! and a piggybacked STATUS take. Unless a test states otherwise, a PDU holds 40 octets, and a length
//! indicator takes one of them.

use super::*;

/// The PDUs of a transfer.
#[derive(Debug, PartialEq)]
struct Sent {
    pdus: u32,
    /// Octets of the PDUs after their headers that contain no data: length indicators and padding.
    overhead_octets: u32,
}

/// Sends SDUs of these sizes in octets.
fn send(config: &RlcConfig, sizes: &[u32]) -> Sent {
    let mut entity = TestEntity::new(config.clone());
    for (id, &octets) in sizes.iter().enumerate() {
        entity.submits(id as u64, octets).unwrap();
    }
    let pdus = entity.sends_set(128).blocks;
    let data_octets = sizes.iter().sum::<u32>();
    Sent { pdus, overhead_octets: pdus * u32::from(config.pdu_payload.0) - data_octets }
}

#[test]
fn an_sdu_inside_a_pdu_costs_one_length_indicator() {
    // 39 octets and their length indicator fill the PDU.
    assert_eq!(send(&config(), &[39]), Sent { pdus: 1, overhead_octets: 1 });
    assert_eq!(send(&config(), &[20, 18]), Sent { pdus: 1, overhead_octets: 2 });
}

#[test]
fn exact_fill_is_indicated_in_the_next_pdu() {
    // The second PDU contains only the indicator for the first one and padding.
    assert_eq!(send(&config(), &[40]), Sent { pdus: 2, overhead_octets: 40 });
    // The second PDU contains the indicator for the first SDU, 38 octets of the second SDU, and the
    // indicator for the second SDU.
    assert_eq!(send(&config(), &[40, 38]), Sent { pdus: 2, overhead_octets: 2 });
}

#[test]
fn eurane_needs_no_indicator_for_an_exact_fill() {
    assert_eq!(send(&eurane(), &[40]), Sent { pdus: 1, overhead_octets: 0 });
    assert_eq!(send(&eurane(), &[1040]), Sent { pdus: 26, overhead_octets: 0 });
    assert_eq!(send(&eurane(), &[1040, 1040]), Sent { pdus: 52, overhead_octets: 0 });
}

#[test]
fn eurane_puts_two_sdus_in_a_pdu_only_if_the_second_is_larger_than_the_room() {
    // 20 octets and an indicator leave 19 octets of a PDU. An SDU of 1040 octets starts there, but
    // an SDU of 10 octets, which would fit completely, does not.
    assert_eq!(send(&eurane(), &[20, 1040]).pdus, 27);
    assert_eq!(send(&eurane(), &[20, 10]).pdus, 2);
    // Two octets of room are too few.
    assert_eq!(send(&eurane(), &[37, 1040]).pdus, 27);
}

#[test]
fn a_large_pdu_has_length_indicators_of_two_octets() {
    let config = RlcConfig { pdu_payload: Octets(160), ..config() };
    assert_eq!(send(&config, &[100]), Sent { pdus: 1, overhead_octets: 60 });
    // A single octet after an indicator of two octets is unused: the next SDU begins in the next
    // PDU (§9.2.2.8).
    assert_eq!(send(&config, &[157, 158]), Sent { pdus: 2, overhead_octets: 5 });
    assert_eq!(send(&config, &[156, 160]), Sent { pdus: 2, overhead_octets: 4 });
    // 158 octets and an indicator of two octets fill the PDU. With 159, the next PDU indicates the
    // end.
    assert_eq!(send(&config, &[158]).pdus, 1);
    assert_eq!(send(&config, &[159]).pdus, 2);
}

#[test]
fn a_status_in_a_new_pdu_takes_room_from_its_data() {
    let mut entity = TestEntity::new(eurane());
    entity.at(0).receives(&data_with_poll(0, 0, &[sdu(7, 0..=0)]), &[]);
    entity.submits(0, 1040).unwrap();
    // The STATUS of 20 bits takes 3 octets and an indicator of one octet, so the first PDU has 36
    // octets of data. The other 1004 octets fill 25 PDUs, and 4 octets are in the last PDU.
    assert_eq!(entity.at(5).sends(40), ["0 +STATUS", "1-26 P"]);
}

#[test]
fn a_status_is_piggybacked_only_if_it_fits_into_the_padding() {
    let padding = RlcConfig { piggyback: Piggyback::Padding, ..config() };
    // The report has 4 bits of type and 16 bits of ACK, 3 octets, and needs an indicator of one
    // octet. An SDU of 35 octets and its indicator leave the 4 octets, an SDU of 36 does not.
    for (octets, expected) in [(35, vec!["0 P +STATUS"]), (36, vec!["STATUS ack 1", "0 P"])] {
        let mut entity = TestEntity::new(padding.clone());
        entity.at(0).receives(&data_with_poll(0, 0, &[sdu(7, 0..=0)]), &[]);
        entity.submits(0, octets).unwrap();
        assert_eq!(entity.at(10).sends(4), expected, "{octets} octets");
    }
}

/// PDUs of flexible size have no padding and data of one SDU. A retransmission has the size of the first
/// transmission.
#[test]
fn flexible_pdus_have_the_size_of_their_content() {
    let (pdu_size, largest_pdu) = (PduSize::Flexible, Octets(102));
    let mut entity = TestEntity::new(RlcConfig { pdu_size, largest_pdu, ..config() });
    entity.submits(0, 250).unwrap();
    entity.submits(1, 30).unwrap();
    assert_eq!(entity.am.backlog().pdus, 3);
    let set = entity.at(10).sends_set(10);
    // 100, 100 and 50 octets of the first SDU, and 30 of the second one, each with a header.
    assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["0-3 P"]);
    assert_eq!(set.flexible_octets, 102 + 102 + 52 + 32);
    entity.at(80).receives_status(4, &[0, 2]);
    assert_eq!(entity.am.backlog().octets, Bytes(150));
    assert_eq!(entity.am.available_for_transmission(ms(80)), Bytes(102 + 52));
    let set = entity.at(90).sends_set(10);
    assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["0 R", "2 R P"]);
    assert_eq!(set.flexible_octets, 102 + 52);
}
