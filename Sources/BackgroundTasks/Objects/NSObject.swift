// SPDX-License-Identifier: Apache-2.0

/// What Apple's delegates are.
public protocol NSObjectProtocol: AnyObject {}

/// The class that classes of Apple's source descend from, where there is no Foundation to have it.
///
/// It is an empty class with an identity: nothing of the Objective-C runtime.
open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible {
    /// Makes an object.
    public init() {}

    /// The object's class and identity.
    open var description: String {
        "<\(type(of: self)): \(UInt(bitPattern: ObjectIdentifier(self)))>"
    }

    /// Whether both are one object.
    public static func == (one: NSObject, other: NSObject) -> Bool { one === other }

    /// Takes the object's identity.
    open func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
