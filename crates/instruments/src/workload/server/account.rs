//! The unprivileged account that servers run as when boxscore runs as root.
//!
//! Accounts are read from /etc/passwd only; those of a directory service are not seen. Without root, servers run as
//! the user who started boxscore.

use std::path::Path;

use sys::process::Account;

/// Accounts made for programs without rights, in order of choice.
const NAMES: [&str; 5] = ["nobody", "www-data", "http", "nginx", "apache"];

/// An account to drop to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unprivileged {
    pub name: String,
    pub account: Account,
}

impl Unprivileged {
    /// True if a folder with this owner, group and mode lets the account pass. Access control lists are not looked at.
    pub fn may_pass(&self, uid: u32, gid: u32, mode: u32) -> bool {
        let bit = if uid == self.account.uid {
            0o100
        } else if gid == self.account.gid || self.account.groups.contains(&gid) {
            0o010
        } else {
            0o001
        };
        mode & bit != 0
    }

    /// True if `dir` and every folder above it let the account pass.
    pub fn reaches(&self, dir: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let Ok(full) = std::fs::canonicalize(dir) else { return false };
        full.ancestors().all(|folder| {
            std::fs::metadata(folder).is_ok_and(|meta| self.may_pass(meta.uid(), meta.gid(), meta.mode()))
        })
    }
}

/// The account for servers; `None` when we are not root. Fails when /etc/passwd has no usable account.
pub fn choose() -> Result<Option<Unprivileged>, String> {
    if sys::files::effective_ids().0 != 0 {
        return Ok(None);
    }
    let passwd = std::fs::read("/etc/passwd").map_err(|error| format!("cannot read /etc/passwd: {error}"))?;
    match NAMES.iter().find_map(|name| find(&passwd, name)) {
        Some(found) => Ok(Some(found)),
        None => Err(format!(
            "no unprivileged account to run a server as: /etc/passwd has none of {}; run boxscore as an ordinary user",
            NAMES.join(", ")
        )),
    }
}

/// The account of that name in the text of /etc/passwd, unless it is root's.
fn find(passwd: &[u8], name: &str) -> Option<Unprivileged> {
    let text = String::from_utf8_lossy(passwd);
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_wanted = fields.next() == Some(name);
        let uid: u32 = fields.nth(1)?.parse().ok()?;
        let gid: u32 = fields.next()?.parse().ok()?;
        // The last number means "unchanged" to the calls that change accounts.
        let is_real = uid != 0 && gid != 0 && uid != u32::MAX && gid != u32::MAX;
        let account = Account { uid, gid, groups: vec![gid] };
        (is_wanted && is_real).then(|| Unprivileged { name: name.to_owned(), account })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/bash\nbroken\nnobody:x:0:0::/:/bin/sh\n\
        www-data:x:33:34:www-data:/var/www:/usr/sbin/nologin\nhttp:x:4294967295:1::/:/bin/false\n\xff:x:1:1";

    #[test]
    fn finds_accounts_that_are_not_root() {
        let found = find(PASSWD, "www-data").unwrap();
        assert_eq!((found.account.uid, found.account.gid), (33, 34));
        assert_eq!(found.account.groups, [34]);
        for name in ["root", "nobody", "http", "broken", "www", ""] {
            assert_eq!(find(PASSWD, name), None, "{name}");
        }
    }

    #[test]
    fn passing_depends_on_who_one_is() {
        let found = find(PASSWD, "www-data").unwrap();
        for (uid, gid, mode, may) in [
            (0, 0, 0o755, true),
            (0, 0, 0o750, false),
            (0, 34, 0o750, true),
            (0, 34, 0o705, false),
            (33, 0, 0o700, true),
            (33, 34, 0o077, false),
            (0, 0, 0o1777, true),
        ] {
            assert_eq!(found.may_pass(uid, gid, mode), may, "{uid} {gid} {mode:o}");
        }
        assert!(found.reaches(Path::new("/")));
        assert!(!found.reaches(Path::new("/no/such/folder")));
    }

    #[test]
    fn only_root_has_rights_to_drop() {
        let is_root = sys::files::effective_ids().0 == 0;
        // Where root has no account to drop to, it must say so.
        match choose() {
            Ok(chosen) => assert_eq!(chosen.is_some(), is_root),
            Err(why) => assert!(is_root && why.contains("nobody"), "{why}"),
        }
    }
}
