//! Captures of scripted conversations between UE 7 and the server of flow 3, checked with tshark
//! and tcptrace if they are installed.

use std::fs;
use std::process::Command;
use std::rc::Rc;

use tempfile::TempDir;
use umts_stack::ids::{ConnectionId, Direction, FlowId, ProxyLeg, UeId};
use umts_stack::packet::{Content, Datagram, Flags, Foreign, Options, Packet, SackBlocks, Segment};

use super::headers::initial_number;
use super::*;

const SYN: Flags =
    Flags { syn: true, ack: false, fin: false, psh: false, rst: false, ece: false, cwr: false };
const SYN_ACK: Flags = Flags { ack: true, ..SYN };
const ACK: Flags = Flags { syn: false, ..SYN_ACK };
const FIN: Flags = Flags { fin: true, ..ACK };

/// Packets of one connection, which pass all capture points 10 ms apart.
struct Conversation {
    captures: Captures,
    folder: TempDir,
    now: Time,
    packets: u64,
    connection: u32,
}

impl Conversation {
    fn new(config: &CaptureConfig) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let captures = Captures::create(folder.path(), config).expect("the folder is new");
        Conversation { captures, folder, now: Time::ZERO, packets: 0, connection: 0 }
    }

    fn with_payload() -> Self {
        Conversation::new(&CaptureConfig {
            points: vec![CapturePoint::Server],
            payload: true,
            ..CaptureConfig::default()
        })
    }

    /// A segment with sequence and acknowledgment numbers as in the model, where the SYN has number
    /// 0, and with `payload` bytes of payload.
    fn segment(&self, direction: Direction, flags: Flags, seq: u64, ack: u64, payload: u32) -> Segment {
        let mss = if flags.syn { 1000 } else { 0 };
        let connection = ConnectionId(self.connection);
        let options = Options { window_scale: flags.syn.then_some(0), ..Options::default() };
        let segment = Segment::new(connection, direction);
        Segment { flags, seq, ack, payload, window: 20_000, mss, options, ..segment }
    }

    fn add_segment(&mut self, segment: Segment) -> &mut Self {
        self.add_packet(Content::Segment(segment))
    }

    fn add_packet(&mut self, content: Content) -> &mut Self {
        self.now += umts_units::Duration::from_millis(10);
        self.packets += 1;
        let packet = Packet { id: PacketId(self.packets), flow: FlowId(3), ue: UeId(7), content };
        for at in [CapturePoint::Server, CapturePoint::Rnc, CapturePoint::Ue] {
            self.captures.record(self.now, &TraceEvent::PacketCaptured { at, packet });
        }
        self
    }

    /// Adds a segment from the server.
    fn down(&mut self, flags: Flags, seq: u64, ack: u64, payload: u32) -> &mut Self {
        let segment = self.segment(Direction::Downlink, flags, seq, ack, payload);
        self.add_segment(segment)
    }

    /// Adds a segment from the UE, without payload.
    fn up(&mut self, flags: Flags, seq: u64, ack: u64) -> &mut Self {
        let segment = self.segment(Direction::Uplink, flags, seq, ack, 0);
        self.add_segment(segment)
    }

    /// A download of six segments with 1000 bytes. The second one is retransmitted after four
    /// duplicate acknowledgments. With handshake and close there are 19 packets; the retransmission
    /// is packet 15.
    fn download(mut self) -> Self {
        self.up(SYN, 0, 0).down(SYN_ACK, 0, 1, 0).up(ACK, 1, 1);
        for number in 0..6 {
            self.down(ACK, 1 + 1000 * number, 1, 1000);
        }
        self.up(ACK, 1, 1001);
        for _ in 0..4 {
            self.up(ACK, 1, 1001);
        }
        let retransmission =
            Segment { transmission: 1, ..self.segment(Direction::Downlink, ACK, 1001, 1, 1000) };
        let packet = PacketId(self.packets + 1);
        let sent = TraceEvent::SegmentSent { packet, segment: retransmission, cause: SendCause::DupAck };
        self.captures.record(self.now, &sent);
        self.add_segment(retransmission);
        self.up(ACK, 1, 6001).down(FIN, 6001, 1, 0).up(FIN, 1, 6002).down(ACK, 6002, 2, 0);
        self
    }

    fn finish(self) -> (TempDir, Vec<PathBuf>) {
        let files = self.captures.finish().expect("the files can be written");
        (self.folder, files)
    }
}

