//! Instance types that spend CPU credits under load, told by their names where the facts have them.
//!
//! EC2, RDS and Alibaba Cloud write the type into DMI; Azure and Google do not, so that theirs are known only where
//! somebody named the machine by it. Says nothing of other machines.

use model::finding::Credits;

use crate::facts;
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

/// Families of types, each before a dot.
const FAMILIES: [&str; 4] = ["t2", "t3", "t3a", "t4g"];
const SHARED_CORE: [&str; 5] = ["e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"];
const ALIBABA: [&str; 3] = ["ecs.t5-", "ecs.t6-", "ecs.e-"];

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let known = |key: &&str| facts::text(&index.run.facts, key).filter(|name| has_credits(name));
    let instance = ["product.name", "machine.name"].iter().find_map(known);
    let soaked = index.is_soak();
    let ruling = |instance: &str| Ruling::of_run(Credits { instance: instance.to_owned(), soaked });
    instance.map(ruling).into_iter().collect()
}

/// True of the name of a type with credits: `t3.micro`, `db.t4g.small`, `Standard_B2s`, `e2-micro`.
fn has_credits(name: &str) -> bool {
    let plain = name.strip_prefix("db.").or_else(|| name.strip_prefix("cache.")).unwrap_or(name);
    let of_family = plain.split_once('.').is_some_and(|(family, _)| FAMILIES.contains(&family));
    let is_azure = |size: &str| size.starts_with('B') && size[1..].starts_with(|c: char| c.is_ascii_digit());
    of_family
        || SHARED_CORE.contains(&name)
        || ALIBABA.iter().any(|family| name.starts_with(family))
        || name.strip_prefix("Standard_").is_some_and(is_azure)
}

#[cfg(test)]
mod tests {
    use model::plan::Level;
    use model::{Fact, Validity};

    use super::*;
    use crate::RunContext;
    use crate::loads::planted::empty;

    #[test]
    fn types_with_credits_are_told_by_name() {
        for name in
            ["t2.micro", "t3a.large", "db.t4g.small", "Standard_B2ms", "e2-medium", "ecs.t6-c1m1.large"]
        {
            assert!(has_credits(name), "{name}");
        }
        for name in
            ["m5.large", "t3", "Standard_D2s_v3", "e2-standard-4", "box1", "ecs.g7.large", "Standard_Basic"]
        {
            assert!(!has_credits(name), "{name}");
        }
    }

    #[test]
    fn a_short_run_of_one_is_doubtful_and_a_soak_is_not() {
        let mut run = empty();
        let states = |run: &model::data::RunData| -> Vec<Validity> {
            let context = RunContext::default();
            rule(&RunIndex::new(run, &context)).iter().map(|ruling| ruling.finding.state).collect()
        };
        assert_eq!(states(&run), []);
        run.facts.push(Fact::text("product.name", "t3.micro", "DMI"));
        assert_eq!(states(&run), [Validity::Doubtful]);
        run.plan.level = Level::Soak;
        assert_eq!(states(&run), [Validity::Ok]);
    }
}
