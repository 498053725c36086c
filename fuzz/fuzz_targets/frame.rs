//! libFuzzer's way to `ambient_engine::fuzzing::frame`, which says what holds for every input.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ambient_engine::fuzzing::frame(data));
