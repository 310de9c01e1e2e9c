//! Compares the analysis of captures of real TCP with tshark and tcptrace.
//!
//! The test creates and removes network namespaces, joined by veth pairs, with the kernel's TCP
//! between them and tcpdump at both ends. If that is not possible (not root, a tool missing), the
//! test prints a message and passes.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use umts_capture::reader::{ReadOptions, analyse_file};
use umts_capture::{Analysis, Position};

/// Server, router and client in separate namespaces, which are removed when this is dropped.
struct Network {
    server: String,
    router: String,
    client: String,
}

fn run_succeeds(command_line: &[&str]) -> bool {
    let done = Command::new(command_line[0])
        .args(&command_line[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}

fn is_installed(tool: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {tool}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

impl Network {
    /// Creates the namespaces. Returns `None`, with a message, if that is impossible. `impairment`
    /// has the arguments of `tc qdisc` for the router's queue towards the client, if any.
    fn new(name: &str, impairment: &[&str]) -> Option<Self> {
        for tool in ["ip", "tc", "tcpdump", "taskset", "python3"] {
            if !is_installed(tool) {
                eprintln!("SKIPPED: {tool} is not installed");
                return None;
            }
        }
        let id = std::process::id();
        let [server, router, client] = ["s", "r", "c"].map(|end| format!("umts-{name}-{end}{id}"));
        let network = Network { server, router, client };
        let Network { server, router, client } = &network;
        // Only the router has queues. Packets at the ends are not larger than on the wire, because
        // segmentation offload is off (gso_max_segs).
        let script = format!(
            "set -e
             ip netns add {server}; ip netns add {router}; ip netns add {client}
             ip -n {server} link add veth0 type veth peer name down netns {router}
             ip -n {client} link add veth0 type veth peer name up netns {router}
             ip -n {server} addr add 10.77.0.1/24 dev veth0
             ip -n {client} addr add 10.78.0.1/24 dev veth0
             ip -n {router} addr add 10.77.0.254/24 dev down
             ip -n {router} addr add 10.78.0.254/24 dev up
             ip -n {server} link set veth0 gso_max_segs 1
             ip -n {client} link set veth0 gso_max_segs 1
             ip -n {server} link set veth0 up
             ip -n {client} link set veth0 up
             ip -n {router} link set dev down up
             ip -n {router} link set dev up up
             ip -n {server} route add default via 10.77.0.254
             ip -n {client} route add default via 10.78.0.254
             ip netns exec {router} sysctl -q -w net.ipv4.ip_forward=1"
        );
        if !run_succeeds(&["sh", "-c", &script]) {
            eprintln!("SKIPPED: this user may not make network namespaces");
            return None;
        }
        let add = ["tc", "-n", router, "qdisc", "add", "dev", "up", "root"];
        if !impairment.is_empty() && !run_succeeds(&[&add[..], impairment].concat()) {
            eprintln!("SKIPPED: this kernel has no {}", impairment[0]);
            return None;
        }
        Some(network)
    }

    /// Starts a command in a namespace. All processes run on one processor. A veth pair has a queue
    /// per processor, so packets of a process that moves overtake each other, and the tools
    /// distinguish reordering from retransmission by different heuristics.
    fn spawn(&self, namespace: &str, command_line: &[&str]) -> Child {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", namespace, "taskset", "--cpu-list", &first_processor()])
            .args(command_line);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command ip exists")
    }

    /// Returns the number of segments that the server's kernel retransmitted.
    fn retransmitted_segments(&self) -> u64 {
        let read = ["netns", "exec", &self.server, "cat", "/proc/net/snmp"];
        let done = Command::new("ip").args(read).output().expect("the command ip exists");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let mut rows = text.lines().filter(|line| line.starts_with("Tcp:")).map(str::split_whitespace);
        let (names, mut values) =
            (rows.next().expect("a row of names"), rows.next().expect("a row of values"));
        let column = names.clone().position(|name| name == "RetransSegs").expect("every kernel counts them");
        values.nth(column).and_then(|value| value.parse().ok()).expect("a count")
    }

    /// Downloads `bytes` from server to client. Returns the captures at both ends.
    fn download(&self, folder: &Path, bytes: usize) -> [PathBuf; 2] {
        let files = ["server.pcap", "client.pcap"].map(|name| folder.join(name));
        let mut captures = [(&self.server, &files[0]), (&self.client, &files[1])].map(|(namespace, file)| {
            let path = file.to_str().expect("temporary folders have plain names");
            // tcpdump keeps its privileges: only their owner has access to the folder.
            self.spawn(
                namespace,
                &[
                    "tcpdump",
                    "--immediate-mode",
                    "-i",
                    "veth0",
                    "-s",
                    "96",
                    "-U",
                    "-Z",
                    "root",
                    "-w",
                    path,
                    "tcp",
                ],
            )
        });
        let listening = folder.join("listening");
        let serve = format!(
            "import socket\ns=socket.create_server(('10.77.0.1',5001))\nopen('{}','w').close()\nc,_=s.accept()\n\
             c.sendall(bytes({bytes}))\nc.shutdown(1)\nc.recv(1)\nc.close()",
            listening.display()
        );
        let mut server = self.spawn(&self.server, &["python3", "-c", &serve]);
        wait_for("the server listens", || listening.exists());
        // tcpdump writes the header once it captures.
        wait_for("both captures run", || {
            files.iter().all(|file| file.metadata().is_ok_and(|data| data.len() >= 24))
        });
        let fetch = format!(
            "import socket\nc=socket.create_connection(('10.77.0.1',5001))\nn=0\nwhile True:\n d=c.recv(65536)\n \
             if not d: break\n n+=len(d)\nassert n=={bytes}\nc.close()"
        );
        let status =
            self.spawn(&self.client, &["python3", "-c", &fetch]).wait().expect("the command was started");
        assert!(status.success(), "the download came through");
        server.wait().expect("the command was started");
        // Packets that tcpdump has not read from the kernel are lost when it is stopped: wait for
        // the last packet.
        wait_for("both captures have the end of the connection", || {
            files
                .iter()
                .all(|file| analysis_of(file).connections.first().is_some_and(|row| row.ended == "finished"))
        });
        for capture in &mut captures {
            run_succeeds(&["kill", "-INT", &capture.id().to_string()]);
            capture.wait().expect("the command was started");
        }
        files
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in [&self.server, &self.router, &self.client] {
            run_succeeds(&["ip", "netns", "del", namespace]);
        }
    }
}

/// Returns a processor on which this process may run.
fn first_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("as before");
    list.trim().split([',', '-']).next().expect("at least one").to_owned()
}

/// Waits for a condition that becomes true soon on any working machine, however busy.
fn wait_for(event: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < deadline, "{event}: not within two minutes");
        sleep(Duration::from_millis(20));
    }
}

