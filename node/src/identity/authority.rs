use gridweave_core::id::{NodeId, OrganisationId};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use time::{Duration, OffsetDateTime};

use super::{Identity, NAME, ORGANISATION, dns_name, id_of};

/// The authority of a grid: what signs the certificates of its nodes.
pub struct Authority {
    grid: String,
    certificate: String,
    key: String,
}

/// What to write into a new node's certificate.
#[derive(Clone, Copy, Debug)]
pub struct NewNode<'a> {
    /// What people call it: see [`is_name`].
    pub name: &'a str,
    /// The organisation that it belongs to.
    pub organisation: OrganisationId,
    /// For how many days the certificate is valid. With zero or less it has expired.
    pub days: i64,
}

/// The certificate and the key of a new node.
pub struct Issued {
    /// What the certificate says.
    pub identity: Identity,
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// The certificate, as a file has it.
    pub certificate_pem: String,
    /// The secret key, as a file has it.
    pub key_pem: String,
}

/// Why the authority signs nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// The name cannot stand in a certificate.
    #[error("'{0}' is no name: use 1 to 40 of a-z, 0-9 and -, and no - at the ends")]
    Name(String),
    /// The files of the authority are damaged, or signing failed.
    #[error("the authority cannot sign: {0}")]
    Signing(#[from] rcgen::Error),
    /// The certificate of the authority cannot be read.
    #[error("the certificate of the authority cannot be read")]
    Unreadable,
}

/// Whether a name can stand in a certificate: 1 to 40 of `a-z`, `0-9` and `-`, without `-` at the ends.
pub fn is_name(name: &str) -> bool {
    let fits = (1..=40).contains(&name.len());
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    fits && name.bytes().all(plain) && !name.starts_with('-') && !name.ends_with('-')
}

fn checked(name: &str) -> Result<&str, AuthorityError> {
    match is_name(name) {
        true => Ok(name),
        false => Err(AuthorityError::Name(name.to_owned())),
    }
}

/// What the certificate of an authority says, without its validity.
fn own_params(grid: &str) -> Result<CertificateParams, AuthorityError> {
    let mut params = CertificateParams::new(Vec::new())?;
    let title = format!("authority of the grid {grid}");
    params.distinguished_name.push(DnType::CommonName, title);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

/// Valid from an hour ago, for clocks that are late.
fn set_validity(params: &mut CertificateParams, days: i64) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::hours(1);
    params.not_after = now + Duration::days(days.clamp(-1, 36_500));
    if days <= 0 {
        params.not_before = now - Duration::days(2);
        params.not_after = now - Duration::days(1);
    }
}

impl Authority {
    /// The authority of a new grid of this name, for so many days.
    pub fn new(grid: &str, days: i64) -> Result<Self, AuthorityError> {
        let mut params = own_params(checked(grid)?)?;
        set_validity(&mut params, days);
        let key = KeyPair::generate()?;
        Ok(Self {
            grid: grid.to_owned(),
            certificate: params.self_signed(&key)?.pem(),
            key: key.serialize_pem(),
        })
    }

    /// The authority of the grid of this name, from its files.
    pub const fn from_pem(grid: String, certificate: String, key: String) -> Self {
        Self {
            grid,
            certificate,
            key,
        }
    }

    /// Its certificate, which all nodes have.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate
    }

    /// Its secret key, which no node has.
    pub fn key_pem(&self) -> &str {
        &self.key
    }

    /// Its certificate in bytes.
    pub fn certificate(&self) -> Result<CertificateDer<'static>, AuthorityError> {
        let bytes = self.certificate.as_bytes();
        CertificateDer::from_pem_slice(bytes).map_err(|_| AuthorityError::Unreadable)
    }

    /// A new key, and the certificate of its node.
    pub fn issue(&self, node: &NewNode<'_>) -> Result<Issued, AuthorityError> {
        let key = KeyPair::generate()?;
        let id = id_of(&key.subject_public_key_info());
        let certificate = self.sign(node, id, &key)?;
        let identity = Identity {
            node: id,
            organisation: node.organisation,
            name: node.name.to_owned(),
        };
        Ok(Issued {
            identity,
            certificate: certificate.der().clone(),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        })
    }

    fn sign(
        &self,
        node: &NewNode<'_>,
        id: NodeId,
        key: &KeyPair,
    ) -> Result<rcgen::Certificate, AuthorityError> {
        let mut params = CertificateParams::new(vec![
            dns_name(id),
            format!("{}{ORGANISATION}", node.organisation),
            format!("{}{NAME}", checked(node.name)?),
        ])?;
        set_validity(&mut params, node.days);
        params
            .distinguished_name
            .push(DnType::CommonName, node.name);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let issuer = Issuer::new(own_params(&self.grid)?, KeyPair::from_pem(&self.key)?);
        Ok(params.signed_by(key, &issuer)?)
    }

    /// A certificate with the id of another node: what this authority never issues, for tests.
    #[cfg(test)]
    pub(super) fn forge(
        &self,
        node: &NewNode<'_>,
        id: NodeId,
    ) -> Result<CertificateDer<'static>, AuthorityError> {
        Ok(self.sign(node, id, &KeyPair::generate()?)?.der().clone())
    }
}
