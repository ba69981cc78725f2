//! How long one take of a load lasts, in seconds, as far as its parameters tell: the requests, and the answers that are
//! under way when they end. Not counted: starting a server and making its content.

use model::Params;
use model::params::parse_bytes;

use super::subject::NONE;

/// Of the connections and the end of a take.
pub(crate) const AROUND: f64 = 0.25;
/// Bytes per second that a disk surely delivers, and a loopback device as a rule.
const DISK: f64 = 1e8;
const LOOPBACK: f64 = 4e9;
/// Bytes of the large file and of a mix whose size is not given.
const LARGE: f64 = 5e8;
const MIX: f64 = 64.0 * 1024.0 * 1024.0;

/// `None` for a load of so many requests, which has no duration.
pub(crate) fn take(params: &Params) -> Option<f64> {
    let text = |name: &str| params.get(name).unwrap_or_default();
    let number = |name: &str| text(name).parse::<f64>().ok();
    let size = parse_bytes(text("content-size"));
    #[expect(clippy::cast_precision_loss, reason = "a size in bytes")]
    let bytes = |usual: f64| size.map_or(usual, |bytes| bytes as f64);
    let is_cold = text("cache") == "cold";
    let under_way = match (text("url"), text("content")) {
        (NONE, "large") if is_cold => bytes(LARGE) / DISK,
        (NONE, "large") => bytes(LARGE) / LOOPBACK * number("connections").unwrap_or(1.0),
        (NONE, "mix") if is_cold => bytes(MIX) / DISK,
        _ => 0.0,
    };
    // What is slower than its time limit fails.
    Some(number("duration")? + under_way.min(number("timeout").unwrap_or(f64::INFINITY)) + AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_large_content_take_longer() {
        let of = |text: &str| {
            let name = if text.contains("limit") { "web-slo" } else { "web" };
            let instrument = crate::find(name).unwrap();
            let params = instrument.card().resolve(&Params::parse(text).unwrap()).unwrap();
            instrument.take_seconds(&params).unwrap()
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(of("duration=2.5"), 2.75);
        // 16 steps, two checks, and the late answers of two steps.
        near(of("limit=10ms;duration=2"), 18.0 * 2.25 + 2.0 * 2.25);
        near(of("content=large;connections=4"), 1.75);
        near(of("content=large;content-size=100MB;cache=cold"), 2.25);
        near(of("content=large;cache=cold;timeout=3"), 4.25);
        near(of("url=http://a/;content=large"), 1.25);
    }
}
