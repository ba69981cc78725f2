//! The CPUs of this process, and lists of them on the command line.

use model::params::{check_cpus, parse_cpus};

use crate::error::CliError;

/// The CPUs that this process may use, ascending. Fails when the kernel refuses to tell.
pub fn allowed() -> Result<Vec<usize>, CliError> {
    Ok(sys::affinity::allowed()?)
}

/// The same as the numbers that plans and children use.
pub fn numbered(allowed: &[usize]) -> Vec<u32> {
    allowed.iter().filter_map(|&cpu| u32::try_from(cpu).ok()).collect()
}

/// The CPUs of `--cpus`. Fails when it is no list.
pub fn parse(list: &str) -> Result<Vec<u32>, CliError> {
    parse_cpus(list)
        .ok_or_else(|| CliError::usage(format!("--cpus {list}: not a CPU list")).hint("write it as 0-3,8"))
}

/// The CPUs of `--cpus`, each of which is allowed. Fails when it is no list, or names another CPU.
pub fn listed(list: &str, allowed: &[usize]) -> Result<Vec<u32>, CliError> {
    let cpus = parse(list)?;
    check_cpus(&cpus, allowed).map_err(|error| CliError::no_cpu("--cpus", &error))?;
    Ok(cpus)
}
