//! Users of the E-DCH of a cell of a layout, which is the serving cell of their HS-DSCH. MAC-e of their cells
//! serves them (`mac::e`); its power control and interference follow from the path gains of each user.

use super::BearerUsers;
use crate::rnc::multicell::clock::MeasuredTurn;
use crate::ue::Ues;

impl BearerUsers {
    /// Passes the path gains of users with an E-DCH to MAC-e, of those that `turn` measures. In the first turn
    /// of the run it passes those of all users.
    pub fn measure_e_dch(&self, turn: MeasuredTurn, ues: &mut Ues) {
        let is_first = turn.number == 0;
        let measured = |ue: u64| is_first || turn.measures(ue, self.period);
        for user in self.users.iter().filter(|user| measured(user.ue.0.into())) {
            if let Some(in_layout) = &mut ues[user.ue].e_in_layout {
                in_layout.set_gains(user.at.mobile.gains());
            }
        }
    }
}
