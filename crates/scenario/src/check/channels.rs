//! Transport channels of a scenario: valid TTIs, rates that carry whole PDUs, transport format sets.
//! Returns the channels of each user group for the resolved scenario.

use umts_stack::radio::mac::{TransportFormat, TransportFormatSet};
use umts_stack::radio::phy::Lost;
use umts_stack::scheduling::SchedulerKind;
use umts_stack::trace;
use umts_units::{BitRate, Bytes, Duration, Probability};

use super::Inspection;
use super::names::{BearerOrigin, Dedicated, rrc_path};
use crate::error::Problem;
use crate::model::{BlockErrors, Dch, FachScheduling, RachAccess, Radio, Rlc, TTIS};
use crate::resolved;

/// Largest number of transport blocks of a user in a TTI.
const MAX_BLOCKS: u32 = Lost::MAX_BLOCKS;

/// The largest `rlc.pdu_payload`, in octets.
const LARGEST_PDU: u64 = 1500;

/// A transport channel with its location in the file.
struct Channel {
    /// Path of the channel's table, or of the name of a reference bearer.
    path: String,
    /// Whether the channel has a table in the file. A reference bearer has none.
    has_table: bool,
    /// Name in messages.
    name: String,
    kind: trace::Channel,
    /// Index of the `[[bearer]]` of a DSCH, otherwise 0.
    number: u16,
    scheduler: SchedulerKind,
    rate: BitRate,
    tti: Duration,
    /// Numbers of blocks that a TTI may hold. Empty: any number.
    transport_formats: Vec<u32>,
}

/// The channels of a user group.
pub(super) struct GroupChannels {
    /// Channels that the group has, in the initial state if it is switched: downlink, uplink.
    pub own: [resolved::Channel; 2],
    /// DCHs that RRC may allocate to the group.
    pub dchs: Vec<[resolved::Channel; 2]>,
}

impl Channel {
    /// The path at which `key` is written.
    fn key(&self, key: &str) -> String {
        if self.has_table { format!("{}.{key}", self.path) } else { self.path.clone() }
    }

    /// FACH or RACH of a cell.
    fn of_cell(
        cell: usize,
        kind: trace::Channel,
        name: &str,
        scheduler: SchedulerKind,
        rate: BitRate,
        tti: Duration,
    ) -> Channel {
        Channel {
            path: format!("cell.{cell}.{}", name.to_lowercase()),
            has_table: true,
            name: name.to_owned(),
            kind,
            number: 0,
            scheduler,
            rate,
            tti,
            transport_formats: Vec::new(),
        }
    }

    /// A DCH, or a DSCH with this number.
    fn of_bearer(
        path: String,
        has_table: bool,
        direction: &str,
        bearer: &str,
        dch: &Dch,
        number: u16,
    ) -> Channel {
        let name = format!("the {direction} of bearer `{bearer}`");
        let (kind, number) =
            if dch.shared { (trace::Channel::Dsch, number) } else { (trace::Channel::Dch, 0) };
        Channel {
            path,
            has_table,
            name,
            kind,
            number,
            scheduler: dch.scheduler,
            rate: dch.rate,
            tti: dch.tti,
            transport_formats: dch.transport_formats.clone(),
        }
    }
}

