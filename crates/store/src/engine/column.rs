//! Columns of an answer.

use crate::engine::postgres::{unescaped, whole};
use crate::engine::{Sql, SqlError};

/// A row of an answer.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a postgres::Row),
}

impl Row<'_> {
    /// The column with this number, from 0. Fails if it is of another type.
    pub(crate) fn get<T: Column>(&self, at: usize) -> Sql<T> {
        match self {
            Row::Sqlite(row) => Ok(T::sqlite(row, at)?),
            Row::Postgres(row) => T::postgres(row, at),
        }
    }
}

/// A type that a column can be read as.
pub(crate) trait Column: Sized {
    fn sqlite(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Self>;
    fn postgres(row: &postgres::Row, at: usize) -> Sql<Self>;
}

macro_rules! columns {
    ($($type:ty: $read:expr),* $(,)?) => { $(
        impl Column for $type {
            fn sqlite(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Self> {
                row.get(at)
            }

            fn postgres(row: &postgres::Row, at: usize) -> Sql<Self> {
                let found: Sql<Option<$type>> = $read(row, at);
                found?.ok_or_else(|| SqlError::Stored(format!("column {at} is null, which it cannot be")))
            }
        }

        impl Column for Option<$type> {
            fn sqlite(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Self> {
                row.get(at)
            }

            fn postgres(row: &postgres::Row, at: usize) -> Sql<Self> {
                $read(row, at)
            }
        }
    )* };
}

columns! {
    i64: whole,
    u32: small,
    bool: |row, at| Ok(whole(row, at)?.map(|number| number != 0)),
    f64: |row: &postgres::Row, at| Ok(row.try_get(at)?),
    String: |row: &postgres::Row, at| Ok(row.try_get::<usize, Option<String>>(at)?.map(unescaped)),
    Vec<u8>: |row: &postgres::Row, at| Ok(row.try_get(at)?),
}

fn small(row: &postgres::Row, at: usize) -> Sql<Option<u32>> {
    let out_of_range = |_| SqlError::Stored(format!("the number in column {at} is out of range"));
    whole(row, at)?.map(u32::try_from).transpose().map_err(out_of_range)
}
