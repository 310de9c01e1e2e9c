//! Packets of captures: nested headers, random and damaged, and conversations in any order. No
//! input may cause a panic, and the counts must add up.

use umts_capture::{Analyser, Analysis, LinkType};
use umts_units::Time;

use crate::draw::Draw;

/// Numbers of protocols in IP.
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV4_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
const AUTHENTICATION_HEADER: u8 = 51;
const MPLS_IN_IP: u8 = 137;

/// UDP ports of tunnels.
const GTP_U: u16 = 2152;
const VXLAN: u16 = 4789;
const GENEVE: u16 = 6081;

/// Nested headers of every kind around a segment or datagram, with errors.
pub fn nested_headers(draw: &mut Draw) {
    let mut analyser = Analyser::new().with_time_sequence(0);
    let count = draw.range(1, 12);
    for number in 0..count {
        let (link, mut octets) = frame(draw);
        let length = octets.len() as u32;
        let is_damaged = draw.bool();
        if is_damaged {
            damage(draw, &mut octets);
        }
        let original = if draw.one_in(4) { draw.below(1 << 17) as u32 } else { length };
        analyser.packet(Time::from_nanos(number * 1_000_000), LinkType::from_number(link), &octets, original);
    }
    check(&analyser.finish(), count);
}

/// Segments of a few connections with any numbers, times that go back and forth, copies, and
/// changing tunnels.
pub fn conversations(draw: &mut Draw) {
    let mut analyser = if draw.bool() { Analyser::new() } else { Analyser::new().with_limit(3) };
    let isn = [draw.below(1 << 32) as u32, draw.below(1 << 32) as u32];
    let has_timestamps = draw.bool();
    let count = draw.range(1, 150);
    let mut now: u64 = 1_700_000_000_000_000_000;
    let mut last = Vec::new();
    let mut packets = 0;
    for _ in 0..count {
        now += [0, 20_000, 1_000_000, 5_000_000, 300_000_000, 200_000_000_000][draw.below(6) as usize];
        if !last.is_empty() && draw.one_in(5) {
            analyser.packet(Time::from_nanos(now), LinkType::Raw, &last, last.len() as u32);
            packets += 1;
        }
        let payload = segment(draw, isn, has_timestamps);
        let mut packet = ip(draw, TCP, payload);
        if draw.one_in(4) {
            packet = in_gtp(draw, packet);
        }
        let at = now.saturating_sub(if draw.one_in(10) { draw.below(1_000_000_000) } else { 0 });
        analyser.packet(Time::from_nanos(at), LinkType::Raw, &packet, packet.len() as u32);
        packets += 1;
        last = packet;
    }
    let analysis = analyser.finish();
    check(&analysis, packets);
    for row in &analysis.connections {
        let value = |name| row.metrics.value(name).unwrap_or(0.0);
        assert!(value("acknowledged_bytes") >= 0.0 && value("unseen_bytes") >= 0.0);
        let causes = [
            "tcp_retransmissions_by_dupack",
            "tcp_retransmissions_by_rto",
            "tail_loss_probes",
            "tcp_retransmissions_unexplained",
        ];
        if row.metrics.value("rto_count").is_some() {
            assert_eq!(
                causes.map(value).iter().sum::<f64>(),
                value("tcp_retransmissions"),
                "each has one cause"
            );
        }
    }
}

/// Every packet is counted exactly once.
fn check(analysis: &Analysis, packets: u64) {
    let counts = &analysis.counts;
    let sum = counts.tcp
        + counts.unknown_link
        + counts.not_ip
        + counts.fragments
        + counts.not_tcp
        + counts.unreadable
        + counts.too_deep;
    assert_eq!((counts.packets, sum), (packets, packets), "{counts:?}");
    let of_flows: u64 = analysis.udp_flows.iter().map(|flow| flow.sent.packets + flow.reverse.packets).sum();
    assert!(of_flows + analysis.udp_rest.packets <= counts.udp, "{counts:?}");
}

/// Changes, removes and inserts octets.
pub fn damage(draw: &mut Draw, octets: &mut Vec<u8>) {
    for _ in 0..draw.range(1, 5) {
        let at = draw.below(octets.len().max(1) as u64) as usize;
        match draw.below(4) {
            _ if octets.is_empty() => {}
            0 => octets[at] ^= 1 << draw.below(8),
            1 => octets[at] = draw.of(&[0x00, 0x01, 0x45, 0x60, 0x7f, 0x80, 0xff]),
            2 => octets.truncate(at),
            _ => octets.insert(at, draw.below(256) as u8),
        }
    }
}

