//! A layer and its slow obvious twin, held to the same answers.
//!
//! Each pair implements [`Twins`] once: how to make both, which steps there are, and what each answers. Everything that
//! generates steps, be it proptest's state machine here or a fuzzer, drives the pair through it.

pub mod availability;
pub mod backfill;
pub mod common_slot;
pub mod events;
pub mod ledger;
pub mod schedule;
pub mod site;
pub mod timers;

use core::fmt::Debug;

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

/// A layer beside its twin.
pub trait Twins: Clone + Debug + 'static {
    /// Something that can be done to both.
    type Step: Clone + Debug + 'static;
    /// What a step tells, the same from both.
    type Answer: Clone + Debug + PartialEq;
    /// The slow obvious twin.
    type Model: Clone + Debug;
    /// The code under test.
    type Real;

    /// Both at their beginning.
    fn begin() -> (Self::Model, Self::Real);

    /// All steps.
    fn steps() -> BoxedStrategy<Self::Step>;

    /// Does a step to the twin.
    fn model(model: &mut Self::Model, step: &Self::Step) -> Self::Answer;

    /// Does the same step to the code under test.
    fn real(real: &mut Self::Real, step: &Self::Step) -> Self::Answer;

    /// Panics unless both are in the same state and the code under test is sound.
    fn compare(model: &Self::Model, real: &Self::Real);
}

/// Drives a pair of twins with proptest's state machine.
#[derive(Clone, Debug)]
pub struct Driven<T>(core::marker::PhantomData<T>);

/// The twin, and what it answered last.
#[derive(Clone, Debug)]
pub struct Answered<T: Twins> {
    model: T::Model,
    answer: Option<T::Answer>,
}

impl<T: Twins> ReferenceStateMachine for Driven<T> {
    type State = Answered<T>;
    type Transition = T::Step;

    fn init_state() -> BoxedStrategy<Self::State> {
        Just(Answered {
            model: T::begin().0,
            answer: None,
        })
        .boxed()
    }

    fn transitions(_: &Self::State) -> BoxedStrategy<Self::Transition> {
        T::steps()
    }

    fn apply(mut state: Self::State, step: &Self::Transition) -> Self::State {
        state.answer = Some(T::model(&mut state.model, step));
        state
    }
}

impl<T: Twins> StateMachineTest for Driven<T> {
    type SystemUnderTest = T::Real;
    type Reference = Self;

    fn init_test(_: &Answered<T>) -> T::Real {
        T::begin().1
    }

    fn apply(mut real: T::Real, twin: &Answered<T>, step: T::Step) -> T::Real {
        let answer = T::real(&mut real, &step);
        assert_eq!(
            Some(&answer),
            twin.answer.as_ref(),
            "the answers to {step:?} differ"
        );
        T::compare(&twin.model, &real);
        real
    }
}
