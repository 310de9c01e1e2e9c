//! Custom congestion laws for experiments: the caller of a run provides a function that makes a law
//! for each end of a connection.

use std::fmt;

use super::WindowLaw;
use crate::ids::{ConnectionId, End};

/// A custom law.
pub type UserLaw = Box<dyn WindowLaw + Send>;

type LawFactory = dyn Fn(u16, ConnectionId, End) -> UserLaw + Send;

/// Makes the law for an end of a connection. The number is the value in
/// [`Variant::User`](crate::tcp::Variant::User).
pub struct UserLaws {
    factory: Box<LawFactory>,
}

impl UserLaws {
    pub fn new(make: impl Fn(u16, ConnectionId, End) -> UserLaw + Send + 'static) -> Self {
        UserLaws { factory: Box::new(make) }
    }

    /// Makes the law for an end.
    pub fn make(&self, number: u16, connection: ConnectionId, end: End) -> UserLaw {
        (self.factory)(number, connection, end)
    }
}

impl fmt::Debug for UserLaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserLaws")
    }
}
