//! Named TCP profiles: `[tcp] profile = "linux-2.4"`. A profile sets every key of `[tcp]`; keys
//! that it does not list get their defaults. Keys written beside `profile` take precedence.

use serde::Serialize;

use crate::error::{Problem, ScenarioError};
use crate::extends::Files;
use crate::model::Tcp;
use crate::tree::{Node, Reader, merge};

/// A profile of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Name in scenario files.
    pub name: &'static str,
    /// The TCP implementation or study that the profile describes.
    pub description: &'static str,
    settings: &'static [Setting],
}

/// A key of `[tcp]`, its value as a scenario writes it, and where the value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Setting {
    key: &'static str,
    value: &'static str,
    source: &'static str,
}

/// A key of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileKey {
    /// Name of the key in `[tcp]`.
    pub key: String,
    /// Value as written in a scenario.
    pub value: String,
    /// Source of the value, or "default" if the profile does not set the key.
    pub source: String,
}

impl Profile {
    /// Every key of `[tcp]` with its value and source; the keys that the profile sets come first.
    pub fn keys(&self) -> Vec<ProfileKey> {
        let set_keys = self.settings.iter().map(|setting| ProfileKey {
            key: setting.key.to_owned(),
            value: setting.value.to_owned(),
            source: setting.source.to_owned(),
        });
        let is_set = |key: &str| self.settings.iter().any(|setting| setting.key == key);
        let defaults = default_table().into_iter().filter(|(key, _)| !is_set(key));
        let default_keys = defaults.map(|(key, value)| ProfileKey {
            key,
            value: value.to_string(),
            source: "default".to_owned(),
        });
        set_keys.chain(default_keys).collect()
    }

    /// The profile as TOML, with the source of each value in a comment.
    fn text(&self) -> String {
        let lines: Vec<String> =
            self.keys().iter().map(|row| format!("{} = {} # {}\n", row.key, row.value, row.source)).collect();
        format!("[tcp]\n{}", lines.concat())
    }
}

/// The defaults of `[tcp]`, without `profile`.
fn default_table() -> toml::Table {
    let mut table = toml::Table::try_from(Tcp::default()).expect("defaults can be written");
    table.remove("profile");
    table
}

/// Merges the profiles named in `[tcp]`, `[flow.tcp]` and the sides of `[proxy]` below the written
/// keys. Returns a warning for each profile that an override names and of which the values are partly
/// hidden by the file.
pub(crate) fn apply(tree: &mut Node, files: &mut Files) -> Result<Vec<String>, ScenarioError> {
    let mut warnings = Vec::new();
    let Some(table) = tree.as_table_mut() else { return Ok(warnings) };
    let mut nodes: Vec<&mut Node> = Vec::new();
    for (key, node) in table.iter_mut() {
        match key.as_str() {
            "tcp" => nodes.push(node),
            "flow" => {
                let flows = node.elements_mut().iter_mut();
                nodes.extend(flows.filter_map(|flow| flow.as_table_mut()?.get_mut("tcp")));
            }
            "proxy" => {
                let sides = node.as_table_mut().into_iter().flatten();
                nodes.extend(sides.filter(|(key, _)| key.ends_with("_side")).map(|(_, side)| side));
            }
            _ => {}
        }
    }
    for node in nodes {
        let name = node.get("profile").and_then(Node::as_text);
        // An unknown name is reported when the key is read.
        let Some(profile) = profiles().iter().find(|profile| Some(profile.name) == name) else { continue };
        let base = read(profile, files).map_err(|problem| ScenarioError::new(problem, &files.sources))?;
        warnings.extend(node.hidden_keys_warning(&base));
        *node = merge(base, node.clone());
    }
    Ok(warnings)
}

fn read(profile: &Profile, files: &mut Files) -> Result<Node, Problem> {
    let text = profile.text();
    let source = files.add(&format!("profile {}", profile.name), text.clone());
    let tree = Reader { source, by_override: false, shift: 0 }.read(&text)?;
    Ok(tree.get("tcp").expect("the text contains [tcp]").clone())
}

