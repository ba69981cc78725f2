//! `--on` and `--from` of nodes: an expression of the inventory as what `--via` and `--from` say of each node. boxscore
//! is put on nodes that have not got this build of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lab::inventory::{Inventory, Node, price_text};
use lab::ranges::expand;
use lab::ssh::copy::{Copied, Pull};
use lab::ssh::install::{self, Build, Installed};
use lab::ssh::{Failure, Host, Options, Outcome, Sockets, command, fold, session_arguments};
use lab::stop::Stop;
use model::decision::{PriceText, Term};
use model::format::count;
use model::plan::{Plan, Via};
use model::shell::word;

use super::content::Carried;
use super::copy::tree_folder;
use super::reach;
use super::select::{self, Chosen};
use super::together;
use crate::cli::costs::{CostArgs, USUAL_CURRENCY};
use crate::cli::lab::on::{OnArgs, PutArgs, Together};
use crate::cli::lab::reach::ReachArgs;
use crate::cli::lab::select::SelectArgs;
use crate::cli::run::RunArgs;
use crate::error::{CliError, Kind};
use crate::lookup::inventory::{self, Found};
use crate::out;
use crate::plan::{self, trees};
use crate::study::stop_signal::StopSignal;

/// Processors that boxscore is built for, as `uname -m` calls them.
pub const BUILT: [&str; 3] = ["x86_64", "aarch64", "i686"];

/// The option that names the files of servers.
const CONTENT: &str = "content";

/// How often the user's wish to stop is looked for while nodes are reached.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a command may take that takes away what another one left.
const SHORT: Duration = Duration::from_secs(10);

/// Nodes that have boxscore.
pub struct Nodes {
    /// In the order of the expression.
    pub ready: Vec<(Host, String)>,
    /// Those that could not be prepared, which was said.
    pub left_out: Vec<(Failure, Host)>,
    builds: Vec<Build>,
    options: Options,
    sockets: Sockets,
    is_removed: bool,
    /// Files that those which serve them get.
    content: Option<Carried>,
}

impl Nodes {
    /// Reaches these hosts and puts boxscore there, and the files that are to be served. Says of each host that fails
    /// why. Fails where none is left.
    pub fn prepare(
        hosts: &[Host],
        options: Options,
        put: &PutArgs,
        content: Option<Carried>,
        stop: &StopSignal,
    ) -> Result<Nodes, CliError> {
        let mut nodes = Nodes {
            ready: Vec::new(),
            left_out: Vec::new(),
            builds: builds(put.binaries.as_deref())?,
            options,
            sockets: Sockets::open()?,
            is_removed: put.remove,
            content,
        };
        say_failed(nodes.reach(hosts, stop)?);
        if stop.is_requested() {
            return Err(CliError::interrupted("interrupted before anything was measured"));
        }
        match nodes.ready.is_empty() {
            true => Err(none_left()),
            false => Ok(nodes),
        }
    }

    /// Reaches hosts, also those that it knows already, and puts boxscore there. Gives those that fail with the reason.
    pub fn reach(&mut self, hosts: &[Host], stop: &StopSignal) -> Result<Vec<(Failure, Host)>, CliError> {
        let mut all = Vec::with_capacity(hosts.len());
        let went = while_wanted(stop, |told| {
            install::run(hosts, &self.builds, &self.options, &self.sockets, told, |one| all.push(one))
        })?;
        went.map_err(reach::no_thread)?;
        all.sort_by_key(|one| one.index);
        self.ready.retain(|(host, _)| !hosts.contains(host));
        self.left_out.retain(|(_, host)| !hosts.contains(host));
        let (mut failed, mut copied) = (Vec::new(), Vec::new());
        for one in all {
            match one.result {
                Ok(Installed { path, pushed }) => {
                    copied.extend(pushed.then(|| one.host.clone()));
                    self.ready.push((one.host, path));
                }
                Err(failure) => failed.push((failure, one.host)),
            }
        }
        if !copied.is_empty() {
            let names = reach::folded(&copied);
            out::say(&format!("note: boxscore was copied to {}: {names}", count(copied.len(), "node")));
        }
        failed.extend(self.send_content(hosts, stop)?);
        self.left_out.extend(failed.iter().cloned());
        Ok(failed)
    }

