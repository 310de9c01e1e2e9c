//! Permanently reserved capacity of a cell: channels shared in the downlink, and the DCHs of users
//! that are not switched. In a layout users move between the cells, and only the FACH is reserved.

use std::collections::BTreeMap;

use umts_stack::rnc::Reserved;
use umts_stack::trace::Channel;

use super::Inspection;
use super::channels::GroupChannels;

impl Inspection<'_> {
    /// Reserved capacity by cell.
    pub(super) fn reserved(&self, channels: &[GroupChannels]) -> Vec<Reserved> {
        (0..self.scenario.cell.len()).map(|cell| self.reserved_in(cell, channels)).collect()
    }

    /// A shared channel counts once, regardless of the number of users. The FACH also counts
    /// without users.
    fn reserved_in(&self, cell: usize, channels: &[GroupChannels]) -> Reserved {
        let fach = self.scenario.cell[cell].fach.as_ref();
        let mut shared: BTreeMap<_, _> =
            fach.map(|fach| ((Channel::Fach, 0), fach.rate.bps())).into_iter().collect();
        let mut reserved = Reserved::default();
        if self.scenario.layout.is_some() {
            reserved.rates[0] = shared.values().sum();
            return reserved;
        }
        let groups = self.scenario.ue.iter().zip(&self.names.groups).zip(channels);
        for ((ue, _), GroupChannels { own, .. }) in groups.filter(|((_, named), _)| named.cell == cell) {
            for (sum, channel) in reserved.rates.iter_mut().zip(own) {
                if channel.kind == Channel::Dch {
                    *sum += channel.rate.bps() * u64::from(ue.count);
                }
            }
            let [downlink, uplink] = own;
            // The HS-DSCH has codes and power that DCHs do not use.
            if !matches!(downlink.kind, Channel::Dch | Channel::HsDsch) {
                shared.insert((downlink.kind, downlink.number), downlink.rate.bps());
            }
            if downlink.kind == Channel::HsDsch {
                reserved.hs_users += u32::from(ue.count);
            }
            if uplink.kind.is_dedicated() {
                reserved.dchs += u32::from(ue.count);
            }
        }
        reserved.rates[0] += shared.values().sum::<u64>();
        reserved
    }
}
