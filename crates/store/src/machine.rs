//! Machines known without a run: facts added by hand, and sheets of machines not yet bought.

use crate::engine::{Sql, Tx, args};
use crate::read::fact_columns;
use crate::{Result, Store, value};
use model::Fact;

/// A machine's sheet that no run brought.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSheet {
    pub id: String,
    pub name: String,
    /// File or person that it came from.
    pub source: String,
    pub facts: Vec<Fact>,
}

impl Store {
    /// Adds facts to a machine by hand; a key that is there already gets the new value. Fails if the store cannot be
    /// written.
    pub fn add_machine_facts(&mut self, machine_id: &str, facts: &[Fact]) -> Result<()> {
        self.must_write()?;
        self.transact(|tx| insert_facts(tx, machine_id, facts))
    }

    /// Takes facts by hand back. Fails if the store cannot be written.
    pub fn drop_machine_facts(&mut self, machine_id: &str, keys: &[&str]) -> Result<()> {
        self.must_write()?;
        self.transact(|tx| {
            for key in keys {
                tx.execute(
                    "DELETE FROM machine_fact WHERE machine_id = $1 AND key = $2",
                    args![machine_id, key],
                )?;
            }
            Ok(())
        })
    }

    /// Facts that were added to a machine by hand or with its sheet, by key. Fails if the store cannot be read.
    pub fn machine_facts(&self, machine_id: &str) -> Result<Vec<Fact>> {
        let sql =
            "SELECT key, kind, value, unit, source, why FROM machine_fact WHERE machine_id = $1 ORDER BY key";
        self.rows(sql, args![machine_id], fact_columns)?.into_iter().map(|row| self.fact_of(row)).collect()
    }

    /// Stores a sheet; one that is there already gets the new name and facts, and keeps its others. Fails if the store
    /// cannot be written.
    pub fn put_sheet(&mut self, sheet: &MachineSheet) -> Result<()> {
        self.must_write()?;
        self.transact(|tx| insert_sheet(tx, sheet))
    }

    /// Every sheet, by name. Fails if the store cannot be read.
    pub fn sheets(&self) -> Result<Vec<MachineSheet>> {
        let rows = self.rows("SELECT id, name, source FROM machine ORDER BY name, id", &[], |row| {
            Ok((row.get::<String>(0)?, row.get(1)?, row.get(2)?))
        })?;
        rows.into_iter()
            .map(|(id, name, source)| Ok(MachineSheet { facts: self.machine_facts(&id)?, id, name, source }))
            .collect()
    }
}

fn insert_facts(tx: &Tx<'_>, machine_id: &str, facts: &[Fact]) -> Sql<()> {
    let sql = "INSERT INTO machine_fact (machine_id, key, kind, value, unit, source, why, at_ns)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (machine_id, key) DO UPDATE SET kind = excluded.kind,
        value = excluded.value, unit = excluded.unit, source = excluded.source, why = excluded.why,
        at_ns = excluded.at_ns";
    let at_ns = tx.now_ns()?;
    for fact in facts {
        let ((kind, text), unit) = (value::fact_parts(fact), value::unit_symbol(fact.unit));
        let columns = args![machine_id, fact.key, kind, text, unit, fact.source, fact.why, at_ns];
        tx.execute(sql, columns)?;
    }
    Ok(())
}

pub(crate) fn insert_sheet(tx: &Tx<'_>, sheet: &MachineSheet) -> Sql<()> {
    let sql = "INSERT INTO machine (id, name, source, at_ns) VALUES ($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, source = excluded.source, at_ns = excluded.at_ns";
    let MachineSheet { id, name, source, facts } = sheet;
    tx.execute(sql, args![id, name, source, tx.now_ns()?])?;
    insert_facts(tx, id, facts)
}
