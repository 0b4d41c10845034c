//! The sites of `aria`: what each has, whose jobs it runs, in which order, and what its owner keeps.

use std::num::NonZeroU32;

use gridweave_core::admission::Admission;
use gridweave_core::id::{NodeId, OrganisationId};
use gridweave_core::queue::{Policy, Priorities, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::aria::{Membership, Serves, Site};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Interval, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::config::{AriaConfig, PolicyName, ServesName};
use crate::experiment::error::InputError;
use crate::experiment::nodes::stream;
use crate::experiment::prepare::Prepared;
use crate::grid::Grid;
use crate::kinds::Kinds;

/// What decides which site is of which organisation, and in which order it runs jobs.
pub(crate) struct Sites<'a> {
    prepared: &'a Prepared,
    kinds: Option<Kinds>,
    /// The organisation of each site, where the configuration of `aria` says it.
    organisations: Vec<OrganisationId>,
    drawn: Xoshiro256PlusPlus,
}

impl<'a> Sites<'a> {
    pub(crate) fn of(prepared: &'a Prepared) -> Self {
        let config = &prepared.config;
        let (kinds, count) = (prepared.kinds(), config.rules.aria.organisations);
        let mut organisations = Vec::new();
        if kinds.is_none() && count > 0 {
            let number = |site| OrganisationId::new(1 + site % count);
            organisations = (0..prepared.nodes_ever()).map(number).collect();
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(config.seed, 11));
            rng.shuffle(&mut organisations);
        }
        Self {
            prepared,
            kinds,
            organisations,
            drawn: Xoshiro256PlusPlus::seed_from_u64(stream(config.seed, 6)),
        }
    }

    /// Refuses sites that should prefer the jobs of organisations, where there are none.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let aria = self.rules();
        let has_some = self.kinds.is_some() || !self.organisations.is_empty();
        let wrong = |why| Err(InputError::Grid("aria", why));
        if aria.policy == PolicyName::Priority && aria.classes.is_empty() && !has_some {
            return wrong(
                "aria.policy is priority, and sites have no organisations; set aria.organisations or aria.classes",
            );
        }
        if self.kinds.is_some() && (aria.organisations > 0 || aria.serves != ServesName::Everyone) {
            return wrong(
                "grid.kinds says the organisations of nodes; leave out aria.organisations and aria.serves",
            );
        }
        if aria.serves == ServesName::Members && !has_some {
            return wrong(
                "aria.serves is members, and sites have no organisations; set aria.organisations",
            );
        }
        Ok(())
    }

    fn rules(&self) -> &'a AriaConfig {
        &self.prepared.config.rules.aria
    }

    /// The organisation of a site, if it has one.
    pub(crate) fn organisation(&self, site: NodeId) -> Option<OrganisationId> {
        let index = site.get() as usize;
        let stated = self
            .kinds
            .as_ref()
            .and_then(|kinds| kinds.stated.get(index));
        let stated = stated.map(|stated| stated.attributes().organisation);
        stated.or_else(|| self.organisations.get(index).copied())
    }

    /// Whose jobs a site runs.
    fn membership(&self, site: NodeId) -> Membership {
        let organisations = self.organisation(site).into_iter().collect();
        let stated = self.kinds.as_ref();
        let stated = stated.and_then(|kinds| kinds.stated.get(site.get() as usize));
        let serves = match stated.map(|stated| &stated.attributes().admission) {
            None if self.rules().serves == ServesName::Members => Serves::Members,
            None | Some(Admission::All) => Serves::AllUsers,
            Some(Admission::Own) => Serves::Members,
            Some(Admission::Only(these)) => Serves::Only(Shared::new(these.clone())),
            Some(Admission::Except(these)) => Serves::Except(Shared::new(these.clone())),
        };
        Membership {
            organisations,
            serves,
        }
    }

    /// In which order a site runs jobs. `drawn` is 0 or 1, by chance, and decides only if the policy is mixed.
    fn policy(&self, site: NodeId, drawn: u32) -> Policy {
        match self.rules().policy {
            PolicyName::Fcfs => Policy::FirstCome,
            PolicyName::Sjf => Policy::ShortestFirst,
            PolicyName::Edf => Policy::EarliestDeadline,
            PolicyName::Mixed if drawn == 0 => Policy::FirstCome,
            PolicyName::Mixed => Policy::ShortestFirst,
            PolicyName::Priority => {
                let named = self.rules().classes.iter();
                let named = named.map(|it| (OrganisationId::new(it.organisation), it.class));
                let own = self.organisation(site).map(|own| (own, 1));
                let own = own.filter(|_| self.rules().classes.is_empty());
                let none = Priorities::ageing(self.rules().ageing);
                let all = named
                    .chain(own)
                    .try_fold(none, |priorities, (id, class)| priorities.with(id, class));
                Policy::Priority(all.expect("more classes are refused with the configuration"))
            }
        }
    }

    /// Sets apart what the owner of a site keeps.
    fn keep(&self, site: NodeId, mut local: SiteQueue) -> SiteQueue {
        let own = self.organisation(site).map(OrganisationId::get);
        for window in &self.rules().windows {
            if window.organisation.is_some() && window.organisation != own {
                continue;
            }
            let all = local.processors();
            let kept = (f64::from(all.get()) * window.part).ceil() as u32;
            let kept = NonZeroU32::new(kept).map_or(all, |kept| kept.min(all));
            let interval = Interval::new(Time::ZERO + window.from, Time::ZERO + window.until);
            local = interval
                .ok()
                .and_then(|interval| local.reserving(interval, kept).ok())
                .expect("wrong windows are refused with the configuration");
        }
        local
    }

    /// The next site in the order of ids.
    pub(super) fn next(&mut self, site: NodeId) -> Site<SiteQueue> {
        let drawn = self.drawn.below(2);
        let index = site.get() as usize;
        let (dimensions, capability, speed, processors) = match &*self.prepared.grid {
            Grid::Uniform(_) => {
                let kinds = self.kinds.as_ref();
                let stated = kinds.and_then(|kinds| kinds.stated.get(index));
                let capability =
                    stated.map_or(Capability::none(), |stated| stated.attributes().capability);
                let dimensions = kinds.map(|kinds| kinds.dimensions.get());
                (dimensions, capability, Speed::BASELINE, 1)
            }
            Grid::Mixed(mixed) => {
                let profile = mixed.nodes.get(index);
                let (capability, speed) = profile
                    .map_or((Capability::none(), Speed::BASELINE), |profile| {
                        (profile.capability, profile.speed)
                    });
                let share = mixed.shares().map_or(1, |shares| capability.value(shares));
                (Some(&mixed.dimensions), capability, speed, share)
            }
        };
        let processors = u32::try_from(processors).ok().and_then(NonZeroU32::new);
        let mut local = SiteQueue::new(self.policy(site, drawn), speed, usize::MAX)
            .with_processors(processors.unwrap_or(NonZeroU32::MIN));
        if self.rules().backfill {
            local = local.backfilling();
        }
        let none = || Dimensions::new(&[]).expect("no dimensions are not too many");
        Site {
            dimensions: dimensions.cloned().unwrap_or_else(none),
            capability,
            membership: self.membership(site),
            local: self.keep(site, local),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::experiment::prepare;
    use gridweave_core::id::JobId;
    use gridweave_core::job::{Demand, Job};
    use gridweave_core::queue::LocalScheduler;
    use gridweave_core::time::Span;

    fn prepared(toml: &str) -> Prepared {
        prepare(&Config::parse(toml).unwrap()).unwrap()
    }

    fn sites(prepared: &Prepared) -> Vec<Site<SiteQueue>> {
        let mut sites = Sites::of(prepared);
        sites.check().unwrap();
        let all = (0..u64::from(prepared.nodes_ever())).map(|site| sites.next(NodeId::new(site)));
        all.collect()
    }

    /// A job of a user of this organisation.
    fn job(organisation: u32) -> Job {
        let demand = Demand::Nodes(NonZeroU32::MIN);
        let mut job = Job::new(JobId::new(1), demand, Span::from_secs(1)).unwrap();
        job.submitter.organisation = OrganisationId::new(organisation);
        job
    }

    #[test]
    fn sites_are_of_organisations_and_keep_hours_for_their_owners() {
        let prepared = prepared(
            "[workload]\nfirst = 9\norganisations = 3\n[grid]\nsites = 12\n[aria]\norganisations = 3\n\
             serves = 'members'\npolicy = 'priority'\n[[aria.windows]]\nfrom = '1h'\nuntil = '2h'\n\
             part = 0.5\norganisation = 2",
        );
        let sites = sites(&prepared);
        for organisation in 1..=3 {
            let serve = |site: &&Site<SiteQueue>| site.membership.allows(&job(organisation));
            assert_eq!(sites.iter().filter(serve).count(), 4);
            for site in sites.iter().filter(serve) {
                let Policy::Priority(priorities) = site.local.policy() else {
                    panic!("{:?}", site.local.policy())
                };
                let all = (1..=3).map(|other| priorities.class(OrganisationId::new(other)));
                let own = (1..=3).map(|other| u8::from(other == organisation));
                assert!(all.eq(own));
                let kept = site.local.windows().iter();
                let kept: Vec<u32> = kept.map(|window| window.processors.get()).collect();
                let half = site.local.processors().get().div_ceil(2);
                assert_eq!(
                    kept,
                    if organisation == 2 {
                        vec![half]
                    } else {
                        vec![]
                    }
                );
            }
        }
        assert!(sites.iter().all(|site| site.local.room() > 1000));
    }

    #[test]
    fn kinds_say_what_nodes_have_and_whose_jobs_they_admit() {
        let prepared = prepared(
            "[workload]\nfirst = 9\n[grid]\nnodes = 200\n[[grid.kinds]]\nmemory = 8\n[[grid.kinds]]\n\
             memory = 64\norganisation = 2\nadmits = { kind = 'except', organisations = [1, 2] }",
        );
        let sites = sites(&prepared);
        let memory = |site: &Site<SiteQueue>| {
            let memory = site.dimensions.named("memory").unwrap();
            site.capability.value(memory)
        };
        for site in &sites {
            let admits = [0, 1, 2, 3].map(|other| site.membership.allows(&job(other)));
            match memory(site) {
                8 => assert_eq!(admits, [true; 4]),
                64 => assert_eq!(admits, [true, false, false, true]),
                other => panic!("{other}"),
            }
        }
        assert_eq!(sites.iter().filter(|site| memory(site) == 64).count(), 100);
    }

    #[test]
    fn sites_without_organisations_prefer_none() {
        for (wrong, why) in [
            ("policy = 'priority'", "aria.policy is priority"),
            ("serves = 'members'", "aria.serves is members"),
            (
                "organisations = 2\n[[grid.kinds]]",
                "leave out aria.organisations",
            ),
        ] {
            let prepared = prepared(&format!("[workload]\nfirst = 9\n[aria]\n{wrong}"));
            let error = Sites::of(&prepared).check().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