/// Runs `program` on `file` and returns its output. Returns `None` with a message if it is not
/// installed.
fn output(program: &str, arguments: &[&str], file: &Path) -> Option<String> {
    match Command::new(program).args(arguments).arg(file).output() {
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{program}: {error}");
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => {
            eprintln!("SKIPPED: {program} cannot be run ({error}), so this capture is not checked");
            None
        }
    }
}

/// Returns the values of `fields` for each packet that matches `filter`.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut arguments = vec!["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-Y", filter];
    arguments.extend(["-T", "fields", "-E", "separator=|"]);
    for field in fields {
        arguments.extend(["-e", field]);
    }
    arguments.push("-r");
    let text = output("tshark", &arguments, file)?;
    Some(text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect())
}

/// Filter for packets that tshark considers faulty.
const ERRORS: &str = "_ws.malformed || _ws.expert.severity >= 0x600000 || tcp.analysis.ack_lost_segment \
                          || tcp.analysis.lost_segment || ip.checksum.status != 1";

#[test]
fn tshark_finds_headers_and_checksums_in_order() {
    let (_folder, files) = Conversation::with_payload().download().finish();
    let Some(packets) = tshark(
        &files[0],
        "tcp.checksum.status == 1",
        &["ip.src", "ip.dst", "tcp.srcport", "tcp.dstport", "frame.len", "ip.id", "frame.time_epoch"],
    ) else {
        return;
    };
    assert_eq!(packets.len(), 19, "each packet has a good TCP checksum");
    // The SYN, from UE 7 to the server of flow 3: headers of 40 bytes and options of 8 bytes, 10 ms
    // after 2005-01-01.
    assert_eq!(packets[0][..4], ["10.0.0.8", "198.18.0.4", "49152", "5001"]);
    assert_eq!(packets[0][4..], ["48", "0x0001", "1104537600.010000000"]);
    // The first segment with data.
    assert_eq!(packets[3][..5], ["198.18.0.4", "10.0.0.8", "5001", "49152", "1040"]);
    assert_eq!(tshark(&files[0], ERRORS, &["frame.number"]), Some(vec![]));
}

#[test]
fn tshark_recognises_the_fast_retransmission() {
    let (_folder, files) = Conversation::with_payload().download().finish();
    let Some(retransmissions) = tshark(
        &files[0],
        "tcp.analysis.retransmission || tcp.analysis.fast_retransmission",
        &["frame.number", "tcp.seq", "frame.comment"],
    ) else {
        return;
    };
    let comment = "packet 15, connection 0, flow 3, UE 7, transmission 2 after duplicate acknowledgments";
    assert_eq!(retransmissions, [["15", "1001", comment]]);
    let duplicates = tshark(&files[0], "tcp.analysis.duplicate_ack_num", &["tcp.analysis.duplicate_ack_num"]);
    assert_eq!(duplicates, Some((1..=4).map(|count| vec![count.to_string()]).collect()));
}

#[test]
fn payload_is_cut_but_its_length_is_known() {
    let (_folder, files) = Conversation::new(&CaptureConfig::default()).download().finish();
    let names: Vec<_> = files.iter().map(|file| file.file_name().expect("a file has a name")).collect();
    assert_eq!(names, ["server.pcapng", "rnc.pcapng", "ue.pcapng"]);
    for file in &files {
        let fields = ["frame.len", "frame.cap_len", "ip.len", "tcp.len"];
        let Some(packets) = tshark(file, "tcp.len > 0", &fields) else { return };
        assert_eq!(packets.len(), 7);
        assert!(packets.iter().all(|packet| packet == &["1040", "40", "1040", "1000"]));
        assert_eq!(tshark(file, ERRORS, &["frame.number"]), Some(vec![]));
    }
}

