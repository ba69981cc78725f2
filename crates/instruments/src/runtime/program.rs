//! One language ready to run: its sources in a private folder, built there, and a process for each kernel.
//!
//! The tool's version is asked before and after the takes of a kernel set: a program of another version is another
//! measurement. The folder goes with the program.

use std::path::PathBuf;
use std::time::Duration;

use model::{Fault, Record, Setup, Unfit};
use sys::process::Start;

use super::kernel::{Kernel, Size};
use super::output::{self, Output};
use super::params;
use super::reference::{self, Bits};
use super::toolchain::{Calculates, Toolchain};
use crate::workload::server::place::Place;
use crate::workload::{guard, shell};

/// No process of a take lasts longer: an interpreter needs a minute for the large sizes.
const LIMIT: Duration = Duration::from_secs(900);

#[derive(Debug)]
pub struct Program {
    pub toolchain: Toolchain,
    pub calculates: Calculates,
    version: String,
    folder: PathBuf,
    out: PathBuf,
    limit: Duration,
    /// It was said what it is.
    told: bool,
    /// Why no further take can come.
    gone: Option<String>,
    _place: Place,
}

impl Program {
    /// Finds the tool that the set-up asks for, and builds the program with it.
    pub fn make(setup: &Setup) -> Result<Program, Unfit> {
        guard::available().map_err(Unfit::new)?;
        let toolchain = params::toolchain(setup)?;
        let version = toolchain.version().map_err(Unfit::new)?;
        let place = Place::make(&setup.dir, None).map_err(Unfit::new)?;
        let made = |name: &str| place.folder(name).map_err(Unfit::new);
        let (folder, out) = (made("sources")?, made("out")?);
        for (name, text) in toolchain.language.sources {
            let path = folder.join(name);
            sys::files::atomic_write(&path, text.as_bytes(), 0o600)
                .map_err(|error| Unfit::new(error.to_string()))?;
        }
        toolchain.build(&folder, &out).map_err(Unfit::new)?;
        let calculates = toolchain.calculates().map_err(Unfit::new)?;
        let (limit, told, gone) = (LIMIT, false, None);
        Ok(Program { toolchain, calculates, version, folder, out, limit, told, gone, _place: place })
    }

    /// Says once what stays with the figures: the tool, and on which CPUs it runs.
    pub fn tell(&mut self, cpus: &str, record: &mut dyn Record) {
        if !std::mem::replace(&mut self.told, true) {
            record.note("toolchain", &format!("{}; {cpus}", self.sentence()));
        }
    }

    /// The tool, its version and flags, and the unit that calculates.
    fn sentence(&self) -> String {
        let language = self.toolchain.language;
        let unit = self.calculates.unit.map(|unit| format!("; floating point: {unit}")).unwrap_or_default();
        let version = self.toolchain.shown(&self.version);
        format!("{}: `{}`, which is {version}{unit}", language.title, self.toolchain.called())
    }

    /// That the tool is still the one that built the program; where it is not, no take can come any more.
    pub fn is_same(&mut self) -> Result<(), Fault> {
        let now = self.toolchain.version().map_err(|why| self.give_up(why))?;
        if now == self.version {
            return Ok(());
        }
        let (was, is) = (self.toolchain.shown(&self.version), self.toolchain.shown(&now));
        let title = self.toolchain.language.title;
        Err(self.give_up(format!(
            "the tool of {title} was changed during the run: it was {was}, and is {is} now"
        )))
    }

    fn give_up(&mut self, why: String) -> Fault {
        self.gone = Some(why.clone());
        Fault::new(why)
    }

    /// Why no further take can come.
    #[must_use]
    pub fn gone(&self) -> Option<String> {
        self.gone.clone()
    }

    /// Runs the program once on `cpus`: `task` stands behind the kernel and the size.
    pub fn run(&self, kernel: Kernel, size: Size, task: &[String], cpus: &[u32]) -> Result<Output, Fault> {
        let failed = |how: String| {
            let (title, kernel) = (self.toolchain.language.title, kernel.name());
            Fault::new(format!("{title}, {kernel} {}: {how}", size.name()))
        };
        let template = self.toolchain.language.run;
        let mut command = self.toolchain.command(template, &self.folder, &self.out).map_err(failed)?;
        command.arg(kernel.name()).arg(size.name()).args(task);
        let cpus: Vec<usize> = cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect();
        let ended = shell::run_command(command, Start::default(), &cpus, self.limit).map_err(failed)?;
        if let Some(how) = ended.failure(self.limit) {
            return Err(failed(format!("the program {how}")));
        }
        if ended.stdout.dropped() > 0 {
            return Err(failed("the program printed far more than results".to_owned()));
        }
        output::read(&ended.stdout.text()).map_err(|why| failed(format!("what it printed: {why}")))
    }

    /// That what it computed is right; in what way it is not the reference, where it is right all the same.
    pub fn verify(&self, kernel: Kernel, size: Size, output: &Output) -> Result<Option<String>, Fault> {
        let may_differ = self.calculates.inexact.is_some();
        let (title, name) = (self.toolchain.language.title, kernel.name());
        let wrong = |why: String| Fault::new(format!("{title}, {name} {}: {why}", size.name()));
        match reference::verify(kernel, size, &output.checks, may_differ).map_err(wrong)? {
            Bits::Same => Ok(None),
            Bits::Near => {
                let why = self.calculates.inexact.unwrap_or_default();
                Ok(Some(format!(
                    "{title}: results have not the reference's last bits, but are within 1e-10 of it: {why}"
                )))
            }
        }
    }
}
