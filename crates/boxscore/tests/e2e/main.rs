//! The program end to end, each verb or topic in a file of its own.

mod common;

mod aa;
mod compare;
mod doctor;
mod export;
mod faults;
mod from;
mod frozen;
mod history;
mod import;
mod inspect;
mod interrupt;
mod kv;
mod kv_load;
mod kv_login;
mod load;
mod logs;
mod logs_kept;
mod mix;
mod net;
mod net_far;
mod note;
mod ramcloud;
mod remove;
mod resume;
mod run;
mod runtime;
mod serve;
mod show;
mod silent;
mod soak;
mod study;
mod via;
mod web;