/// A frame of any link type, with up to 40 tunnels, usually at most three.
pub fn frame(draw: &mut Draw) -> (u32, Vec<u8>) {
    let mut packet = if draw.one_in(4) {
        let octets = draw.octets(40);
        let datagram = udp(draw.below(65_536) as u16, &octets);
        ip(draw, UDP, datagram)
    } else {
        let segment = segment(draw, [1000, 5000], true);
        ip(draw, TCP, segment)
    };
    let depth = if draw.one_in(20) { 40 } else { draw.below(4) };
    for _ in 0..depth {
        packet = tunnelled(draw, packet);
    }
    match draw.below(8) {
        // Raw IP.
        0 => (101, packet),
        // Linux cooked capture, its second version, PPP, MPLS, and ATM.
        1 => (113, [&[0; 14][..], &ether_type(&packet), &packet].concat()),
        2 => (276, [&ether_type(&packet)[..], &[0; 18], &packet].concat()),
        3 => (9, [&[0xff, 3, 0, if packet[0] >> 4 == 6 { 0x57 } else { 0x21 }][..], &packet].concat()),
        4 => (219, mpls(draw, packet)),
        5 => (100, [&[0xaa, 0xaa, 3, 0, 0, 0][..], &ether_type(&packet), &packet].concat()),
        _ => (1, ethernet(draw, packet)),
    }
}

/// The packet in a tunnel: GTP-U, VXLAN, Geneve, GRE, an authentication header, IP or MPLS in IP.
fn tunnelled(draw: &mut Draw, packet: Vec<u8>) -> Vec<u8> {
    match draw.below(7) {
        0 => in_gtp(draw, packet),
        1 => {
            let frame = ethernet(draw, packet);
            ip(draw, UDP, udp(VXLAN, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &frame].concat()))
        }
        2 => {
            let frame = ethernet(draw, packet);
            let options = draw.below(3) as usize;
            let header = [&[options as u8, 0, 0x65, 0x58, 0, 0, 1, 0][..], &vec![0; 4 * options]].concat();
            ip(draw, UDP, udp(GENEVE, &[header, frame].concat()))
        }
        3 => {
            let flags = draw.of(&[0x00u8, 0x20, 0x30, 0xb0]);
            let fields = 4 * (flags & 0xb0).count_ones() as usize;
            let kind = ether_type(&packet);
            ip(draw, GRE, [&[flags, 0][..], &kind, &vec![0; fields], &packet].concat())
        }
        4 => {
            let number = ip_in_ip(&packet);
            ip(draw, AUTHENTICATION_HEADER, [&[number, 4, 0, 0][..], &[0; 20], &packet].concat())
        }
        5 => {
            let number = ip_in_ip(&packet);
            ip(draw, number, packet)
        }
        _ => {
            let labelled = mpls(draw, packet);
            ip(draw, MPLS_IN_IP, labelled)
        }
    }
}

/// Returns the protocol number of a packet inside another.
fn ip_in_ip(packet: &[u8]) -> u8 {
    if packet[0] >> 4 == 6 { IPV6_IN_IP } else { IPV4_IN_IP }
}

/// The packet in GTP-U, with any optional fields and extension headers.
fn in_gtp(draw: &mut Draw, packet: Vec<u8>) -> Vec<u8> {
    let flags = 0x30 | draw.of(&[0u8, 1, 2, 4, 6]);
    let mut rest = Vec::new();
    if flags & 7 != 0 {
        rest.extend([0, 9, 0]);
        let extensions = if flags & 4 != 0 { draw.below(4) } else { 0 };
        rest.push(if extensions > 0 { 0x85 } else { 0 });
        for left in (0..extensions).rev() {
            let units = draw.range(1, 2) as usize;
            rest.push(units as u8);
            rest.extend(vec![0; 4 * units - 2]);
            rest.push(if left > 0 { 0xc0 } else { 0 });
        }
    }
    rest.extend(packet);
    let length = (rest.len() as u16).to_be_bytes();
    let teid = draw.below(4) as u8;
    ip(draw, UDP, udp(GTP_U, &[&[flags, 255, length[0], length[1], 0, 0, 0, teid][..], &rest].concat()))
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let words = [port, port, length, 7].map(u16::to_be_bytes).concat();
    [&words, payload].concat()
}

