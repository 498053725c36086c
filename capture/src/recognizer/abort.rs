//! Stops whisper.cpp in the middle of its work when a flag is raised.
//!
//! The safe way that whisper-rs 0.16 offers, `set_abort_callback_safe`, is broken: it stores a boxed
//! closure and calls it back as if it were another type. So the pair of a plain function and a pointer
//! to the flag is set here, in the one file of this crate with `unsafe` in it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use whisper_rs::{FullParams, WhisperError, WhisperState};

/// Runs whisper on `samples` until it is done or `interrupted` is raised, which it notices within about
/// one pass of the encoder.
pub(super) fn full_unless(
    interrupted: &AtomicBool,
    state: &mut WhisperState,
    mut parameters: FullParams<'_, '_>,
    samples: &[f32],
) -> Result<(), WhisperError> {
    // SAFETY: `is_raised` reads the pointer as the `AtomicBool` it was made from, and only reads. The
    // pointer is valid whenever that happens: whisper.cpp calls back during `full` alone, on threads it
    // joins before it returns, and does not keep the pair (`whisper_full_with_state` hands it down as
    // arguments). `parameters`, which holds the pointer, is consumed by that call, and `interrupted` is
    // borrowed until after it. Sharing it between threads is what an `AtomicBool` is for.
    unsafe {
        parameters.set_abort_callback(Some(is_raised));
        parameters.set_abort_callback_user_data(std::ptr::from_ref(interrupted).cast_mut().cast::<c_void>());
    }
    state.full(parameters, samples)
}

/// Called by whisper.cpp between pieces of work; true ends it.
unsafe extern "C" fn is_raised(flag: *mut c_void) -> bool {
    // SAFETY: `flag` is what `full_unless` passed: a pointer to an `AtomicBool` that lives through the call.
    let flag = unsafe { &*flag.cast::<AtomicBool>().cast_const() };
    flag.load(Ordering::Relaxed)
}
