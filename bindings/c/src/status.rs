//! What a call returns, and the words for it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use gridweave_core::config::ConfigError;
use gridweave_core::job::JobError;
use gridweave_core::queue::{MigrantRefusal, NotRunning, QueueError};
use gridweave_core::resource::DimensionError;
use gridweave_core::schedule::availability::{FitError, NoProcessors, ReleaseError};
use gridweave_core::schedule::common_slot::NoCommonSlot;
use gridweave_core::schedule::{
    CommitError, LengthenError, ReserveError, SnapshotError, availability,
};
use gridweave_core::time::IntervalError;
use gridweave_core::wire::{NotEncoded, Refused};

use crate::raw::{self, Out, Room};

/// What became of a call. Numbers stay what they are in later versions, and new ones may come.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub enum gw_status {
    /// The call did what it says.
    GW_OK = 0,
    /// There is nothing of the kind: no effect is left, no timer is set, no job can start. No error.
    GW_NONE = 1,
    /// A pointer is null that must not be.
    GW_NULL = 2,
    /// A pointer is not aligned for its type.
    GW_MISALIGNED = 3,
    /// The size of a structure is not that of this library: it was built with another header. Or a count is too large.
    GW_WRONG_SIZE = 4,
    /// No object ever had this handle.
    GW_NO_HANDLE = 5,
    /// The handle is that of another kind of object.
    GW_WRONG_KIND = 6,
    /// The object was freed already.
    GW_STALE_HANDLE = 7,
    /// Another call works with the object just now: on another thread, or on this one, from inside a callback.
    GW_BUSY = 8,
    /// An earlier call with this object failed with GW_PANICKED. It can only be freed.
    GW_BROKEN = 9,
    /// A mistake in the library. The objects of the call can only be freed.
    GW_PANICKED = 10,
    /// There are as many objects as there may be.
    GW_TOO_MANY = 11,
    /// The given room is too small. The needed size is told, and nothing else has changed.
    GW_NO_ROOM = 12,
    /// A value is not one of the constants, or out of its range.
    GW_ARGUMENT = 13,
    /// The time is before that of an earlier call with this node.
    GW_TIME_WENT_BACK = 14,
    /// The node must be started first.
    GW_NOT_STARTED = 15,
    /// The node is started already: this comes before the start.
    GW_STARTED = 16,
    /// A rule of the library does not hold: a mistake in the library, which only `gw_node_check` tells.
    GW_RULE_BROKEN = 17,
    /// No processors, or no schedules, were asked for.
    GW_ZERO_COUNT = 32,
    /// No time was asked for.
    GW_ZERO_LENGTH = 33,
    /// The machine has fewer processors, or there are fewer schedules.
    GW_TOO_LARGE = 34,
    /// The interval begins before what is remembered.
    GW_BEFORE_ORIGIN = 35,
    /// Some of the time is not free.
    GW_NOT_FREE = 36,
    /// Somewhere in the interval fewer processors are reserved.
    GW_NOT_RESERVED = 37,
    /// There is no room for another one: the limit is reached.
    GW_FULL = 38,
    /// There is none before the end of time, or before the horizons of schedules.
    GW_BEYOND_TIME = 39,
    /// The interval does not end after it starts.
    GW_BAD_INTERVAL = 40,
    /// A newer attempt at the job is known.
    GW_OLD_ATTEMPT = 41,
    /// This attempt has reserved other time.
    GW_OTHER_INTERVAL = 42,
    /// This attempt holds nothing, or has nothing committed.
    GW_NOT_HELD = 43,
    /// Windows are not sorted with a gap between any two, or reach beyond the horizon.
    GW_UNSORTED = 44,
    /// The job is known already.
    GW_KNOWN = 45,
    /// The machine could not run the job even if it were idle.
    GW_UNSUITABLE = 46,
    /// There is no such job.
    GW_NO_JOB = 47,
    /// The head of the queue was passed more often than the job.
    GW_HEAD_PASSED_MORE = 48,
    /// Dimensions are too many, have one name, or a name that is empty or too long.
    GW_DIMENSIONS = 49,
    /// The setup of a node does not fit together: the detail says which field, and its bound.
    GW_SETUP = 50,
    /// The bytes are no message or no record of this scheduler: the detail says why and where. A peer may send such
    /// bytes: drop them.
    GW_NOT_DECODED = 51,
    /// A message or a record is too long to be encoded. A message counts as lost; after a record, stop the node.
    GW_NOT_ENCODED = 52,
    /// The job cannot be made: its estimate is zero, or its payload too long.
    GW_JOB = 53,
    /// No such timer is set.
    GW_NO_TIMER = 54,
}

