//! Notices about a configuration, for users when the proxy starts.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use umts_netlink::nftables;

use crate::options::Destination;
use crate::policy::Policy;

/// Returns the notices about a proxy that listens at `listen`, each one or more sentences.
pub fn notices(destination: &Destination, listen: SocketAddr) -> Vec<String> {
    match destination {
        Destination::Fixed(_) => Vec::new(),
        Destination::Socks5(policy) => open_proxy_warning(listen.ip(), policy).into_iter().collect(),
        Destination::Original(selection) => vec![forward_rules_notice(&selection.policy)],
    }
}

/// Returns a warning if other hosts can reach a SOCKS5 proxy.
fn open_proxy_warning(listen: IpAddr, policy: &Policy) -> Option<String> {
    if listen.to_canonical().is_loopback() {
        return None;
    }
    let place = if listen.is_unspecified() {
        "on every address of this host".to_owned()
    } else {
        format!("on {listen}")
    };
    let destinations = if policy.allowed.is_empty() {
        "everything that this host can reach, except its loopback; limit it with --allow"
    } else {
        "the destinations of --allow"
    };
    Some(format!(
        "warning: the proxy listens {place}: without a password, other hosts can reach {destinations}"
    ))
}

/// Returns the notice of a transparent proxy: the host's rules for forwarded packets do not apply
/// to intercepted packets, which are delivered to this host.
fn forward_rules_notice(policy: &Policy) -> String {
    let chains = nftables::forward_chains().unwrap_or_default();
    let mut missed = "rules for forwarded packets".to_owned();
    if !chains.is_empty() {
        missed += &format!(" ({})", chains.join("; "));
    }
    let switch = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default();
    if switch.trim() == "0" {
        missed += " and net.ipv4.ip_forward = 0";
    }
    let repair = if *policy == Policy::default() {
        "repeat the rules with --deny and --allow, or in a chain of the hook input"
    } else {
        "--deny and --allow apply"
    };
    format!("intercepted connections are not forwarded: this host's {missed} do not apply to them; {repair}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Destinations;

    fn notice_for(listen: &str, policy: &Policy) -> Option<String> {
        notices(&Destination::Socks5(policy.clone()), listen.parse().expect("the address is valid")).pop()
    }

    #[test]
    fn socks5_proxy_warns_unless_it_listens_on_loopback() {
        let all = Policy::default();
        assert_eq!(notice_for("127.0.0.1:1080", &all), None);
        assert_eq!(notice_for("[::1]:1080", &all), None);
        let warning = notice_for("[::]:1080", &all).expect("a warning");
        assert!(warning.contains("on every address") && warning.contains("--allow"), "{warning}");
        assert!(notice_for("192.0.2.1:1080", &all).expect("a warning").contains("on 192.0.2.1:"));
        let some =
            Policy { allowed: Destinations::list("--allow", ":80").expect("the ports are valid"), ..all };
        assert!(
            notice_for("192.0.2.1:1080", &some)
                .expect("a warning")
                .ends_with("other hosts can reach the destinations of --allow")
        );
    }
}
