//! A file transfer, endless or of a given size. The sender opens the connection, like ns-2's FTP
//! and the data connection of an FTP server.

use crate::ids::End;
use crate::tcp::TcpEvent;

use super::{Action, ConnectionIndex};

/// The only connection of the flow.
const CONNECTION: ConnectionIndex = ConnectionIndex(0);

/// One transfer from `sender` to the other end.
#[derive(Debug, Clone)]
pub struct Ftp {
    sender: End,
    /// `u64::MAX`: without end.
    bytes: u64,
    step: Step,
    /// The receiver must close its direction.
    answer_close: bool,
}

/// The next action of the transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// None before the start of the flow.
    Waiting,
    Open,
    Write,
    Close,
    Done,
}

impl Ftp {
    /// A transfer of `bytes` from `sender`. `u64::MAX`: without end.
    pub fn new(sender: End, bytes: u64) -> Self {
        Ftp { sender, bytes, step: Step::Waiting, answer_close: false }
    }

    /// Starts the transfer: the sender opens the connection and writes all data at once.
    pub fn handle_start(&mut self) {
        self.step = Step::Open;
    }

    /// The receiver closes its direction after the sender has closed.
    #[inline]
    pub fn handle_event(&mut self, end: End, event: TcpEvent) {
        self.answer_close |= event == TcpEvent::PeerClosed && end != self.sender;
    }

    #[inline]
    pub fn poll_action(&mut self) -> Option<Action> {
        let connection = CONNECTION;
        if std::mem::take(&mut self.answer_close) {
            return Some(Action::Close { connection, end: End::sending(self.sender.sends().reversed()) });
        }
        let (end, bytes) = (self.sender, self.bytes);
        let (next_step, action) = match self.step {
            Step::Open => (Step::Write, Action::Open { connection, end, segment_payload: None }),
            Step::Write if bytes == u64::MAX => (Step::Done, Action::Write { connection, end, bytes }),
            Step::Write => (Step::Close, Action::Write { connection, end, bytes }),
            Step::Close => (Step::Done, Action::Close { connection, end }),
            Step::Waiting | Step::Done => return None,
        };
        self.step = next_step;
        Some(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(ftp: &mut Ftp) -> Vec<Action> {
        std::iter::from_fn(|| ftp.poll_action()).collect()
    }

    #[test]
    fn sender_opens_writes_and_closes_then_receiver_closes() {
        let (connection, end) = (CONNECTION, End::Server);
        let mut ftp = Ftp::new(end, 1000);
        assert_eq!(drain(&mut ftp), []);
        ftp.handle_start();
        let expected = [
            Action::Open { connection, end, segment_payload: None },
            Action::Write { connection, end, bytes: 1000 },
            Action::Close { connection, end },
        ];
        assert_eq!(drain(&mut ftp), expected);
        ftp.handle_event(End::Ue, TcpEvent::PeerClosed);
        assert_eq!(drain(&mut ftp), [Action::Close { connection, end: End::Ue }]);
        // The sender does not react to the close of the receiver.
        ftp.handle_event(End::Server, TcpEvent::PeerClosed);
        assert_eq!(drain(&mut ftp), []);
    }

    #[test]
    fn endless_transfer_never_closes() {
        let (connection, end) = (CONNECTION, End::Ue);
        let mut ftp = Ftp::new(end, u64::MAX);
        ftp.handle_start();
        assert_eq!(
            drain(&mut ftp),
            [
                Action::Open { connection, end, segment_payload: None },
                Action::Write { connection, end, bytes: u64::MAX },
            ]
        );
    }
}