/// The UE negotiates a window shift of 4, so that its window of 1,000,000 bytes fits into 16 bits.
/// The window of a SYN is not scaled.
#[test]
fn windows_above_64_kib_are_scaled() {
    let mut conversation = Conversation::with_payload();
    let mut with_window = |flags: Flags, seq, ack, direction, window| {
        let mut segment = conversation.segment(direction, flags, seq, ack, 0);
        segment.options.window_scale =
            flags.syn.then_some(if direction == Direction::Uplink { 4 } else { 0 });
        conversation.add_segment(Segment { window, ..segment });
    };
    with_window(SYN, 0, 0, Direction::Uplink, 65_535);
    with_window(SYN_ACK, 0, 1, Direction::Downlink, 20_000);
    with_window(ACK, 1, 1, Direction::Uplink, 1_000_000);
    let (_folder, files) = conversation.finish();
    let fields = ["tcp.options.wscale.shift", "tcp.window_size"];
    let Some(packets) = tshark(&files[0], "tcp", &fields) else { return };
    assert_eq!(packets, [["4", "65535"], ["0", "20000"], ["", "1000000"]]);
}

/// Checks the options of the segments of a connection that uses every option, as decoded by tshark.
#[test]
fn tshark_reads_the_options_of_the_segments() {
    let mut conversation = Conversation::with_payload();
    let at = |ms| Time::from_nanos(ms * 1_000_000);
    let options_of_syn = Options { window_scale: Some(3), sack_permitted: true, timestamps: true };
    let options_of_others = Options { timestamps: true, ..Options::default() };
    let mut add =
        |direction, flags: Flags, [seq, ack]: [u64; 2], payload, sack, [sent_ms, echo_ms]: [u64; 2]| {
            let options = if flags.syn { options_of_syn } else { options_of_others };
            let segment = conversation.segment(direction, flags, seq, ack, payload);
            let (timestamp, echo) = (at(sent_ms), at(echo_ms));
            conversation.add_segment(Segment { options, sack, timestamp, echo, ..segment });
        };
    let (up, down, none) = (Direction::Uplink, Direction::Downlink, SackBlocks::NONE);
    let congested = Flags { ece: true, cwr: true, ..ACK };
    // Direction, flags, [sequence number, acknowledgment number], payload, SACK blocks, [timestamp,
    // echoed timestamp] in ms.
    add(up, SYN, [0, 0], 0, none, [10, 0]);
    add(down, SYN_ACK, [0, 1], 0, none, [60, 10]);
    add(up, ACK, [1, 1], 0, none, [110, 60]);
    // The second segment (from 1001 on) is lost, and the third is received twice.
    for (seq, sent_ms) in [(1, 160), (2001, 180), (2001, 190)] {
        add(down, ACK, [seq, 1], 1000, none, [sent_ms, 110]);
    }
    add(up, ACK, [1, 1001], 0, SackBlocks::new(1001, [(2001, 3001)]), [240, 160]);
    // The second block contains the first, which therefore reports a duplicate (RFC 2883 §4).
    add(up, congested, [1, 1001], 0, SackBlocks::new(1001, [(2001, 3001), (1, 3001)]), [250, 160]);
    let (_folder, files) = conversation.finish();
    let fields = [
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.option_kind",
        "tcp.options.sack.count",
        "tcp.flags.ece",
        "tcp.flags.cwr",
        "tcp.hdr_len",
    ];
    let Some(packets) = tshark(&files[0], "tcp", &fields) else { return };
    // Maximum segment size, SACK permitted, timestamps, no-operation, window scale: the order in
    // Linux.
    let syn = ["1000", "3", "2,4,8,1,3", "", "0", "0", "40"];
    assert_eq!(
        (&packets[0][..], &packets[1][..]),
        (&syn.map(str::to_owned)[..], &syn.map(str::to_owned)[..])
    );
    // No-operation twice and timestamps, in a header of 32 bytes.
    assert!(packets[2..6].iter().all(|packet| packet[..3] == ["", "", "1,1,8"] && packet[6] == "32"));
    // Number of SACK blocks, ECE, CWR, length of the header.
    assert_eq!(packets[6][3..], ["1", "0", "0", "44"]);
    assert_eq!(packets[7][3..], ["2", "1", "1", "52"]);
    // The echoed timestamps are the ones sent: on the way back, the timestamp of the first data
    // segment.
    let stamps = ["tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr"];
    let Some(stamps) = tshark(&files[0], "tcp", &stamps) else { return };
    assert_eq!(stamps[0][1], "0");
    assert_eq!((&stamps[1][1], &stamps[2][1]), (&stamps[0][0], &stamps[1][0]));
    assert_eq!((&stamps[6][1], &stamps[7][1]), (&stamps[3][0], &stamps[3][0]));
    let edges = ["tcp.options.sack_le", "tcp.options.sack_re"];
    let Some(edges) = tshark(&files[0], "tcp.options.sack.count == 1", &edges) else { return };
    assert_eq!(edges, [["2001", "3001"]]);
    let wrong = "_ws.malformed || tcp.options.wscale.shift.invalid || tcp.checksum.status != 1";
    assert_eq!(tshark(&files[0], wrong, &["frame.number"]), Some(vec![]));
}

