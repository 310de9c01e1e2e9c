//! Which channels a UE has: attached when it needs them, detached when it leaves them. The first to use a carrier makes it.

use umts_kernel::random::Streams;

use super::carrier::{CarrierKey, Carriers};
use super::{Cell, Utran};
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::radio::mac::Channel;
use crate::radio::phy::{BlockErrors, ErrorModel, errors_stream};
use crate::ue::{COMMON, ChannelConfig, UeChannel};

/// What channels are made from.
pub(super) struct ChannelFactory<'a> {
    pub cells: &'a [Cell],
    pub carriers: &'a mut Carriers,
    /// The carrier of the DSCHs of a layout.
    pub sectors: Option<CarrierId>,
    pub streams: &'a Streams,
}

impl ChannelFactory<'_> {
    /// Channels number `number` of `ue` in `cell`. Each pair of channels meets a radio of its own.
    pub fn channels(
        &mut self,
        ue: UeId,
        cell: CellId,
        number: usize,
        channels: [ChannelConfig; 2],
        errors: &[ErrorModel; 2],
    ) -> [UeChannel; 2] {
        Direction::BOTH.map(|direction| {
            let (channel, errors) = (channels[direction.index()], errors[direction.index()].clone());
            let radio = match number {
                COMMON => errors_stream(direction, ue),
                dch => format!("{}/dch{}", errors_stream(direction, ue), dch - 1),
            };
            let config = &self.cells[cell.index()].config;
            let key = match config.tdd {
                None => CarrierKey::new(cell, direction, channel),
                Some(_) => CarrierKey::of_both_directions(cell, channel),
            };
            let of_layout = self.sectors.filter(|_| channel.channel == Channel::Dsch);
            let carriers = &mut self.carriers;
            UeChannel {
                cell,
                carrier: of_layout
                    .unwrap_or_else(|| carriers.find_or_make(key, config, channel, self.streams)),
                format: channel.format,
                block_bits: channel.block_bits,
                errors: BlockErrors::new(errors, self.streams.addressed(&radio)),
            }
        })
    }
}

impl Utran {
    /// The blocks of `ue` go over no channel until others are attached.
    pub(super) fn detach(&mut self, ue: UeId) {
        Direction::BOTH.into_iter().for_each(|direction| self.leave_carrier(ue, direction));
    }

    /// The carrier of `ue` in `direction` does not ask it any more.
    pub(super) fn leave_carrier(&mut self, ue: UeId, direction: Direction) {
        let context = &mut self.ues[ue];
        let carrier = &mut self.carriers[context.channel(direction).carrier];
        carrier.deactivate(ue, &mut context.on_carrier[direction.index()]);
        context.has_more[direction.index()] = false;
    }

    /// The blocks of a switched UE go over its channels number `number` from now on.
    pub(super) fn attach(&mut self, ue: UeId, number: usize) {
        let context = &mut self.ues[ue];
        let Some(control) = context.control.as_mut().filter(|control| !control.uses(number)) else { return };
        let channels = control.take(number).unwrap_or_else(|| {
            let mut maker = ChannelFactory {
                cells: &self.cells,
                carriers: &mut self.carriers,
                sectors: self.sectors,
                streams: &self.streams,
            };
            maker.channels(ue, context.cell, number, control.dch(number - 1), &control.errors)
        });
        let before = std::mem::replace(&mut context.channels, channels);
        control.keep(number, before);
    }
}
