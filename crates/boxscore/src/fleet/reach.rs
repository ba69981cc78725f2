//! Common to every command for hosts: hosts and options from arguments, the stop by a signal, progress.

use std::sync::Arc;
use std::time::Duration;

use lab::private::NoFolder;
use lab::ranges::fold;
use lab::ssh::{Failure, Host, Options, Sockets};
use lab::stop::Stop;
use model::doc::LabExitDoc;
use model::format::count;
use model::params::parse_span;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::lab::reach::ReachArgs;
use crate::error::{CliError, Kind};
use crate::out;

/// The most hosts at once: each has four descriptors here.
const WIDEST: usize = 4096;

impl From<NoFolder> for CliError {
    fn from(error: NoFolder) -> CliError {
        CliError::data(error.to_string())
    }
}

/// A length of time.
pub fn span(flag: &str, text: &str) -> Result<Duration, CliError> {
    let seconds = parse_span(text).filter(|seconds| *seconds <= 1e9);
    let wrong = || {
        CliError::usage(format!("{flag} {text}: not a length of time"))
            .hint("seconds, or with a unit: 30, 5m, 2h")
    };
    seconds.map(Duration::from_secs_f64).ok_or_else(wrong)
}

/// The options of ssh that the arguments give.
pub fn options(args: &ReachArgs) -> Result<Options, CliError> {
    if !(1..=WIDEST).contains(&args.width) {
        return Err(CliError::usage(format!("--width {}: from 1 to {WIDEST}", args.width)));
    }
    let config = args.ssh_config.as_ref().map(|path| {
        std::path::absolute(path)
            .and_then(|path| path.metadata().map(|_| path.clone()))
            .map_err(|error| CliError::data(format!("--ssh-config {}: {error}", path.display())))
    });
    Ok(Options {
        width: args.width,
        connect: span("--connect-timeout", &args.connect_timeout)?,
        limit: args.timeout.as_deref().map(|text| span("--timeout", text)).transpose()?,
        keep: if args.keep == "0" { Duration::ZERO } else { span("--keep", &args.keep)? },
        config: config.transpose()?,
    })
}

/// A stop that the first SIGINT or SIGTERM requests. A second one ends the program.
pub fn stop() -> Result<Arc<Stop>, CliError> {
    let failed = |error: std::io::Error| CliError::data(format!("signals cannot be caught: {error}"));
    let stop = Arc::new(Stop::new().map_err(failed)?);
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let told = Arc::clone(&stop);
    std::thread::spawn(move || {
        let mut first_ns: Option<u64> = None;
        for _ in signals.forever() {
            let now_ns = sys::clock::now_ns();
            // Tools such as `timeout` send one request as two signals.
            if now_ns.saturating_sub(*first_ns.get_or_insert(now_ns)) > SAME_MOMENT_NS {
                signal_hook::low_level::exit(i32::from(Kind::Interrupted.exit_code()));
            }
            told.request();
        }
    });
    Ok(stop)
}

/// Where connections are, and a stop.
pub fn begin() -> Result<(Sockets, Arc<Stop>), CliError> {
    Ok((Sockets::open()?, stop()?))
}

/// Signals so close after the first belong to the same request.
const SAME_MOMENT_NS: u64 = 50_000_000;

/// The shortest expression of hosts.
pub fn folded<'a>(hosts: impl IntoIterator<Item = &'a Host>) -> String {
    fold(hosts.into_iter().map(Host::name))
}

/// The text of `--dry-run`: how the first host would be reached, and which ones.
pub fn plan(hosts: &[Host], options: &Options, what: &str) -> Result<String, CliError> {
    let socket = "SOCKET".as_ref();
    let Some(first) = hosts.first() else { return Err(CliError::usage("no machine is left")) };
    let words = lab::ssh::arguments(first, socket, options);
    let words: Vec<String> = words.iter().map(|word| model::shell::word(&word.to_string_lossy())).collect();
    Ok(format!(
        "{}: {}\n{what}\nat most {} at once; each host is reached by\n  ssh {}\n",
        count(hosts.len(), "host"),
        folded(hosts),
        options.width.min(hosts.len()),
        words.join(" ")
    ))
}

/// Hosts that failed alike, as a line of the document.
pub fn failed(failure: &Failure, hosts: &[&Host]) -> LabExitDoc {
    LabExitDoc {
        count: hosts.len(),
        hosts: folded(hosts.iter().copied()),
        exit: None,
        failure: Some(failure.word().to_owned()),
        why: Some(failure.to_string()),
        hint: hosts.first().and_then(|host| failure.hint(host)),
    }
}

/// How many hosts have answered, redrawn on a terminal.
pub struct Progress {
    canvas: Option<out::Canvas>,
    waiting: Vec<Host>,
    all: usize,
}

impl Progress {
    pub fn begin(hosts: &[Host], json: bool) -> Progress {
        let canvas = if json { None } else { out::Canvas::open() };
        let mut progress = Progress { canvas, waiting: hosts.to_vec(), all: hosts.len() };
        progress.draw();
        progress
    }

    /// A host has answered; what is printed meanwhile goes above the line.
    pub fn done(&mut self, host: &Host, print: impl FnOnce()) {
        if let Some(canvas) = &mut self.canvas {
            canvas.clear();
            self.waiting.retain(|one| one != host);
        }
        print();
        self.draw();
    }

    fn draw(&mut self) {
        let Some(canvas) = &mut self.canvas else { return };
        if self.waiting.is_empty() {
            return;
        }
        let line = format!(
            "{} of {} hosts; waiting for {}",
            self.all - self.waiting.len(),
            self.all,
            folded(&self.waiting)
        );
        canvas.draw(&report::text::cut(&line, out::look_of_talk().columns.saturating_sub(1)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(canvas) = &mut self.canvas {
            canvas.clear();
        }
    }
}

/// The exit code of a command for hosts.
pub fn code(ok: bool, interrupted: bool) -> u8 {
    match (interrupted, ok) {
        (true, _) => Kind::Interrupted.exit_code(),
        (false, true) => 0,
        (false, false) => Kind::Faults.exit_code(),
    }
}

/// The error of work on many hosts for which this machine cannot start a thread.
pub fn no_thread(error: std::io::Error) -> CliError {
    CliError::data(format!("no thread can be started: {error}"))
}
