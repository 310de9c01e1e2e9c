//! Transport channels of the UEs: creates a UE's pair of channels, one per direction, attaches the UE to
//! the carriers of the channels, and detaches it.

use umts_kernel::TraceSink;
use umts_kernel::random::{AddressedStream, Streams};

use super::carrier::{Carrier, CarrierKey, Carriers};
use super::{Cell, Utran};
use crate::EventContext;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::mac::{Below, Mac};
use crate::radio::mac::Channel;
use crate::radio::phy::{BlockErrors, EbN0Errors, ErrorModel, errors_stream};
use crate::trace::TraceEvent;
use crate::ue::{COMMON, ChannelConfig, UeChannel};

/// Creates channels, and the carriers that they need.
pub(super) struct ChannelFactory<'a> {
    pub cells: &'a [Cell],
    pub carriers: &'a mut Carriers,
    /// Carrier of the DSCHs of a layout.
    pub multicell: Option<CarrierId>,
    pub streams: &'a Streams,
}

impl ChannelFactory<'_> {
    /// Creates a pair of channels of `ue` in `cell`, downlink and uplink. `number` selects the pair:
    /// [`COMMON`], or 1 + the index of a DCH bearer. Each pair has a radio of its own.
    pub fn channels(
        &mut self,
        ue: UeId,
        cell: CellId,
        number: usize,
        channels: [ChannelConfig; 2],
        errors: &[ErrorModel; 2],
    ) -> [UeChannel; 2] {
        Direction::BOTH.map(|direction| {
            let channel = channels[direction.index()];
            let draws = self.streams.addressed(&radio_stream(ue, direction, number));
            UeChannel {
                cell,
                carrier: self.carrier_of(cell, direction, channel),
                number: channel.number,
                scheduler: channel.scheduler,
                format: channel.format,
                block_bits: channel.block_bits,
                in_layout: self.errors_in_layout(ue, direction, number, draws).map(Box::new),
                errors: BlockErrors::new(errors[direction.index()].clone(), draws),
            }
        })
    }

    /// The carrier of a channel. DSCHs of a layout share one carrier.
    fn carrier_of(&mut self, cell: CellId, direction: Direction, channel: ChannelConfig) -> CarrierId {
        if channel.channel == Channel::Dsch
            && let Some(layout_carrier) = self.multicell
        {
            return layout_carrier;
        }
        let config = &self.cells[cell.index()].config;
        let key = match config.tdd {
            None => CarrierKey::new(cell, direction, channel),
            Some(_) => CarrierKey::of_both_directions(cell, channel),
        };
        self.carriers.find_or_make(key, config, channel, self.streams)
    }

    /// In a layout, block errors of the downlink that follow from the Eb/N0. `None`: the error model of
    /// the channel decides.
    fn errors_in_layout(
        &self,
        ue: UeId,
        direction: Direction,
        number: usize,
        draws: AddressedStream,
    ) -> Option<EbN0Errors> {
        if direction == Direction::Uplink {
            return None;
        }
        let multicell = self.carriers[self.multicell?].mac.multicell()?;
        let table = multicell.errors_of(ue, number)?;
        Some(EbN0Errors::new(table, draws))
    }
}

/// Name of the random stream of a radio: of the pair number `number` of channels of a UE.
fn radio_stream(ue: UeId, direction: Direction, number: usize) -> String {
    match number {
        COMMON => errors_stream(direction, ue),
        dch => format!("{}/dch{}", errors_stream(direction, ue), dch - 1),
    }
}

impl Utran {
    /// Removes `ue` from its carriers. It has no channels until others are attached.
    pub(super) fn detach<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        Direction::BOTH.into_iter().for_each(|direction| self.leave_carrier(ctx, ue, direction));
    }

    /// Removes `ue` from its carrier in `direction`.
    pub(super) fn leave_carrier<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let Utran { carriers, ues, air, watched, .. } = self;
        let Carrier { mac, config, .. } = &mut carriers[ues[ue].channel(direction).carrier];
        mac.leave(ctx, config, &mut Below { ues, air, watched }, ue);
    }

    /// Switches a UE to its channels with this number. The former channels are kept for a later switch
    /// back.
    pub(super) fn attach(&mut self, ue: UeId, number: usize) {
        let context = &mut self.ues[ue];
        let Some(control) = context.control.as_mut().filter(|control| !control.uses(number)) else { return };
        // The common channels are in use first and are kept afterwards. Only channels of a DCH bearer,
        // with a number above `COMMON`, are created here.
        let channels = control.take_kept_channels(number).unwrap_or_else(|| {
            let mut factory = ChannelFactory {
                cells: &self.cells,
                carriers: &mut self.carriers,
                multicell: self.multicell,
                streams: &self.streams,
            };
            factory.channels(ue, context.cell, number, control.dch(number - 1), &control.errors)
        });
        let former = std::mem::replace(&mut context.channels, channels);
        let is_cut = context.is_cut;
        context.channels.iter_mut().for_each(|channel| channel.errors.set_cut(is_cut));
        control.keep_channels(number, former);
    }
}
