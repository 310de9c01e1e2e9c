//! Transport channels: intervals, and rates that carry whole PDUs.

use umts_units::{BitRate, Bytes, Duration, Probability};

use super::Inspection;
use crate::error::Problem;
use crate::model::{BlockErrors, FachScheduling, RachAccess, Radio, Rlc, TTIS, Ue};
use crate::reference_bearers::dedicated;

/// The most transport blocks of a user in a TTI.
const MOST_BLOCKS: u64 = 128;

/// The largest `rlc.pdu_payload`, in octets.
const LARGEST_PDU: u64 = 1500;

/// One transport channel as the checks see it.
struct Channel {
    /// The path of its table, or of the name of a reference bearer.
    path: String,
    /// Whether it has a table.
    written: bool,
    /// What messages call it.
    name: String,
    rate: BitRate,
    tti: Duration,
}

impl Channel {
    /// Where `key` is written.
    fn key(&self, key: &str) -> String {
        if self.written { format!("{}.{key}", self.path) } else { self.path.clone() }
    }

    /// PDUs of `bits` that one interval carries, and whether nothing is left over.
    fn pdus(&self, bits: u64) -> (u64, bool) {
        let capacity = u128::from(self.rate.bps()) * u128::from(self.tti.as_nanos());
        let pdu = u128::from(bits) * 1_000_000_000;
        let pdus = u64::try_from(capacity / pdu).expect("a rate of 64 bits in less than a second");
        (pdus, capacity % pdu == 0)
    }

    /// The rate at which an interval carries `pdus` of `bits`, exact for the intervals that there are.
    fn rate_of(&self, pdus: u64, bits: u64) -> Option<BitRate> {
        let bps = u128::from(pdus) * u128::from(bits) * 1_000_000_000 / u128::from(self.tti.as_nanos());
        BitRate::from_bps(u64::try_from(bps).ok()?)
    }
}