macro_rules! words {
    ($($name:ident => $words:literal,)+) => {
        impl gw_status {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            const fn words(self) -> &'static CStr {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
}

words! {
    GW_OK => c"done",
    GW_NONE => c"there is nothing of the kind",
    GW_NULL => c"a pointer is null",
    GW_MISALIGNED => c"a pointer is not aligned for its type",
    GW_WRONG_SIZE => c"a size is wrong: was the program built with another header?",
    GW_NO_HANDLE => c"no object ever had this handle",
    GW_WRONG_KIND => c"the handle is that of another kind of object",
    GW_STALE_HANDLE => c"the object was freed already",
    GW_BUSY => c"another call works with the object just now",
    GW_BROKEN => c"an earlier call broke the object: it can only be freed",
    GW_PANICKED => c"a mistake in the library",
    GW_TOO_MANY => c"there are as many objects as there may be",
    GW_NO_ROOM => c"the given room is too small",
    GW_ARGUMENT => c"a value is out of its range",
    GW_TIME_WENT_BACK => c"the time is before that of an earlier call",
    GW_NOT_STARTED => c"the node is not started yet",
    GW_STARTED => c"the node is started already",
    GW_RULE_BROKEN => c"a rule of the library does not hold",
    GW_ZERO_COUNT => c"nothing was asked for",
    GW_ZERO_LENGTH => c"no time was asked for",
    GW_TOO_LARGE => c"more was asked for than there is",
    GW_BEFORE_ORIGIN => c"the interval begins before what is remembered",
    GW_NOT_FREE => c"some of the time is not free",
    GW_NOT_RESERVED => c"fewer processors are reserved somewhere in the interval",
    GW_FULL => c"the limit is reached",
    GW_BEYOND_TIME => c"there is none before the end of time",
    GW_BAD_INTERVAL => c"the interval does not end after it starts",
    GW_OLD_ATTEMPT => c"a newer attempt at the job is known",
    GW_OTHER_INTERVAL => c"the attempt has reserved other time",
    GW_NOT_HELD => c"the attempt holds nothing",
    GW_UNSORTED => c"the windows are not sorted and apart",
    GW_KNOWN => c"the job is known already",
    GW_UNSUITABLE => c"the machine can never run the job",
    GW_NO_JOB => c"there is no such job",
    GW_HEAD_PASSED_MORE => c"the head of the queue was passed more often",
    GW_DIMENSIONS => c"the dimensions are wrong",
    GW_SETUP => c"the setup does not fit together",
    GW_NOT_DECODED => c"the bytes are not in the wire format",
    GW_NOT_ENCODED => c"a message or record is too long",
    GW_JOB => c"the job cannot be made",
    GW_NO_TIMER => c"no such timer is set",
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) status: gw_status,
    /// More words than the status has.
    pub(crate) detail: Option<Cow<'static, str>>,
}

impl Fault {
    pub(crate) fn with(status: gw_status, detail: impl Into<Cow<'static, str>>) -> Self {
        let detail = Some(detail.into());
        Self { status, detail }
    }

    /// A value is not one of the constants of this kind.
    pub(crate) fn unknown(kind: &str, value: u32) -> Self {
        Self::with(
            gw_status::GW_ARGUMENT,
            format!("there is no {kind} {value}"),
        )
    }
}

impl From<gw_status> for Fault {
    fn from(status: gw_status) -> Self {
        let detail = None;
        Self { status, detail }
    }
}

/// Each reason of the core that has a status of its own; else the status, with the words of the reason as the detail.
macro_rules! faults {
    ($($error:ty { $($reason:pat => $status:ident,)+ })+) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                let status = match error {
                    $($reason => gw_status::$status,)+
                    #[allow(unreachable_patterns, reason = "most of these enums may grow")]
                    _ => gw_status::GW_ARGUMENT,
                };
                Self::with(status, error.to_string())
            }
        })+
    };
}