    /// Gives those of these hosts that are ready the files which they serve. One that cannot have them is not ready.
    fn send_content(&mut self, hosts: &[Host], stop: &StopSignal) -> Result<Vec<(Failure, Host)>, CliError> {
        let Some(content) = self.content.as_ref().filter(|_| !stop.is_requested()) else {
            return Ok(Vec::new());
        };
        let ready = self.ready.iter().map(|(host, _)| host).filter(|host| hosts.contains(host));
        let ready: Vec<Host> = ready.cloned().collect();
        let failed = content.send(&ready, (&self.options, &self.sockets), stop)?;
        self.ready.retain(|(host, _)| failed.iter().all(|(_, other)| other != host));
        Ok(failed)
    }

    /// Machines, of which those that are nodes of it have their ways of now.
    pub fn lead(&self, machines: &[Via]) -> Arc<[Via]> {
        let now = |via: &Via| {
            let host = self.ready.iter().map(|(host, _)| host).find(|host| host.name() == via.name);
            host.and_then(|host| self.via(host)).unwrap_or_else(|| via.clone())
        };
        machines.iter().map(now).collect()
    }

    /// Names of those that cannot be measured now.
    pub fn absent(&self) -> Vec<String> {
        self.left_out.iter().map(|(_, host)| host.name().to_owned()).collect()
    }

    /// Why a host of this name was left out, if it was.
    pub fn failure(&self, name: &str) -> Option<&Failure> {
        let found = self.left_out.iter().find(|(_, host)| host.name() == name);
        found.map(|(failure, _)| failure)
    }

    /// The hosts of these names.
    pub fn hosts<'n>(&'n self, names: &'n [String]) -> impl Iterator<Item = &'n Host> {
        let left_out = self.left_out.iter().map(|(_, host)| host);
        let all = self.ready.iter().map(|(host, _)| host).chain(left_out);
        all.filter(|host| names.iter().any(|name| name == host.name()))
    }

    /// The command that starts boxscore on a node; `None` of a host that was left out. One that is down is a machine of
    /// the study all the same: there the command would find what the host itself calls boxscore.
    pub fn via(&self, host: &Host) -> Option<Via> {
        let ready = self.ready.iter().find(|(one, _)| one == host).map(|(_, path)| path.as_str());
        let path = ready.or_else(|| {
            let is_down = self.failure(host.name()).is_some_and(Failure::is_down);
            is_down.then_some("boxscore")
        })?;
        let remote = format!("exec {}", word(path));
        let words = session_arguments(host, &self.sockets, &self.options, &remote);
        let words: Vec<String> = words.iter().map(|one| word(&one.to_string_lossy())).collect();
        let command = Some(format!("{}{}", Via::OF_NODE, words.join(" ")));
        Some(Via { name: host.to_string(), command })
    }

    /// Runs a command on every node, made of the path of its boxscore, and gives what came of each.
    pub fn run(&self, stop: &StopSignal, command: impl Fn(&str) -> String) -> Result<Vec<Outcome>, CliError> {
        let mut all = Vec::with_capacity(self.ready.len());
        while_wanted(stop, |told| {
            self.by_path().into_iter().try_for_each(|(path, hosts)| {
                let done = |one| all.push(one);
                command::run(&hosts, &command(path), &self.options, &self.sockets, told, done)
            })
        })?
        .map_err(reach::no_thread)?;
        all.sort_by_key(|one| self.place(&one.host));
        Ok(all)
    }

