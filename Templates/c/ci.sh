#!/bin/sh
# What CI runs. It needs a C compiler and make, and bghost on the PATH.
set -eu
cd "$(dirname "$0")"
BGHOST_SDK=$(bghost sdk)
export BGHOST_SDK
make
make test
bghost plugin inspect libtemplate-name.so
# Stops show in long runs, leaks in short ones. The grace leaves time on a busy machine.
bghost plugin check --strictness 10 --grace 5s --only-failed libtemplate-name.so
bghost plugin check --strictness 10 --grace 5s --only-failed --parameters '{"limit": 1000}' libtemplate-name.so
bghost plugin run libtemplate-name.so --parameters '{"limit": 1000}'
