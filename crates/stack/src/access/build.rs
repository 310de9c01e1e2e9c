//! Radio access from its configuration.

use umts_kernel::random::Streams;

use super::carrier::Carriers;
use super::channels::Maker;
use super::config::CellConfig;
use super::substitute::Substitute;
use super::{Access, Cell};
use crate::ids::{CellId, UeId};
use crate::radio::Air;
use crate::rnc::Admission;
use crate::step::Wakeup;
use crate::ue::{COMMON, UeConfig, UeContext, Ues};

impl Access {
    /// Cells and the UEs in them; random draws come from `streams`.
    ///
    /// # Panics
    /// If a UE names a cell that does not exist: a scenario was checked for that.
    pub fn new(cells: &[CellConfig], ues: &[UeConfig], streams: &Streams) -> Self {
        let mut access = Access {
            cells: cells.iter().map(Cell::new).collect(),
            carriers: Carriers::default(),
            ues: Ues::default(),
            air: Air::default(),
            substitutes: Vec::new(),
            streams: *streams,
            ready: Vec::new(),
        };
        for (index, ue) in ues.iter().enumerate() {
            access.add_ue(UeId(index as u16), ue);
        }
        access
    }

    fn add_ue(&mut self, ue: UeId, config: &UeConfig) {
        let cell = CellId(config.cell as u16);
        let mut maker = Maker { cells: &self.cells, carriers: &mut self.carriers, streams: &self.streams };
        let legs = maker.legs(ue, cell, COMMON, config.channels, &config.errors);
        if let Some(switching) = &config.switching {
            let admission = &mut self.cells[cell.index()].admission;
            switching.rrc.dchs.iter().for_each(|dch| admission.offer(*dch));
        }
        self.ues.push(UeContext::new(ue, cell, config, legs));
        if let Some(substitute) = &config.substitute {
            self.substitutes.resize_with(ue.index() + 1, || None);
            self.substitutes[ue.index()] = Some(Box::new(Substitute::new(ue, substitute, &self.streams)));
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
