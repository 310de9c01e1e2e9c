//! Destinations that clients may reach through the proxy. The default permits all, except this
//! host's loopback if the client is another host.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::error::{ProxyError, wrong};

/// The addresses that share the first `length` bits of `address`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// An address of the network. IPv4-mapped IPv6 addresses are stored as IPv4 if `length` is at
    /// least 96.
    pub address: IpAddr,
    /// Length of the prefix in bits: at most 32 for IPv4, 128 for IPv6.
    pub length: u8,
}

/// Destinations by network and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destinations {
    /// `None` stands for every address.
    pub network: Option<Network>,
    pub ports: RangeInclusive<u16>,
}

/// Allowed and denied destinations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// If this list is not empty, clients reach only these destinations.
    pub allowed: Vec<Destinations>,
    /// Clients do not reach these destinations, even if they are allowed.
    pub denied: Vec<Destinations>,
}

impl Policy {
    /// Whether `client` may reach `to`. Clients of other hosts reach loopback only if an allowed
    /// network contains its address.
    pub fn permits(&self, client: IpAddr, to: SocketAddr) -> bool {
        let to = SocketAddr::new(to.ip().to_canonical(), to.port());
        let is_among = |list: &[Destinations]| list.iter().any(|entry| entry.contains(to));
        let is_in_allowed_network =
            self.allowed.iter().any(|entry| entry.network.is_some() && entry.contains(to));
        let is_foreign_loopback = to.ip().is_loopback() && !client.to_canonical().is_loopback();
        !is_among(&self.denied)
            && (self.allowed.is_empty() || is_among(&self.allowed))
            && (!is_foreign_loopback || is_in_allowed_network)
    }
}

impl Destinations {
    fn contains(&self, to: SocketAddr) -> bool {
        self.ports.contains(&to.port()) && self.network.is_none_or(|network| network.contains(to.ip()))
    }

    /// Parses destinations separated by commas, for example `192.0.2.0/24`, `192.0.2.7:80`,
    /// `[2001:db8::]/32:443-444` or `:80`.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] with examples.
    pub fn list(option: &str, text: &str) -> Result<Vec<Destinations>, ProxyError> {
        let parse = |part: &str| {
            Destinations::parse(part.trim()).ok_or_else(|| {
                wrong(format!(
                    "{option} takes addresses, networks and ports, as in 192.0.2.0/24,198.51.100.7:443,\
                     [2001:db8::]/32,:8000-8100, not {part:?}"
                ))
            })
        };
        text.split(',').map(parse).collect()
    }

    fn parse(text: &str) -> Option<Destinations> {
        let (network, ports) = parts(text)?;
        let network = if network.is_empty() { None } else { Some(Network::parse(network)?) };
        let ports = if ports.is_empty() { 1..=u16::MAX } else { port_range(ports)? };
        Some(Destinations { network, ports })
    }
}

/// Splits a destination into network and ports. IPv6 with ports needs brackets; a number alone is a
/// port.
fn parts(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    if text.starts_with('[') {
        let end = text.find(']')?;
        return match text[end..].split_once(':') {
            Some((_, "")) => None,
            Some((rest, ports)) => Some((&text[..end + rest.len()], ports)),
            None => Some((text, "")),
        };
    }
    if port_range(text).is_some() {
        return Some(("", text));
    }
    match text.split_once(':') {
        // More than one colon: an IPv6 address without brackets and ports.
        Some((_, rest)) if rest.contains(':') => Some((text, "")),
        Some((_, "")) => None,
        Some(parts) => Some(parts),
        None => Some((text, "")),
    }
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        };
        let differing = bits(self.address) ^ bits(address);
        self.address.is_ipv4() == address.is_ipv4()
            && differing.checked_shr(128 - u32::from(self.length)).unwrap_or(0) == 0
    }

    fn parse(text: &str) -> Option<Network> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(u8::from_str(length).ok()?)),
            None => (text, None),
        };
        let inner = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
        let address = IpAddr::from_str(inner).ok()?;
        let max_length = if address.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(max_length);
        (length <= max_length).then(|| Network { address, length }.canonical())
    }

    /// Converts a network below `::ffff:0:0/96` to IPv4, because destinations are compared as IPv4.
    fn canonical(self) -> Network {
        match (self.address.to_canonical(), self.length.checked_sub(96)) {
            (address @ IpAddr::V4(_), Some(length)) if self.address.is_ipv6() => Network { address, length },
            _ => self,
        }
    }
}

