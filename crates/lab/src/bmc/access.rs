//! How the BMC of a node is reached: its address, and the user and password of a session.

use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;

use super::Failure;
use crate::fan_out;
use crate::inventory::{Bmc, BmcKind, Fingerprint, Node, Password, Secret, SecretError};

/// Names that are looked up at once.
const WIDTH: usize = 64;

/// A BMC and what a session with it needs. `Debug` shows no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub node: String,
    pub kind: BmcKind,
    /// Its address as the inventory writes it: a name, or as `ip`.
    pub host: String,
    pub ip: IpAddr,
    pub port: u16,
    pub user: String,
    pub password: Password,
    /// The certificates that it may show.
    pub fingerprints: Vec<Fingerprint>,
}

/// How the BMC of each node is reached, in the order of the nodes. `base` is the folder of the inventory. Each password
/// is got once, and names are looked up side by side.
pub fn accesses(nodes: &[&Node], base: &Path) -> Vec<Result<Access, Failure>> {
    let mut known: Vec<(&Secret, Result<Password, SecretError>)> = Vec::new();
    let parts: Vec<Result<Parts<'_>, Failure>> =
        nodes.iter().map(|node| parts(node, base, &mut known)).collect();
    let mut places: Vec<Option<Result<IpAddr, Failure>>> = vec![None; parts.len()];
    let work = |at: usize, parts: &Result<Parts<'_>, Failure>| {
        (at, parts.as_ref().ok().map(|parts| place(parts.bmc)))
    };
    let went = fan_out::each(&parts, WIDTH, work, |(at, place)| places[at] = place);
    let lost = || match &went {
        Err(error) => Failure::Other { said: format!("on this side: {error}") },
        Ok(()) => Failure::Interrupted,
    };
    let joined = parts.into_iter().zip(places).map(|(parts, place)| {
        let Parts { node, bmc, user, password } = parts?;
        Ok(Access {
            node: node.name.clone(),
            kind: bmc.kind,
            host: bmc.address.clone(),
            ip: place.unwrap_or_else(|| Err(lost()))?,
            port: bmc.port.unwrap_or(usual_port(bmc.kind)),
            user: user.to_owned(),
            password,
            fingerprints: bmc.fingerprints.clone(),
        })
    });
    joined.collect()
}

const fn usual_port(kind: BmcKind) -> u16 {
    match kind {
        BmcKind::Ipmi => 623,
        BmcKind::Redfish => 443,
    }
}

struct Parts<'n> {
    node: &'n Node,
    bmc: &'n Bmc,
    user: &'n str,
    password: Password,
}

fn parts<'n>(
    node: &'n Node,
    base: &Path,
    known: &mut Vec<(&'n Secret, Result<Password, SecretError>)>,
) -> Result<Parts<'n>, Failure> {
    let bmc = node.bmc.as_ref().ok_or(Failure::NoBmc)?;
    let user = bmc.user.as_deref().ok_or(Failure::NotGiven { what: "user" })?;
    let secret = bmc.secret.as_ref().ok_or(Failure::NotGiven { what: "password" })?;
    let found = known.iter().find(|(other, _)| *other == secret).map(|(_, password)| password.clone());
    let password = found.unwrap_or_else(|| {
        let password = secret.password(base);
        known.push((secret, password.clone()));
        password
    });
    let password = password.map_err(|SecretError { what, hint }| Failure::NoPassword { said: what, hint })?;
    Ok(Parts { node, bmc, user, password })
}

/// The address of a name; of several, one of IPv4 comes first, which every tool takes.
fn place(bmc: &Bmc) -> Result<IpAddr, Failure> {
    let unknown = |said: String| Failure::NameUnknown { said: format!("{}: {said}", bmc.address) };
    let found = (bmc.address.as_str(), 0).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    let all: Vec<IpAddr> = found.map(|place| place.ip()).collect();
    let first = all.iter().find(|ip| ip.is_ipv4()).or(all.first());
    first.copied().ok_or_else(|| unknown("it has no address".to_owned()))
}

/// Does the work for the nodes whose BMC can be reached, and gives the results of all in their order.
pub fn reached<T>(
    all: &[Result<Access, Failure>],
    work: impl FnOnce(&[&Access]) -> Vec<Result<T, Failure>>,
) -> Vec<Result<T, Failure>> {
    let reachable: Vec<&Access> = all.iter().filter_map(|one| one.as_ref().ok()).collect();
    let mut results = work(&reachable).into_iter();
    let mut next = || results.next().unwrap_or(Err(Failure::Interrupted));
    all.iter().map(|one| one.as_ref().map_err(Clone::clone).and_then(|_| next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::read;

    #[test]
    fn what_a_session_needs_comes_from_the_inventory_node_by_node() {
        let dir = tempfile::tempdir().unwrap();
        let password = dir.path().join("bmc");
        std::fs::write(&password, "geheim\n").unwrap();
        std::fs::set_permissions(&password, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let count = "password_cmd = [\"sh\", \"-c\", \"echo x >> calls; echo other\"]";
        let text = format!(
            "[[nodes]]\nname = \"a\"\nbmc = {{ kind = \"ipmi\", address = \"127.0.0.1\", user = \"u\", password_file = \"bmc\" }}\n\
             [[nodes]]\nname = \"b[1-2]\"\nbmc = {{ kind = \"ipmi\", address = \"::1+2\", port = 9, user = \"u\", {count} }}\n\
             [[nodes]]\nname = \"c\"\n\
             [[nodes]]\nname = \"d\"\nbmc = {{ kind = \"ipmi\", address = \"127.0.0.4\", user = \"u\" }}\n\
             [[nodes]]\nname = \"e\"\nbmc = {{ kind = \"ipmi\", address = \"127.0.0.5\", password_file = \"bmc\" }}\n\
             [[nodes]]\nname = \"f\"\nbmc = {{ kind = \"ipmi\", address = \"127.0.0.6\", user = \"u\", password_file = \"no\" }}\n\
             [[nodes]]\nname = \"g\"\nbmc = {{ kind = \"ipmi\", address = \"g.invalid\", user = \"u\", password_file = \"bmc\" }}\n"
        );
        let text = text.replace("::1+2", "127.0.0.2+2");
        let lab = read(&text).unwrap();
        let all = accesses(&lab.nodes().iter().collect::<Vec<_>>(), dir.path());
        let a = all[0].as_ref().unwrap();
        assert_eq!((a.ip.to_string().as_str(), a.port, a.password.text()), ("127.0.0.1", 623, "geheim"));
        let b = all[2].as_ref().unwrap();
        assert_eq!((b.ip.to_string().as_str(), b.port, b.password.text()), ("127.0.0.3", 9, "other"));
        let calls = std::fs::read_to_string(dir.path().join("calls")).unwrap();
        assert_eq!(calls, "x\n", "two nodes, one call");
        let words: Vec<&str> = all.iter().filter_map(|one| Some(one.as_ref().err()?.word())).collect();
        assert_eq!(words, ["no-bmc", "not-given", "not-given", "no-password", "name-unknown"]);
        assert!(!format!("{all:?}").contains("geheim"));
        let results = reached(&all, |some| some.iter().map(|one| Ok(one.node.clone())).collect());
        let nodes: Vec<_> = results.iter().filter_map(|one| one.as_deref().ok()).collect();
        assert_eq!((results.len(), nodes), (8, vec!["a", "b1", "b2"]));
    }
}
