//! Mutual TLS: both sides have a certificate of the grid's authority, and no other authority counts.

use std::io;
use std::path::Path;
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;

use crate::identity::{Identity, IdentityError};

/// The application protocol: a grid of another version does not connect.
const PROTOCOL: &[u8] = b"gridweave/1";

/// The certificate of a node, its key, and the authority.
pub struct Credentials {
    /// What the certificate says.
    pub identity: Identity,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    authority: CertificateDer<'static>,
}

/// Why a node has no credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// A file is missing or is no such file.
    #[error("{file}: {why}; 'gridweave-node invite' makes a folder that has it")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// The certificate names no node.
    #[error("{0}")]
    Identity(#[from] IdentityError),
    /// The parts do not fit together.
    #[error("the certificate of this node cannot be used: {0}")]
    Tls(String),
}

impl Credentials {
    /// Reads `node.pem`, `node.key` and `authority.pem` in the folder of a node.
    pub fn read(folder: &Path) -> Result<Self, CredentialsError> {
        let certificate = read(folder, "node.pem", |file| {
            CertificateDer::from_pem_file(file)
        })?;
        let key = read(folder, "node.key", |file| {
            PrivateKeyDer::from_pem_file(file)
        })?;
        let authority = read(folder, "authority.pem", |file| {
            CertificateDer::from_pem_file(file)
        })?;
        Ok(Self {
            identity: Identity::of(&certificate)?,
            certificate,
            key,
            authority,
        })
    }

    fn roots(&self) -> Result<RootCertStore, CredentialsError> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).map_err(told)?;
        Ok(roots)
    }

    /// For connections that peers open.
    pub(super) fn server(&self) -> Result<QuicServerConfig, CredentialsError> {
        let provider = Arc::new(default_provider());
        let roots = Arc::new(self.roots()?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone());
        let verifier = verifier.build().map_err(told)?;
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(told)?
            .with_client_cert_verifier(verifier);
        let chain = vec![self.certificate.clone()];
        let mut config = config
            .with_single_cert(chain, self.key.clone_key())
            .map_err(told)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        // A peer proves at each connection that it has its key.
        config.send_tls13_tickets = 0;
        QuicServerConfig::try_from(config).map_err(told)
    }

    /// For connections that this node opens.
    pub(super) fn client(&self) -> Result<QuicClientConfig, CredentialsError> {
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(told)?
            .with_root_certificates(self.roots()?);
        let chain = vec![self.certificate.clone()];
        let mut config = config
            .with_client_auth_cert(chain, self.key.clone_key())
            .map_err(told)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.resumption = rustls::client::Resumption::disabled();
        QuicClientConfig::try_from(config).map_err(told)
    }
}

fn told(error: impl std::fmt::Display) -> CredentialsError {
    CredentialsError::Tls(error.to_string())
}

fn read<T>(
    folder: &Path,
    name: &str,
    parse: impl FnOnce(&Path) -> Result<T, rustls::pki_types::pem::Error>,
) -> Result<T, CredentialsError> {
    let file = folder.join(name);
    parse(&file).map_err(|error| CredentialsError::File {
        file: file.display().to_string(),
        why: match error {
            rustls::pki_types::pem::Error::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                "there is no such file".to_owned()
            }
            error => error.to_string(),
        },
    })
}
