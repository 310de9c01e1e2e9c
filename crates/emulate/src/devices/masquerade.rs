//! Masquerading by nftables, and a rule that hides the host's own addresses from the emulation.
//!
//! This process owns the table: the kernel removes it when the socket that created it is closed,
//! however the process ends.

use std::io;

use umts_netlink::nftables::{Chain, Family, Owner, Rule, Table, steps};

/// Hook in which source addresses are translated.
const TRANSLATION: Chain = Chain { name: "postrouting", kind: "nat", hook: 4, priority: 100 };

/// Runs before destination NAT (priority -100): a port of the host that is forwarded to a container
/// belongs to the host too.
const FENCE: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };

/// Translates the source addresses of packets that leave this namespace to the address of the
/// outgoing device. Dropping it ends the translation.
pub struct Masquerade {
    _owner: Owner,
}

impl Masquerade {
    /// Translates IPv4 addresses that begin with the octets `prefix`, in the current namespace.
    /// `table` must be a new name of an nftables table. Packets from the device with index `fenced`
    /// are rejected unless their destination is a single other host.
    ///
    /// # Errors
    /// An error if the kernel has no nftables with masquerading, or if this process lacks the
    /// privileges.
    pub fn new(table: &str, prefix: &[u8], fenced: Option<u32>) -> io::Result<Self> {
        let mut table = Table::new(table, Family::Ipv4, true);
        if let Some(device) = fenced {
            table.chain(FENCE, &[fence(device)]);
        }
        table.chain(TRANSLATION, &[translation(prefix)]);
        table.make().map(|owner| Masquerade { _owner: owner }).map_err(refused)
    }
}

fn refused(error: io::Error) -> io::Error {
    let help = "cannot translate addresses: this needs root, and Linux 5.12 or later with masquerading by nftables (nf_tables, \
                nft_masq, nft_fib_ipv4, nft_reject_ipv4)";
    io::Error::new(error.kind(), format!("{help}: {error}"))
}

fn translation(prefix: &[u8]) -> Rule {
    Rule::new("addresses of this emulation", &[&steps::is_from(prefix), &steps::masquerade()])
}

/// Rejects packets from the device, with an ICMP error, unless their destination is a single other
/// host.
fn fence(device: u32) -> Rule {
    Rule::new(
        "destination is not another host",
        &[&steps::is_from_device(device), &steps::is_not_for_another_host(), &steps::prohibit()],
    )
}