faults! {
    NoProcessors { _ => GW_ZERO_COUNT, }
    FitError {
        FitError::ZeroCount => GW_ZERO_COUNT,
        FitError::ZeroLength => GW_ZERO_LENGTH,
        FitError::MoreThanProcessors => GW_TOO_LARGE,
        FitError::BeyondTime => GW_BEYOND_TIME,
    }
    availability::ReserveError {
        availability::ReserveError::ZeroCount => GW_ZERO_COUNT,
        availability::ReserveError::MoreThanProcessors => GW_TOO_LARGE,
        availability::ReserveError::BeforeOrigin => GW_BEFORE_ORIGIN,
        availability::ReserveError::NotFree => GW_NOT_FREE,
        availability::ReserveError::Full => GW_FULL,
    }
    ReleaseError {
        ReleaseError::ZeroCount => GW_ZERO_COUNT,
        ReleaseError::BeforeOrigin => GW_BEFORE_ORIGIN,
        ReleaseError::MoreThanReserved => GW_NOT_RESERVED,
        ReleaseError::Full => GW_FULL,
    }
    ReserveError {
        ReserveError::Taken => GW_NOT_FREE,
        ReserveError::Stale => GW_OLD_ATTEMPT,
        ReserveError::OtherInterval => GW_OTHER_INTERVAL,
        ReserveError::Full => GW_FULL,
    }
    CommitError {
        CommitError::Stale => GW_OLD_ATTEMPT,
        CommitError::NotHeld => GW_NOT_HELD,
    }
    LengthenError {
        LengthenError::Taken => GW_NOT_FREE,
        LengthenError::NotCommitted => GW_NOT_HELD,
    }
    IntervalError {
        IntervalError::BeyondTime => GW_BEYOND_TIME,
        _ => GW_BAD_INTERVAL,
    }
    SnapshotError {
        SnapshotError::TooMany => GW_FULL,
        SnapshotError::Unsorted => GW_UNSORTED,
    }
    NoCommonSlot {
        NoCommonSlot::ZeroCount => GW_ZERO_COUNT,
        NoCommonSlot::ZeroLength => GW_ZERO_LENGTH,
        NoCommonSlot::TooFewSchedules { .. } => GW_TOO_LARGE,
        NoCommonSlot::BeyondHorizon => GW_BEYOND_TIME,
    }
    QueueError {
        QueueError::Known => GW_KNOWN,
        QueueError::Full => GW_FULL,
        QueueError::Unsuitable => GW_UNSUITABLE,
    }
    MigrantRefusal {
        MigrantRefusal::HeadPassedMore => GW_HEAD_PASSED_MORE,
        MigrantRefusal::NoRoom => GW_NOT_FREE,
        MigrantRefusal::Known => GW_KNOWN,
        MigrantRefusal::Full => GW_FULL,
    }
    NotRunning { _ => GW_NO_JOB, }
    DimensionError { _ => GW_DIMENSIONS, }
    ConfigError { _ => GW_SETUP, }
    Refused { _ => GW_NOT_DECODED, }
    NotEncoded { _ => GW_NOT_ENCODED, }
    JobError { _ => GW_JOB, }
}

thread_local! {
    /// What the last failed call on this thread has to say.
    static DETAIL: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
}

/// Runs the body of a function of the ABI: no panic leaves it, and the detail of a failure is kept.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Fault>) -> gw_status {
    // A panic may leave an object half changed. The lock of each object in use is poisoned then, so that later calls
    // refuse it (`table`).
    let fault = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return gw_status::GW_OK,
        Ok(Err(fault)) => fault,
        Err(_) => gw_status::GW_PANICKED.into(),
    };
    if fault.status != gw_status::GW_NONE {
        let detail = fault
            .detail
            .unwrap_or_else(|| fault.status.words().to_string_lossy());
        // A thread that ends has no details any more.
        let _ = DETAIL.try_with(|kept| kept.try_borrow_mut().map(|mut kept| *kept = detail));
    }
    fault.status
}

/// The words for a status, in English. They are the library's and last as long as it is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn gw_status_text(status: i32) -> *const c_char {
    let known = gw_status::ALL.iter().find(|known| **known as i32 == status);
    known
        .map_or(c"an unknown status", |status| status.words())
        .as_ptr()
}

/// What the last call on this thread that failed has to say: the words of its status, or more, such as the field of a
/// setup and its bound. It ends with a zero byte.
///
/// `length` gets its length without that byte, if it is not null. A `size` of 0 only asks for the length; `room` may be
/// null then.
///
/// Errors: GW_NO_ROOM, GW_NULL. They do not become the detail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_last_detail(
    room: *mut c_char,
    size: usize,
    length: *mut usize,
) -> gw_status {
    let read = || {
        let detail = DETAIL.try_with(|kept| {
            kept.try_borrow()
                .map_or(Cow::Borrowed(""), |kept| kept.clone())
        });
        let detail = detail.unwrap_or_default();
        // SAFETY: the caller says that so many bytes may be written.
        let room: Room<u8> = unsafe { Room::new(room.cast(), size) }?;
        // SAFETY: the caller says that a length that is not null may be written.
        if let Some(length) = unsafe { Out::if_wanted(length) }? {
            length.set(detail.len());
        }
        if size == 0 {
            return Ok(());
        }
        // No detail has a zero byte, but a reader in C must not depend on that.
        let bytes = detail
            .bytes()
            .map(|byte| if byte == 0 { b'?' } else { byte });
        raw::fill(room, bytes.chain([0]), detail.len().saturating_add(1))
    };
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(())) => gw_status::GW_OK,
        Ok(Err(Fault { status, .. })) => status,
        Err(_) => gw_status::GW_PANICKED,
    }
}
