//! Captures of real TCP, judged by tshark and tcptrace too.
//!
//! Network namespaces joined by veth pairs, made and removed by the test, with the kernel's TCP between them and
//! tcpdump at both ends. Where that is not possible (not root, a tool missing) the test says so and passes.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use umts_capture::reader::{ReadOptions, analyse_file};
use umts_capture::{Analysis, Position};

/// Server, router and client in namespaces of their own; gone when dropped.
struct Network {
    server: String,
    router: String,
    client: String,
}

fn succeeds(words: &[&str]) -> bool {
    let done = Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

fn has(tool: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {tool}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

impl Network {
    /// None, with a message, where it cannot be made. `impair` is what `tc qdisc` gets for the router's queue towards the client, if
    /// anything.
    fn new(name: &str, impair: &[&str]) -> Option<Self> {
        for tool in ["ip", "tc", "tcpdump", "taskset", "python3"] {
            if !has(tool) {
                eprintln!("SKIPPED: {tool} is not installed");
                return None;
            }
        }
        let id = std::process::id();
        let [server, router, client] = ["s", "r", "c"].map(|end| format!("umts-{name}-{end}{id}"));
        let network = Network { server, router, client };
        let Network { server, router, client } = &network;
        // Queues are the router's, so captures at the ends see what real ones do.
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
        if !succeeds(&["sh", "-c", &script]) {
            eprintln!("SKIPPED: this user may not make network namespaces");
            return None;
        }
        let add = ["tc", "-n", router, "qdisc", "add", "dev", "up", "root"];
        if !impair.is_empty() && !succeeds(&[&add[..], impair].concat()) {
            eprintln!("SKIPPED: this kernel has no {}", impair[0]);
            return None;
        }
        Some(network)
    }

    /// All on one processor: a veth pair keeps a queue for each, and packets of a process that moves from one to
    /// another overtake each other. The tools tell reordering from repetition by guesses of their own.
    fn spawn(&self, namespace: &str, words: &[&str]) -> Child {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace, "taskset", "--cpu-list", &first_processor()]).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("ip is there")
    }

    /// What the server's kernel says it sent again.
    fn retransmitted_segments(&self) -> u64 {
        let read = ["netns", "exec", &self.server, "cat", "/proc/net/snmp"];
        let done = Command::new("ip").args(read).output().expect("ip is there");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let mut rows = text.lines().filter(|line| line.starts_with("Tcp:")).map(str::split_whitespace);
        let (names, mut values) = (rows.next().expect("names"), rows.next().expect("values"));
        let place = names.clone().position(|name| name == "RetransSegs").expect("every kernel counts them");
        values.nth(place).and_then(|value| value.parse().ok()).expect("a count")
    }

    /// Downloads `bytes` from server to client, captured at both ends.
    fn download(&self, folder: &Path, bytes: usize) -> [PathBuf; 2] {
        let files = ["server.pcap", "client.pcap"].map(|name| folder.join(name));
        let mut captures = [(&self.server, &files[0]), (&self.client, &files[1])].map(|(namespace, file)| {
            let path = file.to_str().expect("temporary folders have plain names");
            // No privileges are dropped, since the folder is ours alone.
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
        wait_for(|| listening.exists());
        wait_for(|| files.iter().all(|file| file.metadata().is_ok_and(|data| data.len() >= 24)));
        let fetch = format!(
            "import socket\nc=socket.create_connection(('10.77.0.1',5001))\nn=0\nwhile True:\n d=c.recv(65536)\n \
             if not d: break\n n+=len(d)\nassert n=={bytes}\nc.close()"
        );
        let status = self.spawn(&self.client, &["python3", "-c", &fetch]).wait().expect("it was started");
        assert!(status.success(), "the download came through");
        server.wait().expect("it was started");
        sleep(Duration::from_millis(500));
        for capture in &mut captures {
            succeeds(&["kill", "-INT", &capture.id().to_string()]);
            capture.wait().expect("it was started");
        }
        files
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in [&self.server, &self.router, &self.client] {
            succeeds(&["ip", "netns", "del", namespace]);
        }
    }
}

/// One on which this process may run.
fn first_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("as before");
    list.trim().split([',', '-']).next().expect("at least one").to_owned()
}

fn wait_for(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() && Instant::now() < deadline {
        sleep(Duration::from_millis(20));
    }
}

/// How many packets tshark shows; none if it is not there.
fn tshark(file: &Path, filter: &str) -> Option<usize> {
    let done = Command::new("tshark")
        .args([
            "-n",
            "-o",
            "tcp.check_checksum:FALSE",
            "-Y",
            filter,
            "-T",
            "fields",
            "-e",
            "frame.number",
            "-r",
        ])
        .arg(file)
        .output()
        .ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).lines().count())
}

