//! Other machines: logins by the system's ssh, commands on many hosts, copies of files.
//!
//! It prints, stores and measures nothing: it returns what each host said, and why one did not.

mod fan_out;
pub mod private;
pub mod ssh;
pub mod stop;
