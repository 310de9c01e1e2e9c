//! The cells of a layout, from the scenario file to the metrics.

use umts_record::metrics::MetricSet;

use crate::common::{output, parse, value};

/// A user that drives through the cells and downloads a file. With `[layout]` the only `[[cell]]`
/// describes every sector of the layout. Tests append further tables.
const DRIVER: &str = "version = 1\nduration = \"600 s\"\n[layout]\n[propagation]\nmodel = \"vehicular\"\n[[cell]]\nname = \"sector\"\n\
    [radio]\nmodel = \"error_free\"\n[[ue]]\nname = \"driver\"\n\
    mobility = { model = \"vehicular\", speed = \"50 km/h\" }\n[[flow]]\nue = \"driver\"\ntraffic = \"file\"\nsize = \"200 kB\"\n";

fn metrics(rest: &str) -> MetricSet {
    output(&parse(&format!("{DRIVER}{rest}\n"))).metrics.network
}

#[test]
fn tcp_retransmits_data_lost_at_a_handover() {
    let buffer_kept = metrics("[handover]\nhysteresis = \"3 dB\"");
    let buffer_lost = metrics("[handover]\nhysteresis = \"3 dB\"\nbuffer = \"lost\"");
    assert!(value(&buffer_kept, "handovers") > 3.0 && value(&buffer_lost, "handovers") > 3.0);
    assert_eq!(
        (value(&buffer_kept, "handover_lost_octets"), value(&buffer_kept, "tcp_retransmissions")),
        (0.0, 0.0)
    );
    assert!(
        value(&buffer_lost, "handover_lost_octets") > 0.0 && value(&buffer_lost, "tcp_retransmissions") > 0.0
    );
    // The file arrives in both cases, later after losses.
    assert!(value(&buffer_lost, "download_time_s") > value(&buffer_kept, "download_time_s"));
}
