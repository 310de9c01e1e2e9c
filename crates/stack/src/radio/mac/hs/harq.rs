//! HARQ (hybrid automatic repeat request) of MAC-hs: stop-and-wait processes at the Node B and at the UE
//! (TS 25.321 §11.6.1.3 and §11.6.2.2). Each process transmits one block until the UE acknowledges it,
//! and several processes work in parallel.
//!
//! The UE combines the transmissions of a block: each one adds its energy (Chase combining). An
//! inverted new data indicator announces a new block to it. [`HarqSender`] is the Node B's side, and
//! [`HarqReceiver`] the UE's side.

/// Largest number of HARQ processes of a UE.
pub const MAX_PROCESSES: usize = 8;

/// Answer of the UE on the HS-DPCCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    Ack,
    Nack,
    /// No answer: the UE missed the HS-SCCH.
    Dtx,
}

/// A transmission as the HS-SCCH announces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announcement {
    /// Number of the HARQ process.
    pub process: u8,
    /// Inverted with each new block of the process.
    pub new_data: bool,
    /// 1 for the first transmission of the block.
    pub attempt: u8,
}

/// The end of a block at the Node B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended<B> {
    Acknowledged(B),
    /// The last transmission was not acknowledged.
    GivenUp(B),
}

/// State of a HARQ process of the Node B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State<B> {
    Idle,
    /// The feedback to the last of `attempts` transmissions is on its way.
    AwaitsFeedback {
        block: B,
        attempts: u8,
    },
    /// The block was not acknowledged, and may be transmitted again.
    AwaitsRetransmission {
        block: B,
        attempts: u8,
    },
}

/// A HARQ process of the Node B.
#[derive(Debug)]
struct Process<B> {
    /// The new data indicator of the last block. It toggles with each new block.
    new_data: bool,
    state: State<B>,
}

/// The HARQ entity of the Node B for one UE. `B` identifies a block.
#[derive(Debug)]
pub struct HarqSender<B> {
    processes: Vec<Process<B>>,
    max_transmissions: u8,
    /// Processes with a block to transmit again, in the order in which their feedback arrived.
    to_retransmit: Vec<u8>,
}

impl<B: Copy> HarqSender<B> {
    /// # Panics
    /// If there are not 1 to 8 processes, or blocks may not be transmitted.
    pub fn new(processes: usize, max_transmissions: u8) -> Self {
        assert!((1..=MAX_PROCESSES).contains(&processes) && max_transmissions > 0);
        let processes = (0..processes).map(|_| Process { new_data: false, state: State::Idle }).collect();
        HarqSender { processes, max_transmissions, to_retransmit: Vec::new() }
    }

    /// A process without a block.
    pub fn idle_process(&self) -> Option<u8> {
        let idle =
            self.processes.iter().position(|harq_process| matches!(harq_process.state, State::Idle))?;
        Some(idle as u8)
    }

    /// The process with the block that has waited longest for its next transmission.
    pub fn next_process(&self) -> Option<u8> {
        self.to_retransmit.first().copied()
    }

    /// Whether this is the last transmission of a block.
    pub fn is_last(&self, announcement: Announcement) -> bool {
        announcement.attempt == self.max_transmissions
    }

    /// The block that has waited longest for its next transmission.
    pub fn next_retransmission(&self) -> Option<B> {
        match self.processes[usize::from(*self.to_retransmit.first()?)].state {
            State::AwaitsRetransmission { block, .. } => Some(block),
            _ => None,
        }
    }

    /// Transmits a new block in an idle process.
    ///
    /// # Panics
    /// If the process is not idle.
    pub fn send(&mut self, process: u8, block: B) -> Announcement {
        let harq_process = &mut self.processes[usize::from(process)];
        assert!(matches!(harq_process.state, State::Idle), "process {process} has a block");
        harq_process.new_data = !harq_process.new_data;
        harq_process.state = State::AwaitsFeedback { block, attempts: 1 };
        Announcement { process, new_data: harq_process.new_data, attempt: 1 }
    }

    /// Transmits the block of [`next_retransmission`](Self::next_retransmission) again.
    pub fn resend(&mut self) -> Option<Announcement> {
        let process = *self.to_retransmit.first()?;
        self.resend_in(process)
    }

    /// Whether the block of a process may be transmitted again now.
    pub fn awaits_retransmission(&self, process: u8) -> bool {
        self.to_retransmit.contains(&process)
    }

    /// Whether a process has no block.
    pub fn is_idle(&self, process: u8) -> bool {
        matches!(self.processes[usize::from(process)].state, State::Idle)
    }

    /// Transmits the block of a process again if the block awaits its next transmission.
    pub fn resend_in(&mut self, process: u8) -> Option<Announcement> {
        let position = self.to_retransmit.iter().position(|waiting| *waiting == process)?;
        self.to_retransmit.remove(position);
        let harq_process = &mut self.processes[usize::from(process)];
        let State::AwaitsRetransmission { block, attempts } = harq_process.state else { return None };
        let attempt = attempts + 1;
        harq_process.state = State::AwaitsFeedback { block, attempts: attempt };
        Some(Announcement { process, new_data: harq_process.new_data, attempt })
    }

    /// Handles the feedback to the last transmission of a process. Returns the block if it ended.
    pub fn handle_feedback(&mut self, process: u8, feedback: Feedback) -> Option<Ended<B>> {
        let harq_process = &mut self.processes[usize::from(process)];
        let State::AwaitsFeedback { block, attempts } = harq_process.state else { return None };
        let is_last_attempt = attempts == self.max_transmissions;
        let ended = match feedback {
            Feedback::Ack => Some(Ended::Acknowledged(block)),
            Feedback::Nack | Feedback::Dtx if is_last_attempt => Some(Ended::GivenUp(block)),
            Feedback::Nack | Feedback::Dtx => None,
        };
        if ended.is_some() {
            harq_process.state = State::Idle;
        } else {
            harq_process.state = State::AwaitsRetransmission { block, attempts };
            self.to_retransmit.push(process);
        }
        ended
    }

