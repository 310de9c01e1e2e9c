//! Changes during a run that the user orders: block error ratio, rates of the DCHs and cut of a UE, and the
//! offered traffic of calls.

use umts_units::{Erlang, Time};

use super::Utran;
use crate::ids::{Direction, UeId};

impl Utran {
    /// Sets the block error ratio on all channels of a UE in `direction`, if the UE has independent
    /// errors or none.
    pub fn set_block_error_rate(&mut self, ue: UeId, direction: Direction, bler: f64) {
        let context = &mut self.ues[ue];
        context.channels[direction.index()].errors.set_rate(bler);
        // RRC switches the channels of a UE with `control`. It creates later channels with the
        // errors in `control.errors`, and uses kept channels again.
        let Some(control) = context.control.as_mut() else { return };
        control.errors[direction.index()].set_rate(bler);
        control.kept_channels(direction).for_each(|channel| channel.errors.set_rate(bler));
    }

    /// Block error ratio of a UE in `direction`, if the UE has independent errors or none.
    pub fn block_error_rate(&self, ue: UeId, direction: Direction) -> Option<f64> {
        self.ues[ue].channels[direction.index()].errors.rate()
    }

    /// Blocks in a full TTI of a DCH of a UE in `direction`. `dch` is the DCH bearer of a UE that RRC
    /// switches, `None` of a UE that keeps its DCH. `None` if the UE has no such DCH.
    pub fn full_tti(&self, ue: UeId, direction: Direction, dch: Option<usize>) -> Option<u32> {
        let context = &self.ues[ue];
        match dch {
            None => Some(context.channels[direction.index()].format.blocks),
            Some(dch) => Some(context.control.as_ref()?.dch(dch)[direction.index()].format.blocks),
        }
    }

    /// Sets the number of blocks in a full TTI of a DCH of a UE in `direction`. `dch` is as for
    /// [`full_tti`](Self::full_tti). A DCH that is not in use has this number when RRC allocates it.
    pub fn set_full_tti(&mut self, ue: UeId, direction: Direction, dch: Option<usize>, blocks: u32) {
        let context = &mut self.ues[ue];
        let Some(dch) = dch else {
            context.channels[direction.index()].format.blocks = blocks;
            return;
        };
        let Some(control) = context.control.as_mut() else { return };
        if control.set_full_tti(dch, direction, blocks) {
            context.channels[direction.index()].format.blocks = blocks;
        }
    }

    /// Offered traffic of calls of class number `class`. `None` without a layout.
    pub fn offered_calls(&self, class: usize) -> Option<Erlang> {
        self.carriers.iter().find_map(|carrier| Some(carrier.mac.multicell()?.offered_calls(class)))
    }

    /// Changes the offered traffic of calls of class number `class` in a layout.
    pub fn set_offered_calls(&mut self, now: Time, class: usize, offered: Erlang) {
        for mac in self.carriers.iter_mut().filter_map(|carrier| carrier.mac.multicell_mut()) {
            mac.set_offered_calls(now, class, offered);
        }
    }

    /// Whether the air of a UE is cut.
    pub fn is_cut(&self, ue: UeId) -> bool {
        self.ues[ue].is_cut
    }

    /// Cuts the air of a UE, or restores it. No block and no signalling message arrives meanwhile.
    /// The cut includes links that replace the radio of the UE. Kept channels need no cut of their
    /// own: they get it when they are used again.
    pub fn set_cut(&mut self, ue: UeId, is_cut: bool) {
        let context = &mut self.ues[ue];
        context.is_cut = is_cut;
        context.channels.iter_mut().for_each(|channel| channel.errors.set_cut(is_cut));
        self.set_emulated_cut(ue, is_cut);
    }
}
