//! Sans-IO model of the network. The modules follow the path of a downlink byte.
//!
//! ```text
//! traffic → tcp → hosts → core_network → utran (rnc → nodeb → radio → ue)
//! ```
//!
//! A protocol entity is a plain struct without clock, socket, callback or global state. It gets the
//! time from [`Context`], takes inputs (`handle_*`), returns outputs (`poll_*`) and the time of its
//! next timer (`poll_timeout`). `radio` has the state machines that both ends of the air interface
//! share. `rnc`, `nodeb` and `ue` have the decisions of one node.
//!
//! Options are declared once, in the module that reads them: `options.rs` has the macro for tables,
//! words are enums. With the feature `schema`, serde reads them from scenario files, and their doc
//! comments are the descriptions in the reference and in the JSON Schema.

pub mod aqm;
pub mod context;
pub mod core_network;
pub mod count;
pub mod detail;
pub mod environment;
pub mod event;
pub mod event_context;
pub mod hosts;
pub mod ids;
pub mod mac;
pub mod network;
pub mod nodeb;
mod options;
pub mod packet;
pub mod path;
pub mod proxy;
pub mod radio;
pub mod rnc;
pub mod scheduling;
pub mod tcp;
pub mod trace;
pub mod traffic;
pub mod ue;
pub mod utran;

pub use context::Context;
pub use event_context::EventContext;
pub use options::PythonClass;
