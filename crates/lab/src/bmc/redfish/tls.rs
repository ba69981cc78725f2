//! HTTPS to a BMC: certificates are compared with those of the inventory, not with authorities, which sign few of them.

use std::sync::{Arc, Mutex, PoisonError};

use ring::digest::{SHA256, digest};
use rustls::ClientConfig;
use trust::{Check, Shown};

use crate::inventory::Fingerprint;

/// Takes these certificates alone, or any. The server must hold the key of what it shows.
#[derive(Debug)]
pub(super) struct Pinned {
    known: Vec<Fingerprint>,
    insecure: bool,
    /// The certificate that was refused.
    refused: Mutex<Option<Fingerprint>>,
}

impl Pinned {
    pub(super) fn new(known: &[Fingerprint], insecure: bool) -> Arc<Pinned> {
        Arc::new(Pinned { known: known.to_vec(), insecure, refused: Mutex::new(None) })
    }

    pub(super) fn config(self: &Arc<Pinned>) -> Result<Arc<ClientConfig>, rustls::Error> {
        trust::by_check(Arc::clone(self) as Arc<dyn Check>).map(Arc::new)
    }

    pub(super) fn refused(&self) -> Option<Fingerprint> {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compare(&self, certificate: &[u8]) -> Result<(), rustls::Error> {
        let mut shown = [0; 32];
        shown.copy_from_slice(digest(&SHA256, certificate).as_ref());
        let shown = Fingerprint(shown);
        if self.insecure || self.known.contains(&shown) {
            return Ok(());
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        Err(rustls::Error::General("not the certificate of the inventory".to_owned()))
    }
}

impl Check for Pinned {
    fn accept(&self, shown: Shown<'_>) -> Result<(), rustls::Error> {
        self.compare(shown.certificate.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_certificate_is_taken_and_another_one_is_told() {
        let known = Pinned::new(&[], false).compare(b"one").map_err(|_| ());
        assert_eq!(known, Err(()));
        let first = Pinned::new(&[], false);
        assert!(first.compare(b"one").is_err());
        let shown = first.refused().unwrap();
        let pinned = Pinned::new(&[shown], false);
        assert!(pinned.compare(b"one").is_ok() && pinned.refused().is_none());
        assert!(pinned.compare(b"two").is_err() && pinned.refused().is_some_and(|other| other != shown));
        assert!(Pinned::new(&[], true).compare(b"two").is_ok());
        assert!(pinned.config().is_ok());
    }
}
