//! `boxscore run`: plans, measures in the agent child, stores take by take, then shows the box score. The options of
//! families are those of the cards.

use std::path::PathBuf;

use clap::Command;
use model::power::TYPED_FLAG;
use model::{Card, Example, Family};

use crate::cli::Layout;
use crate::cli::commands::{self, CommandArgs};
use crate::cli::costs::CostArgs;
use crate::cli::flags::{self, Given};
use crate::cli::lab::on::{self, OnArgs};
use crate::cli::targets::TargetArgs;
use crate::study::quiet::WaitIdle;

/// Examples that belong to no family.
const EXAMPLES: [&Example; 9] = [
    &Example::new("boxscore run --quick", "the headline set, in at most 2 minutes"),
    &Example::new("boxscore run cpu", "one family, every variant"),
    &Example::new("boxscore run crc32c --set impl=chain", "one with a fixed parameter"),
    &Example::new(
        "boxscore run mem-bandwidth --arm store=temporal --arm store=streaming",
        "an interleaved study of two arms, with verdicts",
    ),
    &Example::new(
        "boxscore run --via big='ssh big ./boxscore' --via small='ssh small ./boxscore'",
        "an interleaved study of two machines",
    ),
    &Example::new("boxscore run --cmd old=./a --cmd new=./b", "is my new build faster?"),
    &Example::new("boxscore run --soak 10m", "what lasts, beside the level at first"),
    &Example::new("boxscore run telemetry --for 24h", "record, and load nothing"),
    &Example::new("boxscore run --plan latest", "the last run once more"),
];

/// The options of every verb that measures this machine by the plan of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Usual {
    /// Instruments or families (see `boxscore list`); none: the headline set
    #[arg(value_name = "NAME|FAMILY")]
    pub names: Vec<String>,
    /// The headline set in at most 2 minutes, or the named instruments in at most 3 (goals and jobs: 5)
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Everything: every size, thread count and sweep, also in a study of --arm
    #[arg(long)]
    pub full: bool,
    /// Exactly N measured takes of each figure
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub takes: Option<u32>,
    /// Prepare everything anew this often, with takes spread over it [default: 5; 3 with --quick; 1 with
    /// one --cmd]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sittings: Option<u32>,
    /// End the run after this long (90s, 10m, 24h) [default: 2m with --quick, no end with --full, --cmd or --takes,
    /// else 10m]
    #[arg(long = "for", value_name = "DURATION")]
    pub span: Option<String>,
    /// Fix a parameter (k=v or instrument.k=v; k=v|w for some of its words); repeatable
    #[arg(long = "set", value_name = "K=V")]
    pub sets: Vec<String>,
    /// Use only these CPUs (0-3,8)
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Measure nothing: draw every value from this planted world
    #[arg(long, value_name = "FILE")]
    pub fake: Option<PathBuf>,
    /// Seed of the order of takes [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Label that `compare` and `show` accept
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    #[command(flatten)]
    pub wait: WaitIdle,
}

