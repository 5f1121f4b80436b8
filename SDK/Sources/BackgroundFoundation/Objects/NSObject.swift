// SPDX-License-Identifier: Apache-2.0

/// The protocol that Apple's delegates conform to.
public protocol NSObjectProtocol: AnyObject {}

/// The base class of source for Apple's platforms, for use without Foundation.
///
/// It has only an identity, and no features of the Objective-C runtime.
open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible {
    /// Creates an object.
    public init() {}

    /// The object's class and address.
    open var description: String {
        "<\(type(of: self)): \(UInt(bitPattern: ObjectIdentifier(self)))>"
    }

    /// Whether both are the same object.
    public static func == (one: NSObject, other: NSObject) -> Bool { one === other }

    /// Hashes the object's identity.
    open func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
