//! Versions of Hadoop, as the names of its jars have them.

/// The two numbers by which a Hadoop is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    pub major: u32,
    pub minor: u32,
}

/// The oldest that is used here.
pub const OLDEST: Release = Release { major: 3, minor: 3 };

impl Release {
    /// Reads 3.4.2 or 3.3.6.7.2-vendor. `None` where it does not begin with two numbers.
    pub fn read(version: &str) -> Option<Release> {
        let mut parts = version.split(['.', '-']).map(str::parse::<u32>);
        Some(Release { major: parts.next()?.ok()?, minor: parts.next()?.ok()? })
    }
}

/// The version in the name of a jar of Hadoop's, such as `hadoop-common-3.4.2.jar` of `hadoop-common`; `None` for
/// another jar, and for those of tests and sources.
pub fn of_jar<'a>(name: &'a str, artifact: &str) -> Option<&'a str> {
    let version = name.strip_prefix(artifact)?.strip_prefix('-')?.strip_suffix(".jar")?;
    let is_main =
        !["-tests", "-sources", "-test-sources", "-javadoc"].iter().any(|end| version.ends_with(end));
    (is_main && version.starts_with(|c: char| c.is_ascii_digit())).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let read = |text| Release::read(text);
        assert_eq!(read("3.4.2"), Some(Release { major: 3, minor: 4 }));
        assert_eq!(read("3.3.6.7.2-1"), Some(Release { major: 3, minor: 3 }));
        assert!(read("3.10.0") > read("3.9.1"));
        assert!(
            read("2.10.2") < Some(OLDEST) && read("3.2.4") < Some(OLDEST) && read("3.3.0") >= Some(OLDEST)
        );
        assert_eq!((read("trunk"), read("3"), read("")), (None, None, None));
    }

    #[test]
    fn the_main_jar_tells_the_version() {
        assert_eq!(of_jar("hadoop-common-3.4.2.jar", "hadoop-common"), Some("3.4.2"));
        assert_eq!(of_jar("hadoop-core-1.2.1.jar", "hadoop-core"), Some("1.2.1"));
        for other in [
            "hadoop-common-3.4.2-tests.jar",
            "hadoop-common-3.4.2-sources.jar",
            "hadoop-common-registry-3.4.2.jar",
            "hadoop-common-.jar",
            "hadoop-common-3.4.2.jar.part",
            "guava-27.0-jre.jar",
        ] {
            assert_eq!(of_jar(other, "hadoop-common"), None, "{other}");
        }
    }
}