impl Inspection<'_> {
    pub(super) fn channels(&mut self) -> Result<Vec<GroupChannels>, Problem> {
        for channel in self.all_channels() {
            self.interval(&channel)?;
        }
        (0..self.scenario.cell.len()).try_for_each(|i| self.order_of_blocks(i))?;
        self.schedulers()?;
        let groups: Vec<_> =
            (0..self.scenario.ue.len()).map(|i| self.channels_of(i)).collect::<Result<_, _>>()?;
        self.equal_pdu_sizes(&groups)?;
        Ok(groups)
    }

    /// The channels of user group `i`: of a TDD cell, of a layout, of its bearer, or the common
    /// channels of its cell.
    fn channels_of(&mut self, i: usize) -> Result<GroupChannels, Problem> {
        if let Some(granted) = self.granted_channels(i)? {
            return Ok(granted);
        }
        if let Some(of_layout) = self.sector_channels(i)? {
            return Ok(of_layout);
        }
        let (scenario, named) = (self.scenario, &self.names.groups[i]);
        let rlc = scenario.rlc_of(&scenario.ue[i]);
        let own = match &named.bearer {
            Some(bearer) => self.dedicated_channels(i, &format!("ue.{i}.bearer"), bearer),
            None => self.common_channels(i)?,
        };
        let own = self.formats(own, rlc)?;
        let mut dchs = Vec::new();
        for (number, bearer) in named.dchs.iter().enumerate() {
            let path = format!("{}.dch.{number}", rrc_path(scenario, i));
            dchs.push(self.formats(self.dedicated_channels(i, &path, bearer), rlc)?);
        }
        if let Some(bearer) = &named.bearer {
            self.reference_blocks(i, bearer, rlc.pdu_payload.into());
        }
        Ok(GroupChannels { own, dchs })
    }

    fn formats(&mut self, [down, up]: [Channel; 2], rlc: &Rlc) -> Result<[resolved::Channel; 2], Problem> {
        Ok([self.format(&down, rlc)?, self.format(&up, rlc)?])
    }

    /// A random delay must not let a block overtake blocks of the previous TTI: RLC would treat
    /// those as lost.
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
                    format!("with a delay of up to {delay} a block may overtake blocks of the previous TTI"),
                )
                .label("this delay")
                .help(format!("choose at most one TTI, {tti}"))),
        }
    }

    fn all_channels(&self) -> Vec<Channel> {
        let cells = (0..self.scenario.cell.len()).flat_map(|i| self.fach(i).into_iter().chain(self.rach(i)));
        cells.chain((0..self.scenario.bearer.len()).flat_map(|i| self.dchs(i))).collect()
    }

    fn fach(&self, cell: usize) -> Option<Channel> {
        let fach = self.scenario.cell[cell].fach.as_ref()?;
        Some(Channel::of_cell(cell, trace::Channel::Fach, "FACH", fach.scheduler, fach.rate, fach.tti))
    }

    fn rach(&self, cell: usize) -> Option<Channel> {
        let rach = self.scenario.cell[cell].rach.as_ref()?;
        let scheduler = SchedulerKind::default();
        Some(Channel::of_cell(cell, trace::Channel::Rach, "RACH", scheduler, rach.rate, rach.tti))
    }

    fn dchs(&self, bearer: usize) -> [Channel; 2] {
        let (model, number) = (&self.scenario.bearer[bearer], bearer as u16);
        [("downlink", &model.downlink), ("uplink", &model.uplink)].map(|(way, dch)| {
            Channel::of_bearer(format!("bearer.{bearer}.{way}"), true, way, &model.name, dch, number)
        })
    }

    /// The channels of a bearer that user group `i` names at `path`.
    fn dedicated_channels(&self, i: usize, path: &str, named: &Dedicated) -> [Channel; 2] {
        if let BearerOrigin::Declared(bearer) = named.origin {
            return self.dchs(bearer);
        }
        let bearer = &named.bearer;
        let [mut downlink, mut uplink] = [("downlink", &bearer.downlink), ("uplink", &bearer.uplink)]
            .map(|(way, dch)| Channel::of_bearer(path.to_owned(), false, way, &bearer.name, dch, 0));
        if named.hs_dsch_category().is_some() {
            downlink.kind = trace::Channel::HsDsch;
        }
        if let Some(capacity) = self.e_dch_capacity(i).filter(|_| named.e_dch_category().is_some()) {
            uplink.kind = trace::Channel::EDch;
            (uplink.rate, uplink.tti) = (capacity.rate(uplink.rate), capacity.tti);
        }
        [downlink, uplink]
    }

    /// FACH and RACH of the cell of a user group.
    fn common_channels(&self, i: usize) -> Result<[Channel; 2], Problem> {
        let cell = self.names.groups[i].cell;
        let missing = |name: &str| {
            let message =
                format!("cell `{}` has no {name}, which these users need", self.scenario.cell[cell].name);
            self.problem(&format!("ue.{i}.bearer"), message)
                .help("give the cell the channel, or these users a [[bearer]]")
        };
        let fach = self.fach(cell).ok_or_else(|| missing("FACH"))?;
        let rach = self.rach(cell).ok_or_else(|| missing("RACH"))?;
        Ok([fach, rach])
    }

    /// Warns if the payload differs from the block size of a reference bearer: that is a different
    /// bearer of the same rate.
    fn reference_blocks(&mut self, i: usize, named: &Dedicated, pdu_payload: Bytes) {
        let BearerOrigin::Reference(reference) = named.origin else { return };
        let own = reference.downlink.pdu_payload();
        if own != pdu_payload {
            let message = format!(
                "the blocks of reference bearer `{}` hold PDUs with {own} of payload, not {pdu_payload}: set rlc.pdu_payload",
                reference.name
            );
            self.warn(&format!("ue.{i}.bearer"), &message);
        }
    }

    /// The TTI is one of the standard's.
    fn interval(&self, channel: &Channel) -> Result<(), Problem> {
        if TTIS.iter().any(|ms| channel.tti == Duration::from_millis(*ms)) {
            return Ok(());
        }
        let message = format!("{} cannot use a TTI of {}", channel.name, channel.tti);
        Err(self
            .problem(&channel.key("tti"), message)
            .label("this interval")
            .help("choose 10, 20, 40 or 80 ms, the values of TS 25.331"))
    }

    /// Returns the channel with the number of PDUs per TTI: at least one, and at most
    /// [`MAX_BLOCKS`].
    fn format(&mut self, channel: &Channel, rlc: &Rlc) -> Result<resolved::Channel, Problem> {
        let Channel { name, rate, tti, kind, .. } = channel;
        let path = channel.key("rate");
        let size = Bytes::from(rlc.pdu_payload);
        let Some(format) = TransportFormat::new(*rate, *tti, size) else {
            let message = format!("{name} carries no PDU: {rate} is {} bits in {tti}", rate.bits_in(*tti));
            return Err(self.problem(&path, message).label("this rate").help(no_pdu_help(*rate, *tti, size)));
        };
        let pdus = format.blocks;
        if pdus > MAX_BLOCKS {
            let message = format!(
                "{name} at {rate} carries {pdus} PDUs of {size} in {tti}: at most {MAX_BLOCKS} are possible"
            );
            return Err(self
                .problem(&path, message)
                .label("this rate")
                .help(too_many_pdus_help(*rate, *tti, size)));
        }
        if !is_whole(*rate, *tti, size) {
            let used = rate_of(pdus, size, *tti).map(|rate| rate.to_string()).unwrap_or_default();
            let message = format!(
                "{name} at {rate} carries {} bits in {tti}: {pdus} PDUs of {size} and an unused remainder. The \
                 effective rate is {used}",
                rate.bits_in(*tti)
            );
            self.warn(&path, &message);
        }
        let format = TransportFormat { set: self.transport_formats(channel, pdus)?, ..format };
        let (number, scheduler) = (channel.number, channel.scheduler);
        Ok(resolved::Channel { kind: *kind, number, scheduler, rate: *rate, format })
    }

    /// The transport format set of a channel with `pdus` PDUs in a full TTI.
    fn transport_formats(&self, channel: &Channel, pdus: u32) -> Result<TransportFormatSet, Problem> {
        let Channel { name, rate, tti, transport_formats: formats, .. } = channel;
        let Some(&largest) = formats.iter().max() else { return Ok(TransportFormatSet::ANY) };
        // A reference bearer with PDUs of another size is another bearer of the same rate.
        if !channel.has_table && largest != pdus {
            return Ok(TransportFormatSet::ANY);
        }
        let problem =
            |message: String| self.problem(&channel.key("transport_formats"), message).label("these formats");
        if channel.kind != trace::Channel::Dch {
            let message = format!("{name} is shared: only dedicated channels have a transport format set");
            return Err(problem(message).help("remove this key, or `shared`"));
        }
        if largest != pdus {
            let message = format!(
                "the largest format of {name} has {largest} blocks, but {rate} carries {pdus} PDUs in {tti}"
            );
            return Err(problem(message).help(format!("end the set with {pdus}, or change the rate")));
        }
        Ok(TransportFormatSet::new(formats.iter().copied()))
    }

    /// Warns about channels that lose every block, which are allowed.
    pub(super) fn radio(&mut self) {
        let mut radios: Vec<(String, &Radio)> = vec![("radio".to_owned(), &self.scenario.radio)];
        for (i, ue) in self.scenario.ue.iter().enumerate() {
            radios.extend(ue.radio.as_ref().map(|radio| (format!("ue.{i}.radio"), radio)));
        }
        for (path, radio) in radios {
            let uplink = radio.uplink.as_ref().map(|errors| (format!("{path}.uplink"), errors));
            for (path, errors) in std::iter::once((path, &radio.downlink)).chain(uplink) {
                if loses_everything(errors) {
                    self.warn(&path, "every block is lost: no data will arrive");
                }
            }
        }
    }
}

