//! Copies of the routes that every packet takes, with other words for TCP: for packets that a policy rule leads to them.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::routing::Netlink;

const VERSIONS: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

impl Netlink {
    /// Copies the routes of the main table to hosts beyond this one into the table of this number, of an owner, and has TCP
    /// do as `metrics` say on them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn copy_routes(&mut self, table: u32, owner: u8, metrics: &[RouteMetric]) -> io::Result<()> {
        for route in self.routes(|route| table_of(route) == u32::from(RouteHeader::RT_TABLE_MAIN))? {
            if route.header.kind == RouteType::Unicast {
                let copy = RouteNetlinkMessage::NewRoute(copied(route, table, owner, metrics));
                self.ask(copy, NLM_F_CREATE | NLM_F_REPLACE)?;
            }
        }
        Ok(())
    }

    /// What the routes of a table say to TCP.
    ///
    /// # Errors
    /// The kernel's.
    pub fn metrics_of(&mut self, table: u32) -> io::Result<Vec<RouteMetric>> {
        let attributes =
            self.routes(|route| table_of(route) == table)?.into_iter().flat_map(|route| route.attributes);
        Ok(attributes
            .filter_map(|attribute| match attribute {
                RouteAttribute::Metrics(metrics) => Some(metrics),
                _ => None,
            })
            .flatten()
            .collect())
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

fn copied(mut route: RouteMessage, table: u32, owner: u8, metrics: &[RouteMetric]) -> RouteMessage {
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
    route.attributes.push(RouteAttribute::Metrics(metrics.to_vec()));
    route
}
