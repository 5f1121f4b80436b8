#!/bin/sh
# What CI runs. It needs cargo, and bghost on the PATH.
set -eu
cd "$(dirname "$0")"
cargo build --release
cargo test
bghost plugin inspect target/release/libtemplate_name.so
# Stops show in long runs, leaks in short ones. The grace leaves time on a busy machine.
bghost plugin check --strictness 10 --grace 5s --only-failed target/release/libtemplate_name.so
bghost plugin check --strictness 10 --grace 5s --only-failed --parameters '{"limit": 1000}' target/release/libtemplate_name.so
bghost plugin run target/release/libtemplate_name.so --parameters '{"limit": 1000}'
