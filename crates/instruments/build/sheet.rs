//! The sheet of a language, `language.toml`, and the Rust text that holds the languages in the binary.
//!
//! Pure: text in, text out. Docs/adding.md says what each key means. What is not known, missing or contradicts itself
//! is refused when boxscore is built, so that nothing of it can be wrong when it runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

pub const FILE: &str = "language.toml";
/// Parameters of the instruments themselves: no arm may be called so.
const TAKEN: [&str; 9] =
    ["lang", "kernel", "size", "seconds", "copies", "bits", "iterations", "longest", "cpus"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sheet {
    title: String,
    arm: String,
    tool: String,
    default: String,
    package: String,
    version: Vec<String>,
    #[serde(default = "one")]
    version_lines: u32,
    #[serde(default)]
    build: Vec<String>,
    run: Vec<String>,
    #[serde(default = "one")]
    cores: u32,
    #[serde(default)]
    warms: bool,
    memory: Memory,
    #[serde(default)]
    usual: Vec<String>,
    #[serde(default)]
    ignores: Vec<String>,
    #[serde(default)]
    named: BTreeMap<String, String>,
    #[serde(default)]
    packages: BTreeMap<String, String>,
    #[serde(default)]
    bits: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    bits_package: String,
    floating: Option<Floating>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    small: u64,
    large: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Floating {
    ask: Vec<String>,
    unit: Vec<(String, String)>,
    #[serde(default)]
    inexact: Vec<(String, String)>,
}

const fn one() -> u32 {
    1
}

/// A folder that was read: its name, its sheet, and the paths of its sources.
#[derive(Debug)]
pub struct Language {
    name: String,
    sheet: Sheet,
    usual: Vec<(String, String)>,
    sources: Vec<String>,
}

/// Reads the sheet of the folder `name`.
pub fn language(name: &str, text: &str, sources: Vec<String>) -> Result<Language, String> {
    let sheet: Sheet = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let wrong = |what: String| Err(format!("{FILE}: {what}"));
    if !is_word(name) {
        return wrong(format!("the folder `{name}` must be called by small letters and hyphens"));
    }
    if !is_word(&sheet.arm) || TAKEN.contains(&sheet.arm.as_str()) {
        return wrong(format!(
            "arm = `{}` must be small letters, and none of {}",
            sheet.arm,
            TAKEN.join(", ")
        ));
    }
    for (key, value) in [("title", &sheet.title), ("tool", &sheet.tool), ("package", &sheet.package)] {
        if value.trim().is_empty() {
            return wrong(format!("{key} is empty"));
        }
    }
    let spelled = sheet.default.split_whitespace().collect::<Vec<_>>().join(" ");
    if sheet.default.is_empty() || sheet.default != spelled || sheet.default.contains([';', ',']) {
        return wrong("default must be words with one blank between them, without ; and ,".to_owned());
    }
    if sheet.version.is_empty() || sheet.run.is_empty() || sources.is_empty() {
        return wrong("version, run and at least one source must be there".to_owned());
    }
    if let Some(word) = sheet.packages.keys().find(|word| !sheet.named.contains_key(*word)) {
        return wrong(format!("packages names `{word}`, which named does not"));
    }
    if let Some(bits) = sheet.bits.keys().find(|bits| !["32", "64"].contains(&bits.as_str())) {
        return wrong(format!("bits has `{bits}`, which is neither 32 nor 64"));
    }
    if sheet.cores == 0 || sheet.version_lines == 0 || sheet.memory.small == 0 || sheet.memory.large == 0 {
        return wrong("cores, version-lines and memory must be above 0".to_owned());
    }
    let mut usual = Vec::new();
    for flag in &sheet.usual {
        let Some((flag, unless)) = flag.split_once(" unless ") else {
            return wrong(format!("usual: `{flag}` is not of the form FLAG unless PATTERN"));
        };
        usual.push((flag.trim().to_owned(), unless.trim().to_owned()));
    }
    Ok(Language { name: name.to_owned(), sheet, usual, sources })
}

/// The Rust text: the languages, and what cards need to know of them while they are compiled.
pub fn module(languages: &[Language]) -> Result<String, String> {
    let mut arms: BTreeMap<&str, &str> = BTreeMap::new();
    for language in languages {
        if let Some(other) = arms.insert(&language.sheet.arm, &language.name) {
            return Err(format!("{other} and {} have both the arm {}", language.name, language.sheet.arm));
        }
    }
    if languages.is_empty() {
        return Err("there is no language".to_owned());
    }
    let names = |wanted: &dyn Fn(&&Language) -> bool| -> Vec<&str> {
        languages.iter().filter(wanted).map(|language| language.name.as_str()).collect()
    };
    let mut text = String::new();
    let mut put = |line: String| text.write_str(&line).map_err(|error| error.to_string());
    put(format!("/// Every language, by name.\npub const NAMES: &[&str] = &{:?};\n", names(&|_| true)))?;
    let warming = names(&|language| language.sheet.warms);
    put(format!("/// Those that compile while they run.\npub const WARMING: &[&str] = &{warming:?};\n"))?;
    let bits = names(&|language| !language.sheet.bits.is_empty());
    put(format!(
        "/// Those that can be asked for 32 or 64 bits.\npub const WITH_BITS: &[&str] = &{bits:?};\n"
    ))?;
    put("/// Their arms.\npub const ARMS: &[model::ParamSpec] = &[\n".to_owned())?;
    for language in languages {
        put(arm(language))?;
    }
    put("];\n/// Their sheets and sources.\npub static ALL: &[Language] = &[\n".to_owned())?;
    for language in languages {
        put(literal(language))?;
    }
    put("];\n".to_owned())?;
    Ok(text)
}

fn arm(language: &Language) -> String {
    let Sheet { arm, title, default, named, .. } = &language.sheet;
    let words = match named.keys().map(String::as_str).collect::<Vec<_>>() {
        words if words.is_empty() => String::new(),
        words => format!(", one of {}", words.join(", ")),
    };
    let says = format!("what makes {title} run: a program with flags, flags alone{words}");
    let kind = format!("model::ParamKind::Only(\"lang\", &[{:?}], &model::ParamKind::Text)", language.name);
    format!("    model::ParamSpec::new({arm:?}, {kind}, {default:?}, {says:?}).label(model::Label::Value),\n")
}

fn literal(language: &Language) -> String {
    let Language { name, sheet, usual, sources } = language;
    let Memory { small, large } = sheet.memory;
    let floating = match &sheet.floating {
        None => "None".to_owned(),
        Some(Floating { ask, unit, inexact }) => {
            format!("Some(Floating {{ ask: &{ask:?}, unit: &{unit:?}, inexact: &{inexact:?} }})")
        }
    };
    let files = sources.iter().map(|path| {
        let file = path.rsplit('/').next().unwrap_or(path);
        format!("({file:?}, include_str!({path:?}))")
    });
    let files = files.collect::<Vec<_>>().join(", ");
    let pairs = |map: &BTreeMap<String, String>| format!("{:?}", map.iter().collect::<Vec<_>>());
    let (named, packages) = (pairs(&sheet.named), pairs(&sheet.packages));
    let bits = sheet.bits.iter().map(|(bits, flags)| format!("({bits:?}, &{flags:?} as &[&str])"));
    let bits = bits.collect::<Vec<_>>().join(", ");
    let Sheet { title, arm, tool, default, package, version, version_lines, build, run, .. } = sheet;
    let Sheet { cores, ignores, bits_package, .. } = sheet;
    format!(
        "    Language {{ name: {name:?}, title: {title:?}, arm: {arm:?}, tool: {tool:?}, default: {default:?}, \
         package: {package:?}, version: &{version:?}, version_lines: {version_lines}, build: &{build:?}, \
         run: &{run:?}, cores: {cores}, memory_mib: ({small}, {large}), usual: &{usual:?}, \
         ignores: &{ignores:?}, named: &{named}, packages: &{packages}, bits: &[{bits}], \
         bits_package: {bits_package:?}, floating: {floating}, sources: &[{files}] }},\n"
    )
}
