//! Options that select the destination of connections.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;

use crate::error::{ProxyError, wrong};
use crate::interception::{IfDead, Selection};
use crate::options::Destination;
use crate::options::addresses::{refuse_itself, server_addresses};
use crate::options::values::GivenOptions;
use crate::policy::{Destinations, Policy, port_range};

/// Parses the destination. Exactly one of `--to`, `--socks5` and `--transparent` must be set.
pub fn destination(listen: SocketAddr, given: &GivenOptions<'_>) -> Result<Destination, ProxyError> {
    let selected: Vec<&str> =
        ["--to", "--socks5", "--transparent"].into_iter().filter(|name| given.is_set(name)).collect();
    let of_transparent = ["--from", "--ports", "--if-dead"].into_iter().find(|name| given.is_set(name));
    if let (Some(name), false) = (of_transparent, selected.contains(&"--transparent")) {
        return Err(wrong(format!("{name} requires --transparent")));
    }
    let of_policy = ["--allow", "--deny"].into_iter().find(|name| given.is_set(name));
    if let (Some(name), ["--to"]) = (of_policy, &selected[..]) {
        return Err(wrong(format!(
            "{name} requires --socks5 or --transparent: with --to there is only one destination"
        )));
    }
    match selected[..] {
        ["--to"] => {
            let to = given.get("--to").unwrap_or_default();
            let servers = server_addresses(to)?;
            refuse_itself(listen, &servers, to)?;
            Ok(Destination::Fixed(servers))
        }
        ["--socks5"] => Ok(Destination::Socks5(policy(given)?)),
        [_] => selection(given).map(Destination::Original),
        [] => Err(wrong(
            "--to is missing: give the server, as in --to 192.0.2.1:80, or --socks5 or --transparent if clients choose it",
        )),
        [first, second, ..] => {
            Err(wrong(format!("{first} and {second} exclude each other: give one of them")))
        }
    }
}

/// Parses the selection of intercepted connections.
fn selection(given: &GivenOptions<'_>) -> Result<Selection, ProxyError> {
    let Some(devices) = given.get("--from") else {
        return Err(wrong(
            "--from is missing: give the device on which packets of clients arrive, as in --from eth1",
        ));
    };
    let ports = given.get("--ports").map(port_ranges).transpose()?.unwrap_or_default();
    let if_dead = match given.get("--if-dead") {
        None | Some("pass") => IfDead::Pass,
        Some("refuse") => IfDead::Refuse,
        Some(other) => return Err(wrong(format!("--if-dead takes pass or refuse, not {other:?}"))),
    };
    let devices: Vec<String> = devices.split(',').map(|name| name.trim().to_owned()).collect();
    if devices.iter().any(String::is_empty) {
        return Err(wrong("--from takes names of devices, as in eth1 or eth1,eth2"));
    }
    Ok(Selection { devices, ports, if_dead, policy: policy(given)? })
}

/// Parses the destinations that clients may reach.
fn policy(given: &GivenOptions<'_>) -> Result<Policy, ProxyError> {
    let list = |name: &str| {
        let lists = given.all(name).map(|text| Destinations::list(name, text));
        lists.collect::<Result<Vec<_>, _>>().map(|lists| lists.concat())
    };
    Ok(Policy { allowed: list("--allow")?, denied: list("--deny")? })
}

/// Address at which the proxy listens. With SOCKS5 (`with_socks5`), a port alone stands for
/// loopback, so that the proxy does not serve other hosts by accident.
pub fn listening_by_default(listen: SocketAddr, typed: &str, with_socks5: bool) -> SocketAddr {
    let has_no_address = typed.trim_start_matches(':').parse::<u16>().is_ok();
    if with_socks5 && has_no_address {
        SocketAddr::from((Ipv4Addr::LOCALHOST, listen.port()))
    } else {
        listen
    }
}

/// Parses ports, for example `80,443,8000-8100`.
fn port_ranges(text: &str) -> Result<Vec<RangeInclusive<u16>>, ProxyError> {
    text.split(',')
        .map(|part| {
            port_range(part)
                .ok_or_else(|| wrong(format!("--ports takes ports as in 80,443,8000-8100, not {text:?}")))
        })
        .collect()
}
