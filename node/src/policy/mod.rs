//! Which jobs run here.
//!
//! A job's organisation is that in the certificate of the node where it was submitted. A node that asks for time says
//! for which submitter; a request for another organisation than the asking node's own is refused before the scheduler
//! sees it ([`may_speak_for`]). Nodes tell their peers whose jobs they admit, so that searches pass over the others.

use gridweave_core::admission::{Admission, Organisations};
use gridweave_core::id::OrganisationId;
use gridweave_core::job::Submitter;

/// The most organisations that settings can name: a node lists its own, too.
pub const MOST_NAMED: usize = Organisations::MOST - 1;

/// Whose jobs a node runs: those of all organisations, if none are named, else of these and of its own.
pub fn admission(own: OrganisationId, named: &[u32]) -> Admission {
    if named.is_empty() {
        return Admission::All;
    }
    let named = named.iter().take(MOST_NAMED);
    let all = named.map(|number| OrganisationId::new(*number));
    // As many as are taken here always fit.
    let listed = Organisations::new(all.chain([own]));
    listed.map_or(Admission::Own, Admission::Only)
}

/// Whether a node of this organisation may ask for time for this submitter.
pub fn may_speak_for(organisation: OrganisationId, submitter: &Submitter) -> bool {
    submitter.organisation == organisation
}

#[cfg(test)]
mod tests {
    use gridweave_core::id::UserId;

    use super::*;

    const OWN: OrganisationId = OrganisationId::new(1);

    #[test]
    fn all_organisations_are_served_unless_some_are_named() {
        let open = admission(OWN, &[]);
        assert!(open.admits(OWN, OWN) && open.admits(OWN, OrganisationId::new(2)));
        let closed = admission(OWN, &[3]);
        assert!(closed.admits(OWN, OWN) && closed.admits(OWN, OrganisationId::new(3)));
        assert!(!closed.admits(OWN, OrganisationId::new(2)));
    }

    #[test]
    fn a_node_speaks_for_its_own_organisation_only() {
        let of = |organisation| Submitter {
            user: UserId::new(1),
            organisation,
        };
        assert!(may_speak_for(OWN, &of(OWN)));
        assert!(!may_speak_for(OrganisationId::new(2), &of(OWN)));
    }
}
