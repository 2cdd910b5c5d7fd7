//! Loads all files of a pack, first those that are named, then all at once:
//! `cargo run --example load -- data.zip [NAME...]`

use seekless_io::Store;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: load ARCHIVE [NAME...]")?;
    let store = Store::builder().cache(64 << 20).policy("landlord").open(path)?;
    for name in arguments {
        println!("{name}: {} bytes", store.load(&name)?.len());
    }
    let names: Vec<String> =
        (0..store.len() as u32).map(|id| store.index().name(id).to_owned()).collect();
    for (position, result) in store.load_many(&names) {
        if let Err(error) = result {
            println!("{}: {error}", names[position]);
        }
    }
    println!("{} with {}: {:?}", store.path().display(), store.engine_name(), store.counters());
    Ok(())
}
