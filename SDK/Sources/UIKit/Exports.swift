// SPDX-License-Identifier: Apache-2.0

// As Apple's module brings Foundation.
@_exported public import BackgroundFoundation
