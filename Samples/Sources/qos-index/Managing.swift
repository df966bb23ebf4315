internal import ArgumentParser
internal import Foundation
internal import Indexing
internal import QoSCore
internal import SampleCommand
internal import TreeScan

extension CommandProcess {
    /// A command on the index.
    static func index(at qosClass: QoSClass) -> CommandProcess {
        CommandProcess(at: qosClass, stopped: "Stopped. Run the same command again: what is indexed stays.") { _ in
            .failure
        }
    }
}

extension IndexCommand {
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Indexes folders, in the background. For a known folder it brings the index up to date.")

        @OptionGroup var options: LibraryOptions

        @Argument(help: "The folders.", completion: .directory)
        var folders: [String]

        @Flag(inversion: .prefixedNo, help: "Leave out what .ignore and .gitignore name. (default: on)")
        var ignore: Bool?

        @Flag(help: "Make new indexes that also find parts of words. They are several times as large.")
        var substrings = false

        @Option(
            help: "Make new indexes that find the forms of words together: english or german; may be repeated.",
            transform: { text in
                guard let language = StemLanguage(rawValue: text) else {
                    throw ValidationError("'\(text)' is not one of english and german.")
                }
                return language
            })
        var stem: [StemLanguage] = []

        func run() throws {
            let (library, ignore, substrings, stem) = (try options.library(), ignore, substrings, stem)
            let known = Dictionary(uniqueKeysWithValues: options.entries(library).map { ($0.folder, $0) })
            let entries = folders.map { name in
                let folder = LibraryOptions.canonical(name)
                var entry = known[folder] ?? IndexLibrary.Entry(folder: folder)
                if let ignore { entry.usesIgnoreFiles = ignore }
                if substrings { entry.substrings = true }
                if !stem.isEmpty { entry.stemming = stem.sorted { $0.rawValue < $1.rawValue } }
                return entry
            }
            for entry in entries {
                let all = Set(known.keys).union(entries.map(\.folder)).subtracting([entry.folder])
                for other in all.sorted() where RootFolder.contains(other, entry.folder) {
                    complain(
                        "\(entry.folder) lies in \(other), which is indexed, too. Searches show its files once, by its own "
                            + "index. 'qos-index remove' forgets one of them.")
                }
            }
            CommandProcess.index(at: .background).run {
                var isWhole = true
                for entry in entries {
                    let index = try library.open(entry)
                    defer { try? index.close() }
                    let pass = try await Filling.run(index)
                    if !Filling.report(index, pass.report) { isWhole = false }
                }
                if !isWhole { throw CommandStatus.incomplete }
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forgets folders. The folders themselves stay as they are.")

        @OptionGroup var options: LibraryOptions

        @Argument(help: "The folders.", completion: .directory)
        var folders: [String]

        func run() throws {
            let (library, folders) = (try options.library(), folders.map(LibraryOptions.canonical))
            CommandProcess.index(at: .userInitiated).run {
                for folder in folders {
                    guard try library.remove(folder) else {
                        throw Failure("\(folder) is not indexed. 'qos-index status' lists the folders that are.")
                    }
                    say("Removed the index of \(folder).")
                }
            }
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the indexed folders and their state.")

        @OptionGroup var options: LibraryOptions

        @Flag(help: "Write one line of JSON for each folder.")
        var json = false

        func run() throws {
            let (library, json) = (try options.library(), json)
            let entries = options.entries(library)
            CommandProcess.index(at: .userInitiated).run {
                var hasFailed = false
                for entry in entries {
                    do {
                        let place = library.directory(of: entry.folder)
                        let state = try IndexReader(folder: entry.folder, directory: place).state
                        if json { try sayJSON(state) } else { say(state.summary) }
                    } catch {
                        complain("\(entry.folder): \(error)")
                        hasFailed = true
                    }
                }
                if entries.isEmpty, !json { say("No folder is indexed. 'qos-index add FOLDER' adds one.") }
                if hasFailed { throw CommandStatus.failure }
            }
        }
    }

    struct Compact: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes the index as small and fast as it can be, in the background.")

        @OptionGroup var options: LibraryOptions

        func run() throws {
            let library = try options.library()
            let entries = options.entries(library)
            CommandProcess.index(at: .background).run {
                for entry in entries {
                    let index = try library.open(entry)
                    defer { try? index.close() }
                    let report = try await index.compact()
                    say("\(entry.folder): \(size(report.bytesBefore)) before, \(size(report.bytesAfter)) now.")
                }
            }
        }
    }
}

extension IndexReader.State {
    /// One line for people.
    fileprivate var summary: String {
        let now = process.map { ", open in process \($0)" } ?? ""
        let last = scanned.map { "scanned \(time($0))" } ?? "not scanned to the end"
        return "\(folder): \(counts.indexed) files indexed, \(counts.pending) waiting, \(counts.skipped) skipped, "
            + "\(counts.failed) not read; \(size(databaseBytes)); \(last)\(now); "
            + (isComplete ? "complete." : "incomplete.")
    }
}
