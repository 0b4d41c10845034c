//! Two-phase commit of reservations: time on several nodes at once, or on none (PROTOCOLS 7.3, D21, F5, F13).
//!
//! A [`Coordinator`] asks nodes to hold time for a job, and commits when all of them do. A [`Participant`] has a
//! schedule, holds time under leases, and starts a job only under a permission, which its coordinator gives when all
//! participants have committed. A [`Node`], of which a grid is made, is both in one machine; each is useful alone.
//!
//! ```text
//!  coordinator                                participant
//!   Place ──▶ Prepare ───────────────────────▶ holds, writes it down
//!             all hold? ◀──────────── Prepared    (or Refused, with a reason and the next free time)
//!             writes the decision down: the commit point
//!             Commit ────────────────────────▶ keeps it
//!   Placed ◀─ all committed? ◀────── Committed    (or Expired: the lease had ended)
//!             Permit ────────────────────────▶ may start, until then   (renewed; the answer is a sign of life)
//!                                              Begin ──▶ the host runs the job
//!             writes it down ◀─────────── Extend  Ended is late: takes the time behind, if there is any
//!             Permit ────────────────────────▶ may go on, until then   (only with `Overrun::Extend`)
//! Finished ◀─ all ended? ◀──────────── Ended  ◀── Ended
//!             Release ───────────────────────▶ may forget
//! ```
//!
//! # What is promised
//! - No two reservations on a node overlap. A hold ends with its lease, even without its coordinator. Locks never wait.
//! - No node starts a job unless all nodes of that attempt have committed.
//! - Attempts at a job are numbered, and an older one never changes what a newer one has. A newer attempt may take over
//!   time from an older one of the same job; if it is aborted, the older one stands as before.
//! - At most one attempt at a job runs. A new one is permitted only when every node of earlier ones has let go, or its
//!   permission has ended by both clocks. This rests on [`Config::max_skew`]; the other promises rest on each node's
//!   own clock.
//! - A job that overruns is cut, unless [`Config::overrun`] says otherwise. Then it runs on only in time that no other
//!   job has, and only when its coordinator has written the new end down.
//! - Either side may crash between any two effects and come back from what it persisted. If an attempt was not decided
//!   on, its holds end with their leases.
//! - One coordinator cannot keep a node from others by its holds: their number is limited, and so is the time that is
//!   held and not committed. Commits have no such limit: [`Policy::accepts`] says which submitters' jobs a node takes.
//!
//! Not promised: that all nodes start at the same instant. No protocol over a lossy network can do that. If one of them
//! does not start, or is lost, its permission ends, the others are released, and the job is tried again or given up.
//!
//! # Example
//! A job gets an hour on two nodes, here without a network in between.
//! ```
//! use gridweave_core::admission::Needs;
//! use gridweave_core::commit::{Candidate, Config, Coordinator, Everyone, Participant, coordinator, participant};
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::job::{Payload, Submitter};
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::time::{Interval, Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let config = Config::DEFAULT.checked()?;
//! let boss = NodeId::new(0);
//! let mut coordinator: Coordinator = Coordinator::new(config, Everyone);
//! let mut nodes = [1, 2].map(|id| (NodeId::new(id), Participant::<Everyone>::new(config, Everyone)));
//! let (mut asked, mut answered) = (EffectQueue::new(), EffectQueue::new());
//! asked.feed(&mut coordinator, Event::Start, Time::ZERO, &mut rng);
//!
//! let interval = Interval::starting(Time::from_secs(600), Span::from_secs(3600))?;
//! let place = coordinator::Command::Place {
//!     job: JobId::new(7),
//!     submitter: Submitter::default(),
//!     needs: Needs::NOTHING,
//!     payload: Payload::EMPTY,
//!     candidates: vec![Candidate { interval, nodes: vec![nodes[0].0, nodes[1].0] }],
//!     spares: vec![],
//! };
//! asked.feed(&mut coordinator, Event::Command(place), Time::ZERO, &mut rng);
//! let mut placed = false;
//! while !placed {
//!     let effects: Vec<_> = asked.drain().collect();
//!     for effect in effects {
//!         match effect {
//!             Effect::Send { to, message } => {
//!                 let (_, node) = nodes.iter_mut().find(|(id, _)| *id == to).expect("nobody else is asked");
//!                 answered.feed(node, Event::Message { from: boss, message }, Time::ZERO, &mut rng);
//!                 for answer in answered.drain() {
//!                     if let Effect::Send { message, .. } = answer {
//!                         asked.feed(&mut coordinator, Event::Message { from: to, message }, Time::ZERO, &mut rng);
//!                     }
//!                 }
//!             }
//!             Effect::Notify(coordinator::Notice::Placed { .. }) => placed = true,
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(nodes.iter().all(|(_, node)| !node.schedule().is_free(interval)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
pub mod coordinator;
mod message;
mod node;
pub mod participant;
#[cfg(test)]
mod tests;

pub use config::{Config, Everyone, Overrun, Permission, Policy, Selective};
pub use coordinator::{Candidate, Coordinator};
pub use message::{Members, Message, Refused, Standing};
pub use node::{Command, Key, Node, Notice, Record, Timer};
pub use participant::Participant;
