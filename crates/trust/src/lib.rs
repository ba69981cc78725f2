//! Whom a TLS client trusts: authorities of certificates, or a check of its own. TLS 1.2 and 1.3 by rustls with ring.
//!
//! The server proves in each case that it holds the key of the certificate that it shows. Nothing here opens a
//! connection, and no certificate of a client is sent.

mod authorities;
mod checked;

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

pub use authorities::{NoAuthorities, authorities};
pub use checked::{Check, Shown};

/// Trusts certificates that one of `authorities` signed for the name that is called.
pub fn by_authorities(authorities: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(authorities).with_no_client_auth())
}

/// Trusts the certificates that `check` accepts.
pub fn by_check(check: Arc<dyn Check>) -> Result<ClientConfig, rustls::Error> {
    let provider = provider();
    let verifier = Arc::new(checked::Verifier::new(check, &provider));
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// The cryptography that every client here uses.
pub fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