/// Fields of a TCP packet from tshark.
struct Dissected {
    is_from_server: bool,
    payload: u64,
    has_fin: bool,
    is_retransmission: bool,
    is_out_of_order: bool,
    is_zero_window: bool,
}

/// Returns the TCP packets of a file according to tshark. `None` without tshark.
fn tshark(file: &Path) -> Option<Vec<Dissected>> {
    const FIELDS: [&str; 6] = [
        "tcp.srcport",
        "tcp.len",
        "tcp.flags.fin",
        "tcp.analysis.retransmission",
        "tcp.analysis.out_of_order",
        "tcp.analysis.zero_window",
    ];
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "tcp.check_checksum:FALSE", "-Y", "tcp", "-T", "fields"]);
    command.args(FIELDS.iter().flat_map(|field| ["-e", field])).arg("-r").arg(file);
    let done = command.output().ok().filter(|done| done.status.success())?;
    let rows = String::from_utf8_lossy(&done.stdout).into_owned();
    let dissected = rows.lines().map(|row| {
        let fields: Vec<_> = row.split('\t').collect();
        let [port, length, fin, retransmission, out_of_order, zero_window] = fields[..] else {
            panic!("tshark wrote {row:?}")
        };
        Dissected {
            is_from_server: port == "5001",
            payload: length.parse().expect("a length"),
            has_fin: matches!(fin, "1" | "True"),
            is_retransmission: !retransmission.is_empty(),
            is_out_of_order: !out_of_order.is_empty(),
            is_zero_window: !zero_window.is_empty(),
        }
    });
    Some(dissected.collect())
}

