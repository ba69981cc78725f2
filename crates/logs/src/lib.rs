//! Access logs: later work (its place is here).
