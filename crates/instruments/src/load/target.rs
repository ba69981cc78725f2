//! The addresses behind the URL of a load.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use model::url::Url;

/// The addresses of a URL's host, as the system's resolver orders them. `localhost` is loopback wherever the resolver
/// does not know it (RFC 6761). Fails where the name has no address.
pub fn addresses(url: &Url) -> Result<Vec<SocketAddr>, String> {
    if let Ok(address) = url.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, url.port)]);
    }
    let failed =
        |why: String| format!("the name {} was not found: {why}; check it, or give an address", url.host);
    let found = match (url.host.as_str(), url.port).to_socket_addrs() {
        Ok(found) => found,
        Err(_) if url.host == "localhost" => {
            let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            return Ok(loopback.map(|address| SocketAddr::new(address, url.port)).to_vec());
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut addresses = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(failed("it has no address".to_owned())) } else { Ok(addresses) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_resolve() {
        let found = |text: &str| addresses(&text.parse().unwrap());
        assert_eq!(found("http://127.0.0.1:81/").unwrap(), ["127.0.0.1:81".parse().unwrap()]);
        assert_eq!(found("http://[::1]:81/").unwrap(), ["[::1]:81".parse().unwrap()]);
        assert!(found("http://localhost:81/").unwrap().iter().all(|one| one.ip().is_loopback()));
        let error = found("http://no-such-host.invalid/").unwrap_err();
        assert!(error.contains("no-such-host.invalid was not found"), "{error}");
    }
}