/// Whether PDUs of `size` fill the TTI without a remainder.
fn is_whole(rate: BitRate, tti: Duration, size: Bytes) -> bool {
    let capacity = u128::from(rate.bps()) * u128::from(tti.as_nanos());
    capacity.is_multiple_of(u128::from(size.bits()) * 1_000_000_000)
}

/// The rate at which a TTI carries `pdus` PDUs of `size`. Exact for the TTIs of the standard.
fn rate_of(pdus: u32, size: Bytes, tti: Duration) -> Option<BitRate> {
    let bps = u128::from(pdus) * u128::from(size.bits()) * 1_000_000_000 / u128::from(tti.as_nanos());
    BitRate::from_bps(u64::try_from(bps).ok()?)
}

fn too_many_pdus_help(rate: BitRate, tti: Duration, size: Bytes) -> String {
    let highest_rate =
        rate_of(MAX_BLOCKS, size, tti).map(|rate| format!("the highest rate with this size is {rate}"));
    // The payload with which MAX_BLOCKS PDUs fill the TTI.
    let payload = (rate.bits_in(tti) / u64::from(MAX_BLOCKS)).div_ceil(8);
    let larger_payload = match payload {
        0..=LARGEST_PDU => format!("; rlc.pdu_payload = \"{}\" suits this rate", Bytes(payload)),
        _ => String::new(),
    };
    format!("{}{larger_payload}", highest_rate.unwrap_or_default())
}

fn no_pdu_help(rate: BitRate, tti: Duration, size: Bytes) -> String {
    let lowest_rate =
        rate_of(1, size, tti).map(|rate| format!("the lowest rate that carries one in {tti} is {rate}"));
    let longer_tti = TTIS
        .iter()
        .map(|ms| Duration::from_millis(*ms))
        .find(|tti| TransportFormat::new(rate, *tti, size).is_some())
        .map(|tti| format!("; {rate} needs a TTI of {tti}"));
    format!(
        "a PDU of {size} has {} bits; {}{}",
        size.bits(),
        lowest_rate.unwrap_or_default(),
        longer_tti.unwrap_or_default()
    )
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
