//! Which node a certificate belongs to.
//!
//! A grid has an authority of its own, which signs the certificates of its nodes. The id of a node is computed from its
//! public key and stands in its certificate as a DNS name, with the node's name and its organisation:
//!
//! ```text
//! n7265304713.node.gridweave
//! o7.organisation.gridweave
//! alpha.name.gridweave
//! ```
//! So an id cannot be taken by a node with another key, not even with a certificate of the same authority.

mod authority;

pub use authority::{Authority, AuthorityError, NewNode, is_name};

use gridweave_core::id::{NodeId, OrganisationId};
use ring::digest;
use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

/// What a certificate says of its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its id, which is that of its public key.
    pub node: NodeId,
    /// The organisation that it belongs to. Jobs that are submitted at it are jobs of this organisation.
    pub organisation: OrganisationId,
    /// What people call it.
    pub name: String,
}

/// Why a certificate names no node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// It cannot be read.
    #[error("the certificate cannot be read")]
    Unreadable,
    /// It lacks an id, an organisation or a name, or has two of them.
    #[error("the certificate does not name exactly one node, organisation and name")]
    NotOfNode,
    /// The id in it is not that of its public key.
    #[error("the certificate has the id of another node's key")]
    OtherKey,
}

impl Identity {
    /// Reads a certificate. It does not check the signature: the TLS library has done that.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, IdentityError> {
        let read = EndEntityCert::try_from(certificate).map_err(|_| IdentityError::Unreadable)?;
        let (mut nodes, mut organisations, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for dns in read.valid_dns_names() {
            if let Some(node) = dns.strip_suffix(NODE) {
                nodes.push(number::<u64>(node, 'n').map(NodeId::new));
            } else if let Some(organisation) = dns.strip_suffix(ORGANISATION) {
                organisations.push(number::<u32>(organisation, 'o').map(OrganisationId::new));
            } else if let Some(name) = dns.strip_suffix(NAME) {
                names.push(name.to_owned());
            }
        }
        let ([Some(node)], [Some(organisation)]) = (&nodes[..], &organisations[..]) else {
            return Err(IdentityError::NotOfNode);
        };
        let (node, organisation) = (*node, *organisation);
        let Ok([name]) = <[String; 1]>::try_from(names) else {
            return Err(IdentityError::NotOfNode);
        };
        if node != id_of(&read.subject_public_key_info()) && !canary!("other-id-accepted") {
            return Err(IdentityError::OtherKey);
        }
        Ok(Self {
            node,
            organisation,
            name,
        })
    }
}

const NODE: &str = ".node.gridweave";
const ORGANISATION: &str = ".organisation.gridweave";
const NAME: &str = ".name.gridweave";

/// The name by which a node is dialled.
pub fn dns_name(node: NodeId) -> String {
    format!("{node}{NODE}")
}

/// The id of a public key: the first eight bytes of its SHA-256.
pub fn id_of(public_key: &[u8]) -> NodeId {
    let hash = digest::digest(&digest::SHA256, public_key);
    let first = hash.as_ref().iter().take(8);
    NodeId::new(first.fold(0, |id, byte| (id << 8) | u64::from(*byte)))
}

/// The number behind a letter, written as the core writes ids.
pub fn number<T: std::str::FromStr + std::fmt::Display>(text: &str, letter: char) -> Option<T> {
    let digits = text.strip_prefix(letter)?;
    let number: T = digits.parse().ok()?;
    // One way to write each number.
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority() -> Authority {
        Authority::new("grid", 10).unwrap()
    }

    fn alpha() -> NewNode<'static> {
        NewNode {
            name: "alpha",
            organisation: OrganisationId::new(7),
            days: 10,
        }
    }

    #[test]
    fn a_certificate_names_the_node_of_its_key() {
        let issued = authority().issue(&alpha()).unwrap();
        let identity = Identity::of(&issued.certificate).unwrap();
        assert_eq!(identity, issued.identity);
        assert_eq!(
            (identity.name.as_str(), identity.organisation.get()),
            ("alpha", 7)
        );
        let other = authority().issue(&alpha()).unwrap();
        assert_ne!(other.identity.node, identity.node);
    }

    #[test]
    fn a_certificate_with_the_id_of_another_key_is_refused() {
        let authority = authority();
        let victim = authority.issue(&alpha()).unwrap().identity.node;
        let forged = authority.forge(&alpha(), victim).unwrap();
        assert_eq!(Identity::of(&forged), Err(IdentityError::OtherKey));
    }

    #[test]
    fn the_certificate_of_an_authority_names_no_node() {
        let certificate = authority().certificate().unwrap();
        assert_eq!(Identity::of(&certificate), Err(IdentityError::NotOfNode));
    }

    #[test]
    fn each_number_is_written_in_one_way() {
        assert_eq!(number::<u64>("n7", 'n'), Some(7));
        for bad in ["7", "n", "n07", "n+7", "n18446744073709551616", "o7"] {
            assert_eq!(number::<u64>(bad, 'n'), None, "{bad}");
        }
    }
}
