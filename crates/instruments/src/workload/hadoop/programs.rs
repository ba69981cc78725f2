//! Programs of Hadoop's that are run as clients, and the cause of a failure by what one says.
//!
//! Pure.

/// The programs of Hadoop that are run.
pub const EXAMPLES: &str = "org.apache.hadoop.examples.ExampleDriver";
pub const DFSIO: &str = "org.apache.hadoop.fs.TestDFSIO";
/// Its commands for files.
pub const SHELL: &str = "org.apache.hadoop.fs.FsShell";
pub const CHECKSUM: &str = "org.apache.hadoop.examples.terasort.TeraChecksum";
/// The cause of a failed job in its client's log: the error of a task, else the state of the job, else what was
/// thrown.
pub fn cause(log: &str) -> Option<String> {
    const FAILED: &str = " failed with state ";
    let lines: Vec<&str> = log.lines().map(str::trim).collect();
    let state = lines.iter().find_map(|line| Some(line.split_once(FAILED)?.1));
    // A job that ran in its client alone says no more than that.
    let state = state.filter(|state| !state.ends_with("due to: NA"));
    // Why a task failed stands before the state of its job, below the line that names the attempt.
    let attempt = lines.iter().position(|line| line.ends_with("Status : FAILED")).map_or(0, |at| at + 1);
    let is_why = |line: &&str| line.starts_with("Error: ") || (attempt > 0 && !line.is_empty());
    let why = lines[attempt..].iter().position(is_why).map(|at| attempt + at);
    let error = why.filter(|at| !lines[*at].contains(" INFO ")).map(|at| innermost(&lines[at..]));
    let thrown = lines.iter().position(|line| {
        !line.starts_with("at ")
            && line.contains("Exception: ")
            && !line.contains(" INFO ")
            && !line.contains(" WARN ")
    });
    let thrown = thrown.map(|at| innermost(&lines[at..]));
    let text = match (error, state, thrown) {
        (Some(error), ..) => format!("a task says: {error}"),
        (None, Some(state), _) => format!("its job ended in the state {state}"),
        (None, None, Some(thrown)) => thrown.to_owned(),
        (None, None, None) => return None,
    };
    Some(text.chars().take(300).collect())
}

/// The last cause of the stack that the first of these lines begins, else what that line says. Java wraps a cause in
/// one that says more and ends with it: then that one.
fn innermost<'a>(lines: &[&'a str]) -> &'a str {
    const CAUSE: &str = "Caused by: ";
    let is_of_stack = |line: &&&str| [CAUSE, "at ", "... "].iter().any(|begin| line.starts_with(begin));
    let first = lines.first().map(|line| line.strip_prefix("Error: ").unwrap_or(line));
    let stack = lines.iter().skip(1).take_while(is_of_stack);
    let causes: Vec<&str> =
        first.into_iter().chain(stack.filter_map(|line| line.strip_prefix(CAUSE))).collect();
    let says = |cause: &str| cause.split_once(": ").map_or("", |(_, says)| says).to_owned();
    let mut all = causes.into_iter().rev();
    let last = all.next().unwrap_or_default();
    all.next().filter(|above| !says(last).is_empty() && above.ends_with(&says(last))).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_in_hadoops_words() {
        let heap = "1 INFO mapreduce.Job: Task Id : attempt_1_m_000000_0, Status : FAILED\nError: Java heap space\n\
                    1 INFO mapreduce.Job: Job job_1 failed with state FAILED due to: Task failed task_1_m_000000\n";
        assert_eq!(cause(heap).as_deref(), Some("a task says: Java heap space"));
        let program = "Error: java.lang.RuntimeException: Error in configuring object\n\tat a\n\
                       Caused by: java.lang.RuntimeException: configuration exception\n\tat b\n\t... 9 more\n\
                       Caused by: java.io.IOException: Cannot run program \"./x\": error=13, Permission denied\n\
                       \tat c\nCaused by: java.io.IOException: error=13, Permission denied\n\tat d\n\
                       1 INFO mapreduce.Job: Task Id : a\nCaused by: another\n";
        assert_eq!(
            cause(program).as_deref(),
            Some("a task says: java.io.IOException: Cannot run program \"./x\": error=13, Permission denied")
        );
        let late = "1 INFO mapreduce.Job: Task Id : attempt_1_m_000000_0, Status : FAILED\n\
                    [2026-11-27 14:01:02.003]AttemptID:attempt_1_m_000000_0 Timed out after 20 secs\n\
                    1 INFO mapreduce.Job: Job job_1 failed with state FAILED due to: Task failed task_1_m_000000\n";
        assert!(cause(late).unwrap().ends_with("Timed out after 20 secs"), "{:?}", cause(late));
        let am =
            "1 INFO mapreduce.Job: Job job_1 failed with state FAILED due to: Application failed 2 times\n";
        assert_eq!(
            cause(am).as_deref(),
            Some("its job ended in the state FAILED due to: Application failed 2 times")
        );
        let there = "org.apache.hadoop.mapred.FileAlreadyExistsException: Output directory hdfs://m/x already exists\n\tat a\n";
        assert!(cause(there).unwrap().contains("already exists"));
        let alone = "1 WARN mapred.LocalJobRunner: job_local1_0001\n\
                     java.lang.Exception: java.lang.OutOfMemoryError: Java heap space\n\tat a\n\
                     1 INFO mapreduce.Job: Job job_local1_0001 failed with state FAILED due to: NA\n";
        assert_eq!(
            cause(alone).as_deref(),
            Some("java.lang.Exception: java.lang.OutOfMemoryError: Java heap space")
        );
        assert_eq!(cause("1 INFO a: b\n"), None);
    }
}
