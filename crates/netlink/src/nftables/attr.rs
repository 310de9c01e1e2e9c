//! Numbers of attributes in messages of nftables: the enumerations `nft_*_attributes` of
//! linux/netfilter/nf_tables.h. A module for each object or expression has its attributes.

pub mod table {
    pub const NAME: u16 = 1;
    pub const FLAGS: u16 = 2;
}
pub mod chain {
    pub const TABLE: u16 = 1;
    pub const NAME: u16 = 3;
    pub const HOOK: u16 = 4;
    pub const TYPE: u16 = 7;
    /// Within `HOOK`.
    pub const HOOK_NUMBER: u16 = 1;
    /// Within `HOOK`.
    pub const HOOK_PRIORITY: u16 = 2;
}
pub mod rule {
    pub const TABLE: u16 = 1;
    pub const CHAIN: u16 = 2;
    pub const EXPRESSIONS: u16 = 4;
    pub const USER_DATA: u16 = 7;
    /// An element of `EXPRESSIONS`.
    pub const EXPRESSION: u16 = 1;
    /// Within `EXPRESSION`.
    pub const EXPRESSION_NAME: u16 = 1;
    /// Within `EXPRESSION`.
    pub const EXPRESSION_DATA: u16 = 2;
}
pub mod set {
    pub const TABLE: u16 = 1;
    pub const NAME: u16 = 2;
    pub const FLAGS: u16 = 3;
    pub const ELEMENT_TYPE: u16 = 4;
    pub const ELEMENT_LENGTH: u16 = 5;
    pub const DESCRIPTION: u16 = 9;
    /// Number of the set in a transaction.
    pub const ID: u16 = 10;
    pub const TIMEOUT: u16 = 11;
    /// Within `DESCRIPTION`: maximum number of elements.
    pub const SIZE: u16 = 1;
}
/// Constants in expressions.
pub mod data {
    pub const VALUE: u16 = 1;
    pub const VERDICT: u16 = 2;
    /// Within `VERDICT`.
    pub const VERDICT_CODE: u16 = 1;
}
pub mod payload {
    pub const TARGET: u16 = 1;
    pub const HEADER: u16 = 2;
    pub const OFFSET: u16 = 3;
    pub const LENGTH: u16 = 4;
}
pub mod meta {
    pub const TARGET: u16 = 1;
    pub const KEY: u16 = 2;
    pub const SOURCE: u16 = 3;
}
pub mod fib {
    pub const TARGET: u16 = 1;
    pub const RESULT: u16 = 2;
    pub const FLAGS: u16 = 3;
}
pub mod bitwise {
    pub const SOURCE: u16 = 1;
    pub const TARGET: u16 = 2;
    pub const LENGTH: u16 = 3;
    pub const MASK: u16 = 4;
    pub const EXCLUSIVE_OR: u16 = 5;
}
pub mod compare {
    pub const SOURCE: u16 = 1;
    pub const OPERATOR: u16 = 2;
    pub const DATA: u16 = 3;
}
pub mod range {
    pub const SOURCE: u16 = 1;
    pub const OPERATOR: u16 = 2;
    pub const FROM: u16 = 3;
    pub const TO: u16 = 4;
}
pub mod immediate {
    pub const TARGET: u16 = 1;
    pub const DATA: u16 = 2;
}
pub mod lookup {
    pub const SET_NAME: u16 = 1;
    pub const SOURCE: u16 = 2;
}
/// Update of a set by a rule.
pub mod dynset {
    pub const SET_NAME: u16 = 1;
    pub const OPERATION: u16 = 3;
    pub const ELEMENT_SOURCE: u16 = 4;
}
pub mod socket {
    pub const KEY: u16 = 1;
    pub const TARGET: u16 = 2;
}
pub mod tproxy {
    pub const FAMILY: u16 = 1;
    pub const PORT_SOURCE: u16 = 3;
}
pub mod reject {
    pub const TYPE: u16 = 1;
    pub const ICMP_CODE: u16 = 2;
}
