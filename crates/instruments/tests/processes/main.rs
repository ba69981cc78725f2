//! Real guards, servers and stores. This program is its own guard when called with `guard`, the built-in server when
//! called with `serve-builtin`, and more that its modules say.
//!
//! Each case runs in a process of its own, as many at once as there are CPUs (`RUST_TEST_THREADS` sets it): what a case
//! counts among its children, or plants in its environment, is its own. A word of the command line is a part of the
//! names of the cases to run.

mod guarded;
mod limits;
mod perftest;
mod power;
mod ramcloud;
mod servers;
mod sheet;
mod stores;
mod web;

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use instruments::workload::guard;
use instruments::workload::server::builtin;
use instruments::workload::store_server::StoreKind;

type Case = (&'static str, fn());

macro_rules! cases {
    ($($module:ident: $($name:ident)*;)*) => {
        &[$($((concat!(stringify!($module), "::", stringify!($name)), $module::$name as fn())),*),*]
    };
}

const CASES: &[Case] = cases! {
    guarded:
        a_killed_parent_leaves_nothing_behind
        a_dead_guard_is_replaced
        commands_are_measured
        failures_say_why
        nothing_outlives_end_all;
    limits:
        what_does_not_fit_is_read_again
        a_cold_cache_is_proven_by_the_disk
        memory_is_never_cold
        queues_that_are_too_short_are_named
        a_server_that_may_open_too_few_files_is_named;
    perftest:
        again_with_the_stand_ins;
    power:
        a_command_is_read_each_second_in_order
        a_command_without_watts_fails_the_take
        a_slow_command_has_fewer_readings
        what_fails_in_the_take_ends_its_readings;
    ramcloud:
        everything;
    servers:
        every_server_is_installed
        every_file_arrives_unchanged
        servers_run_as_and_where_they_should
        a_killed_owner_leaves_nothing_behind
        taken_ports_are_passed_by
        programs_that_are_no_server_are_named
        options_change_the_server
        processes_are_found_from_outside
        many_connections_are_held
        a_folder_that_the_server_cannot_reach_is_not_used
        without_rights_it_works_too
        memory_is_limited;
    stores:
        stores_are_installed
        stores_start_and_end
        stores_run_as_and_where_they_should
        replicas_copy_what_is_written
        a_replica_that_ends_or_stops_is_named
        a_killed_owner_leaves_nothing_behind
        taken_ports_are_passed_by
        programs_that_are_no_store_are_named
        options_change_the_store
        loads_read_and_write_and_leave_nothing
        what_does_not_fit_is_told;
    web:
        every_server_is_loaded_and_seen
        equal_setups_share_a_server
        an_open_loop_asks_for_its_share
        a_mix_is_asked_for_by_weight
        a_server_that_dies_is_a_fault_and_comes_back
        a_goal_is_searched
        a_server_listens_where_it_is_told_to;
};

fn main() -> ExitCode {
    guard::set_program("/proc/self/exe");
    let words: Vec<String> = std::env::args().collect();
    if let Some(code) = perftest::acted(&words) {
        return code;
    }
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["guard"] => guard::serve(std::io::stdin(), std::io::stdout()).unwrap(),
        [builtin::ARGUMENT] => {
            if let Err(why) = builtin::serve(std::io::stdin(), std::io::stdout()) {
                let _ = writeln!(std::io::stderr(), "{why}");
                return ExitCode::FAILURE;
            }
        }
        ["victim"] => guarded::victim(),
        ["inner"] => perftest::inner(),
        ["case", name, library] => ramcloud::case(name, library),
        ["owner", which, dir] => servers::owner(which.parse().unwrap(), Path::new(dir)),
        ["limited-owner", dir] => servers::limited_owner(Path::new(dir)),
        ["plain", dir] => servers::plain(Path::new(dir)),
        ["store-owner", kind, dir] => stores::owner(StoreKind::parse(kind).unwrap(), Path::new(dir)),
        ["alone", name] => CASES.iter().find(|case| case.0 == *name).unwrap().1(),
        _ if words.contains(&"--list") => {}
        parts => return all(parts),
    }
    ExitCode::SUCCESS
}

/// Runs the cases that have one of these parts in their names; without parts, all.
fn all(parts: &[&str]) -> ExitCode {
    let parts: Vec<&str> = parts.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let wanted = |case: &&Case| parts.is_empty() || parts.iter().any(|part| case.0.contains(part));
    let cases: Vec<&Case> = CASES.iter().filter(wanted).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let given = std::env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok());
    let threads = given.or(std::thread::available_parallelism().ok()).map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, _)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let output = Command::new("/proc/self/exe").args(["alone", name]).output().unwrap();
                    // One at a time, so that lines stay whole.
                    let mut failed = failed.lock().unwrap();
                    if !told(name, start.elapsed().as_secs_f64(), &output) {
                        failed.push((name, output));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    let mut out = std::io::stdout();
    // As cargo's own tests end, so that whatever reads their results reads these.
    if !failed.is_empty() {
        writeln!(out, "\nfailures:\n").unwrap();
    }
    for (name, output) in &failed {
        writeln!(out, "---- {name} ----").unwrap();
        out.write_all(&output.stdout).unwrap();
        out.write_all(&output.stderr).unwrap();
    }
    let ended = if failed.is_empty() { "ok" } else { "FAILED" };
    let passed = cases.len() - failed.len();
    writeln!(out, "\ntest result: {ended}. {passed} passed; {} failed\n", failed.len()).unwrap();
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints how a case ended, with its output where it was not tested. That of a failed one stands at the end.
fn told(name: &str, seconds: f64, output: &Output) -> bool {
    let (mut out, passed) = (std::io::stdout(), output.status.success());
    let how = if passed { "ok" } else { "FAILED" };
    writeln!(out, "test {name} ... {how} ({seconds:.1} s)").unwrap();
    for part in [&output.stdout, &output.stderr] {
        if passed && part.starts_with(b"not tested") {
            out.write_all(part).unwrap();
        }
    }
    passed
}