    /// Runs a short command on every node, also where the user has stopped. Gives those where it was not run, with
    /// the path of their boxscore.
    pub fn run_anyway(&self, command: impl Fn(&str) -> String) -> Result<Vec<(String, Host)>, CliError> {
        let options = Options { limit: Some(SHORT), ..self.options.clone() };
        let never = never()?;
        let mut failed = Vec::new();
        let went = self.by_path().into_iter().try_for_each(|(path, hosts)| {
            let done = |one: Outcome| {
                failed.extend(one.result.is_err().then(|| (path.to_owned(), one.host)));
            };
            command::run(&hosts, &command(path), &options, &self.sockets, &never, done)
        });
        went.map_err(reach::no_thread)?;
        Ok(failed)
    }

    /// Copies a file of every node, named by the path of its boxscore, into a folder of the node's name.
    pub fn pull(
        &self,
        stop: &StopSignal,
        file: impl Fn(&str) -> String,
        to: &Path,
    ) -> Result<Vec<Copied>, CliError> {
        let mut all = Vec::with_capacity(self.ready.len());
        for (path, hosts) in self.by_path() {
            let pull = Pull::new(&[file(path)], to)?;
            let done = |one| all.push(one);
            while_wanted(stop, |told| pull.run(&hosts, &self.options, &self.sockets, told, done))?
                .map_err(reach::no_thread)?;
        }
        all.sort_by_key(|one| self.place(&one.host));
        Ok(all)
    }

    /// The nodes on which boxscore lies at the same path.
    fn by_path(&self) -> Vec<(&str, Vec<Host>)> {
        fold::by_text(self.ready.iter().map(|(host, path)| (path.as_str(), host.clone())))
    }

    fn place(&self, host: &Host) -> Option<usize> {
        self.ready.iter().position(|(one, _)| one == host)
    }

    /// Ends the work: removes boxscore where that was asked for, unless `resume` will need it there. Says what is left.
    pub fn end(&self, is_done: bool) -> Result<(), CliError> {
        if !self.is_removed {
            return Ok(());
        }
        if !is_done {
            out::say("note: boxscore stays on the nodes, for `boxscore resume`");
            return Ok(());
        }
        let never = never()?;
        let failed = |host: &Host, failure: Failure| {
            out::say(&format!("warning: {host}: boxscore is not removed: {failure}"));
        };
        install::remove(&self.ready, &self.options, &self.sockets, &never, failed).map_err(reach::no_thread)
    }

    /// The exit code of work on the nodes: 3 where one was left out, whatever became of the others.
    pub fn code(&self, code: u8) -> u8 {
        if code == 0 && !self.left_out.is_empty() { Kind::Faults.exit_code() } else { code }
    }
}

/// A stop that nobody requests.
fn never() -> Result<Stop, CliError> {
    Stop::new().map_err(|error| CliError::data(format!("no pipe can be made: {error}")))
}

/// Does work that a stop can end, while the user has not asked to stop.
pub fn while_wanted<T>(stop: &StopSignal, work: impl FnOnce(&Stop) -> T) -> Result<T, CliError> {
    let told = never()?;
    let is_over = AtomicBool::new(false);
    Ok(std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if stop.is_requested() {
                    told.request();
                    return;
                }
                std::thread::sleep(GLANCE);
            }
        });
        let done = work(&told);
        is_over.store(true, Ordering::Relaxed);
        done
    }))
}

/// The programs for nodes: those of `--binaries`, and this one for its own processor, where it needs nothing there.
fn builds(binaries: Option<&Path>) -> Result<Vec<Build>, CliError> {
    let mut builds = Vec::new();
    if let Some(folder) = binaries {
        let files = BUILT.map(|one| (one, folder.join(format!("boxscore-{one}"))));
        for (architecture, path) in files.iter().filter(|(_, path)| path.exists()) {
            builds.push(Build::read(architecture, path)?);
        }
        if builds.is_empty() {
            let what = format!(
                "--binaries {}: no boxscore-{} there",
                folder.display(),
                BUILT.join(", no boxscore-")
            );
            return Err(CliError::data(what).hint("`make dist-all` builds them into dist"));
        }
    }
    let own = own_architecture();
    let is_static = cfg!(target_feature = "crt-static");
    if is_static && !builds.iter().any(|build| build.architecture == own) {
        builds.push(Build::read(own, Path::new("/proc/self/exe"))?);
    }
    Ok(builds)
}

