//! The words of ssh during a login (`LogLevel=DEBUG1` and its complaints), read for how far it came and why it failed.
//!
//! The lines are those of OpenSSH 7.6 to 10. A line that nobody knows is told as it is.

use super::failure::{Failure, Stage, printable};

/// Bytes that are kept: a login says some 10 KB.
const MOST: usize = 256 << 10;

/// The text so far.
#[derive(Debug, Default)]
pub(super) struct Log(Vec<u8>);

impl Log {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = MOST.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// True if another program opened the same connection in the meantime.
    pub(super) fn was_beaten(&self) -> bool {
        self.text().lines().any(|line| {
            line.starts_with("ControlSocket ") && line.trim_end().ends_with("disabling multiplexing")
        })
    }

    /// How far the login has come.
    pub(super) fn stage(&self) -> Stage {
        let text = self.text();
        text.lines().filter_map(|line| line.strip_prefix("debug1: ")).fold(Stage::Name, |stage, line| {
            let next = MARKS.iter().find(|(begins, _)| line.starts_with(begins)).map(|(_, stage)| *stage);
            next.map_or(stage, |next| next.max(stage))
        })
    }

    /// Why the login failed.
    pub(super) fn failure(&self, seconds: f64) -> Failure {
        let text = self.text();
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("debug1: ") && !line.starts_with("OpenSSH_"))
            .collect();
        if lines.iter().any(|line| line.contains("REMOTE HOST IDENTIFICATION HAS CHANGED")) {
            let at = lines.iter().find_map(|line| line.strip_prefix("Offending ")?.split_once(" key in "));
            return Failure::KeyChanged { at: at.map(|(_, at)| printable(at.as_bytes())) };
        }
        // The last line is the most general one: "Connection closed by UNKNOWN port 65535" stands behind the reason.
        let found = lines.iter().find_map(|line| known(line, self.stage(), seconds));
        if let (Some(Failure::Closed { .. }), Some(said)) = (&found, foreign_greeting(&text)) {
            return Failure::NotSsh { said };
        }
        found.unwrap_or_else(|| {
            let last = &lines[lines.len().saturating_sub(2)..];
            let said = match last {
                [] => "ssh ended without a word".to_owned(),
                last => printable(last.join(" | ").as_bytes()),
            };
            Failure::Other { said }
        })
    }
}

/// The first line of a server that never said that it is one of ssh.
fn foreign_greeting(text: &str) -> Option<String> {
    const LINE: &str = "debug1: kex_exchange_identification: banner line ";
    let is_ssh = text.lines().any(|line| line.starts_with("debug1: Remote protocol version"));
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(LINE)?.split_once(": "));
    let (_, line) = lines.next().filter(|_| !is_ssh)?;
    // sshd's own words for a login that it drops; it may be asked again.
    let is_drop = line.starts_with("Exceeded MaxStartups") || line.starts_with("Not allowed at this time");
    (!is_drop).then(|| printable(line.as_bytes()))
}

/// Beginnings of lines that tell that a stage has begun.
const MARKS: &[(&str, Stage)] = &[
    ("Connecting to ", Stage::Connect),
    ("Connection established", Stage::Banner),
    ("Remote protocol version", Stage::Keys),
    ("Authentications that can continue", Stage::Authentication),
    ("SSH2_MSG_SERVICE_ACCEPT received", Stage::Authentication),
    ("SSH2_MSG_NEWKEYS received", Stage::Authentication),
    ("Authenticated to ", Stage::Session),
    ("Authentication succeeded", Stage::Session),
];

