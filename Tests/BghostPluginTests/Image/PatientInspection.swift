// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin

/// Without a budget, tests get one of more time than a busy machine needs.
extension PluginImage {
    private static var patient: ImageBudget { ImageBudget(time: 3_600_000_000_000) }

    static func inspect(path: String) throws(ImageError) -> PluginImage {
        try inspect(path: path, budget: patient)
    }

    static func inspect(descriptor: Int32, path: String) throws(ImageError) -> PluginImage {
        try inspect(descriptor: descriptor, path: path, budget: patient)
    }
}
