// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import FoundationEssentials
internal import Synchronization

/// Settings that persist across runs, in the plugin's data directory (`Preferences/standard.json`).
///
/// A change is on the disk when the call returns, and other workers of the plugin see it at once.
/// Outside runs of a plugin that has no worker, values last as long as the process. Use it from any
/// thread.
///
///     let count = UserDefaults.standard.integer(forKey: "refreshes")
///     UserDefaults.standard.set(count + 1, forKey: "refreshes")
public final class UserDefaults: NSObject, @unchecked Sendable {
    // @unchecked: the lock protects all mutable state.
    /// The plugin's own settings.
    public static let standard = UserDefaults(name: nil)

    private let suite: String?
    private let registered = Mutex<[String: PropertyValue]>([:])

    private init(name: String?) { suite = name }

    /// Creates settings with their own file; with `nil` as the name, those of `standard`.
    ///
    /// Returns `nil` for an empty name.
    public convenience init?(suiteName: String?) {
        guard suiteName != "" else { return nil }
        self.init(name: suiteName)
    }

    private var store: DefaultsStore { .current(suite) }

    private func value(_ key: String) -> PropertyValue? {
        store.value(key) ?? registered.withLock { $0[key] }
    }

    // MARK: Reading

    /// The value, or the registered default of the key.
    public func object(forKey key: String) -> Any? { value(key)?.any }
    /// The value, or the registered default of the key.
    public func value(forKey key: String) -> Any? { object(forKey: key) }
    /// The string, or a number converted to one; `nil` if there is none.
    public func string(forKey key: String) -> String? { value(key)?.string }
    /// The array; `nil` if there is none.
    public func array(forKey key: String) -> [Any]? { object(forKey: key) as? [Any] }
    /// The array of strings; `nil` if there is none or if it contains other types.
    public func stringArray(forKey key: String) -> [String]? {
        array(forKey: key) as? [String]
    }
    /// The dictionary; `nil` if there is none.
    public func dictionary(forKey key: String) -> [String: Any]? {
        object(forKey: key) as? [String: Any]
    }
    /// The data; `nil` if there is none.
    public func data(forKey key: String) -> Data? { object(forKey: key) as? Data }
    /// The integer; 0 if there is none.
    public func integer(forKey key: String) -> Int { value(key)?.int ?? 0 }
    /// The number; 0 if there is none.
    public func float(forKey key: String) -> Float { Float(double(forKey: key)) }
    /// The number; 0 if there is none.
    public func double(forKey key: String) -> Double { value(key)?.double ?? 0 }
    /// The Boolean; `false` if there is none.
    public func bool(forKey key: String) -> Bool { value(key)?.bool ?? false }
    /// The URL, or a path converted to one; `nil` if there is none.
    public func url(forKey key: String) -> URL? {
        string(forKey: key).flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : URL(string: $0) }
    }
    /// All values, and the registered defaults of keys without a value.
    public func dictionaryRepresentation() -> [String: Any] {
        let registered = registered.withLock { $0 }
        return registered.merging(store.values) { _, own in own }.mapValues(\.any)
    }

    // MARK: Changing

    /// Sets a value; `nil` removes it.
    ///
    /// The value may be a `Bool`, a number, `String`, `Date`, `Data`, or an array or dictionary of
    /// those. Any other value is not set, and the log says so.
    public func set(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        guard let kept = PropertyValue(value) else {
            return Logger().error(
                "defaults: \(key) is not set, as \(type(of: value)) is no property list"
            )
        }
        store.change { $0[key] = kept }
    }
    /// Sets an integer.
    public func set(_ value: Int, forKey key: String) { store.change { $0[key] = .int(value) } }
    /// Sets a number.
    public func set(_ value: Float, forKey key: String) { set(Double(value), forKey: key) }
    /// Sets a number.
    public func set(_ value: Double, forKey key: String) {
        store.change { $0[key] = .double(value) }
    }
    /// Sets a Boolean.
    public func set(_ value: Bool, forKey key: String) { store.change { $0[key] = .bool(value) } }
    /// Sets a URL; `nil` removes it.
    public func set(_ url: URL?, forKey key: String) {
        set((url?.isFileURL == true ? url?.path : url?.absoluteString) as Any?, forKey: key)
    }
    /// Sets a value, as `set(_:forKey:)`.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
    /// Removes a value; the registered default of the key applies again.
    public func removeObject(forKey key: String) { store.change { $0[key] = nil } }

    /// Registers defaults for keys without a value, in this process.
    public func register(defaults: [String: Any]) {
        for (key, value) in defaults {
            guard let kept = PropertyValue(value) else {
                Logger().error(
                    "defaults: \(key) is not registered, as \(type(of: value)) is no property list"
                )
                continue
            }
            registered.withLock { $0[key] = kept }
        }
    }

    /// Whether all changes are on the disk.
    ///
    /// A call is not necessary.
    @discardableResult
    public func synchronize() -> Bool { store.isKept }

    /// All values of a suite.
    public func persistentDomain(forName domain: String) -> [String: Any]? {
        let values = DefaultsStore.current(domain).values
        return values.isEmpty ? nil : values.mapValues(\.any)
    }

    /// Removes all values of a suite.
    public func removePersistentDomain(forName domain: String) {
        DefaultsStore.current(domain).change { $0 = [:] }
    }
}