/// The failure that a line of ssh's tells of.
fn known(line: &str, stage: Stage, seconds: f64) -> Option<Failure> {
    let said = || printable(line.as_bytes());
    let behind = |mark: &str| line.rsplit_once(mark).map(|(_, rest)| printable(rest.as_bytes()));
    let has = |parts: &[&str]| parts.iter().any(|part| line.contains(part));
    if line.starts_with("ssh: Could not resolve hostname") {
        let reason = behind(": ").unwrap_or_else(said);
        return Some(Failure::NameUnknown { said: reason });
    }
    // The second is what a jump host says of the host behind it.
    if line.starts_with("ssh: connect to host") || line.contains("open failed: connect failed: ") {
        return Some(unconnected(line, seconds));
    }
    if line.contains("timed out during banner exchange")
        || line.starts_with("Connection to ") && has(&["timed out"])
    {
        return Some(Failure::Slow { stage: stage.max(Stage::Banner), seconds });
    }
    if line.starts_with("Timeout, server ") {
        return Some(Failure::Slow { stage, seconds });
    }
    if line.starts_with("Host key verification failed")
        || line.starts_with("No ") && has(&["host key is known"])
    {
        return Some(Failure::KeyUnknown);
    }
    if has(&[": Permission denied (", "Too many authentication failures"]) {
        let ways = line.split_once("Permission denied (").and_then(|(_, rest)| rest.split_once(')'));
        return Some(Failure::LoginRefused { ways: ways.map(|(ways, _)| printable(ways.as_bytes())) });
    }
    if has(&["banner line contains invalid characters", "invalid format", "Bad remote protocol version"])
        || line.starts_with("Protocol major versions differ")
    {
        return Some(Failure::NotSsh { said: said() });
    }
    if line.starts_with("Unable to negotiate with") {
        return Some(Failure::NothingInCommon {
            said: behind(": no ").map_or_else(said, |rest| format!("no {rest}")),
        });
    }
    if has(&["Bad configuration option", "Bad owner or permissions", "Can't open user config file"])
        || line.contains("terminating, ") && line.contains("bad configuration")
    {
        return Some(Failure::Configuration { said: said() });
    }
    if has(&["Connection closed by", "Connection reset by", "closed by remote host"]) {
        return Some(Failure::Closed { said: said() });
    }
    None
}

const TAKES_NONE: &str =
    "this machine sends nothing there (a blackhole route, or a link-local address of no link)";
const FORBIDDEN: &str = "this machine forbids it (a route of kind prohibit, or its firewall)";

