//! Files and an order to a Zip, a Zip to an index.