/// Segments and SACK blocks around the wrap-around of the 32-bit sequence number. Number `n` of the
/// loop is `n` segments from the wrap-around, from -3 to 2.
#[test]
fn sequence_numbers_and_blocks_wrap_around() {
    /// Payload of a segment.
    const STEP: u64 = 1000;
    let mut conversation = Conversation::with_payload();
    conversation.up(SYN, 0, 0).down(SYN_ACK, 0, 1, 0).up(ACK, 1, 1);
    // The model continues to count when the 32 bits of the downlink wrap around.
    let initial = u64::from(initial_number(ConnectionId(0), Direction::Downlink));
    let wrap = (1_u64 << 32) - initial;
    for n in 0..6 {
        let seq = wrap - 3 * STEP + n * STEP;
        conversation.down(ACK, seq, 1, STEP as u32);
        let sack = SackBlocks::new(seq, [(seq + STEP, seq + 3 * STEP)]);
        let ack = Segment { sack, ..conversation.segment(Direction::Uplink, ACK, 1, seq, 0) };
        conversation.add_segment(ack);
    }
    let (_folder, files) = conversation.finish();
    let fields = ["tcp.seq_raw", "tcp.ack_raw", "tcp.options.sack_le", "tcp.options.sack_re"];
    let Some(packets) = tshark(&files[0], "frame.number > 3", &fields) else { return };
    let wire = |distance: i64| (distance * STEP as i64).rem_euclid(1 << 32).to_string();
    for (n, pair) in (-3..).zip(packets.chunks(2)) {
        assert_eq!(pair[0][0], wire(n));
        // tshark counts blocks from the initial sequence number.
        let edge = |n: i64| (wrap as i64 + n * STEP as i64).to_string();
        assert_eq!(pair[1][1..], [wire(n), edge(n + 1), edge(n + 3)]);
    }
}

