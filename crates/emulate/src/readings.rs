//! The state of a running emulation, for viewers. Any thread may request it from the event loop.
//!
//! A request wakes the event loop, which copies the state and continues. A viewer that does not
//! read, or is stopped, has no effect on the event loop.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};

use nix::sys::eventfd::{EfdFlags, EventFd};
use thiserror::Error;
use umts_record::live::SnapshotSize;
use umts_simulate::LiveView;
use umts_units::Time;

use crate::results::fidelity::Fidelity;

/// The state of an emulation at an instant.
#[derive(Debug, Clone)]
pub struct LiveReading {
    /// Time of the emulation.
    pub at: Time,
    /// Users, cells, queues and last events.
    pub view: LiveView,
    /// Effects of the machine since the start.
    pub fidelity: Fidelity,
}

/// Why there is no state.
#[derive(Debug, Error)]
pub enum NoReading {
    /// The emulation has ended.
    #[error("the emulation has ended")]
    Ended,
    /// The emulation has not begun, or its process does not run.
    #[error("the emulation has not answered in time")]
    Late,
}

/// A request with the way back to the viewer.
#[derive(Debug)]
pub(crate) struct ReadingRequest {
    pub size: SnapshotSize,
    answer: SyncSender<LiveReading>,
}

impl ReadingRequest {
    /// Answers the request. Never blocks: there is one answer for a place, and it is dropped if the
    /// viewer has given up.
    pub fn answer(self, reading: LiveReading) {
        let _ = self.answer.try_send(reading);
    }
}

/// Requests the state of an emulation.
#[derive(Debug)]
pub struct LiveViewer {
    requests: Mutex<Sender<ReadingRequest>>,
    wake: Arc<EventFd>,
}

/// Receives requests in the event loop.
#[derive(Debug)]
pub struct LiveInbox {
    requests: Receiver<ReadingRequest>,
    wake: Arc<EventFd>,
}

/// Creates both ends for one emulation.
///
/// # Errors
/// An error of the kernel.
pub fn live_channel() -> io::Result<(LiveViewer, LiveInbox)> {
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let wake = Arc::new(EventFd::from_value_and_flags(0, flags)?);
    let (sender, receiver) = channel();
    let viewer = LiveViewer { requests: Mutex::new(sender), wake: wake.clone() };
    Ok((viewer, LiveInbox { requests: receiver, wake }))
}

impl LiveViewer {
    /// Returns the current state. Waits for at most `patience`.
    ///
    /// # Errors
    /// An error if the emulation has ended, or does not answer in time.
    ///
    /// # Panics
    /// Panics if another thread panicked in this function.
    pub fn read(&self, size: SnapshotSize, patience: std::time::Duration) -> Result<LiveReading, NoReading> {
        let (answer, reading) = sync_channel(1);
        let requests = self.requests.lock().expect("no code panics while it holds the lock");
        requests.send(ReadingRequest { size, answer }).map_err(|_| NoReading::Ended)?;
        drop(requests);
        // The counter cannot overflow: it is read before the next sleep of the event loop.
        let _ = self.wake.write(1);
        reading.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => NoReading::Late,
            RecvTimeoutError::Disconnected => NoReading::Ended,
        })
    }
}

impl LiveInbox {
    /// Descriptor that is readable while requests wait.
    pub(crate) fn wake(&self) -> &EventFd {
        &self.wake
    }

    /// Takes note of the requests that have arrived: the descriptor is not readable until the next
    /// one.
    pub(crate) fn acknowledge(&self) {
        // Fails if nothing has arrived.
        let _ = self.wake.read();
    }

    /// Takes the requests that have arrived.
    pub(crate) fn take(&self) -> impl Iterator<Item = ReadingRequest> {
        self.requests.try_iter()
    }
}

#[cfg(test)]
mod tests {
    use umts_record::live::LiveState;
    use umts_scenario::Scenario;
    use umts_simulate::network_config;
    use umts_stack::network::Network;

    use super::*;
    use crate::clock::lateness::Lateness;
    use crate::outside::exchange::Counts;

    const SIZE: SnapshotSize = SnapshotSize { ues: 4, bins: 1, points: 60 };

    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

    fn reading(at: Time) -> LiveReading {
        let text = "version = 1\nduration = \"9 s\"\n[[ue]]\nname = \"u\"\ncount = 3\nbearer = \"hsdpa-3.6\"";
        let scenario = Scenario::parse(text, "x", std::path::Path::new(""), &[]).unwrap().scenario;
        let config = network_config(&scenario);
        let network = Network::new(&config, &umts_kernel::random::Streams::new(1, 0));
        let late = Lateness::new(umts_units::Duration::from_millis(10));
        let fidelity = Fidelity {
            lateness: late.clone(),
            released: late.clone(),
            work: late,
            tun_drops: 0,
            devices_lost: 0,
            counts: Counts::default(),
            cpu: umts_units::Duration::ZERO,
            duration: at - Time::ZERO,
            is_real_time: false,
        };
        let view = LiveView::new(&network, &mut LiveState::new(&config), at, SIZE);
        LiveReading { at, view, fidelity }
    }

    #[test]
    fn viewers_get_the_state_at_their_request() {
        let (viewer, inbox) = live_channel().unwrap();
        let client = std::thread::spawn(move || viewer.read(SIZE, PATIENCE));
        let request = loop {
            inbox.acknowledge();
            if let Some(request) = inbox.take().next() {
                break request;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        assert_eq!(request.size, SIZE);
        request.answer(reading(Time::from_nanos(7)));
        let read = client.join().unwrap().unwrap();
        assert_eq!((read.at.as_nanos(), read.view.recorded.ues.len()), (7, 3));
        // UEs with an HS-DSCH have an empty queue before their first data.
        assert_eq!(read.view.nodeb_queues, [Some(umts_simulate::NodebQueue::default()); 3]);
    }

    #[test]
    fn a_viewer_that_has_given_up_does_not_hinder_the_event_loop() {
        let (viewer, inbox) = live_channel().unwrap();
        let error = viewer.read(SIZE, std::time::Duration::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "the emulation has not answered in time");
        inbox.take().for_each(|request| request.answer(reading(Time::ZERO)));
        drop(inbox);
        assert_eq!(viewer.read(SIZE, PATIENCE).unwrap_err().to_string(), "the emulation has ended");
    }
}
