//! `ambient devices`: what can be recorded from.

use ambient_capture::devices::{self, Device, DeviceKind};

use crate::arguments::Reading;
use crate::exit::Exit;
use crate::output::{self, Colour, Page};

pub(crate) fn run(reading: &Reading) -> anyhow::Result<Exit> {
    let devices = devices::list()?;
    if reading.json {
        output::json(&devices)?;
        return Ok(Exit::Done);
    }
    if devices.is_empty() {
        output::note("there is a sound system, and no device that can be recorded from");
    }
    table(&devices, Page::for_stdout()).print()?;
    Ok(Exit::Done)
}

/// A device a line: mark of the default, option it is for, id, format, name.
fn table(devices: &[Device], mut page: Page) -> Page {
    let columns = devices.iter().map(|device| device.id.chars().count()).max().unwrap_or(0) + 2;
    for device in devices {
        let (mark, option) = (if device.is_default { "*" } else { "" }, option(device.kind));
        page.painted(Colour::Green, mark).fill(mark, 2).plain(option).fill(option, 10);
        page.painted(Colour::Bold, &device.id).fill(&device.id, columns);
        let channels =
            if device.channels == 1 { "mono".to_owned() } else { format!("{} channels", device.channels) };
        let format = format!("{} Hz {channels}", device.rate_hz);
        page.plain(&format).fill(&format, 22).plain(&device.name).plain(" (").plain(&device.host).plain(")");
        page.end_line();
    }
    page
}

const fn option(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Input => "--mic",
        DeviceKind::Loopback => "--system",
    }
}
