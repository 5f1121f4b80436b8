// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Everything that runs a real host with real workers.
///
/// One after the other: the tests look at the children of this process, and hold the host to times.
@Suite(.serialized, .ownThreads) enum Integration {}