impl Usual {
    /// The options that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let Usual { names: _, quick, full, takes, sittings, span, sets, cpus, fake, seed, label, wait } =
            self;
        let all = [
            ("--quick", *quick),
            ("--full", *full),
            ("--takes", takes.is_some()),
            ("--sittings", sittings.is_some()),
            ("--for", span.is_some()),
            ("--set", !sets.is_empty()),
            ("--cpus", cpus.is_some()),
            ("--fake", fake.is_some()),
            ("--seed", seed.is_some()),
            ("--label", label.is_some()),
            ("--wait-idle", wait.wait_idle.is_some()),
        ];
        all.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub usual: Usual,
    /// All cores, memory, disk and loopback again and again for this long (10m): which level lasts
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["names", "quick", "full", "cmds", "takes", "sittings",
        "span", "within", "arms", "scans", "targets"])]
    pub soak: Option<String>,
    /// Stop a figure early when its interval is within this of the median
    #[arg(long, value_name = "PERCENT")]
    pub within: Option<String>,
    #[command(flatten)]
    pub on: TargetArgs,
    /// One arm of a study: parameters laid over the others; repeatable
    #[arg(long = "arm", value_name = "K=V,...")]
    pub arms: Vec<String>,
    /// An arm for each value: K=1..9, K=1..9/2, K=1..64*2 or K=a,b
    #[arg(long = "scan", value_name = "K=VALUES")]
    pub scans: Vec<String>,
    /// Repeat a plan: a JSON file, or a run of the store
    #[arg(long, value_name = "FILE|RUN")]
    pub plan: Option<String>,
    #[command(flatten)]
    pub costs: CostArgs,
    /// A machine of the study: the command that starts boxscore there; repeatable
    #[arg(long = "via", value_name = "NAME=COMMAND")]
    pub via: Vec<String>,
    #[command(flatten)]
    pub lab: OnArgs,
    /// A node that says nothing for so long hangs: it is left, and reached again later [default: 60s]
    #[arg(long, value_name = "TIME", requires = "on", help_heading = on::HEADING)]
    pub hang_after: Option<String>,
    /// A generator of load in place of those here: nodes, or [NAME=]COMMAND that starts boxscore there
    #[arg(long = "from", value_name = "EXPR|COMMAND")]
    pub from: Vec<String>,
    /// Directory for files of disk instruments [default: the store's], or in which --cmd runs: [NAME=]DIR
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<String>,
    #[command(flatten)]
    pub commands: CommandArgs,
    /// Print a line on stderr for each take, once it is stored
    #[arg(long, hide = true)]
    pub show_takes: bool,
    #[command(flatten)]
    pub given: Given,
    /// How to print the figures: text, or clusterperf as that tool does
    // With its values below each other the help would be the long one.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", conflicts_with = "json")]
    #[arg(hide_possible_values = true)]
    pub format: Layout,
    /// Write no HTML report
    #[arg(long)]
    pub no_report: bool,
}

/// Options that change nothing of a plan that is there already.
const BESIDE_PLAN: [&str; 11] = [
    "wait_idle",
    "plan",
    "fake",
    "label",
    "price",
    "currency",
    "watts",
    TYPED_FLAG,
    "format",
    "no_report",
    "show_takes",
];

/// The options about targets.
const TARGETS: [&str; 3] = ["targets", "at", "facts"];

/// `run` with what follows from its other options: a plan that is repeated conflicts with all that would shape it. Its
/// help has the options of the families that are named.
pub fn completed(run: Command, families: &[Family], names_nodes: bool) -> Command {
    let shaping = run.get_arguments().map(|arg| arg.get_id().clone());
    let shaping: Vec<_> = shaping.filter(|id| !BESIDE_PLAN.contains(&id.as_str())).collect();
    let run = run.mut_arg("plan", |plan| plan.conflicts_with_all(shaping));
    // As those of the families: where they mean something.
    let has_targets = |card: &&Card| {
        families.contains(&card.family) && card.params.iter().any(|spec| spec.target.is_some())
    };
    let is_hidden = !instruments::cards().iter().any(has_targets);
    let run = TARGETS.into_iter().fold(run, |run, id| run.mut_arg(id, |arg| arg.hide(is_hidden)));
    let run = run.mut_args(|arg| {
        let is_of_nodes = arg.get_help_heading() == Some(on::HEADING);
        if is_of_nodes { arg.hide(!names_nodes) } else { arg }
    });
    // Commands have a line of their own.
    let named = flags::families().into_iter().filter(|family| *family != Family::User);
    let names: Vec<&str> = named.map(|family| family.name()).collect();
    let after = format!(
        "Examples:\n{}Every take is stored at once; `boxscore resume` continues a run that was cut.\n\
         Options of a family: boxscore run {} --help\n\
         Options of commands: boxscore run --cmd x --help; of nodes: run --on x --help",
        flags::table(&EXAMPLES),
        names.join("|")
    );
    let run = run.after_help(after);
    let run = match families {
        [Family::User] => run.after_help(format!("Examples:\n{}", flags::table(&commands::EXAMPLES))),
        families if families.contains(&Family::User) => run,
        _ => run.mut_args(|arg| {
            let is_of_commands = arg.get_help_heading() == Some(commands::HEADING);
            if is_of_commands { arg.hide(true) } else { arg }
        }),
    };
    flags::narrowed(run, families)
}

