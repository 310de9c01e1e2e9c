//! Quality of service of bearers: attributes that fit the class, and rates and delays that the channel
//! allows.

use umts_stack::scheduling::{QosConfig, SchedulerKind};
use umts_stack::trace::Channel;

use super::Inspection;
use super::channels::GroupChannels;
use crate::error::Problem;
use crate::model::{Cell, Fach, FachScheduling};
use crate::resolved;

impl Inspection<'_> {
    /// Checks the quality of service of all user groups.
    pub(super) fn qos(&mut self, channels: &[GroupChannels]) -> Result<(), Problem> {
        for (i, channels) in channels.iter().enumerate() {
            if let Some(qos) = self.scenario.ue[i].qos {
                self.attributes(i, &qos)?;
                self.guaranteed(i, &qos, channels)?;
                self.transfer_delay(i, &qos, channels)?;
                self.effect(i, &qos, channels);
            }
        }
        self.deadlines(channels)
    }

    /// Only the real-time classes have a guaranteed rate and a transfer delay.
    fn attributes(&self, i: usize, qos: &QosConfig) -> Result<(), Problem> {
        let given =
            [("guaranteed", qos.guaranteed.is_some()), ("transfer_delay", qos.transfer_delay.is_some())];
        let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given && !qos.class.is_real_time())
        else {
            return Ok(());
        };
        let message = format!("class {} has no `{key}` (TS 23.107 §6.4.4)", qos.class.keyword());
        let help = "write class = \"conversational\" or \"streaming\", or leave it out";
        Err(self.problem(&format!("ue.{i}.qos.{key}"), message).label("this attribute").help(help))
    }

    /// The guaranteed rate is at most the rate of the downlink channel.
    fn guaranteed(&self, i: usize, qos: &QosConfig, channels: &GroupChannels) -> Result<(), Problem> {
        let [downlink, _] = &channels.own;
        let is_shared = matches!(downlink.kind, Channel::Fach | Channel::Dsch | Channel::HsDsch);
        match qos.guaranteed {
            Some(rate) if is_shared && rate > downlink.rate => {
                let message =
                    format!("{rate} cannot be guaranteed on a channel of {} of RLC payload", downlink.rate);
                let help = format!("choose at most {}", downlink.rate);
                Err(self.problem(&format!("ue.{i}.qos.guaranteed"), message).label("this rate").help(help))
            }
            _ => Ok(()),
        }
    }

    /// On the DSCH of a layout the transfer delay is at least one TTI. Warns if no scheduler reads it.
    fn transfer_delay(&mut self, i: usize, qos: &QosConfig, channels: &GroupChannels) -> Result<(), Problem> {
        let Some(delay) = qos.transfer_delay else { return Ok(()) };
        let cell = &self.scenario.cell[self.names.groups[i].cell];
        let path = format!("ue.{i}.qos.transfer_delay");
        let [downlink, _] = &channels.own;
        let is_of_layout = self.scenario.layout.is_some() && downlink.kind == Channel::Dsch;
        let dsch = cell.dsch.as_ref().filter(|_| is_of_layout);
        let is_read = match dsch {
            Some(dsch) if delay < dsch.tti => {
                let message = format!("a transfer delay of {delay} is shorter than a TTI of {}", dsch.tti);
                return Err(self
                    .problem(&path, message)
                    .label("this delay")
                    .help(format!("choose {} or more", dsch.tti)));
            }
            Some(dsch) => !dsch.python.is_empty() || dsch.reads_timeouts(),
            None if downlink.kind == Channel::HsDsch => {
                cell.hs_dsch.scheduler == SchedulerKind::Timeout || !cell.hs_dsch.python.is_empty()
            }
            None => downlink.scheduler == SchedulerKind::Timeout || self.has_python(downlink, cell),
        };
        if !is_read {
            self.warn(&path, "only schedulers of the kind `timeout` use the transfer delay");
        }
        Ok(())
    }

    /// Whether a class in Python schedules a FACH, a shared bearer or the grants of a TDD cell.
    fn has_python(&self, downlink: &resolved::Channel, cell: &Cell) -> bool {
        let grants = cell.tdd.as_ref().is_some_and(|tdd| !tdd.grant.python.is_empty());
        let shared = match downlink.kind {
            Channel::Fach => cell.fach.as_ref().map(|fach| &fach.python),
            Channel::Dsch => {
                self.scenario.bearer.get(usize::from(downlink.number)).map(|b| &b.downlink.python)
            }
            _ => None,
        };
        grants || shared.is_some_and(|python| !python.is_empty())
    }

    /// Warns if no scheduler and no admission serves the users by class.
    fn effect(&mut self, i: usize, qos: &QosConfig, channels: &GroupChannels) {
        let ue = &self.scenario.ue[i];
        let cell = &self.scenario.cell[self.names.groups[i].cell];
        let is_pushed = |fach: &Fach| fach.scheduling == FachScheduling::PerUePush;
        let [downlink, _] = &channels.own;
        let has_scheduler = match downlink.kind {
            Channel::Fach => !cell.fach.as_ref().is_some_and(is_pushed),
            Channel::Dsch | Channel::HsDsch => true,
            Channel::Dch | Channel::EDch | Channel::Rach | Channel::Ack => cell.tdd.is_some(),
        };
        if *qos != QosConfig::default()
            && (ue.has_emulated_link() || ue.calls.is_some() || !(has_scheduler || ue.is_switched()))
        {
            let message = "no scheduler serves these users, so their quality of service has no effect";
            self.warn(&format!("ue.{i}.qos"), message);
        }
    }

    /// A scheduler of the kind `timeout` outside a layout has a user with a transfer delay.
    fn deadlines(&self, channels: &[GroupChannels]) -> Result<(), Problem> {
        if self.scenario.layout.is_some() {
            return Ok(());
        }
        let has_deadline = |kind: Channel, cell: usize, number: u16| {
            let groups = self.scenario.ue.iter().zip(&self.names.groups).zip(channels);
            groups.into_iter().any(|((ue, named), channels)| {
                let [downlink, _] = &channels.own;
                let is_on_it = (downlink.kind, downlink.number) == (kind, number) && named.cell == cell;
                is_on_it && ue.qos.is_some_and(|qos| qos.transfer_delay.is_some())
            })
        };
        let cells = 0..self.scenario.cell.len();
        for (i, cell) in self.scenario.cell.iter().enumerate() {
            let fach = cell.fach.as_ref().map(|fach| fach.scheduler);
            for (key, scheduler, kind) in
                [("fach", fach, Channel::Fach), ("hs_dsch", Some(cell.hs_dsch.scheduler), Channel::HsDsch)]
            {
                if scheduler == Some(SchedulerKind::Timeout) && !has_deadline(kind, i, 0) {
                    return Err(self.without_deadline(&format!("cell.{i}.{key}.scheduler")));
                }
            }
        }
        for (i, bearer) in self.scenario.bearer.iter().enumerate() {
            let dch = &bearer.downlink;
            let of_bearer = |cell: usize| has_deadline(Channel::Dsch, cell, i as u16);
            if dch.shared && dch.scheduler == SchedulerKind::Timeout && !cells.clone().any(of_bearer) {
                return Err(self.without_deadline(&format!("bearer.{i}.downlink.scheduler")));
            }
        }
        Ok(())
    }

    /// The problem of a scheduler of the kind `timeout` without a user with a transfer delay.
    fn without_deadline(&self, path: &str) -> Problem {
        let message = "`timeout` orders users by their transfer delay, and no user of the channel has one";
        let help = "add qos = { class = \"streaming\", transfer_delay = \"300 ms\" } to a [[ue]], or choose \"round_robin\"";
        self.problem(path, message).label("this scheduler").help(help)
    }
}
