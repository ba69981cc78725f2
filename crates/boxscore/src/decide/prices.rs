//! Prices, watts and rack units of sides: typed, from a CSV with source and date, or from notes, in this order.
//!
//! Nothing is invented: what nobody said stays missing.

use std::path::Path;

use model::data::Price;
use model::decision::{Key, Term, parse_price, parse_range};
use model::doc::InputDoc;
use model::fact::Fact;
use model::format::{Moment, list, number};
use model::need::Ranged;
use model::price::may_be_rent;
use verdict::decide::{Cost, Input};

use super::asked::{Asked, Said};
use super::sides::one_price;
use crate::error::{CliError, nearest};
use crate::import::csv::{self, CsvRow};
use crate::lookup::resolve::Loaded;

const COLUMNS: [&str; 7] = ["name", "price", "currency", "watts", "rack_units", "source", "date"];
const PRICE_HINT: &str = "write 0.19/h, 35/month, 1200/y, 429 (bought) or 2000..2500 (a range)";

/// Behind a price that is no rent.
const TO_BUY: &str = " to buy";

/// Names of a table that are told.
const TOLD: usize = 3;

/// A value with where it is from.
#[derive(Clone, Debug)]
struct Known {
    text: String,
    from: String,
    /// On the command line or in the file of the decision, so that its name must be a side's.
    is_typed: bool,
    date: Option<String>,
    currency: Option<String>,
}

/// The error for a price that cannot be read; of one with its currency, how that is said.
fn not_a_price(said: &Said, text: &str) -> CliError {
    let (amount, per) = text.split_once('/').map_or((text, ""), |(amount, per)| (amount, per));
    let amount = amount.trim();
    let number = amount.trim_matches(|c: char| c.is_ascii_alphabetic() || c.is_whitespace());
    let currency = amount.replace(number, "").trim().to_uppercase();
    let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_alphabetic());
    let slash = if per.is_empty() { "" } else { "/" };
    let plain = format!("{number}{slash}{per}");
    if !is_code || parse_price(&plain).is_none() {
        return said.wrong("not a price above 0", PRICE_HINT);
    }
    let side = said.given.strip_suffix(text).unwrap_or_default();
    let hint = format!("write {side}{plain}, and the currency once for all: --currency {currency}");
    said.wrong("a price is written without its currency", &hint)
}

/// Values of one kind, each with the side that it names, or of all sides.
type Named = Vec<(Option<String>, Known)>;

/// All that was said of the cost of sides, besides their notes.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    price: Named,
    watts: Named,
    rack_units: Named,
    /// The currency of prices that name none.
    currency: Option<String>,
    /// Seconds since 1970, and the age from which on a dated value is stale.
    now: f64,
    stale_s: f64,
}

impl Prices {
    /// Reads what was typed and the CSV. Fails for what is no price or power above 0, and for an unknown column.
    pub fn read(asked: &Asked, currency: Option<String>, now: f64, stale_s: f64) -> Result<Prices, CliError> {
        let mut prices = Prices { currency, now, stale_s, ..Prices::default() };
        for said in asked.all(Key::Price) {
            let (name, text) = split(said);
            parse_price(&text).ok_or_else(|| not_a_price(said, &text))?;
            add(&mut prices.price, name, Known::typed(text, said), said)?;
        }
        for said in asked.all(Key::Watts) {
            let (name, text) = split(said);
            above_zero(&text)
                .ok_or_else(|| said.wrong("not a number of watts above 0", "write 40, 35..45, or NAME=40"))?;
            add(&mut prices.watts, name, Known::typed(text, said), said)?;
        }
        if let Some(said) = asked.one(Key::Prices) {
            prices.add_file(said)?;
        }
        Ok(prices)
    }

    fn add_file(&mut self, said: &Said) -> Result<(), CliError> {
        let text = std::fs::read_to_string(Path::new(&said.given))
            .map_err(|error| CliError::data(format!("{} {}: {error}", said.at, said.given)))?;
        for row in rows(&said.given, &text)? {
            let Some(name) = row.get("name").map(str::to_owned) else { continue };
            let known = |column: &str| {
                let date = row.get("date").map(str::to_owned);
                let about: Vec<&str> = [row.get("date"), row.get("source")].into_iter().flatten().collect();
                let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
                let from = format!("{}{about}", said.given);
                let currency = row.get("currency").map(str::to_uppercase);
                row.get(column).map(|text| Known {
                    text: text.to_owned(),
                    from,
                    is_typed: false,
                    date,
                    currency,
                })
            };
            for (column, list) in
                [("price", &mut self.price), ("watts", &mut self.watts), ("rack_units", &mut self.rack_units)]
            {
                let is_known = list.iter().any(|(known, _)| known.as_ref() == Some(&name));
                list.extend(known(column).filter(|_| !is_known).map(|known| (Some(name.clone()), known)));
            }
        }
        Ok(())
    }

