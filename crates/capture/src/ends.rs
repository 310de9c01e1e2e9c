//! The two ends of a connection: small and quick to compare, because they are the key of a look-up
//! for every packet.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Address and port of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct End {
    /// Upper and lower half. An IPv4 address is in the lower half.
    address: [u64; 2],
    port: u16,
    is_ipv6: bool,
    /// Number of the tunnel among those that carry connections between the same addresses and
    /// ports. Usually 0.
    tunnel: u8,
}

/// Both ends, the smaller one first: equal for both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ends(pub End, pub End);

impl End {
    /// An end with an IPv4 address.
    fn of_ipv4(address: u32, port: u16) -> Self {
        End { address: [0, u64::from(address)], port, is_ipv6: false, tunnel: 0 }
    }

    /// Like `of_ipv4`, for IPv6.
    pub fn of_ipv6(address: [u8; 16], port: u16) -> Self {
        let address = u128::from_be_bytes(address);
        End { address: [(address >> 64) as u64, address as u64], port, is_ipv6: true, tunnel: 0 }
    }

    pub fn port(self) -> u16 {
        self.port
    }

    pub fn socket_address(self) -> SocketAddr {
        let [upper, lower] = self.address;
        let ip = if self.is_ipv6 {
            IpAddr::from(Ipv6Addr::from(u128::from(upper) << 64 | u128::from(lower)))
        } else {
            IpAddr::from(Ipv4Addr::from(lower as u32))
        };
        SocketAddr::new(ip, self.port)
    }
}

impl Ends {
    /// Returns the ends for two ports of IPv4, and whether the source is the first end. There is no
    /// branch, because the direction of the next packet is unpredictable.
    pub fn of_ipv4(source: (u32, u16), destination: (u32, u16)) -> (Self, bool) {
        let number = |(address, port): (u32, u16)| u64::from(address) << 16 | u64::from(port);
        let end = |number: u64| End::of_ipv4((number >> 16) as u32, number as u16);
        let (source, destination) = (number(source), number(destination));
        (Ends(end(source.min(destination)), end(source.max(destination))), source <= destination)
    }

    /// Returns the ends for a source and a destination of any kind, and whether the source is the
    /// first end.
    pub fn between(source: End, destination: End) -> (Self, bool) {
        let is_from_first = source <= destination;
        (if is_from_first { Ends(source, destination) } else { Ends(destination, source) }, is_from_first)
    }

    /// Returns 16 bits that differ between most connections. Not a hash.
    #[inline]
    pub fn cache_index(&self) -> usize {
        (self.digest() >> 48) as usize
    }

    /// Returns 64 bits that differ between most connections.
    #[inline]
    pub fn digest(&self) -> u64 {
        let Ends(a, b) = self;
        let mix =
            a.address[1] ^ b.address[1].rotate_left(16) ^ u64::from(a.port) << 32 ^ u64::from(b.port) << 48;
        // The golden ratio mixes all bits into the upper ones (Knuth's multiplicative hashing).
        mix.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns these ends with another tunnel number.
    pub fn in_tunnel(self, number: u8) -> Self {
        let Ends(a, b) = self;
        Ends(End { tunnel: number, ..a }, End { tunnel: number, ..b })
    }
}

impl Hash for Ends {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Ends(a, b) = self;
        if a.is_ipv6 {
            state.write_u64(a.address[0]);
            state.write_u64(b.address[0]);
            state.write_u64(a.address[1]);
            state.write_u64(b.address[1]);
        } else {
            state.write_u64(a.address[1] << 32 | b.address[1]);
        }
        state.write_u32(u32::from(a.port) << 16 | u32::from(b.port));
    }
}
