//! Commands of the user's beside each other: names, placeholders, what belongs to them, and what goes wrong with them.

use model::doc::{CompareDoc, RunDoc, VerdictWord};

use crate::common::{Bench, Running, Said, said};

/// Few takes: what is tested here is no speed.
const FEW: [&str; 5] = ["--takes", "3", "--sittings", "1", "--no-report"];

fn run(bench: &Bench, args: &[&str]) -> Said {
    bench.run(&[&["run"], args, &FEW[..]].concat())
}

fn shown(bench: &Bench) -> RunDoc {
    serde_json::from_str(&bench.run(&["show", "latest", "--json"]).expect(0, &[]).out).expect("a document")
}

#[track_caller]
fn refused(args: &[&str], says: &[&str]) {
    let bench = Bench::new();
    run(&bench, args).expect(2, says);
    assert!(!bench.store().exists());
}

#[test]
fn a_slower_command_is_told_first_with_its_name() {
    let args = ["run", "--cmd", "short=sleep 0.02", "--cmd", "long=sleep 0.06", "--takes", "8"];
    let measured = || {
        let bench = Bench::new();
        let said = bench.run(&args).expect(0, &[]);
        (bench, said)
    };
    let (mut bench, mut said) = measured();
    // What others do on this machine may leave it open, but not each time.
    for _ in 0..2 {
        if !said.out.contains("slower") {
            (bench, said) = measured();
        }
    }
    let first = said.out.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("`long` takes 2.") && first.contains(" times as long as `short` ("),
        "{said:#?}"
    );
    let lines = said.out.lines().count();
    assert!(lines <= 40 && said.out.lines().all(|line| line.chars().count() <= 80), "{said:#?}");
    for column in ["time ms", "user", "system", "mem MiB", "ratio", "slower"] {
        assert!(said.out.contains(column), "no {column}: {said:#?}");
    }
    let run = bench.only();
    assert_eq!(run.plan.sittings, 5);
    let again = bench.run(&["show"]).expect(0, &[]).out;
    assert_eq!(again.lines().next(), Some(first));
    let doc = shown(&bench);
    assert_eq!(doc.commands.iter().map(|one| one.arm.as_str()).collect::<Vec<_>>(), ["short", "long"]);
    let without = doc.commands[1].without_shell.as_ref().expect("a time without the shell");
    let own =
        doc.series.iter().find(|one| one.metric == "wall" && one.arm == "long").and_then(|one| one.median);
    assert!(without.seconds.is_some_and(|seconds| seconds > 0.03 && Some(seconds) < own), "{without:?}");
    assert!(said.out.contains("without it: short"), "{said:#?}");
    let compared: CompareDoc =
        serde_json::from_str(&bench.run(&["compare", "latest", "--json"]).expect(0, &[]).out).unwrap();
    let wall = compared.rows.iter().find(|row| row.metric == "wall").expect("a row of times");
    assert_eq!((wall.arm.as_str(), wall.base.as_str(), wall.verdict), ("long", "short", VerdictWord::Worse));
}

#[test]
fn the_time_of_one_command_without_its_shell_is_told_or_said_to_be_none() {
    let plain = |said: &Said| said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let bench = Bench::new();
    let slow = run(&bench, &["--cmd", "sleep 0.5"]).expect(0, &[]);
    assert!(plain(&slow).contains("the shell alone takes"), "{slow:#?}");
    let doc = &shown(&bench).commands[0];
    let without = doc.without_shell.as_ref().expect("a time without the shell");
    assert!(without.seconds.is_some_and(|seconds| seconds > 0.4), "{without:?}");
    let none = run(&bench, &["--cmd", "sleep 0.01", "--shell", "none"]).expect(0, &[]);
    assert!(!none.out.contains("the shell alone"), "{none:#?}");
    assert_eq!(shown(&bench).commands[0].without_shell, None);
    // The prepared shell is slow only while it is measured alone.
    let odd = ["--cmd", "echo", "--shell", "bash", "--env", "BASH_ENV=./slow-once"];
    std::fs::write(bench.path("slow-once"), "[ \"$BASH_EXECUTION_STRING\" ] || sleep 0.05\n").unwrap();
    let below = run(&bench, &odd).expect(0, &[]);
    assert!(plain(&below).contains("without it: below what the shell costs: cannot be told"), "{below:#?}");
    let doc = &shown(&bench).commands[0];
    assert_eq!(doc.without_shell.as_ref().expect("said").seconds, None);
}