/// The packet behind a stack of labels, in an Ethernet frame or not.
fn mpls(draw: &mut Draw, packet: Vec<u8>) -> Vec<u8> {
    let labels = draw.range(1, 4);
    let mut octets: Vec<u8> = (1..=labels).flat_map(|label| [0, 1, u8::from(label == labels), 64]).collect();
    if draw.bool() {
        octets.extend([0; 4]);
        let frame = ethernet(draw, packet);
        octets.extend(frame);
    } else {
        octets.extend(packet);
    }
    octets
}

fn ether_type(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [0x08, 0x00] }
}

/// The packet in a frame with any VLAN tags, by LLC, MPLS or its own type.
fn ethernet(draw: &mut Draw, packet: Vec<u8>) -> Vec<u8> {
    let mut octets = vec![2; 12];
    for _ in 0..draw.below(3) {
        octets.extend([0x81, 0x00, 0, 5]);
    }
    match draw.below(4) {
        0 => {
            octets.extend((8 + packet.len() as u16).min(1500).to_be_bytes());
            octets.extend([0xaa, 0xaa, 3, 0, 0, 0]);
            octets.extend(ether_type(&packet));
        }
        1 => {
            octets.extend([0x88, 0x47]);
            octets.extend([0, 1, 1, 64]);
        }
        _ => octets.extend(ether_type(&packet)),
    }
    octets.extend(packet);
    octets
}

/// An IPv4 or IPv6 packet with this payload.
fn ip(draw: &mut Draw, protocol: u8, payload: Vec<u8>) -> Vec<u8> {
    let ends = if draw.bool() { [1, 2] } else { [2, 1] };
    if draw.one_in(3) {
        let length = (payload.len() as u16).to_be_bytes();
        let header = [0x60, 0, 0, 0, length[0], length[1], protocol, 64];
        return [&header[..], &[0; 15], &ends[..1], &[0; 15], &ends[1..], &payload].concat();
    }
    let length = (20 + payload.len() as u16).to_be_bytes();
    let id = draw.below(3) as u8;
    let header = [0x45, 0, length[0], length[1], 0, id, 0x40, 0, 64, protocol, 0, 0];
    [&header[..], &[10, 0, 0, ends[0], 10, 0, 0, ends[1]], &payload].concat()
}

/// A segment, usually with numbers near the initial ones.
fn segment(draw: &mut Draw, isn: [u32; 2], has_timestamps: bool) -> Vec<u8> {
    let side = draw.below(2) as usize;
    let number = |draw: &mut Draw, isn: u32| match draw.below(12) {
        0 => draw.below(1 << 32) as u32,
        1 => isn,
        _ => isn.wrapping_add(1 + 1000 * draw.below(12) as u32),
    };
    let (seq, ack) = (number(draw, isn[side]), number(draw, isn[1 - side]));
    let flags = draw.of(&[0x10u8, 0x10, 0x10, 0x10, 0x10, 0x02, 0x12, 0x11, 0x04, 0x14]);
    let mut options = Vec::new();
    if has_timestamps && !draw.one_in(8) {
        options.extend([1, 1, 8, 10]);
        options.extend((draw.below(50) as u32).to_be_bytes());
        options.extend((draw.below(50) as u32).to_be_bytes());
    }
    if draw.one_in(6) {
        options.extend([1, 1, 5, 10]);
        options.extend(number(draw, isn[1 - side]).to_be_bytes());
        options.extend(number(draw, isn[1 - side]).to_be_bytes());
    }
    let ports = if side == 0 { [40_000u16, 80] } else { [80, 40_000] };
    let window = draw.of(&[0u16, 1000, 65_535]);
    let payload = draw.of(&[0usize, 0, 1, 1000, 1000, 1400]);
    let offset = (5 + options.len() as u8 / 4) << 4;
    let mut octets = ports.map(u16::to_be_bytes).concat();
    octets.extend(seq.to_be_bytes());
    octets.extend(ack.to_be_bytes());
    octets.extend([offset, flags]);
    octets.extend(window.to_be_bytes());
    octets.extend([0; 4]);
    octets.extend(options);
    octets.extend(vec![0; payload]);
    octets
}
