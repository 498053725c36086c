//! The live assistant over a recorder and a voice that follow a script.

mod hearing;
mod leaving;
mod meeting;
mod speaking;
mod watching;