#[test]
fn the_reference_is_the_base_whatever_the_order() {
    let bench = Bench::new();
    let args = ["--cmd", "a=sleep 0.01", "--cmd", "b=true", "--reference", "b"];
    let said = run(&bench, &args).expect(0, &[]);
    assert!(said.out.contains("`a` takes ") || said.out.contains("`a` is "), "{said:#?}");
    assert_eq!(bench.only().plan.arms[0].name, "b");
    refused(&["--cmd", "a=true", "--cmd", "b=true", "--reference", "c"], &["--reference c", "hint"]);
}

#[test]
fn arms_and_scans_fill_placeholders() {
    let bench = Bench::new();
    let command = r#"echo "level {level} {{level}} ${HOME} {a,b}""#;
    let metric = r"level=level (\d)";
    run(&bench, &["--cmd", command, "--scan", "level=1..5/2", "--metric", metric]).expect(0, &[]);
    let doc = shown(&bench);
    let value = |arm: &str| {
        let own = |one: &&model::doc::SeriesDoc| one.metric == "value" && one.arm == arm;
        doc.series.iter().find(own).and_then(|one| one.median)
    };
    assert_eq!(["level=1", "level=3", "level=5"].map(value), [Some(1.0), Some(3.0), Some(5.0)]);
    assert_eq!(doc.commands[1].run, r#"echo "level 3 {level} ${HOME} {a,b}""#);
    bench.run(&["report", "latest", "--output", "r.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("r.html")).expect("a page");
    assert!(page.contains("Wall time over level"), "no curve");

    // Without an arm that fills them, braces are what they are.
    let bench = Bench::new();
    run(&bench, &["--cmd", "echo x 7 | awk '{print}' | grep -q 7"]).expect(0, &[]);
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    refused(&["--cmd", "true", "--cmd", "true"], &["two commands are called `true`", "--cmd old="]);
    refused(&["--cmd", "a=true", "--cmd", "a=false"], &["two commands are called `a`"]);
    refused(&["--cmd", "x {a} {b}", "--arm", "a=1"], &["does not set {b}", "{{b}}"]);
    refused(&["--cmd", "x", "--arm", "a=1"], &["no command has the placeholder {a}"]);
    refused(
        &["--cmd", "a=x", "--cmd", "b=y", "--prepare", "p", "--prepare", "q", "--prepare", "r"],
        &["--prepare is given 3 times for 2 commands"],
    );
    refused(&["--cmd", "x", "--scan", "level=9..1"], &["--scan level=9..1"]);
    refused(&["--cmd", "echo 'x", "--shell", "none"], &["cannot be split into words"]);
    refused(&["--cmd", "x", "--expect", "("], &["--expect", "not valid"]);
    refused(&["--cmd", "x", "--expect", "y", "--output", "null"], &["--expect reads the output"]);
    refused(&["--cmd", "x", "--ignore-failure=a"], &["--ignore-failure=a"]);
    refused(&["--cmd", "x", "--env", "a"], &["--env a"]);
    let bench = Bench::new();
    run(&bench, &["--cmd", "a=true", "--cmd", "b=true", "--dir", "b=nowhere"]).expect(1, &["nowhere"]);
    run(&bench, &["--cmd", "true", "--input", "nothing"]).expect(1, &["--input", "nothing"]);
    assert!(!bench.store().exists());
}

#[test]
fn what_belongs_to_a_command_is_run_around_it() {
    let bench = Bench::new();
    let log = |word: &str| format!("echo {word} >> log");
    let (setup, prepare) = (log("setup"), log("prepare"));
    let (conclude, cleanup, own) = (log("conclude"), log("cleanup"), log("b=own"));
    let args = [
        "--cmd",
        "a=echo a >> log",
        "--cmd",
        "b=echo b >> log",
        "--setup",
        &setup,
        "--conclude",
        &conclude,
        "--cleanup",
        &cleanup,
        "--prepare",
        &prepare,
        "--prepare",
        &format!("b={own}"),
        "--warm",
        "0",
    ];
    run(&bench, &args).expect(0, &[]);
    let log = std::fs::read_to_string(bench.path("log")).expect("the log");
    let count = |word: &str| log.lines().filter(|line| *line == word).count();
    assert_eq!(["setup", "a", "b", "cleanup"].map(count), [2, 3, 3, 2], "{log}");
    assert_eq!(["prepare", "b=own", "conclude"].map(count), [3, 3, 6], "{log}");
    let words: Vec<&str> = log.lines().collect();
    for pair in words.windows(2).filter(|pair| pair[0] == "a" || pair[0] == "b") {
        assert_eq!(pair[1], "conclude", "{log}");
    }
    assert!(words[words.len() - 2..].iter().all(|word| *word == "cleanup"), "{log}");
}

#[test]
fn input_output_environment_and_directory_are_as_they_were_given() {
    let bench = Bench::new();
    for dir in ["old", "new"] {
        std::fs::create_dir(bench.path(dir)).unwrap();
        std::fs::write(bench.path(dir).join("n"), if dir == "old" { "7" } else { "9" }).unwrap();
    }
    let metric = r"n=n(\d+)";
    let args = ["--cmd", "echo n$(cat n)", "--dir", "old=old", "--dir", "new=new", "--metric", metric];
    run(&bench, &args).expect(0, &[]);
    let doc = shown(&bench);
    let value =
        |arm: &str| doc.series.iter().find(|one| one.metric == "value" && one.arm == arm).unwrap().median;
    assert_eq!((value("old"), value("new")), (Some(7.0), Some(9.0)));

    std::fs::write(bench.path("in"), "five").unwrap();
    let args = [
        "--cmd",
        r#"[ "$(cat)$K" = five6 ] && echo done"#,
        "--input",
        "in",
        "--env",
        "K=6",
        "--expect",
        "^done",
    ];
    run(&bench, &args).expect(0, &[]);
    run(&bench, &["--cmd", "echo kept", "--output", "file"]).expect(0, &[]);
    let kept = std::fs::read_to_string(bench.path("file")).expect("its output");
    assert_eq!(kept, "kept\n");
    run(&bench, &["--cmd", "bash -c 'exit 0'", "--shell", "none", "--output", "null"]).expect(0, &[]);
    run(&bench, &["--cmd", "[[ x == x ]]", "--shell", "bash"]).expect(0, &[]);
}

#[test]
fn exit_status_and_output_are_checked() {
    let bench = Bench::new();
    run(&bench, &["--cmd", "exit 3"]).expect(3, &["exit status: 3"]);
    run(&bench, &["--cmd", "exit 3", "--ignore-failure=3,4"]).expect(0, &[]);
    run(&bench, &["--cmd", "exit 5", "--ignore-failure=3,4"]).expect(3, &["exit status: 5"]);
    run(&bench, &["--cmd", "exit 5", "-i"]).expect(0, &[]);
    run(&bench, &["--cmd", "echo no", "--expect", "yes"]).expect(3, &["does not match `yes`", "no"]);
}

#[test]
fn a_command_that_is_not_there_is_named_with_its_arm() {
    for shell in ["sh", "none"] {
        let bench = Bench::new();
        let args = ["--cmd", "good=true", "--cmd", "bad=/no/such/program", "--shell", shell];
        let said = run(&bench, &args);
        assert!(said.err.contains("the command `bad`") && said.err.contains("/no/such/program"), "{said:#?}");
        let doc = shown_of(&bench);
        assert!(doc.series.iter().any(|one| one.arm == "good" && one.n == 3), "{doc:?}");
        let row = said.out.lines().find(|line| line.starts_with("bad")).expect("its row");
        assert!(row.ends_with("failed"), "{said:#?}");
    }
}

/// The run of the store, whatever became of it.
fn shown_of(bench: &Bench) -> RunDoc {
    let id = bench.only().head.id;
    serde_json::from_str(&bench.run(&["show", &id, "--json"]).expect(0, &[]).out).expect("a document")
}

#[test]
fn an_arm_that_fails_half_of_its_takes_keeps_the_others() {
    let bench = Bench::new();
    let flaky = "flaky=if [ -e on ]; then rm on; exit 1; else touch on; fi";
    let args =
        ["run", "--cmd", "good=true", "--cmd", flaky, "--takes", "8", "--sittings", "1", "--no-report"];
    let said = bench.run(&args);
    assert!(said.err.contains("the command `flaky` ended with exit status: 1"), "{said:#?}");
    let doc = shown_of(&bench);
    let of = |arm: &str| doc.series.iter().find(|one| one.metric == "wall" && one.arm == arm).unwrap();
    assert_eq!((of("good").n, of("flaky").n, of("flaky").faults), (8, 4, 4));
}

#[test]
fn children_that_are_left_behind_are_ended_and_it_is_said() {
    let bench = Bench::new();
    let said = run(&bench, &["--cmd", "a=sleep 500 & echo $! > pid", "--cmd", "b=true"]).expect(0, &[]);
    assert!(said.out.contains("left processes behind"), "{said:#?}");
    let pid = std::fs::read_to_string(bench.path("pid")).unwrap().trim().parse().unwrap();
    crate::common::assert_gone(pid);
    // A daemon is in a session of its own; what has ended by itself is no work left behind.
    let bench = Bench::new();
    let daemon = "a=setsid sh -c 'echo $$ > pid; sleep 500 & wait' & sleep 0.1";
    let said = run(&bench, &["--cmd", daemon, "--cmd", "b=true & sleep 0.05"]).expect(0, &[]);
    assert!(said.out.contains("`a` left processes behind"), "{said:#?}");
    assert!(!said.out.contains("`b` left processes behind"), "{said:#?}");
    let pid = std::fs::read_to_string(bench.path("pid")).unwrap().trim().parse().unwrap();
    crate::common::assert_gone(pid);
}

#[test]
fn a_flood_of_output_a_wait_for_input_and_no_end_are_all_survived() {
    let bench = Bench::new();
    let flood = "flood=head -c 300000000 /dev/zero";
    let said = run(&bench, &["--cmd", flood, "--cmd", "waits=cat", "--warm", "0"]).expect(0, &[]);
    assert!(said.out.contains("waits"), "{said:#?}");
    let bench = Bench::new();
    let args = ["--cmd", "ends=true", "--cmd", "never=sleep 1000", "--set", "timeout=1", "--warm", "0"];
    run(&bench, &args).expect(3, &["the command `never` did not end within 1 s and was killed"]);
}

/// A repository of two commits whose programs differ.
fn repository(bench: &Bench) {
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        let names = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let done = said(command.current_dir(bench.dir.path().join("repo")).args(names).args(words));
        assert_eq!(done.code, Some(0), "{done:#?}");
    };
    std::fs::create_dir(bench.path("repo")).unwrap();
    git(&["init", "--quiet"]);
    for (tag, text) in [("one", "echo n1"), ("two", "echo n2")] {
        std::fs::write(bench.path("repo").join("prog.in"), text).unwrap();
        git(&["add", "prog.in"]);
        git(&["commit", "--quiet", "-m", tag]);
        git(&["tag", tag]);
    }
}

#[test]
fn revisions_are_built_beside_each_other_and_their_trees_are_removed() {
    let bench = Bench::new();
    repository(&bench);
    std::fs::write(bench.path("repo").join("prog.in"), "changed").unwrap();
    let metric = r"n=n(\d)";
    let args = ["--cmd", "sh ./prog", "--git", "one..two", "--build", "cp prog.in prog", "--metric", metric];
    let args = [&args[..], &["--dir", "repo"]].concat();
    let said = run(&bench, &args).expect(0, &["differs from its commit in 1 file", "building one"]);
    assert!(said.out.contains("two"), "{said:#?}");
    let doc = shown(&bench);
    let value =
        |arm: &str| doc.series.iter().find(|one| one.metric == "value" && one.arm == arm).unwrap().median;
    assert_eq!((value("one"), value("two")), (Some(1.0), Some(2.0)));
    let left = |bench: &Bench| {
        let names = std::fs::read_dir(bench.dir.path()).unwrap().map(|one| one.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("boxscore-git-")).count()
    };
    assert_eq!(left(&bench), 0);
    let text = std::fs::read_to_string(bench.path("repo").join("prog.in")).unwrap();
    assert_eq!(text, "changed");

    let failing = ["--cmd", "x", "--git", "one..two", "--build", "echo broken >&2; exit 1", "--dir", "repo"];
    run(&bench, &failing).expect(1, &["--build at one", "broken"]);
    run(&bench, &["--cmd", "x", "--git", "one..none", "--dir", "repo"])
        .expect(1, &["no revision is called none"]);
    assert_eq!(left(&bench), 0);
}

#[test]
fn a_run_of_revisions_is_resumed_with_the_same_commits_or_says_what_is_gone() {
    let bench = Bench::new();
    repository(&bench);
    let builder = bench.path("builder");
    std::fs::write(&builder, "sleep 0.01; cp prog.in prog").unwrap();
    let build = format!("sh {}", builder.display());
    let args = ["run", "--cmd", "sleep 0.05; sh ./prog", "--git", "one..two", "--build", &build];
    let more = ["--metric", r"n=n(\d)", "--dir", "repo", "--takes", "20", "--no-report", "--show-takes"];
    let mut running = Running::start(bench.command(&[&args[..], &more].concat()));
    assert!(running.until("stored take 5"), "{:?}", running.heard);
    running.signal("KILL");
    running.end();
    assert!(bench.only().takes.len() < 40);
    let resume = || bench.run(&["resume"]);

    std::fs::rename(bench.path("repo"), bench.path("moved")).unwrap();
    resume().expect(1, &["the repository", "is gone"]);
    std::fs::rename(bench.path("moved"), bench.path("repo")).unwrap();
    std::fs::rename(&builder, bench.path("away")).unwrap();
    resume().expect(1, &["--build at one", "builder"]);
    std::fs::rename(bench.path("away"), &builder).unwrap();
    assert!(bench.only().takes.len() < 40);

    // A tag that has moved since is not what was measured.
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        said(command.current_dir(bench.path("repo")).args(words)).expect(0, &[]);
    };
    git(&["tag", "--force", "one", "two"]);
    resume().expect(0, &["building one", "building two"]);
    let doc = shown(&bench);
    for (arm, number) in [("one", 1.0), ("two", 2.0)] {
        let series = doc.series.iter().find(|one| one.metric == "value" && one.arm == arm).unwrap();
        assert_eq!((series.n, series.median), (20, Some(number)), "{arm}");
    }
    let names = std::fs::read_dir(bench.dir.path()).unwrap().map(|one| one.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with("boxscore-git-")));
    // The plan is repeated from its commits too.
    let again = ["run", "--plan", "latest", "--no-report"];
    bench.run(&again).expect(0, &["building one"]);
}

