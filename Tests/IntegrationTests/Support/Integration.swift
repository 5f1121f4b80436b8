// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Everything that runs a real host with real workers in this process.
///
/// One after the other: the tests look at the children of this process, and hold the host to times.
@Suite(.serialized, .ownThreads) enum Integration {}

/// Everything that runs a real host with real workers in a process of its own.
///
/// These do not see each other's processes, so `Scripts/test` runs two of them at once.
@Suite(.ownThreads) enum SeparateHosts {}
