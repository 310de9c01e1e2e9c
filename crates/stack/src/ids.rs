//! Identities of the parts of the model. Numbers count from 0 in the order of the scenario.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl $name {
            /// The identity as an index into a table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(UeId(u16));
id!(
    /// A `[[flow]]` of the scenario. Each UE that a `[[flow]]` serves has a flow of its own.
    FlowId(u32)
);
id!(CellId(u16));
id!(
    /// A carrier (`utran::carrier`): a common or shared transport channel, or all DCHs of a cell
    /// with the same direction and TTI.
    CarrierId(u16)
);
id!(
    /// Block sets that are transmitted together.
    TransmissionId(u32)
);
id!(
    /// A link of the core network in one direction.
    LinkId(u32)
);
id!(
    /// A packet that a script delays, or that will be lost later in its path.
    HeldId(u32)
);
id!(
    /// A TCP connection, numbered in the order of opening and unique in a run. A flow may have
    /// several at the same time.
    ConnectionId(u32)
);
id!(
    /// An IP packet. Each transmission of a segment is a new packet.
    PacketId(u64)
);

/// Timer of a carrier's MAC. Two timers that expire at one instant are two events, so that each is
/// handled in its own phase and in the order of scheduling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacTimer {
    First,
    Second,
}

impl MacTimer {
    pub const BOTH: [MacTimer; 2] = [MacTimer::First, MacTimer::Second];
}

impl UeId {
    /// The largest number of UEs in a network. Their count must fit into 16 bits.
    pub const MAX_COUNT: usize = u16::MAX as usize;
}

/// Towards the UE, or from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "FlowDirection", description = "Which way the data of a flow goes.")
)]
pub enum Direction {
    /// From the server to the user.
    Downlink,
    /// From the user to the server.
    Uplink,
}

impl Direction {
    /// Both directions in the order of their indices.
    pub const BOTH: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

    #[inline]
    pub fn reversed(self) -> Self {
        match self {
            Direction::Downlink => Direction::Uplink,
            Direction::Uplink => Direction::Downlink,
        }
    }

    /// 0 for the downlink, 1 for the uplink.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name in tables and file names.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Downlink => "downlink",
            Direction::Uplink => "uplink",
        }
    }
}

/// The place of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// In the Internet, behind the core network.
    Server,
    /// A performance enhancing proxy in the core network. It terminates connections on both sides.
    Proxy,
    /// At the user equipment.
    Ue,
}

/// The part of the path between server and UE that a TCP connection takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ProxyLeg {
    /// From the server to the UE.
    #[default]
    Whole,
    /// From the server to the proxy.
    Server,
    /// From the proxy to the UE.
    Radio,
}

impl ProxyLeg {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ProxyLeg::Whole => "whole",
            ProxyLeg::Server => "server",
            ProxyLeg::Radio => "radio",
        }
    }

    /// The place of `end` of a connection on this leg. The proxy is the UE's end of one leg and the
    /// server's end of the other.
    #[inline]
    pub fn site(self, end: End) -> Site {
        match (self, end) {
            (ProxyLeg::Server, End::Ue) | (ProxyLeg::Radio, End::Server) => Site::Proxy,
            (_, End::Server) => Site::Server,
            (_, End::Ue) => Site::Ue,
        }
    }
}

/// The two ends of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The server in the Internet.
    Server,
    Ue,
}

impl End {
    /// The opposite end.
    #[inline]
    pub fn other(self) -> Self {
        match self {
            End::Server => End::Ue,
            End::Ue => End::Server,
        }
    }

    /// The direction in which this end sends.
    #[inline]
    pub fn sends(self) -> Direction {
        match self {
            End::Server => Direction::Downlink,
            End::Ue => Direction::Uplink,
        }
    }

    /// The end that sends in `direction`.
    #[inline]
    pub fn sending(direction: Direction) -> Self {
        match direction {
            Direction::Downlink => End::Server,
            Direction::Uplink => End::Ue,
        }
    }
}
