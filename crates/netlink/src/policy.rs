//! Policy rules: they select a routing table for marked packets.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::RouteProtocol;
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::routing::Netlink;

/// A policy rule for IPv4 and IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Rules with smaller numbers are evaluated earlier.
    pub priority: u32,
    /// The rule applies to packets with this mark.
    pub mark: u32,
    /// The routing table for these packets.
    pub table: u32,
    /// Identifies the creator (`ip rule` shows it as `proto`).
    pub owner: u8,
}

const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

impl Netlink {
    /// Adds a rule.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn add_rule(&mut self, rule: Rule) -> io::Result<()> {
        FAMILIES.into_iter().try_for_each(|family| {
            self.send_request(RouteNetlinkMessage::NewRule(rule.message(family)), NLM_F_CREATE | NLM_F_EXCL)
        })
    }

    /// Removes a rule from both versions of IP, if it exists.
    pub fn remove_rule(&mut self, rule: Rule) {
        for family in FAMILIES {
            // The rule may exist for one version only.
            let _ = self.send_request(RouteNetlinkMessage::DelRule(rule.message(family)), 0);
        }
    }

    /// Returns the rules of an owner, each once.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn rules(&mut self, owner: u8) -> io::Result<Vec<Rule>> {
        let mut owned_rules = Vec::new();
        for family in FAMILIES {
            let mut message = RuleMessage::default();
            message.header.family = family;
            for answer in self.list(RouteNetlinkMessage::GetRule(message))? {
                let RouteNetlinkMessage::NewRule(message) = answer else { continue };
                owned_rules.extend(
                    Rule::of(&message).filter(|rule| rule.owner == owner && !owned_rules.contains(rule)),
                );
            }
        }
        Ok(owned_rules)
    }
}

impl Rule {
    /// Encodes the rule for this version of IP.
    fn message(&self, family: AddressFamily) -> RuleMessage {
        let mut message = RuleMessage::default();
        message.header.family = family;
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

    /// Reads a rule from a message of the kernel. Returns `None` for a rule without a mark.
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
