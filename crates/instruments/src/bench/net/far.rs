//! The far end in a child that this study started elsewhere (`--far`). The child is asked to listen, as `boxscore
//! peer` does, and reports its port and token.
//!
//! The child makes the token, and only both ends know it: it is on no command line and in no record. The child listens
//! until the study ends. The same question gets the same answer, which also shows that the child is still there.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use model::generate::{Generator, GeneratorOrder, Loaded, Relay};
use model::{Setup, Unfit};
use serde::{Deserialize, Serialize};

use super::frame::random;
use super::peer::{PATIENCE, Peer, PeerOptions};
use super::place::Places;
use crate::remote_task::RemoteTask;

/// Where and how the child should listen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Address to listen on; port 0 is any free port.
    pub listen: SocketAddr,
    /// CPUs for its threads; empty: threads are not bound.
    pub cpus: Vec<u32>,
}

/// Address of the child's listener, and the token that a client must send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listens {
    pub address: SocketAddr,
    pub token: Vec<u8>,
}

/// A listener of this process.
struct Listener {
    wanted: Wanted,
    listens: Listens,
    /// The thread ends with the reason why it cannot listen any more.
    thread: JoinHandle<String>,
}

static LISTENERS: Mutex<Vec<Listener>> = Mutex::new(Vec::new());

/// Listens, in the child. `start` is called once it does. Fails when it cannot listen.
pub fn serve(wanted: &Wanted, start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let listens = listen(wanted)?;
    let start_ns = start().ok_or("the far end was called off")?;
    let body = postcard::to_stdvec(&listens).map_err(|error| error.to_string())?;
    Ok(Loaded { start_ns, body })
}

fn listen(wanted: &Wanted) -> Result<Listens, String> {
    let mut all = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = all.iter().position(|one| one.wanted == *wanted) {
        if !all[at].thread.is_finished() {
            return Ok(all[at].listens.clone());
        }
        let why = all.swap_remove(at).thread.join();
        return Err(why.unwrap_or_else(|_| "its listening thread failed".to_owned()));
    }
    let token = random()?.to_vec();
    let options = PeerOptions {
        listen: wanted.listen,
        token: token.clone(),
        cpus: wanted.cpus.clone(),
        ..PeerOptions::default()
    };
    let peer = Peer::bind(options, Box::new(|_| ())).map_err(|why| {
        format!("{why}; --to names an address that the far end's host has, and a port that is free there")
    })?;
    let listens = Listens { address: peer.address(), token };
    let thread = std::thread::spawn(move || match peer.serve() {
        Ok(never) => match never {},
        Err(why) => why,
    });
    all.push(Listener { wanted: wanted.clone(), listens: listens.clone(), thread });
    Ok(listens)
}

/// The child as seen from the measuring end.
#[derive(Clone, Debug)]
pub struct Far {
    name: String,
    relay: Arc<dyn Relay>,
    wanted: Wanted,
    /// CPUs of both ends if they share this machine.
    pub places: Option<Places>,
}

impl Far {
    /// The far end called `name`, to listen at that address. Fails when the study has no such far end.
    pub fn from_setup(setup: &Setup, name: &str, to: IpAddr, port: u16) -> Result<Far, Unfit> {
        // Orders go to the first children of a study.
        let first = setup.relay.as_ref().and_then(|relay| Some((relay, relay.generators().first()?)));
        let Some((relay, child)) = first.filter(|(_, child)| child.name == name) else {
            return Err(Unfit::new(format!(
                "far={name}: no child of that name was started; give --far '{name}=COMMAND'"
            )));
        };
        let places = is_here(child).then(|| within(&setup.cpus, &child.cpus));
        let cpus = places.as_ref().map(|places| places.far.clone()).unwrap_or_default();
        let wanted = Wanted { listen: SocketAddr::new(to, port), cpus };
        Ok(Far { name: name.to_owned(), relay: Arc::clone(relay), wanted, places })
    }

    /// Has the child listen, or checks that it still does. Fails when the child is lost or cannot listen.
    pub fn ask(&self) -> Result<Listens, String> {
        let body = RemoteTask::Listen(self.wanted.clone()).pack()?;
        let patience_ns = u64::try_from(PATIENCE.as_nanos()).unwrap_or(u64::MAX);
        let order =
            GeneratorOrder { id: 0, bodies: vec![body], connect_ns: patience_ns, run_ns: patience_ns };
        let told = |what: &str| format!("the far end {}: {what}", self.name);
        let parts = self.relay.load(order, &mut || ()).map_err(|not| told(&not.what))?;
        let [part] = &parts[..] else { return Err(told("it did not say where it listens")) };
        postcard::from_bytes(&part.body)
            .map_err(|error| told(&format!("it did not say where it listens: {error}")))
    }

