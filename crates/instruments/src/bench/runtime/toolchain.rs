//! The compiler or virtual machine that an arm's value names: found, asked for its version, and its command lines.
//!
//! A value is a program with flags (`gcc -O3 -march=native`, `/opt/jdk/bin/java -Xint`), flags alone for the language's
//! usual program (`-Xint`), or words that its sheet names (`zero`). Words end at blanks; there are no quotation marks.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sys::process::Start;

use super::language::Language;
use crate::workload::server::kind::{is_program, search_beside};
use crate::workload::shell::{self, Ended};

/// The unit whose results have other last bits.
const X87: &str = "x87";
/// Building, and what a tool says of itself.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub struct Toolchain {
    pub language: &'static Language,
    /// Its full path.
    pub tool: PathBuf,
    flags: Vec<String>,
    bits: &'static [&'static str],
    /// Packages that bring what may be missing.
    packages: Vec<&'static str>,
}

/// The compiler's description of its floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calculates {
    /// The unit, where it tells.
    pub unit: Option<&'static str>,
    /// Why results may differ from the reference in their last bits, if so.
    pub inexact: Option<&'static str>,
}

/// An arm's value in parts: the program it names, its flags, and the words that stood for some.
fn parts(language: &Language, value: &str) -> (Option<String>, Vec<String>, Vec<String>) {
    let (mut tool, mut flags, mut named) = (None, Vec::new(), Vec::new());
    for (at, word) in value.split_whitespace().enumerate() {
        let stands_for = language.named.iter().find(|(name, _)| *name == word);
        match stands_for {
            Some((_, text)) => {
                named.push(word.to_owned());
                flags.extend(text.split_whitespace().map(str::to_owned));
            }
            None if at == 0 && !word.starts_with('-') => tool = Some(word.to_owned()),
            None => flags.push(word.to_owned()),
        }
    }
    (tool, flags, named)
}

/// True if a flag matches a pattern, which may have one `*`.
fn is_like(flag: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => flag == pattern,
        Some((start, end)) => {
            flag.len() >= start.len() + end.len() && flag.starts_with(start) && flag.ends_with(end)
        }
    }
}

impl Toolchain {
    /// Finds the tool that `value` names, for programs of `bits` bits if given. Fails when it is not installed.
    pub fn find(language: &'static Language, value: &str, bits: Option<&str>) -> Result<Toolchain, String> {
        let (tool, own, named) = parts(language, value);
        let name = tool.as_deref().unwrap_or(language.tool);
        let missing = || {
            format!(
                "{}: there is no program `{name}` here: `apt-get install {}` installs {}",
                language.title, language.package, language.tool
            )
        };
        let tool = located(name).ok_or_else(missing)?;
        let usual = language.usual.iter().filter(|(_, unless)| !own.iter().any(|flag| is_like(flag, unless)));
        let mut flags: Vec<String> = usual.map(|(flag, _)| (*flag).to_owned()).collect();
        flags.extend(own);
        let mut packages: Vec<&str> = language
            .packages
            .iter()
            .filter(|(word, _)| named.iter().any(|n| n == word))
            .map(|p| p.1)
            .collect();
        let bits = match bits {
            None => &[] as &[&str],
            Some(width) => {
                packages.extend(Some(language.bits_package).filter(|package| !package.is_empty()));
                let known = language.bits.iter().find(|(known, _)| *known == width);
                known.ok_or_else(|| format!("{} cannot be asked for {width} bits", language.title))?.1
            }
        };
        Ok(Toolchain { language, tool, flags, bits, packages })
    }

    /// `/usr/bin/gcc -O2 -m32`.
    pub fn called(&self) -> String {
        let words = self.flags.iter().map(String::as_str).chain(self.bits.iter().copied());
        std::iter::once(self.tool.display().to_string())
            .chain(words.map(str::to_owned))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The words of a command line of the sheet.
    fn words(&self, template: &[&str], out: &Path) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for word in template {
            match *word {
                "{flags}" => words.extend(self.flags.iter().cloned()),
                "{bits}" => words.extend(self.bits.iter().map(|flag| (*flag).to_owned())),
                _ if word.starts_with("*.") => {
                    let ending = word.trim_start_matches('*');
                    let names = self.language.sources.iter().map(|(name, _)| *name);
                    words.extend(names.filter(|name| name.ends_with(ending)).map(str::to_owned));
                }
                _ => match word.strip_prefix("{beside:").and_then(|rest| rest.strip_suffix('}')) {
                    Some(name) => words.push(self.beside(name)?.display().to_string()),
                    None => {
                        let tool = self.tool.display().to_string();
                        words
                            .push(word.replace("{tool}", &tool).replace("{out}", &out.display().to_string()));
                    }
                },
            }
        }
        Ok(words)
    }

