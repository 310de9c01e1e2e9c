//! Addresses of an emulation. They are the same in every emulation, because they are not visible
//! outside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum number of UEs. Their addresses and the server side's are in 10.45.0.0/16.
pub const MAX_UES: usize = 65_000;

/// Addresses of the server side, IPv4 and IPv6. Its name server has them too.
pub const SERVER: [IpAddr; 2] = [v4(1), v6(1)];

/// Addresses of a UE: IPv4 and IPv6.
pub fn of_ue(ue: usize) -> [IpAddr; 2] {
    debug_assert!(ue < MAX_UES);
    let number = ue as u16 + 2;
    [v4(number), v6(number)]
}

/// The UE to which an address would belong. That UE may not exist.
pub fn ue_of(address: IpAddr) -> Option<usize> {
    let number = match address {
        IpAddr::V4(address) => {
            let [10, 45, high, low] = address.octets() else { return None };
            u16::from_be_bytes([high, low])
        }
        IpAddr::V6(address) => {
            let [0xfd45, 0, 0, 0, 0, 0, 0, number] = address.segments() else { return None };
            number
        }
    };
    usize::from(number).checked_sub(2)
}

const fn v4(number: u16) -> IpAddr {
    let [high, low] = number.to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(10, 45, high, low))
}

const fn v6(number: u16) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfd45, 0, 0, 0, 0, 0, 0, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_identifies_its_ue() {
        for ue in [0, 1, 253, 254, 255, 64_999] {
            for address in of_ue(ue) {
                assert_eq!(ue_of(address), Some(ue));
            }
        }
    }

    #[test]
    fn other_addresses_belong_to_no_ue() {
        for text in ["10.45.0.0", "10.45.0.1", "10.46.0.2", "8.8.8.8", "fd45::1", "fd46::2", "fd45:1::2"] {
            assert_eq!(ue_of(text.parse().unwrap()), None, "{text}");
        }
    }
}