/// Parses a port or a range of ports: `80`, `8000-8100`.
pub fn port_range(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (0 < first && first <= last).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn policy(allowed: &str, denied: &str) -> Policy {
        let parse = |option, text: &str| match text {
            "" => Vec::new(),
            _ => Destinations::list(option, text).expect("destinations"),
        };
        Policy { allowed: parse("--allow", allowed), denied: parse("--deny", denied) }
    }

    fn permits(policy: &Policy, client: &str, to: &str) -> bool {
        policy.permits(
            client.parse().expect("the address is valid"),
            to.parse().expect("an address and a port"),
        )
    }

    const OUTSIDE: &str = "192.0.2.1";

    #[test]
    fn only_clients_of_this_host_reach_loopback() {
        let all = Policy::default();
        for to in ["127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(!permits(&all, OUTSIDE, to), "{to}");
            assert!(!permits(&all, "2001:db8::1", to), "{to}");
            assert!(permits(&all, "127.0.0.1", to) && permits(&all, "::1", to), "{to}");
            assert!(permits(&all, "::ffff:127.0.0.1", to), "{to}");
        }
        assert!(permits(&all, OUTSIDE, "198.51.100.1:80"));
        // An allowed port does not allow loopback.
        assert!(!permits(&policy(":80", ""), OUTSIDE, "127.0.0.1:80"));
        assert!(permits(&policy("127.0.0.1:80", ""), OUTSIDE, "127.0.0.1:80"));
    }

    #[test]
    fn policy_permits_allowed_destinations_unless_denied() {
        let some = policy("198.51.100.0/24, [2001:db8::]/33:443", "198.51.100.7, :25");
        assert!(permits(&some, OUTSIDE, "198.51.100.8:80"));
        assert!(permits(&some, OUTSIDE, "[::ffff:198.51.100.8]:80"));
        assert!(!permits(&some, OUTSIDE, "198.51.101.8:80"));
        assert!(!permits(&some, OUTSIDE, "198.51.100.7:80"));
        assert!(!permits(&some, OUTSIDE, "198.51.100.8:25"));
        assert!(permits(&some, OUTSIDE, "[2001:db8:7fff::1]:443"));
        assert!(!permits(&some, OUTSIDE, "[2001:db8:8000::1]:443"));
        assert!(!permits(&some, OUTSIDE, "[2001:db8::1]:80"));
        assert!(permits(&policy("0.0.0.0/0", ""), OUTSIDE, "9.9.9.9:1"));
    }

    #[test]
    fn ipv4_networks_may_be_written_as_ipv6() {
        for denied in ["::ffff:198.51.100.7", "[::ffff:198.51.100.0]/120", "[::ffff:0:0]/96:80"] {
            let some = policy("", denied);
            assert!(!permits(&some, OUTSIDE, "198.51.100.7:80"), "{denied}");
            assert!(permits(&some, OUTSIDE, "[2001:db8::1]:80"), "{denied}");
        }
        assert!(permits(&policy("", "::/0"), OUTSIDE, "198.51.100.7:80"));
    }

    #[test]
    fn destinations_are_parsed_in_every_notation() {
        let parse = |text: &str| Destinations::parse(text).expect("a destination");
        assert_eq!(parse("7000"), Destinations { network: None, ports: 7000..=7000 });
        assert_eq!(parse(":80-90").ports, 80..=90);
        let six = Network { address: "2001:db8::".parse().expect("the address is valid"), length: 32 };
        assert_eq!(parse("[2001:db8::]/32:443"), Destinations { network: Some(six), ports: 443..=443 });
        assert_eq!(parse("2001:db8::/32").network, Some(six));
        assert_eq!(parse("192.0.2.1:80").ports, 80..=80);
        for wrong in [
            "",
            ":",
            "0",
            "90-80",
            "192.0.2.1/33",
            "server.example",
            "192.0.2.1:",
            "[::1",
            "[::1]:",
            ":70000",
        ] {
            let error = Destinations::list("--allow", wrong).expect_err(wrong).to_string();
            assert!(error.starts_with("--allow takes addresses, networks and ports"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[0-9a-f:./,\\[\\]-]{0,40}") {
            let _ = Destinations::list("--allow", &text);
        }

        #[test]
        fn network_contains_addresses_with_its_prefix(address: u32, other: u32, length in 0_u8..=32) {
            let network = Network { address: IpAddr::V4(address.into()), length };
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            prop_assert_eq!(network.contains(IpAddr::V4(other.into())), address & mask == other & mask);
        }
    }
}