impl Inspection<'_> {
    pub(super) fn channels(&mut self) -> Result<(), Problem> {
        for channel in self.all_channels() {
            self.interval(&channel)?;
        }
        (0..self.scenario.cell.len()).try_for_each(|i| self.order_of_blocks(i))?;
        for i in 0..self.scenario.ue.len() {
            let ue = &self.scenario.ue[i];
            let rlc = ue.rlc.as_ref().unwrap_or(&self.scenario.rlc);
            for channel in self.channels_of(i, ue)? {
                self.whole_pdus(&channel, rlc)?;
            }
            self.reference_blocks(i, ue, rlc.pdu_payload);
        }
        Ok(())
    }

    /// Random delays must not let a block overtake those of the TTI before: RLC would take these for lost.
    fn order_of_blocks(&self, i: usize) -> Result<(), Problem> {
        let cell = &self.scenario.cell[i];
        let rach = cell.rach.as_ref().filter(|rach| rach.access == RachAccess::Private);
        let fach = cell.fach.as_ref().filter(|fach| fach.scheduling == FachScheduling::PerUePush);
        let delays = [
            rach.map(|rach| ("rach.access_delay", rach.access_delay, rach.tti)),
            fach.map(|fach| ("fach.rnc_jitter", fach.rnc_jitter, fach.tti)),
        ];
        match delays.into_iter().flatten().find(|(_, delay, tti)| delay > tti) {
            None => Ok(()),
            Some((key, delay, tti)) => Err(self
                .problem(
                    &format!("cell.{i}.{key}"),
                    format!("after a delay of up to {delay} a block may overtake those of the TTI before"),
                )
                .label("this delay")
                .help(format!("choose at most the TTI of {tti}"))),
        }
    }

    fn all_channels(&self) -> Vec<Channel> {
        let cells = (0..self.scenario.cell.len()).flat_map(|i| self.fach(i).into_iter().chain(self.rach(i)));
        cells.chain((0..self.scenario.bearer.len()).flat_map(|i| self.dchs(i))).collect()
    }

    fn fach(&self, cell: usize) -> Option<Channel> {
        let fach = self.scenario.cell[cell].fach.as_ref()?;
        let path = format!("cell.{cell}.fach");
        Some(Channel { path, written: true, name: "FACH".to_owned(), rate: fach.rate, tti: fach.tti })
    }

    fn rach(&self, cell: usize) -> Option<Channel> {
        let rach = self.scenario.cell[cell].rach.as_ref()?;
        let path = format!("cell.{cell}.rach");
        Some(Channel { path, written: true, name: "RACH".to_owned(), rate: rach.rate, tti: rach.tti })
    }

    fn dchs(&self, bearer: usize) -> [Channel; 2] {
        let model = &self.scenario.bearer[bearer];
        [("downlink", &model.downlink), ("uplink", &model.uplink)].map(|(way, dch)| Channel {
            path: format!("bearer.{bearer}.{way}"),
            written: true,
            name: format!("the {way} of bearer `{}`", model.name),
            rate: dch.rate,
            tti: dch.tti,
        })
    }

    /// The channels of a user group, downlink and uplink; names are known to exist by now.
    fn channels_of(&self, i: usize, ue: &Ue) -> Result<Vec<Channel>, Problem> {
        if let Some(dchs) = self.dedicated_channels(&format!("ue.{i}.bearer"), &ue.bearer) {
            return Ok(dchs.into());
        }
        let mut channels: Vec<Channel> = self.common_channels(i, ue)?.into();
        for (number, name) in self.scenario.rrc_of(ue).into_iter().flat_map(|rrc| rrc.dch.iter().enumerate())
        {
            let path = format!("{}.dch.{number}", self.rrc_path(i));
            channels.extend(self.dedicated_channels(&path, name).into_iter().flatten());
        }
        Ok(channels)
    }

    /// The DCHs of the bearer that is named at `path`, if it is a dedicated one.
    fn dedicated_channels(&self, path: &str, name: &str) -> Option<[Channel; 2]> {
        if let Some(bearer) = self.scenario.bearer.iter().position(|bearer| bearer.name == name) {
            return Some(self.dchs(bearer));
        }
        let bearer = self.scenario.dedicated_bearer(name)?;
        Some([("downlink", bearer.downlink), ("uplink", bearer.uplink)].map(|(way, dch)| Channel {
            path: path.to_owned(),
            written: false,
            name: format!("the {way} of bearer `{}`", bearer.name),
            rate: dch.rate,
            tti: dch.tti,
        }))
    }

    /// FACH and RACH of the cell of a user group.
    fn common_channels(&self, i: usize, ue: &Ue) -> Result<[Channel; 2], Problem> {
        let cell = self.scenario.cell.iter().position(|cell| cell.name == ue.cell);
        let missing = |name: &str| {
            let message = format!("cell `{}` has no {name}, which these users need", ue.cell);
            self.problem(&format!("ue.{i}.bearer"), message)
                .help("give the cell the channel, or these users a [[bearer]]".to_owned())
        };
        let fach = cell.and_then(|cell| self.fach(cell)).ok_or_else(|| missing("FACH"))?;
        let rach = cell.and_then(|cell| self.rach(cell)).ok_or_else(|| missing("RACH"))?;
        Ok([fach, rach])
    }

    /// A reference bearer has blocks of one size; another payload gives another bearer of the same rate.
    fn reference_blocks(&mut self, i: usize, ue: &Ue, pdu_payload: Bytes) {
        let declared = self.scenario.bearer.iter().any(|bearer| bearer.name == ue.bearer);
        let Some(reference) = dedicated().find(|bearer| bearer.name == ue.bearer && !declared) else {
            return;
        };
        let own = reference.downlink.pdu_payload();
        if own != pdu_payload {
            let message = format!(
                "the blocks of reference bearer `{}` hold PDUs with {own} of payload, not {pdu_payload}: set rlc.pdu_payload",
                ue.bearer
            );
            self.warn(&format!("ue.{i}.bearer"), &message);
        }
    }

    fn interval(&self, channel: &Channel) -> Result<(), Problem> {
        if TTIS.iter().any(|ms| channel.tti == Duration::from_millis(*ms)) {
            return Ok(());
        }
        let message = format!("{} cannot use a TTI of {}", channel.name, channel.tti);
        Err(self
            .problem(&channel.key("tti"), message)
            .label("this interval")
            .help("choose 10, 20, 40 or 80 ms, the values of TS 25.331".to_owned()))
    }

    fn whole_pdus(&mut self, channel: &Channel, rlc: &Rlc) -> Result<(), Problem> {
        let Channel { name, rate, tti, .. } = channel;
        let path = channel.key("rate");
        let (size, bits) = (rlc.pdu_payload, rlc.pdu_payload.bits());
        match channel.pdus(bits) {
            (0, _) => Err(self
                .problem(
                    &path,
                    format!("{name} carries no PDU: {rate} is {} bits in {tti}", rate.bits_in(*tti)),
                )
                .label("this rate")
                .help(no_pdu_help(channel, size))),
            (pdus, _) if pdus > MOST_BLOCKS => Err(self
                .problem(
                    &path,
                    format!(
                        "{name} at {rate} carries {pdus} PDUs of {size} in {tti}: {MOST_BLOCKS} are the most"
                    ),
                )
                .label("this rate")
                .help(too_many_pdus_help(channel, bits))),
            (_, true) => Ok(()),
            (pdus, false) => {
                let used = channel.rate_of(pdus, bits).map(|rate| rate.to_string()).unwrap_or_default();
                let message = format!(
                    "{name} at {rate} is {} bits in {tti}, {pdus} PDUs of {size} and a remainder that is never \
                     used: the rate is really {used}",
                    rate.bits_in(*tti)
                );
                self.warn(&path, &message);
                Ok(())
            }
        }
    }

    /// A channel that loses everything is allowed, and worth a word.
    pub(super) fn radio(&mut self) {
        let mut radios: Vec<(String, &Radio)> = vec![("radio".to_owned(), &self.scenario.radio)];
        for (i, ue) in self.scenario.ue.iter().enumerate() {
            radios.extend(ue.radio.as_ref().map(|radio| (format!("ue.{i}.radio"), radio)));
        }
        for (path, radio) in radios {
            let uplink = radio.uplink.as_ref().map(|errors| (format!("{path}.uplink"), errors));
            for (path, errors) in std::iter::once((path, &radio.downlink)).chain(uplink) {
                if loses_everything(errors) {
                    self.warn(&path, "every block is lost, nothing will arrive");
                }
            }
        }
    }
}

