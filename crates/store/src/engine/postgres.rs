//! PostgreSQL below the store: a session, its prepared statements, and values as it takes and gives them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;

use bytes::BytesMut;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Row, Statement};

use crate::engine::{Arg, Sql, SqlError};

/// A session on a server.
pub(crate) struct Session {
    inner: RefCell<Inner>,
    /// Key of the lock that keeps writers apart; 0 until the schema is known.
    pub(crate) writers: i64,
}

struct Inner {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Session {
    pub(crate) fn new(client: Client) -> Session {
        Session { inner: RefCell::new(Inner { client, statements: HashMap::new() }), writers: 0 }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inner.borrow().client.is_closed()
    }

    pub(crate) fn execute(&self, sql: &str, args: &[Arg<'_>]) -> Sql<u64> {
        self.with(sql, |client, statement| Ok(client.execute(statement, &refer(args))?))
    }

    /// Every row of the answer, as `each` reads it while the server sends the next ones. `each` runs no statement.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        args: &[Arg<'_>],
        mut each: impl FnMut(&Row) -> Sql<T>,
    ) -> Sql<Vec<T>> {
        self.with(sql, |client, statement| {
            let mut rows = client.query_raw(statement, refer(args))?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(each(&row)?);
            }
            Ok(all)
        })
    }

    /// Statements without arguments.
    pub(crate) fn batch(&self, sql: &str) -> Sql<()> {
        Ok(self.inner.borrow_mut().client.batch_execute(sql)?)
    }

    /// Begins a transaction once no other writer of this store is in one.
    pub(crate) fn begin(&self) -> Sql<()> {
        let begun = self.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({})", self.writers));
        if begun.is_err() {
            // The reason is told; a transaction that waited in vain is closed here, or with the connection.
            let _ = self.batch("ROLLBACK");
        }
        begun
    }

    fn with<T>(&self, sql: &str, work: impl FnOnce(&mut Client, &Statement) -> Sql<T>) -> Sql<T> {
        let Inner { client, statements } = &mut *self.inner.borrow_mut();
        if !statements.contains_key(sql) {
            statements.insert(sql.to_owned(), client.prepare(sql)?);
        }
        let statement =
            statements.get(sql).ok_or_else(|| SqlError::Value("a statement was lost".to_owned()))?;
        work(client, statement)
    }
}

fn refer<'a>(args: &'a [Arg<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    args.iter().map(|arg| arg as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Arg<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            Arg::Null => Ok(IsNull::Yes),
            Arg::Int(number) => match *of {
                Type::BOOL => (number != 0).to_sql(of, out),
                Type::INT4 => i32::try_from(number)?.to_sql(of, out),
                _ => number.to_sql(of, out),
            },
            Arg::Real(number) => number.to_sql(of, out),
            Arg::Text(text) => escaped(text).as_ref().to_sql(of, out),
            Arg::Blob(bytes) => bytes.to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// PostgreSQL's texts have no zero byte. It is written as this character, which Unicode gives no meaning, and a 0; the
/// character itself with a 1.
const MARK: char = '\u{fdd0}';

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for one in text.chars() {
        match one {
            '\0' => plain.extend([MARK, '0']),
            MARK => plain.extend([MARK, '1']),
            other => plain.push(other),
        }
    }
    Cow::Owned(plain)
}

/// The inverse of the escape.
pub(crate) fn unescaped(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    text.replace("\u{fdd0}0", "\0").replace("\u{fdd0}1", "\u{fdd0}")
}

/// A whole number, of whatever width the server gives it.
pub(crate) fn whole(row: &Row, at: usize) -> Sql<Option<i64>> {
    let of = row.columns().get(at).map(postgres::Column::type_);
    Ok(match of {
        Some(&Type::INT4) => row.try_get::<_, Option<i32>>(at)?.map(i64::from),
        Some(&Type::OID) => row.try_get::<_, Option<u32>>(at)?.map(i64::from),
        Some(&Type::BOOL) => row.try_get::<_, Option<bool>>(at)?.map(i64::from),
        _ => row.try_get(at)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_comes_back(text in "[\u{0}\u{fdd0}01a]{0,8}") {
            let kept = escaped(&text).into_owned();
            prop_assert!(!kept.contains('\0'));
            prop_assert_eq!(unescaped(kept), text);
        }
    }
}
