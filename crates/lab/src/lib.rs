//! Other machines: later work (its place is here).
