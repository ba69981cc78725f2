//! Loads that differ in some parameters alone, in one arm or in those of a scan.

use model::Params;

use super::Load;

impl Load<'_> {
    /// The same load but for these parameters. A scan has an arm for each value, named by it: `connections=4`.
    pub fn is_alike(&self, other: &Load<'_>, but: &[&str]) -> bool {
        self.instrument == other.instrument
            && self.definition == other.definition
            && arm_but(self.arm, but).eq(arm_but(other.arm, but))
            && rest(&self.params, but).eq(rest(&other.params, but))
    }
}

/// The settings of an arm but for these parameters; of an arm with a name of its own that name.
fn arm_but<'p>(arm: &'p str, but: &[&str]) -> impl Iterator<Item = &'p str> {
    let is_other = |set: &&str| {
        let key = set.split_once('=').map(|(key, _)| key.rsplit('.').next().unwrap_or(key));
        key.is_none_or(|key| !but.contains(&key))
    };
    arm.split(',').filter(is_other)
}

fn rest<'p>(params: &'p Params, but: &[&str]) -> impl Iterator<Item = (&'p String, &'p String)> {
    params.iter().filter(|(name, _)| !but.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_of_a_scan_differ_in_its_parameter_alone() {
        let is_alike = |a: &str, b: &str| arm_but(a, &["connections"]).eq(arm_but(b, &["connections"]));
        assert!(
            is_alike("connections=1", "connections=50") && is_alike("web.connections=1", "connections=4")
        );
        assert!(is_alike("connections=1,server=nginx", "connections=4,server=nginx") && is_alike("", ""));
        assert!(!is_alike("connections=1,server=nginx", "connections=4,server=apache"));
        assert!(!is_alike("proxy", "app") && !is_alike("keepalive=on", "keepalive=off"));
    }
}
