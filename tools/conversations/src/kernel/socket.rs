//! The socket of the kernel's end, and its application, which reads all data as soon as they
//! arrive.

use std::net::{SocketAddrV4, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::sockopt::{
    KeepAlive, ReuseAddr, SocketError, TcpCongestion, TcpKeepCount, TcpKeepIdle, TcpKeepInterval, TcpNoDelay,
};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockProtocol, SockType, SockaddrIn, bind, connect,
    getsockopt, listen, setsockopt, shutdown, socket,
};
use nix::unistd::{read, write};

use super::settings::Settings;

/// Octets per read or write of the application.
const CHUNK: usize = 1 << 16;
/// Number of octets that stand for an endless write, more than any script sends.
const ENDLESS: u64 = 300_000;

/// Number of connections that may wait to be accepted; a script has one.
const BACKLOG: i32 = 8;

/// The application's side of the connection.
pub(super) struct Application {
    /// `None` if the script opens the connection.
    listener: Option<TcpListener>,
    /// `None` until the other end has opened the connection.
    connection: Option<OwnedFd>,
    /// Number of bytes still to be written.
    unwritten: u64,
    /// Whether the script has closed. The socket is closed after all is written.
    close_requested: bool,
    closed: bool,
    /// Number of bytes read.
    pub delivered: u64,
    /// The first error that ended the connection.
    pub error: Option<Errno>,
}

impl Application {
    /// Opens a socket at `kernel`. Unless the script opens the connection, the socket listens.
    pub fn new(settings: &Settings, kernel: SocketAddrV4) -> nix::Result<Self> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Inet, SockType::Stream, flags, SockProtocol::Tcp)?;
        setsockopt(&socket, TcpCongestion, &settings.congestion_control.into())?;
        setsockopt(&socket, TcpNoDelay, &settings.no_delay)?;
        let config = &settings.config;
        if config.keepalive {
            let seconds =
                |duration: umts_units::Duration| (duration.as_nanos() / 1_000_000_000).max(1) as u32;
            setsockopt(&socket, KeepAlive, &true)?;
            setsockopt(&socket, TcpKeepIdle, &seconds(config.keepalive_idle))?;
            setsockopt(&socket, TcpKeepInterval, &seconds(config.keepalive_interval))?;
            setsockopt(&socket, TcpKeepCount, &config.keepalive_probes)?;
        }
        setsockopt(&socket, ReuseAddr, &true)?;
        bind(socket.as_raw_fd(), &SockaddrIn::from(kernel))?;
        let (listener, connection) = if settings.opens {
            (None, Some(socket))
        } else {
            if settings.listens {
                listen(&socket, Backlog::new(BACKLOG)?)?;
            }
            (Some(TcpListener::from(socket)), None)
        };
        Ok(Application {
            listener,
            connection,
            unwritten: 0,
            close_requested: false,
            closed: false,
            delivered: 0,
            error: None,
        })
    }

    pub fn open(&mut self, peer: SocketAddrV4) -> Result<(), String> {
        let Some(connection) = &self.connection else {
            return Err("a script in which the other end opens cannot open".to_owned());
        };
        match connect(connection.as_raw_fd(), &SockaddrIn::from(peer)) {
            Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
            Err(error) => Err(format!("connect: {error}")),
        }
    }

    pub fn write(&mut self, bytes: u64) {
        self.unwritten = self.unwritten.saturating_add(bytes.min(ENDLESS));
    }

    pub fn close(&mut self) {
        self.close_requested = true;
    }

    /// Accepts, writes, closes and reads as far as the kernel permits.
    pub fn proceed(&mut self) {
        if self.connection.is_none()
            && let Some(listener) = &self.listener
            && let Ok((accepted, _)) = listener.accept()
            && accepted.set_nonblocking(true).is_ok()
        {
            self.connection = Some(accepted.into());
        }
        let Some(connection) = &self.connection else { return };
        let mut errors = Vec::new();
        let zeros = [0; CHUNK];
        while self.unwritten > 0 {
            let length = self.unwritten.min(CHUNK as u64) as usize;
            match write(connection, &zeros[..length]) {
                Ok(written) => self.unwritten -= written as u64,
                Err(error) => {
                    errors.push(error);
                    break;
                }
            }
        }
        if self.close_requested && self.unwritten == 0 && !self.closed {
            self.closed = true;
            // An error here is an error of the connection, which a read returns too.
            let _ = shutdown(connection.as_raw_fd(), Shutdown::Write);
        }
        let mut buffer = vec![0; CHUNK];
        loop {
            match read(connection, &mut buffer) {
                Ok(0) => break,
                Ok(length) => self.delivered += length as u64,
                Err(error) => {
                    errors.push(error);
                    break;
                }
            }
        }
        if let Ok(code) = getsockopt(connection, SocketError)
            && code != 0
        {
            errors.push(Errno::from_raw(code));
        }
        // Other errors say only that there is nothing to do now.
        let is_fatal = |error: &Errno| {
            matches!(error, Errno::ECONNREFUSED | Errno::ECONNRESET | Errno::ETIMEDOUT | Errno::EPIPE)
        };
        self.error = self.error.or(errors.into_iter().find(is_fatal));
    }

    /// Returns whether the application has the connection.
    pub fn is_accepted(&self) -> bool {
        self.connection.is_some()
    }

    /// Returns the reason why the connection failed, in the words of scripts.
    pub fn failure(&self) -> &'static str {
        match self.error {
            Some(Errno::ECONNREFUSED) => "refused",
            Some(Errno::ETIMEDOUT) => "timedout",
            Some(_) => "reset",
            None => "none",
        }
    }
}
