// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Caller {
    /// Whether its user may connect only as a member of the control group, as neither root nor the daemon's
    /// user.
    ///
    /// Members share a part of what is limited, so that the operator always has the other part.
    var isMember: Bool { peer.uid != 0 && peer.uid != geteuid() }
}
