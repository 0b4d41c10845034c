//! Discovery ants: how nodes learn of those beyond their neighbours (PROTOCOLS 4.3).

use alloc::vec::Vec;

use super::{Blatant, Life, MOST_LINKS, MOST_RECORDS, Message, Neighbour, Neighbourhood};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

impl Blatant {
    /// Now and then a node sends an ant out.
    pub(super) fn bear_ant(&mut self, cx: &mut dyn Context<Self>) {
        let is_born = cx.rng().below(1000) < u32::from(self.config.birth);
        if is_born && let Some(own) = self.neighbourhood() {
            let left = self.config.lifespan.saturating_sub(1);
            self.send_ant(left, [own].into_iter().collect(), cx);
        }
    }

    /// An ant comes by: what it tells is learnt, and it goes on with this node on its mind.
    pub(super) fn receive_ant(
        &mut self,
        from: NodeId,
        left: u8,
        mut visited: Vec<Neighbourhood>,
        cx: &mut dyn Context<Self>,
    ) {
        // What a liar has it carry beyond measure, it forgets.
        visited.truncate(MOST_RECORDS);
        let Some(last) = visited.last() else {
            return;
        };
        let last = last.clone();
        if !self.hear(from, last, cx) {
            return;
        }
        for record in &visited {
            self.learn(record);
        }
        let me = self.me;
        if let Some(left) = left.min(self.config.lifespan).checked_sub(1)
            && let Some(own) = self.neighbourhood()
        {
            visited.retain(|record| record.node != me);
            visited.push(own);
            let memory = usize::from(self.config.memory);
            visited.drain(..visited.len().saturating_sub(memory));
            self.send_ant(left, visited, cx);
        }
    }

    /// An ant goes where the least pheromone is among those that it does not remember, or among all if it remembers all.
    fn send_ant(&self, left: u8, visited: Vec<Neighbourhood>, cx: &mut dyn Context<Self>) {
        let is_new = |it: &Neighbour| !visited.iter().any(|record| record.node == it.id);
        // Who leaves pings unanswered may be dead, and ants that go there lost.
        let answers = |it: &&Neighbour| it.pings == 0;
        let candidates = || self.neighbours.iter().filter(answers);
        let anywhere_new = candidates().any(is_new);
        let candidates = || candidates().filter(|it| !anywhere_new || is_new(it));
        let Some(least) = candidates().map(Neighbour::pheromone).min() else {
            return;
        };
        let faintest: heapless::Vec<NodeId, MOST_LINKS> = candidates()
            .filter(|it| it.pheromone() == least)
            .map(|it| it.id)
            .collect();
        if let Some(to) = cx.rng().pick(&faintest) {
            cx.send(*to, Message::Ant { left, visited });
        }
    }

    /// What somebody tells of a node. Of neighbours and of itself a node believes only their own word.
    pub(super) fn learn(&mut self, record: &Neighbourhood) {
        if let Life::Running(running) = &self.life
            && record.node != self.me
            && !self.neighbours.contains(record.node)
        {
            self.alpha.learn(record.clone().tidied(), running.iteration);
        }
    }
}
