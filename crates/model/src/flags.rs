//! Options of `run`, names of tests and examples: the part of a card that a command line is made of.
//!
//! An option stands with the parameter that it sets, on the card of every instrument that obeys it. The same name may
//! mean something else in another family.

/// An option of `run` that an instrument obeys.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name without the dashes.
    pub long: &'static str,
    /// One letter that stands for it.
    pub short: Option<char>,
    /// The placeholder of its value in a help text; empty for an option without a value.
    pub value_name: &'static str,
    /// Its sentence in a help text.
    pub says: &'static str,
    pub means: Means,
    /// Another option that must be given too, and what that one is needed for.
    pub needs: Option<(&'static str, &'static str)>,
    /// Options that cannot be given beside it.
    pub conflicts: &'static [&'static str],
}

/// The effect of an option on an instrument's parameters.
#[derive(Clone, Copy, Debug)]
pub enum Means {
    /// Its value is that of the parameter.
    Param(&'static str),
    /// Its values, with commas between them, are each a value of the parameter.
    Each(&'static str),
    /// It may be repeated; its values together, one a line, are that of the parameter.
    Lines(&'static str),
    /// It is a path; the parameter gets the absolute one.
    Path(&'static str),
    /// A function reads parameters out of its value, or says what is wrong with it.
    Read(fn(&str) -> Result<Settings, String>),
    /// It is a command that starts another child of the study; the parameter gets the child's name.
    Child(&'static str),
    /// It is the file of a mix of requests. The parameter `name` gets the mix's name; `content` is set too unless one
    /// of the options `unless` is given.
    Mix { name: &'static str, content: (&'static str, &'static str), unless: &'static [&'static str] },
    /// It is a folder of files to be served. The parameter `name` gets the name of its tree, and `content` is set.
    Tree { name: &'static str, content: (&'static str, &'static str) },
    /// The server, or what its value says, is sampled in a load of its own before the takes.
    Profile,
    /// Whatever the machine can do that a load is held against is measured first, where no stored run says it.
    Ceilings,
    /// It chooses the instrument that has it, in place of the load that it is of, and sets this parameter to this value
    /// where it names one. Its own value is read by the program.
    Chooses(Option<(&'static str, &'static str)>),
    /// Its values are names of tests.
    Tests,
}

/// Parameters with their values.
pub type Settings = Vec<(&'static str, String)>;

impl Flag {
    pub const fn new(long: &'static str, value_name: &'static str, says: &'static str, means: Means) -> Flag {
        Flag { long, short: None, value_name, says, means, needs: None, conflicts: &[] }
    }

    #[must_use]
    pub const fn short(self, short: char) -> Flag {
        Flag { short: Some(short), ..self }
    }

    /// It is refused without the option `other`, which is needed as `why` says.
    #[must_use]
    pub const fn needs(self, other: &'static str, why: &'static str) -> Flag {
        Flag { needs: Some((other, why)), ..self }
    }

    #[must_use]
    pub const fn conflicts(self, conflicts: &'static [&'static str]) -> Flag {
        Flag { conflicts, ..self }
    }
}

/// The option of every load whose machine can be measured first.
pub const CEILINGS: Flag = Flag::new(
    "ceilings",
    "",
    "Measure first what this machine can do (disk, memory, loopback, boxscore's own server), as far as no stored run \
     says it: the load is told as a share of that",
    Means::Ceilings,
);

/// The option of every card that has tests.
pub static TEST: Flag =
    Flag::new("test", "TEST", "Only this test; repeatable, or several with commas", Means::Tests);

/// A test of an instrument by the name that other tools have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestName {
    pub name: &'static str,
    /// The parameters that the test fixes, as `k=v;k=v`.
    pub params: &'static str,
}

impl TestName {
    /// The whole instrument is that test.
    pub const fn new(name: &'static str) -> TestName {
        TestName { name, params: "" }
    }
}

/// A command line in a help text, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    pub command: &'static str,
    pub says: &'static str,
}

impl Example {
    pub const fn new(command: &'static str, says: &'static str) -> Example {
        Example { command, says }
    }
}
