// SPDX-License-Identifier: Apache-2.0

extension RefreshStatus {
    /// The `BG_REFRESH_*`.
    package var code: UInt32 {
        switch self {
        case .available: 1
        case .denied: 2
        case .restricted: 3
        }
    }

    /// The `BG_RESTRICTED_*`.
    package var reasons: UInt32 {
        guard case .restricted(let reasons) = self else { return 0 }
        return reasons.reduce(0) { $0 | $1.bit }
    }
}

extension RefreshStatus.Restriction {
    fileprivate var bit: UInt32 {
        switch self {
        case .onBattery: 1
        case .drain: 2
        case .maintenance: 4
        case .budget: 8
        case .pressure: 16
        }
    }
}
