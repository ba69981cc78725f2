//! `boxscore lab plan`: naming rules and subnets into names and addresses, as a table and as files for other programs.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lab::plan::{
    Earlier, Plan, Row, RowKind, ansible, csv, dnsmasq, earlier, hosts, is_made, lab_file, macs, plan, read,
    ssh,
};
use lab::ranges::fold;
use model::doc::{LabPlanDoc, LabPortDoc, LabRowDoc, LabSubnetDoc};

use super::bmc::BmcArgs;
use crate::cli::Global;
use crate::error::CliError;
use crate::fleet::{cards, reach};
use crate::lookup::inventory::{at, file};
use crate::lookup::paths;
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore lab plan plan.toml                     the subnets, and the names by chassis
  boxscore lab plan plan.toml --format hosts      /etc/hosts; also dnsmasq, ssh, ansible, csv, lab
  boxscore lab plan plan.toml --out net/          all of them as files; a later run keeps what they give out
  boxscore lab plan plan.toml --keep plan.csv     keeps the addresses of an earlier --format csv
  boxscore lab plan plan.toml --macs macs.csv     columns name,mac: static DHCP for dnsmasq
  boxscore lab plan plan.toml --macs-from '@*' --out net/   MAC addresses that BMCs of lab.toml tell
docs/guide/lab.md has the plan file.";

/// The table of `--out`, by which a later plan keeps addresses.
const TABLE: &str = "plan.csv";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct PlanArgs {
    /// The plan file, in TOML
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The form of what is printed
    #[arg(long, value_name = "FORM", default_value = "table", conflicts_with = "out")]
    pub format: PlanForm,
    /// Keep the addresses of an earlier plan, MAC addresses too, written by --format csv [default: that of --out]
    #[arg(long, value_name = "CSV")]
    pub keep: Option<PathBuf>,
    /// MAC addresses: a CSV with the columns name and mac
    #[arg(long, value_name = "CSV")]
    pub macs: Option<PathBuf>,
    /// MAC addresses as the BMCs of these nodes of lab.toml tell them: the BMC's own, and by Redfish those of the
    /// node's ports, in their order; --macs goes before them, and what no BMC tells stays as an earlier plan had it
    #[arg(long, value_name = "EXPR")]
    pub macs_from: Vec<String>,
    /// The inventory of --macs-from [default: ./lab.toml, else boxscore/lab.toml in the XDG configuration directory]
    #[arg(long, value_name = "FILE", requires = "macs_from")]
    pub inventory: Option<PathBuf>,
    #[command(flatten)]
    pub bmc: BmcArgs,
    /// Write all files into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanForm {
    /// Subnets, and names by chassis
    Table,
    /// /etc/hosts
    Hosts,
    /// A configuration of dnsmasq: DHCP and DNS
    Dnsmasq,
    /// A configuration of ssh
    Ssh,
    /// Ansible's inventory
    Ansible,
    /// Every name with what is known of it
    Csv,
    /// An inventory, lab.toml
    Lab,
}

pub fn run(args: &PlanArgs, global: &Global) -> Result<u8, CliError> {
    let name = args.file.display().to_string();
    let rules = read(&file(&args.file)?).map_err(|error| at(&name, &error))?;
    let beside = args.out.as_ref().map(|dir| dir.join(TABLE)).filter(|path| path.exists());
    let before = match args.keep.as_ref().or(beside.as_ref()) {
        Some(path) => earlier(&file(path)?).map_err(|error| at(&path.display().to_string(), &error))?,
        None => Earlier::default(),
    };
    let mut made = plan(rules, &before).map_err(|error| at(&name, &error))?;
    let mut is_whole = true;
    if !args.macs_from.is_empty() {
        let told = cards::ask(&args.macs_from, args.inventory.as_deref(), args.bmc.insecure)?;
        is_whole = told.is_whole;
        made = made.with_cards(&told.by_node).map_err(|what| {
            CliError::data(format!("--macs-from: {what}"))
                .hint("nodes of lab.toml have the names of hosts of the plan, and each card has one name")
        })?;
    }
    if let Some(path) = &args.macs {
        let of = |error| at(&path.display().to_string(), &error);
        made = made.with_macs(&macs(&file(path)?).map_err(of)?).map_err(of)?;
    }
    let paths = match &args.out {
        Some(dir) => written(&made, dir)?,
        None => Vec::new(),
    };
    let document = document(&made, &paths);
    let code = reach::code(is_whole, false);
    if global.json {
        out::json(&document);
        return Ok(code);
    }
    for note in &document.notes {
        out::say(&format!("note: {note}"));
    }
    match (args.format, paths.is_empty()) {
        (_, false) => out::say(&format!("wrote {}", document.paths.join(", "))),
        (PlanForm::Table, true) => out::print(&report::text::lab::plan(&document, &out::look())),
        (form, true) => out::print(&text(&made, form)?),
    }
    Ok(code)
}

