//! A parser of SOCKS5 requests (RFC 1928): a greeting, then a request. Supports CONNECT without
//! authentication.
//!
//! The parser states the number of octets that it needs next. It never requests octets beyond the
//! request, because these belong to the client's stream.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

const VERSION: u8 = 5;
const CONNECT: u8 = 1;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;

/// Address types.
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Reply codes.
const SUCCEEDED: u8 = 0;
const FAILED: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const REFUSED: u8 = 5;
const NO_SUCH_COMMAND: u8 = 7;
const NO_SUCH_ADDRESS: u8 = 8;

/// Destination of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// IP address and port.
    Address(SocketAddr),
    /// Host name and port.
    Name(String, u16),
}

/// Result of a parsing step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The parser needs this number of octets next.
    Need(usize),
    /// Send this reply; the parser then needs `needed` octets.
    Reply { reply: Vec<u8>, needed: usize },
    /// The request is complete.
    Done(Target),
    /// Send this reply and close the connection. The reply is empty if the client does not use
    /// SOCKS5.
    Reject(Vec<u8>),
}

/// The part of the request that is parsed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Version and number of methods.
    Greeting,
    /// The methods of authentication that the client offers.
    Methods,
    /// The first four octets of the request, up to the type of the address.
    Request,
    /// Length of a host name.
    NameLength,
    /// Address of this type, and port.
    Address(u8),
}

/// State of the parser for one client.
#[derive(Debug)]
pub struct Socks5 {
    /// The part that comes next.
    expected: Expected,
    /// Number of octets of this part.
    needed: usize,
}

impl Socks5 {
    /// Creates a parser. Returns the number of octets that it needs first.
    pub fn new() -> (Self, usize) {
        (Socks5 { expected: Expected::Greeting, needed: 2 }, 2)
    }

    /// Parses exactly as many octets as the last step requested.
    pub fn handle(&mut self, octets: &[u8]) -> Step {
        assert_eq!(octets.len(), self.needed, "the requested length");
        match (self.expected, octets) {
            (Expected::Greeting, &[VERSION, methods]) if methods > 0 => {
                self.need(Expected::Methods, methods.into())
            }
            (Expected::Methods, methods) if methods.contains(&NO_AUTHENTICATION) => {
                self.need(Expected::Request, 4);
                Step::Reply { reply: vec![VERSION, NO_AUTHENTICATION], needed: self.needed }
            }
            (Expected::Methods, _) => Step::Reject(vec![VERSION, NO_METHOD]),
            (Expected::Request, &[VERSION, CONNECT, _, kind]) => match kind {
                IPV4 => self.need(Expected::Address(kind), 4 + 2),
                IPV6 => self.need(Expected::Address(kind), 16 + 2),
                NAME => self.need(Expected::NameLength, 1),
                _ => Step::Reject(reply(NO_SUCH_ADDRESS)),
            },
            (Expected::Request, &[VERSION, _, _, _]) => Step::Reject(reply(NO_SUCH_COMMAND)),
            (Expected::NameLength, &[length]) if length > 0 => {
                self.need(Expected::Address(NAME), usize::from(length) + 2)
            }
            (Expected::NameLength, _) => Step::Reject(reply(NO_SUCH_ADDRESS)),
            (Expected::Address(kind), octets) => {
                target(kind, octets).map_or_else(|| Step::Reject(reply(NO_SUCH_ADDRESS)), Step::Done)
            }
            (Expected::Greeting | Expected::Request, _) => Step::Reject(Vec::new()),
        }
    }

    fn need(&mut self, expected: Expected, octets: usize) -> Step {
        self.expected = expected;
        self.needed = octets;
        Step::Need(octets)
    }
}

/// Parses an address and its port. Returns `None` if they cannot denote a host.
fn target(kind: u8, octets: &[u8]) -> Option<Target> {
    let (host, port) = octets.split_last_chunk::<2>()?;
    let port = u16::from_be_bytes(*port);
    if port == 0 {
        return None;
    }
    let address = match kind {
        IPV4 => IpAddr::from(<[u8; 4]>::try_from(host).ok()?),
        IPV6 => IpAddr::from(<[u8; 16]>::try_from(host).ok()?).to_canonical(),
        _ => return name(host).map(|name| Target::Name(name, port)),
    };
    (!address.is_unspecified()).then_some(Target::Address(SocketAddr::new(address, port)))
}

