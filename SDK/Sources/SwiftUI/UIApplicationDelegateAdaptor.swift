// SPDX-License-Identifier: Apache-2.0

public import UIKit

/// The app delegate of a SwiftUI app.
///
/// The delegate's launch method is called after the app is created, and may register launch
/// handlers.
@propertyWrapper
public struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate> {
    /// The delegate.
    public let wrappedValue: Delegate

    /// Creates the delegate.
    public init(_ delegateType: Delegate.Type = Delegate.self) {
        wrappedValue = Delegate()
        AppDelegates.adopt(wrappedValue)
    }
}
