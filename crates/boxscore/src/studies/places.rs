//! Where the runs of a study are measured: on this machine, or on nodes of the inventory. How long all of it may last,
//! by time and by what the nodes cost.
//!
//! Seconds; money in the currency of the inventory.

use model::data::RunHead;
use model::decision::{PriceText, Term};
use model::format::duration;
use model::study_file::StudyFile;
use sys::clock;

use crate::cli::lab::on::OnArgs;
use crate::cli::study::StudyArgs;
use crate::error::CliError;
use crate::fleet::select;
use crate::lookup::names;

/// One machine that a study measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// By the identity of this machine.
    This(String),
    /// A node, by its name.
    Node(String),
}

impl Place {
    /// True of a run of this place.
    pub fn is_of(&self, head: &RunHead) -> bool {
        match self {
            Place::This(id) => head.machine_id == *id,
            Place::Node(name) => head.machine == *name,
        }
    }

    pub fn node(&self) -> Option<&str> {
        match self {
            Place::This(_) => None,
            Place::Node(name) => Some(name),
        }
    }
}

/// All machines that a study measures.
pub struct Places {
    pub all: Vec<Place>,
    /// The nodes in the options of `run`, where they are nodes.
    on: OnArgs,
    /// Cost of all nodes in an hour; an error says which has no price.
    hourly: Result<f64, String>,
}

impl Places {
    /// Those of the options, else those of the file, else this machine.
    pub fn read(file: &StudyFile, args: &StudyArgs) -> Result<Places, CliError> {
        let mut on = args.lab.clone();
        if on.on.is_empty() {
            on.on.extend(file.on.clone());
        }
        if !on.is_given()? {
            let hourly = Err("no node is rented; --on EXPR names nodes".to_owned());
            return Ok(Places { all: vec![Place::This(names::this().0.id)], on, hourly });
        }
        let (select, reach) = on.parts();
        let chosen = select::chosen(&on.on, &select, &reach)?;
        let price = |name: &str| chosen.found.as_ref()?.inventory.find(name)?.price;
        let hourly = chosen.hosts.iter().map(|host| {
            let price = price(host.name()).and_then(|price| per_hour(&price));
            price.ok_or_else(|| format!("{} has no price by time in the inventory", host.name()))
        });
        let hourly = hourly.sum();
        let all = chosen.hosts.iter().map(|host| Place::Node(host.name().to_owned())).collect();
        Ok(Places { all, on, hourly })
    }

    pub fn nodes(&self) -> Vec<String> {
        self.all.iter().filter_map(Place::node).map(str::to_owned).collect()
    }

    /// The options of a run on some of them.
    pub fn options(&self, wanted: &[&Place]) -> OnArgs {
        let names = wanted.iter().filter_map(|place| place.node()).map(str::to_owned);
        OnArgs { on: names.collect(), each_alone: true, ..self.on.clone() }
    }
}

/// The most that it may cost in an hour; `None` of a purchase.
fn per_hour(price: &PriceText) -> Option<f64> {
    match price.term {
        Term::Once => None,
        term => Some(price.amount.high / (term.seconds()? / 3600.0)),
    }
}

/// The end of a study.
pub struct Limit {
    began_ns: u64,
    /// Seconds from its beginning, and what the user said of it.
    most: Option<(f64, String)>,
}

impl Limit {
    /// That of the options, else that of the file; the first of time and budget that is met. For `spent` seconds nodes
    /// were measured before.
    pub fn read(file: &StudyFile, args: &StudyArgs, places: &Places, spent: f64) -> Result<Limit, CliError> {
        let time =
            args.most()?.or(file.most_seconds).map(|most| (most, format!("its time of {}", duration(most))));
        let money = match args.budget()?.or(file.budget) {
            None => None,
            Some(budget) => {
                let hourly = places.hourly.clone().map_err(|why| {
                    CliError::usage(format!("a budget of {budget} cannot be kept: {why}"))
                        .hint("price = \"0.19/h\" in lab.toml, or --for for a limit of time")
                })?;
                Some(((budget / hourly * 3600.0 - spent).max(0.0), format!("its budget of {budget}")))
            }
        };
        let most = time.into_iter().chain(money).min_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Limit { began_ns: clock::now_ns(), most })
    }

    /// The seconds that are left; `None` without a limit.
    pub fn left(&self) -> Option<f64> {
        let (most, _) = self.most.as_ref()?;
        Some((most - clock::now_ns().saturating_sub(self.began_ns) as f64 / 1e9).max(0.0))
    }

    pub fn says(&self) -> &str {
        self.most.as_ref().map_or("", |(_, says)| says)
    }
}
