//! `boxscore note`: words, a price, watts, a label or facts, added to a run or a machine at any time.
//!
//! A run's facts are what was found when it ran, so a fact always goes to the machine. A machine's price and watts go
//! to each of its runs as well, and to its later ones. What is said of a machine of the catalogue stands in the user's
//! store, over what the catalogue has.

use model::data::Price;
use model::doc::{DoneDoc, MachineDoc};
use model::price::may_be_rent;
use model::{Fact, Note, NoteBody, Unit};
use store::{Filter, Mode, Store};

use crate::cli::costs::USUAL_CURRENCY;
use crate::cli::{Global, check_watts, parse_price, price_note};
use crate::error::{CliError, Kind};
use crate::import::sheet;
use crate::lookup::ids::short;
use crate::lookup::names::Machine;
use crate::lookup::{catalogue, labels, names, paths, runs};
use crate::out;

/// The source of a fact that a person gave.
pub const BY_HAND: &str = "added by hand";

const AFTER: &str = "\
Examples:
  boxscore note latest \"after the BIOS update\"
  boxscore note . --price 0.192/h --currency EUR --watts 35
  boxscore note atom-330 --price 95 --watts 38   a published machine, at your price
  boxscore note latest --label before
  boxscore note . --fact memory.slots=4 --fact memory.max.bytes=128GiB
  boxscore note . --fact 'pcie_slots=1 (x16)' --fact 'chipset=Intel 5520 + ICH10R' --fact 'sockets_max=? (>= 4)'
Words behind a number are its caveat. Where some facts are refused the others are kept, and the exit code is 3.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct NoteArgs {
    /// A run (id, label, latest, latest~N) or a machine (`.` is this one)
    #[arg(value_name = "RUN|MACHINE")]
    pub target: String,
    /// The text of the note
    #[arg(value_name = "TEXT", required_unless_present_any = ["price", "watts", "label", "facts"])]
    pub text: Option<String>,
    /// Price of the machine: 0.192/h, 35/month, 429 bought, or the middle of a band, 2000..2500 or 2000-2500
    #[arg(long, value_name = "PRICE")]
    pub price: Option<String>,
    /// Currency of the price [default: USD]
    #[arg(long, value_name = "CODE", requires = "price")]
    pub currency: Option<String>,
    /// Power that the machine draws, in watts
    #[arg(long, value_name = "W")]
    pub watts: Option<f64>,
    /// Label of the run, which `compare` and `show` accept
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// A fact of the machine (memory.slots=4); repeatable. One that is refused keeps none of the others back
    #[arg(long = "fact", value_name = "K=V")]
    pub facts: Vec<String>,
}

/// The additions, checked before any of them is written.
#[derive(Debug)]
struct Said {
    text: Option<String>,
    price: Option<Price>,
    /// The band that the price is the middle of.
    band: Option<String>,
    watts: Option<f64>,
    label: Option<String>,
    facts: Vec<Fact>,
    /// Facts that were refused, where others were not.
    refused: Vec<CliError>,
}

pub fn run(args: &NoteArgs, global: &Global) -> Result<u8, CliError> {
    let said = said(args)?;
    let path = paths::store(global)?;
    // A machine of the catalogue may be noted before anything was measured.
    let is_new = paths::existing(&path)?.is_none();
    let of_catalogue = is_new && catalogue::has(&args.target)?;
    let mut store = if of_catalogue { paths::create(&path)? } else { Store::open(&path, Mode::ReadWrite)? };
    let found = names::machine(&args.target, Some(&store))?;
    let run = match found {
        Some(Machine::This(machine, _) | Machine::Measured(machine) | Machine::Sheet(machine)) => {
            to_machine(&machine, &said, &mut store)?;
            None
        }
        Some(Machine::Published(name) | Machine::Reference(name)) => {
            to_machine(&MachineDoc { id: catalogue::id(&name), name }, &said, &mut store)?;
            None
        }
        None => {
            let id = runs::run_id(&args.target, &store)?;
            to_run(&id, &said, &mut store)?;
            if !said.facts.is_empty() && !global.json {
                out::say("the facts were added to the run's machine: a run keeps what was found when it ran");
            }
            Some(id)
        }
    };
    let refused: Vec<String> = said.refused.iter().map(|error| error.message.clone()).collect();
    if global.json {
        let paths = vec![path.display().to_string()];
        out::json(&DoneDoc {
            schema: "boxscore.note/1".to_owned(),
            ok: refused.is_empty(),
            paths,
            run,
            refused,
        });
    } else {
        let to = run.map_or_else(|| args.target.clone(), |run| format!("run {}", short(&run)));
        let price = said.price.as_ref().map_or_else(String::new, |price| {
            let rent = may_be_rent(price.amount).map_or_else(String::new, |rent| format!("; {rent}"));
            let bought = if price.hourly { String::new() } else { format!(" to buy{rent}") };
            let is_said = args.currency.is_some();
            let taken = match is_said {
                true => String::new(),
                false => format!("; taken for {USUAL_CURRENCY}, since no --currency is given"),
            };
            format!(": {price}{bought}{taken}")
        });
        out::say(&format!("noted with {to}{price}"));
    }
    said.refused.iter().for_each(|error| out::say(&error.to_string()));
    Ok(if said.refused.is_empty() { 0 } else { Kind::Faults.exit_code() })
}