/// The failure of a connection that did not come about; the reason stands behind the last colon.
fn unconnected(line: &str, seconds: f64) -> Failure {
    let reason = printable(line.rsplit(": ").next().unwrap_or(line).as_bytes());
    match reason.as_str() {
        "Connection refused" => Failure::Refused,
        "Connection timed out" | "Operation timed out" => Failure::Slow { stage: Stage::Connect, seconds },
        // What Linux says of a route of kind blackhole, and of a link-local address of no link.
        "Invalid argument" => Failure::NoRoute { said: TAKES_NONE.to_owned() },
        "Permission denied" | "Operation not permitted" => Failure::NoRoute { said: FORBIDDEN.to_owned() },
        _ => Failure::NoRoute { said: reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        let mut log = Log::default();
        log.push(text.as_bytes());
        log
    }

    #[test]
    fn each_complaint_of_ssh_has_its_failure() {
        for (text, word) in [
            ("ssh: Could not resolve hostname nosuch: Name or service not known", "name-unknown"),
            ("ssh: connect to host 127.0.2.9 port 22: Connection refused", "refused"),
            ("ssh: connect to host 10.1.1.1 port 22: No route to host", "no-route"),
            ("ssh: connect to host 10.1.1.1 port 22: Network is unreachable", "no-route"),
            ("ssh: connect to host 10.1.1.1 port 22: Connection timed out", "login-slow"),
            ("Connection timed out during banner exchange", "login-slow"),
            ("Host key verification failed.", "host-key-unknown"),
            (
                "x@WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!  x\nHost key verification failed.",
                "host-key-changed",
            ),
            ("root@10.0.0.1: Permission denied (publickey,password).", "login-refused"),
            (
                "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures",
                "login-refused",
            ),
            ("kex_exchange_identification: Connection closed by remote host", "closed"),
            ("kex_exchange_identification: read: Connection reset by peer", "closed"),
            ("Connection closed by 10.0.0.1 port 22", "closed"),
            ("kex_exchange_identification: banner line contains invalid characters", "not-ssh"),
            ("banner exchange: Connection to 10.0.0.1 port 80: invalid format", "not-ssh"),
            (
                "Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. Their offer: ssh-dss",
                "nothing-in-common",
            ),
            ("/root/.ssh/config: line 3: Bad configuration option: nonsense", "configuration"),
            ("Bad owner or permissions on /root/.ssh/config", "configuration"),
            (
                "channel 0: open failed: connect failed: No route to host\nConnection closed by UNKNOWN port 65535",
                "no-route",
            ),
            ("something new", "other"),
            ("", "other"),
        ] {
            assert_eq!(log(text).failure(1.0).word(), word, "{text}");
        }
        let text = "Unable to negotiate with 10.0.0.1 port 22: no matching cipher found. Their offer: x";
        assert!(
            log(text)
                .failure(1.0)
                .to_string()
                .ends_with("ours does: no matching cipher found. Their offer: x")
        );
        let changed = "@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@\nOffending ED25519 key in /k/known_hosts:3\n";
        assert!(log(changed).failure(1.0).to_string().ends_with("(/k/known_hosts:3)"));
        let blackhole = log("ssh: connect to host 10.1.1.1 port 22: Invalid argument").failure(1.0);
        assert_eq!(blackhole, Failure::NoRoute { said: TAKES_NONE.to_owned() });
        let prohibit = log("ssh: connect to host 10.1.1.1 port 22: Permission denied").failure(1.0);
        assert_eq!(prohibit, Failure::NoRoute { said: FORBIDDEN.to_owned() });
        let denied = log("root@10.0.0.1: Permission denied (publickey).").failure(1.0).to_string();
        assert_eq!(denied, "it refused the login; it accepts publickey");
    }

    #[test]
    fn a_server_that_is_none_of_ssh_is_told_by_its_first_line() {
        let closed = "kex_exchange_identification: Connection closed by remote host";
        let text =
            format!("debug1: kex_exchange_identification: banner line 0: HTTP/1.1 400 Bad Request\n{closed}");
        assert_eq!(log(&text).failure(1.0), Failure::NotSsh { said: "HTTP/1.1 400 Bad Request".to_owned() });
        let drop = text.replace("HTTP/1.1 400 Bad Request", "Exceeded MaxStartups");
        assert_eq!(log(&drop).failure(1.0).word(), "closed");
        let text = format!("{text}\ndebug1: Remote protocol version 2.0, x");
        assert_eq!(log(&text).failure(1.0).word(), "closed");
    }

    #[test]
    fn the_stage_is_the_furthest_one() {
        let mut log = Log::default();
        for (line, stage) in [
            ("OpenSSH_9.2p1, OpenSSL 3", Stage::Name),
            ("debug1: Connecting to 10.0.0.1 [10.0.0.1] port 22.", Stage::Connect),
            ("debug1: Connection established.", Stage::Banner),
            ("debug1: Local version string SSH-2.0-x", Stage::Banner),
            ("debug1: Remote protocol version 2.0, remote software version x", Stage::Keys),
            ("debug1: SSH2_MSG_NEWKEYS received", Stage::Authentication),
            ("debug1: Connection established.", Stage::Authentication),
            ("Authenticated to 10.0.0.1 ([10.0.0.1]:22) using \"publickey\".", Stage::Authentication),
            ("debug1: Authenticated to a", Stage::Session),
        ] {
            log.push(format!("{line}\n").as_bytes());
            assert_eq!(log.stage(), stage, "{line}");
        }
        assert_eq!(log.failure(3.0).word(), "other");
    }

    #[test]
    fn a_connection_of_another_program_is_seen() {
        assert!(log("ControlSocket /tmp/x already exists, disabling multiplexing\n").was_beaten());
        assert!(!log("debug1: x\n").was_beaten());
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,200}") {
            let failure = log(&text).failure(1.0);
            proptest::prop_assert!(!failure.to_string().contains('\n'));
        }
    }
}
