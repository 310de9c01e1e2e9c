//! Masquerading by the kernel's nftables; and a fence in front of the host, whose own addresses are no part of the Internet.
//!
//! The table is *owned*: the kernel removes it with the socket that made it, however the process ends.

use std::io;

use umts_netlink::nftables::{Chain, Family, Owner, Rule, Table, steps};

/// Where source addresses are translated.
const TRANSLATION: Chain = Chain { name: "postrouting", kind: "nat", hook: 4, priority: 100 };

/// Before anybody translates destinations (at -100): a port of the host that stands for a container is the host's too.
const FENCE: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };

/// Packets from some addresses leave this namespace with the address of the device that they leave by. As long as this
/// value lives.
pub struct Masquerade {
    _owner: Owner,
}

impl Masquerade {
    /// Of the IPv4 addresses that begin with the octets `prefix`, in the present namespace; `table` is the name of the
    /// table, of which there must be no other. What comes by the device of index `fenced` and is for no other single host is
    /// refused.
    ///
    /// # Errors
    /// If the kernel has no nftables with masquerading, or this process may not tell it.
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
    let help = "addresses cannot be translated: the kernel needs nftables with masquerading (nf_tables, nft_masq, \
                nft_fib_ipv4, nft_reject_ipv4) of Linux 5.12 or later, and this process root's rights";
    io::Error::new(error.kind(), format!("{help}: {error}"))
}

fn translation(prefix: &[u8]) -> Rule {
    Rule::new("addresses of this emulation", &[&steps::is_from(prefix), &steps::masquerade()])
}

/// Refuses, with a word to the sender, what came by the device and is not for one host beyond this one.
fn fence(device: u32) -> Rule {
    Rule::new(
        "not for another host",
        &[&steps::came_by(device), &steps::is_not_for_one_beyond(), &steps::prohibit()],
    )
}