/// The processor that this program is built for, as `uname -m` calls it.
pub fn own_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86" => "i686",
        other => other,
    }
}

/// Says of hosts why they were left out.
pub fn say_failed(failed: Vec<(Failure, Host)>) {
    let failed = failed.into_iter().map(|(failure, host)| (failure.to_string(), (failure, host)));
    for (why, group) in fold::by_text(failed) {
        out::say(&format!("left out: {}: {why}", reach::folded(group.iter().map(|(_, host)| host))));
        if let Some(hint) = group.first().and_then(|(failure, host)| failure.hint(host)) {
            out::say(&format!(" hint: {hint}"));
        }
    }
}

fn none_left() -> CliError {
    CliError::data("no node can be measured").hint("the lines above say why")
}

/// The nodes that a run is told of: those that are measured, and those that send load.
struct Asked {
    measured: Chosen,
    /// Where the measured ones reach each other, if they are one machine.
    together: Option<String>,
    generators: Vec<Host>,
    /// `--from` that are commands.
    commands: Vec<String>,
}

impl Asked {
    fn read(args: &RunArgs) -> Result<Asked, CliError> {
        let (select, reach) = args.lab.parts();
        let measured = match args.lab.on.is_empty() {
            true => Chosen::default(),
            false => select::chosen(&args.lab.on, &select, &reach)?,
        };
        let (mut generators, mut commands) = (Vec::new(), Vec::new());
        let found = match &measured.found {
            None if may_be_nodes(&args.from) => inventory::find(select.inventory.as_deref())?,
            _ => None,
        };
        let known = measured.found.as_ref().or(found.as_ref());
        for text in &args.from {
            match known.filter(|found| is_of_nodes(text, &found.inventory)) {
                Some(_) => generators.extend(nodes(text, &select, &reach)?),
                None => commands.push(text.clone()),
            }
        }
        let is_cluster = plan::cluster::is_meant(args, instruments::cards(), measured.hosts.len())?;
        let together = is_cluster.then(|| together::members(&measured.hosts)).transpose()?;
        Ok(Asked { measured, together, generators, commands })
    }

    fn hosts(&self) -> Vec<Host> {
        let mut all = self.measured.hosts.clone();
        all.extend(self.generators.iter().filter(|host| !self.measured.hosts.contains(host)).cloned());
        all
    }
}

fn nodes(text: &str, select: &SelectArgs, reach: &ReachArgs) -> Result<Vec<Host>, CliError> {
    Ok(select::chosen(&[text.to_owned()], select, reach)?.hosts)
}

/// True if one of the texts has the look of an expression, and not of a command.
fn may_be_nodes(from: &[String]) -> bool {
    from.iter().any(|text| is_expression(text))
}

fn is_expression(text: &str) -> bool {
    !text.trim().contains(|c: char| c.is_whitespace() || "/=".contains(c))
}

/// True if a text names nodes of the inventory and nothing else. What begins with `@` is nothing but an expression.
fn is_of_nodes(text: &str, inventory: &Inventory) -> bool {
    let all_known = || {
        let names = expand(text, inventory.known()).map(|expanded| expanded.names);
        names.is_ok_and(|names| names.iter().all(|name| inventory.find(name).is_some()))
    };
    is_expression(text) && (text.starts_with('@') || all_known())
}

