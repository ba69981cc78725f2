//! /proc/self/mountinfo: mounts and their mount points, and the mount of a path.

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// `major:minor` of the device.
    pub device: String,
    /// The part of the file system that is mounted.
    pub root: String,
    pub point: String,
    pub options: String,
    pub kind: String,
    /// `/dev/sda1`, `tmpfs`, `server:/export`.
    pub source: String,
    pub super_options: String,
}

/// Malformed lines are skipped.
pub fn parse(bytes: &[u8]) -> Vec<Mount> {
    String::from_utf8_lossy(bytes).lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let mut right = right.split(' ');
    Some(Mount {
        device: left.next()?.to_owned(),
        root: unescape(left.next()?),
        point: unescape(left.next()?),
        options: left.next()?.to_owned(),
        kind: right.next()?.to_owned(),
        source: unescape(right.next()?),
        super_options: right.next().unwrap_or("").to_owned(),
    })
}

/// `\040` and other octal escapes of the kernel.
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octal = bytes.get(at + 1..at + 4).filter(|_| byte == b'\\');
        let code = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(code) => {
                out.push(code);
                at += 4;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The mount that `path` (absolute) lies on: the longest mount point above it, the latest of equals.
pub fn of_path<'a>(mounts: &'a [Mount], path: &str) -> Option<&'a Mount> {
    let above = |mount: &&Mount| {
        let point = mount.point.trim_end_matches('/');
        path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    mounts.iter().filter(above).max_by_key(|mount| mount.point.trim_end_matches('/').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
        30 22 0:5 / /proc rw - proc proc rw\n\
        31 22 8:1 /sub /srv/a\\040b rw,noatime shared:1 - xfs /dev/sda1 rw,attr2\nnot a mount\n";

    #[test]
    fn paths_find_their_mount() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 3);
        assert_eq!(of_path(&mounts, "/srv/a b/c").map(|mount| mount.source.as_str()), Some("/dev/sda1"));
        assert_eq!(of_path(&mounts, "/srv/a bc").map(|mount| mount.kind.as_str()), Some("ext4"));
        assert_eq!(of_path(&mounts, "/process").map(|mount| mount.kind.as_str()), Some("ext4"));
        assert_eq!(of_path(&[], "/"), None);
    }
}