    /// Names that were given a value, for those that are of no side.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        // Of a file of prices only some lines may be of these sides.
        let typed = self.price.iter().chain(&self.watts).filter(|(_, known)| known.is_typed);
        typed.filter_map(|(name, _)| name.as_deref())
    }

    /// Lines of the file of prices that are of no side.
    pub fn unmatched(&self, sides: &[Loaded]) -> Option<String> {
        let is_side = |name: &str| sides.iter().any(|side| side.name == name || side.machine.name == name);
        let all = self.price.iter().chain(&self.watts).chain(&self.rack_units);
        let listed = all.filter(|(_, known)| !known.is_typed).filter_map(|(name, _)| name.as_deref());
        let names: std::collections::BTreeSet<&str> = listed.filter(|name| !is_side(name)).collect();
        let mut told: Vec<String> = names.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
        let more = names.len() - told.len();
        told.extend((more > 0).then(|| format!("{more} more")));
        let (are, sides) = if names.len() == 1 { ("is", "no side") } else { ("are", "no sides") };
        (!names.is_empty())
            .then(|| format!("{} of the table of prices {are} {sides} of this decision", list(&told)))
    }

    /// Sides whose price names no currency, as the command does not either.
    pub fn without_currency(&self, sides: &[Loaded]) -> Option<String> {
        if self.currency.is_some() {
            return None;
        }
        let is_bare = |side: &&Loaded| value(&self.price, side).is_some_and(|known| known.currency.is_none());
        let bare: Vec<String> = sides.iter().filter(is_bare).map(|side| side.name.clone()).collect();
        (!bare.is_empty()).then(|| {
            format!(
                "no currency is said for the price of {}, so that all money is taken to be in {}: --currency says \
                 another",
                list(&bare),
                usd()
            )
        })
    }

    /// Prices to buy a box that may be meant as rents, and how those are written.
    pub fn slips(&self, sides: &[Loaded]) -> Vec<String> {
        let mut slips: Vec<(&str, String, Vec<String>)> = Vec::new();
        for (side, known) in sides.iter().filter_map(|side| Some((side, value(&self.price, side)?))) {
            let Some(price) = parse_price(&known.text).filter(|price| price.term == Term::Once) else {
                continue;
            };
            let Some(rent) = may_be_rent(price.amount.low) else { continue };
            match slips.iter_mut().find(|(text, ..)| *text == known.text) {
                Some((_, _, names)) => names.push(side.name.clone()),
                None => slips.push((&known.text, rent, vec![side.name.clone()])),
            }
        }
        let said = |(text, rent, names): (&str, String, Vec<String>)| {
            format!("the price {text} of {} is read as one to buy a box; {rent}", list(&names))
        };
        slips.into_iter().map(said).collect()
    }

    /// The price of a side. Fails where it is in another currency than `--currency`.
    pub fn price(&self, side: &Loaded) -> Result<Option<Cost>, CliError> {
        let Some(known) = value(&self.price, side) else { return self.noted_price(side) };
        let Some(price) = parse_price(&known.text) else { return Ok(None) };
        let currency = known.currency.clone().or_else(|| self.currency.clone()).unwrap_or_else(usd);
        self.check_currency(&side.name, &currency, &known.from)?;
        let (factor, hourly) = price.term.per_hour().map_or((1.0, false), |factor| (factor, true));
        let per = if hourly { price.term.suffix() } else { TO_BUY };
        let shown = format!("{} {currency}{per}", ends(price.amount));
        let doc = self.doc("price", shown, price.amount, known);
        Ok(Some(Cost { amount: price.amount.times(factor), hourly, currency, doc }))
    }

    /// The price that notes, or the study of a published machine, say.
    fn noted_price(&self, side: &Loaded) -> Result<Option<Cost>, CliError> {
        let from = provenance(side);
        one_price(side)?;
        let Some(price) = &side.price else { return self.price_band(side) };
        self.check_currency(&side.name, &price.currency, &from)?;
        let Price { amount, hourly, currency } = price.clone();
        let known = Known::noted(from);
        let shown = if hourly { price.to_string() } else { format!("{price}{TO_BUY}") };
        let doc = self.doc("price", shown, Ranged::point(amount), &known);
        Ok(Some(Cost { amount: Ranged::point(amount), hourly, currency, doc }))
    }

    /// The band of prices that a fact says.
    fn price_band(&self, side: &Loaded) -> Result<Option<Cost>, CliError> {
        let Some((amount, currency, why)) = Price::band_of_facts(&side.facts) else { return Ok(None) };
        let about = why.map_or_else(String::new, |why| format!(": {why}"));
        let from = format!("{}{about}", provenance(side));
        self.check_currency(&side.name, &currency, &from)?;
        let known = Known::noted(from);
        let doc = self.doc("price", format!("{} {currency}{TO_BUY}", ends(amount)), amount, &known);
        Ok(Some(Cost { amount, hourly: false, currency, doc }))
    }

    fn check_currency(&self, name: &str, currency: &str, from: &str) -> Result<(), CliError> {
        match &self.currency {
            Some(wanted) if wanted != currency => Err(CliError::usage(format!(
                "the price of {name} is in {currency} ({from}), and --currency says {wanted}"
            ))
            .hint(format!("say its price in {wanted}: --price {name}=..."))),
            _ => Ok(()),
        }
    }

    /// The watts of a side that were typed, or that the file of prices has.
    pub fn said_watts(&self, side: &Loaded) -> Option<Input> {
        let known = value(&self.watts, side)?;
        let amount = above_zero(&known.text)?;
        Some(Input { value: amount, doc: self.doc("watts", format!("{} W", ends(amount)), amount, known) })
    }

    /// The watts that notes, or the study of a published machine, say.
    pub fn noted_watts(&self, side: &Loaded) -> Option<Input> {
        let watts = side.watts.filter(|watts| watts.is_finite() && *watts > 0.0)?;
        let note = side.facts.iter().find(|fact| fact.key == "power.watts").and_then(|fact| fact.why.clone());
        let from = note.map_or_else(|| provenance(side), |note| format!("{}: {note}", provenance(side)));
        let known = Known::noted(from);
        let amount = Ranged::point(watts);
        Some(Input { value: amount, doc: self.doc("watts", format!("{} W", number(watts)), amount, &known) })
    }

    /// Rack units of one box: of a chassis with several boxes its part.
    pub fn rack_units(&self, side: &Loaded) -> Option<Input> {
        if let Some(known) = value(&self.rack_units, side) {
            let amount = above_zero(&known.text)?;
            let doc = self.doc("rack units", ends(amount), amount, known);
            return Some(Input { value: amount, doc });
        }
        let fact = |key: &str| side.facts.iter().find(|fact| fact.key == key);
        let count = |fact: &Fact| match fact.value.as_ref()? {
            model::FactValue::Text(text) => text.trim().parse().ok(),
            value => value.number(),
        };
        let units = fact("chassis.units")?;
        let whole = count(units).filter(|units| units.is_finite() && *units > 0.0)?;
        let boxes = fact("chassis.servers").and_then(count).filter(|boxes| *boxes >= 1.0).unwrap_or(1.0);
        let why = units.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let of = if boxes > 1.0 {
            format!(", {} boxes in {} U", number(boxes), number(whole))
        } else {
            String::new()
        };
        let known = Known::noted(format!("{}{of}{why}", provenance(side)));
        let amount = Ranged::point(whole / boxes);
        Some(Input { value: amount, doc: self.doc("rack units", number(amount.low), amount, &known) })
    }

    fn doc(&self, name: &str, shown: String, amount: Ranged, known: &Known) -> InputDoc {
        let date = known.date.as_deref().and_then(seconds_of);
        let (low, high) =
            if amount.is_range() { (Some(amount.low), Some(amount.high)) } else { (None, None) };
        InputDoc {
            name: name.to_owned(),
            shown,
            value: Some(amount.middle()),
            low,
            high,
            from: known.from.clone(),
            date: known.date.clone(),
            is_stale: date.is_some_and(|date| self.is_stale(date)),
        }
    }

    /// True of what was said or measured too long before now.
    fn is_stale(&self, seconds: f64) -> bool {
        self.now - seconds > self.stale_s
    }

    /// The day of a measurement, and whether that is too long ago.
    pub fn day_of(&self, started_ns: i64) -> (Option<String>, bool) {
        let seconds = started_ns as f64 / 1e9;
        (Moment::at(seconds).map(|moment| moment.date()), self.is_stale(seconds))
    }
}

