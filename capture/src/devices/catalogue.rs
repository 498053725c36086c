//! Which devices there are, as the sound system lists them at this moment.

use cpal::traits::{DeviceTrait, HostTrait};

use super::{Choice, Device, DeviceError, DeviceKind};

/// How PulseAudio names the source that hears what a sink plays.
const MONITOR: &str = ".monitor";

/// Where Linux has its sound devices; without it there is nobody for ALSA to ask, and it complains at length.
#[cfg(target_os = "linux")]
const ALSA_DEVICES: &str = "/dev/snd";

/// Every device that can be recorded from, inputs first, the defaults before the others.
///
/// # Errors
/// No sound system answers.
pub fn list() -> Result<Vec<Device>, DeviceError> {
    let found = Catalogue::connect()?.look()?;
    let mut devices: Vec<Device> = found.into_iter().map(|found| found.device).collect();
    devices
        .sort_by_key(|device| (device.kind == DeviceKind::Loopback, !device.is_default, device.id.clone()));
    Ok(devices)
}

/// A connection to the sound system.
pub(super) struct Catalogue {
    host: cpal::Host,
    name: &'static str,
}

/// A device, and the handle by which it is opened.
pub(super) struct Found {
    pub(super) device: Device,
    pub(super) handle: cpal::Device,
    pub(super) config: cpal::SupportedStreamConfig,
}

impl Catalogue {
    /// Connects to the sound system: a server where there is one, else the devices themselves.
    pub(super) fn connect() -> Result<Self, DeviceError> {
        let no_host = |reason: String| DeviceError::NoHost { reason };
        let server = cpal::available_hosts().into_iter().find(|host| is_server(host.name()));
        let mut reason = "no server".to_owned();
        if let Some(id) = server {
            match cpal::host_from_id(id) {
                Ok(host) => return Ok(Self { host, name: id.name() }),
                Err(error) => reason = error.to_string(),
            }
        }
        #[cfg(target_os = "linux")]
        if !std::path::Path::new(ALSA_DEVICES).exists() {
            return Err(no_host(format!("{reason}, and no {ALSA_DEVICES}")));
        }
        let id = cpal::available_hosts().into_iter().find(|host| !is_server(host.name()));
        let id = id.ok_or_else(|| no_host(reason))?;
        let host = cpal::host_from_id(id).map_err(|error| no_host(error.to_string()))?;
        Ok(Self { host, name: id.name() })
    }

    /// Whether samples go through a server, which needs room for a fifth of a second to lose none.
    pub(super) fn is_server(&self) -> bool {
        is_server(self.name)
    }

    /// Id of the source that the system gives to those who ask for none.
    pub(super) fn default_input(&self) -> Option<String> {
        self.host.default_input_device().as_ref().and_then(id_of)
    }

    /// Every device that can be recorded from, as it is now.
    pub(super) fn look(&self) -> Result<Vec<Found>, DeviceError> {
        let handles =
            self.host.devices().map_err(|error| DeviceError::NoHost { reason: error.to_string() })?;
        let input = self.default_input();
        let output = self.host.default_output_device().as_ref().and_then(id_of);
        let monitor = output.as_ref().map(|id| format!("{id}{MONITOR}"));
        let mut found = Vec::new();
        for handle in handles {
            let Ok(id) = handle.id().map(|id| id.id().to_owned()) else { continue };
            let Some((kind, config)) = self.kind(&id, &handle) else { continue };
            let default = match kind {
                DeviceKind::Input => &input,
                DeviceKind::Loopback if self.is_server() => &monitor,
                DeviceKind::Loopback => &output,
            };
            let device = Device {
                is_default: default.as_ref() == Some(&id),
                name: handle
                    .description()
                    .map_or_else(|_| id.clone(), |description| description.name().to_owned()),
                id,
                host: self.name.to_owned(),
                kind,
                rate_hz: config.sample_rate(),
                channels: config.channels(),
            };
            found.push(Found { device, handle, config });
        }
        Ok(found)
    }

    /// The device that `choice` means. One that is named by its whole id may be of either kind: some hear
    /// a room through a loopback.
    pub(super) fn find(&self, kind: DeviceKind, choice: &Choice) -> Result<Found, DeviceError> {
        let mut found = self.look()?;
        let count = found.len();
        let wanted = match choice {
            Choice::Default => {
                let is_default = |found: &Found| found.device.kind == kind && found.device.is_default;
                let default = found.into_iter().find(is_default);
                return default.ok_or(DeviceError::NoDefault { kind, count });
            }
            Choice::Named(wanted) => wanted,
        };
        if let Some(exact) = found.iter().position(|found| found.device.id == *wanted) {
            return Ok(found.swap_remove(exact));
        }
        let ids = |found: &[Found]| found.iter().map(|found| found.device.id.clone()).collect::<Vec<_>>();
        found.retain(|found| found.device.kind == kind);
        let there = ids(&found);
        let letters = wanted.to_lowercase();
        let fits = |text: &str| text.to_lowercase().contains(&letters);
        found.retain(|found| fits(&found.device.id) || fits(&found.device.name));
        if found.len() > 1 {
            return Err(DeviceError::Ambiguous { wanted: wanted.clone(), there: ids(&found) });
        }
        found.pop().ok_or_else(|| DeviceError::NotFound { kind, wanted: wanted.clone(), there })
    }

    /// What a device hears, and its own format; none when it cannot be recorded from.
    fn kind(&self, id: &str, handle: &cpal::Device) -> Option<(DeviceKind, cpal::SupportedStreamConfig)> {
        if let Ok(config) = handle.default_input_config() {
            let is_monitor = self.is_server() && id.ends_with(MONITOR);
            return Some((if is_monitor { DeviceKind::Loopback } else { DeviceKind::Input }, config));
        }
        if cfg!(any(target_os = "windows", target_os = "macos")) {
            return Some((DeviceKind::Loopback, handle.default_output_config().ok()?));
        }
        None
    }
}

fn id_of(handle: &cpal::Device) -> Option<String> {
    handle.id().ok().map(|id| id.id().to_owned())
}

fn is_server(host: &str) -> bool {
    host.eq_ignore_ascii_case("pulseaudio")
}