/// A one-way connection as in ns-2: a SYN, a plain ACK, then data without acknowledgments. In the
/// capture the ACK is a SYN+ACK, and all data acknowledges.
#[test]
fn one_way_connection_is_shown_with_a_handshake() {
    let mut conversation = Conversation::with_payload();
    let none = Flags::default();
    let syn = Segment { mss: 0, ..conversation.segment(Direction::Downlink, SYN, 0, 0, 0) };
    conversation.add_segment(syn).up(ACK, 0, 1);
    conversation.down(none, 1, 0, 1000).down(none, 1001, 0, 1000).up(ACK, 0, 1001).up(ACK, 0, 2001);
    let (_folder, files) = conversation.finish();
    let fields = ["tcp.flags.str", "tcp.seq", "tcp.ack"];
    let Some(packets) = tshark(&files[0], "tcp.stream == 0", &fields) else { return };
    let flags: Vec<_> = packets.iter().map(|packet| packet[0].replace('·', "")).collect();
    assert_eq!(flags, ["S", "AS", "A", "A", "A", "A"]);
    let numbers: Vec<_> = packets.iter().map(|packet| (packet[1].as_str(), packet[2].as_str())).collect();
    assert_eq!(numbers, [("0", "0"), ("0", "1"), ("1", "1"), ("1001", "1"), ("1", "1001"), ("1", "2001")]);
    assert_eq!(tshark(&files[0], ERRORS, &["frame.number"]), Some(vec![]));
    assert_eq!(tshark(&files[0], "tcp.analysis.flags", &["frame.number"]), Some(vec![]));
}

