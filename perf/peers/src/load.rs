//! The bytes that `boxscore load` sends for one request of a URL.

use std::error::Error;

use instruments::load::Load;
use instruments::load::http::request::{Origin, Wanted};

/// The request that the floor sends too.
pub fn request(url: &str) -> Result<String, Box<dyn Error>> {
    let load = Load::new(url.parse()?);
    let url = &load.targets[0].url;
    let origin = Origin {
        host: url.authority(),
        method: load.method.clone(),
        headers: Vec::new(),
        body: Vec::new(),
        keepalive: true,
    };
    let (path, expected) = (url.path.clone(), load.targets[0].expected);
    let wanted = Wanted { path, expected, method: None, closes: false };
    Ok(String::from_utf8(origin.bytes(&wanted)?)?)
}
