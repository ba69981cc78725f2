//! Runs one side of a comparison for `cargo xtask perf` and prints one JSON line.
//!
//! `take INSTRUMENT SET CPU TAKES REPEATS` prepares one of our instruments as the conductor would, on one CPU,
//! and prints the value of each take in the metric's own unit; REPEATS 0 means calibrate for 50 ms.
//! `crc32c SIZE CPU PAIRS SEED` times our checksum and two crates' in turns within this process, in ns a
//! message. `kv-request ADDRESS` writes one key to a store and prints the request for it, `kv-turns ADDRESS BLOCKS CPU`
//! its round trips.
//! `logs-make` writes an access log, `logs-read` reads it as `boxscore logs` does, `logs-bare` only finds its fields.
//! `guard` ends what instruments started, when this program is gone.
//! Not counted: buffers beyond the caches, the building and the filling of arrays.

mod crc;
mod kv;
mod logs;
mod take;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["take", name, set, cpu, takes, repeats] => take::run(name, set, cpu, takes, repeats),
        ["guard"] => {
            return match instruments::workload::guard::serve(std::io::stdin(), std::io::stdout()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    eprintln!("peers: {why}");
                    ExitCode::FAILURE
                }
            };
        }
        ["crc32c", size, cpu, pairs, seed] => crc::run(size, cpu, pairs, seed),
        ["kv-request", address] => kv::request(address),
        ["kv-turns", address, blocks, cpu] => kv::turns(address, blocks, cpu),
        ["logs-make", path, lines, clients, seed] => logs::make(path, lines, clients, seed),
        ["logs-read", path, threads] => logs::ours(path, threads),
        ["logs-bare", path] => logs::bare(path),
        _ => {
            Err("take INSTRUMENT SET CPU TAKES REPEATS | crc32c SIZE CPU PAIRS SEED | kv-request ADDRESS | \
                  kv-turns ADDRESS BLOCKS CPU | logs-make PATH LINES CLIENTS SEED | logs-read PATH THREADS | \
                  logs-bare PATH"
                .into())
        }
    };
    match outcome {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}
