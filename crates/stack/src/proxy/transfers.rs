//! Transfers that the proxy splits: the two TCP connections of each transfer, and the relay between
//! them.

use std::collections::BTreeMap;

use super::{Relay, SplitConnections};
use crate::ids::{ConnectionId, FlowId};

/// Number of a transfer in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferId(u32);

/// A split transfer.
#[derive(Debug)]
pub struct Transfer {
    /// Flow of both connections.
    pub flow: FlowId,
    pub connections: SplitConnections,
    /// Relays data between the proxy's ends of both connections.
    pub relay: Relay,
}

/// Split transfers by number. A transfer is removed after its flow has removed the connections.
#[derive(Debug, Default)]
pub struct Transfers {
    by_id: BTreeMap<TransferId, Transfer>,
    /// Number of transfers inserted so far.
    inserted: u32,
}

impl Transfers {
    /// Adds a transfer. Returns its number.
    pub fn insert(&mut self, transfer: Transfer) -> TransferId {
        let id = TransferId(self.inserted);
        self.inserted += 1;
        self.by_id.insert(id, transfer);
        id
    }

    /// A transfer by its number. `None` if it was removed.
    pub fn get_mut(&mut self, id: TransferId) -> Option<&mut Transfer> {
        self.by_id.get_mut(&id)
    }

    /// All transfers, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Transfer> {
        self.by_id.values()
    }

    /// Transfers of `flow`, in the order of their numbers, mutable.
    pub fn of_flow_mut(&mut self, flow: FlowId) -> impl Iterator<Item = &mut Transfer> {
        self.by_id.values_mut().filter(move |transfer| transfer.flow == flow)
    }

    /// Removes the transfers of `flow` for whose connections `is_kept` returns false.
    pub fn remove_expired(&mut self, flow: FlowId, is_kept: impl Fn(ConnectionId) -> bool) {
        self.by_id.retain(|_, transfer| transfer.flow != flow || is_kept(transfer.connections.server));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::Setup;

    /// A transfer of `flow` with the connections `first` and `first + 1`.
    fn transfer(flow: u32, first: u32) -> Transfer {
        let connections = SplitConnections { server: ConnectionId(first), radio: ConnectionId(first + 1) };
        let relay = Relay::new(connections.server, Setup::Early, None);
        Transfer { flow: FlowId(flow), connections, relay }
    }

    /// Flow 0 has two transfers, of which it has removed the connections of the first one.
    #[test]
    fn removes_only_transfers_of_the_flow_whose_connections_were_removed() {
        let mut transfers = Transfers::default();
        let removed = transfers.insert(transfer(0, 0));
        let of_other_flow = transfers.insert(transfer(1, 2));
        let kept = transfers.insert(transfer(0, 4));
        transfers.remove_expired(FlowId(0), |connection| connection == ConnectionId(4));
        assert!(transfers.get_mut(removed).is_none());
        assert!(transfers.get_mut(of_other_flow).is_some());
        assert!(transfers.get_mut(kept).is_some());
        assert_eq!(transfers.of_flow_mut(FlowId(0)).count(), 1);
    }

    #[test]
    fn numbers_of_removed_transfers_are_not_used_again() {
        let mut transfers = Transfers::default();
        let removed = transfers.insert(transfer(0, 0));
        transfers.remove_expired(FlowId(0), |_| false);
        assert!(transfers.insert(transfer(0, 2)) > removed);
    }
}