/// A run with its nodes as machines of --via and generators of --from. Without nodes, it is the run as it was given.
pub fn expanded(
    args: &RunArgs,
    plan: impl Fn(&RunArgs) -> Result<(), CliError>,
    stop: &StopSignal,
) -> Result<(RunArgs, Option<Nodes>), CliError> {
    let asked = Asked::read(args)?;
    let hosts = asked.hosts();
    if hosts.is_empty() {
        args.lab.is_given()?;
        return Ok((args.clone(), None));
    }
    if args.commands.bisect {
        return Err(CliError::usage("--bisect measures on this machine alone")
            .hint("name the two revisions with --git, without --bisect"));
    }
    // What is wrong with the command line is said before anything is copied.
    plan(&with(args, &asked, |host| Some(format!("{host}=true"))))?;
    let (_, reach) = args.lab.parts();
    let names = || asked.measured.hosts.iter().map(|host| host.name().to_owned()).collect();
    let content = args.given.value(CONTENT).map(|folder| {
        let tree = trees::hashed(folder.as_ref())?;
        let folder = tree_folder(tree.folder())?;
        Carried::new(tree, &folder, names())
    });
    let content = match content.transpose()? {
        None if plan::cluster::needs_hadoop(args, instruments::cards())? => together::distribution(names())?,
        content => content,
    };
    let options = reach::options(&reach)?;
    let nodes = Nodes::prepare(&hosts, options, &args.lab.put, content, stop)?;
    if asked.together.is_some() && !nodes.left_out.is_empty() {
        return Err(CliError::data(format!(
            "nodes of the cluster are missing: {}",
            reach::folded(nodes.left_out.iter().map(|(_, host)| host))
        ))
        .hint("the lines above say why; leave them out of the expression for a smaller cluster"));
    }
    let is_left_out = |host: &Host| nodes.failure(host.name()).is_some();
    let lost: Vec<&Host> = asked.generators.iter().filter(|host| is_left_out(host)).collect();
    if !lost.is_empty() {
        return Err(no_generator(lost));
    }
    if !asked.measured.hosts.is_empty() && asked.measured.hosts.iter().all(is_left_out) {
        return Err(none_left());
    }
    // As --via and --from take it.
    let text = |host: &Host| nodes.via(host).and_then(|via| Some(format!("{}={}", via.name, via.command?)));
    Ok((with(args, &asked, text), Some(nodes)))
}

/// The run with what `via` says of its nodes, and with their prices and watts.
fn with(args: &RunArgs, asked: &Asked, via: impl Fn(&Host) -> Option<String>) -> RunArgs {
    let mut args = args.clone();
    // Found again from another folder.
    args.lab.inventory = asked.measured.found.as_ref().map(|found| found.path.clone());
    let measured = asked.measured.hosts.iter().filter(|host| via(host).is_some());
    args.lab.names = measured.map(|host| host.name().to_owned()).collect();
    let mut measured: Vec<String> = asked.measured.hosts.iter().filter_map(&via).collect();
    if let Some(members) = &asked.together {
        let children = measured.split_off(1.min(measured.len()));
        args.lab.together = Some(Together { members: members.clone(), children });
    }
    args.via.extend(measured);
    args.from = asked.commands.iter().cloned().chain(asked.generators.iter().filter_map(&via)).collect();
    if let Some(Found { inventory, .. }) = &asked.measured.found {
        add_costs(&mut args.costs, &args.lab.names, args.lab.together.is_some(), inventory);
        let has_bmc = |name: &String| inventory.find(name).is_some_and(|node| node.bmc.is_some());
        let is_one = args.lab.together.is_some();
        args.lab.have_bmcs = !is_one && !args.lab.names.is_empty() && args.lab.names.iter().all(has_bmc);
    }
    args
}