impl Known {
    fn noted(from: String) -> Known {
        Known { text: String::new(), from, is_typed: false, date: None, currency: None }
    }

    fn typed(text: String, said: &Said) -> Known {
        Known { text, from: said.from.clone(), is_typed: true, date: None, currency: None }
    }
}

fn usd() -> String {
    "USD".to_owned()
}

/// `2,000 to 2,500`, or the one value; all digits that were written.
fn ends(range: Ranged) -> String {
    let plain = |value: f64| match value {
        value if value >= 1000.0 && value.fract() == 0.0 => model::format::fixed(value, 0),
        value => value.to_string(),
    };
    match range.is_range() {
        true => format!("{} to {}", plain(range.low), plain(range.high)),
        false => plain(range.low),
    }
}

/// Where what a side says of itself is from.
fn provenance(side: &Loaded) -> String {
    side.source.clone().unwrap_or_else(|| "noted".to_owned())
}

/// `NAME=VALUE`, or a value alone.
fn split(said: &Said) -> (Option<String>, String) {
    match said.given.rsplit_once('=') {
        Some((name, value)) => (Some(name.trim().to_owned()), value.trim().to_owned()),
        None => (None, said.given.trim().to_owned()),
    }
}

fn add(list: &mut Named, name: Option<String>, known: Known, said: &Said) -> Result<(), CliError> {
    if list.iter().any(|(other, _)| *other == name) {
        let of = name.map_or_else(|| "all sides".to_owned(), |name| format!("`{name}`"));
        return Err(CliError::usage(format!("{}: the value of {of} is given twice", said.at)));
    }
    list.push((name, known));
    Ok(())
}

