//! Settings for S3 as AWS's own tools find them: the environment, then the profile in
//! `~/.aws/credentials` and `~/.aws/config`, then the service of the machine. `object_store` knows
//! the first and the last.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
use std::collections::HashMap;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The keys of a profile that count here.
const KEYS: [(&str, Key); 5] = [
    ("aws_access_key_id", Key::AccessKeyId),
    ("aws_secret_access_key", Key::SecretAccessKey),
    ("aws_session_token", Key::Token),
    ("region", Key::DefaultRegion),
    ("endpoint_url", Key::Endpoint),
];

/// S3 with the settings of this user.
///
/// # Errors
/// A file of profiles is there and cannot be read, or `AWS_PROFILE` names none in it.
pub(crate) fn s3() -> io::Result<AmazonS3Builder> {
    let mut builder = AmazonS3Builder::from_env();
    let asked = env::var("AWS_PROFILE").ok();
    if asked.is_none() && builder.get_config_value(&Key::AccessKeyId).is_some() {
        return Ok(builder);
    }
    let name = asked.as_deref().unwrap_or("default");
    let mut profile = read("AWS_CONFIG_FILE", "config")?.remove(name).unwrap_or_default();
    profile.extend(
        read("AWS_SHARED_CREDENTIALS_FILE", "credentials")?.remove(name).unwrap_or_default(),
    );
    if let Some(name) = asked.filter(|_| profile.is_empty()) {
        let message = format!("AWS_PROFILE is {name:?}, and ~/.aws has no such profile");
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    for (name, key) in KEYS {
        if let Some(value) = profile.remove(name)
            && builder.get_config_value(&key).is_none()
        {
            builder = builder.with_config(key, value);
        }
    }
    Ok(builder)
}

type Profiles = HashMap<String, HashMap<String, String>>;

/// Reads the file that `variable` names, or `~/.aws/FILE`. One that is absent has no profiles.
fn read(variable: &str, file: &str) -> io::Result<Profiles> {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".aws").join(file));
    let Some(path) = env::var_os(variable).map(PathBuf::from).or_else(home) else {
        return Ok(Profiles::new());
    };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(parse(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Profiles::new()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("{}: cannot be read: {error}", path.display()),
        )),
    }
}

/// Sections `[name]` or `[profile name]` of lines `key = value`. What is indented belongs to a key
/// that does not count here.
fn parse(text: &str) -> Profiles {
    let (mut profiles, mut section) = (Profiles::new(), String::new());
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', ';'])) {
        if let Some(name) = line.trim_end().strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.trim().strip_prefix("profile ").unwrap_or(name).trim().clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.trim().to_ascii_lowercase();
            profiles.entry(section.clone()).or_default().insert(key, value.trim().to_owned());
        }
    }
    profiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_the_aws_tools_read_them() {
        let text = "[default]\naws_access_key_id=one\n# aws_access_key_id = two\n\n[profile ci]\n\
                    Region = eu-west-1\ns3 =\n  endpoint_url = nested\n";
        let profiles = parse(text);
        assert_eq!(profiles["default"]["aws_access_key_id"], "one");
        assert_eq!(profiles["ci"]["region"], "eu-west-1");
        assert!(!profiles["ci"].contains_key("endpoint_url"));
    }
}
