//! Orders to set and remove faults. Any thread may send them to the event loop of a running
//! emulation.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use nix::sys::eventfd::{EfdFlags, EventFd};
use thiserror::Error;
use umts_kernel::TraceSink;
use umts_scenario::Scenario;
use umts_stack::context::Context;
use umts_stack::network::{Change, Network};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// An order about the fault with name `name`.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultOrder {
    /// Adds the fault, or replaces the values of the fault with this name.
    Set {
        /// Name of the fault.
        name: String,
        /// The values that the fault sets.
        changes: Vec<Change>,
    },
    /// Removes the fault and restores the former values.
    Remove {
        /// Name of the fault.
        name: String,
    },
}

impl FaultOrder {
    /// The order to set a fault to the changes of `[[at]]` in `scenario`, whatever their times.
    pub fn set(name: String, scenario: &Scenario) -> Self {
        let changes = scenario.plan().changes.iter().map(|timed| timed.change.clone());
        FaultOrder::Set { name, changes: changes.collect() }
    }

    /// Executes the order.
    pub(crate) fn apply_to<T: TraceSink<TraceEvent>>(&self, network: &mut Network, cx: &mut Context<'_, T>) {
        match self {
            FaultOrder::Set { name, changes } => network.set_fault(cx, name, changes),
            FaultOrder::Remove { name } => network.remove_fault(cx, name),
        }
    }
}

/// The event loop ended before the execution of an order.
#[derive(Debug, Error)]
#[error("the emulation has ended")]
pub struct EmulationEnded;

/// The ends of the two channels to the event loop.
#[derive(Debug)]
struct ControlEnds {
    orders: Sender<FaultOrder>,
    /// Times at which orders were executed, in the order of the orders.
    executed: Receiver<Time>,
}

/// Sends orders to an emulation.
#[derive(Debug)]
pub struct FaultControl {
    ends: Mutex<ControlEnds>,
    wake: Arc<EventFd>,
}

/// Receives orders in the event loop.
#[derive(Debug)]
pub struct FaultInbox {
    orders: Receiver<FaultOrder>,
    executed: Sender<Time>,
    wake: Arc<EventFd>,
}

/// Creates both ends for one emulation.
///
/// # Errors
/// An error of the kernel.
pub fn fault_channel() -> io::Result<(FaultControl, FaultInbox)> {
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let wake = Arc::new(EventFd::from_value_and_flags(0, flags)?);
    let (orders_in, orders_out) = channel();
    let (executed_in, executed_out) = channel();
    let ends = ControlEnds { orders: orders_in, executed: executed_out };
    let control = FaultControl { ends: Mutex::new(ends), wake: wake.clone() };
    Ok((control, FaultInbox { orders: orders_out, executed: executed_in, wake }))
}

impl FaultControl {
    /// Sends an order and waits for the execution. Returns the time of the emulation at which the order
    /// was executed. Before the start of the emulation an order waits for the start.
    ///
    /// # Errors
    /// An error if the emulation ends before.
    ///
    /// # Panics
    /// Panics if another thread panicked in this function.
    pub fn execute(&self, order: FaultOrder) -> Result<Time, EmulationEnded> {
        // One order at a time, so that the next time belongs to this order.
        let ends = self.ends.lock().expect("no code panics while it holds the lock");
        ends.orders.send(order).map_err(|_| EmulationEnded)?;
        // The counter cannot overflow: it is read after each order.
        let _ = self.wake.write(1);
        ends.executed.recv().map_err(|_| EmulationEnded)
    }
}

impl FaultInbox {
    /// Descriptor that is readable while orders wait.
    pub(crate) fn wake(&self) -> &EventFd {
        &self.wake
    }

    /// Takes the orders that have arrived.
    pub(crate) fn take(&self) -> impl Iterator<Item = FaultOrder> {
        // Before the orders, so that a later order wakes the loop again. Fails if nothing has
        // arrived.
        let _ = self.wake.read();
        self.orders.try_iter()
    }

    /// Confirms that the oldest order that was taken and not confirmed is executed.
    pub(crate) fn confirm(&self, at: Time) {
        // Fails if the other end has not waited.
        let _ = self.executed.send(at);
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    fn remove(name: &str) -> FaultOrder {
        FaultOrder::Remove { name: name.to_owned() }
    }

    #[test]
    fn order_returns_when_it_is_executed() {
        let (control, inbox) = fault_channel().unwrap();
        let client = std::thread::spawn(move || control.execute(remove("a")).map(Time::as_nanos).ok());
        let taken = loop {
            if let Some(order) = inbox.take().next() {
                break order;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        assert_eq!(taken, remove("a"));
        inbox.confirm(Time::ZERO + Duration::from_nanos(7));
        assert_eq!(client.join().unwrap(), Some(7));
    }

    #[test]
    fn order_fails_if_the_emulation_has_ended_or_ends() {
        let (control, inbox) = fault_channel().unwrap();
        let ending = std::thread::spawn(move || {
            while inbox.take().next().is_none() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        control.execute(remove("a")).unwrap_err();
        ending.join().unwrap();
        assert_eq!(control.execute(remove("a")).unwrap_err().to_string(), "the emulation has ended");
    }
}
