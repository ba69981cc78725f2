//! Studies and their generators, with toys as instruments.

mod generators;
mod study;
