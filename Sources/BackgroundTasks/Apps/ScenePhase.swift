// SPDX-License-Identifier: Apache-2.0

/// What a scene does; a plugin without a screen is in the background.
public enum ScenePhase: Hashable, Comparable, Sendable {
    case background, inactive, active
}

/// What a view or an app can ask its surroundings.
public struct EnvironmentValues: Sendable {
    /// What the app's scenes do.
    public var scenePhase: ScenePhase { .background }
}

/// A value of the surroundings.
@propertyWrapper
public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>

    /// Names the value.
    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }

    /// The value.
    public var wrappedValue: Value { EnvironmentValues()[keyPath: path] }
}

extension Scene {
    /// Has a closure called as the app goes to the background, which is what follows its launch: in a
    /// run of the handler `launch`, which a task of `tasks.json` may have at each start.
    public func onChange(
        of phase: ScenePhase,
        perform action: @escaping @Sendable (ScenePhase) -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .phase(action))
    }
}
