//! Radio access from its configuration.

use umts_kernel::random::Streams;

use super::carrier::Carriers;
use super::channels::ChannelFactory;
use super::config::CellConfig;
use super::link_emulation::LinkEmulation;
use super::{Cell, Utran};
use crate::event_context::Wakeup;
use crate::ids::{CellId, UeId};
use crate::radio::Air;
use crate::rnc::Admission;
use crate::rnc::multicell::{Multicell, MulticellConfig};
use crate::ue::{COMMON, UeConfig, UeContext, Ues};

impl Utran {
    /// Cells and the UEs in them; random draws come from `streams`.
    ///
    /// # Panics
    /// If a UE names a cell that does not exist: a scenario was checked for that.
    pub fn new(
        cells: &[CellConfig],
        sectors: Option<&MulticellConfig>,
        ues: &[UeConfig],
        streams: &Streams,
    ) -> Self {
        let mut access = Utran {
            cells: cells.iter().map(Cell::new).collect(),
            carriers: Carriers::default(),
            ues: Ues::default(),
            air: Air::default(),
            sectors: None,
            measures_volume: ues.iter().any(|ue| ue.switching.is_some()),
            link_emulations: Vec::new(),
            streams: *streams,
            scratch: Vec::new(),
        };
        if let Some(config) = sectors {
            access.add_multicell(config, ues);
        }
        for (index, ue) in ues.iter().enumerate() {
            access.add_ue(UeId(index as u16), ue);
        }
        access
    }

    /// The DSCHs of a layout, with what users know of it who are in none of its cells.
    fn add_multicell(&mut self, config: &MulticellConfig, ues: &[UeConfig]) {
        let mobilities: Vec<_> = ues.iter().map(|ue| ue.mobility.clone()).collect();
        let sectors = Multicell::new(config, &mobilities, &self.streams);
        self.sectors = Some(self.carriers.add_multicell(sectors, self.cells[0].config.iub));
    }

    fn add_ue(&mut self, ue: UeId, config: &UeConfig) {
        let best = self.sectors.and_then(|id| self.carriers[id].sharing.cell_of(ue));
        let cell = best.unwrap_or(CellId(config.cell as u16));
        let (sectors, streams) = (self.sectors, &self.streams);
        let mut maker = ChannelFactory { cells: &self.cells, carriers: &mut self.carriers, sectors, streams };
        let legs = maker.channels(ue, cell, COMMON, config.channels, &config.errors);
        if let Some(switching) = &config.switching {
            let admission = &mut self.cells[cell.index()].admission;
            switching.rrc.dch_rates.iter().for_each(|dch| admission.offer(*dch));
        }
        self.ues.push(UeContext::new(ue, cell, config, legs));
        if let Some(substitute) = &config.substitute {
            self.link_emulations.resize_with(ue.index() + 1, || None);
            self.link_emulations[ue.index()] =
                Some(Box::new(LinkEmulation::new(ue, substitute, &self.streams)));
        }
    }
}

impl Cell {
    fn new(config: &CellConfig) -> Self {
        Cell {
            config: config.clone(),
            admission: Admission::new(config.limits, config.reserved),
            wake: Wakeup::NONE,
            announced: false,
            is_full: false,
            opens: Wakeup::NONE,
        }
    }
}
