//! Both ends of a run of perftest's programs, with a stand-in for `ib_send_lat`, since there is no RDMA device here:
//! this program under that name. It sets up as the real ones do, over a TCP port on which the server takes one
//! connection, and prints a fixed list of samples. `ib_write_lat` is one that fails as the real one does here.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode};

use instruments::bench::net::frame::Test;
use instruments::bench::net::net_rdma;
use instruments::bench::net::peer::{Peer, PeerOptions};
use instruments::bench::net::session::Session;
use instruments::bench::net::target::Target;
use instruments::workload::perftest::{PerftestOptions, Verb};
use model::{Instrument, Params, Setup};

const SAID: &str = include_str!("../../src/workload/perftest/fixtures/ib_send_lat.txt");

/// Runs this program once more, where the programs of perftest are stand-ins.
pub fn again_with_the_stand_ins() {
    let dir = tempfile::tempdir().unwrap();
    let me = std::env::current_exe().unwrap();
    for name in ["ib_send_lat", "ib_write_lat"] {
        std::os::unix::fs::symlink(&me, dir.path().join(name)).unwrap();
    }
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap_or_default());
    assert!(Command::new(me).arg("inner").env("PATH", path).status().unwrap().success());
}

/// Acts as the program of perftest whose name this program was called by; `None` where it has none of those names.
pub fn acted(words: &[String]) -> Option<ExitCode> {
    match Path::new(words.first()?).file_name()?.to_str()? {
        "ib_send_lat" => Some(stand_in(words)),
        "ib_write_lat" => {
            let said = b" Did not detect devices \n Unable to find the Infiniband/RoCE device\n";
            std::io::stderr().write_all(said).unwrap();
            Some(ExitCode::FAILURE)
        }
        _ => None,
    }
}

fn stand_in(words: &[String]) -> ExitCode {
    let after = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1).unwrap();
    let port: u16 = after("-p").parse().unwrap();
    assert_eq!((after("-s").as_str(), after("-n").as_str(), after("-d").as_str()), ("64", "12", "mlx5_0"));
    assert!(words.contains(&"-F".to_owned()) && words.contains(&"-U".to_owned()));
    if words.last().is_some_and(|word| word == "127.0.0.1") {
        drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
    } else {
        drop(TcpListener::bind(("0.0.0.0", port)).unwrap().accept().unwrap());
    }
    std::io::stdout().write_all(SAID.as_bytes()).unwrap();
    ExitCode::SUCCESS
}

pub fn inner() {
    a_run_of_both_ends_gives_the_samples();
    a_far_end_without_a_device_says_so();
    a_device_that_is_an_option_is_refused();
}

fn order(verb: Verb, device: &str) -> (PerftestOptions, Test) {
    let order = PerftestOptions { verb, size: 64, iterations: 12, device: Some(device.to_owned()) };
    let PerftestOptions { verb, size, iterations, device } = order.clone();
    (order, Test::Perftest { verb, size, iterations, device })
}

fn target() -> Target {
    let peer = Peer::bind(PeerOptions::default(), Box::new(|_| ())).unwrap();
    let to = peer.address().to_string();
    std::thread::spawn(move || peer.serve());
    let params = net_rdma::INSTRUMENT.card().resolve(&Params::parse(&format!("to={to}")).unwrap()).unwrap();
    Target::prepare(&Setup::bare(params, vec![0], std::env::temp_dir())).unwrap()
}

fn a_run_of_both_ends_gives_the_samples() {
    let (order, test) = order(Verb::Send, "mlx5_0");
    let target = target();
    for _ in 0..2 {
        let mut session = Session::open(&target, test.clone()).unwrap();
        let to = SocketAddr::new(session.peer.ip(), session.port().unwrap());
        let samples = order.run(to, &sys::affinity::allowed().unwrap()).unwrap();
        assert_eq!((samples.len(), samples[0]), (11, 3.65217));
        assert_eq!(session.end(11, None).unwrap().messages, 11);
    }
}

fn a_far_end_without_a_device_says_so() {
    let (_, test) = order(Verb::Write, "mlx5_0");
    let why = Session::open(&target(), test).unwrap_err();
    assert!(why.contains("refuses: ib_write_lat ended there at once"), "{why}");
    assert!(why.contains("Unable to find the Infiniband/RoCE device"), "{why}");
}

fn a_device_that_is_an_option_is_refused() {
    let (_, test) = order(Verb::Send, "--help");
    let why = Session::open(&target(), test).unwrap_err();
    assert!(why.contains("not that of a device"), "{why}");
}
