//! Arguments of statements.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

/// A value for a placeholder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arg<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A type whose values can be arguments.
pub(crate) trait ToArg {
    fn arg(&self) -> Arg<'_>;
}

/// A slice of arguments, in the order of their placeholders.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::engine::ToArg::arg(&$value)),*] };
}
pub(crate) use args;

impl ToArg for i64 {
    fn arg(&self) -> Arg<'_> {
        Arg::Int(*self)
    }
}

impl ToArg for u32 {
    fn arg(&self) -> Arg<'_> {
        Arg::Int(i64::from(*self))
    }
}

impl ToArg for bool {
    fn arg(&self) -> Arg<'_> {
        Arg::Int(i64::from(*self))
    }
}

impl ToArg for f64 {
    fn arg(&self) -> Arg<'_> {
        Arg::Real(*self)
    }
}

impl ToArg for str {
    fn arg(&self) -> Arg<'_> {
        Arg::Text(self)
    }
}

impl ToArg for String {
    fn arg(&self) -> Arg<'_> {
        Arg::Text(self)
    }
}

impl ToArg for Vec<u8> {
    fn arg(&self) -> Arg<'_> {
        Arg::Blob(self)
    }
}

impl<T: ToArg + ?Sized> ToArg for &T {
    fn arg(&self) -> Arg<'_> {
        (**self).arg()
    }
}

impl<T: ToArg> ToArg for Option<T> {
    fn arg(&self) -> Arg<'_> {
        self.as_ref().map_or(Arg::Null, ToArg::arg)
    }
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match *self {
            Arg::Null => ToSqlOutput::Owned(Value::Null),
            Arg::Int(number) => ToSqlOutput::Owned(Value::Integer(number)),
            Arg::Real(number) => ToSqlOutput::Owned(Value::Real(number)),
            Arg::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Arg::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}
