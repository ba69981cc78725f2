//! Prices and watts of machines and targets, as the command line says them: of all machines, or of the one that a name
//! leads to.

use std::path::Path;

use model::data::RunHead;
use model::plan::{Plan, Target};
use store::{Filter, Store};

use super::sink::Cost;
use crate::cli::costs::CostArgs;
use crate::cli::{Quoted, check_watts, parse_price};
use crate::error::CliError;
use crate::lookup::runs;

/// Values, each with the machine or target that it names, if it names one.
type Named<T> = Vec<(Option<String>, T)>;

/// Prices and watts as they were given.
#[derive(Clone, Debug)]
pub struct Costs {
    prices: Named<Quoted>,
    watts: Named<f64>,
}

impl Costs {
    /// Reads `[NAME=]VALUE` each. Fails where one is no price, or no power above 0.
    pub fn read(args: &CostArgs) -> Result<Costs, CliError> {
        Ok(Costs {
            prices: named(&args.price, |text| parse_price(text, &args.currency))?,
            watts: named(&args.watts, parse_watts)?,
        })
    }

    /// Gives the targets of a plan what names them; with what the machines of the plan cost. Fails where a name is that
    /// of neither, or given twice.
    pub fn split(self, plan: &mut Plan) -> Result<Cost, CliError> {
        let prices = of_targets("--price", self.prices, plan, |target, quoted| {
            target.price = Some(quoted.price);
        })?;
        let watts = of_targets("--watts", self.watts, plan, |target, watts| target.watts = Some(watts))?;
        let names: Vec<&str> = plan.machines.iter().map(|via| via.name.as_str()).collect();
        Ok(Cost {
            prices: by_machine("--price", &prices, &names)?,
            watts: by_machine("--watts", &watts, &names)?,
        })
    }

    /// The same where only targets have a price. Fails where one names no target.
    pub fn of_targets_alone(self, plan: &mut Plan) -> Result<(), CliError> {
        let flags = [
            ("--price", self.prices.iter().any(|(name, _)| name.is_none())),
            ("--watts", self.watts.iter().any(|(name, _)| name.is_none())),
        ];
        if let Some((flag, _)) = flags.iter().find(|(_, is_nameless)| *is_nameless) {
            let first = plan.targets.first().map_or("NAME", |target| target.name.as_str());
            return Err(CliError::usage(format!("{flag}: of which target?"))
                .hint(format!("name it: {flag} {first}=...")));
        }
        self.split(plan).map(drop)
    }
}

fn named<T>(given: &[String], parse: impl Fn(&str) -> Result<T, CliError>) -> Result<Named<T>, CliError> {
    let one = |text: &String| {
        let (name, value) =
            text.split_once('=').map_or((None, text.as_str()), |(name, value)| (Some(name.trim()), value));
        Ok((name.map(str::to_owned), parse(value)?))
    };
    given.iter().map(one).collect()
}

fn parse_watts(text: &str) -> Result<f64, CliError> {
    let Ok(watts) = text.trim().parse() else {
        return Err(CliError::usage(format!("--watts {text}: not a number of watts"))
            .hint("write 40, or NAME=40 of one machine or target"));
    };
    check_watts(watts)
}

/// Gives the targets of a plan the values that name them; with the others.
fn of_targets<T>(
    flag: &str,
    given: Named<T>,
    plan: &mut Plan,
    mut put: impl FnMut(&mut Target, T),
) -> Result<Named<T>, CliError> {
    let (mut others, mut known) = (Named::new(), Vec::new());
    for (name, value) in given {
        let is_named = |target: &&mut Target| name.as_ref() == Some(&target.name);
        match plan.targets.iter_mut().find(is_named) {
            Some(target) if known.contains(&target.name) => {
                return Err(CliError::usage(format!("{flag} of {} is given twice", target.name)));
            }
            Some(target) => {
                known.push(target.name.clone());
                put(target, value);
            }
            None => others.push((name, value)),
        }
    }
    Ok(others)
}

/// The value of each machine, in their order: its own, else the one without a name.
fn by_machine<T: Clone>(flag: &str, given: &Named<T>, names: &[&str]) -> Result<Vec<Option<T>>, CliError> {
    for (at, (name, _)) in given.iter().enumerate() {
        if let Some(name) = name.as_deref().filter(|name| !names.contains(name)) {
            return Err(CliError::usage(format!(
                "{flag} {name}=...: no machine or target of this run is called `{name}`"
            ))
            .hint("a name is one of those of --via or --target; without a name it is of every machine"));
        }
        if given.iter().take(at).any(|(known, _)| known == name) {
            let of = name.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
            return Err(CliError::usage(format!("{flag}{of} is given twice")));
        }
    }
    let value = |wanted: Option<&str>| {
        given.iter().find(|(name, _)| name.as_deref() == wanted).map(|(_, value)| value.clone())
    };
    Ok(names.iter().map(|name| value(Some(name)).or_else(|| value(None))).collect())
}

