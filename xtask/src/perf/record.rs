//! One JSON line a commit in docs/perf/YYYY-MM.jsonl; a second run on a commit adds to its line and
//! replaces what it measured again.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::memory;
use super::options::Options;
use super::pairs::{Outcome, kept};
use crate::shell;

pub fn append(options: &Options, outcome: &Outcome) -> Result<()> {
    if options.dry {
        println!("--dry: nothing kept");
        return Ok(());
    }
    let word = |program: &str, args: &[&str]| -> Result<String> {
        Ok(shell::output(program, args)?.trim().to_owned())
    };
    let dirty = !word("git", &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    let commit = format!("{}{}", word("git", &["rev-parse", "HEAD"])?, if dirty { "+changes" } else { "" });
    let date = word("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"])?;
    let month = date.get(..7).context("date printed something else")?;
    let folder = shell::root().join("docs/perf");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{month}.jsonl"));
    let machine = json!({
        "cpu": memory::cpu_model(),
        "cpus": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "kernel": word("uname", &["-r"])?,
        "pinned_to": options.cpu,
        "array_mib": memory::size(options),
    });
    let line = json!({
        "commit": commit,
        "date": date,
        "machine": machine,
        "comparisons": outcome.comparisons.iter().map(kept).collect::<Vec<_>>(),
        "limits": outcome.limits.iter().map(super::pairs::Limit::kept).collect::<Vec<_>>(),
        "skipped": outcome.skipped,
    });
    let before = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
    fs::write(&path, merged(&before, line)?)?;
    println!("kept in {}", path.display());
    Ok(())
}

/// The file with `line` in it, one line a commit.
fn merged(before: &str, mut line: Value) -> Result<String> {
    let mut out = String::new();
    for old in before.lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(old).context("a line of docs/perf is not JSON")?;
        if value["commit"] == line["commit"] {
            for list in ["comparisons", "limits"] {
                line[list] = together(&value[list], &line[list]);
            }
        } else {
            out.push_str(old);
            out.push('\n');
        }
    }
    out.push_str(&line.to_string());
    out.push('\n');
    Ok(out)
}

/// Both lists; of what is in both, the new one.
fn together(old: &Value, new: &Value) -> Value {
    let key = |entry: &Value| format!("{} | {}", entry["what"], entry["peer"]);
    let mut all = Map::new();
    for entry in [old, new].into_iter().filter_map(Value::as_array).flatten() {
        all.insert(key(entry), entry.clone());
    }
    Value::Array(all.into_iter().map(|(_, entry)| entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_has_one_line() {
        let entry = |what: &str, ratio: f64| json!({"what": what, "peer": "p", "ratio": ratio});
        let line = |commit: &str, list: Vec<Value>| json!({"commit": commit, "comparisons": list, "limits": [], "skipped": []});
        let first = merged("", line("a", vec![entry("x", 1.0), entry("y", 1.0)])).unwrap();
        let second = merged(&first, line("b", vec![entry("x", 2.0)])).unwrap();
        let third = merged(&second, line("b", vec![entry("x", 3.0), entry("z", 1.0)])).unwrap();
        assert_eq!(third.lines().count(), 2);
        let last: Value = serde_json::from_str(third.lines().last().unwrap()).unwrap();
        let all = last["comparisons"].as_array().unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0]["ratio"], 3.0);
        assert!(merged("junk\n", line("a", vec![])).is_err());
    }
}