/// All TCP profiles.
pub fn profiles() -> &'static [Profile] {
    PROFILES
}

const fn set(key: &'static str, value: &'static str, source: &'static str) -> Setting {
    Setting { key, value, source }
}

/// Defaults of ns-2 are from `tcl/lib/ns-default.tcl`.
const PROFILES: &[Profile] = &[
    Profile {
        name: "ns2-2.29",
        description: "ns-2.29 (2005): one-way agents with windows in packets; the variant is the agent. EURANE runs on it.",
        settings: &[
            set("variant", "\"reno\"", "Agent/TCP/Reno; choose the agent with tcp.variant"),
            set("connection", "\"one_way\"", "syn_ 1; no FIN"),
            set("segment_payload", "\"1000 B\"", "packetSize_ 1000"),
            set("header", "\"40 B\"", "tcpip_base_hdr_size_ 40"),
            set("advertised_window", "\"20 segments\"", "window_ 20"),
            set("initial_window", "\"2 segments\"", "windowInit_ 2, windowInitOption_ 1"),
            set("initial_ssthresh", "\"20 segments\"", "window_: the initial ssthresh"),
            set("delayed_ack", "false", "Agent/TCPSink"),
            set("delayed_ack_timeout", "\"100 ms\"", "Agent/TCPSink/DelAck interval_"),
            set("limited_transmit", "true", "singledup_ 1"),
            set("slow_start_restart", "true", "slow_start_restart_ 1"),
            set(
                "rto_rule",
                "\"ns2\"",
                "timerfix_ 1, rfc2988_ 1; as in 2.35, but updated_rttvar_ came in January 2006",
            ),
            set("rto_granularity", "\"10 ms\"", "tcpTick_ 0.01"),
            set("rto_initial", "\"6 s\"", "rtxcur_init_ 6.0 until 21 January 2006"),
            set("rto_min", "\"200 ms\"", "minrto_ 0.2 since 14 October 2004"),
            set("rto_max", "\"100000 s\"", "maxrto_ 100000 until January 2006"),
            set("sack_blocks", "3", "Agent/TCPSink/Sack1 maxSackBlocks_ 3"),
            set("dsack", "false", "generateDSacks_ 0"),
            set("ecn", "false", "ecn_ 0"),
            set("newreno_careful", "true", "bugFix_ 1, lessCareful_ 0"),
            set("newreno_impatient", "true", "Agent/TCP/Newreno newreno_changes1_ 1"),
            set("timestamps", "false", "timestamps_ 0"),
            set("vegas_alpha", "1", "v_alpha_ 1"),
            set("vegas_beta", "3", "v_beta_ 3"),
            set("vegas_gamma", "1", "v_gamma_ 1"),
            set("ns2_vegas_no_header", "true", "the Vegas agent adds no header to its packets"),
        ],
    },
    Profile {
        name: "ns2-2.35",
        description: "ns-2.35 (2011): as ns-2.29, with the retransmission timeouts of RFC 2988.",
        settings: &[
            set("variant", "\"reno\"", "Agent/TCP/Reno; choose the agent with tcp.variant"),
            set("connection", "\"one_way\"", "syn_ 1; no FIN"),
            set("segment_payload", "\"1000 B\"", "packetSize_ 1000"),
            set("header", "\"40 B\"", "tcpip_base_hdr_size_ 40"),
            set("advertised_window", "\"20 segments\"", "window_ 20"),
            set("initial_window", "\"2 segments\"", "windowInit_ 2, windowInitOption_ 1"),
            set("initial_ssthresh", "\"20 segments\"", "window_: the initial ssthresh"),
            set("delayed_ack", "false", "Agent/TCPSink"),
            set("delayed_ack_timeout", "\"100 ms\"", "Agent/TCPSink/DelAck interval_"),
            set("limited_transmit", "true", "singledup_ 1"),
            set("slow_start_restart", "true", "slow_start_restart_ 1"),
            set("rto_rule", "\"ns2\"", "timerfix_ 1, rfc2988_ 1, updated_rttvar_ 1"),
            set("rto_granularity", "\"10 ms\"", "tcpTick_ 0.01"),
            set("rto_initial", "\"3 s\"", "rtxcur_init_ 3.0"),
            set("rto_min", "\"200 ms\"", "minrto_ 0.2"),
            set("rto_max", "\"60 s\"", "maxrto_ 60"),
            set("sack_blocks", "3", "Agent/TCPSink/Sack1 maxSackBlocks_ 3"),
            set("dsack", "false", "generateDSacks_ 0"),
            set("ecn", "false", "ecn_ 0"),
            set("newreno_careful", "true", "bugFix_ 1, lessCareful_ 0"),
            set("newreno_impatient", "true", "Agent/TCP/Newreno newreno_changes1_ 1"),
            set("timestamps", "false", "timestamps_ 0"),
            set("vegas_alpha", "1", "v_alpha_ 1"),
            set("vegas_beta", "3", "v_beta_ 3"),
            set("vegas_gamma", "1", "v_gamma_ 1"),
            set("ns2_vegas_no_header", "true", "the Vegas agent adds no header to its packets"),
        ],
    },
    Profile {
        name: "linux-2.4",
        description: "Linux 2.4.16 as configured in the web study of Rendon et al. (2004).",
        settings: &[
            set("variant", "\"fack\"", "Rendon et al. (2004), section 3: SACK and FACK enabled"),
            set("connection", "\"full_duplex\"", "RFC 9293"),
            set("segment_payload", "\"530 B\"", "Rendon et al. (2004): MSS 530; timestamps take 12 B of it"),
            set("header", "\"40 B\"", "RFC 791, RFC 9293"),
            set("advertised_window", "\"32 KiB\"", "Rendon et al. (2004): maximum receiver window 32 KB"),
            set("initial_window", "\"4 segments\"", "tcp_init_cwnd: 4 for an MSS up to 1095 B"),
            set("initial_ssthresh", "\"unlimited\"", "TCP_INFINITE_SSTHRESH"),
            set("delayed_ack", "true", "tcp_send_delayed_ack"),
            set("delayed_ack_timeout", "\"40 ms\"", "TCP_DELACK_MIN: HZ/25"),
            set("limited_transmit", "true", "RFC 3042"),
            set("quick_acks", "16", "TCP_MAX_QUICKACKS"),
            set("nagle", "\"minshall\"", "tcp_minshall_check"),
            set("slow_start_restart", "true", "tcp_cwnd_restart"),
            set("eifel", "true", "tcp_packet_delayed: undo by timestamps"),
            set("frto", "false", "came with 2.4.21"),
            set("dsack_undo", "false", "DSACK is off"),
            set("rto_rule", "\"linux\"", "tcp_rtt_estimator"),
            set("rto_granularity", "\"10 ms\"", "HZ 100"),
            set("rto_initial", "\"3 s\"", "TCP_TIMEOUT_INIT: 3 HZ"),
            set("rto_min", "\"200 ms\"", "TCP_RTO_MIN: HZ/5"),
            set("rto_max", "\"120 s\"", "TCP_RTO_MAX: 120 HZ"),
            set("sack", "true", "Rendon et al. (2004)"),
            set("sack_blocks", "3", "space left by timestamps (RFC 2018 §3)"),
            set("dsack", "false", "Rendon et al. (2004): disabled"),
            set("timestamps", "true", "Rendon et al. (2004)"),
            set("timestamp_tick", "\"10 ms\"", "HZ 100"),
            set("window_scaling", "false", "Rendon et al. (2004): disabled"),
            set("charged_options", "\"all\"", "all options are on the wire"),
            set("prr", "false", "rate halving until 3.2: fack_data_smoothing"),
            set("lost_retransmissions", "true", "tcp_sacktag_write_queue: lost_retrans"),
            set("ecn", "false", "tcp_ecn 0 by default; Rendon et al. (2004) do not enable it"),
            set("fack_data_smoothing", "true", "rate halving: tcp_cwnd_down"),
            set("fack_over_damping", "false", "not in the kernel"),
        ],
    },
    Profile {
        name: "linux-2.6",
        description: "Linux 2.6.19 to 2.6.38 with its own defaults.",
        settings: &[
            set("variant", "\"cubic\"", "default since 2.6.19"),
            set("connection", "\"full_duplex\"", "RFC 9293"),
            set("segment_payload", "\"1460 B\"", "1500 B less headers; timestamps take 12 B of it"),
            set("header", "\"40 B\"", "RFC 791, RFC 9293"),
            set(
                "advertised_window",
                "\"65535 B\"",
                "tcp_rmem 87380 B, of which tcp_adv_win_scale leaves 3/4; before it grows",
            ),
            set("initial_window", "\"3 segments\"", "RFC 3390, until 2.6.39 took 10"),
            set("initial_ssthresh", "\"unlimited\"", "TCP_INFINITE_SSTHRESH"),
            set("delayed_ack", "true", "tcp_send_delayed_ack"),
            set("delayed_ack_timeout", "\"40 ms\"", "TCP_DELACK_MIN: HZ/25"),
            set("limited_transmit", "true", "RFC 3042"),
            set("quick_acks", "16", "TCP_MAX_QUICKACKS"),
            set("nagle", "\"minshall\"", "tcp_minshall_check"),
            set("abc", "false", "tcp_abc 0"),
            set("slow_start_restart", "true", "tcp_slow_start_after_idle 1"),
            set("eifel", "true", "tcp_packet_delayed: undo by timestamps"),
            set("frto", "true", "tcp_frto 2, since 2.6.24"),
            set("dsack_undo", "true", "undo_retrans"),
            set("rto_rule", "\"linux\"", "tcp_rtt_estimator"),
            set("rto_granularity", "\"4 ms\"", "HZ 250"),
            set("rto_initial", "\"3 s\"", "TCP_TIMEOUT_INIT: 3 HZ"),
            set("rto_min", "\"200 ms\"", "TCP_RTO_MIN: HZ/5"),
            set("rto_max", "\"120 s\"", "TCP_RTO_MAX: 120 HZ"),
            set("sack", "true", "tcp_sack 1"),
            set("sack_blocks", "3", "space left by timestamps (RFC 2018 §3)"),
            set("dsack", "true", "tcp_dsack 1"),
            set("timestamps", "true", "tcp_timestamps 1"),
            set("timestamp_tick", "\"4 ms\"", "HZ 250"),
            set("window_scaling", "true", "tcp_window_scaling 1"),
            set("charged_options", "\"all\"", "all options are on the wire"),
            set("prr", "false", "came with 3.2"),
            set("lost_retransmissions", "true", "tcp_mark_lost_retrans"),
            set("ecn", "false", "tcp_ecn 0; since 2.6.31 2: accepted, but not requested"),
            set("cubic_fast_convergence", "true", "fast_convergence 1"),
            set("cubic_reno_friendly", "true", "tcp_friendliness 1"),
        ],
    },
    Profile {
        name: "linux-6",
        description: "Linux 6.x with its own defaults: time-based loss detection (RACK), tail loss probes.",
        settings: &[
            set("variant", "\"cubic\"", "tcp_congestion_control; use sack instead of reno"),
            set("connection", "\"full_duplex\"", "RFC 9293"),
            set("segment_payload", "\"1460 B\"", "1500 B less headers; timestamps take 12 B of it"),
            set("header", "\"40 B\"", "RFC 791, RFC 9293"),
            set(
                "advertised_window",
                "\"3 MiB\"",
                "tcp_rmem up to 6 MiB, tcp_adv_win_scale 1 leaves half; it grows ahead of the sender, which is not modelled",
            ),
            set("initial_window", "\"10 segments\"", "TCP_INIT_CWND, RFC 6928"),
            set("initial_ssthresh", "\"unlimited\"", "TCP_INFINITE_SSTHRESH"),
            set("delayed_ack", "true", "tcp_send_delayed_ack"),
            set("delayed_ack_timeout", "\"40 ms\"", "TCP_DELACK_MIN: HZ/25"),
            set("limited_transmit", "true", "RFC 3042; with rack each report releases a segment"),
            set("quick_acks", "16", "TCP_MAX_QUICKACKS"),
            set("nagle", "\"minshall\"", "tcp_minshall_check"),
            set("abc", "true", "tcp_slow_start and tcp_cong_avoid_ai count acknowledged segments"),
            set("abc_limit", "\"unlimited\"", "tcp_slow_start"),
            set(
                "window_validation",
                "true",
                "tcp_is_cwnd_limited; tcp_reno_ssthresh, cubictcp_recalc_ssthresh",
            ),
            set("slow_start", "\"hystart\"", "tcp_cubic: hystart 1, hystart_detect 3, hystart_low_window 16"),
            set("slow_start_restart", "true", "tcp_slow_start_after_idle 1"),
            set("eifel", "true", "tcp_packet_delayed: undo by timestamps"),
            set("frto", "true", "tcp_frto 2"),
            set("dsack_undo", "true", "undo_retrans"),
            set("rto_rule", "\"linux\"", "tcp_rtt_estimator"),
            set("rto_granularity", "\"4 ms\"", "HZ 250"),
            set("rto_initial", "\"1 s\"", "TCP_TIMEOUT_INIT, RFC 6298"),
            set("rto_min", "\"200 ms\"", "tcp_rto_min_us 200000"),
            set("rto_max", "\"120 s\"", "tcp_rto_max_ms 120000"),
            set("syn_retries", "6", "tcp_syn_retries 6"),
            set("syn_ack_retries", "5", "tcp_synack_retries 5"),
            set("data_retries", "15", "tcp_retries2 15"),
            set("sack", "true", "tcp_sack 1"),
            set("sack_blocks", "3", "space left by timestamps (RFC 2018 §3)"),
            set("dsack", "true", "tcp_dsack 1"),
            set("timestamps", "true", "tcp_timestamps 1"),
            set("timestamp_tick", "\"1 ms\"", "TCP_TS_HZ 1000"),
            set("window_scaling", "true", "tcp_window_scaling 1"),
            set("charged_options", "\"all\"", "all options are on the wire"),
            set("prr", "true", "tcp_cwnd_reduction, RFC 9937"),
            set("lost_retransmissions", "true", "part of rack"),
            set("rack", "true", "tcp_recovery 1, RFC 8985 §6; the only method since 6.17"),
            set("tail_loss_probes", "true", "tcp_early_retrans 3, RFC 8985 §7"),
            set("ecn", "false", "tcp_ecn 2: accepted, but not requested"),
            set("cubic_fast_convergence", "true", "fast_convergence 1"),
            set("cubic_reno_friendly", "true", "tcp_friendliness 1"),
            set("keepalive", "false", "SO_KEEPALIVE: off by default"),
            set("keepalive_idle", "\"7200 s\"", "tcp_keepalive_time 7200"),
            set("keepalive_interval", "\"75 s\"", "tcp_keepalive_intvl 75"),
            set("keepalive_probes", "9", "tcp_keepalive_probes 9"),
        ],
    },
    Profile {
        name: "rfc-2026",
        description: "The RFCs in force: required or permitted values.",
        settings: &[
            set("variant", "\"cubic\"", "RFC 9438"),
            set("connection", "\"full_duplex\"", "RFC 9293"),
            set("segment_payload", "\"1460 B\"", "RFC 9293 §3.7.1; timestamps take 12 B of it (RFC 6691)"),
            set("header", "\"40 B\"", "RFC 791, RFC 9293"),
            set(
                "advertised_window",
                "\"1 MB\"",
                "RFC 7323 §2: larger than the bandwidth-delay product of any bearer",
            ),
            set("initial_window", "\"10 segments\"", "RFC 6928"),
            set("initial_ssthresh", "\"unlimited\"", "RFC 5681 §3.1: arbitrarily high"),
            set("delayed_ack", "true", "RFC 9293 §3.8.6.3"),
            set("delayed_ack_timeout", "\"200 ms\"", "RFC 9293 §3.8.6.3: less than 500 ms"),
            set("limited_transmit", "true", "RFC 3042"),
            set("nagle", "\"on\"", "RFC 9293 §3.7.4: should be implemented"),
            set("slow_start_restart", "true", "RFC 5681 §4.1"),
            set("frto", "true", "RFC 5682"),
            set("rto_rule", "\"rfc6298\"", "RFC 6298"),
            set("rto_granularity", "\"1 ms\"", "RFC 6298 §4: 100 ms or finer"),
            set("rto_initial", "\"1 s\"", "RFC 6298 (2.1)"),
            set("rto_min", "\"1 s\"", "RFC 6298 (2.4)"),
            set("rto_max", "\"60 s\"", "RFC 6298 (2.5)"),
            set("sack", "true", "RFC 2018, RFC 6675"),
            set("sack_blocks", "3", "space left by timestamps (RFC 2018 §3)"),
            set("dsack", "true", "RFC 2883"),
            set("prr", "true", "RFC 9937"),
            set("lost_retransmissions", "true", "part of RFC 8985 §3"),
            set("timestamps", "true", "RFC 7323"),
            set("timestamp_tick", "\"1 ms\"", "RFC 7323 §5.4"),
            set("window_scaling", "true", "RFC 7323"),
            set("charged_options", "\"all\"", "all options are on the wire"),
            set("ecn", "true", "RFC 9293 §3.8.2: should be implemented; RFC 3168"),
            set("cubic_fast_convergence", "true", "RFC 9438 §4.7"),
            set("cubic_reno_friendly", "true", "RFC 9438 §4.3"),
        ],
    },
    Profile {
        name: "seed-004",
        description: "The parameter table of Hu's study of TCP over WCDMA; values that it does not state follow RFC 2581.",
        settings: &[
            set("variant", "\"reno\"", "Hu, table: Version"),
            set("connection", "\"full_duplex\"", "RFC 9293"),
            set("segment_payload", "\"536 B\"", "Hu, table: MSS"),
            set("header", "\"40 B\"", "RFC 791, RFC 9293; the study compresses it: [pdcp]"),
            set("advertised_window", "\"32768 B\"", "Hu, table: awnd"),
            set("initial_window", "\"1 segments\"", "Hu, table: initial cwnd"),
            set("initial_ssthresh", "\"32768 B\"", "Hu, table: initial ssthresh is awnd"),
            set("delayed_ack", "false", "not stated; an ACK for each segment"),
            set("limited_transmit", "false", "not stated; RFC 2581 has none"),
            set("rto_rule", "\"rfc6298\"", "RFC 2988"),
            set("rto_initial", "\"3 s\"", "Hu, table: initial RTO"),
            set("rto_min", "\"1 s\"", "Hu, table: minimum RTO"),
            set("rto_max", "\"60 s\"", "Hu, table: maximum RTO"),
            set("sack", "false", "Reno"),
            set("timestamps", "false", "not stated"),
            set("window_scaling", "false", "awnd needs none"),
            set("ecn", "false", "not stated; RFC 2581 has none"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TcpProfile;

    #[test]
    fn profiles_match_the_enum_and_set_only_tcp_keys() {
        let known = default_table();
        for profile in profiles() {
            let word: TcpProfile = serde_json::from_value(profile.name.into()).expect(profile.name);
            assert_ne!(word, TcpProfile::None);
            assert_eq!(profiles().iter().find(|other| other.name == profile.name), Some(profile));
            for setting in profile.settings {
                assert!(known.contains_key(setting.key), "{}: {}", profile.name, setting.key);
                assert!(!setting.source.is_empty());
            }
            let keys = profile.keys();
            assert_eq!(keys.len(), known.len(), "{}: each key once", profile.name);
        }
    }
}
