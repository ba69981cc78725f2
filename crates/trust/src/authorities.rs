//! Authorities of certificates: those of a PEM file, or those of the system.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Why there is nobody who could vouch for a server.
#[derive(Debug, thiserror::Error)]
pub enum NoAuthorities {
    #[error("cannot read the authorities in {}: {why}", path.display())]
    File { path: PathBuf, why: String },
    #[error("this system has no certificate authorities{}: install ca-certificates, name a file, or check nothing", reason(.why.as_deref()))]
    System { why: Option<String> },
}

fn reason(why: Option<&str>) -> String {
    why.map(|why| format!(" ({why})")).unwrap_or_default()
}

/// `file`: PEM, in place of the authorities of the system.
pub fn authorities(file: Option<&Path>) -> Result<RootCertStore, NoAuthorities> {
    file.map_or_else(of_system, of_file)
}

fn of_file(path: &Path) -> Result<RootCertStore, NoAuthorities> {
    let wrong = |why: String| NoAuthorities::File { path: path.to_path_buf(), why };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))? {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        store.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(wrong("it holds no certificate in PEM form".to_owned()));
    }
    Ok(store)
}

fn of_system() -> Result<RootCertStore, NoAuthorities> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    // Some systems carry a few that are malformed; the others serve.
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        return Err(NoAuthorities::System { why: found.errors.first().map(ToString::to_string) });
    }
    Ok(store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.pem");
        let missing = authorities(Some(&path)).unwrap_err().to_string();
        assert!(missing.contains("none.pem"), "{missing}");
        std::fs::write(&path, "no certificate\n").unwrap();
        let empty = authorities(Some(&path)).unwrap_err().to_string();
        assert!(empty.contains("none.pem: it holds no certificate in PEM form"), "{empty}");
    }
}