/// The value of a side by its name, its machine's, or else that of all.
fn value<'a>(list: &'a Named, side: &Loaded) -> Option<&'a Known> {
    let of = |wanted: Option<&str>| {
        list.iter().find(|(name, _)| name.as_deref() == wanted).map(|(_, known)| known)
    };
    of(Some(&side.name)).or_else(|| of(Some(&side.machine.name))).or_else(|| of(None))
}

fn above_zero(text: &str) -> Option<Ranged> {
    parse_range(text).filter(|range| range.low > 0.0)
}

/// Seconds since 1970 of a day such as `2026-03-01`.
pub fn seconds_of(date: &str) -> Option<f64> {
    let mut parts = date.trim().splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970 of the civil calendar, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era_day = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
    let seconds = (era_day - 719_468) as f64 * 86_400.0;
    // The 31st of a month of 30 days is none.
    (Moment::at(seconds)?.date() == date.trim()).then_some(seconds)
}

/// The lines of a table of prices. Fails for an unknown column, a line without name, and a cell that is no value.
pub fn rows(file: &str, text: &str) -> Result<Vec<CsvRow>, CliError> {
    let wrong = |line: u64, what: String| CliError::data(format!("{file}:{line}: {what}"));
    let header = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    let columns: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
    if let Some(column) = columns.iter().find(|column| !COLUMNS.contains(column)) {
        let error = wrong(1, format!("unknown column `{column}`"));
        return Err(match nearest(column, COLUMNS) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("the columns are {}", COLUMNS.join(", "))),
        });
    }
    if !columns.contains(&"name") {
        return Err(wrong(1, "no column `name`: each line must name its machine".to_owned())
            .hint(format!("the columns are {}", COLUMNS.join(", "))));
    }
    let all = csv::parse(file, text.trim_start_matches('\u{feff}'))?;
    let mut seen = std::collections::BTreeSet::new();
    for row in &all {
        let Some(name) = row.get("name") else {
            return Err(wrong(row.line, "the line names no machine".to_owned()));
        };
        if !seen.insert(name.to_owned()) {
            return Err(wrong(row.line, format!("`{name}` stands twice")));
        }
        check(row).map_err(|(what, hint)| wrong(row.line, what).hint(hint))?;
    }
    Ok(all)
}