/// Adds prices and watts of nodes to those that the user gave.
fn add_costs(costs: &mut CostArgs, names: &[String], is_one: bool, inventory: &Inventory) {
    let is_priced = !costs.price.is_empty();
    let currency = inventory.settings().currency.clone().unwrap_or_else(|| costs.currency.clone());
    let is_same = !is_priced || currency == costs.currency;
    let nodes: Vec<&Node> = names.iter().filter_map(|name| inventory.find(name)).collect();
    let own = |given: &[String], name: &str| {
        given.iter().any(|text| text.split_once('=').is_none_or(|(of, _)| of.trim() == name))
    };
    let mut add = |name: &str, price: Option<PriceText>, watts: Option<f64>| {
        if let Some(price) = price.filter(|_| is_same && !own(&costs.price, name)) {
            costs.price.push(format!("{name}={}", quoted(&price)));
        }
        if let Some(watts) = watts.filter(|_| !own(&costs.watts, name)) {
            costs.watts.push(format!("{name}={watts}"));
        }
    };
    match names.first().filter(|_| is_one) {
        // One that is of no inventory has neither, and so have all together.
        Some(first) if nodes.len() == names.len() => {
            add(first, together::price(&nodes), together::watts(&nodes));
        }
        Some(_) => {}
        None => nodes.iter().for_each(|node| add(&node.name, node.price, node.watts)),
    }
    if !is_priced {
        costs.currency = currency;
    }
}

/// A price as `--price` reads it, which knows hours and purchases.
fn quoted(price: &PriceText) -> String {
    let per = match price.term {
        Term::Once | Term::Hour => return price_text(price),
        Term::Month | Term::Year => price.term.seconds().unwrap_or(3600.0) / 3600.0,
    };
    let (low, high) = (price.amount.low / per, price.amount.high / per);
    if price.amount.low == price.amount.high { format!("{low}/h") } else { format!("{low}..{high}/h") }
}

/// The nodes of a stored plan, reached anew, with their prices and watts; `None` where its machines are no nodes. Fails
/// where none is left.
pub fn of_plan(plan: &Plan, stop: &StopSignal) -> Result<Option<(Nodes, CostArgs)>, CliError> {
    let Some(access) = &plan.nodes else { return Ok(None) };
    let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
    let select = SelectArgs { inventory: path(&access.inventory), ..SelectArgs::default() };
    let reach = ReachArgs {
        login: access.login.clone(),
        ssh_config: path(&access.ssh_config),
        ..ReachArgs::default()
    };
    let Chosen { hosts, found } = select::chosen(&access.names, &select, &reach)?;
    let mut costs = CostArgs { currency: USUAL_CURRENCY.to_owned(), ..CostArgs::default() };
    if let Some(Found { inventory, .. }) = &found {
        add_costs(&mut costs, &access.names, plan.is_cluster(), inventory);
    }
    let put = PutArgs { binaries: path(&access.binaries), remove: access.is_removed };
    let content = Carried::of_plan(plan, &access.names)?;
    let nodes = Nodes::prepare(&hosts, reach::options(&reach)?, &put, content, stop)?;
    Ok(Some((nodes, costs)))
}

/// The nodes of `--on`, with boxscore on them, for a verb without a plan.
pub fn ready(args: &OnArgs, stop: &StopSignal) -> Result<Nodes, CliError> {
    let (select, reach) = args.parts();
    let hosts = select::chosen(&args.on, &select, &reach)?.hosts;
    Nodes::prepare(&hosts, reach::options(&reach)?, &args.put, None, stop)
}

/// The nodes of `--on` as generators of load. Fails where one cannot be one: the load would be another.
pub fn generators(args: &OnArgs, stop: &StopSignal) -> Result<(Nodes, Vec<Via>), CliError> {
    let nodes = ready(args, stop)?;
    if !nodes.left_out.is_empty() {
        return Err(no_generator(nodes.left_out.iter().map(|(_, host)| host)));
    }
    let generators = nodes.ready.iter().filter_map(|(host, _)| nodes.via(host)).collect();
    Ok((nodes, generators))
}

fn no_generator<'a>(missing: impl IntoIterator<Item = &'a Host>) -> CliError {
    CliError::data(format!("a generator of load is missing: {}", reach::folded(missing)))
        .hint("without it the load would be another one; leave it out of the expression")
}