    /// A sentence on where both ends run.
    pub fn sentence(&self, near: &[u32]) -> String {
        let name = &self.name;
        match &self.places {
            Some(places) => format!("{}; the peer is {name}, a child of this study", places.sentence()),
            None => {
                let cpu = near.first().copied().unwrap_or(0);
                format!("this end on CPU {cpu}; the peer is {name}, a child of this study on another host")
            }
        }
    }
}

fn is_here(child: &Generator) -> bool {
    child.host.is_some() && child.host == sys::clock::boot_id().ok()
}

/// Both ends on this machine: the far end gets the CPUs of its half that it may use, or any that it may use if there
/// are none.
fn within(cpus: &[u32], its: &[u32]) -> Places {
    let mut places = Places::divide(cpus);
    places.keep_far(its);
    places
}

#[cfg(test)]
mod tests {
    use model::Params;
    use model::generate::{NotLoaded, Part};

    use super::super::frame::Wait;
    use super::super::net_rtt;
    use super::*;
    use model::Instrument;

    /// A child that is this process.
    #[derive(Debug)]
    struct Here(Vec<Generator>, Option<&'static str>);

    impl Relay for Here {
        fn generators(&self) -> &[Generator] {
            &self.0
        }

        fn load(&self, order: GeneratorOrder, _: &mut dyn FnMut()) -> Result<Vec<Part>, NotLoaded> {
            let not = |what: String| NotLoaded { generator: "box2".to_owned(), before_start: true, what };
            match self.1 {
                Some(why) => Err(not(why.to_owned())),
                None => {
                    let loaded = crate::remote_task::serve(&order.bodies[0], &mut || Some(0)).map_err(not)?;
                    Ok(vec![Part { after_ns: 0, error_ns: 0, body: loaded.body }])
                }
            }
        }
    }

    fn setup(given: &str, lost: Option<&'static str>) -> Setup {
        let card = net_rtt::INSTRUMENT.card();
        let params = card.resolve(&Params::parse(given).unwrap()).unwrap();
        let cpus: Vec<u32> =
            sys::affinity::allowed().unwrap().into_iter().map(|cpu| u32::try_from(cpu).unwrap()).collect();
        let child = Generator { name: "box2".to_owned(), host: None, cpus: cpus.clone(), cores: Vec::new() };
        let relay: Arc<dyn Relay> = Arc::new(Here(vec![child], lost));
        Setup { relay: Some(relay), ..Setup::bare(params, cpus, std::env::temp_dir()) }
    }

    #[test]
    fn asked_again_it_answers_the_same() {
        let far =
            |port| Far::from_setup(&setup("", None), "box2", IpAddr::from([127, 0, 0, 1]), port).unwrap();
        let first = far(0).ask().unwrap();
        assert_eq!((far(0).ask().unwrap(), first.token.len()), (first.clone(), 16));
        // The port is taken: by the first.
        let why = far(first.address.port()).ask().unwrap_err();
        assert!(why.starts_with("the far end box2: cannot listen on") && why.contains("--to names"), "{why}");
    }

    #[test]
    fn a_child_of_another_name_or_a_lost_one_is_named() {
        let to = IpAddr::from([127, 0, 0, 1]);
        let why = Far::from_setup(&setup("", None), "box3", to, 0).unwrap_err().why;
        assert!(why.contains("--far 'box3=COMMAND'"), "{why}");
        let why = Far::from_setup(&setup("", Some("it was lost")), "box2", to, 0).unwrap().ask().unwrap_err();
        assert_eq!(why, "the far end box2: it was lost");
    }

    #[test]
    fn round_trips_to_a_child_are_measured() {
        let mut setup = setup("to=127.0.0.1;far=box2;mode=block", None);
        setup.size = model::Size::Smoke;
        assert_eq!(super::super::params::wait(&setup), Wait::Block);
        let mut probe = net_rtt::INSTRUMENT.prepare(&setup).unwrap();
        assert!(probe.calibrate(model::Seconds(1e-3)).unwrap() > 0);
        let unfit = Setup {
            params: net_rtt::INSTRUMENT.card().resolve(&Params::parse("far=box2").unwrap()).unwrap(),
            ..setup
        };
        assert!(net_rtt::INSTRUMENT.fit(&unfit).unwrap_err().why.contains("--to"));
    }

    #[test]
    fn bytes_of_anything_are_refused_or_done() {
        for bytes in [&b""[..], &[9], &[1, 0], &[0, 1, 2, 3]] {
            assert!(crate::remote_task::serve(bytes, &mut || None).is_err(), "{bytes:?}");
        }
    }
}
