// SPDX-License-Identifier: Apache-2.0

/// An app of Apple's source: its scenes say what carries out which runs.
///
/// In place of `@main`, hand it to a plugin:
///
///     let plugin = Plugin(id: "org.example.stormy", version: "1.0.0", app: StormyApp.self)
///
///     @c(bghost_plugin_v1)
///     public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
public protocol App {
    /// What the body is made of.
    associatedtype Body: Scene

    /// Makes the app; launch handlers may be registered here.
    init()

    /// The scenes, of which there are only their modifiers here.
    @SceneBuilder var body: Body { get }
}

/// A part of an app, which carries its modifiers.
public protocol Scene {
    /// What modifiers have added, the first one first.
    var parts: SceneParts { get }
}

/// What the modifiers of a scene have added.
public struct SceneParts {
    enum Part: Sendable {
        case task(SceneTask)
        case phase(@Sendable (ScenePhase) -> Void)
    }

    var parts: [Part] = []
}

/// A scene whose views are never shown: there is no screen.
public struct WindowGroup<Content>: Scene {
    /// Makes a scene; what is in it is made by nobody.
    public init(@ViewBuilder content: () -> Content) {}

    /// No modifiers.
    public var parts: SceneParts { SceneParts() }
}

/// Takes what stands in a scene.
@resultBuilder
public enum ViewBuilder {
    /// Takes one view, of any type.
    public static func buildBlock<Content>(_ content: Content) -> Content { content }
    /// Takes none.
    public static func buildBlock() {}
}

/// Lists the scenes of an app, one below the other.
@resultBuilder
public enum SceneBuilder {
    /// Takes one scene.
    public static func buildPartialBlock<First: Scene>(first: First) -> First { first }
    /// Adds a scene.
    public static func buildPartialBlock(
        accumulated: some Scene,
        next: some Scene
    ) -> some Scene {
        JoinedScene(parts: SceneParts(parts: accumulated.parts.parts + next.parts.parts))
    }
}

struct JoinedScene: Scene {
    let parts: SceneParts
}

struct ModifiedScene<Base: Scene>: Scene {
    let scene: Base
    let part: SceneParts.Part

    var parts: SceneParts { SceneParts(parts: scene.parts.parts + [part]) }
}
