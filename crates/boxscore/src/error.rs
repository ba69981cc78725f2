//! Errors as a user meets them: a kind, what was wrong and where, and what to do. One place maps kinds to exit codes.

use std::fmt;

use model::doc::ErrorDoc;
pub use model::nearest::nearest;
use report::text::line::PasteError;
use store::StoreError;

use crate::import::csv::CsvError;

/// Whose fault it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line: exit 2.
    Usage,
    /// The user's data, file, host or server: exit 1.
    Data,
    /// Finished, but a take faulted or `--fail-on` fired: exit 3.
    Faults,
    /// Interrupted; finished takes are stored: exit 130.
    Interrupted,
}

impl Kind {
    pub const fn exit_code(self) -> u8 {
        match self {
            Kind::Data => 1,
            Kind::Usage => 2,
            Kind::Faults => 3,
            Kind::Interrupted => 130,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Kind::Data => "data",
            Kind::Usage => "usage",
            Kind::Faults => "faults",
            Kind::Interrupted => "interrupted",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    pub kind: Kind,
    pub message: String,
    pub hint: Option<String>,
}

impl CliError {
    pub fn usage(message: impl Into<String>) -> CliError {
        CliError { kind: Kind::Usage, message: message.into(), hint: None }
    }

    /// A directory of `--dir` that is not there.
    pub fn no_directory(dir: &str) -> CliError {
        CliError::data(format!("--dir {dir}: there is no such directory"))
    }

    pub fn data(message: impl Into<String>) -> CliError {
        CliError { kind: Kind::Data, message: message.into(), hint: None }
    }

    pub fn interrupted(message: impl Into<String>) -> CliError {
        CliError { kind: Kind::Interrupted, ..CliError::data(message) }
    }

    /// A flag names a CPU that cannot be used.
    pub fn no_cpu(flag: &str, error: &model::params::NoCpu) -> CliError {
        CliError::usage(format!("{flag}: {error}")).hint(format!("allowed are {}", error.allowed))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn maybe_hint(self, hint: Option<impl Into<String>>) -> CliError {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Adds the known name that is nearest to the mistyped one, if one is near enough.
    #[must_use]
    pub fn did_you_mean<'a>(self, typed: &str, known: impl IntoIterator<Item = &'a str>) -> CliError {
        self.maybe_hint(nearest(typed, known).map(|near| format!("did you mean `{near}`?")))
    }

    pub fn document(&self) -> ErrorDoc {
        ErrorDoc {
            schema: "boxscore.error/1".to_owned(),
            kind: self.kind.word().to_owned(),
            message: self.message.clone(),
            hint: self.hint.clone(),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(out, "\n hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CliError {}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        CliError::data(error.to_string()).maybe_hint(error.hint())
    }
}

/// Errors of the user's data or host that have nothing to add to their text.
macro_rules! plain_errors {
    ($($error:ty),+) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> CliError {
                CliError::data(error.to_string())
            }
        })+
    };
}

plain_errors!(CsvError, PasteError, serde_json::Error, sys::Error);
