//! Lists of the packets of a connection: numbers, kinds, windows, and ranges.

use etherparse::TcpOptionElement;
use umts_capture::{Analyser, ListedPacket, ListingRange, ListingStart, PacketListing};

use crate::common::{Conversation, End, Packet};

/// A range with all packets of the only connection.
const ALL: ListingRange = ListingRange { connection: 0, start: ListingStart::Packet(1), most: 1000 };

fn conversation(range: ListingRange) -> Conversation {
    Conversation { analyser: Analyser::new().with_packets(range), ..Conversation::new() }
}

fn listing(conversation: Conversation) -> PacketListing {
    conversation.analysis().listing.expect("packets were requested")
}

/// The server loses its second segment and sends it again after duplicate acknowledgments.
fn with_a_loss(range: ListingRange) -> PacketListing {
    let mut conversation = conversation(range);
    conversation.handshake(&[]);
    conversation.flight(200, 5);
    conversation.ack(300, 1).ack(301, 1).ack(302, 1).ack(303, 1);
    conversation.data(400, 1).ack(500, 5);
    listing(conversation)
}

fn kinds(packets: &[ListedPacket]) -> Vec<&'static str> {
    packets.iter().map(|packet| packet.kind.name()).collect()
}

#[test]
fn packets_have_relative_numbers_and_kinds() {
    let listing = with_a_loss(ALL);
    let packets = &listing.packets;
    assert_eq!(kinds(&packets[..4]), ["data", "data", "ack", "data"]);
    let flags: Vec<_> = packets[..4].iter().map(|packet| packet.flags.as_str()).collect();
    assert_eq!(flags, ["SYN", "SYN, ACK", "ACK", "ACK"]);
    let numbers: Vec<_> =
        packets[..5].iter().map(|packet| (packet.seq, packet.ack, packet.payload)).collect();
    let expected =
        [(-1, None, 0), (-1, Some(0), 0), (0, Some(0), 0), (0, Some(0), 1000), (1000, Some(0), 1000)];
    assert_eq!(numbers, expected);
    assert!(packets[0].is_from_client && !packets[1].is_from_client);
    assert_eq!(packets[3].time_s, 0.2);
    assert_eq!(
        kinds(&packets[8..]),
        ["ack", "duplicate_ack", "duplicate_ack", "duplicate_ack", "retransmission", "ack"]
    );
    let duplicates: Vec<_> = packets.iter().filter_map(|packet| packet.kind.duplicates_in_row()).collect();
    assert_eq!(duplicates, [1, 2, 3]);
    assert_eq!(packets[12].kind.retransmission_cause(), Some("dupacks"));
    assert_eq!((listing.count, listing.retransmissions, listing.duplicate_acks), (14, 1, 3));
}

#[test]
fn a_range_has_its_packets_and_the_nearest_retransmissions() {
    let all = with_a_loss(ALL);
    for (start, first, most) in [
        (ListingStart::Packet(1), 1, 3),
        (ListingStart::Packet(4), 4, 5),
        (ListingStart::Packet(13), 13, 5),
        (ListingStart::Packet(15), 15, 5),
        (ListingStart::Time(0.2), 4, 5),
        (ListingStart::Time(0.35), 13, 1),
        (ListingStart::Time(9.0), 15, 5),
    ] {
        let listing = with_a_loss(ListingRange { start, most, ..ALL });
        let expected = all.packets.iter().skip(first - 1).take(most).cloned().collect::<Vec<_>>();
        assert_eq!(listing.packets, expected, "{start:?}");
        assert_eq!(listing.count, 14);
        let end = first + most - 1;
        assert_eq!(listing.retransmission_before, (first > 13).then_some(13), "{start:?}");
        assert_eq!(listing.retransmission_after, (end < 13).then_some(13), "{start:?}");
    }
}

