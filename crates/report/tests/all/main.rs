//! What is printed and drawn, as agreed.

#[path = "../common/mod.rs"]
mod common;
mod decide;
mod html;
mod html_logs;
mod lengths;
mod names;
mod text;
