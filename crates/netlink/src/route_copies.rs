//! Copies of the main routing table with other metrics for TCP, for packets that a policy rule
//! directs to the copy.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::routing::Netlink;

const MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

impl Netlink {
    /// Copies the unicast routes of the main table into table `table`, marked with `owner`. `adapt`
    /// maps the metrics of each route to the metrics of its copy.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn copy_routes(
        &mut self,
        table: u32,
        owner: u8,
        adapt: impl Fn(Vec<RouteMetric>) -> Vec<RouteMetric>,
    ) -> io::Result<()> {
        for route in self.unicast_routes(MAIN)? {
            let metrics = adapt(metrics_of(&route));
            let copy = RouteNetlinkMessage::NewRoute(copy_of(route, table, owner, metrics));
            self.send_request(copy, NLM_F_CREATE | NLM_F_REPLACE)?;
        }
        Ok(())
    }

    /// Returns the metrics of the unicast routes of a table, by default the main one, except
    /// link-local routes.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn metrics_of_routes(&mut self, table: Option<u32>) -> io::Result<Vec<Vec<RouteMetric>>> {
        let mut routes = self.unicast_routes(table.unwrap_or(MAIN))?;
        routes.retain(|route| !is_link_local(route));
        Ok(routes.iter().map(metrics_of).collect())
    }

    /// Returns the unicast routes of a table.
    fn unicast_routes(&mut self, table: u32) -> io::Result<Vec<RouteMessage>> {
        self.routes(|route| table_of(route) == table && route.header.kind == RouteType::Unicast)
    }

    /// Removes the routes of a table. Returns the number of routes.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn clear_table(&mut self, table: u32) -> io::Result<usize> {
        let routes = self.routes(|route| table_of(route) == table)?;
        let count = routes.len();
        for route in routes {
            self.send_request(RouteNetlinkMessage::DelRoute(route), 0)?;
        }
        Ok(count)
    }

    /// Returns the routes of both versions of IP for which `matches` returns true.
    fn routes(&mut self, matches: impl Fn(&RouteMessage) -> bool) -> io::Result<Vec<RouteMessage>> {
        let mut matching_routes = Vec::new();
        for family in FAMILIES {
            let mut message = RouteMessage::default();
            message.header.address_family = family;
            let answers = self.list(RouteNetlinkMessage::GetRoute(message))?;
            matching_routes.extend(answers.into_iter().filter_map(|answer| match answer {
                RouteNetlinkMessage::NewRoute(route) if matches(&route) => Some(route),
                _ => None,
            }));
        }
        Ok(matching_routes)
    }
}

/// Returns the table of a route. The field in the header has room for small numbers only.
fn table_of(route: &RouteMessage) -> u32 {
    let in_attribute = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(number) => Some(*number),
        _ => None,
    });
    in_attribute.unwrap_or(u32::from(route.header.table))
}

/// Returns the metrics of a route.
fn metrics_of(route: &RouteMessage) -> Vec<RouteMetric> {
    let mut attributes = route.attributes.iter();
    let existing_metrics = attributes.find_map(|attribute| match attribute {
        RouteAttribute::Metrics(metrics) => Some(metrics.clone()),
        _ => None,
    });
    existing_metrics.unwrap_or_default()
}

/// Every device has a link-local route of IPv6. Routers do not forward packets to link-local
/// addresses (RFC 4291 §2.5.6).
fn is_link_local(route: &RouteMessage) -> bool {
    let is_local = |attribute: &RouteAttribute| matches!(attribute, RouteAttribute::Destination(RouteAddress::Inet6(to)) if to.is_unicast_link_local());
    route.attributes.iter().any(is_local)
}

/// Returns the route as it is added to table `table`, marked with `owner`.
fn copy_of(mut route: RouteMessage, table: u32, owner: u8, metrics: Vec<RouteMetric>) -> RouteMessage {
    route.header.table = RouteHeader::RT_TABLE_UNSPEC;
    route.header.protocol = RouteProtocol::from(owner);
    // Attributes that the kernel reports but does not accept, and those that are replaced below.
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