    /// Ends all blocks without a result: the serving cell changes, or MAC-hs is reset.
    pub fn reset(&mut self) {
        self.to_retransmit.clear();
        for process in &mut self.processes {
            process.state = State::Idle;
        }
    }
}

/// Soft buffer of one process of the UE.
#[derive(Debug, Clone, Copy, Default)]
struct SoftBuffer {
    /// New data indicator of the last announcement. `None` before the first.
    new_data: Option<bool>,
    /// Sum of the linear SNRs of all transmissions of the block.
    energy: f64,
    is_decoded: bool,
}

/// The result of a transmission at the UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reception {
    /// The answer that the UE sends.
    pub is_acknowledged: bool,
    /// The block is decoded now, for the first time.
    pub is_delivered: bool,
}

/// The HARQ entity of a UE.
#[derive(Debug, Default)]
pub struct HarqReceiver {
    buffers: [SoftBuffer; MAX_PROCESSES],
}

impl HarqReceiver {
    /// Handles a transmission whose announcement the UE has read. `snr` is linear. `decode` returns
    /// whether the block can be decoded with the combined SNR.
    pub fn handle_transmission(
        &mut self,
        announcement: Announcement,
        snr: f64,
        decode: impl FnOnce(f64) -> bool,
    ) -> Reception {
        let buffer = &mut self.buffers[usize::from(announcement.process)];
        if buffer.new_data != Some(announcement.new_data) {
            *buffer = SoftBuffer { new_data: Some(announcement.new_data), ..SoftBuffer::default() };
        }
        if buffer.is_decoded {
            return Reception { is_acknowledged: true, is_delivered: false };
        }
        buffer.energy += snr;
        buffer.is_decoded = decode(buffer.energy);
        Reception { is_acknowledged: buffer.is_decoded, is_delivered: buffer.is_decoded }
    }

    /// Empties all soft buffers.
    pub fn reset(&mut self) {
        *self = HarqReceiver::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unacknowledged_block_is_sent_again_up_to_the_maximum() {
        let mut sender = HarqSender::new(2, 3);
        assert_eq!(sender.send(0, 'a'), Announcement { process: 0, new_data: true, attempt: 1 });
        assert_eq!(sender.handle_feedback(0, Feedback::Nack), None);
        assert_eq!(sender.next_retransmission(), Some('a'));
        assert_eq!(sender.resend(), Some(Announcement { process: 0, new_data: true, attempt: 2 }));
        assert_eq!(sender.handle_feedback(0, Feedback::Dtx), None);
        sender.resend();
        assert_eq!(sender.handle_feedback(0, Feedback::Nack), Some(Ended::GivenUp('a')));
        assert_eq!(sender.send(0, 'b'), Announcement { process: 0, new_data: false, attempt: 1 });
        assert_eq!(sender.handle_feedback(0, Feedback::Ack), Some(Ended::Acknowledged('b')));
    }

    #[test]
    fn the_block_that_waited_longest_is_sent_again_first() {
        let mut sender = HarqSender::new(3, 4);
        for (process, block) in [(0, 'a'), (1, 'b'), (2, 'c')] {
            sender.send(process, block);
        }
        assert_eq!(sender.idle_process(), None);
        for process in [1, 0, 2] {
            sender.handle_feedback(process, Feedback::Nack);
        }
        let sent: Vec<_> =
            std::iter::from_fn(|| sender.resend()).map(|announcement| announcement.process).collect();
        assert_eq!(sent, [1, 0, 2]);
    }

    #[test]
    fn transmissions_of_a_block_add_their_energy() {
        let (mut sender, mut receiver) = (HarqSender::new(1, 4), HarqReceiver::default());
        // The block needs an SNR of 1.5. Each transmission has an SNR of 1.
        let decode = |combined_snr| combined_snr >= 1.5;
        let first = receiver.handle_transmission(sender.send(0, ()), 1.0, decode);
        assert_eq!(first, Reception { is_acknowledged: false, is_delivered: false });
        sender.handle_feedback(0, Feedback::Nack);
        let second = receiver.handle_transmission(sender.resend().unwrap(), 1.0, decode);
        assert_eq!(second, Reception { is_acknowledged: true, is_delivered: true });
    }

    /// The UE has decoded the block, but the Node B reads its ACK as a NACK and sends the block again.
    #[test]
    fn a_false_nack_delivers_no_block_twice() {
        let (mut sender, mut receiver) = (HarqSender::new(1, 4), HarqReceiver::default());
        assert!(receiver.handle_transmission(sender.send(0, ()), 1.0, |_| true).is_delivered);
        sender.handle_feedback(0, Feedback::Nack);
        let again = receiver.handle_transmission(sender.resend().unwrap(), 1.0, |_| true);
        assert_eq!(again, Reception { is_acknowledged: true, is_delivered: false });
    }

    #[test]
    fn a_new_block_empties_the_soft_buffer() {
        let (mut sender, mut receiver) = (HarqSender::new(1, 1), HarqReceiver::default());
        receiver.handle_transmission(sender.send(0, 'a'), 5.0, |_| false);
        sender.handle_feedback(0, Feedback::Nack);
        receiver.handle_transmission(sender.send(0, 'b'), 1.0, |combined_snr| {
            assert_eq!(combined_snr, 1.0, "the energy of block a is not added");
            true
        });
    }
}
