//! Where clients want to go, and who says so.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use crate::error::{ProxyError, wrong};
use crate::interception::{IfDead, Selection};
use crate::options::Destination;
use crate::options::addresses::{refuse_itself, server_addresses};
use crate::options::values::Typed;

/// Where to: exactly one of the ways to say it.
pub fn destination(listen: SocketAddr, typed: &Typed<'_>) -> Result<Destination, ProxyError> {
    let ways: Vec<&str> =
        ["--to", "--socks5", "--transparent"].into_iter().filter(|name| typed.is_set(name)).collect();
    let of_transparent = ["--from", "--ports", "--if-dead"].into_iter().find(|name| typed.is_set(name));
    if let (Some(name), false) = (of_transparent, ways.contains(&"--transparent")) {
        return Err(wrong(format!("{name} goes with --transparent")));
    }
    match ways[..] {
        ["--to"] => {
            let to = typed.get("--to").unwrap_or_default();
            let servers = server_addresses(to)?;
            refuse_itself(listen, &servers, to)?;
            Ok(Destination::Fixed(servers))
        }
        ["--socks5"] => Ok(Destination::Socks5),
        [_] => selection(typed).map(Destination::Original),
        [] => Err(wrong(
            "--to is missing, the server: --to 192.0.2.1:80; or --socks5 or --transparent, by which each client says it",
        )),
        [first, second, ..] => {
            Err(wrong(format!("{first} and {second} both say where to: give one of them")))
        }
    }
}

/// Which connections are intercepted.
fn selection(typed: &Typed<'_>) -> Result<Selection, ProxyError> {
    let Some(devices) = typed.get("--from") else {
        return Err(wrong("--from is missing, the device by which clients' packets come: --from eth1"));
    };
    let ports = typed.get("--ports").map(port_ranges).transpose()?.unwrap_or_default();
    let if_dead = match typed.get("--if-dead") {
        None | Some("pass") => IfDead::Pass,
        Some("refuse") => IfDead::Refuse,
        Some(other) => return Err(wrong(format!("--if-dead takes pass or refuse, not {other:?}"))),
    };
    let devices: Vec<String> = devices.split(',').map(|name| name.trim().to_owned()).collect();
    if devices.iter().any(String::is_empty) {
        return Err(wrong("--from takes names of devices, as in eth1 or eth1,eth2"));
    }
    Ok(Selection { devices, ports, if_dead })
}

/// `80,443,8000-8100`.
fn port_ranges(text: &str) -> Result<Vec<RangeInclusive<u16>>, ProxyError> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (0 < first && first <= last).then_some(first..=last)
    };
    text.split(',')
        .map(|part| {
            range(part)
                .ok_or_else(|| wrong(format!("--ports takes ports as in 80,443,8000-8100, not {text:?}")))
        })
        .collect()
}
