//! Scripted impairments: drop, delay, duplicate or reorder the n-th packet of a kind.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::core_network::PacketKind;
use umts_stack::core_network::Treatment;
use umts_units::{Duration, as_text, count_of};

use crate::text::KeyError;

/// Treatment of single packets of a flow at their entry into the fixed network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ImpairmentTable", into = "ImpairmentTable")]
pub struct Impairment {
    /// Number of the `[[flow]]`, from 0.
    pub flow: u32,
    /// Index of the user among the flow's users, from 0.
    pub user: u16,
    /// The packets that are treated.
    pub packet: PacketChoice,
    /// The treatment.
    pub action: Action,
}

/// Treatment of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The packet is lost.
    Drop,
    /// The packet is delayed by this time.
    Delay(Duration),
    /// The packet continues, and a copy follows after this time.
    Duplicate(Duration),
    /// The packet is delayed until this number of later packets of its flow and direction has
    /// passed.
    Reorder(u32),
}

impl From<Action> for Treatment {
    fn from(action: Action) -> Self {
        match action {
            Action::Drop => Treatment::Drop,
            Action::Delay(by) => Treatment::Delay(by),
            Action::Duplicate(by) => Treatment::Duplicate(by),
            Action::Reorder(by) => Treatment::Reorder(by),
        }
    }
}

/// Packets of one kind, as in `"data 5"`, `"retransmission 1"` or `"ack 3-7"`, counted from 1 at
/// their entry into the fixed network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketChoice {
    /// Kind of packet.
    pub kind: PacketKind,
    /// Number of the first packet.
    pub first: u32,
    /// Number of the last packet.
    pub last: u32,
}

/// The keyword of a kind in a scenario file.
fn keyword(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Data => "data",
        PacketKind::Retransmission => "retransmission",
        PacketKind::Ack => "ack",
    }
}

const KINDS: [PacketKind; 3] = [PacketKind::Data, PacketKind::Retransmission, PacketKind::Ack];

impl FromStr for PacketChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` chooses no packet: write a kind and a number, as in \"data 5\", \"ack 3-7\" or \"retransmission 1\""
            )
        };
        let (kind, numbers) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let kind = KINDS.into_iter().find(|known| keyword(*known) == kind).ok_or_else(wrong)?;
        let (first, last) = numbers.trim().split_once('-').unwrap_or((numbers.trim(), numbers.trim()));
        let number = |text: &str| text.parse::<u32>().ok().filter(|&n| n > 0).ok_or_else(wrong);
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("`{text}` runs backwards: write the smaller number first"));
        }
        Ok(PacketChoice { kind, first, last })
    }
}

impl fmt::Display for PacketChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", keyword(self.kind), self.first)?;
        if self.last == self.first { Ok(()) } else { write!(f, "-{}", self.last) }
    }
}

as_text!(
    PacketChoice,
    "PacketChoice",
    "packets by kind and number, as in \"data 5\", \"ack 3-7\" or \"retransmission 1\"",
    r"^(data|retransmission|ack) [0-9]+(-[0-9]+)?$"
);

/// A delay in time or in packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Time(Duration),
    Packets(u32),
}

impl FromStr for Amount {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["packets", "packet"]) {
            Some(count) => count.map(Amount::Packets),
            None => {
                text.parse().map(Amount::Time).map_err(|error| format!("{error}, or as in \"3 packets\""))
            }
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Time(time) => time.fmt(f),
            Amount::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

as_text!(
    Amount,
    "By",
    "a time or a number of packets, as in \"200 ms\" or \"3 packets\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(packets?|ns|us|µs|ms|s|min|h)$"
);

/// An impairment as written in the file.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Impairment")]
struct ImpairmentTable {
    /// Number of the `[[flow]]`, from 0.
    #[serde(default)]
    #[schemars(extend("x-label" = "Impaired flow"))]
    flow: u32,
    /// Index of the user among the flow's users, from 0.
    #[serde(default)]
    #[schemars(extend("x-label" = "Impaired user"))]
    user: u16,
    /// Packets that are treated, as kind and number. They are counted from 1 at their entry into
    /// the fixed network.
    #[schemars(extend("x-label" = "Impaired packets"))]
    packet: PacketChoice,
    /// Treatment of the packets.
    #[schemars(extend("x-label" = "Impairment"))]
    action: ActionKind,
    /// Extra delay (`delay`, `duplicate`), or number of later packets that overtake (`reorder`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount", extend("x-label" = "Size of the impairment", "x-max" = "1000000 h"))]
    by: Option<Amount>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ActionKind {
    /// The packet is lost.
    Drop,
    /// The packet is delayed.
    Delay,
    /// The packet continues, and a copy follows later.
    Duplicate,
    /// Later packets overtake the packet.
    Reorder,
}

impl TryFrom<ImpairmentTable> for Impairment {
    type Error = KeyError;
    fn try_from(table: ImpairmentTable) -> Result<Self, KeyError> {
        let action = match (table.action, table.by) {
            (ActionKind::Drop, None) => Action::Drop,
            (ActionKind::Drop, Some(_)) => {
                return Err(KeyError::new("by", "belongs to the other actions; a dropped packet is gone"));
            }
            (ActionKind::Delay, Some(Amount::Time(by))) => Action::Delay(by),
            (ActionKind::Duplicate, Some(Amount::Time(by))) => Action::Duplicate(by),
            (ActionKind::Reorder, Some(Amount::Packets(by))) if by > 0 => Action::Reorder(by),
            (ActionKind::Reorder, _) => {
                return Err(KeyError::new(
                    "action",
                    "= \"reorder\" needs by = \"3 packets\" or another number",
                ));
            }
            (ActionKind::Delay | ActionKind::Duplicate, _) => {
                return Err(KeyError::new("action", "needs a time, as in by = \"200 ms\""));
            }
        };
        Ok(Impairment { flow: table.flow, user: table.user, packet: table.packet, action })
    }
}

impl From<Impairment> for ImpairmentTable {
    fn from(impairment: Impairment) -> Self {
        let (action, by) = match impairment.action {
            Action::Drop => (ActionKind::Drop, None),
            Action::Delay(by) => (ActionKind::Delay, Some(Amount::Time(by))),
            Action::Duplicate(by) => (ActionKind::Duplicate, Some(Amount::Time(by))),
            Action::Reorder(by) => (ActionKind::Reorder, Some(Amount::Packets(by))),
        };
        ImpairmentTable {
            flow: impairment.flow,
            user: impairment.user,
            packet: impairment.packet,
            action,
            by,
        }
    }
}
