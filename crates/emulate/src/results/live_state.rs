//! The live state of an emulation.

use std::cell::RefCell;
use std::rc::Rc;

use umts_kernel::TraceSink;
use umts_record::live::{LiveState, SnapshotSize};
use umts_simulate::LiveView;
use umts_stack::network::{Network, NetworkConfig};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// The live state of an emulation. Clones share one state.
#[derive(Debug, Clone)]
pub struct SharedLiveState(Rc<RefCell<LiveState>>);

impl SharedLiveState {
    /// The state before the first event.
    pub fn new(network: &NetworkConfig) -> Self {
        SharedLiveState(Rc::new(RefCell::new(LiveState::new(network))))
    }

    /// The state of `network` at `now`.
    pub fn view(&self, network: &Network, now: Time, size: SnapshotSize) -> LiveView {
        LiveView::new(network, &mut self.0.borrow_mut(), now, size)
    }
}

impl TraceSink<TraceEvent> for SharedLiveState {
    fn wants_copies(&self) -> bool {
        false
    }

    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.0.borrow_mut().record(at, event);
    }
}
