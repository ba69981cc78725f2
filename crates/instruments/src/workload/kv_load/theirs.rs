//! A store of the user's under load: never started, stopped or set up. Only keys of our own prefix are written, and
//! they are deleted after each take, also where the user ends the writing.
//!
//! Writing and deleting are told about once a second, and take part in no figure.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use model::login::Login;
use model::note::CutAt;
use model::url::Scheme;
use model::{Fault, NoteBody, Record};

use super::{marker, room};
use crate::load::store_client::Spec;
use crate::load::store_client::data::{At, Work};

use crate::progress::ProgressCounter;
use crate::workload::store_server::{self, Info, beside};

/// The work before a load, as progress reports name it.
pub const WRITING: &str = "writing the keys of the load";

/// Keys that stores did not take, and why: other loads of them need not try.
static REFUSED: Mutex<Vec<(SocketAddr, Spec, String)>> = Mutex::new(Vec::new());

fn known_refusal(address: SocketAddr, spec: &Spec) -> Option<String> {
    let spec = spec.of_data();
    let all = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().find(|(at, keys, _)| *at == address && *keys == spec).map(|(.., why)| why.clone())
}

pub struct Theirs {
    at: At,
    spec: Spec,
    /// Keys that may be there, from the first on.
    written: u32,
    /// All keys were there once.
    has_held: bool,
    /// The store holds a mark of our keys.
    is_marked: bool,
    /// Why the keys could not be written at all.
    refused: Option<String>,
    /// Notes for the next take.
    notes: Vec<NoteBody>,
}

impl Theirs {
    /// Looks at the store; with what it is. Refuses keys that do not fit.
    pub fn look(
        address: SocketAddr,
        scheme: Scheme,
        spec: &Spec,
        login: Option<&Login>,
    ) -> Result<(Theirs, String), String> {
        if let Some(why) = known_refusal(address, spec) {
            return Err(why);
        }
        let resp = scheme == Scheme::Redis;
        let at = At { address, scheme, login: login.cloned() };
        let cleared = if resp { marker::clear(&at, spec) } else { Vec::new() };
        let info = store_server::ask(address, resp, login)?;
        let name = if resp { "redis" } else { "memcached" };
        let version = info.text("redis_version").or_else(|| info.text("version")).unwrap_or("?");
        let what = format!("the store at {address} ({name}/{version})");
        let mut notes: Vec<NoteBody> = cleared.into_iter().map(NoteBody::StoreHolds).collect();
        match resp {
            true => room::of_redis(spec, &info, address)?,
            false => notes.extend(room::of_memcached(spec, &info).map(NoteBody::StoreEvicts)),
        }
        let keys = if resp { keys_of_redis(&info) } else { info.number("curr_items").unwrap_or(0) };
        notes.extend(beside::sentence(address, resp, login, keys).map(NoteBody::StoreHolds));
        let (spec, written, has_held, refused) = (spec.clone(), 0, false, None);
        Ok((Theirs { at, spec, written, has_held, is_marked: false, refused, notes }, what))
    }

    /// Writes the keys. Fails when the store refuses them, and when the user ends it.
    pub fn fill(&mut self, record: &mut dyn Record) -> Result<(), Fault> {
        self.notes.drain(..).for_each(|note| record.note(note));
        self.mark(record);
        let mut counter = ProgressCounter::new(WRITING, u64::from(self.spec.keys));
        let (mut sent, mut is_ended) = (0, false);
        let mut going = |key: u32| {
            let goes_on = counter.advance(u64::from(key));
            is_ended = goes_on.is_err();
            if !is_ended {
                sent = key;
            }
            goes_on
        };
        let filled = self.at.each(Work::Write, &self.spec, &mut going);
        // What a batch that failed wrote of them is there too.
        self.written = sent;
        let Err(why) = filled else {
            self.has_held = true;
            return Ok(());
        };
        if is_ended && record.is_cut() {
            record.note(NoteBody::Cut(CutAt::WritingKeys));
            return Err(Fault::new(format!(
                "the load was ended when {sent} of its {} keys were written: nothing was measured",
                self.spec.keys
            )));
        }
        if is_ended {
            self.refused = Some(why.clone());
            return Err(Fault::new(why));
        }
        let why = format!("cannot write the keys of the load: {why}");
        if !self.has_held {
            self.refuse(why.clone());
        }
        Err(Fault::new(why))
    }

    /// Says in the store which keys come, so that a later load can delete them if this one is killed.
    fn mark(&mut self, record: &mut dyn Record) {
        if self.at.scheme != Scheme::Redis {
            return;
        }
        match marker::set(&self.at, &self.spec) {
            Ok(()) => self.is_marked = true,
            Err(why) if !self.has_held => record.note(NoteBody::StoreHolds(format!(
                "if a load is killed, its keys stay in this store, which takes no mark of them: {why}"
            ))),
            // It was said with the first take.
            Err(_) => {}
        }
    }

    fn refuse(&mut self, why: String) {
        // What is behind this lock is whole between two statements.
        let mut all = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((self.at.address, self.spec.of_data(), why.clone()));
        self.refused = Some(why);
    }

    /// Why no load of these keys can come: none of them was ever made, and the store did not take them.
    pub fn refused(&self) -> Option<String> {
        self.refused.clone()
    }

    /// Takes our keys out again.
    pub fn clear(&mut self, record: &mut dyn Record) {
        if self.written == 0 {
            self.unmark(record);
            return;
        }
        let spec = Spec { keys: self.written, ..self.spec.clone() };
        let mut counter = ProgressCounter::new("deleting the keys of the load", u64::from(spec.keys));
        let cleared = self.at.each(Work::Delete, &spec, &mut |key| {
            counter.update(u64::from(key));
            Ok(())
        });
        match cleared {
            Ok(()) => {
                self.written = 0;
                self.unmark(record);
            }
            Err(why) => {
                let left = format!("keys that begin with `{}` are left in the store: {why}", spec.prefix);
                record.note(NoteBody::KeysLeft(left.clone()));
                // It is said where there is no take that the note could stay with.
                self.refused.iter_mut().for_each(|why| why.push_str(&format!("; {left}")));
            }
        }
    }

    fn unmark(&mut self, record: &mut dyn Record) {
        if !std::mem::take(&mut self.is_marked) {
            return;
        }
        if let Err(why) = marker::unset(&self.at) {
            let hash = marker::HASH;
            record
                .note(NoteBody::KeysLeft(format!("a mark in the hash `{hash}` is left in the store: {why}")));
        }
    }
}

/// Of all databases together: `db0:keys=5,expires=0,avg_ttl=0`.
fn keys_of_redis(info: &Info) -> u64 {
    let keys = |(name, value): (&str, &str)| {
        let is_database = name.strip_prefix("db").is_some_and(|rest| rest.parse::<u32>().is_ok());
        let keys = value.split(',').find_map(|field| field.strip_prefix("keys="))?;
        keys.parse::<u64>().ok().filter(|_| is_database)
    };
    info.lines().filter_map(keys).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_databases_are_counted() {
        let info = Info::parse(
            b"# Keyspace\r\ndb0:keys=5,expires=0,avg_ttl=0\r\ndb3:keys=2,expires=0\r\ndbx:keys=9\r\n",
        );
        assert_eq!(keys_of_redis(&info), 7);
        assert_eq!(keys_of_redis(&Info::default()), 0);
    }
}