/// Accepts letters, digits and the punctuation of host names and addresses.
fn name(octets: &[u8]) -> Option<String> {
    let is_usual = |octet: &u8| octet.is_ascii_alphanumeric() || b".-_:".contains(octet);
    octets.iter().all(is_usual).then(|| String::from_utf8_lossy(octets).into_owned())
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Address(address) => address.fmt(f),
            Target::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

/// Builds the reply to the result of connecting. An error of the kind `PermissionDenied` means that
/// the policy forbids the destination.
pub fn reply_of(outcome: Result<(), &io::Error>) -> Vec<u8> {
    reply(match outcome.map_err(io::Error::kind) {
        Ok(()) => SUCCEEDED,
        Err(io::ErrorKind::PermissionDenied) => NOT_ALLOWED,
        Err(io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset) => REFUSED,
        Err(io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
            UNREACHABLE
        }
        Err(_) => FAILED,
    })
}

/// Builds a reply with an unspecified bound address, which CONNECT does not need.
fn reply(code: u8) -> Vec<u8> {
    vec![VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Result of parsing a whole stream.
    struct Parsed {
        last_step: Step,
        /// All replies, one after another.
        replies: Vec<u8>,
        /// Number of octets that the parser took.
        consumed: usize,
    }

    /// Parses a whole stream.
    fn parse_stream(stream: &[u8]) -> Parsed {
        let (mut client, mut needed) = Socks5::new();
        let (mut consumed, mut replies) = (0, Vec::new());
        loop {
            let Some(octets) = stream.get(consumed..consumed + needed) else {
                return Parsed { last_step: Step::Need(needed), replies, consumed };
            };
            consumed += needed;
            let step = client.handle(octets);
            match &step {
                Step::Need(more) => needed = *more,
                Step::Reply { reply, needed: more } => {
                    replies.extend(reply);
                    needed = *more;
                }
                Step::Done(_) | Step::Reject(_) => return Parsed { last_step: step, replies, consumed },
            }
        }
    }

    /// Version 5 and two methods: password (2), and no authentication (0).
    const GREETING: [u8; 4] = [5, 2, 2, 0];

    fn parse_request(request: &[u8]) -> Step {
        last_step(&[&GREETING, request].concat())
    }

    fn last_step(stream: &[u8]) -> Step {
        parse_stream(stream).last_step
    }

    #[test]
    fn request_names_an_address_or_a_host() {
        let step = parse_request(&[5, 1, 0, 1, 192, 0, 2, 1, 0, 80]);
        assert_eq!(step, Step::Done(Target::Address("192.0.2.1:80".parse().unwrap())));
        let six: Vec<u8> = [&[5, 1, 0, 4, 0x20, 1, 0xd, 0xb8][..], &[0; 11], &[1, 1, 0xbb]].concat();
        assert_eq!(parse_request(&six), Step::Done(Target::Address("[2001:db8::1]:443".parse().unwrap())));
        let named = [&[5, 1, 0, 3, 14][..], b"server.example", &[0x1f, 0x90]].concat();
        assert_eq!(parse_request(&named), Step::Done(Target::Name("server.example".to_owned(), 8080)));
    }

    #[test]
    fn bytes_after_the_request_are_not_consumed() {
        let request = [&GREETING[..], &[5, 1, 0, 1, 192, 0, 2, 1, 0, 80], b"GET /"].concat();
        let Parsed { replies, consumed, .. } = parse_stream(&request);
        // The greeting has 4 octets, the request 10.
        assert_eq!((replies, consumed), (vec![5, 0], 4 + 10));
    }

    #[test]
    fn invalid_requests_have_reply_codes() {
        assert_eq!(last_step(&[5, 1, 2]), Step::Reject(vec![5, 0xff]), "only password authentication");
        assert_eq!(parse_request(&[5, 2, 0, 1]), Step::Reject(reply(NO_SUCH_COMMAND)), "BIND");
        assert_eq!(parse_request(&[5, 1, 0, 2]), Step::Reject(reply(NO_SUCH_ADDRESS)));
        assert_eq!(
            parse_request(&[5, 1, 0, 1, 192, 0, 2, 1, 0, 0]),
            Step::Reject(reply(NO_SUCH_ADDRESS)),
            "port 0"
        );
        assert_eq!(parse_request(&[5, 1, 0, 3, 0]), Step::Reject(reply(NO_SUCH_ADDRESS)), "no name");
        assert_eq!(parse_request(&[5, 1, 0, 3, 2, b'a', 0, 0, 80]), Step::Reject(reply(NO_SUCH_ADDRESS)));
        assert_eq!(last_step(b"GET / HTTP/1.1\r\n"), Step::Reject(Vec::new()), "not SOCKS5");
        assert_eq!(last_step(&[4, 1]), Step::Reject(Vec::new()), "SOCKS4");
    }

    proptest! {
        #[test]
        fn arbitrary_streams_end_within_the_length_of_a_request(stream: Vec<u8>) {
            let Parsed { last_step, replies, consumed } = parse_stream(&stream);
            // Greeting, methods, request, length of the name, name and port.
            prop_assert!(consumed <= 2 + 255 + 4 + 1 + 255 + 2);
            prop_assert!(replies.is_empty() || replies == [5, 0]);
            if let Step::Need(more) = last_step {
                prop_assert!(more > 0 && consumed + more > stream.len());
            }
        }

        #[test]
        fn valid_requests_are_parsed(methods in prop::collection::vec(any::<u8>(), 0..255), host: [u8; 4], port in 1_u16..) {
            prop_assume!(host != [0; 4]);
            let methods = [&methods[..], &[NO_AUTHENTICATION]].concat();
            let greeting = [&[5, methods.len() as u8][..], &methods].concat();
            let request = [&[5, 1, 0, 1][..], &host, &port.to_be_bytes()].concat();
            let Parsed { last_step, consumed, .. } = parse_stream(&[&greeting[..], &request].concat());
            prop_assert_eq!(last_step, Step::Done(Target::Address(SocketAddr::from((host, port)))));
            prop_assert_eq!(consumed, greeting.len() + request.len());
        }
    }
}
