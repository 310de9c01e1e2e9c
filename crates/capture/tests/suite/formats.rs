//! Rare and old formats of capture files, impossible clocks, and packets that are not sorted by
//! time.

use crate::files::{ByteOrder, block, expected, interface, packet, packets, read, section};

/// Kuznetzov's "modified" pcap, with eight more octets before each packet.
fn modified(order: ByteOrder) -> Vec<u8> {
    let mut file = order.word(0xa1b2_cd34).to_vec();
    file.extend([order.half(2), order.half(4)].concat());
    for word in [0, 0, 65_535, 101] {
        file.extend(order.word(word));
    }
    for (at, bytes) in packets() {
        let length = bytes.len() as u32;
        let (seconds, micros) = (at / 1_000_000_000, at % 1_000_000_000 / 1000);
        for word in [seconds as u32, micros as u32, length, length, 3, 0x0800_0000] {
            file.extend(order.word(word));
        }
        file.extend(bytes);
    }
    file
}

#[test]
fn modified_pcap_in_both_byte_orders() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        assert_eq!(read(&modified(order)).expect("the bytes are a capture"), expected(), "{order:?}");
    }
}

/// The obsolete Packet Block, with a count of lost packets.
fn packet_block(order: ByteOrder, interface: u16, units: u64, bytes: &[u8]) -> Vec<u8> {
    let mut body = [order.half(interface), order.half(7)].concat();
    for word in [(units >> 32) as u32, units as u32, bytes.len() as u32, bytes.len() as u32] {
        body.extend(order.word(word));
    }
    body.extend(bytes);
    block(order, 2, &body)
}

#[test]
fn packet_blocks_mix_with_other_blocks_in_both_byte_orders() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut file =
            [section(order), interface(order, None, None), interface(order, Some(9), None)].concat();
        for (number, (at, bytes)) in packets().into_iter().enumerate() {
            file.extend(match number % 3 {
                0 => packet_block(order, 0, at / 1000, &bytes),
                1 => packet_block(order, 1, at, &bytes),
                _ => packet(order, 1, at, &bytes),
            });
        }
        assert_eq!(read(&file).expect("the bytes are a capture"), expected(), "{order:?}");
        let length = file.len();
        let cut = read(&file[..length - 3]).expect("only the last packet is missing");
        assert_eq!(cut.counts.packets, packets().len() as u64 - 1);
    }
}

#[test]
fn short_packet_block_is_damage() {
    for body in 0..20 {
        let order = ByteOrder::Big;
        let file = [section(order), interface(order, None, None), block(order, 2, &vec![0; body])].concat();
        let analysis = read(&file).expect("the file begins like a capture");
        // The fixed part has 20 octets. Bodies are padded to words of four octets.
        let is_whole = body >= 17;
        assert_eq!(analysis.counts.packets, u64::from(is_whole));
        assert_eq!(analysis.warnings.iter().any(|warning| warning.contains("damaged")), !is_whole, "{body}");
    }
}

#[test]
fn impossible_clock_unit_is_an_error() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for (resolution, name) in
            [(127, "10^-127 s"), (20, "10^-20 s"), (0x80 | 127, "2^-127 s"), (0x80 | 64, "2^-64 s")]
        {
            let mut file =
                [section(order), interface(order, None, None), interface(order, Some(resolution), None)]
                    .concat();
            // An interface without packets causes no error.
            assert!(read(&file).is_ok());
            file.extend(packet_block(order, 1, 5, &packets()[0].1));
            let error = read(&file).expect_err("its times are not known").to_string();
            assert!(error.contains(&format!("interface 1 counts time in units of {name}")), "{error}");
        }
    }
}

#[test]
fn impossible_times_are_left_out_with_a_warning() {
    let order = ByteOrder::Little;
    let bytes = &packets()[0].1;
    let file = [
        section(order),
        interface(order, Some(0), None),
        interface(order, Some(6), Some(-2_000_000_000)),
        interface(order, Some(15), None),
        // Microseconds although the interface counts seconds; a time before 1970; and a valid time.
        packet(order, 0, 1_700_000_000_000_000, bytes),
        packet(order, 1, 5, bytes),
        packet(order, 2, 7, bytes),
    ]
    .concat();
    let analysis = read(&file).expect("the bytes are a capture");
    assert_eq!(analysis.counts.packets, 1);
    for text in [
        "1 packets of interface 0, which counts units of 10^-0 s, have times before 1970 or after 2262",
        "1 packets of interface 1, which counts units of 10^-6 s",
        "interface 2 counts time in units of 10^-15 s, finer than any clock",
    ] {
        assert!(analysis.warnings.iter().any(|warning| warning.starts_with(text)), "{:?}", analysis.warnings);
    }
}

