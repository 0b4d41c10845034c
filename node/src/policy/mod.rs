//! Which jobs run here.
//!
//! A job's organisation is that in the certificate of the node where it was submitted. A node that asks for time says
//! for which submitter; a request for another organisation than the asking node's own is refused before the scheduler
//! sees it ([`may_speak_for`]).

use std::sync::Arc;

use gridweave_core::commit;
use gridweave_core::id::OrganisationId;
use gridweave_core::job::Submitter;

/// The organisations whose jobs run on a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// All of them, if this is empty.
    organisations: Arc<[OrganisationId]>,
}

impl Rules {
    /// Jobs of these organisations and of the node's own run here. If none are named, all run.
    pub fn new(own: OrganisationId, named: &[u32]) -> Self {
        let named = named.iter().map(|number| OrganisationId::new(*number));
        let mut organisations: Vec<_> = named.collect();
        if !organisations.is_empty() {
            organisations.push(own);
        }
        organisations.sort_unstable();
        organisations.dedup();
        Self {
            organisations: organisations.into(),
        }
    }

    /// The organisations; all if there are none.
    pub fn organisations(&self) -> &[OrganisationId] {
        &self.organisations
    }
}

impl commit::Policy for Rules {
    fn may_submit(&self, _: &Submitter) -> bool {
        true
    }

    fn accepts(&self, submitter: &Submitter) -> bool {
        let listed = self.organisations.binary_search(&submitter.organisation);
        self.organisations.is_empty() || listed.is_ok()
    }
}

/// Whether a node of this organisation may ask for time for this submitter.
pub fn may_speak_for(organisation: OrganisationId, submitter: &Submitter) -> bool {
    submitter.organisation == organisation
}

#[cfg(test)]
mod tests {
    use gridweave_core::commit::Policy;
    use gridweave_core::id::UserId;

    use super::*;

    fn of(organisation: u32) -> Submitter {
        Submitter {
            user: UserId::new(1),
            organisation: OrganisationId::new(organisation),
        }
    }

    #[test]
    fn all_organisations_are_served_unless_some_are_named() {
        let open = Rules::new(OrganisationId::new(1), &[]);
        assert!(open.accepts(&of(1)) && open.accepts(&of(2)));
        let closed = Rules::new(OrganisationId::new(1), &[3]);
        assert!(closed.accepts(&of(1)) && closed.accepts(&of(3)));
        assert!(!closed.accepts(&of(2)));
    }

    #[test]
    fn a_node_speaks_for_its_own_organisation_only() {
        assert!(may_speak_for(OrganisationId::new(1), &of(1)));
        assert!(!may_speak_for(OrganisationId::new(2), &of(1)));
    }
}
