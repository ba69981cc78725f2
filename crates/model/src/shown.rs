//! How an instrument's figures are shown: a part of its card, read by screens, reports and the paragraph of a verdict.

use crate::params::Params;

/// Names, order and topic of an instrument's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// People's name of the instrument, such as `disk read`. Empty where the parameters of `tells` are name enough.
    pub label: &'static str,
    /// The metric that a name without one stands for; others are added to it. Empty: every metric is named.
    pub main: &'static str,
    /// Parameters that belong to a figure's name, in the order of the name.
    pub tells: &'static [Tell],
    /// The sort keys of the instrument's figures.
    pub sorted: &'static [By],
    /// Place of the instrument among those of its family, lowest first.
    pub place: u16,
    pub topic: Topic,
    /// Figures that `show --line` has a short code for.
    pub codes: &'static [Code],
}

impl Shown {
    /// An instrument whose figures are called `name metric k=v`, such as one of facts, which has none.
    pub const PLAIN: Shown = Shown {
        label: "",
        main: "",
        tells: &[],
        sorted: &[],
        place: u16::MAX,
        topic: Topic::Named,
        codes: &[],
    };
}

/// A parameter of a figure's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tell {
    pub param: &'static str,
    /// The default is not said.
    unusual: bool,
    /// Nor are these values.
    unless: &'static [&'static str],
}

impl Tell {
    /// Whatever its value is.
    pub const fn always(param: &'static str) -> Tell {
        Tell { param, unusual: false, unless: &[] }
    }

    /// Where it is not the default.
    pub const fn unusual(param: &'static str) -> Tell {
        Tell { param, unusual: true, unless: &[] }
    }

    /// Nor where it is one of these.
    #[must_use]
    pub const fn nor(self, unless: &'static [&'static str]) -> Tell {
        Tell { unless, ..self }
    }

    /// True if a value is part of the name; `default` is the parameter's default.
    pub fn says(&self, value: &str, default: &str) -> bool {
        !(self.unless.contains(&value) || self.unusual && value == default)
    }
}

/// One sort key of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The metric's place on the card.
    Metric,
    /// A parameter: its place among the choices, or its number.
    Param(&'static str),
}

/// Topic of a figure in a verdict's paragraph. The figures of one topic share a clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topic {
    /// Each by its name: `runs NAME 18 % faster`, `takes 9 % longer for NAME`.
    #[default]
    Named,
    /// `computes 18 % faster`.
    Compute,
    /// `moves memory 18 % faster`, `waits 9 % longer for memory`.
    Memory,
    /// `drives its disk 18 % faster`, `waits 9 % longer for` what is named here.
    Disk(&'static str),
    /// `takes 9 % longer for the work`.
    Work,
    /// Times are `takes 9 % longer for` what is named here; others go by their names.
    Wait(&'static str),
    /// Something that is used up, of which less is better: `uses 9 % less` of what is named here.
    Uses(&'static str),
    /// Rates of one value of a parameter together: `runs INSTRUMENT in VALUE 18 % faster`. `whole` stands for the value
    /// of figures without it.
    In { param: &'static str, whole: &'static str },
}

/// A short code for a headline figure whose other parameters are the usual ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    pub code: &'static str,
    pub metric: &'static str,
    /// The parameters of the figure, as `k=v;k=v`.
    pub params: &'static str,
}

impl Code {
    pub const fn new(code: &'static str, metric: &'static str, params: &'static str) -> Code {
        Code { code, metric, params }
    }

    /// True if the code stands for this figure of the instrument.
    pub fn is_of(&self, metric: &str, params: &Params) -> bool {
        self.metric == metric && Params::parse(self.params).is_ok_and(|own| params.contains(&own))
    }
}

/// Role of an instrument for the rules and the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// It loads a server; this metric is what its takes are about.
    Load { rate: &'static str },
    /// It looks for the highest rate of the load of that instrument that a server holds within a limit.
    Search { rate: &'static str, load: &'static str },
    /// It holds levels of the load of that instrument, or of work of its own, and reads the power.
    Power { load: Option<&'static str> },
}

impl Role {
    /// The rate of a load or a search.
    pub const fn rate(self) -> Option<&'static str> {
        match self {
            Role::Plain | Role::Power { .. } => None,
            Role::Load { rate } | Role::Search { rate, .. } => Some(rate),
        }
    }
}
