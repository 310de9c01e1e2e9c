//! Checks of shared channels (FACH, RACH and shared bearers): schedulers that have an effect, users
//! of every shared bearer, and one PDU size for all users of a channel.

use umts_stack::scheduling::SchedulerKind;
use umts_stack::trace::Channel;

use super::Inspection;
use super::channels::GroupChannels;
use super::names::{BearerOrigin, Dedicated};
use crate::error::Problem;
use crate::model::{Bearer, Fach, FachScheduling};

impl Inspection<'_> {
    /// Checks that schedulers have users to schedule, and that shared bearers have permanent users.
    pub(super) fn schedulers(&self) -> Result<(), Problem> {
        for (i, cell) in self.scenario.cell.iter().enumerate() {
            self.fach_scheduler(i)?;
            let scheduler = cell.fach.as_ref().map_or(SchedulerKind::default(), |fach| fach.scheduler);
            self.scheduler_input(&format!("cell.{i}.fach.scheduler"), scheduler)?;
        }
        (0..self.scenario.bearer.len()).try_for_each(|i| {
            let scheduler = self.scenario.bearer[i].downlink.scheduler;
            self.scheduler_input(&format!("bearer.{i}.downlink.scheduler"), scheduler)?;
            self.sharing_of(i, &self.scenario.bearer[i])?;
            self.users_of(i, &self.scenario.bearer[i])
        })
    }

    /// Refuses schedulers that need the DSCH of a layout: only there credits and path gains exist.
    fn scheduler_input(&self, path: &str, scheduler: SchedulerKind) -> Result<(), Problem> {
        if !scheduler.needs_dsch() {
            return Ok(());
        }
        let message = "this scheduler compares credits or path gains, which only the DSCH of a layout has";
        let help = "choose \"round_robin\", \"oldest_first\", \"largest_backlog\" or \"timeout\"";
        Err(self.problem(path, message).label("this scheduler").help(help))
    }

    /// Refuses a scheduler of the FACH with `per_ue_push`, where RLC pushes blocks without one.
    fn fach_scheduler(&self, i: usize) -> Result<(), Problem> {
        let pushed = |fach: &&Fach| fach.scheduling == FachScheduling::PerUePush;
        let Some(fach) = self.scenario.cell[i].fach.as_ref().filter(pushed) else { return Ok(()) };
        let Some(key) = scheduler_key(fach.scheduler, &fach.python) else { return Ok(()) };
        let message =
            format!("`{key}` has no effect with scheduling = \"per_ue_push\": RLC pushes each user's blocks");
        let help = format!("leave `{key}` out, or set scheduling = \"pull\"");
        Err(self.problem(&format!("cell.{i}.fach.{key}"), message).label("this scheduler").help(help))
    }

    /// Refuses a shared uplink, and the scheduler of a channel that is not shared.
    fn sharing_of(&self, i: usize, bearer: &Bearer) -> Result<(), Problem> {
        if bearer.uplink.shared {
            return Err(self
                .problem(
                    &format!("bearer.{i}.uplink.shared"),
                    "an uplink cannot be shared: each user has its own DCH",
                )
                .help("leave `shared` out, or set it for the downlink"));
        }
        for (direction, channel) in [("downlink", &bearer.downlink), ("uplink", &bearer.uplink)] {
            let key = scheduler_key(channel.scheduler, &channel.python).filter(|_| !channel.shared);
            if let Some(key) = key {
                let message = format!(
                    "`{key}` has no effect: the {direction} of bearer `{}` is not shared",
                    bearer.name
                );
                return Err(self
                    .problem(&format!("bearer.{i}.{direction}.{key}"), message)
                    .label("this scheduler")
                    .help(format!("leave `{key}` out, or set downlink.shared = true")));
            }
        }
        Ok(())
    }

    /// Checks that a shared downlink has users, and that they have it permanently.
    fn users_of(&self, i: usize, bearer: &Bearer) -> Result<(), Problem> {
        if !bearer.downlink.shared {
            return Ok(());
        }
        let is_this_bearer =
            |named: &Dedicated| matches!(named.origin, BearerOrigin::Declared(at) if at == i);
        let groups = &self.names.groups;
        let name = &bearer.name;
        let fail = |message: &str, help: &str| {
            Err(self.problem(&format!("bearer.{i}.downlink.shared"), message).help(help))
        };
        if groups.iter().any(|named| named.dchs.iter().any(is_this_bearer)) {
            let message =
                format!("switched users may be allocated bearer `{name}`, so its downlink cannot be shared");
            return fail(&message, "name the bearer in [[ue]], or take it out of `dch` of [rrc]");
        }
        if !groups.iter().filter_map(|named| named.bearer.as_ref()).any(is_this_bearer) {
            let message = format!("no user shares the downlink of bearer `{name}`");
            return fail(&message, &format!("add a [[ue]] with bearer = \"{name}\", or leave `shared` out"));
        }
        Ok(())
    }

    /// Checks that users of a shared channel have PDUs of one size: the blocks of a TTI have one
    /// size (TS 25.302 §7.1.3).
    pub(super) fn equal_pdu_sizes(&self, groups: &[GroupChannels]) -> Result<(), Problem> {
        for (i, ue) in self.scenario.ue.iter().enumerate() {
            let (group, payload) = (&self.names.groups[i], self.scenario.rlc_of(ue).pdu_payload);
            for (j, other) in self.scenario.ue[..i].iter().enumerate() {
                let other_payload = self.scenario.rlc_of(other).pdu_payload;
                let shares = groups[i].own.iter().zip(groups[j].own).any(|(own, other)| {
                    own.kind != Channel::Dch && (own.kind, own.number) == (other.kind, other.number)
                });
                let have_radio = !ue.has_emulated_link() && !other.has_emulated_link();
                if have_radio && shares && group.cell == self.names.groups[j].cell && payload != other_payload
                {
                    let message = format!(
                        "these users share a channel with `{}`, but have PDUs of {payload} of payload instead of {other_payload}",
                        other.name
                    );
                    return Err(self
                        .problem(&format!("ue.{i}.rlc.pdu_payload"), message)
                        .label("this size")
                        .help("give both the same rlc.pdu_payload, or separate channels"));
                }
            }
        }
        Ok(())
    }
}

/// The key that chooses a scheduler, if one of them differs from its default.
fn scheduler_key(scheduler: SchedulerKind, python: &str) -> Option<&'static str> {
    if scheduler != SchedulerKind::default() {
        Some("scheduler")
    } else if !python.is_empty() {
        Some("python")
    } else {
        None
    }
}
