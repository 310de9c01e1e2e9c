//! Laws that come from outside, for experiments: a run is handed a function that makes one for each end of a connection.

use std::fmt;

use super::WindowLaw;
use crate::ids::{ConnectionId, End};

/// A law from outside.
pub type UserLaw = Box<dyn WindowLaw + Send>;

type Make = dyn Fn(u16, ConnectionId, End) -> UserLaw + Send;

/// Makes laws by the number in [`Variant::User`](crate::tcp::Variant::User), for an end of a connection.
pub struct UserLaws(Box<Make>);

impl UserLaws {
    /// From a function.
    pub fn new(make: impl Fn(u16, ConnectionId, End) -> UserLaw + Send + 'static) -> Self {
        UserLaws(Box::new(make))
    }

    /// A law for this end.
    pub fn make(&self, number: u16, connection: ConnectionId, end: End) -> UserLaw {
        (self.0)(number, connection, end)
    }
}

impl fmt::Debug for UserLaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserLaws")
    }
}
