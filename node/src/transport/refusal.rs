use quinn::ConnectionError;

/// Why a handshake failed, in one of a few words, for counting.
pub(super) fn reason(error: &ConnectionError) -> &'static str {
    let text = match error {
        ConnectionError::TransportError(error) => error.reason.as_str(),
        ConnectionError::TimedOut => return "no answer",
        ConnectionError::ConnectionClosed(_) | ConnectionError::ApplicationClosed(_) => {
            return "the peer ended the handshake";
        }
        ConnectionError::VersionMismatch => return "another version of QUIC",
        _ => return "the handshake failed",
    };
    // The library has only the text of what its TLS library says.
    for (part, reason) in [
        ("no certificates", "no certificate"),
        ("CertificateRequired", "no certificate"),
        ("UnknownIssuer", "certificate of another authority"),
        ("BadSignature", "certificate of another authority"),
        ("Expired", "expired certificate"),
        ("certificate expired", "expired certificate"),
        ("not valid yet", "certificate that is not valid yet"),
        ("not valid for name", "certificate of another node"),
        ("NotValidYet", "certificate that is not valid yet"),
        ("NotValidForName", "certificate of another node"),
        ("ALPN", "another protocol"),
        ("application protocol", "another protocol"),
        ("certificate", "bad certificate"),
    ] {
        if text.contains(part) {
            return reason;
        }
    }
    "the handshake failed"
}
