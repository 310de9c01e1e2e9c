//! `[[at]]`: the keys that change during the run, and their values. The result is the list of timed
//! changes that the simulation applies to the network.

use std::ops::Range;

use serde::Deserialize;
use umts_stack::core_network::LinkChange;
use umts_stack::ids::Direction;
use umts_stack::network::{Change, TimedChange};
use umts_stack::radio::mac::{Channel, TransportFormat};
use umts_units::{BitRate, Bytes, Duration, Erlang, Probability, Time};

use super::Inspection;
use super::channels::GroupChannels;
use crate::error::Problem;
use crate::model::{BlockErrors, Link};
use crate::range;
use crate::tree::{Node, Value};

const CHANGEABLE: &str = "these keys may change during a run: radio.bler, radio.uplink.bler and radio.cut, also of one group of users \
                          (ue.NAME.radio.bler); rate, delay, loss, downlink_loss and uplink_loss of a link (link.0.delay); \
                          the rate of a bearer on a DCH (bearer.NAME.downlink.rate); the offered traffic of calls (ue.NAME.calls.offered)";

const TOO_LATE: &str = "the change is not before the end of the run, so it has no effect in a simulation";

impl Inspection<'_> {
    /// Resolves the changes, by time. A change after the end of the run is only a warning, so that
    /// another `duration` leaves the scenario valid.
    pub(super) fn changes(&mut self, channels: &[GroupChannels]) -> Result<Vec<TimedChange>, Problem> {
        let (scenario, tree) = (self.scenario, self.tree);
        let mut changes = Vec::new();
        for (i, at) in scenario.at.iter().enumerate() {
            if at.time >= scenario.duration {
                self.warn(&format!("at.{i}.time"), TOO_LATE);
            }
            let mut values = Vec::new();
            collect_values(tree.find(&format!("at.{i}.set")).0, &mut Vec::new(), &mut values);
            if values.is_empty() {
                let problem = self.problem(&format!("at.{i}.set"), "no key changes");
                return Err(problem.help("write for example set = { radio.cut = true }"));
            }
            let at = Time::ZERO + at.time;
            for (keys, value) in values {
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                let made = self.changes_of(&keys, value, channels)?;
                changes.extend(made.into_iter().map(|change| TimedChange { at, change }));
            }
        }
        changes.sort_by_key(|timed| timed.at);
        Ok(changes)
    }

    /// The changes that set the key with the path `keys` to `value`.
    fn changes_of(
        &self,
        keys: &[&str],
        value: &Node,
        channels: &[GroupChannels],
    ) -> Result<Vec<Change>, Problem> {
        match keys {
            ["link", link, key] => self.link_change(link, key, value),
            ["bearer", bearer, direction @ ("downlink" | "uplink"), "rate"] => {
                let direction =
                    if *direction == "downlink" { Direction::Downlink } else { Direction::Uplink };
                self.rate_change(bearer, direction, value, channels)
            }
            ["ue", name, "calls", "offered"] => self.calls_change(self.group_named(name, value)?, value),
            ["ue", "calls", "offered"] if self.scenario.ue.len() == 1 => self.calls_change(0, value),
            ["radio", rest @ ..] => self.radio_change(None, rest, value),
            ["ue", "radio", rest @ ..] if self.scenario.ue.len() == 1 => {
                self.radio_change(Some(0), rest, value)
            }
            ["ue", name, "radio", rest @ ..] => {
                self.radio_change(Some(self.group_named(name, value)?), rest, value)
            }
            _ => Err(unknown(keys, value)),
        }
    }

    fn link_change(&self, link: &str, key: &str, value: &Node) -> Result<Vec<Change>, Problem> {
        let links = &self.scenario.link;
        let by_index = link.parse::<usize>().ok().filter(|hop| *hop < links.len());
        let by_name = || links.iter().position(|known| known.from == link);
        let Some(hop) = by_index.or_else(by_name) else {
            let known: Vec<&str> = links.iter().map(|link| link.from.as_str()).collect();
            let help = format!("select one by its near end or its index from 0: {}", known.join(", "));
            return Err(at_key(value, format!("`{link}` is not a link")).help(help));
        };
        let Link { downlink_loss, uplink_loss, .. } = &links[hop];
        let change = match key {
            "rate" => LinkChange::Rate(Some(read::<BitRate>(value, &["link", key])?)),
            "delay" => LinkChange::Delay(read::<Duration>(value, &["link", key])?),
            "loss" | "downlink_loss" | "uplink_loss" => {
                let loss = read::<Probability>(value, &["link", key])?;
                // `loss` does not apply to a direction with a key of its own.
                let applies = [
                    key == "downlink_loss" || (key == "loss" && downlink_loss.is_none()),
                    key == "uplink_loss" || (key == "loss" && uplink_loss.is_none()),
                ];
                LinkChange::Loss(applies.map(|applies| applies.then_some(loss)))
            }
            _ => return Err(unknown(&["link", link, key], value)),
        };
        Ok(vec![Change::Link { hop: hop as u8, change }])
    }

    /// A change of the rate of a bearer, for all users that have it on DCHs of their own, always or
    /// when RRC allocates it.
    fn rate_change(
        &self,
        name: &str,
        direction: Direction,
        value: &Node,
        channels: &[GroupChannels],
    ) -> Result<Vec<Change>, Problem> {
        let scenario = self.scenario;
        let declared = name.parse::<usize>().ok().and_then(|index| scenario.bearer.get(index));
        let name = declared.map_or(name, |bearer| bearer.name.as_str());
        let rate = read::<BitRate>(value, &["bearer", "downlink", "rate"])?;
        let mut changes = Vec::new();
        for (group, ue) in scenario.ue.iter().enumerate() {
            if ue.has_emulated_link() || scenario.layout.is_some() {
                continue;
            }
            let (names, channels) = (&self.names.groups[group], &channels[group]);
            let own = names.bearer.iter().map(|bearer| (None, bearer, &channels.own));
            let switched = names.dchs.iter().zip(&channels.dchs).enumerate();
            let switched = switched.map(|(dch, (bearer, channels))| (Some(dch), bearer, channels));
            for (dch, dedicated, channels) in own.chain(switched) {
                let channel = &channels[direction.index()];
                if dedicated.bearer.name != name || channel.kind != Channel::Dch {
                    continue;
                }
                let size = Bytes::from(scenario.rlc_of(ue).pdu_payload);
                let of_bearer = [&dedicated.bearer.downlink, &dedicated.bearer.uplink][direction.index()];
                let blocks = blocks_at(rate, channel.format, &of_bearer.transport_formats, size)
                    .map_err(|refusal| at_key(value, refusal.message).help(refusal.help))?;
                changes.push(Change::FullTti { ues: self.ues_of(group), direction, dch, blocks });
            }
        }
        if changes.is_empty() {
            let message = format!("no user has a DCH of bearer `{name}`");
            let help = "the rate of a bearer changes for users with `bearer = NAME`, and for users that RRC \
                        switches to it (rrc.dch), outside a layout; shared channels keep their rate";
            return Err(at_key(value, message).help(help));
        }
        Ok(changes)
    }

    /// A change of the offered traffic of a group of calls.
    fn calls_change(&self, group: usize, value: &Node) -> Result<Vec<Change>, Problem> {
        let ues = &self.scenario.ue;
        if ues[group].calls.is_none() {
            let message = format!("`{}` are not calls", ues[group].name);
            return Err(at_key(value, message).help("only a group with `calls` has offered traffic"));
        }
        let class = ues[..group].iter().filter(|ue| ue.calls.is_some()).count() as u16;
        let offered = read::<Erlang>(value, &["ue", "calls", "offered"])?;
        Ok(vec![Change::OfferedCalls { class, offered }])
    }

    /// A change of the radio of group `only`, or of all groups.
    fn radio_change(&self, only: Option<usize>, keys: &[&str], value: &Node) -> Result<Vec<Change>, Problem> {
        let groups = match only {
            Some(group) => group..group + 1,
            None => 0..self.scenario.ue.len(),
        };
        let direction = match keys {
            ["cut"] => {
                let is_cut = bool::deserialize(value)?;
                return Ok(groups.map(|group| Change::Cut { ues: self.ues_of(group), is_cut }).collect());
            }
            ["bler"] => Direction::Downlink,
            ["uplink", "bler"] => Direction::Uplink,
            _ => return Err(unknown(&[&["radio"][..], keys].concat(), value)),
        };
        let bler = read::<Probability>(value, &["radio", "bler"])?.value();
        let mut changes = Vec::new();
        for group in groups {
            // Like `[radio]`, the top-level key does not apply to a group with a table of its own.
            if only.is_none() && self.scenario.ue[group].radio.is_some() {
                continue;
            }
            match self.reason_for_fixed_errors(group, direction) {
                None => changes.push(Change::BlockErrorRate { ues: self.ues_of(group), direction, bler }),
                Some(reason) if only.is_some() => return Err(self.fixed_rate_error(group, reason, value)),
                Some(_) => {}
            }
        }
        if changes.is_empty() {
            let reason = "no group of users has block errors from [radio]";
            return Err(at_key(value, reason).help(
                "set the block error rate of a group with independent errors, as in ue.NAME.radio.bler"
                    .to_owned(),
            ));
        }
        Ok(changes)
    }

    /// The error for a change of a block error rate that is fixed for `reason`.
    fn fixed_rate_error(&self, group: usize, reason: &str, value: &Node) -> Problem {
        let name = &self.scenario.ue[group].name;
        at_key(value, format!("the block error rate of `{name}` cannot change: {reason}"))
            .help("only independent block errors change; `radio.cut` works on every radio")
    }

    /// Why the block errors of a group do not follow `radio.bler`, if they do not.
    fn reason_for_fixed_errors(&self, group: usize, direction: Direction) -> Option<&'static str> {
        let ue = &self.scenario.ue[group];
        let radio = self.scenario.radio_of(ue);
        let names = &self.names.groups[group];
        let errors = match direction {
            Direction::Downlink => Some(&radio.downlink),
            Direction::Uplink => radio.uplink.as_ref(),
        };
        if ue.has_emulated_link() {
            Some("its radio has no blocks")
        } else if self.scenario.layout.is_some() || self.scenario.cell[names.cell].tdd.is_some() {
            Some("its blocks are lost by interference")
        } else if direction == Direction::Downlink && names.hs_dsch_category().is_some() {
            Some("its blocks on the HS-DSCH are lost by their CQI")
        } else if matches!(errors, Some(BlockErrors::Gilbert { .. } | BlockErrors::Trace { .. })) {
            Some("its block errors follow a Gilbert model or a trace")
        } else {
            None
        }
    }

    fn group_named(&self, name: &str, value: &Node) -> Result<usize, Problem> {
        let groups = &self.scenario.ue;
        let by_index = name.parse::<usize>().ok().filter(|group| *group < groups.len());
        by_index.or_else(|| groups.iter().position(|ue| ue.name == name)).ok_or_else(|| {
            let known: Vec<&str> = groups.iter().map(|ue| ue.name.as_str()).collect();
            let help = format!("select one by its name or its index from 0: {}", known.join(", "));
            at_key(value, format!("`{name}` is not a group of users")).help(help)
        })
    }

    /// Numbers of the UEs of a group.
    fn ues_of(&self, group: usize) -> Range<u16> {
        let before: u16 = self.scenario.ue[..group].iter().map(|ue| ue.count).sum();
        before..before + self.scenario.ue[group].count
    }
}