#[test]
fn windows_are_scaled_only_if_both_handshake_packets_were_captured() {
    let mut whole = conversation(ALL);
    whole.handshake(&[TcpOptionElement::WindowScale(7)]);
    whole.data(200, 0).ack(300, 1);
    let windows: Vec<_> = listing(whole).packets.iter().map(|packet| packet.window).collect();
    let scaled = Some(60_000 << 7);
    assert_eq!(windows, [Some(60_000), Some(60_000), scaled, scaled, scaled]);

    let mut late = conversation(ALL);
    late.data(200, 0).ack(300, 1);
    let packets = listing(late).packets;
    assert_eq!(packets.iter().map(|packet| packet.window).collect::<Vec<_>>(), [None, None]);
    assert!(packets.iter().all(|packet| packet.window_field == 60_000));
    // Without a SYN, the first number is 0.
    assert_eq!(
        packets.iter().map(|packet| (packet.seq, packet.ack)).collect::<Vec<_>>(),
        [(0, Some(0)), (0, Some(1000))]
    );
}

#[test]
fn selective_acknowledgments_have_the_numbers_of_the_data() {
    let mut conversation = conversation(ALL);
    conversation.handshake(&[TcpOptionElement::SelectiveAcknowledgementPermitted]);
    conversation.flight(200, 4).ack(300, 1).sack(301, 1, 2, 4);
    let packets = listing(conversation).packets;
    assert_eq!(packets.last().unwrap().sack, [(2000, 4000)]);
    assert_eq!(packets.last().unwrap().kind.name(), "duplicate_ack");
}

#[test]
fn all_flags_are_listed_from_the_lowest_bit() {
    let mut conversation = conversation(ALL);
    conversation.handshake(&[]);
    for (number, flags) in ["P", "UP", "CE", "CEUPF"].into_iter().enumerate() {
        let packet = Packet { payload: 1000, ..Packet::new(End::Server, flags) };
        conversation.add(200, 1 + 1000 * number as u32, Some(1), packet);
    }
    let packets = listing(conversation).packets;
    let flags: Vec<_> = packets[3..].iter().map(|packet| packet.flags.as_str()).collect();
    let expected = ["PSH, ACK", "PSH, ACK, URG", "ACK, ECE, CWR", "FIN, PSH, ACK, URG, ECE, CWR"];
    assert_eq!(flags, expected);
}

#[test]
fn a_packet_with_another_psh_is_still_a_copy() {
    let mut conversation = conversation(ALL);
    conversation.handshake(&[]);
    for flags in ["", "P"] {
        let packet = Packet { payload: 1000, identification: 7, ..Packet::new(End::Server, flags) };
        conversation.add(200, 1, Some(1), packet);
    }
    assert_eq!(listing(conversation).packets.len(), 4);
}

#[test]
fn a_foreign_reset_is_listed_and_not_believed() {
    let mut conversation = conversation(ALL);
    conversation.handshake(&[]);
    conversation.data(200, 0).ack(300, 1);
    conversation.add(400, 3_000_000_000, Some(1), Packet::new(End::Server, "R"));
    let packets = listing(conversation).packets;
    assert_eq!(kinds(&packets[4..]), ["ack", "not_believed"]);
}

#[test]
fn the_window_table_has_the_changes_of_the_receivers_window() {
    let mut conversation = Conversation::new();
    conversation.handshake(&[TcpOptionElement::WindowScale(2)]);
    conversation.flight(200, 3).ack(300, 1);
    conversation.add(310, 1, Some(2001), Packet::new(End::Client, "").window(0));
    conversation.add(320, 1, Some(2001), Packet::new(End::Client, "").window(0));
    conversation.add(330, 1, Some(2001), Packet::new(End::Client, "").window(500));
    let analysis = conversation.analysis();
    let [tables] = &analysis.time_sequences[..] else { panic!("one connection") };
    // The last packet of the handshake is the first with a scaled window and an acknowledgment.
    assert_eq!(tables.windows, [(0.1, 240_000), (0.31, 0), (0.33, 2000)]);

    let mut late = Conversation::new();
    late.flight(200, 3).ack(300, 1);
    assert!(late.analysis().time_sequences[0].windows.is_empty());
}