#[test]
fn the_first_slower_commit_of_a_series_is_named() {
    let bench = Bench::new();
    repository(&bench);
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        let names = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let done = said(command.current_dir(bench.path("repo")).args(names).args(words));
        assert_eq!(done.code, Some(0), "{done:#?}");
    };
    for (at, pause) in ["0.01", "0.01", "0.2", "0.2"].iter().enumerate() {
        std::fs::write(bench.path("repo").join("prog.in"), format!("sleep {pause} # {at}")).unwrap();
        git(&["commit", "--quiet", "-am", &format!("change {at}")]);
    }
    git(&["tag", "end"]);
    let args = ["--cmd", "sh ./prog.in", "--git", "two..end", "--bisect", "--dir", "repo", "--warm", "0"];
    let said =
        bench.run(&[&["run"], &args[..], &["--takes", "6", "--sittings", "3"]].concat()).expect(0, &[]);
    assert!(
        said.out.starts_with("the first slower commit is ") && said.out.contains("(change 2)"),
        "{said:#?}"
    );
    assert!(said.out.contains("times as long as `two`"), "{said:#?}");
    // A time that other work hardly moves.
    let args = ["--cmd", "sleep 0.1", "--git", "one..two", "--bisect", "--dir", "repo", "--takes", "3"];
    let same = bench.run(&[&["run"], &args[..]].concat()).expect(0, &[]).out;
    assert!(same.starts_with("nothing to look for"), "{same}");
}

