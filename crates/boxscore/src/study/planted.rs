//! Facts of the machines of a planted world.

use model::fake::FakeWorld;
use model::{Fact, FactLine, FactValue, Unit};

/// The planted default machine, with what the world says over it.
pub fn facts(world: &FakeWorld, machine: &str) -> Vec<Fact> {
    let source = "planted world";
    let name = if machine.is_empty() { "planted" } else { machine };
    let mut facts = vec![
        Fact::text("machine.name", name, source),
        Fact::text("machine.id", format!("planted {name}"), source),
        Fact::text("cpu.model", "Planted CPU", source),
        Fact::number("cpu.sockets", 1.0, Unit::Count, source),
        Fact::number("cpu.cores", 4.0, Unit::Count, source),
        Fact::number("cpu.threads", 8.0, Unit::Count, source),
        Fact::number("memory.bytes", 17_179_869_184.0, Unit::Byte, source),
        Fact::text("kernel.release", "6.0-planted", source),
        Fact::text("os.name", "Planted Linux", source),
    ];
    let said = world.machines.get(machine).map(|machine| &machine.facts);
    for (key, text) in said.into_iter().flatten() {
        facts.retain(|fact| fact.key != *key);
        let value = text.parse().map_or_else(|_| FactValue::Text(text.clone()), FactValue::Number);
        let (key, source) = (key.clone(), source.to_owned());
        facts.push(Fact::from(FactLine { key, value: Some(value), unit: None, source, why: None }));
    }
    facts
}
