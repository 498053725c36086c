//! A device's samples, of whatever form, as one channel of numbers between -1 and 1.

use cpal::{Data, FromSample, SampleFormat, SizedSample};

use crate::audio::mix_to_mono;

/// Whether samples of this form can be read.
pub(super) fn is_readable(format: SampleFormat) -> bool {
    use SampleFormat::{F32, F64, I8, I16, I24, I32, U8, U16};
    matches!(format, I8 | I16 | I24 | I32 | U8 | U16 | F32 | F64)
}

/// Mixes `data` of `channels` channels to one. What cannot be read gives nothing.
pub(super) fn to_mono(data: &Data, channels: usize, interleaved: &mut Vec<f32>) -> Vec<f32> {
    interleaved.clear();
    match data.sample_format() {
        SampleFormat::I8 => read::<i8>(data, interleaved),
        SampleFormat::I16 => read::<i16>(data, interleaved),
        SampleFormat::I24 => read::<cpal::I24>(data, interleaved),
        SampleFormat::I32 => read::<i32>(data, interleaved),
        SampleFormat::U8 => read::<u8>(data, interleaved),
        SampleFormat::U16 => read::<u16>(data, interleaved),
        SampleFormat::F32 => read::<f32>(data, interleaved),
        SampleFormat::F64 => read::<f64>(data, interleaved),
        _ => {}
    }
    let mut mono = Vec::with_capacity(interleaved.len() / channels.max(1));
    mix_to_mono(interleaved, channels, &mut mono);
    mono
}

fn read<T: SizedSample>(data: &Data, into: &mut Vec<f32>)
where
    f32: FromSample<T>,
{
    let samples = data.as_slice::<T>().unwrap_or_default();
    into.extend(samples.iter().map(|sample| f32::from_sample_(*sample)));
}
