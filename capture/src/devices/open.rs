//! A device as a source of sound, with a thread that keeps it one.
//!
//! Sound systems are silent about what goes wrong: a microphone that is pulled out moves its stream to
//! another one, a server that dies may say so ten thousand times a second. So the thread looks once a
//! second which devices there are and which is the default, gives up a stream at its first complaint, and
//! opens what is wanted again as soon as it is there. Nothing is heard before the recording starts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use ambient_engine::DeviceChange;
use cpal::traits::{DeviceTrait, StreamTrait};

use super::catalogue::{Catalogue, Found};
use super::{Choice, Device, DeviceError, DeviceKind, samples};
use crate::live::{Block, Delivery, MachineClock, SessionClock as _, Source};

/// Between two looks at the devices.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long opening a stream may take.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// The moment a recording starts, for all its devices. What sounds before is not listened to.
#[derive(Clone, Debug, Default)]
pub struct Start(Arc<OnceLock<MachineClock>>);

impl Start {
    /// The recording starts now; gives its clock.
    pub fn now(&self) -> MachineClock {
        *self.0.get_or_init(MachineClock::start)
    }
}

/// The sound of a device.
pub struct DeviceSource {
    device: Device,
    is_expected: bool,
    deliveries: Receiver<Delivery>,
    signs: Sender<Sign>,
}

enum Sign {
    /// The stream complained.
    Fault,
    /// Nobody listens any more.
    End,
}

impl DeviceSource {
    /// Opens the device of `kind` that `choice` means. It delivers from `start` on. `is_expected`: its
    /// silence is a fault.
    ///
    /// # Errors
    /// There is none, or it cannot be opened.
    pub fn open(
        kind: DeviceKind,
        choice: Choice,
        is_expected: bool,
        start: Start,
    ) -> Result<Self, DeviceError> {
        let (deliver, deliveries) = mpsc::channel();
        let (signs, incoming) = mpsc::channel();
        let (opened, outcome) = mpsc::channel();
        let keeper = Keeper { kind, choice, start, deliver, signs: signs.clone() };
        let unusable = |reason: String| DeviceError::Unusable { name: kind.describe().to_owned(), reason };
        thread::Builder::new()
            .name("device".to_owned())
            .spawn(move || keeper.keep(&opened, &incoming))
            .map_err(|error| unusable(error.to_string()))?;
        let outcome = outcome.recv().map_err(|_| unusable("its thread ended".to_owned()))?;
        Ok(Self { device: outcome?, is_expected, deliveries, signs })
    }

    /// The device it was opened with.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Source for DeviceSource {
    fn name(&self) -> &str {
        &self.device.name
    }

    fn rate_hz(&self) -> u32 {
        self.device.rate_hz
    }

    fn channels(&self) -> u16 {
        self.device.channels
    }

    fn is_expected(&self) -> bool {
        self.is_expected
    }

    fn deliver(&mut self, take: &mut dyn FnMut(Delivery)) {
        for delivery in self.deliveries.try_iter() {
            take(delivery);
        }
    }
}

impl Drop for DeviceSource {
    fn drop(&mut self) {
        // The thread is gone already when nobody takes this.
        let _ = self.signs.send(Sign::End);
    }
}

/// Keeps a device open.
struct Keeper {
    kind: DeviceKind,
    choice: Choice,
    start: Start,
    deliver: Sender<Delivery>,
    signs: Sender<Sign>,
}

/// An open stream, and the connection it belongs to.
struct Open {
    device: Device,
    catalogue: Catalogue,
    /// The system's default source at the last look.
    default_input: Option<String>,
    stream: cpal::Stream,
}

impl Open {
    /// Whether the server took the stream elsewhere since the last look. When its default source changes,
    /// PulseAudio moves the streams on the one before to the new one without a word, those too that asked
    /// for that very source.
    fn was_moved(&mut self) -> bool {
        let now = self.catalogue.default_input();
        let before = std::mem::replace(&mut self.default_input, now);
        self.catalogue.is_server() && before != self.default_input && before.as_ref() == Some(&self.device.id)
    }
}

impl Keeper {
    fn keep(self, opened: &Sender<Result<Device, DeviceError>>, signs: &Receiver<Sign>) {
        let mut open = match Catalogue::connect().and_then(|catalogue| self.open(catalogue)) {
            Ok(open) => {
                let _ = opened.send(Ok(open.device.clone()));
                Some(open)
            }
            Err(error) => {
                let _ = opened.send(Err(error));
                return;
            }
        };
        let mut last = open.as_ref().map(|open| open.device.clone());
        loop {
            let is_faulty = match signs.recv_timeout(LOOK_EVERY) {
                Ok(Sign::Fault) => true,
                Ok(Sign::End) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => false,
            };
            open = match open {
                Some(open) if is_faulty => {
                    drop(open);
                    self.lost()
                }
                Some(open) => self.look_after(open),
                None => self.try_again(last.as_ref()),
            };
            if let Some(open) = &open {
                last = Some(open.device.clone());
            }
        }
    }