    /// A program of the same installation, or on PATH.
    fn beside(&self, name: &str) -> Result<PathBuf, String> {
        let real = std::fs::canonicalize(&self.tool).unwrap_or_else(|_| self.tool.clone());
        let near = real.parent().map(|folder| folder.join(name)).filter(|path| is_program(path));
        near.or_else(|| search_beside(&[name], &[])).ok_or_else(|| {
            format!(
                "{}: there is no `{name}` beside {} or on PATH: `apt-get install {}` installs one",
                self.language.title,
                real.display(),
                self.language.package
            )
        })
    }

    /// A command of the sheet, to be started in `folder`. Fails when the template is malformed.
    pub fn command(&self, template: &[&str], folder: &Path, out: &Path) -> Result<Command, String> {
        let words = self.words(template, out)?;
        let (program, rest) = words.split_first().ok_or("the sheet has an empty command line")?;
        let mut command = Command::new(program);
        command.args(rest).current_dir(folder).env("LC_ALL", "C");
        for name in self.language.ignores {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// Runs a command line of the sheet to its end; the error says what it said last, and what might be missing.
    fn run(&self, template: &[&str], folder: &Path, out: &Path) -> Result<Ended, String> {
        let command = self.command(template, folder, out)?;
        let failed = |how: String| {
            let install = match self.packages.as_slice() {
                [] => String::new(),
                packages => format!(" (it needs the package {})", packages.join(", ")),
            };
            format!("{}: `{}` {how}{install}", self.language.title, self.called())
        };
        let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
        let ended = shell::run_command(command, Start::default(), &cpus, LIMIT)
            .map_err(|why| failed(format!("cannot be run: {why}")))?;
        if ended.failure(LIMIT).is_none() {
            return Ok(ended);
        }
        let how = if ended.timed_out {
            format!("did not end within {} s", LIMIT.as_secs())
        } else {
            format!("ended with {}", ended.exit.status)
        };
        if let Some(cause) = ended.stderr.cause() {
            return Err(failed(format!("{how}: {cause}")));
        }
        // A virtual machine says on stdout why it cannot start, and on stderr that it cannot.
        let said = [ended.stdout.last_lines(2), ended.stderr.last_lines(3)];
        let said = said.into_iter().filter(|lines| !lines.is_empty()).collect::<Vec<_>>().join(" | ");
        Err(failed(if said.is_empty() { how } else { format!("{how}; its last words: {said}") }))
    }

    /// The full version output of the tool. Fails when it does not run.
    pub fn version(&self) -> Result<String, String> {
        let ended = self.run(self.language.version, Path::new("/"), Path::new("/"))?;
        match format!("{}{}", ended.stdout.text(), ended.stderr.text()) {
            said if said.trim().is_empty() => Err(format!("`{}` does not tell its version", self.called())),
            said => Ok(said),
        }
    }

    /// The lines of a version that are shown.
    pub fn shown(&self, version: &str) -> String {
        let lines = version.lines().map(str::trim).filter(|line| !line.is_empty());
        let short = lines.map(|line| line.chars().take(120).collect::<String>());
        short.take(self.language.version_lines).collect::<Vec<_>>().join("; ")
    }

    /// Builds the program in `out` from the sources in `folder`, if there is something to build. Fails with the tool's
    /// message.
    pub fn build(&self, folder: &Path, out: &Path) -> Result<(), String> {
        if self.language.build.is_empty() {
            return Ok(());
        }
        self.run(self.language.build, folder, out).map(|_| ())
    }

    /// The compiler's description of its floating point. Fails when it does not run.
    pub fn calculates(&self) -> Result<Calculates, String> {
        let Some(floating) = &self.language.floating else { return Ok(Calculates::default()) };
        let said = self.run(floating.ask, Path::new("/"), Path::new("/"))?.stdout.text();
        let first = |marks: &[(&str, &'static str)]| {
            marks.iter().find(|(mark, _)| said.contains(mark)).map(|(_, means)| *means)
        };
        let unit = first(floating.unit);
        // It keeps 80 bits until a result is stored.
        let inexact = first(floating.inexact).or(unit.filter(|unit| *unit == X87));
        Ok(Calculates { unit, inexact })
    }
}

/// The full path of a program: as given where it is a path, else on PATH.
fn located(name: &str) -> Option<PathBuf> {
    match name.contains('/') {
        true => std::path::absolute(name).ok().filter(|path| is_program(path)),
        false => search_beside(&[name], &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::runtime::language::Floating;

    static TOY: Language = Language {
        name: "toy",
        title: "Toy",
        arm: "toy",
        tool: "sh",
        default: "fast",
        package: "toy-tools",
        version: &["{tool}", "{flags}"],
        version_lines: 1,
        build: &[],
        run: &["{out}/a"],
        cores: 2,
        memory_mib: (1, 2),
        usual: &[("-Xmx512m", "-Xmx*"), ("-XX:+UseSerialGC", "-XX:+Use*GC")],
        ignores: &[],
        named: &[("fast", "-server"), ("zero", "-zero -quiet")],
        packages: &[("zero", "toy-zero")],
        bits: &[("32", &["-m32"])],
        bits_package: "toy-multilib",
        floating: Some(Floating { ask: &[], unit: &[], inexact: &[] }),
        sources: &[("b.c", ""), ("a.c", ""), ("a.h", "")],
    };

    fn flags(value: &str) -> String {
        Toolchain::find(&TOY, value, None).unwrap().flags.join(" ")
    }

    #[test]
    fn a_value_is_a_program_flags_or_a_word() {
        let usual = "-Xmx512m -XX:+UseSerialGC";
        assert_eq!(flags("fast"), format!("{usual} -server"));
        assert_eq!(flags("sh"), usual);
        assert_eq!(flags("-Xint"), format!("{usual} -Xint"));
        assert_eq!(flags("/bin/sh zero -v"), format!("{usual} -zero -quiet -v"));
        assert_eq!(flags("-Xmx1g"), "-XX:+UseSerialGC -Xmx1g");
        assert_eq!(flags("-XX:+UseG1GC"), "-Xmx512m -XX:+UseG1GC");
        assert_eq!(flags("-XX:+UseLargePages"), format!("{usual} -XX:+UseLargePages"));
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        for value in ["no-such-program -O2", "/no/such/program"] {
            let why = Toolchain::find(&TOY, value, None).unwrap_err();
            let name = value.split(' ').next().unwrap();
            assert!(why.contains(name) && why.contains("apt-get install toy-tools"), "{why}");
        }
        let why = Toolchain::find(&TOY, "fast", Some("64")).unwrap_err();
        assert_eq!(why, "Toy cannot be asked for 64 bits");
        let toy = Toolchain::find(&TOY, "zero", Some("32")).unwrap();
        assert_eq!(toy.packages, ["toy-zero", "toy-multilib"]);
        assert!(toy.beside("no-such-tool").unwrap_err().contains("no `no-such-tool` beside"));
    }

    #[test]
    fn command_lines_are_those_of_the_sheet() {
        let toy = Toolchain::find(&TOY, "/bin/sh -O2", Some("32")).unwrap();
        let template = ["{tool}", "{flags}", "{bits}", "-o", "{out}/a", "*.c", "{beside:sh}"];
        let words = toy.words(&template, Path::new("/tmp/x")).unwrap();
        assert_eq!(
            words[..8],
            ["/bin/sh", "-Xmx512m", "-XX:+UseSerialGC", "-O2", "-m32", "-o", "/tmp/x/a", "b.c"]
        );
        assert!(words[9].ends_with("/sh") && words.len() == 10, "{words:?}");
        assert_eq!(toy.called(), "/bin/sh -Xmx512m -XX:+UseSerialGC -O2 -m32");
        assert_eq!(toy.shown("\n one \ntwo"), "one");
    }
}
