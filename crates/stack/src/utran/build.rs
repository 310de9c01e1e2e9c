//! Builds the radio access from its configuration: cells, UEs and their channels.

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
    /// Cells and the UEs in them. Random draws come from `streams`.
    ///
    /// # Panics
    /// Panics if a UE names a cell that does not exist. A checked scenario has no such UE.
    pub fn new(
        cells: &[CellConfig],
        multicell: Option<&MulticellConfig>,
        ues: &[UeConfig],
        streams: &Streams,
    ) -> Self {
        let mut access = Utran {
            cells: cells.iter().map(Cell::new).collect(),
            carriers: Carriers::new(can_differ_in_priority(ues)),
            ues: Ues::default(),
            air: Air::default(),
            multicell: None,
            link_emulations: Vec::new(),
            streams: *streams,
            watched: Vec::new(),
        };
        let best_cells = multicell.map(|config| access.add_multicell(config, ues)).unwrap_or_default();
        for (index, ue) in ues.iter().enumerate() {
            let best = best_cells.get(index).copied().flatten();
            access.add_ue(UeId(index as u16), best.unwrap_or(CellId(ue.cell as u16)), ue);
        }
        access
    }

    /// Adds the cells of a layout. Returns the best cell of each UE, `None` for UEs outside the layout.
    fn add_multicell(&mut self, config: &MulticellConfig, ues: &[UeConfig]) -> Vec<Option<CellId>> {
        let multicell = Multicell::new(config, ues, &self.streams);
        let cells = (0..ues.len()).map(|ue| multicell.cell_of(UeId(ue as u16))).collect();
        self.multicell = Some(self.carriers.add_multicell(multicell, self.cells[0].config.iub));
        cells
    }

    /// Adds a UE in `cell` with its channels, and the DCHs that it may request.
    fn add_ue(&mut self, ue: UeId, cell: CellId, config: &UeConfig) {
        let (multicell, streams) = (self.multicell, &self.streams);
        let mut factory =
            ChannelFactory { cells: &self.cells, carriers: &mut self.carriers, multicell, streams };
        let channels = factory.channels(ue, cell, COMMON, config.channels, &config.errors);
        if let Some(switching) = &config.switching {
            // In a layout the UE may move to any cell.
            let reachable_cells = match multicell {
                Some(_) => &mut self.cells[..],
                None => std::slice::from_mut(&mut self.cells[cell.index()]),
            };
            for Cell { admission, .. } in reachable_cells {
                switching.rrc.dch_rates.iter().for_each(|dch| admission.offer(*dch));
            }
        }
        self.ues.push(UeContext::new(ue, cell, config, channels, &self.streams));
        if let Some(substitute) = &config.substitute {
            self.link_emulations.resize_with(ue.index() + 1, || None);
            self.link_emulations[ue.index()] =
                Some(Box::new(LinkEmulation::new(ue, substitute, &self.streams)));
        }
    }
}

/// Whether the priority levels of UEs can differ: their quality of service differs, or a UE has a
/// guaranteed rate and changes its level when the rate is met.
fn can_differ_in_priority(ues: &[UeConfig]) -> bool {
    let has_different_qos = ues.windows(2).any(|pair| pair[0].qos != pair[1].qos);
    has_different_qos || ues.iter().any(|ue| ue.qos.guaranteed.is_some())
}

impl Cell {
    fn new(config: &CellConfig) -> Self {
        Cell {
            config: config.clone(),
            admission: Admission::new(config.limits, config.reserved),
            retry_wake: Wakeup::NONE,
            is_full: false,
            opening_wake: Wakeup::NONE,
            start_is_recorded: false,
        }
    }
}