/// The right-hand commands of the table for users of hyperfine are understood; planted worlds measure nothing.
#[test]
fn the_commands_of_the_table_for_users_of_hyperfine_are_understood() {
    let table = include_str!("../../../../docs/coming-from.md");
    let rows = table.lines().filter(|line| line.starts_with("| `hyperfine"));
    let mut checked = 0;
    let bench = Bench::new();
    std::fs::write(bench.path("in.txt"), "x").unwrap();
    for row in rows {
        let right = row.split(" | ").nth(1).expect("two columns").trim_start_matches('`');
        let command = right.split('`').next().expect("a command").split(" > ").next().unwrap_or_default();
        let words = command.strip_prefix("boxscore ").unwrap_or_else(|| panic!("{row}"));
        let line = format!("{} {words} --fake world.json --seed 1", crate::common::PROGRAM);
        let mut shell = std::process::Command::new("sh");
        bench.settle(&mut shell);
        let done = said(shell.arg("-c").arg(&line));
        assert_eq!(done.code, Some(0), "{row}\n{done:#?}");
        checked += 1;
    }
    assert!(checked >= 20, "{checked}");
}

#[test]
fn a_command_that_changes_its_working_tree_is_told() {
    let bench = Bench::new();
    repository(&bench);
    let args = ["--cmd", "a=echo x >> prog.in", "--cmd", "b=true", "--dir", "repo"];
    let said = run(&bench, &args).expect(0, &[]);
    assert!(said.out.contains("the command `a` changes its working tree"), "{said:#?}");
    // So it is where no directory is named.
    let line = format!("cd repo && {} run --cmd 'echo x >> other' {}", crate::common::PROGRAM, FEW.join(" "));
    let mut shell = std::process::Command::new("sh");
    bench.settle(&mut shell);
    let said = crate::common::said(shell.arg("-c").arg(&line)).expect(0, &[]);
    assert!(said.out.contains("changes its working tree"), "{said:#?}");
}