fn said(args: &NoteArgs) -> Result<Said, CliError> {
    args.watts.map(check_watts).transpose()?;
    for (what, text) in [("the note", &args.text), ("--label", &args.label)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(CliError::usage(format!("{what} is empty")));
        }
    }
    labels::check_label(args.label.as_deref())?;
    let (price, band) = match &args.price {
        Some(text) => {
            let quoted = parse_price(text, args.currency.as_deref().unwrap_or(USUAL_CURRENCY))?;
            (Some(quoted.price), quoted.band)
        }
        None => (None, None),
    };
    let (mut facts, mut refused) = (Vec::new(), Vec::new());
    for text in &args.facts {
        match fact(text) {
            Ok(fact) => facts.push(fact),
            Err(error) => refused.push(error),
        }
    }
    // Where none is a fact, nothing is kept.
    if facts.is_empty()
        && let Some(last) = refused.pop()
    {
        refused.iter().for_each(|error| out::say(&error.to_string()));
        return Err(last);
    }
    Ok(Said {
        text: args.text.clone(),
        price,
        band,
        watts: args.watts,
        label: args.label.clone(),
        facts,
        refused,
    })
}

fn fact(text: &str) -> Result<Fact, CliError> {
    let wrong = |what: String| CliError::usage(format!("--fact {text}: {what}"));
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| wrong("not of the form key=value".to_owned()).hint("write --fact memory.slots=4"))?;
    sheet::known(key).map_err(|_| {
        wrong(format!("`{key}` is not a fact's key"))
            .hint("keys are dotted and lower case; `boxscore inspect --json` has them")
            .did_you_mean(key, sheet::names())
    })?;
    sheet::cell_fact(key, value.trim(), BY_HAND).map_err(wrong)
}

fn to_run(run: &str, said: &Said, store: &mut Store) -> Result<(), CliError> {
    let whole = store.load_light(run)?;
    if let Some(text) = &said.text {
        let note = Note::of_run(NoteBody::User(text.clone()));
        // Said twice is said once.
        if !whole.notes.contains(&note) {
            store.note(run, &note)?;
        }
    }
    if let Some(price) = &said.price {
        store.set_price(run, Some(price))?;
        if let Some(band) = &said.band {
            store.note(run, &price_note(band))?;
        }
    }
    if let Some(watts) = said.watts {
        store.set_watts(run, Some(watts))?;
    }
    if let Some(label) = &said.label {
        store.set_label(run, Some(label))?;
    }
    store.add_machine_facts(&whole.head.machine_id, &said.facts).map_err(CliError::from)
}

fn to_machine(machine: &MachineDoc, said: &Said, store: &mut Store) -> Result<(), CliError> {
    if said.label.is_some() {
        return Err(CliError::usage(format!("--label belongs to a run; {} is a machine", machine.name))
            .hint("name the run: boxscore note latest --label LABEL"));
    }
    let mut facts = said.facts.clone();
    if let Some(text) = &said.text {
        let known = store.machine_facts(&machine.id)?;
        let earlier = known.iter().find(|fact| fact.key == "note").and_then(|fact| fact.value.as_ref());
        let text = match earlier.map(model::FactValue::text) {
            Some(earlier) if earlier.split("; ").any(|part| part == text) => earlier,
            Some(earlier) => format!("{earlier}; {text}"),
            None => text.clone(),
        };
        facts.push(Fact::text("note", text, BY_HAND));
    }
    if let Some(watts) = said.watts {
        facts.push(Fact::number("power.watts", watts, Unit::Watt, BY_HAND));
    }
    if let Some(price) = &said.price {
        let fact = Fact::number(price.key(), price.amount, Unit::Count, BY_HAND);
        facts.push(fact.with_caveat(said.band.clone()));
        // One price a machine: an earlier one in another currency is gone.
        let known = store.machine_facts(&machine.id)?;
        let others = known.iter().map(|fact| fact.key.as_str());
        let others: Vec<&str> =
            others.filter(|key| key.starts_with("price.") && *key != price.key()).collect();
        store.drop_machine_facts(&machine.id, &others)?;
    }
    let filter = Filter { machine_id: Some(machine.id.clone()), ..Filter::default() };
    for head in store.heads(&filter)? {
        if let Some(price) = &said.price {
            store.set_price(&head.id, Some(price))?;
        }
        if let Some(watts) = said.watts {
            store.set_watts(&head.id, Some(watts))?;
        }
    }
    store.add_machine_facts(&machine.id, &facts).map_err(CliError::from)
}
