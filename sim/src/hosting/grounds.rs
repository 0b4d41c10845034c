//! Which nodes a job may run on: judged here anew, and not by the code that is watched.

use gridweave_core::admission::{Admission, Attributes, Stated};
use gridweave_core::id::{NodeId, OrganisationId};
use gridweave_core::job::{Job, Scope};
use gridweave_core::resource::{Dimensions, Kind, Requirement};

/// What the nodes of a grid state of themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grounds {
    /// The dimensions of the grid.
    pub dimensions: Dimensions,
    /// What each node states; nodes behind the last one state nothing.
    pub stated: Vec<Stated>,
}

/// What a job asks of each of its nodes, beside room.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asks {
    organisation: OrganisationId,
    /// The requirement and the scope, if a node may fail them.
    needs: Option<Box<(Requirement, Scope)>>,
}

impl Asks {
    /// What this job asks.
    pub fn of(job: &Job) -> Self {
        let needs = (job.requirement, job.scope);
        Self {
            organisation: job.submitter.organisation,
            needs: (needs != (Requirement::any(), Scope::Grid)).then(|| Box::new(needs)),
        }
    }
}

impl Grounds {
    /// Why a node may not run a job; `None` if it may.
    pub(super) fn forbid(&self, node: NodeId, asks: &Asks) -> Option<String> {
        let stated = self.stated.get(node.get() as usize);
        let Attributes {
            organisation,
            admission,
            capability,
        } = stated.unwrap_or(&Stated::NOTHING).attributes();
        let theirs = asks.organisation;
        let is_listed = |these: &[OrganisationId]| these.contains(&theirs);
        let is_admitted = match admission {
            Admission::All => true,
            Admission::Own => theirs == *organisation,
            Admission::Only(these) => is_listed(these.as_slice()),
            Admission::Except(these) => !is_listed(these.as_slice()),
        };
        if !is_admitted {
            return Some(format!("a job of {theirs}; it admits {admission:?}"));
        }
        let (requirement, scope) = asks.needs.as_deref()?;
        if *scope == Scope::Organisation && theirs != *organisation {
            return Some(format!(
                "a job that stays in {theirs}; it is of {organisation}"
            ));
        }
        for (dimension, needed) in requirement.named() {
            let had = capability.value(dimension);
            let mut known = self.dimensions.iter();
            let meets = match known.find(|(other, ..)| *other == dimension) {
                Some((_, _, Kind::Category)) => had == needed,
                Some(_) => had >= needed,
                None => false,
            };
            if !meets {
                let position = dimension.position();
                return Some(format!("{needed} in dimension {position}; it has {had}"));
            }
        }
        None
    }
}