/// A program of four object files, and a make that links them.
fn objects(dir: &std::path::Path) {
    for name in ["one", "two", "three", "four"] {
        std::fs::write(dir.join(format!("{name}.c")), format!("int {name}(int x) {{ return x + 1; }}\n"))
            .unwrap();
    }
    let calls = "int one(int), two(int), three(int), four(int);\n\
                 int main(void) { return one(two(three(four(-4)))); }\n";
    std::fs::write(dir.join("main.c"), calls).unwrap();
    let make = "prog: one.o two.o three.o four.o main.o\n\tcc -o prog one.o two.o three.o four.o main.o\n\
                \tnm -n prog | grep -wE 'T (one|two|three|four)' | tr -d '\\n' >> orders; echo >> orders\n";
    std::fs::write(dir.join("Makefile"), make).unwrap();
}

#[test]
fn each_sitting_links_in_an_order_of_its_own() {
    let bench = Bench::new();
    let dir = bench.path("src");
    std::fs::create_dir(&dir).unwrap();
    objects(&dir);
    let path = dir.display().to_string();
    let build = ["--dir", &path, "--build", "make clean 2>/dev/null; rm -f prog; make", "--shuffle-link"];
    let study =
        [&["run", "--cmd", "a=./prog", "--cmd", "b=./prog", "--takes", "8", "--no-report"], &build[..]]
            .concat();
    let said = bench.run(&study).expect(0, &[]);
    // By chance takes of other sittings differ or not, and it is told accordingly.
    let told = ["another size and another order of object files", "environments of other sizes and links"];
    let whole = said_whole(&said.out);
    assert!(told.iter().any(|text| whole.contains(text)), "{said:#?}");
    let doc = shown(&bench);
    assert!(doc.commands.iter().all(|one| one.relinked), "{said:#?}");
    let text = bench.run(&["show", "latest", "--all"]).expect(0, &[]).out;
    assert!(said_whole(&text).contains("with its 5 object files in another order"), "{text}");
    let orders = std::fs::read_to_string(dir.join("orders")).expect("orders of links");
    let unlike: std::collections::BTreeSet<String> = orders
        .lines()
        .map(|line| line.split(['T', ' ']).filter(|word| word.chars().all(char::is_alphabetic)).collect())
        .collect();
    // Two commands share what is built in their directory; five sittings, of 24 orders.
    assert!(orders.lines().count() == 5 && unlike.len() > 1, "{orders}");
    // What is not linked anew, or fails, is no measurement.
    let once = ["--dir", &path, "--build", "true", "--shuffle-link"];
    run(&bench, &[&["--cmd", "./prog"], &once[..]].concat())
        .expect(1, &["linked nothing", "make clean && make"]);
    let wrong = ["--dir", &path, "--build", "rm -f prog; cc -o prog missing.o", "--shuffle-link"];
    run(&bench, &[&["--cmd", "./prog"], &wrong[..]].concat()).expect(1, &["missing.o"]);
    refused(&["--cmd", "./prog", "--build", "make"], &["--git", "--setup"]);
}

/// A screen's text without its line breaks.
fn said_whole(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
