//! Scripted impairments: what happens to the n-th packet of its kind.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::core_network::PacketKind;
use umts_stack::core_network::Treatment;
use umts_units::{Duration, as_text, count_of};

use crate::text::KeyError;

/// What is done to single packets of a flow where they enter the fixed network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ImpairmentTable", into = "ImpairmentTable")]
pub struct Impairment {
    /// Number of the `[[flow]]`, from 0.
    pub flow: u32,
    /// Which of the flow's users, from 0.
    pub user: u16,
    /// Which packets.
    pub packet: PacketChoice,
    /// What is done to them.
    pub action: Action,
}

/// What is done to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is lost.
    Drop,
    /// It goes on later.
    Delay(Duration),
    /// It goes on, and a copy of it later.
    Duplicate(Duration),
    /// It goes on after so many later packets of its flow and direction.
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

/// `"data 5"`, `"retransmission 1"`, `"ack 3-7"`: counted from 1 where they enter the fixed network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketChoice {
    /// Which kind.
    pub kind: PacketKind,
    /// The first of them.
    pub first: u32,
    /// The last of them.
    pub last: u32,
}

/// A kind of packets as the file spells it.
fn word(kind: PacketKind) -> &'static str {
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
        let kind = KINDS.into_iter().find(|known| word(*known) == kind).ok_or_else(wrong)?;
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
        write!(f, "{} {}", word(self.kind), self.first)?;
        if self.last == self.first { Ok(()) } else { write!(f, "-{}", self.last) }
    }
}

as_text!(
    PacketChoice,
    "PacketChoice",
    "packets by kind and number, as in \"data 5\", \"ack 3-7\" or \"retransmission 1\"",
    r"^(data|retransmission|ack) [0-9]+(-[0-9]+)?$"
);

/// How long, or behind how many packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Time(Duration),
    Packets(u32),
}

impl FromStr for By {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["packets", "packet"]) {
            Some(count) => count.map(By::Packets),
            None => text.parse().map(By::Time).map_err(|e| format!("{e}, or as in \"3 packets\"")),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Time(time) => time.fmt(f),
            By::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

as_text!(
    By,
    "By",
    "a time or a number of packets, as in \"200 ms\" or \"3 packets\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(packets?|ns|us|µs|ms|s|min|h)$"
);

/// An impairment as the file spells it.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Impairment")]
struct ImpairmentTable {
    /// Number of the `[[flow]]`, from 0.
    #[serde(default)]
    flow: u32,
    /// Which of the flow's users, from 0.
    #[serde(default)]
    user: u16,
    /// Which packets, counted from 1 where they enter the fixed network.
    packet: PacketChoice,
    /// What is done to them.
    action: ActionKind,
    /// How much later (`delay`, `duplicate`), or behind how many packets (`reorder`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "By", extend("x-max" = "1000000 h"))]
    by: Option<By>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ActionKind {
    /// The packet is lost.
    Drop,
    /// It goes on later.
    Delay,
    /// It goes on, and a copy of it later.
    Duplicate,
    /// It goes on behind later packets.
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
            (ActionKind::Delay, Some(By::Time(by))) => Action::Delay(by),
            (ActionKind::Duplicate, Some(By::Time(by))) => Action::Duplicate(by),
            (ActionKind::Reorder, Some(By::Packets(by))) if by > 0 => Action::Reorder(by),
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
            Action::Delay(by) => (ActionKind::Delay, Some(By::Time(by))),
            Action::Duplicate(by) => (ActionKind::Duplicate, Some(By::Time(by))),
            Action::Reorder(by) => (ActionKind::Reorder, Some(By::Packets(by))),
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
