//! Why a BMC did not do what it was asked, or did not say how its node is, each with its sentence.

use std::fmt;

use super::State;

/// Why there is no answer of a BMC. `said` is the text of a tool, made printable and cut.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The inventory names no BMC for the node.
    NoBmc,
    /// A BMC of this kind cannot be asked for it.
    Kind {
        kind: &'static str,
    },
    /// Its certificate is none that the inventory knows.
    Certificate {
        shows: String,
        known: bool,
    },
    /// The inventory does not say what a session needs: `user`, `password`.
    NotGiven {
        what: &'static str,
    },
    /// The password could not be got from where the inventory says.
    NoPassword {
        said: String,
        hint: String,
    },
    NameUnknown {
        said: String,
    },
    NoAnswer,
    /// It opened a session, or took the request, and then fell silent.
    Lost,
    Password,
    User,
    /// The user or the password; it does not say which.
    Login,
    /// It has not what was asked for.
    Missing {
        path: String,
    },
    Privilege,
    /// It has no session left, or says that it is busy.
    Busy,
    /// It takes none of the cipher suites.
    Cipher,
    /// It reports an error.
    Error {
        said: String,
    },
    /// It took the request, and the node is as before.
    Unchanged {
        state: State,
        seconds: f64,
    },
    /// It took the request, and did not say afterwards how the node is.
    Silent {
        last: Box<Failure>,
        seconds: f64,
    },
    /// It took a setting, and says something else now.
    Otherwise {
        says: String,
    },
    /// A node that is off cannot be reset.
    IsOff,
    Interrupted,
    /// The console is open in another session.
    Taken,
    /// The tool that speaks with it is missing, or cannot be started.
    NoTool {
        said: String,
    },
    /// Nothing of the above.
    Other {
        said: String,
    },
}

impl Failure {
    /// Its name in documents.
    pub const fn word(&self) -> &'static str {
        match self {
            Failure::NoBmc => "no-bmc",
            Failure::Kind { .. } => "kind",
            Failure::Certificate { .. } => "certificate",
            Failure::NotGiven { .. } => "not-given",
            Failure::NoPassword { .. } => "no-password",
            Failure::NameUnknown { .. } => "name-unknown",
            Failure::NoAnswer => "no-answer",
            Failure::Lost => "lost",
            Failure::Password => "password",
            Failure::User => "user",
            Failure::Login => "login",
            Failure::Missing { .. } => "missing",
            Failure::Privilege => "privilege",
            Failure::Busy => "busy",
            Failure::Cipher => "cipher",
            Failure::Error { .. } => "error",
            Failure::Unchanged { .. } => "unchanged",
            Failure::Silent { .. } => "silent",
            Failure::Otherwise { .. } => "otherwise",
            Failure::IsOff => "is-off",
            Failure::Interrupted => "interrupted",
            Failure::Taken => "taken",
            Failure::NoTool { .. } => "no-tool",
            Failure::Other { .. } => "other",
        }
    }

    /// True where the same request may be made again: it was surely not carried out, or does no harm twice.
    pub(super) const fn may_pass(&self, twice: bool) -> bool {
        matches!(self, Failure::Busy) || (twice && matches!(self, Failure::NoAnswer | Failure::Lost))
    }

    /// Advice, where there is one.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Failure::NoBmc => "bmc = { kind = \"ipmi\", address = ... } names one; -x leaves a node out",
            Failure::NotGiven { what: "user" } => "bmc = { user = \"ADMIN\" }",
            Failure::NotGiven { .. } => "password_file, password_env or password_cmd says where it is",
            Failure::NoPassword { hint, .. } => hint,
            Failure::Certificate { known: true, .. } => "it was renewed, or somebody else answers",
            Failure::Certificate { known: false, .. } => {
                "if it is right: bmc = { fingerprint = \"...\" }; --insecure asks for none"
            }
            Failure::NoAnswer => {
                "another address, no network, or it is switched off there (IPMI over LAN, HTTPS)"
            }
            Failure::Password | Failure::Login => "the inventory says where the password is",
            Failure::User => "`user` of `bmc` in the inventory",
            Failure::Privilege => "the user needs the privilege Operator on that channel",
            Failure::Busy => "all its sessions may be taken; they end by themselves after a minute",
            Failure::Taken => "--take ends that session first",
            Failure::NoTool { .. } => "Debian has them in freeipmi-tools and ipmitool",
            Failure::Unchanged { state: State::On, .. } => {
                "an operating system may ignore `soft`; `off` takes the power away"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoBmc => out.write_str("the inventory names no BMC"),
            Failure::Kind { kind } => write!(out, "this cannot be asked by {kind}"),
            Failure::Certificate { shows, known: true } => {
                write!(out, "its BMC shows a certificate that is not the known one: {shows}")
            }
            Failure::Certificate { shows, known: false } => {
                write!(out, "the inventory knows no certificate of its BMC, which shows {shows}")
            }
            Failure::NotGiven { what } => write!(out, "the inventory gives no {what} for its BMC"),
            Failure::NoPassword { said, .. } => write!(out, "no password for its BMC: {said}"),
            Failure::NameUnknown { said } => write!(out, "the name of its BMC is not known: {said}"),
            Failure::NoAnswer => out.write_str("its BMC does not answer"),
            Failure::Lost => out.write_str("its BMC fell silent during the session"),
            Failure::Password => out.write_str("its BMC refused the password"),
            Failure::User => out.write_str("its BMC does not know the user"),
            Failure::Login => out.write_str("its BMC refused the user or the password"),
            Failure::Missing { path } => write!(out, "its BMC has no {path}"),
            Failure::Privilege => out.write_str("its BMC does not let this user do that"),
            Failure::Busy => out.write_str("its BMC is busy"),
            Failure::Cipher => out.write_str("its BMC takes neither cipher suite 3 nor 17"),
            Failure::Error { said } => write!(out, "its BMC reports an error: {said}"),
            Failure::Unchanged { state, seconds } => {
                write!(out, "its BMC took the request; it is still {} after {seconds} s", state.word())
            }
            Failure::Silent { last, seconds } => {
                write!(out, "its BMC took the request, and for {seconds} s did not say how it is: {last}")
            }
            Failure::Otherwise { says } => write!(out, "its BMC took the setting, and says now: {says}"),
            Failure::IsOff => out.write_str("it is off"),
            Failure::Interrupted => out.write_str("interrupted"),
            Failure::Taken => out.write_str("its console is already active in another session"),
            Failure::NoTool { said } | Failure::Other { said } => out.write_str(said),
        }
    }
}
