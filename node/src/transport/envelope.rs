//! What travels in a stream: when it was sent, the addresses of nodes that the message mentions, and the message.
//!
//! ```text
//! byte 0        version, 1
//! bytes 1-8     when it was sent, by the sender's clock: microseconds since 1970
//! bytes 9-10    how many addresses follow, at most 1024
//! each address  8 bytes of id; 4 or 6; 4 or 16 bytes; 2 bytes of port
//! the rest      a frame of the core's wire format
//! ```
//! Numbers are big-endian.

use std::net::{IpAddr, SocketAddr};

use gridweave_core::id::NodeId;

const VERSION: u8 = 1;

/// The most addresses that travel with a message: those of the largest gang.
pub(crate) const MOST_ADDRESSES: usize = 1024;

/// The most bytes before the frame.
pub(crate) const MOST_HEADER: usize = 11 + MOST_ADDRESSES * (8 + 1 + 16 + 2);

/// An envelope that was opened.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) sent: u64,
    pub(crate) addresses: Vec<(NodeId, SocketAddr)>,
    pub(crate) frame: &'a [u8],
}

/// Puts a frame into an envelope. Addresses beyond the most are left out.
pub(crate) fn seal(sent: u64, addresses: &[(NodeId, SocketAddr)], frame: &[u8]) -> Vec<u8> {
    let addresses = addresses.get(..MOST_ADDRESSES).unwrap_or(addresses);
    let mut bytes = vec![VERSION];
    bytes.extend(sent.to_be_bytes());
    bytes.extend((addresses.len() as u16).to_be_bytes());
    for (node, address) in addresses {
        bytes.extend(node.get().to_be_bytes());
        match address.ip() {
            IpAddr::V4(ip) => {
                bytes.push(4);
                bytes.extend(ip.octets());
            }
            IpAddr::V6(ip) => {
                bytes.push(6);
                bytes.extend(ip.octets());
            }
        }
        bytes.extend(address.port().to_be_bytes());
    }
    bytes.extend(frame);
    bytes
}

/// Takes so many bytes from the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

/// Opens an envelope; `None` if it is malformed.
pub(crate) fn open(mut bytes: &[u8]) -> Option<Envelope<'_>> {
    if take(&mut bytes)? != [VERSION] {
        return None;
    }
    let sent = u64::from_be_bytes(take(&mut bytes)?);
    let count = usize::from(u16::from_be_bytes(take(&mut bytes)?));
    if count > MOST_ADDRESSES {
        return None;
    }
    let mut addresses = Vec::new();
    for _ in 0..count {
        let node = NodeId::new(u64::from_be_bytes(take(&mut bytes)?));
        let ip = match take(&mut bytes)? {
            [4] => IpAddr::from(take::<4>(&mut bytes)?),
            [6] => IpAddr::from(take::<16>(&mut bytes)?),
            _ => return None,
        };
        let port = u16::from_be_bytes(take(&mut bytes)?);
        addresses.push((node, SocketAddr::new(ip, port)));
    }
    Some(Envelope {
        sent,
        addresses,
        frame: bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_opened_as_it_was_sealed_and_no_cut_one_panics() {
        let addresses = [
            (NodeId::new(7), "10.0.0.1:4850".parse().unwrap()),
            (NodeId::new(8), "[2001:db8::1]:1".parse().unwrap()),
        ];
        let bytes = seal(99, &addresses, b"frame");
        let opened = open(&bytes).unwrap();
        assert_eq!((opened.sent, opened.frame), (99, &b"frame"[..]));
        assert_eq!(opened.addresses, addresses);
        let header = bytes.len() - 5;
        for length in 0..header {
            assert_eq!(open(&bytes[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn another_version_too_many_addresses_and_unknown_kinds_are_refused() {
        let good = seal(0, &[(NodeId::new(1), "1.2.3.4:5".parse().unwrap())], b"");
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        assert!(open(&good).is_some());
        assert_eq!(open(&with(0, 2)), None);
        assert_eq!(open(&with(9, 255)), None);
        assert_eq!(open(&with(19, 5)), None);
    }

    #[test]
    fn the_header_has_a_cap() {
        let address = (NodeId::new(1), "[::1]:5".parse().unwrap());
        let bytes = seal(0, &vec![address; 2000], b"");
        assert_eq!(bytes.len(), MOST_HEADER);
    }
}
