//! Names of the kernel's counters of what it dropped, refused or sent again: what a load reads and a verdict explains.

pub const LISTEN_OVERFLOW: &str = "listen-overflow";
pub const LISTEN_DROP: &str = "listen-drop";
pub const BACKLOG_DROP: &str = "backlog-drop";
pub const TIME_WAIT_OVERFLOW: &str = "time-wait-overflow";
pub const SYN_COOKIES: &str = "syn-cookies";
pub const RETRANSMITS: &str = "retransmits";
/// Segments sent again for nothing: the other end had them already and said so (DSACK).
pub const SPURIOUS: &str = "spurious-retransmits";
/// First packets of connections that were sent again; they are among the retransmits.
pub const SYN_RETRANSMITS: &str = "syn-retransmits";
/// Of retransmits on the loopback, where none is lost; made of the counters above.
pub const LATE_ACKS: &str = "late-acknowledgements";
pub const RESETS: &str = "resets";
pub const SOFTNET_DROP: &str = "softnet-drop";