fn text(made: &Plan, form: PlanForm) -> Result<String, CliError> {
    Ok(match form {
        PlanForm::Table | PlanForm::Csv => csv(made),
        PlanForm::Hosts => hosts(made),
        PlanForm::Dnsmasq => dnsmasq(made),
        PlanForm::Ssh => ssh(made),
        PlanForm::Ansible => ansible(made),
        PlanForm::Lab => {
            lab_file(made).map_err(|error| CliError::data(error.what.clone()).hint(error.hint))?
        }
    })
}

/// Writes every file, the table last: it alone says what was given out. Fails before it writes over a file that no plan
/// was written as.
fn written(made: &Plan, dir: &Path) -> Result<Vec<PathBuf>, CliError> {
    const FILES: [(&str, PlanForm); 6] = [
        ("hosts", PlanForm::Hosts),
        ("dnsmasq.conf", PlanForm::Dnsmasq),
        ("ssh_config", PlanForm::Ssh),
        ("ansible.ini", PlanForm::Ansible),
        ("lab.toml", PlanForm::Lab),
        (TABLE, PlanForm::Csv),
    ];
    std::fs::create_dir_all(dir).map_err(|error| CliError::data(format!("{}: {error}", dir.display())))?;
    for path in FILES.iter().map(|(name, _)| dir.join(name)).filter(|path| path.exists()) {
        if !is_made(&file(&path)?) {
            let what = format!("{} is there and was not made by `lab plan`", path.display());
            return Err(CliError::data(what).hint("name another folder, or move the file away"));
        }
    }
    let mut paths = Vec::new();
    for (name, form) in FILES {
        let path = dir.join(name);
        paths::write(&path, text(made, form)?.as_bytes())?;
        paths.push(path);
    }
    Ok(paths)
}

fn document(made: &Plan, paths: &[PathBuf]) -> LabPlanDoc {
    let subnets = made.subnets.iter().enumerate().map(|(at, subnet)| {
        let own = made.rows.iter().filter(|row| row.subnet == at).count() as u64;
        let addresses = subnet.used.unwrap_or(own);
        LabSubnetDoc {
            network: subnet.to_string(),
            name: subnet.name.clone(),
            addresses,
            free: subnet.count().saturating_sub(addresses),
            in_use: subnet.used.is_some(),
            usage: subnet.usage.clone(),
        }
    });
    let row = |row: &Row| LabRowDoc {
        name: row.name.clone(),
        address: row.address.to_string(),
        kind: row.kind.word().to_owned(),
        machine: row.machine.clone(),
        chassis: row.chassis.clone(),
        slot: row.slot.map(|slot| slot as u64),
        mac: row.mac.map(|mac| mac.to_string()),
        network: made.subnets.get(row.subnet).map(ToString::to_string).unwrap_or_default(),
    };
    LabPlanDoc {
        schema: "boxscore.lab-plan/1".to_owned(),
        domain: made.domain.clone(),
        subnets: subnets.collect(),
        chassis: made.chassis.clone(),
        ports: ports(made),
        rows: made.rows.iter().map(row).collect(),
        notes: made.notes.iter().map(ToString::to_string).collect(),
        paths: paths.iter().map(|path| path.display().to_string()).collect(),
    }
}

/// The names of each kind of port, folded for each chassis, and last those that are in none.
fn ports(made: &Plan) -> Vec<LabPortDoc> {
    let mut kinds: Vec<(RowKind, &str, usize)> = Vec::new();
    for row in &made.rows {
        let kind = (row.kind, row.suffix.as_str(), row.subnet);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let port = |(kind, suffix, subnet): (RowKind, &str, usize)| {
        let own = || {
            made.rows
                .iter()
                .filter(move |row| (row.kind, row.suffix.as_str(), row.subnet) == (kind, suffix, subnet))
        };
        let of = |chassis: Option<&str>| {
            fold(own().filter(|row| row.chassis.as_deref() == chassis).map(|row| row.name.as_str()))
        };
        let all = made.chassis.iter().map(|chassis| Some(chassis.as_str())).chain([None]);
        LabPortDoc {
            kind: kind.word().to_owned(),
            suffix: suffix.to_owned(),
            subnet: made.subnets.get(subnet).map(|subnet| subnet.name.clone()).unwrap_or_default(),
            names: all.map(of).collect(),
        }
    };
    kinds.into_iter().map(port).collect()
}
