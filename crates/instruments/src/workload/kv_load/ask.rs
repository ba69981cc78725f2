//! The parameters of a load on a key-value store, parsed.

use model::format::quantity;
use model::url::{Scheme, Url};
use model::{Setup, Unfit, Unit};

use crate::load::Load;
use crate::load::generators::Remote;
use crate::load::store_client::Spec;
use crate::load::store_client::keys::{Popularity, Sizes};
use crate::workload::container::Container;
use crate::workload::store_server::StoreKind;
use crate::workload::store_server::beside::PREFIX;
use crate::workload::store_server::options::{self, Options};
use crate::workload::web::cores::Cores;
use crate::workload::web::course;
use crate::workload::web::params::{Ask, describe, offered, small, unchanged};
use crate::workload::web::subject::{NONE, Subject};

/// Bytes that a store needs for each of data, at most and as a rule.
const OVERHEAD: f64 = 2.0;

/// A load, and the store that it is for.
#[derive(Clone, Debug)]
pub struct KvAsk {
    /// Its URL stands for a store that is not started yet.
    pub ask: Ask,
    pub spec: Spec,
    /// `None` where the store is the user's.
    pub ours: Option<Options>,
}

impl KvAsk {
    /// Reads the parameters of a setup; starts and asks nothing. Fails when a value is malformed or the load is
    /// impossible here.
    pub fn from_setup(setup: &Setup) -> Result<KvAsk, Unfit> {
        let text = |name: &str| setup.params.get(name).unwrap_or_default();
        let given = Some(text("url")).filter(|url| *url != NONE);
        let given =
            given.map(str::parse::<Url>).transpose().map_err(|error| Unfit::new(error.to_string()))?;
        let generators = small(setup, "generators")?;
        let remote = setup.relay.clone().map(Remote::new);
        let cores = match &remote {
            None => Cores::split(&setup.cpus, generators, given.is_none()),
            Some(remote) => {
                remote.choose(generators).map_err(|error| Unfit::new(error.to_string()))?;
                Cores::remote(&setup.cpus, remote.cpus_here(generators), given.is_none())
            }
        };
        let ours = match &given {
            Some(_) => {
                unchanged(&setup.params, options::PARAMS).map_err(Unfit::new)?;
                None
            }
            None => Some(managed(setup, &cores)?),
        };
        let spec = spec(setup, given.as_ref()).map_err(Unfit::new)?;
        if let Some(options) = &ours {
            fits(&spec, options, setup.memory).map_err(Unfit::new)?;
        }
        let url = match (&given, &ours) {
            (Some(url), _) => url.clone(),
            (None, ours) => {
                let resp = ours.as_ref().is_none_or(|options| options.kind.speaks_resp());
                stand_in(if resp { Scheme::Redis } else { Scheme::Memcached })
            }
        };
        // Of ours nobody is asked who he is.
        let login = setup.login.clone().filter(|_| ours.is_none());
        let mut load = Load { store: Some(spec.clone()), login, ..Load::new(url.clone()) };
        describe(setup, &mut load)?;
        load.threads = generators;
        load.cpus = cores.generators.iter().map(|&cpu| cpu as usize).collect();
        load.own_cores = cores.own;
        let course = course::schedule(&setup.params, &mut load.targets, load.duration, setup.seed);
        let ask = Ask {
            subject: Subject::Url(url),
            offered: offered(&setup.params).map_err(Unfit::new)?,
            is_poisson: text("arrivals") == "poisson",
            is_cold: false,
            course: course.map_err(Unfit::new)?.map(|(course, _)| course),
            mix: None,
            shape: None,
            tree: None,
            notes: Vec::new(),
            server: None,
            load,
            cores,
            remote,
        };
        ask.possible()?;
        Ok(KvAsk { ask, spec, ours })
    }
}

fn stand_in(scheme: Scheme) -> Url {
    Url { scheme, host: "127.0.0.1".to_owned(), port: scheme.port(), path: "/".to_owned() }
}

/// Our own store: which one, and how it is set up.
fn managed(setup: &Setup, cores: &Cores) -> Result<Options, Unfit> {
    let name = setup.params.get("server").unwrap_or_default();
    let kind =
        StoreKind::parse(name).ok_or_else(|| Unfit::new(format!("server={name}: no store of that name")))?;
    let mut options = Options::from_params(kind, &setup.params).map_err(Unfit::new)?;
    let held = small(setup, "connections")?.max(options.connections as usize).next_power_of_two();
    options.connections = u32::try_from(held).map_err(|_| Unfit::new("too many connections"))?;
    options.cpus = cores.server.iter().map(|&cpu| cpu as usize).collect();
    options.check().map_err(|error| Unfit::new(error.to_string()))?;
    options.inside.as_ref().map_or(Ok(()), Container::is_there).map_err(Unfit::new)?;
    Ok(options)
}

/// How the keys begin that a process writes into a store of the user's.
pub fn prefix(process: u32) -> String {
    format!("{PREFIX}{process}:")
}

fn spec(setup: &Setup, given: Option<&Url>) -> Result<Spec, String> {
    let text = |name: &str| setup.params.get(name).unwrap_or_default();
    let wrong = |name: &str, why: String| format!("{name}={}: {why}", text(name));
    let sizes: Sizes = text("value-size").parse().map_err(|why| wrong("value-size", why))?;
    let popularity: Popularity = text("popularity").parse().map_err(|why| wrong("popularity", why))?;
    let keys = text("keys").parse().map_err(|_| wrong("keys", "a whole number".to_owned()))?;
    let parts = text("ratio").split_once(':');
    let parts =
        parts.and_then(|(writes, reads)| Some((writes.parse::<f64>().ok()?, reads.parse::<f64>().ok()?)));
    let (writes, reads) = parts.ok_or_else(|| wrong("ratio", "writes to reads such as 1:10".to_owned()))?;
    let prefix = match given {
        None => PREFIX.to_owned(),
        // Two loads of one store do not delete each other's keys.
        Some(_) => prefix(std::process::id()),
    };
    let key_bytes = small(setup, "key-size").map_err(|unfit| unfit.why)?;
    Ok(Spec { keys, prefix, key_bytes, popularity, reads: reads / (writes + reads), sizes, seed: setup.seed })
}

/// Fails when the data, with every copy of them, do not fit into the memory of this machine.
fn fits(spec: &Spec, options: &Options, memory: Option<u64>) -> Result<(), String> {
    let bytes = spec.bytes() * OVERHEAD * f64::from(options.replicas + 1);
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory")]
    let most = memory.map(|memory| memory as f64 / 2.0);
    match most.filter(|most| bytes > *most) {
        None => Ok(()),
        Some(most) => Err(format!(
            "keys={} with values of {} need about {} of the memory of this machine, and {} may be taken: fewer keys, \
             smaller values or fewer replicas",
            spec.keys,
            spec.sizes,
            quantity(bytes, Unit::Byte),
            quantity(most, Unit::Byte)
        )),
    }
}
