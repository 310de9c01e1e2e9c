//! Copies of the routes that every packet takes, with other words for TCP: for packets that a policy rule leads to them.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::routing::Netlink;

const MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;
const VERSIONS: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

impl Netlink {
    /// Copies the routes of the main table to hosts beyond this one into the table of this number, of an owner; `told` makes
    /// of what each says to TCP what its copy says.
    ///
    /// # Errors
    /// The kernel's.
    pub fn copy_routes(
        &mut self,
        table: u32,
        owner: u8,
        told: impl Fn(Vec<RouteMetric>) -> Vec<RouteMetric>,
    ) -> io::Result<()> {
        for route in self.routes_to_hosts(MAIN)? {
            let metrics = told(metrics_of(&route));
            let copy = RouteNetlinkMessage::NewRoute(copied(route, table, owner, metrics));
            self.ask(copy, NLM_F_CREATE | NLM_F_REPLACE)?;
        }
        Ok(())
    }

    /// What each route of a table (without a number: of the main one) says to TCP; of those to hosts that routers lead to.
    ///
    /// # Errors
    /// The kernel's.
    pub fn said_to_tcp(&mut self, table: Option<u32>) -> io::Result<Vec<Vec<RouteMetric>>> {
        let mut routes = self.routes_to_hosts(table.unwrap_or(MAIN))?;
        routes.retain(|route| !is_link_local(route));
        Ok(routes.iter().map(metrics_of).collect())
    }

    fn routes_to_hosts(&mut self, table: u32) -> io::Result<Vec<RouteMessage>> {
        self.routes(|route| table_of(route) == table && route.header.kind == RouteType::Unicast)
    }

    /// Removes the routes of a table: how many.
    ///
    /// # Errors
    /// The kernel's.
    pub fn clear_table(&mut self, table: u32) -> io::Result<usize> {
        let routes = self.routes(|route| table_of(route) == table)?;
        let count = routes.len();
        for route in routes {
            self.ask(RouteNetlinkMessage::DelRoute(route), 0)?;
        }
        Ok(count)
    }

    fn routes(&mut self, is_meant: impl Fn(&RouteMessage) -> bool) -> io::Result<Vec<RouteMessage>> {
        let mut found = Vec::new();
        for version in VERSIONS {
            let mut message = RouteMessage::default();
            message.header.address_family = version;
            let answers = self.list(RouteNetlinkMessage::GetRoute(message))?;
            found.extend(answers.into_iter().filter_map(|answer| match answer {
                RouteNetlinkMessage::NewRoute(route) if is_meant(&route) => Some(route),
                _ => None,
            }));
        }
        Ok(found)
    }
}

/// The number of its table: the header has room for small ones only.
fn table_of(route: &RouteMessage) -> u32 {
    let named = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(number) => Some(*number),
        _ => None,
    });
    named.unwrap_or(u32::from(route.header.table))
}

fn metrics_of(route: &RouteMessage) -> Vec<RouteMetric> {
    let mut attributes = route.attributes.iter();
    let found = attributes.find_map(|attribute| match attribute {
        RouteAttribute::Metrics(metrics) => Some(metrics.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Every device has such a route of IPv6, which no router obeys (RFC 4291 §2.5.6).
fn is_link_local(route: &RouteMessage) -> bool {
    let is_local = |attribute: &RouteAttribute| matches!(attribute, RouteAttribute::Destination(RouteAddress::Inet6(to)) if to.is_unicast_link_local());
    route.attributes.iter().any(is_local)
}

fn copied(mut route: RouteMessage, table: u32, owner: u8, metrics: Vec<RouteMetric>) -> RouteMessage {
    route.header.table = RouteHeader::RT_TABLE_UNSPEC;
    route.header.protocol = RouteProtocol::from(owner);
    // What the kernel tells of a route beside what one may tell it.
    route.attributes.retain(|attribute| {
        !matches!(
            attribute,
            RouteAttribute::Table(_)
                | RouteAttribute::Metrics(_)
                | RouteAttribute::CacheInfo(_)
                | RouteAttribute::Preference(_)
        )
    });
    route.attributes.push(RouteAttribute::Table(table));
    route.attributes.push(RouteAttribute::Metrics(metrics));
    route
}
