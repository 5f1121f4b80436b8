// SPDX-License-Identifier: Apache-2.0

// As Apple's module brings UIKit, and with it Foundation.
@_exported public import UIKit