/// A study that is repeated keeps the prices and watts of the one before, unless others are given.
pub fn inherit(cost: &mut Cost, name: &str, plan: &Plan, store: &Store) -> Result<(), CliError> {
    if Path::new(name).is_file() {
        return Ok(());
    }
    let id = runs::run_id(name, store)?;
    let study = store.head(&id)?.study;
    let heads = store.heads(&Filter { study: Some(study), ..Filter::default() })?;
    let is_alone = plan.machines.len() == 1;
    for ((via, price), watts) in plan.machines.iter().zip(&mut cost.prices).zip(&mut cost.watts) {
        let is_its = |head: &&RunHead| is_alone || head.machine == via.name;
        let before = heads.iter().find(is_its);
        let known = before.and_then(|head| head.price.clone());
        *price = price.take().or(known.map(|price| Quoted { price, band: None }));
        *watts = watts.or_else(|| before.and_then(|head| head.watts));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::plan::{Takes, Via};

    use super::*;

    fn cost(price: &[&str], watts: &[&str]) -> Result<(Cost, Plan), CliError> {
        let via = |name: &str| Via { name: name.to_owned(), command: None };
        let mut plan = Plan {
            machines: [via("a"), via("b"), via("c")].into(),
            targets: vec![Target::new("t", "http://t/"), Target::new("u", "http://u/")],
            ..Plan::bare(Vec::new(), Takes::Fixed(1))
        };
        let list = |given: &[&str]| given.iter().map(|text| (*text).to_owned()).collect();
        let args = CostArgs { price: list(price), currency: "EUR".to_owned(), watts: list(watts) };
        let cost = Costs::read(&args)?.split(&mut plan)?;
        Ok((cost, plan))
    }

    #[test]
    fn each_machine_of_a_study_has_its_price_and_its_watts() {
        let amounts = |given: &[&str]| -> Vec<Option<f64>> {
            let (cost, _) = cost(given, &[]).unwrap();
            cost.prices.into_iter().map(|quoted| quoted.map(|quoted| quoted.price.amount)).collect()
        };
        assert_eq!(amounts(&["b=0.06/h", "a=0.1/h"]), [Some(0.1), Some(0.06), None]);
        assert_eq!(amounts(&["429", "b=300"]), [Some(429.0), Some(300.0), Some(429.0)]);
        assert_eq!(amounts(&["2000-2500", "b=1..2/h"]), [Some(2250.0), Some(1.5), Some(2250.0)]);
        let (banded, _) = cost(&["2000-2500", "b=3"], &[]).unwrap();
        let bands: Vec<_> = banded.prices.iter().map(|quoted| quoted.as_ref()?.band.as_deref()).collect();
        assert_eq!(bands, [Some("the middle of 2000..2500 EUR"), None, Some("the middle of 2000..2500 EUR")]);
        assert_eq!(amounts(&[]), [None, None, None]);
        for wrong in [&["5-4"][..], &["4-"]] {
            assert!(cost(wrong, &[]).is_err(), "{wrong:?}");
        }
        let (cost_of, _) = cost(&[], &["40", "c=12.5"]).unwrap();
        assert_eq!(cost_of.watts, [Some(40.0), Some(40.0), Some(12.5)]);
        for wrong in [&["d=1"][..], &["a=1", "a=2"], &["1", "2"], &["a="], &["a=-1"], &["t=1", "t=2"]] {
            assert!(cost(wrong, &[]).is_err() && cost(&[], wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_target_has_a_price_and_watts_of_its_own() {
        let (cost_of, plan) = cost(&["t=0.1/h", "0.3/h"], &["u=35", "t=70"]).unwrap();
        assert_eq!(plan.targets[0].price.as_ref().map(|price| price.amount), Some(0.1));
        assert_eq!((plan.targets[0].watts, plan.targets[1].watts), (Some(70.0), Some(35.0)));
        assert!(plan.targets[1].price.is_none(), "the price of every machine is none of a target");
        assert_eq!(cost_of.watts, [None, None, None]);
    }
}
