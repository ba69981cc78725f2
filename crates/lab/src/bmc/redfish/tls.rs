//! HTTPS to a BMC: certificates are compared with those of the inventory, not with authorities, which sign few of them.

use std::sync::{Arc, Mutex, PoisonError};

use ring::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};

use crate::inventory::Fingerprint;

/// Takes these certificates alone, or any. The server must hold the key of what it shows.
#[derive(Debug)]
pub(super) struct Pinned {
    provider: Arc<CryptoProvider>,
    known: Vec<Fingerprint>,
    insecure: bool,
    /// The certificate that was refused.
    refused: Mutex<Option<Fingerprint>>,
}

impl Pinned {
    pub(super) fn new(known: &[Fingerprint], insecure: bool) -> Arc<Pinned> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Arc::new(Pinned { provider, known: known.to_vec(), insecure, refused: Mutex::new(None) })
    }

    pub(super) fn config(self: &Arc<Pinned>) -> Result<Arc<ClientConfig>, rustls::Error> {
        let config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(self) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }

    pub(super) fn refused(&self) -> Option<Fingerprint> {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, certificate: &[u8]) -> Result<(), rustls::Error> {
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

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(end_entity.as_ref()).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_certificate_is_taken_and_another_one_is_told() {
        let known = Pinned::new(&[], false).check(b"one").map_err(|_| ());
        assert_eq!(known, Err(()));
        let first = Pinned::new(&[], false);
        assert!(first.check(b"one").is_err());
        let shown = first.refused().unwrap();
        let pinned = Pinned::new(&[shown], false);
        assert!(pinned.check(b"one").is_ok() && pinned.refused().is_none());
        assert!(pinned.check(b"two").is_err() && pinned.refused().is_some_and(|other| other != shown));
        assert!(Pinned::new(&[], true).check(b"two").is_ok());
        assert!(pinned.config().is_ok());
    }
}
