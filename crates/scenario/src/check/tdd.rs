//! TDD cells: keys that depend on each other, and keys that only FDD cells have.

use umts_stack::ids::Direction;
use umts_stack::radio::mac::TransportFormat;
use umts_stack::radio::phy::tdd::layout::{FRAME, PatternError, SlotUse};
use umts_stack::rnc::tdd::AckChannel;
use umts_stack::trace;
use umts_units::{BitRate, Bytes, Db, Duration};

use super::Inspection;
use super::channels::GroupChannels;
use crate::error::Problem;
use crate::model::{Admission, BlockErrors, Duplex, IubTiming, Radio, RlcMode, Tdd, Ue};
use crate::resolved;

/// The bearer of users in a TDD cell.
pub(super) const GRANTED: &str = "granted";

/// The only PDU size: a block of 336 bits without a MAC header.
const PAYLOAD: Bytes = Bytes(40);

/// Larger than the levels of any link.
const MAX_DB: f64 = 100.0;

impl Inspection<'_> {
    /// Checks each cell.
    pub(super) fn tdd_cells(&self) -> Result<(), Problem> {
        for (i, cell) in self.scenario.cell.iter().enumerate() {
            match (cell.duplex, &cell.tdd) {
                (Duplex::Fdd, None) => {}
                (Duplex::Fdd, Some(_)) => {
                    let message = format!("cell `{}` is FDD, so [cell.tdd] does not apply", cell.name);
                    let help = "write duplex = \"tdd\", or leave [cell.tdd] out";
                    return Err(self.problem(&format!("cell.{i}.tdd"), message).help(help));
                }
                (Duplex::Tdd, None) => unreachable!("the loader adds [cell.tdd]"),
                (Duplex::Tdd, Some(tdd)) => {
                    self.no_fdd_keys(i)?;
                    self.slots_of(i, tdd)?;
                    self.grant_of(i, tdd)?;
                    self.times_of(i, tdd)?;
                    self.radio_of_slots(i, tdd)?;
                }
            }
        }
        Ok(())
    }

    /// FACH, RACH, admission, `rlc_lead` and other Iub timings exist only in FDD cells.
    fn no_fdd_keys(&self, i: usize) -> Result<(), Problem> {
        let cell = &self.scenario.cell[i];
        let wrong = [
            ("fach", cell.fach.is_some(), "has no [cell.fach]: its FACH answers requests at once"),
            ("rach", cell.rach.is_some(), "has no [cell.rach]: see cell.tdd.rach"),
            (
                "admission",
                cell.admission != Admission::default(),
                "has no DCHs to admit: capacity is granted on request",
            ),
            ("rlc_lead", !cell.rlc_lead.is_zero(), "has no `rlc_lead`: RLC is queried when the frame begins"),
            (
                "iub.timing",
                cell.iub.timing != IubTiming::JustInTime,
                "supports only iub.timing = \"just_in_time\"",
            ),
        ];
        match wrong.into_iter().find(|(_, is_wrong, _)| *is_wrong) {
            None => Ok(()),
            Some((key, _, difference)) => Err(self
                .problem(&format!("cell.{i}.{key}"), format!("cell `{}` is TDD and {difference}", cell.name))
                .label("this FDD key")
                .help(format!("leave `{key}` out, or write duplex = \"fdd\""))),
        }
    }

    /// The slot pattern is valid, and acknowledgments leave room for data in both directions.
    fn slots_of(&self, i: usize, tdd: &Tdd) -> Result<(), Problem> {
        let path = format!("cell.{i}.tdd.slots");
        let layout = tdd.layout.layout();
        if let Err(wrong) = tdd.pattern() {
            let help = format!("write \"dynamic\", or a pattern such as \"{}\"", layout.example());
            return Err(self
                .problem(&path, pattern_message(&tdd.slots, wrong))
                .label("this pattern")
                .help(help));
        }
        for (direction, key, name) in [
            (Direction::Downlink, "downlink_per_frame", "downlink"),
            (Direction::Uplink, "uplink_places", "uplink"),
        ] {
            if tdd.ack.channel == AckChannel::Common && tdd.capacity(direction) == 0 {
                let message = format!("the acknowledgments of `{key}` leave no room for data in the {name}");
                let help = format!("choose a smaller `{key}`, or a pattern with more {name} slots");
                return Err(self.problem(&format!("cell.{i}.tdd.ack.{key}"), message).help(help));
            }
        }
        Ok(())
    }

    /// There are three backlog levels with ascending weights, and a frame has room for the largest
    /// grant.
    fn grant_of(&self, i: usize, tdd: &Tdd) -> Result<(), Problem> {
        let (levels, weights) = (&tdd.grant.levels, &tdd.grant.weights);
        let max_blocks = tdd.capacity(Direction::Downlink).max(tdd.capacity(Direction::Uplink));
        let wrong = |key: &str, message: &str, help: &str| {
            let path = format!("cell.{i}.tdd.grant.{key}");
            Err(self.problem(&path, message).label("this list").help(help))
        };
        if levels.len() != 2 {
            let message = format!("the three backlog levels need two bounds, not {}", levels.len());
            return wrong("levels", &message, "write two, as in [\"1 SDU\", \"5 SDUs\"]");
        }
        if levels[0] >= levels[1] {
            let message = format!(
                "the bounds of the backlog levels must ascend: {} is not below {}",
                levels[0], levels[1]
            );
            return wrong("levels", &message, "write the lower one first, as in [\"1 SDU\", \"5 SDUs\"]");
        }
        if weights.len() != 3 {
            let message = format!("the three backlog levels need three weights, not {}", weights.len());
            return wrong("weights", &message, "write three, as in [1, 2, 4]");
        }
        if weights.contains(&0) {
            let message = "a grant needs at least one block per frame";
            return wrong("weights", message, "write 1 or more for each level, as in [1, 2, 4]");
        }
        if !weights.is_sorted() {
            let mut sorted = weights.clone();
            sorted.sort_unstable();
            let help = format!("write them in ascending order, as in {sorted:?}");
            return wrong("weights", "the weights must not decrease as the backlog grows", &help);
        }
        if weights[2] > max_blocks {
            let message =
                format!("a grant of {} blocks is more than the {max_blocks} blocks of a frame", weights[2]);
            return wrong("weights", &message, &format!("write at most {max_blocks}"));
        }
        Ok(())
    }

    fn times_of(&self, i: usize, tdd: &Tdd) -> Result<(), Problem> {
        let answer = tdd.rach.answer;
        if answer.as_nanos().is_multiple_of(FRAME.as_nanos()) {
            return Ok(());
        }
        let up = Duration::from_nanos(answer.as_nanos().next_multiple_of(FRAME.as_nanos()));
        let message = format!("`answer` must be a multiple of a frame of {FRAME} (got {answer})");
        Err(self
            .problem(&format!("cell.{i}.tdd.rach.answer"), message)
            .label("this time")
            .help(format!("choose {up}")))
    }

    /// The levels of the slots' radio are in range, and a block has enough codes.
    fn radio_of_slots(&self, i: usize, tdd: &Tdd) -> Result<(), Problem> {
        let radio = &tdd.radio;
        let max_codes = tdd.layout.layout().codes_per_block;
        let levels = [
            ("sir_target", radio.sir_target, -MAX_DB),
            ("margin", radio.margin, 0.0),
            ("estimate_sigma", radio.estimate_sigma, 0.0),
        ];
        for (key, Db(level), least) in levels {
            if !(least..=MAX_DB).contains(&level) {
                let message = format!("{key} cannot be {}", Db(level));
                return Err(self
                    .problem(&format!("cell.{i}.tdd.radio.{key}"), message)
                    .label("out of range")
                    .help(format!("choose {} to {}", Db(least), Db(MAX_DB))));
            }
        }
        if radio.codes_per_block > max_codes {
            let message =
                format!("a block of this layout has {max_codes} codes, not {}", radio.codes_per_block);
            return Err(self
                .problem(&format!("cell.{i}.tdd.radio.codes_per_block"), message)
                .help(format!("choose 1 to {max_codes}")));
        }
        Ok(())
    }

    /// Checks that bearer, RLC and radio of a group fit the duplex of its cell. Returns the group's
    /// channels in a TDD cell.
    pub(super) fn granted_channels(&self, i: usize) -> Result<Option<GroupChannels>, Problem> {
        let ue = &self.scenario.ue[i];
        let cell = &self.scenario.cell[self.names.groups[i].cell];
        let Some(tdd) = &cell.tdd else {
            if ue.bearer != GRANTED {
                return Ok(None);
            }
            let message = format!("cell `{}` is FDD and grants no slots", cell.name);
            let help = "choose another bearer, or write duplex = \"tdd\" in the [[cell]]";
            return Err(self.problem(&format!("ue.{i}.bearer"), message).label("this bearer").help(help));
        };
        if ue.bearer != GRANTED && !ue.has_emulated_link() {
            let message = format!("cell `{}` is TDD: users have no bearer `{}` in it", cell.name, ue.bearer);
            let help = "write bearer = \"granted\"";
            return Err(self.problem(&format!("ue.{i}.bearer"), message).label("this bearer").help(help));
        }
        self.rlc_in_tdd(i, ue)?;
        self.errors_in_tdd(i, ue)?;
        let blocks = tdd.max_blocks();
        let bits_per_frame = u64::from(blocks) * PAYLOAD.bits();
        let frames_per_second = Duration::from_secs(1) / FRAME;
        let rate = BitRate::from_bps(bits_per_frame * frames_per_second).expect("a grant has a block");
        let format = TransportFormat::up_to(blocks, FRAME);
        let own = resolved::Channel {
            kind: trace::Channel::Dch,
            number: 0,
            scheduler: Default::default(),
            rate,
            format,
        };
        Ok(Some(GroupChannels { own: [own; 2], dchs: Vec::new() }))
    }

    fn rlc_in_tdd(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let rlc = self.scenario.rlc_of(ue);
        let path = if ue.rlc.is_some() { format!("ue.{i}.rlc") } else { "rlc".to_owned() };
        if rlc.mode != RlcMode::Am {
            let message = "TDD cells require rlc.mode = \"am\": grants count SDUs of acknowledged mode";
            let help = "write mode = \"am\"";
            return Err(self.problem(&format!("{path}.mode"), message).label("this mode").help(help));
        }
        let payload = Bytes::from(rlc.pdu_payload);
        if payload != PAYLOAD {
            let message = format!("a block of a TDD cell holds a PDU of {PAYLOAD} of payload, not {payload}");
            let help = format!("write rlc.pdu_payload = \"{PAYLOAD}\"");
            return Err(self.problem(&format!("{path}.pdu_payload"), message).label("this size").help(help));
        }
        Ok(())
    }

    /// `[radio]` does not apply to TDD cells, so it must not lose blocks there.
    fn errors_in_tdd(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let is_fdd = |group: usize| self.scenario.cell[self.names.groups[group].cell].tdd.is_none();
        let has_fdd = (0..self.scenario.ue.len()).any(is_fdd);
        let (path, radio) = match &ue.radio {
            Some(radio) => (format!("ue.{i}.radio"), radio),
            None => ("radio".to_owned(), &self.scenario.radio),
        };
        if loses_nothing(radio) || (ue.radio.is_none() && has_fdd) {
            return Ok(());
        }
        let message = "[radio] does not apply to UEs of a TDD cell: block errors come from its slots";
        let help = "set cell.tdd.radio, and leave this out";
        Err(self.problem(&path, message).label("these block errors").help(help))
    }
}

fn loses_nothing(radio: &Radio) -> bool {
    let is_none = |errors: &BlockErrors| matches!(errors, BlockErrors::ErrorFree);
    is_none(&radio.downlink) && radio.uplink.as_ref().is_none_or(is_none)
}

/// Returns the message about an error in a slot pattern.
fn pattern_message(pattern: &str, wrong: PatternError) -> String {
    match wrong {
        PatternError::Length { is, needed } => {
            format!("`{pattern}` has {is} letters, but the frame has {needed} slots")
        }
        PatternError::Letter { slot, letter, usage } => {
            let needed = match usage {
                SlotUse::RandomAccess => "R (random access)",
                SlotUse::Common => "C (common channels)",
                SlotUse::Data => "U or D (data)",
            };
            format!("slot {slot} of `{pattern}` cannot be {letter}: it must be {needed}")
        }
        PatternError::NoSlot(Direction::Uplink) => format!("`{pattern}` has no uplink slot (U)"),
        PatternError::NoSlot(Direction::Downlink) => format!("`{pattern}` has no downlink slot (D)"),
        PatternError::SwitchingPoints => {
            format!("`{pattern}` has more than one switching point: uplink slots come first")
        }
    }
}
