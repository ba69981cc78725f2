//! The kinds of text below a heading of `#` lines: a table of a known test, a distribution, or something that is
//! skipped.

use model::{Better, Params, Unit};

use super::PrintedFigure;

/// Where in the text a line stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Section {
    /// Below no heading: single figures.
    #[default]
    Lines,
    Table(Table),
    Distribution {
        metric: String,
        params: Params,
    },
    /// A test that is not read.
    Skipped(String),
    /// Counters of the servers below a table.
    Aside,
}

/// Rows of numbers: each names its clients or objects first.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    metric: String,
    /// Parameters of every row.
    params: Params,
    columns: &'static [Column],
}

#[derive(Debug, PartialEq)]
enum Column {
    Param(&'static str),
    /// A suffix of the metric's name, the unit, the factor to it, the direction.
    Figure(&'static str, Unit, f64, Better),
    /// A share of the server's threads that not every version prints.
    Also(&'static str),
    /// A column that follows from the others.
    Skip,
}

const LOADED: &[Column] = &[
    Column::Param("k"),
    Column::Figure("", Unit::Second, 1e-6, Better::Lower),
    // Clients over the mean time of one of them: worked out there, not measured.
    Column::Figure(".derived", Unit::PerSec, 1e3, Better::Neither),
];
const READS: &[Column] = &[
    Column::Param("k"),
    Column::Figure("", Unit::PerSec, 1e3, Better::Higher),
    Column::Also(".worker"),
    Column::Also(".dispatch"),
];
/// The columns that follow differ by version.
const WRITES: &[Column] =
    &[Column::Param("k"), Column::Figure("", Unit::PerSec, 1e3, Better::Higher), Column::Skip];
const MULTI: &[Column] = &[
    Column::Param("objects"),
    Column::Param("masters"),
    Column::Skip,
    Column::Figure("", Unit::Second, 1e-6, Better::Lower),
    Column::Skip,
];

impl Section {
    /// The section that a heading announces; its lines are joined by spaces.
    pub fn from_heading(heading: &str) -> Section {
        let test = heading.split("clusterperf.py ").nth(1).and_then(|rest| rest.split('\'').next());
        let Some(test) = test.map(str::trim).filter(|test| !test.is_empty()) else {
            // Rules and remarks between figures.
            return Section::Lines;
        };
        let params = size(heading);
        let columns = match test {
            _ if heading.contains("Cumulative distribution") => {
                return match distribution(heading, test) {
                    Some(metric) => Section::Distribution { metric, params },
                    None => Section::Skipped(test.to_owned()),
                };
            }
            "readLoaded" => LOADED,
            "readThroughput" => READS,
            "writeThroughput" => WRITES,
            "multiRead_oneMaster"
            | "multiRead_oneObjectPerMaster"
            | "multiRead_general"
            | "multiRead_generalRandom"
            | "multiWrite_oneMaster" => MULTI,
            other => return Section::Skipped(other.to_owned()),
        };
        Section::Table(Table { metric: test.to_owned(), params, columns })
    }
}

/// The size of the objects, as the heading says it: `100-byte objects`, `100 B objects`.
fn size(heading: &str) -> Params {
    let words: Vec<&str> = heading.split_whitespace().collect();
    let dashed = words.iter().find_map(|word| word.strip_suffix("-byte"));
    let apart = words.windows(2).find(|pair| pair[1] == "B").map(|pair| pair[0]);
    let mut params = Params::default();
    if let Some(bytes) = dashed.or(apart).and_then(|bytes| bytes.parse::<u64>().ok()) {
        params.set("size", &bytes.to_string());
    }
    params
}

/// Which of the tests a distribution is of: readDistRandom prints the name of readDist, but other words.
fn distribution(heading: &str, test: &str) -> Option<String> {
    let by_one = heading.contains("for a single client to");
    let random = heading.contains("random ") && heading.contains("-byte object");
    match test {
        _ if !by_one || heading.contains("index") => None,
        "readDist" if heading.contains("to read a") && random => Some("readDistRandom".to_owned()),
        "readDist" | "readDistRandom" if heading.contains("to read a") => Some(test.to_owned()),
        "writeDist" | "writeDistRandom" if heading.contains("to write a") => Some(test.to_owned()),
        _ => None,
    }
}

/// No table has a larger number: beyond it a factor could leave what a number can be.
const LARGEST: f64 = 1e15;

/// The numbers of a row. Fails when a word is none.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let number = |word: &str| {
        let number = word.parse::<f64>().ok().filter(|number| (0.0..LARGEST).contains(number));
        number.ok_or_else(|| format!("`{word}` is no such number, and this is a line of a table"))
    };
    text.split_whitespace().map(number).collect()
}

impl Table {
    /// The figures of a row. Fails when a column is missing or malformed.
    pub fn row(&self, line: usize, text: &str) -> Result<Vec<PrintedFigure>, String> {
        let numbers = numbers(text)?;
        let mut params = self.params.clone();
        for (column, number) in self.columns.iter().zip(&numbers) {
            if let Column::Param(name) = column {
                if number.fract() != 0.0 || *number < 1.0 {
                    return Err(format!("{}: {number} is no number of {name}", self.metric));
                }
                params.set(name, &format!("{number:.0}"));
            }
        }
        let needed = self
            .columns
            .iter()
            .rposition(|column| matches!(column, Column::Param(_) | Column::Figure(..)))
            .unwrap_or(0);
        if numbers.len() <= needed {
            let (has, wants) = (numbers.len(), needed + 1);
            return Err(format!("{}: {has} columns, of at least {wants}", self.metric));
        }
        let mut figures = Vec::new();
        for (column, number) in self.columns.iter().zip(&numbers) {
            let (end, unit, factor, better) = match column {
                Column::Figure(end, unit, factor, better) => (*end, *unit, *factor, *better),
                Column::Also(end) => (*end, Unit::Ratio, 1.0, Better::Neither),
                Column::Param(_) | Column::Skip => continue,
            };
            let metric = format!("{}{end}", self.metric);
            if *number <= 0.0 && better != Better::Neither {
                return Err(format!("{metric}: it is 0, which no test comes to"));
            }
            let (value, params) = (number * factor, params.clone());
            figures.push(PrintedFigure { line, metric, unit, better, value, params });
        }
        Ok(figures)
    }
}
