//! Many hosts by the system's ssh: logins, commands, copies of files.
//!
//! For each host: use the connection that is open ([`sockets`]), else log in and leave one open ([`login`]); run the
//! command over it ([`mux`], [`session`]); say what came of it ([`command::Outcome`]) or what went wrong ([`failure`]).
//! Times are seconds, sizes are bytes.

pub mod check;
pub mod command;
pub mod content;
pub mod copy;
mod failure;
pub mod fold;
mod host;
pub mod install;
mod log;
mod login;
mod mux;
mod sent;
mod session;
mod sockets;

pub use command::{Exit, Outcome};
pub(crate) use failure::printable;
pub use failure::{Failure, Stage};
pub use host::{BadHost, Host};
pub use login::{Options, arguments, session_arguments};
pub use sent::{Sent, Way};
pub use session::Output;
pub use sockets::Sockets;
