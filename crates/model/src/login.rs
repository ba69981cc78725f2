//! Who a key-value store of the user's is asked as.
//!
//! It goes to children over their pipes and is in no plan, note, document or message: nothing that is stored or shown
//! is made of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where the program finds it: no command line has to hold it.
pub const PASSWORD: &str = "BOXSCORE_KV_PASSWORD";
pub const USER: &str = "BOXSCORE_KV_USER";

/// Advice if a store refuses for want of a password, or of another one.
pub const REMEDY: &str = "give its password in the environment variable BOXSCORE_KV_PASSWORD (and a user name in \
                          BOXSCORE_KV_USER)";

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// `None`: the store's default user.
    pub user: Option<String>,
    pub password: String,
}

impl Login {
    /// `AUTH [user] password`, as RESP has it.
    pub fn resp(&self) -> Vec<u8> {
        let words = [Some("AUTH"), self.user.as_deref(), Some(self.password.as_str())];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        let mut out = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            out.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
        }
        out
    }
}

/// The kind of an error that AUTH was answered with. What follows it may repeat what was sent, and is shown nowhere.
pub fn refusal(answer: &[u8]) -> String {
    let word = answer.strip_prefix(b"-").unwrap_or(answer);
    let word: String =
        word.iter().take(12).take_while(|b| b.is_ascii_uppercase()).map(|b| *b as char).collect();
    match word.as_str() {
        "WRONGPASS" => "WRONGPASS: no such user, or another password".to_owned(),
        "ERR" => "ERR: it has no password, another one, or no user names".to_owned(),
        "" => "no answer to AUTH".to_owned(),
        other => other.to_owned(),
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_sent_and_not_shown() {
        let login = Login { user: None, password: "s\u{e9}same".to_owned() };
        assert_eq!(login.resp(), "*2\r\n$4\r\nAUTH\r\n$7\r\ns\u{e9}same\r\n".as_bytes());
        let named = Login { user: Some("u".to_owned()), ..login };
        assert_eq!(named.resp(), "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$7\r\ns\u{e9}same\r\n".as_bytes());
        assert_eq!(format!("{named:?}"), "Login(not shown)");
    }

    #[test]
    fn of_an_error_only_its_kind_is_shown() {
        for (answer, kind) in [
            (&b"-ERR unknown command `AUTH`, with args beginning with: `s\xc3\xa9same`"[..], "ERR: "),
            (b"-WRONGPASS invalid username-password pair", "WRONGPASS: "),
            (b"-NOPERM x", "NOPERM"),
            (b"HTTP/1.1 400", "HTTP"),
            (b"", "no answer"),
        ] {
            let said = refusal(answer);
            assert!(said.starts_with(kind) && !said.contains("same"), "{said}");
        }
    }
}
