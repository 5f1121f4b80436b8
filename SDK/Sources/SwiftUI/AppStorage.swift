// SPDX-License-Identifier: Apache-2.0

public import BackgroundFoundation
public import FoundationEssentials

/// A property that is stored in `UserDefaults`.
@propertyWrapper
public struct AppStorage<Value> {
    private let read: () -> Value
    private let write: (Value) -> Void

    private init(
        _ read: @escaping () -> Value?,
        _ otherwise: Value,
        _ write: @escaping (Value) -> Void
    ) {
        self.read = { read() ?? otherwise }
        self.write = write
    }

    private init(plain key: String, _ otherwise: Value, _ store: UserDefaults?) {
        let store = store ?? .standard
        self.init({ store.object(forKey: key) as? Value }, otherwise) {
            store.set($0 as Any?, forKey: key)
        }
    }

    /// For a number, of which another type may be stored: as on iOS, it is converted if that is exact.
    private init(
        number key: String,
        _ otherwise: Value,
        _ store: UserDefaults?,
        _ convert: @escaping (Double) -> Value?
    ) {
        let store = store ?? .standard
        let read: () -> Value? = {
            switch store.object(forKey: key) {
            case let value as Value: value
            case let value as Bool: convert(value ? 1 : 0)
            case let value as Int: Double(exactly: value).flatMap(convert)
            case let value as Double: convert(value)
            default: nil
            }
        }
        self.init(read, otherwise) { store.set($0 as Any?, forKey: key) }
    }

    /// The stored value; the property's initial value if none is stored.
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
}

extension AppStorage where Value == Bool {
    /// Stores a `Bool`; the property's initial value applies until a value is set.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
        self.init(number: key, wrappedValue, store) { $0 == 0 ? false : $0 == 1 ? true : nil }
    }
}

extension AppStorage where Value == Int {
    /// Stores an `Int`; the property's initial value applies until a value is set.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
        self.init(number: key, wrappedValue, store, Int.init(exactly:))
    }
}

extension AppStorage where Value == Double {
    /// Stores a `Double`; the property's initial value applies until a value is set.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
        self.init(number: key, wrappedValue, store) { $0 }
    }
}

extension AppStorage where Value == String {
    /// Stores a `String`; the property's initial value applies until a value is set.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
        self.init(plain: key, wrappedValue, store)
    }
}

extension AppStorage where Value == Data {
    /// Stores `Data`; the property's initial value applies until a value is set.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
        self.init(plain: key, wrappedValue, store)
    }
}

extension AppStorage where Value == Date {
    /// Stores a `Date`; the property's initial value applies until a value is set.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
        self.init(plain: key, wrappedValue, store)
    }
}
