//! Why a host gave no answer: what can go wrong between this program and a command on a host, each with its sentence.

use std::fmt;

use super::host::Host;

/// How far a login has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// ssh looks up its name, or starts what it reaches the host through.
    Name,
    /// It waits for the host to take the connection.
    Connect,
    /// It waits for the first line of an ssh server.
    Banner,
    /// It negotiates keys.
    Keys,
    /// It proves who we are.
    Authentication,
    /// It opens the session of the command.
    Session,
}

impl Stage {
    const fn says(self) -> &'static str {
        match self {
            Stage::Name => "looking up its name",
            Stage::Connect => "connecting",
            Stage::Banner => "waiting for its ssh server's first line",
            Stage::Keys => "negotiating keys",
            Stage::Authentication => "authenticating",
            Stage::Session => "starting the command",
        }
    }

    const fn hint(self) -> &'static str {
        match self {
            Stage::Name => "the name service is slow or dead: give it an address (/etc/hosts, HostName)",
            Stage::Connect => "it is off, or its packets are dropped on the way",
            Stage::Banner | Stage::Keys | Stage::Authentication | Stage::Session => {
                "it takes connections and does not go on: it hangs, or is overloaded"
            }
        }
    }
}

/// Why a host gave no answer. `said` is ssh's own text, made printable and cut.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// Its key is another one than is known; `at` is the file and line of the known one.
    KeyChanged {
        at: Option<String>,
    },
    /// No key of it is known, and the configuration asks for one.
    KeyUnknown,
    NameUnknown {
        said: String,
    },
    NoRoute {
        said: String,
    },
    Refused,
    /// It does not let this user in; `ways` is what it would accept.
    LoginRefused {
        ways: Option<String>,
    },
    /// It closed the connection before the login was done, also when asked again.
    Closed {
        said: String,
    },
    /// Something else than an ssh server answers there.
    NotSsh {
        said: String,
    },
    /// Both sides have no algorithm in common.
    NothingInCommon {
        said: String,
    },
    /// The configuration of ssh on this side is refused.
    Configuration {
        said: String,
    },
    /// There is no ssh on this side.
    NoClient {
        said: String,
    },
    /// A login that took too long.
    Slow {
        stage: Stage,
        seconds: f64,
    },
    /// The connection broke while the command ran.
    Lost,
    /// It takes no further session.
    NoSession {
        said: String,
    },
    /// The command ran longer than it may.
    TimedOut {
        seconds: f64,
    },
    /// The user stopped; `begun` if its command may have begun.
    Interrupted {
        begun: bool,
    },
    /// A file was not copied.
    Copy {
        said: String,
    },
    /// boxscore is not there for its architecture.
    NoBuild {
        architecture: String,
    },
    /// No folder of it can hold boxscore.
    NoPlace {
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
            Failure::KeyChanged { .. } => "host-key-changed",
            Failure::KeyUnknown => "host-key-unknown",
            Failure::NameUnknown { .. } => "name-unknown",
            Failure::NoRoute { .. } => "no-route",
            Failure::Refused => "refused",
            Failure::LoginRefused { .. } => "login-refused",
            Failure::Closed { .. } => "closed",
            Failure::NotSsh { .. } => "not-ssh",
            Failure::NothingInCommon { .. } => "nothing-in-common",
            Failure::Configuration { .. } => "configuration",
            Failure::NoClient { .. } => "no-client",
            Failure::Slow { stage: Stage::Name, .. } => "name-slow",
            Failure::Slow { .. } => "login-slow",
            Failure::Lost => "lost",
            Failure::NoSession { .. } => "no-session",
            Failure::TimedOut { .. } => "timeout",
            Failure::Interrupted { .. } => "interrupted",
            Failure::Copy { .. } => "copy",
            Failure::NoBuild { .. } => "no-build",
            Failure::NoPlace { .. } => "no-place",
            Failure::Other { .. } => "other",
        }
    }

    /// True where the host does not answer now, and may do so later.
    pub const fn is_down(&self) -> bool {
        matches!(
            self,
            Failure::NoRoute { .. }
                | Failure::Refused
                | Failure::Closed { .. }
                | Failure::Slow { .. }
                | Failure::Lost
        )
    }

    /// Advice, where there is one.
    pub fn hint(&self, host: &Host) -> Option<String> {
        Some(match self {
            Failure::KeyChanged { .. } => {
                format!(
                    "if it was installed anew, `ssh-keygen -R {}` forgets the old key; else find out who answers",
                    host.key_name()
                )
            }
            Failure::KeyUnknown => format!("`ssh {}` shows its key and asks", host.by_hand()),
            Failure::Refused => "it is on, and no ssh server listens at that port".to_owned(),
            Failure::LoginRefused { .. } => {
                format!("`ssh -o BatchMode=yes {} true` must work without asking", host.by_hand())
            }
            Failure::Closed { .. } => {
                "its ssh server was overloaded (MaxStartups) or refuses this address".to_owned()
            }
            Failure::Slow { stage, .. } => stage.hint().to_owned(),
            Failure::NoSession { .. } => "its MaxSessions, or its ControlMaster=ask".to_owned(),
            Failure::NoBuild { architecture } => format!(
                "`make dist-all` builds dist/boxscore-{architecture} for x86_64, aarch64 and i686; --binaries dist \
                 has them taken from there; a boxscore that you copied there yourself measures by --via 'ssh HOST \
                 ./boxscore'"
            ),
            _ => return None,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::KeyChanged { at: Some(at) } => write!(out, "its host key is not the known one ({at})"),
            Failure::KeyChanged { at: None } => out.write_str("its host key is not the known one"),
            Failure::KeyUnknown => out.write_str("its host key is not known"),
            Failure::NameUnknown { said } => write!(out, "its name is not known: {said}"),
            Failure::NoRoute { said } => write!(out, "there is no way to it: {said}"),
            Failure::Refused => out.write_str("it refused the connection"),
            Failure::LoginRefused { ways: Some(ways) } => {
                write!(out, "it refused the login; it accepts {ways}")
            }
            Failure::LoginRefused { ways: None } => out.write_str("it refused the login"),
            Failure::Closed { said } => write!(out, "it closed the connection during the login: {said}"),
            Failure::NotSsh { said } => write!(out, "what answers there is no ssh server: {said}"),
            Failure::NothingInCommon { said } => {
                write!(out, "its ssh server speaks nothing that ours does: {said}")
            }
            Failure::Configuration { said } => write!(out, "the configuration of ssh on this side: {said}"),
            Failure::NoClient { said } => write!(out, "ssh cannot be started on this side: {said}"),
            Failure::Slow { stage, seconds } => {
                write!(out, "no login within {seconds} s: it took too long {}", stage.says())
            }
            Failure::Lost => out.write_str("the connection was lost while the command ran"),
            Failure::NoSession { said } => write!(out, "it takes no further session: {said}"),
            Failure::TimedOut { seconds } => {
                write!(out, "the command took longer than {seconds} s; it was left")
            }
            Failure::Interrupted { begun: true } => out.write_str("interrupted; its command may go on there"),
            Failure::Interrupted { begun: false } => out.write_str("interrupted before its command began"),
            Failure::Copy { said } => write!(out, "not copied: {said}"),
            Failure::NoBuild { architecture } => {
                write!(out, "there is no static boxscore here for its processor ({architecture})")
            }
            Failure::NoPlace { said } => out.write_str(said),
            Failure::Other { said } => out.write_str(said),
        }
    }
}

/// Characters of foreign text that are kept.
const SHOWN: usize = 200;

/// Foreign bytes as one line without control characters.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    let mut shown = String::new();
    for letter in text.chars().take(SHOWN) {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_changes_no_terminal() {
        assert_eq!(printable(b" \x1b]0;x\x07\nb\xff "), "\\u{1b}]0;x\\u{7}\\nb\u{fffd}");
        assert_eq!(printable("ä".repeat(201).as_bytes()).chars().count(), SHOWN + 3);
    }

    #[test]
    fn a_slow_login_says_where_it_stood() {
        let host = Host::new("a", None, None, None).unwrap();
        let slow = Failure::Slow { stage: Stage::Name, seconds: 3.0 };
        assert_eq!(slow.to_string(), "no login within 3 s: it took too long looking up its name");
        assert_eq!(slow.word(), "name-slow");
        assert!(slow.hint(&host).unwrap().contains("name service"));
    }
}
