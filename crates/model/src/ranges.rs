//! Names into a short expression: `atom001`, `atom002`, `atom003` into `atom[001-003]`. Reads no expression.
//!
//! Names are cut at their numbers. Those with the same letters are folded number by number, into products where that
//! is possible: `rack[1-2]node[01-03]`. Numbers of another width stay apart: `a[1-2,01-02]`.

use std::collections::{BTreeMap, BTreeSet};

/// A number has so many digits at most; longer runs of digits are text.
pub const MOST_DIGITS: usize = 18;

/// A number of a name with its digits. Ordered by value, then by digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    value: u64,
    digits: usize,
}

impl Number {
    /// True where zeros stand in front.
    fn is_padded(self) -> bool {
        self.digits > self.natural()
    }

    fn natural(self) -> usize {
        self.value.checked_ilog10().map_or(1, |log| log as usize + 1)
    }

    fn text(self) -> String {
        format!("{:0width$}", self.value, width = self.digits)
    }
}

/// The values of each number of a group of names: the group is their product.
type Product = Vec<BTreeSet<Number>>;

/// Names beyond these are told as an expression.
pub const TOLD: usize = 8;

/// The expression of names that are too many to be told one by one; `None` of few.
pub fn many<S: AsRef<str>>(names: &[S]) -> Option<String> {
    (names.len() > TOLD).then(|| fold(names.iter().map(AsRef::as_ref), |_| true))
}

/// The expression of these names; equal names count once. Empty where there is none. A name of which `is_name` is false
/// would be read as a range where it stands alone.
pub fn fold<'n>(names: impl IntoIterator<Item = &'n str>, is_name: impl Fn(&str) -> bool) -> String {
    let mut groups: BTreeMap<Vec<String>, BTreeSet<Vec<Number>>> = BTreeMap::new();
    for name in names {
        let (texts, numbers) = cut(name);
        groups.entry(texts).or_default().insert(numbers);
    }
    let folded = groups.into_iter().flat_map(|(texts, rows)| {
        let products: Vec<Product> =
            rows.into_iter().map(|row| row.into_iter().map(|one| BTreeSet::from([one])).collect()).collect();
        let products = joined(products);
        products.into_iter().map(|product| written(&texts, &product, &is_name)).collect::<Vec<_>>()
    });
    folded.collect::<Vec<_>>().join(",")
}

/// The texts around the numbers of a name, one more than it has numbers, and the numbers.
fn cut(name: &str) -> (Vec<String>, Vec<Number>) {
    let (mut texts, mut numbers) = (vec![String::new()], Vec::new());
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (head, behind) = rest.split_at(if digits == 0 {
            rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len())
        } else {
            digits
        });
        match head.parse().ok().filter(|_| (1..=MOST_DIGITS).contains(&digits)) {
            Some(value) => {
                numbers.push(Number { value, digits });
                texts.push(String::new());
            }
            None => {
                if let Some(last) = texts.last_mut() {
                    last.push_str(head);
                }
            }
        }
        rest = behind;
    }
    (texts, numbers)
}

/// Fewer products of the same names: those that differ in one number alone become one.
fn joined(mut products: Vec<Product>) -> Vec<Product> {
    let places = products.first().map_or(0, Vec::len);
    loop {
        let before = products.len();
        for place in (0..places).rev() {
            let mut by_rest: BTreeMap<Product, BTreeSet<Number>> = BTreeMap::new();
            for mut product in products {
                let values = std::mem::take(&mut product[place]);
                by_rest.entry(product).or_default().extend(values);
            }
            products = by_rest
                .into_iter()
                .map(|(mut product, values)| {
                    product[place] = values;
                    product
                })
                .collect();
        }
        if products.len() == before {
            products.sort();
            return products;
        }
    }
}

fn written(texts: &[String], product: &Product, is_name: impl Fn(&str) -> bool) -> String {
    let assemble = |number: &dyn Fn(usize, &BTreeSet<Number>) -> String| {
        let mut out = texts.first().cloned().unwrap_or_default();
        for (place, values) in product.iter().enumerate() {
            out.push_str(&number(place, values));
            out.push_str(texts.get(place + 1).map_or("", String::as_str));
        }
        out
    };
    let is_one = |values: &BTreeSet<Number>| values.len() == 1;
    let usual = assemble(&|_, values| match values.first() {
        Some(one) if is_one(values) => one.text(),
        _ => format!("[{}]", runs(values)),
    });
    if !product.iter().all(is_one) || is_name(&usual) {
        return usual;
    }
    // A name that would be read as a range is a pattern with one number.
    assemble(&|place, values| match values.first() {
        Some(one) if place > 0 => one.text(),
        _ => format!("[{}]", runs(values)),
    })
}

/// Numbers as ranges, in the order of their values.
fn runs(values: &BTreeSet<Number>) -> String {
    // Numbers without zeros in front belong to those of the same width that have some.
    let padded: BTreeSet<usize> = values.iter().filter(|one| one.is_padded()).map(|one| one.digits).collect();
    let mut classes: BTreeMap<usize, Vec<Number>> = BTreeMap::new();
    for one in values {
        let class = if padded.contains(&one.digits) { one.digits } else { 0 };
        classes.entry(class).or_default().push(*one);
    }
    let mut runs: Vec<(Number, Number)> = Vec::new();
    for class in classes.values() {
        let mut open: Option<(Number, Number)> = None;
        for one in class {
            open = match open {
                Some((from, to)) if one.value == to.value + 1 => Some((from, *one)),
                other => {
                    runs.extend(other);
                    Some((*one, *one))
                }
            };
        }
        runs.extend(open);
    }
    runs.sort();
    let text = |(from, to): &(Number, Number)| match from == to {
        true => from.text(),
        false => format!("{}-{}", from.text(), to.text()),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_an_expression_and_few_are_names() {
        let names: Vec<String> = (1..=132).map(|at| format!("atom{at:03}")).collect();
        let of = |count: usize| many(&names.iter().take(count).map(String::as_str).collect::<Vec<_>>());
        assert_eq!(of(132).unwrap(), "atom[001-132]");
        assert_eq!(of(TOLD), None);
        let mut odd: Vec<&str> = names.iter().take(9).map(String::as_str).collect();
        odd.push("head-1");
        assert_eq!(many(&odd).unwrap(), "atom[001-009],head-1");
    }
}
