//! One language ready to run: its sources in a private folder, built there, and a process for each kernel.
//!
//! The tool's version is asked before and after the takes of a kernel set: a program of another version is another
//! measurement. The folder goes with the program.

use std::path::PathBuf;
use std::time::Duration;

use model::{Fault, NoteBody, Record, Setup, Unfit};
use sys::process::Start;

use super::kernel::{Kernel, Size};
use super::output::{self, Output};
use super::params;
use super::reference::{self, Bits};
use super::toolchain::{Calculates, Toolchain};
use crate::workload::server::private_folder::PrivateFolder;
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
    /// Notes that stay with the run, each written once.
    said: Vec<NoteBody>,
    /// Why no further take can come, if so.
    gone: Option<String>,
    _place: PrivateFolder,
}

impl Program {
    /// Finds the tool that the setup names, and builds the program with it. Fails when there is no such tool, or the
    /// build fails.
    pub fn make(setup: &Setup) -> Result<Program, Unfit> {
        Program::build(setup, params::toolchain(setup)?)
    }

    /// Builds the program of a tool's language in a private folder. Fails when the build does.
    pub fn build(setup: &Setup, toolchain: Toolchain) -> Result<Program, Unfit> {
        guard::available().map_err(Unfit::new)?;
        let version = toolchain.version().map_err(Unfit::new)?;
        let place = PrivateFolder::make(&setup.dir, None).map_err(Unfit::new)?;
        let made = |name: &str| place.folder(name).map_err(Unfit::new);
        let (folder, out) = (made("sources")?, made("out")?);
        for (name, text) in toolchain.language.sources {
            let path = folder.join(name);
            sys::files::atomic_write(&path, text.as_bytes(), 0o600)
                .map_err(|error| Unfit::new(error.to_string()))?;
        }
        toolchain.build(&folder, &out).map_err(Unfit::new)?;
        let calculates = toolchain.calculates().map_err(Unfit::new)?;
        let (limit, said, gone) = (LIMIT, Vec::new(), None);
        Ok(Program { toolchain, calculates, version, folder, out, limit, said, gone, _place: place })
    }

    /// Records the tool, and how many copies of it run on which CPUs.
    pub fn tell(&mut self, copies: usize, cpus: &[u32], record: &mut dyn Record) {
        let shown = model::params::show_cpus(cpus);
        let place = match (copies, cpus.len()) {
            (1, 1) => format!("on CPU {shown}"),
            (1, _) => format!("on CPUs {shown}, so that its compiler works beside it"),
            _ => format!("{copies} copies at once on CPUs {shown}"),
        };
        self.note(NoteBody::Toolchain(format!("{}; {place}", self.sentence())), record);
    }

    fn note(&mut self, note: NoteBody, record: &mut dyn Record) {
        if !self.said.contains(&note) {
            record.note(note.clone());
            self.said.push(note);
        }
    }

    /// The tool, its version and flags, and the unit that calculates.
    fn sentence(&self) -> String {
        let language = self.toolchain.language;
        let unit = self.calculates.unit.map(|unit| format!("; floating point: {unit}")).unwrap_or_default();
        let version = self.toolchain.shown(&self.version);
        format!("{}: `{}`, which is {version}{unit}", language.title, self.toolchain.called())
    }

    /// Fails when the tool is no longer the one that built the program; then no further take can come.
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

    /// Why no further take can come, if so.
    pub fn gone(&self) -> Option<String> {
        self.gone.clone()
    }

    /// Runs the program once on `cpus`: `task` follows the kernel and the size. Fails when it fails, or its output is
    /// malformed.
    pub fn run(&self, kernel: Kernel, size: Size, task: &[String], cpus: &[u32]) -> Result<Output, Fault> {
        let words = [&[kernel.name().to_owned(), size.name().to_owned()], task].concat();
        self.run_words(&format!("{} {}", kernel.name(), size.name()), &words, cpus)
    }

    /// Runs the program once on `cpus` with these words; `about` is for errors. Fails as [`Program::run`] does.
    pub fn run_words(&self, about: &str, words: &[String], cpus: &[u32]) -> Result<Output, Fault> {
        let failed = |how: String| Fault::new(format!("{}, {about}: {how}", self.toolchain.language.title));
        let template = self.toolchain.language.run;
        let mut command = self.toolchain.command(template, &self.folder, &self.out).map_err(failed)?;
        command.args(words);
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

    /// Fails when a result is wrong. Notes a result that is right but not equal to the reference to the last bit.
    pub fn verify(
        &mut self,
        kernel: Kernel,
        size: Size,
        output: &Output,
        record: &mut dyn Record,
    ) -> Result<(), Fault> {
        let may_differ = self.calculates.inexact.is_some();
        let (title, name) = (self.toolchain.language.title, kernel.name());
        let wrong = |why: String| Fault::new(format!("{title}, {name} {}: {why}", size.name()));
        if reference::verify(kernel, size, &output.checks, may_differ).map_err(wrong)? == Bits::Near {
            self.note_bits(record);
        }
        Ok(())
    }

    /// Notes once that results are right but not equal to the reference to the last bit.
    pub fn note_bits(&mut self, record: &mut dyn Record) {
        let (title, why) = (self.toolchain.language.title, self.calculates.inexact.unwrap_or_default());
        let text = format!(
            "{title}: results differ from the reference in their last bits, by less than 1e-10: {why}"
        );
        self.note(NoteBody::Bits(text), record);
    }
}
