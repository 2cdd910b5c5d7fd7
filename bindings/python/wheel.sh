# Sourced by bindings/python/test and bench/run, from the checkout's root: builds the wheel as users do.

# Builds it with the maturin of the environment $1. Sets $wheel.
build_wheel() {
    rm -rf target/python/wheels
    CARGO_TARGET_DIR=$PWD/target "$1/bin/maturin" build --release --locked --quiet \
        --interpreter "$1/bin/python" --out target/python/wheels
    wheel=$(ls target/python/wheels/seekless-*-cp310-abi3-manylinux*.whl)
}

# Installs it into the environment $1, in place of an older one.
install_wheel() {
    "$1/bin/pip" install -q --no-index --no-deps --force-reinstall "$wheel"
}