/// The first cell of a line that is no value of its column.
fn check(row: &CsvRow) -> Result<(), (String, &'static str)> {
    let bad = |column: &str, says: &str| format!("{column} {}: {says}", row.get(column).unwrap_or_default());
    if row.get("price").is_some_and(|text| parse_price(text).is_none()) {
        return Err((bad("price", "not a price above 0"), PRICE_HINT));
    }
    for column in ["watts", "rack_units"] {
        if row.get(column).is_some_and(|text| above_zero(text).is_none()) {
            return Err((bad(column, "not a number above 0"), "write 40 or 35..45"));
        }
    }
    if row.get("date").is_some_and(|date| seconds_of(date).is_none()) {
        return Err((bad("date", "not a day"), "write 2026-03-01"));
    }
    let is_code = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    if row.get("currency").is_some_and(|text| !is_code(text)) {
        return Err((bad("currency", "not a code of three letters"), "write EUR"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::decision::SECONDS_A_YEAR;
    use model::doc::MachineDoc;

    use super::*;

    fn side(name: &str) -> Loaded {
        Loaded::new(name, MachineDoc { id: name.to_owned(), name: name.to_owned() })
    }

    fn prices(table: &str) -> Prices {
        let mut prices =
            Prices { now: seconds_of("2026-11-26").unwrap(), stale_s: SECONDS_A_YEAR, ..Prices::default() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.csv");
        std::fs::write(&file, table).unwrap();
        let said = Said {
            given: file.display().to_string(),
            at: "--prices".to_owned(),
            from: "--prices".to_owned(),
        };
        prices.add_file(&said).unwrap();
        prices
    }

    #[test]
    fn a_table_has_prices_with_source_and_date() {
        let table = "name,price,currency,watts,rack_units,source,date\n\
                     a,1200/y,EUR,35..45,0.5,vendor list,2026-03-01\nb,429,eur,,,shop,2024-01-01\n\
                     c,,,50,2,shop,2024-01-01\n";
        let prices = prices(table);
        let a = prices.price(&side("a")).unwrap().unwrap();
        assert!(a.hourly && (a.amount.low - 1200.0 / 8766.0).abs() < 1e-12, "{a:?}");
        assert_eq!((a.doc.shown.as_str(), a.doc.is_stale), ("1,200 EUR/y", false));
        assert!(a.doc.from.ends_with("p.csv (2026-03-01, vendor list)"), "{}", a.doc.from);
        let b = prices.price(&side("b")).unwrap().unwrap();
        assert_eq!((b.amount.low, b.hourly, b.doc.is_stale), (429.0, false, true));
        assert_eq!(prices.said_watts(&side("a")).unwrap().value, Ranged { low: 35.0, high: 45.0 });
        assert!(prices.said_watts(&side("b")).is_none() && prices.price(&side("c")).unwrap().is_none());
        // Watts and rack units have the date of their line.
        let (a, c) = (side("a"), side("c"));
        let stale = |one: Option<Input>| one.unwrap().doc.is_stale;
        assert!(stale(prices.said_watts(&c)) && stale(prices.rack_units(&c)));
        assert!(!stale(prices.said_watts(&a)) && !stale(prices.rack_units(&a)));
    }

    #[test]
    fn lines_of_no_side_and_prices_without_currency_are_told() {
        let prices = prices("name,price,currency\na,1,\nb,2,EUR\nx,3,EUR\ny,3,EUR\nz,4,EUR\nw,5,EUR\n");
        assert_eq!(
            prices.unmatched(&[side("a"), side("b")]).unwrap(),
            "`w`, `x`, `y` and 1 more of the table of prices are no sides of this decision"
        );
        let all = ["a", "b", "w", "x", "y"].map(side);
        assert!(prices.unmatched(&all).unwrap().starts_with("`z` of the table of prices is no side"));
        let note = prices.without_currency(&all).unwrap();
        assert!(
            note.starts_with(
                "no currency is said for the price of a, so that all money is taken to be in USD"
            )
        );
        assert_eq!(prices.without_currency(&[side("b")]), None);
        let said = Prices { currency: Some("EUR".to_owned()), ..prices };
        assert_eq!(said.without_currency(&all), None);
    }

    #[test]
    fn a_price_with_its_currency_has_the_flag() {
        let of = |text: &str| {
            let said = Said { given: format!("a={text}"), at: "--price".into(), from: "--price".into() };
            not_a_price(&said, text).hint.unwrap()
        };
        assert_eq!(of("1EUR/h"), "write a=1/h, and the currency once for all: --currency EUR");
        assert_eq!(of("usd 0.1..0.2"), "write a=0.1..0.2, and the currency once for all: --currency USD");
        for text in ["", "-1/h", "EUR", "1EUR/week", "1apples/h"] {
            assert_eq!(of(text), PRICE_HINT, "{text}");
        }
    }

    #[test]
    fn wrong_tables_have_their_line() {
        let cases = [
            ("name,prize\na,1\n", "p.csv:1: unknown column `prize`", "did you mean `price`?"),
            ("price\n1\n", "p.csv:1: no column `name`", "the columns"),
            ("name,price\na,-1\n", "p.csv:2: price -1: not a price", "write 0.19/h"),
            ("name,price\na,nan\n", "p.csv:2: price nan", "write 0.19/h"),
            ("name,watts\na,0\n", "p.csv:2: watts 0", "write 40"),
            ("name,date\na,2026-02-30\n", "p.csv:2: date 2026-02-30: not a day", "2026"),
            ("name,currency\na,euro\n", "p.csv:2: currency euro", "EUR"),
            ("name,price\na,1\na,2\n", "p.csv:3: `a` stands twice", ""),
        ];
        for (text, message, hint) in cases {
            let error = rows("p.csv", text).expect_err(text);
            assert!(error.message.contains(message), "{text}: {error}");
            assert!(error.hint.unwrap_or_default().contains(hint), "{text}");
        }
    }

    #[test]
    fn measurements_are_stale_as_what_was_said_is() {
        let prices = prices("name,price,date\na,429,2025-11-20\nb,429,2025-11-28\n");
        for (name, day) in [("a", "2025-11-20"), ("b", "2025-11-28")] {
            let price = prices.price(&side(name)).unwrap().unwrap().doc;
            let measured = prices.day_of((seconds_of(day).unwrap() * 1e9) as i64);
            assert_eq!(measured, (Some(day.to_owned()), price.is_stale));
            assert_eq!(price.is_stale, name == "a");
        }
    }

    #[test]
    fn a_price_to_buy_that_may_be_a_rent_is_told() {
        let prices = prices("name,price\na,0.1\nb,0.1/h\nc,429\nd,0.1\n");
        let sides = ["a", "b", "c", "d"].map(side);
        let told = ["the price 0.1 of a and d is read as one to buy a box; rent is written 0.1/h"];
        assert_eq!(prices.slips(&sides), told);
        assert_eq!(prices.price(&side("a")).unwrap().unwrap().doc.shown, "0.1 USD to buy");
        assert_eq!(prices.price(&side("b")).unwrap().unwrap().doc.shown, "0.1 USD/h");
    }

    #[test]
    fn days_are_seconds() {
        assert_eq!(seconds_of("1970-01-01"), Some(0.0));
        assert_eq!(seconds_of("2000-02-29"), Some(951_782_400.0));
        for text in ["", "2026", "2026-13-01", "2026-02-30", "x-1-1", "2026-3-1"] {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }

    #[test]
    fn an_unlike_currency_is_refused_with_the_side() {
        let dollars = Price { amount: 5.0, currency: "USD".to_owned(), hourly: false };
        let side = Loaded { price: Some(dollars), ..side("a") };
        let prices = Prices { currency: Some("EUR".to_owned()), ..Prices::default() };
        let error = prices.price(&side).unwrap_err();
        assert!(
            error.message.contains("the price of a is in USD") && error.message.contains("EUR"),
            "{error}"
        );
    }

    #[test]
    fn fuzzed_tables_are_read_or_refused() {
        let seed =
            "name,price,currency,watts,rack_units,source,date\na,1200/y,EUR,35..45,0.5,\"v, l\",2026-03-01\n";
        for at in 0..seed.len() {
            for letter in ["", ",", "\"", "\n", "\0", "-", "é", "9"] {
                let text = format!("{}{letter}{}", &seed[..at], &seed[(at + 1).min(seed.len())..]);
                if let Err(error) = rows("p.csv", &text) {
                    assert!(error.message.starts_with("p.csv:"), "{text}: {error}");
                }
            }
        }
    }
}
