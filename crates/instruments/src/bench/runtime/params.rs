//! Parameters of the instruments of this family: their own, and an arm for each language.

use model::{Flag, Label, Means, ParamKind, ParamSpec, Setup, Unfit};

use super::kernel::{self, Kernel};
use super::language::{self, Language};
use super::toolchain::Toolchain;

pub const LANG: &str = "lang";
pub const KERNEL: &str = "kernel";
pub const BITS: &str = "bits";

/// A parameter for one of these languages; the default is the first.
pub const fn lang(names: &'static [&'static str]) -> ParamSpec {
    let says = "language whose compiler or virtual machine is measured";
    ParamSpec::new(LANG, ParamKind::Choice(names), names[0], says).label(Label::Value).flag(Flag::new(
        LANG,
        "LANG,...",
        "Languages, with commas between them [default: all]",
        Means::Each(LANG),
    ))
}

pub const KERNELS: ParamSpec = ParamSpec::new(
    KERNEL,
    ParamKind::Choice(kernel::CHOICES),
    kernel::ALL,
    "kernels of a take; `all` gives their arithmetic mean too",
)
.label(Label::Value)
.flag(Flag::new(
    KERNEL,
    "NAME,...",
    "Kernels, with commas between them: fft, sor, monte-carlo, sparse, lu [default: all]",
    Means::Each(KERNEL),
));

pub const WIDTH: ParamSpec = ParamSpec::new(
    BITS,
    ParamKind::Only(LANG, language::WITH_BITS, &ParamKind::Or("", &ParamKind::Choice(&["32", "64"]))),
    "",
    "bits of an address, where the compiler can be asked; what it makes by itself where nothing is given",
)
.label(Label::Form("{} bit"));

/// The language of a setup. Fails when it is unknown.
pub fn language(setup: &Setup) -> Result<&'static Language, Unfit> {
    let name = setup.params.get(LANG).unwrap_or_default();
    language::find(name).ok_or_else(|| Unfit::new(format!("lang={name} is no language of this build")))
}

/// The kernels of a setup. Fails when one is unknown.
pub fn kernels(setup: &Setup) -> Result<Vec<Kernel>, Unfit> {
    let word = setup.params.get(KERNEL).unwrap_or_default();
    match Kernel::named(word) {
        kernels if kernels.is_empty() => Err(Unfit::new(format!("kernel={word} is no kernel"))),
        kernels => Ok(kernels),
    }
}

/// The compiler or virtual machine of a setup. Fails when it is not installed.
pub fn toolchain(setup: &Setup) -> Result<Toolchain, Unfit> {
    let language = language(setup)?;
    let value = setup.params.get(language.arm).unwrap_or(language.default);
    Toolchain::find(language, value, setup.params.get(BITS)).map_err(Unfit::new)
}

/// Fails when the default tool of the language is missing. An arm's tool is looked for when it is prepared, so that
/// the other arms go on.
pub fn fit(setup: &Setup) -> Result<(), Unfit> {
    let language = language(setup)?;
    let is_default = setup.params.get(language.arm).is_none_or(|value| value == language.default);
    if is_default { toolchain(setup).map(|_| ()) } else { Ok(()) }
}

/// CPUs for copy number `copy`: its own first, then as many more as its language wants, as far as there are some.
pub fn cpus_of(copy: usize, language: &Language, cpus: &[u32]) -> Vec<u32> {
    cpus.iter().cycle().skip(copy).take(language.cores.min(cpus.len())).copied().collect()
}
