//! The requests for capacity that the RNC knows of, its own and those of users, in the order in which they came.

use std::collections::VecDeque;

use crate::ids::{Direction, UeId};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Whose it is.
    pub ue: UeId,
    /// The way of the data.
    pub direction: Direction,
    /// The first frame that can be granted.
    pub from: u64,
    /// The backlog that a user told, in SDUs; the RNC knows its own.
    pub told: Option<u32>,
    /// There was no room for it before.
    pub again: bool,
}

/// What becomes of a request that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is looked at again in the next frame.
    Stays,
    /// It is over.
    Over,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Requests(VecDeque<Request>);

impl Requests {
    /// One more.
    pub fn push(&mut self, request: Request) {
        self.0.push_back(request);
    }

    /// Asks `decide` about every request that can be granted in `frame`, in the order of asking.
    pub fn decide(&mut self, frame: u64, mut decide: impl FnMut(&mut Request) -> Fate) {
        self.0.retain_mut(|request| request.from > frame || decide(request) == Fate::Stays);
    }

    /// The first frame for which a request can be decided.
    pub fn next(&self) -> Option<u64> {
        self.0.iter().map(|request| request.from).min()
    }
}
