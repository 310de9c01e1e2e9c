//! Names of what the stack is made of. Numbers count from zero in the order of the scenario.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl $name {
            /// As an index into a table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A user equipment.
    UeId(u16)
);
id!(
    /// A `[[flow]]` of the scenario, one per UE that it serves.
    FlowId(u32)
);
id!(
    /// A cell.
    CellId(u16)
);
id!(
    /// A transport channel, or the dedicated channels that tick together.
    CarrierId(u16)
);
id!(
    /// Block sets that are on their way together.
    TransmissionId(u32)
);
id!(
    /// One link of the core network in one direction.
    LinkId(u32)
);
id!(
    /// A packet that a script delays, or that gets lost later.
    HeldId(u32)
);
id!(
    /// A TCP connection, unique in a run: the n-th that was opened. A flow may have several, also at once.
    ConnectionId(u32)
);
id!(
    /// An IP packet: every transmission of a segment is a new packet.
    PacketId(u64)
);

impl UeId {
    /// The most user equipments of one network: their number, too, has 16 bits.
    pub const MOST: usize = u16::MAX as usize;
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
    /// Both, in the order of their indices.
    pub const BOTH: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

    /// The other way.
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
}

/// Where a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// In the Internet, behind the core network.
    Server,
    /// A performance enhancing proxy in the core network, which ends connections of both sides.
    Proxy,
    /// At the user equipment.
    Ue,
}

/// Which part of the way between server and UE a TCP connection takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ProxyLeg {
    /// All of it.
    #[default]
    Whole,
    /// From the server to the proxy.
    Server,
    /// From the proxy to the UE.
    Radio,
}

impl ProxyLeg {
    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            ProxyLeg::Whole => "whole",
            ProxyLeg::Server => "server",
            ProxyLeg::Radio => "radio",
        }
    }

    /// Where `end` of a connection on this leg is. The proxy is the UE's end of one leg and the server's end of the other.
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
    /// The user equipment.
    Ue,
}

impl End {
    /// The end that it talks to.
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
