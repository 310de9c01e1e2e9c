//! Policy rules: which table of routes is asked for marked packets.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::RouteProtocol;
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::routing::Netlink;

/// One of them, for both versions of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The smaller, the earlier it is asked.
    pub priority: u32,
    /// Packets that have this mark …
    pub mark: u32,
    /// … are led by this table.
    pub table: u32,
    /// Who made it (`ip rule` shows it as `proto`).
    pub owner: u8,
}

const VERSIONS: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

impl Netlink {
    /// Adds a rule.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_rule(&mut self, rule: Rule) -> io::Result<()> {
        VERSIONS.into_iter().try_for_each(|version| {
            self.ask(RouteNetlinkMessage::NewRule(rule.message(version)), NLM_F_CREATE | NLM_F_EXCL)
        })
    }

    /// Removes a rule, of whichever version of IP it is there.
    pub fn remove_rule(&mut self, rule: Rule) {
        for version in VERSIONS {
            // It may never have come to that of the second version.
            let _ = self.ask(RouteNetlinkMessage::DelRule(rule.message(version)), 0);
        }
    }

    /// The rules of an owner, each once.
    ///
    /// # Errors
    /// The kernel's.
    pub fn rules(&mut self, owner: u8) -> io::Result<Vec<Rule>> {
        let mut found = Vec::new();
        for version in VERSIONS {
            let mut message = RuleMessage::default();
            message.header.family = version;
            for answer in self.list(RouteNetlinkMessage::GetRule(message))? {
                let RouteNetlinkMessage::NewRule(message) = answer else { continue };
                found.extend(Rule::of(&message).filter(|rule| rule.owner == owner && !found.contains(rule)));
            }
        }
        Ok(found)
    }
}

impl Rule {
    fn message(&self, version: AddressFamily) -> RuleMessage {
        let mut message = RuleMessage::default();
        message.header.family = version;
        message.header.action = RuleAction::ToTable;
        message.attributes = vec![
            RuleAttribute::Priority(self.priority),
            RuleAttribute::FwMark(self.mark),
            RuleAttribute::FwMask(u32::MAX),
            RuleAttribute::Table(self.table),
            RuleAttribute::Protocol(RouteProtocol::from(self.owner)),
        ];
        message
    }

    /// None if it is of another kind.
    fn of(message: &RuleMessage) -> Option<Rule> {
        let (mut mark, mut rule) = (None, Rule { priority: 0, mark: 0, table: 0, owner: 0 });
        for attribute in &message.attributes {
            match attribute {
                RuleAttribute::Priority(priority) => rule.priority = *priority,
                RuleAttribute::FwMark(value) => mark = Some(*value),
                RuleAttribute::Table(table) => rule.table = *table,
                RuleAttribute::Protocol(owner) => rule.owner = (*owner).into(),
                _ => {}
            }
        }
        mark.map(|mark| Rule { mark, ..rule })
    }
}