/// The server's number in a row of `tcptrace -l`; none if it is not there.
fn tcptrace(file: &Path, row: &str) -> Option<f64> {
    let done = Command::new("tcptrace").args(["-l", "-n", "-r"]).arg(file).output().ok()?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let line = text.lines().find(|line| line.trim_start().starts_with(row))?;
    // The client, which opened the connection, is on the left.
    line.rsplit(row).next()?.split_whitespace().find_map(|word| word.parse().ok())
}

fn analysed(file: &Path) -> Analysis {
    analyse_file(file, ReadOptions::default()).expect("tcpdump wrote it")
}

fn value(analysis: &Analysis, name: &str) -> f64 {
    analysis.metrics.value(name).unwrap_or_else(|| panic!("{name} has no value"))
}

const BYTES: usize = 3_000_000;

fn judged(file: &Path) {
    let analysis = analysed(file);
    assert_eq!(analysis.connection_count, 1);
    let row = &analysis.connections[0];
    assert_eq!((row.server, row.sender), (SocketAddr::new(IpAddr::from([10, 77, 0, 1]), 5001), "server"));
    assert_eq!((row.ended, row.sack_permitted, row.timestamps), ("finished", Some(true), Some(true)));
    assert_eq!(value(&analysis, "acknowledged_bytes"), BYTES as f64);
    assert_eq!(analysis.counts.unreadable, 0);
    if let Some(packets) = tshark(file, "tcp") {
        assert_eq!(value(&analysis, "packets"), packets as f64);
        let data = tshark(file, "tcp.len > 0 && tcp.srcport == 5001").expect("it answered before");
        let ours = value(&analysis, "total_packets") + value(&analysis, "tcp_retransmissions");
        assert_eq!(ours, data as f64, "data segments");
        let again = tshark(file, "tcp.srcport == 5001 && tcp.analysis.retransmission").expect("as before");
        let out_of_order =
            tshark(file, "tcp.srcport == 5001 && tcp.analysis.out_of_order").expect("as before");
        let repeated = value(&analysis, "tcp_retransmissions");
        // tshark calls a repetition out of order where it comes within a round trip.
        assert!(
            (again as f64..=(again + out_of_order) as f64).contains(&repeated),
            "{repeated}: {again}, {out_of_order}"
        );
        let zero = tshark(file, "tcp.srcport != 5001 && tcp.analysis.zero_window").expect("as before");
        assert_eq!(value(&analysis, "zero_windows"), zero as f64);
    } else {
        eprintln!("SKIPPED: tshark is not installed");
    }
    if let Some(sent) = tcptrace(file, "actual data bytes:") {
        assert_eq!(value(&analysis, "payload_bytes"), sent);
        let again = tcptrace(file, "rexmt data pkts:").expect("it answered before");
        assert_eq!(value(&analysis, "tcp_retransmissions"), again);
        let bytes = tcptrace(file, "rexmt data bytes:").expect("as before");
        assert_eq!(value(&analysis, "retransmitted_bytes"), bytes);
        let mean = tcptrace(file, "RTT avg:").expect("as before");
        // To tcptrace's tenth of a millisecond, and what its other choice of samples may do.
        let ours = value(&analysis, "mean_rtt_every_ack_s") * 1e3;
        assert!((ours - mean).abs() <= 0.1 + 0.02 * mean, "{ours} ms, tcptrace {mean} ms");
    } else {
        eprintln!("SKIPPED: tcptrace is not installed");
    }
}

#[test]
fn a_clean_download_over_a_veth_pair() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let Some(network) = Network::new("clean", &[]) else { return };
    let files = network.download(folder.path(), BYTES);
    for file in &files {
        judged(file);
        // A busy machine may hold the kernel back until its timer expires: it knows how often it did.
        let analysis = analysed(file);
        assert_eq!(value(&analysis, "tcp_retransmissions"), network.retransmitted_segments() as f64);
    }
}

#[test]
fn a_slow_download_with_losses() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    // A small queue in front of a slow link: the kernel overflows it, and repairs.
    let slow = ["tbf", "rate", "8mbit", "burst", "3000", "limit", "20000"];
    let Some(network) = Network::new("slow", &slow) else { return };
    let [server, client] = network.download(folder.path(), BYTES);
    judged(&server);
    assert_eq!(value(&analysed(&server), "tcp_retransmissions"), network.retransmitted_segments() as f64);
    let (at_server, at_client) = (analysed(&server), analysed(&client));
    assert_eq!(value(&at_server, "acknowledged_bytes"), BYTES as f64);
    assert_eq!(value(&at_client, "acknowledged_bytes"), BYTES as f64);
    let lost = value(&at_server, "tcp_retransmissions");
    assert!(lost > 0.0, "the queue overflowed");
    assert!(value(&at_server, "fast_retransmissions") + value(&at_server, "rto_count") > 0.0);
    // What the queue dropped did not reach the client, and the queue's delay is not in its round trips.
    assert!(value(&at_client, "payload_bytes") <= value(&at_server, "payload_bytes"));
    assert!(value(&at_client, "mean_rtt_s") < value(&at_server, "mean_rtt_s"));
    assert_ne!(at_server.connections[0].position, Position::Receiver);
}
