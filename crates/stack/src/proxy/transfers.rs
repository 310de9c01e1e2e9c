//! Transfers that the proxy splits: the two TCP connections of each transfer, and the relay between
//! them.

use std::collections::BTreeMap;

use super::Relay;
use crate::ids::{ConnectionId, FlowId};

/// Number of a transfer in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferId(u32);

/// A split transfer.
#[derive(Debug)]
pub struct Transfer {
    /// Flow of both connections.
    pub flow: FlowId,
    /// The connection to the server, and the connection to the UE.
    pub connections: [ConnectionId; 2],
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
        self.by_id.retain(|_, transfer| transfer.flow != flow || is_kept(transfer.connections[0]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::Setup;

    #[test]
    fn removes_only_transfers_of_the_flow_whose_connections_were_removed() {
        let mut transfers = Transfers::default();
        let transfer = |flow, first_connection| Transfer {
            flow: FlowId(flow),
            connections: [ConnectionId(first_connection), ConnectionId(first_connection + 1)],
            relay: Relay::new(ConnectionId(first_connection), Setup::Early, None),
        };
        let ids = [transfer(0, 0), transfer(1, 2), transfer(0, 4)].map(|transfer| transfers.insert(transfer));
        transfers.remove_expired(FlowId(0), |connection| connection == ConnectionId(4));
        assert_eq!(ids.map(|id| transfers.get_mut(id).is_some()), [false, true, true]);
        assert_eq!(transfers.of_flow_mut(FlowId(0)).count(), 1);
        assert!(transfers.insert(transfer(0, 6)) > ids[2], "numbers are not used again");
    }
}
