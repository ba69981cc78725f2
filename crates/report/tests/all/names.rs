//! People's names of figures, by the cards of the instruments.

use model::names::{Key, label, labels, load};
use model::{Params, card};

fn params(text: &str) -> Params {
    Params::parse(text).expect("pairs")
}

fn key<'a>(instrument: &'a str, metric: &'a str, params: &'a Params) -> Key<'a> {
    Key { card: card::find(instruments::cards(), instrument), instrument, metric, params }
}

fn named(instrument: &str, metric: &str, text: &str) -> String {
    label(key(instrument, metric, &params(text)))
}

#[test]
fn people_recognise_the_headlines() {
    assert_eq!(named("index", "rate", "kind=integer;threads=1"), "integer");
    assert_eq!(named("cipher", "throughput", "algorithm=aes-128-gcm;size=16KiB"), "cipher AES-128-GCM");
    assert_eq!(named("mem-bandwidth", "bandwidth", "counting=bw_mem;cpus=auto;op=read"), "memory read");
    assert_eq!(named("mem-latency", "latency", "level=memory;mode=random;size=auto"), "memory latency");
    assert_eq!(
        named("mem-latency", "latency", "level=any;mode=stride;size=4KiB"),
        "memory latency 4 KiB stride"
    );
    assert_eq!(named("crc32c", "throughput", "impl=chain;size=7"), "crc32c 7 B chain");
    assert_eq!(named("unheard", "throughput", "size=43;url=gif"), "unheard throughput size=43 url=gif");
}

#[test]
fn figures_of_one_name_are_told_apart() {
    let (one, all) = (params("kind=integer;threads=1"), params("kind=integer;threads=all"));
    let both = [key("index", "rate", &one), key("index", "rate", &all)];
    assert_eq!(labels(&both), ["integer 1 thread", "integer all threads"]);
    let empty = Params::default();
    let of = |instrument, metrics: [&str; 2]| labels(&metrics.map(|metric| key(instrument, metric, &empty)));
    assert_eq!(of("disk-read", ["iops", "latency"]), ["disk read", "disk read latency"]);
    assert_eq!(of("compress", ["compress", "decompress"]), ["compress", "decompress"]);
}

#[test]
fn a_load_is_named_by_its_server_and_what_is_unusual() {
    let usual =
        "arrivals=closed;connections=50;content=gif;generators=1;keepalive=on;load=auto;mpm=auto;url=none";
    let web = |metric: &str, text: &str| named("web", metric, text);
    assert_eq!(web("throughput", &format!("{usual};server=builtin")), "web, own server");
    assert_eq!(web("response-time-p99", &format!("{usual};server=nginx")), "web p99, nginx");
    assert_eq!(web("throughput", "server=auto"), "web");
    assert_eq!(
        web("server-cpu", "mpm=prefork;server=auto;keepalive=off"),
        "web server CPU, httpd prefork, no keep-alive"
    );
    assert_eq!(
        web("throughput", "url=http://a/;arrivals=poisson;load=50%;connections=1"),
        "web, http://a/, 50% load, 1 connection"
    );
    assert_eq!(
        named("web-slo", "slo-throughput", "limit=10ms;percentile=p99;server=nginx"),
        "web, nginx, p99, within 10ms"
    );
}

#[test]
fn what_is_as_usual_tells_nothing() {
    let card = card::find(instruments::cards(), "web").expect("a card");
    let telling = |text: &str| load::telling(card, &params(text));
    let url =
        "arrivals=closed;cache=warm;connections=2;content=gif;duration=5;generators=1;keepalive=on;load=auto";
    let url = format!("{url};mpm=auto;requests=auto;url=http://a/;weights=none;workers=auto");
    assert_eq!(telling(&url), params("connections=2;duration=5;url=http://a/"));
    let own = "connections=50;keepalive=off;server=nginx;content=large;sendfile=off";
    assert_eq!(telling(&format!("{own};cache=warm")), params(own));
}

#[test]
fn loads_of_a_sweep_all_say_what_differs() {
    let (few, usual) = (params("connections=10;server=nginx"), params("connections=50;server=nginx"));
    let both = |a, b| labels(&[key("web", "throughput", a), key("web", "throughput", b)]);
    assert_eq!(both(&few, &usual), ["web, nginx, 10 connections", "web, nginx, 50 connections"]);
    let (on, off) = (params("sendfile=on;memory=none"), params("sendfile=off;memory=512M"));
    assert_eq!(both(&on, &off), ["web, memory none, sendfile", "web, 512M of memory, no sendfile"]);
}
