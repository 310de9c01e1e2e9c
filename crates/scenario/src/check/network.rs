//! Checks of the fixed network: the chain of links from the server to the RNC, and their outages,
//! delays and RED.

use umts_units::Duration;

use super::Inspection;
use crate::error::Problem;
use crate::model::{InternetDelay, Link, QueueLimit, RedConfig};

/// Ends of the chain of links.
const FIRST_NODE: &str = "server";
const LAST_NODE: &str = "rnc";

impl Inspection<'_> {
    /// Checks that each outage ends after it begins.
    pub(super) fn outages(&self) -> Result<(), Problem> {
        for (i, link) in self.scenario.link.iter().enumerate() {
            if let Some((j, outage)) =
                link.outage.iter().enumerate().find(|(_, outage)| outage.to <= outage.from)
            {
                let message = format!("the outage ends at {}, but begins at {}", outage.to, outage.from);
                let help = "`to` must be later than `from`";
                return Err(self.problem(&format!("link.{i}.outage.{j}.to"), message).help(help));
            }
        }
        Ok(())
    }

    /// Checks Internet delays: minimum < mean < maximum, with a distribution that fits them.
    pub(super) fn internet_delays(&self) -> Result<(), Problem> {
        for (i, link) in self.scenario.link.iter().enumerate() {
            if let Some(delay) = &link.internet_delay {
                self.internet_delay(i, link, delay)?;
            }
        }
        Ok(())
    }

    /// Checks the Internet delay of link `i`.
    fn internet_delay(&self, i: usize, link: &Link, delay: &InternetDelay) -> Result<(), Problem> {
        let fail = |key: &str, message: &str, help: &str| {
            Err(self.problem(&format!("link.{i}.{key}"), message).help(help))
        };
        let InternetDelay { minimum, mean, maximum, .. } = *delay;
        if minimum >= mean {
            let message = format!("the minimum delay, {minimum}, must be below the mean, {mean}");
            return fail("internet_delay.minimum", &message, "choose a shorter minimum, or a longer mean");
        }
        if mean >= maximum {
            let message = format!("the mean delay, {mean}, must be below the maximum, {maximum}");
            return fail("internet_delay.mean", &message, "choose a shorter mean, or a longer maximum");
        }
        if delay.law().is_none() {
            let message =
                format!("no lognormal distribution with a mean of {mean} exceeds {maximum} that rarely");
            let help = format!("choose at most {}", delay.longest_maximum());
            return fail("internet_delay.maximum", &message, &help);
        }
        if link.jitter > Duration::ZERO {
            let message = "both `jitter` and `internet_delay` would vary the delay";
            return fail("jitter", message, "leave one of them out");
        }
        Ok(())
    }

    /// Checks the queue management of each link: one kind, a link with a rate, and no `ecn_threshold`
    /// that also marks packets. The thresholds of RED have one unit and ascend.
    pub(super) fn queue_management(&self) -> Result<(), Problem> {
        for (i, link) in self.scenario.link.iter().enumerate() {
            let kinds =
                [("red", link.red.is_some()), ("codel", link.codel.is_some()), ("pie", link.pie.is_some())];
            let kinds: Vec<&str> = kinds.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| *key).collect();
            self.one_kind(&format!("link.{i}"), &kinds)?;
            if let Some(red) = &link.red {
                self.red_thresholds(&format!("link.{i}.red"), red)?;
            }
            if let Some(kind) = kinds.first() {
                self.managed_link(i, link, kind)?;
            }
        }
        Ok(())
    }

    /// Checks that the table at `path` has at most one kind of queue management.
    pub(super) fn one_kind(&self, path: &str, kinds: &[&str]) -> Result<(), Problem> {
        let [first, second, ..] = kinds else { return Ok(()) };
        let message = format!("both `{first}` and `{second}` would manage the queue");
        let problem = self.problem(&format!("{path}.{second}"), message);
        Err(problem.help("leave one of them out"))
    }

    /// Checks that the thresholds of RED have one unit and ascend.
    pub(super) fn red_thresholds(&self, path: &str, red: &RedConfig) -> Result<(), Problem> {
        let fail =
            |message: &str, help: &str| Err(self.problem(&format!("{path}.max_thresh"), message).help(help));
        let (min, max) = (red.min_thresh, red.max_thresh);
        if matches!(min, QueueLimit::Packets(_)) != matches!(max, QueueLimit::Packets(_)) {
            let message = format!("min_thresh ({min}) and max_thresh ({max}) must have the same unit");
            return fail(&message, "give both in packets, or both in octets");
        }
        if min.amount() >= max.amount() {
            let message = format!("max_thresh ({max}) must be above min_thresh ({min})");
            return fail(&message, "choose three times min_thresh, as Floyd (1997) does");
        }
        Ok(())
    }

    /// Checks a link with queue management: it has a queue, and no other rule that marks.
    fn managed_link(&self, i: usize, link: &Link, kind: &str) -> Result<(), Problem> {
        let name = match kind {
            "red" => "RED",
            "codel" => "CoDel",
            _ => "PIE",
        };
        if link.rate.is_none() {
            let message = format!("a link without a rate has no queue for {name}");
            let help = format!("give the link a `rate`, or leave `{kind}` out");
            return Err(self.problem(&format!("link.{i}.{kind}"), message).help(help));
        }
        if link.ecn_threshold.is_some() {
            let message = format!("both `{kind}` and `ecn_threshold` would mark packets");
            let help = format!("leave one of them out; `{kind}.ecn = true` marks by {name}");
            return Err(self.problem(&format!("link.{i}.ecn_threshold"), message).help(help));
        }
        Ok(())
    }

    /// Checks the chain of links: from the server via GGSN and SGSN to the RNC, each link starting
    /// where the previous one ends.
    pub(super) fn chain(&self) -> Result<(), Problem> {
        let links = &self.scenario.link;
        let rule = "the chain of links runs server → … → ggsn → sgsn → rnc, in this order in the file";
        let fail = |path: &str, message: &str| Err(self.problem(path, message).help(rule));
        let (Some(first), Some(last)) = (links.first(), links.last()) else {
            return fail("link", "there is no link");
        };
        if first.from != FIRST_NODE {
            let message = format!("the chain of links must begin at `server`, not at `{}`", first.from);
            return fail("link.0.from", &message);
        }
        for (i, pair) in links.windows(2).enumerate() {
            if pair[0].to != pair[1].from {
                let message = format!(
                    "the chain of links is broken: one link ends at `{}`, the next begins at `{}`",
                    pair[0].to, pair[1].from
                );
                return fail(&format!("link.{}.from", i + 1), &message);
            }
        }
        if last.to != LAST_NODE {
            let message = format!("the chain of links must end at `rnc`, not at `{}`", last.to);
            return fail(&format!("link.{}.to", links.len() - 1), &message);
        }
        let nodes: Vec<&str> = links.iter().map(|link| link.to.as_str()).collect();
        let is_repeated = |i: &usize| nodes[*i] == FIRST_NODE || nodes[..*i].contains(&nodes[*i]);
        if let Some(i) = (0..nodes.len()).find(is_repeated) {
            return fail(&format!("link.{i}.to"), &format!("the chain of links passes `{}` twice", nodes[i]));
        }
        let position = |name: &str| nodes.iter().position(|node| *node == name);
        match (position("ggsn"), position("sgsn")) {
            (Some(ggsn), Some(sgsn)) if ggsn < sgsn => Ok(()),
            (Some(_), Some(sgsn)) => fail(&format!("link.{sgsn}.to"), "the sgsn comes before the ggsn"),
            (None, _) => fail("link.0.from", "the chain of links does not pass the ggsn"),
            (_, None) => fail("link.0.from", "the chain of links does not pass the sgsn"),
        }
    }
}
