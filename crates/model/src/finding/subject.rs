//! Subjects of findings: the run, an instrument, one of its figures, a load, or groups of requests.

use std::fmt;

use crate::params::Params;

/// Subject of a finding. Shown as `side: instrument metric k=v;k=v [arm]`, as far as each is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The side of a comparison, such as a machine; `None` outside comparisons, and where sides share it.
    pub side: Option<String>,
    /// The run of a side that has several; `None` where it need not be told.
    pub run: Option<String>,
    pub about: About,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// The whole run.
    Run,
    Instrument(String),
    /// An instrument with its parameters, of which no figure was measured.
    Cell {
        instrument: String,
        params: Params,
    },
    /// One figure.
    Figure(FigureName),
    /// A load, named by the figure of its rate.
    Load(FigureName),
    /// Two groups of requests.
    Groups {
        arm: String,
        base: String,
    },
    /// A label of logs, or a value of a parameter.
    Label(String),
}

/// One figure of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FigureName {
    pub instrument: String,
    pub metric: String,
    pub params: Params,
    /// Empty where there are no arms.
    pub arm: String,
}

impl Subject {
    pub const RUN: Subject = Subject { side: None, run: None, about: About::Run };

    pub fn instrument(name: &str) -> Subject {
        About::Instrument(name.to_owned()).into()
    }

    pub fn label(label: &str) -> Subject {
        About::Label(label.to_owned()).into()
    }

    pub fn groups(arm: &str, base: &str) -> Subject {
        About::Groups { arm: arm.to_owned(), base: base.to_owned() }.into()
    }

    /// The subject of a document: nothing or an instrument's name are what they are, anything else stays a label.
    pub fn read(text: &str) -> Subject {
        match text {
            "" => Subject::RUN,
            name if name.contains(' ') => Subject::label(name),
            name => Subject::instrument(name),
        }
    }

    #[must_use]
    pub fn of_side(self, side: &str) -> Subject {
        Subject { side: Some(side.to_owned()), ..self }
    }

    /// Of one of several runs of its side.
    #[must_use]
    pub fn of_run(self, run: &str) -> Subject {
        Subject { run: Some(run.to_owned()), ..self }
    }

    pub fn is_run(&self) -> bool {
        self.side.is_none() && self.about == About::Run
    }

    /// The figure that it is about, or the figure that a load is named by.
    pub const fn figure(&self) -> Option<&FigureName> {
        match &self.about {
            About::Figure(figure) | About::Load(figure) => Some(figure),
            _ => None,
        }
    }

    /// The instrument that it is about, where it is about one.
    pub fn of_instrument(&self) -> Option<&str> {
        match &self.about {
            About::Instrument(name) | About::Cell { instrument: name, .. } => Some(name),
            About::Figure(figure) | About::Load(figure) => Some(&figure.instrument),
            About::Run | About::Groups { .. } | About::Label(_) => None,
        }
    }

    /// The arm that it is about; empty where there are none.
    pub fn arm(&self) -> &str {
        self.figure().map_or("", |figure| &figure.arm)
    }

    /// The same without its arm.
    #[must_use]
    pub fn without_arm(mut self) -> Subject {
        if let About::Figure(figure) | About::Load(figure) = &mut self.about {
            figure.arm.clear();
        }
        self
    }

    /// True if it is about this side, label or group of requests.
    pub fn mentions(&self, name: &str) -> bool {
        let about = match &self.about {
            About::Groups { arm, base } => arm == name || base == name,
            About::Label(label) => label == name,
            _ => false,
        };
        about || self.side.as_deref() == Some(name)
    }
}

impl From<About> for Subject {
    fn from(about: About) -> Subject {
        Subject { side: None, run: None, about }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(side) = &self.side {
            to.write_str(side)?;
            if let Some(run) = &self.run {
                write!(to, ", run {run}")?;
            }
        }
        match (&self.side, &self.about) {
            (Some(_), About::Run) => Ok(()),
            (Some(_), about) => write!(to, ": {about}"),
            (None, about) => write!(to, "{about}"),
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            About::Run => Ok(()),
            About::Instrument(text) | About::Label(text) => to.write_str(text),
            About::Cell { instrument, params } => to.write_str(format!("{instrument} {params}").trim_end()),
            About::Figure(figure) | About::Load(figure) => write!(to, "{figure}"),
            About::Groups { arm, base } => write!(to, "{arm} beside {base}"),
        }
    }
}

impl fmt::Display for FigureName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FigureName { instrument, metric, params, arm } = self;
        to.write_str(format!("{instrument} {metric} {params}").trim_end())?;
        if arm.is_empty() { Ok(()) } else { write!(to, " [{arm}]") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_shown_in_one_way() {
        let params = Params::parse("connections=9;server=nginx").unwrap_or_default();
        let figure = FigureName {
            instrument: "web".into(),
            metric: "throughput".into(),
            params: params.clone(),
            arm: "a=1".into(),
        };
        let load = Subject::from(About::Load(figure));
        assert_eq!(load.to_string(), "web throughput connections=9;server=nginx [a=1]");
        let text = load.clone().without_arm().of_side("mini").to_string();
        assert_eq!(text, "mini: web throughput connections=9;server=nginx");
        assert_eq!((load.arm(), load.of_instrument()), ("a=1", Some("web")));
        assert_eq!(Subject::RUN.to_string(), "");
        assert_eq!(Subject::RUN.of_side("mini").to_string(), "mini");
        assert_eq!(Subject::label("x").of_side("mini").of_run("019b").to_string(), "mini, run 019b: x");
        assert_eq!(Subject::groups("b", "a").to_string(), "b beside a");
        let cell = About::Cell { instrument: "net-rtt".into(), params: Params::default() };
        assert_eq!(Subject::from(cell).to_string(), "net-rtt");
    }

    #[test]
    fn a_subject_mentions_sides_and_groups() {
        assert!(Subject::groups("b", "a").mentions("a") && !Subject::groups("bc", "a").mentions("b"));
        assert!(Subject::RUN.of_side("mini").mentions("mini") && Subject::label("x").mentions("x"));
        for text in ["", "disk-fsync", "b beside a", "web throughput connections=9"] {
            assert_eq!(Subject::read(text).to_string(), text);
        }
    }
}