#[test]
fn datagrams_have_udp_headers() {
    let mut conversation = Conversation::with_payload();
    for (direction, number, payload) in
        [(Direction::Downlink, 0, 160), (Direction::Uplink, 0, 33), (Direction::Downlink, 1, 0)]
    {
        let timestamp = Time::ZERO;
        let datagram = Datagram { direction, number, payload, header: 28, timestamp };
        conversation.add_packet(Content::Datagram(datagram));
    }
    let (_folder, files) = conversation.finish();
    let fields = ["ip.src", "udp.srcport", "udp.dstport", "udp.length", "frame.len", "frame.comment"];
    let mut arguments = vec!["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
    arguments.extend(["-Y", "udp.checksum.status == 1 && ip.checksum.status == 1"]);
    arguments.extend(["-T", "fields", "-E", "separator=|"]);
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    arguments.push("-r");
    let Some(text) = output("tshark", &arguments, &files[0]) else { return };
    // The values of `fields`. UDP adds 8 bytes to the payload, and IPv4 another 20.
    let expected = [
        "198.18.0.4|5001|49155|168|188|packet 1, flow 3, UE 7, datagram 0",
        "10.0.0.8|49155|5001|41|61|packet 2, flow 3, UE 7, datagram 0",
        "198.18.0.4|5001|49155|8|28|packet 3, flow 3, UE 7, datagram 1",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn tcptrace_sees_one_complete_connection() {
    for config in [
        CaptureConfig { points: vec![CapturePoint::Server], payload: true, ..CaptureConfig::default() },
        CaptureConfig { points: vec![CapturePoint::Server], payload: false, ..CaptureConfig::default() },
    ] {
        let (_folder, files) = Conversation::new(&config).download().finish();
        let Some(text) = output("tcptrace", &["-l", "-n"], &files[0]) else { return };
        assert!(text.contains("1 TCP connection traced"), "{text}");
        assert!(text.contains("complete conn: yes"), "{text}");
        let rexmt = text.lines().find(|line| line.contains("rexmt data pkts")).expect("tcptrace prints it");
        assert!(rexmt.split_whitespace().any(|word| word == "1"), "{rexmt}");
    }
}

/// Flow 3 has port 5001 if no ports are configured, and port 80 if this is the fourth one.
#[test]
fn the_server_of_a_flow_listens_at_its_port() {
    let has_ports = |server_ports: Vec<u16>, ports: [u16; 2]| {
        let points = vec![CapturePoint::Server];
        let config = CaptureConfig { points, server_ports, ..CaptureConfig::default() };
        let (_folder, files) = Conversation::new(&config).download().finish();
        let octets: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        fs::read(&files[0]).expect("it was written").windows(4).any(|window| window == octets)
    };
    for (server_ports, port, other) in [(vec![], 5001, 80), (vec![1, 2, 3, 80], 80, 5001)] {
        assert!(
            has_ports(server_ports.clone(), [port, 49_152])
                && has_ports(server_ports.clone(), [49_152, port])
        );
        assert!(
            !has_ports(server_ports.clone(), [other, 49_152]) && !has_ports(server_ports, [49_152, other])
        );
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let bytes = || {
        let (_folder, files) = Conversation::new(&CaptureConfig::default()).download().finish();
        files.iter().map(|file| fs::read(file).expect("it was written")).collect::<Vec<_>>()
    };
    assert_eq!(bytes(), bytes());
}

/// A capture without simulated packets has the same content as the capture of a run that has only
/// the real packet, an IP packet of 20 octets.
#[test]
fn captures_can_omit_simulated_packets() {
    let octets = |simulated: bool, with_simulated: bool| {
        let real = Some(RealPackets(Rc::new(|_| Some([&[0x45, 0, 0, 20][..], &[7; 16]].concat()))));
        let mut conversation =
            Conversation::new(&CaptureConfig { real, simulated, ..CaptureConfig::default() });
        let foreign = Foreign { direction: Direction::Uplink, leg: ProxyLeg::Whole, size: 20 };
        conversation.add_packet(Content::Foreign(foreign));
        let conversation = if with_simulated { conversation.download() } else { conversation };
        let (_folder, files) = conversation.finish();
        fs::read(&files[0]).expect("it was written")
    };
    let omit_simulated = octets(false, true);
    let only_real = octets(true, false);
    let both = octets(true, true);
    assert_eq!(omit_simulated, only_real);
    assert!(both.len() > only_real.len());
}

#[test]
fn files_have_their_names_only_when_complete() {
    let conversation = Conversation::new(&CaptureConfig::default()).download();
    let count_files = |folder: &Path| fs::read_dir(folder).expect("it exists").count();
    assert!(conversation.folder.path().join("ue.pcapng.tmp").exists());
    assert!(!conversation.folder.path().join("ue.pcapng").exists());
    let Conversation { captures, folder, .. } = conversation;
    drop(captures);
    assert_eq!(count_files(folder.path()), 0, "an abandoned run leaves nothing");
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let missing = folder.path().join("missing");
    let error = Captures::create(&missing, &CaptureConfig::default()).expect_err("there is no such folder");
    assert_eq!(error.path, missing.join("server.pcapng"));
    assert!(error.to_string().starts_with("cannot write the capture "), "{error}");
}

/// A packet with 70,000 bytes of payload cannot be written; the packet after it could.
#[test]
fn the_first_error_is_kept_and_no_file_remains() {
    let mut conversation = Conversation::new(&CaptureConfig::default());
    conversation.down(ACK, 1, 1, 70_000).up(ACK, 1, 1);
    let error = conversation.captures.finish().expect_err("no IP packet holds that");
    assert_eq!(error.path, conversation.folder.path().join("server.pcapng"));
    assert!(error.to_string().contains("70000 bytes"), "{error}");
    assert_eq!(fs::read_dir(conversation.folder.path()).expect("it exists").count(), 0);
}

/// The capture is written through a link to `/dev/full`, where every write fails as on a full disk.
#[test]
fn a_full_disk_is_reported() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("SKIPPED: this system has no /dev/full");
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    std::os::unix::fs::symlink(full, folder.path().join("ue.pcapng.tmp")).expect("a link can be made");
    let config = CaptureConfig { points: vec![CapturePoint::Ue], payload: false, ..CaptureConfig::default() };
    let error = Captures::create(folder.path(), &config).expect_err("the first block goes to the disk");
    assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read_dir(folder.path()).expect("it exists").count(), 0);
}
