//! The example plugins in Rust that come with this build, so that a plugin can be loaded where there is no compiler.

use std::path::PathBuf;

use super::Rejected;
use crate::binary::Image;

/// Their names: built against the first edition of the ABI, and against the present one.
pub const NAMES: [&str; 2] = ["v1", "v2"];

/// The library of that name.
///
/// # Errors
/// [`Rejected`] where this build has none, or where it lies can't be told.
pub fn library(name: &str) -> Result<PathBuf, Rejected> {
    let file = PathBuf::from(format!("{name}.so"));
    if !NAMES.contains(&name) {
        return Err(Rejected::new(&file, "name", name, format!("one of {}", NAMES.join(", "))));
    }
    let path =
        directory().map_err(|reason| Rejected::new(&file, "file", reason, "a build that has it"))?.join(file);
    if path.is_file() {
        return Ok(path);
    }
    Err(Rejected::new(&path, "file", "not there", "the library that this build made; install nanokata again"))
}

/// The folder of what a learner builds: `include`, `plugins`, and others beside them.
///
/// # Errors
/// [`Rejected`] where it lies can't be told.
pub fn sources() -> Result<PathBuf, Rejected> {
    let plugins = directory()
        .map_err(|reason| Rejected::new("katas".as_ref(), "file", reason, "a build that has them"))?;
    Ok(plugins.with_file_name("katas").join("plugin-dispatch"))
}

/// Beside the extension module that this is, which is where the wheel puts them; or where the build made them.
fn directory() -> Result<PathBuf, String> {
    if !cfg!(feature = "python") {
        return Ok(PathBuf::from(concat!(env!("OUT_DIR"), "/plugins")));
    }
    let image = Image::of_this_code().map_err(|error| error.to_string())?;
    let beside = image.path().parent().ok_or("the extension module has no directory")?;
    Ok(beside.join("plugins"))
}
