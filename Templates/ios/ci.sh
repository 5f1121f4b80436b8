#!/bin/sh
# What CI runs. It needs Swift 6.3, and bghost on the PATH.
set -eu
cd "$(dirname "$0")"
BGHOST_SDK=$(bghost sdk)
export BGHOST_SDK
swift build -c release --static-swift-stdlib
swift test
bghost plugin inspect .build/release/libTemplateNameIOS.so
# Stops show in long runs, leaks in short ones. The grace leaves time on a busy machine.
bghost plugin check --strictness 10 --grace 5s --only-failed .build/release/libTemplateNameIOS.so
bghost plugin check --strictness 10 --grace 5s --only-failed --parameters '{"limit": 1000}' .build/release/libTemplateNameIOS.so
bghost plugin run . org.example.template-name.primes --parameters '{"limit": 1000}'