#[test]
fn packets_of_many_interfaces_with_impossible_times_are_all_counted() {
    let (order, bytes) = (ByteOrder::Little, &packets()[0].1);
    let mut file = section(order);
    (0..20).for_each(|_| file.extend(interface(order, Some(0), None)));
    (0..20).for_each(|number| file.extend(packet(order, number, u64::MAX, bytes)));
    let analysis = read(&file).expect("the file begins like a capture");
    let of_interfaces =
        analysis.warnings.iter().filter(|warning| warning.starts_with("1 packets of interface ")).count();
    assert_eq!(of_interfaces, 16);
    let of_others = "4 packets of other interfaces have times before 1970";
    assert!(analysis.warnings.iter().any(|warning| warning.starts_with(of_others)));
}

#[test]
fn too_many_interfaces_are_damage() {
    let order = ByteOrder::Little;
    let file = |interfaces: usize| {
        let mut file = section(order);
        (0..interfaces).for_each(|_| file.extend(interface(order, None, None)));
        file.extend(packet(order, 0, 5, &packets()[0].1));
        read(&file).expect("the file begins like a capture")
    };
    assert_eq!(file(1 << 16).counts.packets, 1);
    let refused = file((1 << 16) + 1);
    assert_eq!(refused.counts.packets, 0);
    assert!(refused.warnings[0].starts_with("the file is damaged at byte "), "{:?}", refused.warnings);
}

#[test]
fn large_fractions_of_a_second_give_a_warning() {
    let mut file = modified(ByteOrder::Big)[..24].to_vec();
    file[..4].copy_from_slice(&0xa1b2_c3d4_u32.to_be_bytes());
    let bytes = &packets()[0].1;
    for word in [1_700_000_000, 999_999_999, bytes.len() as u32, bytes.len() as u32] {
        file.extend(ByteOrder::Big.word(word));
    }
    file.extend(bytes);
    let analysis = read(&file).expect("the bytes are a capture");
    assert!(
        analysis.warnings[0].starts_with("1 packets have a fraction of a second"),
        "{:?}",
        analysis.warnings
    );
}

/// The packets of one direction before the packets of the other, all packets in reverse order, and
/// each three packets in reverse order.
#[test]
fn packets_within_the_window_are_sorted_by_time() {
    let sorted = expected();
    type Shuffle = fn(&mut Vec<(u64, Vec<u8>)>);
    let shuffles: [Shuffle; 3] = [
        |list| list.sort_by_key(|(at, bytes)| (bytes[12], *at)),
        |list| list.reverse(),
        |list| list.chunks_mut(3).for_each(<[_]>::reverse),
    ];
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for shuffle in shuffles {
            // All times are made different first, because packets with equal times keep the order
            // of the file.
            let mut list = packets();
            list.iter_mut().enumerate().for_each(|(number, packet)| packet.0 += 1000 * number as u64);
            let in_order = file_of(order, &list);
            shuffle(&mut list);
            let analysis = read(&file_of(order, &list)).expect("the bytes are a capture");
            let expected = read(&in_order).expect("the bytes are a capture");
            assert_eq!(
                (&analysis.metrics, &analysis.connections),
                (&expected.metrics, &expected.connections)
            );
            assert_eq!(analysis.counts.out_of_time, 0);
            assert!(analysis.warnings.iter().any(|warning| warning.contains("order of their times")));
            assert_eq!(analysis.connection_count, sorted.connection_count);
        }
    }
}

/// Returns a pcapng file with these packets in this order.
fn file_of(order: ByteOrder, list: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = [section(order), interface(order, Some(9), None)].concat();
    list.iter().for_each(|(at, bytes)| file.extend(packet(order, 0, *at, bytes)));
    file
}
