//! The modelled network, sans-IO, in the order in which a downlink byte meets it.
//!
//! ```text
//! traffic → tcp → hosts → core_network → access (rnc → nodeb → radio → ue)
//! ```
//!
//! A protocol entity is a plain struct without clock, socket, callback or global: it is told the time through
//! [`Context`], takes inputs (`handle_*`), returns outputs (`poll_*`) and says when it next wants to be called
//! (`poll_timeout`). `radio` holds the machines that both ends of the air interface share; `rnc`, `nodeb` and `ue` hold
//! what only that node decides.
//!
//! Options are enums beside the configuration that they belong to. With the feature `schema` they are the words of
//! scenario files: serde spells them, and their sentences are those of the reference and of the JSON Schema.

pub mod context;
pub mod core_network;
pub mod detail;
pub mod environment;
pub mod event;
pub mod event_context;
pub mod hosts;
pub mod ids;
pub mod network;
pub mod nodeb;
pub mod packet;
pub mod path;
pub mod proxy;
pub mod radio;
pub mod rnc;
pub mod tcp;
pub mod trace;
pub mod traffic;
pub mod ue;
pub mod utran;

pub use context::Context;
pub use event_context::EventContext;