/// Why a bearer cannot have a rate.
struct RefusedRate {
    message: String,
    help: String,
}

/// Blocks in a TTI of a DCH at `rate`, which must be a rate of its transport formats with PDUs of
/// `size`. `formats` are the numbers of blocks in its transport format set; empty: any number.
fn blocks_at(
    rate: BitRate,
    format: TransportFormat,
    formats: &[u32],
    size: Bytes,
) -> Result<u32, RefusedRate> {
    let rate_of = |blocks: u32| {
        let bps =
            u128::from(blocks) * u128::from(size.bits()) * 1_000_000_000 / u128::from(format.tti.as_nanos());
        u64::try_from(bps).ok().and_then(BitRate::from_bps)
    };
    let is_possible = |blocks: &u32| match format.set.is_any() {
        true => (1..=format.blocks).contains(blocks),
        false => *blocks > 0 && formats.contains(blocks),
    };
    let possible: Vec<u32> = (1..=format.blocks).filter(is_possible).collect();
    let exact = possible.iter().copied().find(|blocks| rate_of(*blocks) == Some(rate));
    exact.ok_or_else(|| {
        let rates: Vec<String> =
            possible.iter().filter_map(|n| rate_of(*n)).map(|rate| rate.to_string()).collect();
        let rates = match rates.as_slice() {
            [first, second, .., last] if format.set.is_any() => format!("{first}, {second}, … {last}"),
            all => all.join(", "),
        };
        let message =
            format!("the bearer cannot carry exactly {rate}, in whole PDUs of {size} per {}", format.tti);
        let help = format!("choose one of its rates: {rates}; radio.cut stops the channel");
        RefusedRate { message, help }
    })
}

/// Collects the values below `node` with the paths of their keys, in the order of the file. A key in
/// quotes may contain the dots of a path.
fn collect_values<'a>(node: &'a Node, keys: &mut Vec<String>, into: &mut Vec<(Vec<String>, &'a Node)>) {
    let Value::Table(table) = &node.value else {
        into.push((keys.clone(), node));
        return;
    };
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(_, node)| node.key_at);
    for (key, node) in entries {
        let length = keys.len();
        keys.extend(key.split('.').map(str::to_owned));
        collect_values(node, keys, into);
        keys.truncate(length);
    }
}

/// Reads a new value of the key with the path `keys`, within the range of that key.
fn read<'a, T: Deserialize<'a>>(value: &'a Node, keys: &[&str]) -> Result<T, Problem> {
    range::check_key(value, keys)?;
    T::deserialize(value)
}

fn at_key(value: &Node, message: impl Into<String>) -> Problem {
    Problem::new(message).at(value.key_at).path(&value.path)
}

fn unknown(keys: &[&str], value: &Node) -> Problem {
    at_key(value, format!("`{}` cannot change during a run", keys.join(".")))
        .label("this key")
        .help(CHANGEABLE.to_owned())
}