/// Returns the output of `tcptrace -l`. `None` without tcptrace.
fn tcptrace(file: &Path) -> Option<String> {
    let done = Command::new("tcptrace").args(["-l", "-n", "-r"]).arg(file).output().ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Returns the value for the server's data in a row of `tcptrace -l`.
fn server_value(text: &str, row: &str) -> f64 {
    let line = text.lines().find(|line| line.trim_start().starts_with(row));
    let line = line.unwrap_or_else(|| panic!("tcptrace has a row {row}"));
    // The client, which opened the connection, is on the left.
    let right = line.rsplit(row).next().expect("the line contains the name of the row");
    right.split_whitespace().find_map(|word| word.parse().ok()).expect("a number")
}

fn analysis_of(file: &Path) -> Analysis {
    analyse_file(file, ReadOptions::default()).expect("tcpdump wrote it")
}

fn value(analysis: &Analysis, name: &str) -> f64 {
    analysis.metrics.value(name).unwrap_or_else(|| panic!("{name} has no value"))
}

/// Size of a download, in octets.
const BYTES: usize = 3_000_000;

/// Panics unless the analysis of a download agrees with tshark and tcptrace, as far as they are
/// installed.
fn compare_with_tools(file: &Path) {
    let analysis = analysis_of(file);
    assert_eq!(analysis.connection_count, 1);
    let row = &analysis.connections[0];
    assert_eq!((row.server, row.sender), (SocketAddr::new(IpAddr::from([10, 77, 0, 1]), 5001), "server"));
    assert_eq!((row.ended, row.sack_permitted, row.timestamps), ("finished", Some(true), Some(true)));
    assert_eq!(value(&analysis, "acknowledged_bytes"), BYTES as f64);
    assert_eq!(analysis.counts.unreadable, 0);
    let packets = tshark(file);
    if let Some(packets) = &packets {
        assert_eq!(value(&analysis, "packets"), packets.len() as f64);
        let count =
            |is: &dyn Fn(&Dissected) -> bool| packets.iter().filter(|packet| is(packet)).count() as f64;
        let is_data = |packet: &Dissected| packet.is_from_server && packet.payload > 0;
        // total_packets counts data segments without retransmissions.
        let ours = value(&analysis, "total_packets") + value(&analysis, "retransmitted_segments");
        assert_eq!(ours, count(&is_data), "data segments");
        let retransmissions = count(&|packet| is_data(packet) && packet.is_retransmission);
        let out_of_order = count(&|packet| is_data(packet) && packet.is_out_of_order);
        let ours = value(&analysis, "retransmitted_segments");
        // tshark reports a retransmission within a round trip as out of order.
        assert!(
            (retransmissions..=retransmissions + out_of_order).contains(&ours),
            "{ours}: {retransmissions}, {out_of_order}"
        );
        let zero = count(&|packet| !packet.is_from_server && packet.is_zero_window);
        assert_eq!(value(&analysis, "zero_windows"), zero);
    } else {
        eprintln!("SKIPPED: tshark is not installed");
    }
    if let Some(text) = tcptrace(file) {
        let theirs = |row| server_value(&text, row);
        assert_eq!(value(&analysis, "payload_bytes"), theirs("actual data bytes:"));
        assert_eq!(value(&analysis, "retransmitted_segments"), theirs("rexmt data pkts:"));
        if let Some(packets) = &packets {
            // tcptrace counts a FIN that is retransmitted with data as one more octet of the data.
            let is_fin = |packet: &&Dissected| packet.is_from_server && packet.has_fin && packet.payload > 0;
            let fins = packets.iter().filter(is_fin).count().saturating_sub(1);
            let ours = value(&analysis, "retransmitted_bytes") + fins as f64;
            assert_eq!(ours, theirs("rexmt data bytes:"));
        }
        assert_eq!(value(&analysis, "rtt_samples"), theirs("RTT samples:"));
        for (row, name) in [("RTT avg:", "mean"), ("RTT min:", "min"), ("RTT max:", "max")] {
            let (ours, theirs) = (value(&analysis, &format!("{name}_rtt_every_ack_s")) * 1e3, theirs(row));
            // Computed from the same samples; tcptrace prints tenths of a millisecond.
            assert!((ours - theirs).abs() <= 0.1, "{row} {ours} ms, tcptrace {theirs} ms");
        }
    } else {
        eprintln!("SKIPPED: tcptrace is not installed");
    }
}

#[test]
fn clean_download_agrees_with_tshark_and_tcptrace() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let Some(network) = Network::new("clean", &[]) else { return };
    let files = network.download(folder.path(), BYTES);
    for file in &files {
        compare_with_tools(file);
        // A busy machine may delay the kernel until its timer expires; the kernel counts these
        // expiries.
        let analysis = analysis_of(file);
        assert_eq!(value(&analysis, "tcp_retransmissions"), network.retransmitted_segments() as f64);
    }
}

#[test]
fn lossy_download_agrees_with_tshark_and_tcptrace() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    // A small queue in front of a slow link: the kernel overflows it, and repairs the losses.
    let slow = ["tbf", "rate", "8mbit", "burst", "3000", "limit", "20000"];
    let Some(network) = Network::new("slow", &slow) else { return };
    let [server, client] = network.download(folder.path(), BYTES);
    compare_with_tools(&server);
    assert_eq!(value(&analysis_of(&server), "tcp_retransmissions"), network.retransmitted_segments() as f64);
    let (at_server, at_client) = (analysis_of(&server), analysis_of(&client));
    assert_eq!(value(&at_server, "acknowledged_bytes"), BYTES as f64);
    assert_eq!(value(&at_client, "acknowledged_bytes"), BYTES as f64);
    let lost = value(&at_server, "tcp_retransmissions");
    assert!(lost > 0.0, "the queue overflowed");
    assert!(value(&at_server, "fast_retransmissions") + value(&at_server, "rto_count") > 0.0);
    // Packets that the queue dropped did not reach the client, and the client's round trips lack
    // the queue's delay.
    assert!(value(&at_client, "payload_bytes") <= value(&at_server, "payload_bytes"));
    assert!(value(&at_client, "mean_rtt_s") < value(&at_server, "mean_rtt_s"));
    assert_ne!(at_server.connections[0].position, Position::Receiver);
}
