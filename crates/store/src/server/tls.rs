//! TLS to a server, as libpq's `sslmode` asks for it.

use std::path::Path;
use std::sync::Arc;

use rustls::CertificateError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use tokio_postgres_rustls::MakeRustlsConnect;
use trust::Shown;

/// Who the server must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Anybody: encrypted, and no more.
    Nobody,
    /// Signed by a known authority, under whatever name.
    Authority,
    /// Signed by a known authority, and under the name that was called.
    Name,
}

/// `roots`: a file of authorities; without it, those of the system. The error says what is wrong with them.
pub(super) fn connector(check: Check, roots: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let config = match check {
        Check::Nobody => trust::by_check(Arc::new(Anybody)),
        Check::Authority => trust::by_check(Arc::new(AnyName(signed(roots)?))),
        Check::Name => trust::by_authorities(authorities(roots)?),
    };
    config.map(MakeRustlsConnect::new).map_err(|error| error.to_string())
}

fn authorities(roots: Option<&Path>) -> Result<rustls::RootCertStore, String> {
    trust::authorities(roots).map_err(|error| format!("{error} (`sslrootcert=FILE`)"))
}

fn signed(roots: Option<&Path>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let known = Arc::new(authorities(roots)?);
    let built = WebPkiServerVerifier::builder_with_provider(known, trust::provider()).build();
    built.map_err(|error| format!("the authorities of certificates: {error}"))
}

#[derive(Debug)]
struct Anybody;

impl trust::Check for Anybody {
    fn accept(&self, _shown: Shown<'_>) -> Result<(), rustls::Error> {
        Ok(())
    }
}

/// Signed by an authority, for any name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl trust::Check for AnyName {
    fn accept(&self, shown: Shown<'_>) -> Result<(), rustls::Error> {
        let Shown { certificate, intermediates, name, ocsp_response, now } = shown;
        match self.0.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            Ok(_verified) => Ok(()),
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
