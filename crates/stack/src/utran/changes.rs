//! Changes of the radio of a UE during a run.

use super::Utran;
use crate::ids::{Direction, UeId};

impl Utran {
    /// Sets the block error ratio on all channels of a UE in `direction`, if the UE has independent
    /// errors or none.
    pub fn set_block_error_rate(&mut self, ue: UeId, direction: Direction, bler: f64) {
        let context = &mut self.ues[ue];
        context.channels[direction.index()].errors.set_rate(bler);
        let Some(control) = context.control.as_mut() else { return };
        control.errors[direction.index()].set_rate(bler);
        control.kept_channels(direction).for_each(|channel| channel.errors.set_rate(bler));
    }

    /// Block error ratio of a UE in `direction`, if the UE has independent errors or none.
    pub fn block_error_rate(&self, ue: UeId, direction: Direction) -> Option<f64> {
        self.ues[ue].channels[direction.index()].errors.rate()
    }

    /// Whether the air of a UE is cut.
    pub fn is_cut(&self, ue: UeId) -> bool {
        self.ues[ue].is_cut
    }

    /// Cuts the air of a UE, or restores it. No block and no signalling message arrives meanwhile.
    pub fn set_cut(&mut self, ue: UeId, is_cut: bool) {
        let context = &mut self.ues[ue];
        context.is_cut = is_cut;
        context.channels.iter_mut().for_each(|channel| channel.errors.set_cut(is_cut));
        self.set_emulated_cut(ue, is_cut);
    }
}
