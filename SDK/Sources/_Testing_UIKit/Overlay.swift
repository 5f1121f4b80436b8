// SPDX-License-Identifier: Apache-2.0

// swift-testing declares that a file with `Testing` and a module of the name `UIKit` imports this module in
// place of `Testing`, also on Linux, where no toolchain has it.
@_exported public import Testing
@_exported public import UIKit
