//! Checks of the fixed network: the chain of links from the server to the RNC, and their outages,
//! delays and RED.

use umts_units::Duration;

use super::Inspection;
use crate::error::Problem;
use crate::model::{InternetDelay, Link, QueueLimit, RedConfig};

const FIRST: &str = "server";
const LAST: &str = "rnc";

impl Inspection<'_> {
    /// Checks that each outage ends after it begins.
    pub(super) fn outages(&self) -> Result<(), Problem> {
        for (i, link) in self.scenario.link.iter().enumerate() {
            if let Some((j, outage)) =
                link.outage.iter().enumerate().find(|(_, outage)| outage.to <= outage.from)
            {
                let message = format!("the outage ends at {}, but begins at {}", outage.to, outage.from);
                let help = "`to` must be later than `from`".to_owned();
                return Err(self.problem(&format!("link.{i}.outage.{j}.to"), message).help(help));
            }
        }
        Ok(())
    }

    /// Checks Internet delays: minimum < mean < maximum, with a distribution that fits them.
    pub(super) fn internet_delays(&self) -> Result<(), Problem> {
        let delays = self.scenario.link.iter().enumerate();
        delays.filter_map(|(i, link)| Some((i, link, link.internet_delay?))).try_for_each(
            |(i, link, delay)| {
                let fail = |key: &str, message: String, help: String| {
                    Err(self.problem(&format!("link.{i}.{key}"), message).help(help))
                };
                let InternetDelay { minimum, mean, maximum, .. } = delay;
                if minimum >= mean {
                    let message = format!("the minimum delay, {minimum}, must be below the mean, {mean}");
                    return fail(
                        "internet_delay.minimum",
                        message,
                        "choose a shorter minimum, or a longer mean".to_owned(),
                    );
                }
                if mean >= maximum {
                    let message = format!("the mean delay, {mean}, must be below the maximum, {maximum}");
                    return fail(
                        "internet_delay.mean",
                        message,
                        "choose a shorter mean, or a longer maximum".to_owned(),
                    );
                }
                if delay.law().is_none() {
                    let message = format!(
                        "no lognormal distribution with a mean of {mean} exceeds {maximum} that rarely"
                    );
                    let max_delay = delay.longest_maximum();
                    return fail("internet_delay.maximum", message, format!("choose at most {max_delay}"));
                }
                if link.jitter > Duration::ZERO {
                    let message = "both `jitter` and `internet_delay` would vary the delay".to_owned();
                    return fail("jitter", message, "leave one of them out".to_owned());
                }
                Ok(())
            },
        )
    }

    /// Checks RED of each link: the link has a rate, the thresholds have one unit and ascend, and
    /// no `ecn_threshold` also marks packets.
    pub(super) fn red(&self) -> Result<(), Problem> {
        let links = self.scenario.link.iter().enumerate();
        let mut red = links.filter_map(|(i, link)| Some((i, link, link.red.as_ref()?)));
        red.try_for_each(|(i, link, red)| self.red_of(i, link, red))
    }

    /// RED (random early detection) has thresholds in one unit and in order, a queue, and no other
    /// rule that marks.
    fn red_of(&self, i: usize, link: &Link, red: &RedConfig) -> Result<(), Problem> {
        let fail = |key: &str, message: String, help: &str| {
            Err(self.problem(&format!("link.{i}.{key}"), message).help(help.to_owned()))
        };
        let (min, max) = (red.min_thresh, red.max_thresh);
        if matches!(min, QueueLimit::Packets(_)) != matches!(max, QueueLimit::Packets(_)) {
            let message = format!("min_thresh ({min}) and max_thresh ({max}) must have the same unit");
            return fail("red.max_thresh", message, "give both in packets, or both in octets");
        }
        if min.amount() >= max.amount() {
            let message = format!("max_thresh ({max}) must be above min_thresh ({min})");
            return fail("red.max_thresh", message, "choose three times min_thresh, as Floyd (1997) does");
        }
        if link.rate.is_none() {
            let message = "a link without a rate has no queue for RED".to_owned();
            return fail("red", message, "give the link a `rate`, or leave `red` out");
        }
        if link.ecn_threshold.is_some() {
            let message = "both `red` and `ecn_threshold` would mark packets".to_owned();
            let help = "leave one of them out; `red.ecn = true` marks by RED";
            return fail("ecn_threshold", message, help);
        }
        Ok(())
    }

    /// Checks the chain of links: from the server via GGSN and SGSN to the RNC, each link starting
    /// where the previous one ends.
    pub(super) fn chain(&self) -> Result<(), Problem> {
        let links = &self.scenario.link;
        let rule =
            "the chain of links runs server → … → ggsn → sgsn → rnc, in this order in the file".to_owned();
        let fail = |path: String, message: String| Err(self.problem(&path, message).help(rule.clone()));
        let (Some(first), Some(last)) = (links.first(), links.last()) else {
            return fail("link".to_owned(), "there is no link".to_owned());
        };
        if first.from != FIRST {
            return fail(
                "link.0.from".to_owned(),
                format!("the chain of links must begin at `server`, not at `{}`", first.from),
            );
        }
        for (i, pair) in links.windows(2).enumerate() {
            if pair[0].to != pair[1].from {
                let message = format!(
                    "the chain of links is broken: one link ends at `{}`, the next begins at `{}`",
                    pair[0].to, pair[1].from
                );
                return fail(format!("link.{}.from", i + 1), message);
            }
        }
        if last.to != LAST {
            return fail(
                format!("link.{}.to", links.len() - 1),
                format!("the chain of links must end at `rnc`, not at `{}`", last.to),
            );
        }
        let nodes: Vec<&str> = links.iter().map(|link| link.to.as_str()).collect();
        if let Some(i) = (0..nodes.len()).find(|i| nodes[*i] == FIRST || nodes[..*i].contains(&nodes[*i])) {
            return fail(format!("link.{i}.to"), format!("the chain of links passes `{}` twice", nodes[i]));
        }
        let place = |name: &str| nodes.iter().position(|node| *node == name);
        match (place("ggsn"), place("sgsn")) {
            (Some(ggsn), Some(sgsn)) if ggsn < sgsn => Ok(()),
            (Some(_), Some(sgsn)) => {
                fail(format!("link.{sgsn}.to"), "the sgsn comes before the ggsn".to_owned())
            }
            (None, _) => {
                fail("link.0.from".to_owned(), "the chain of links does not pass the ggsn".to_owned())
            }
            (_, None) => {
                fail("link.0.from".to_owned(), "the chain of links does not pass the sgsn".to_owned())
            }
        }
    }
}