fn too_many_pdus_help(channel: &Channel, bits: u64) -> String {
    let most = channel.rate_of(MOST_BLOCKS, bits).map(|rate| format!("{rate} is the highest rate with them"));
    let larger = (channel.pdus(1).0 / MOST_BLOCKS).div_ceil(8);
    let larger = match larger {
        0..=LARGEST_PDU => format!("; rlc.pdu_payload = \"{}\" goes with this rate", Bytes(larger)),
        _ => String::new(),
    };
    format!("{}{larger}", most.unwrap_or_default())
}

fn no_pdu_help(channel: &Channel, size: Bytes) -> String {
    let bits = size.bits();
    let lowest = channel
        .rate_of(1, bits)
        .map(|rate| format!("{rate} is the lowest rate that carries one in {}", channel.tti));
    let longer = TTIS
        .iter()
        .map(|ms| Duration::from_millis(*ms))
        .find(|tti| {
            Channel {
                path: String::new(),
                written: false,
                name: String::new(),
                rate: channel.rate,
                tti: *tti,
            }
            .pdus(bits)
            .0 > 0
        })
        .map(|tti| format!("; {} needs a TTI of {tti}", channel.rate));
    format!("a PDU of {size} has {bits} bits; {}{}", lowest.unwrap_or_default(), longer.unwrap_or_default())
}

pub(super) fn loses_nothing(errors: &BlockErrors) -> bool {
    let is_zero = |p: &Probability| p.value() == 0.0;
    match errors {
        BlockErrors::ErrorFree => true,
        BlockErrors::Independent { bler, .. } => is_zero(bler),
        BlockErrors::Gilbert { bler_good, bler_bad, .. } => is_zero(bler_good) && is_zero(bler_bad),
        BlockErrors::Trace { verdicts, .. } => verdicts.iter().all(|is_lost| !is_lost),
    }
}

fn loses_everything(errors: &BlockErrors) -> bool {
    let is_one = |p: &Probability| p.value() == 1.0;
    match errors {
        BlockErrors::ErrorFree => false,
        BlockErrors::Independent { bler, .. } => is_one(bler),
        BlockErrors::Gilbert { bler_good, bler_bad, .. } => is_one(bler_good) && is_one(bler_bad),
        BlockErrors::Trace { verdicts, .. } => verdicts.iter().all(|is_lost| *is_lost),
    }
}
