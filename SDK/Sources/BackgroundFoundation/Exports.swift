// SPDX-License-Identifier: Apache-2.0

// As Foundation on Linux does.
@_exported public import FoundationEssentials