    /// Whether the stream is still what is wanted; else another takes its place.
    fn look_after(&self, mut open: Open) -> Option<Open> {
        let Ok(wanted) = open.catalogue.find(self.kind, &self.wanted(&open.device)) else {
            drop(open);
            return self.lost();
        };
        let was_moved = open.was_moved();
        if is_same(&wanted.device, &open.device) && !was_moved {
            return Some(open);
        }
        let Open { catalogue, device: before, stream, .. } = open;
        drop(stream);
        let Ok(open) = self.open_found(catalogue, wanted) else { return self.lost() };
        if was_moved || before.id != open.device.id {
            self.tell(DeviceChange::Source { name: open.device.name.clone() });
        }
        Some(open)
    }

    fn lost(&self) -> Option<Open> {
        self.tell(DeviceChange::Lost);
        None
    }

    /// A device that was named stays that one, also when others come whose names fit too.
    fn wanted(&self, device: &Device) -> Choice {
        match &self.choice {
            Choice::Default => Choice::Default,
            Choice::Named(_) => Choice::Named(device.id.clone()),
        }
    }

    fn try_again(&self, last: Option<&Device>) -> Option<Open> {
        let choice = last.map_or_else(|| self.choice.clone(), |device| self.wanted(device));
        let catalogue = Catalogue::connect().ok()?;
        let found = catalogue.find(self.kind, &choice).ok()?;
        let open = self.open_found(catalogue, found).ok()?;
        self.tell(DeviceChange::Back);
        if last.is_some_and(|before| before.id != open.device.id) {
            self.tell(DeviceChange::Source { name: open.device.name.clone() });
        }
        Some(open)
    }

    fn open(&self, catalogue: Catalogue) -> Result<Open, DeviceError> {
        let found = catalogue.find(self.kind, &self.choice)?;
        self.open_found(catalogue, found)
    }

    fn open_found(&self, catalogue: Catalogue, found: Found) -> Result<Open, DeviceError> {
        let Found { device, handle, config } = found;
        let unusable = |reason: String| DeviceError::Unusable { name: device.name.clone(), reason };
        if !samples::is_readable(config.sample_format()) {
            return Err(unusable(format!("its samples are {}, which is not read", config.sample_format())));
        }
        let mut wanted = config.config();
        if catalogue.is_server() {
            // With smaller buffers PulseAudio throws samples away without a word.
            wanted.buffer_size = cpal::BufferSize::Fixed(device.rate_hz / 5);
        }
        let default_input = catalogue.default_input();
        let start = self.start.clone();
        let deliver = self.deliver.clone();
        let (channels, rate_hz) = (usize::from(device.channels), device.rate_hz);
        let mut interleaved = Vec::new();
        let on_data = move |data: &cpal::Data, _: &cpal::InputCallbackInfo| {
            let Some(clock) = start.0.get() else { return };
            let now_us = clock.now_us();
            let samples = samples::to_mono(data, channels, &mut interleaved);
            let len_us = samples.len() as u64 * 1_000_000 / u64::from(rate_hz.max(1));
            let block = Block { at_us: now_us.saturating_sub(len_us), rate_hz, samples };
            // Nobody takes it once the recording is over.
            let _ = deliver.send(Delivery::Block(block));
        };
        let (signs, is_told) = (self.signs.clone(), AtomicBool::new(false));
        let on_error = move |error: cpal::Error| {
            let is_harmless = matches!(error.kind(), cpal::ErrorKind::Xrun | cpal::ErrorKind::RealtimeDenied);
            if !is_harmless && !is_told.swap(true, Ordering::Relaxed) {
                let _ = signs.send(Sign::Fault);
            }
        };
        let stream = handle
            .build_input_stream_raw(wanted, config.sample_format(), on_data, on_error, Some(OPEN_TIMEOUT))
            .and_then(|stream| stream.play().map(|()| stream))
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Open { device, catalogue, default_input, stream })
    }

    fn tell(&self, change: DeviceChange) {
        let _ = self.deliver.send(Delivery::Change(change));
    }
}

/// Whether a stream of `open` is as good as one of `wanted`.
fn is_same(wanted: &Device, open: &Device) -> bool {
    (&wanted.id, wanted.rate_hz, wanted.channels) == (&open.id, open.rate_hz, open.channels)
}