#[cfg(test)]
mod tests {
    use clap::Arg;
    use clap::error::ErrorKind;

    use super::*;
    use crate::cli::{Cli, command};

    fn help(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut root = command(&flags::named(&words));
        root.build();
        root.find_subcommand("run").unwrap().clone().term_width(80).render_help().to_string()
    }

    #[test]
    fn the_help_of_a_run_fits_two_screens() {
        let help = help(&[]);
        assert!(help.lines().count() <= 80, "{} lines:\n{help}", help.lines().count());
        assert!(!help.contains("see more"), "{help}");
        let wide = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
        for flag in ["--url", "--kv", "--lang", "--test"] {
            assert!(!help.contains(flag), "{flag}:\n{help}");
        }
        assert!(help.contains("boxscore run cpu|net|kv|web|hadoop|runtime --help"), "{help}");
    }

    #[test]
    fn the_help_of_a_family_has_its_options_and_no_other_family_s() {
        for family in flags::families() {
            let help = help(&[family.name()]);
            let plain = help.split_whitespace().collect::<Vec<_>>().join(" ");
            let has = |of: Family, long: &str| {
                let cards = instruments::cards().iter().filter(|card| card.family == of);
                cards.flat_map(|card| card.all_flags()).any(|flag| flag.long == long)
            };
            for card in instruments::cards() {
                for flag in card.all_flags() {
                    let shown = help.contains(&format!("  --{}", flag.long))
                        || help.contains(&format!(", --{} ", flag.long));
                    assert_eq!(shown, has(family, flag.long), "{} {}:\n{help}", family.name(), flag.long);
                }
                let own = |command: &str| command.contains(&format!("run {}", family.name()));
                for example in card.examples.iter().filter(|example| own(example.command)) {
                    assert!(plain.contains(example.command), "{}:\n{help}", example.command);
                }
            }
        }
        assert_eq!(help(&["mem-latency"]), help(&["memory"]));
    }

    /// Words that give an option a value that it accepts.
    fn given(arg: &Arg) -> Vec<String> {
        let value = match arg.get_possible_values().first() {
            Some(value) => value.get_name().to_owned(),
            None => "1".to_owned(),
        };
        let long = arg.get_long().map(|long| format!("--{long}"));
        let value = arg.get_action().takes_values().then_some(value);
        long.into_iter().chain(value).collect()
    }

    #[test]
    fn a_plan_is_repeated_with_nothing_that_would_shape_it() {
        let root = command(&Family::ALL);
        let run = root.find_subcommand("run").unwrap();
        let mut refused = 0;
        for arg in run.get_arguments().filter(|arg| arg.get_id() != "plan") {
            let words = ["boxscore", "run", "--plan", "x"].map(str::to_owned).to_vec();
            let parsed = Cli::from_words([words, given(arg)].concat());
            let conflicts = parsed.is_err_and(|error| error.kind() == ErrorKind::ArgumentConflict);
            let beside = BESIDE_PLAN.contains(&arg.get_id().as_str()) || arg.is_global_set();
            assert!(conflicts != beside || arg.get_id() == "currency", "{}", arg.get_id());
            refused += usize::from(conflicts);
        }
        assert!(refused >= 30, "{refused}");
    }

    #[test]
    fn examples_are_command_lines() {
        let of_cards = instruments::cards().iter().flat_map(|card| card.examples);
        for example in of_cards.chain(EXAMPLES) {
            let command = example.command.trim_start_matches("BOXSCORE_KV_PASSWORD=... ");
            // Quotes keep blanks in a word.
            let words = command.split('\'').enumerate().flat_map(|(index, part)| match index % 2 {
                0 => part.split(' ').map(str::to_owned).collect::<Vec<_>>(),
                _ => vec![part.replace(' ', "_")],
            });
            let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
            if let Err(error) = Cli::from_words(words) {
                panic!("{command}: {error}");
            }
        }
    }
}
