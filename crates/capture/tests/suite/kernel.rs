//! Compares captures at a Linux sender with the counters of the sending kernel.
//!
//! The captures are not part of the project: they are expected in the folder
//! `shared/oracles/kernel-tcp` next to the project's folder. If they are missing, the test prints a
//! message and passes. `causes.rs` tests each rule separately.

use std::path::Path;

use umts_capture::reader::{ReadOptions, analyse_file};

/// Captures, and the kernel's counters: RetransSegs, TCPTimeouts, the sum of TCPSackRecovery and
/// TCPRenoRecovery, TCPLossProbes, and TCPDSACKRecv. All probes carried new data, because
/// RetransSegs is the sum of TCPTimeouts, TCPFastRetrans and TCPSlowStartRetrans.
const CAPTURES: [(&str, [f64; 5]); 10] = [
    ("bbr_heavy10", [17.0, 0.0, 6.0, 0.0, 0.0]),
    ("cubic_heavy30", [26.0, 5.0, 9.0, 4.0, 0.0]),
    ("cubic_loss2_1m", [9.0, 0.0, 8.0, 0.0, 0.0]),
    ("cubic_nots_loss5", [23.0, 0.0, 15.0, 0.0, 0.0]),
    ("cubic_spikes", [7.0, 1.0, 2.0, 1.0, 6.0]),
    ("reno_loss8_384", [8.0, 0.0, 6.0, 0.0, 0.0]),
    ("reno_norack_loss5", [9.0, 0.0, 6.0, 0.0, 0.0]),
    ("reno_nosack_spike", [70.0, 2.0, 1.0, 0.0, 0.0]),
    ("reno_small_rto", [5.0, 0.0, 3.0, 0.0, 0.0]),
    ("spike_nofrto", [78.0, 1.0, 1.0, 1.0, 33.0]),
];

#[test]
fn causes_equal_the_counters_of_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles/kernel-tcp");
    if !folder.exists() {
        eprintln!("SKIPPED: there is no {}", folder.display());
        return;
    }
    for (name, [retransmissions, timeouts, recoveries, probes, dsacks]) in CAPTURES {
        let file = folder.join(name).with_extension("pcap");
        let analysis = analyse_file(&file, ReadOptions::default()).expect("the bytes are a capture");
        let value = |metric| analysis.metrics.value(metric).expect("both directions were captured");
        let metrics = [
            "tcp_retransmissions",
            "rto_count",
            "fast_retransmissions",
            "tail_loss_probes_of_new_data",
            "unneeded_by_dsack",
        ];
        assert_eq!(metrics.map(value), [retransmissions, timeouts, recoveries, probes, dsacks], "{name}");
        assert_eq!(value("tail_loss_probes"), 0.0, "{name}");
        assert_eq!(value("tcp_retransmissions_unexplained"), 0.0, "{name}");
    }
}
