internal import Glibc

/// Reads and writes that go on after interruptions and short results. Each call may block.
public enum FileBytes {
    /// Reads up to `count` bytes, pread(2), and the error number, or 0. The result is shorter at the end of the file.
    public static func read(_ descriptor: Int32, from offset: Int, count: Int) -> (bytes: [UInt8], code: Int32) {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let got = unsafe pread(descriptor, buffer.baseAddress?.advanced(by: done), count - done, offset + done)
                if got == 0 { return }
                if got > 0 {
                    done += got
                } else if errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        return (bytes, code)
    }

    /// Writes all bytes from `offset` on, pwrite(2). Returns the error number, or 0.
    public static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, at offset: Int64) -> Int32 {
        unsafe bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = unsafe pwrite(
                    descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + done)
                if count >= 0 {
                    done += count
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// The next range with data, lseek(2). It begins at `position` unless a hole is there; it is empty, at `end`, if nothing
    /// but a hole follows. All is data if the file system does not know of holes.
    ///
    /// - Parameter shortest: A shorter hole counts as data.
    public static func data(
        _ file: Int32, from position: Int64, to end: Int64, skipping shortest: Int64 = 1
    ) -> Range<Int64> {
        let (seekData, seekHole): (Int32, Int32) = (3, 4)
        let found = Int64(lseek(file, off_t(position), seekData))
        // ENXIO: nothing but a hole up to the end.
        guard found >= 0 || errno == ENXIO else { return position..<end }
        let start = found < 0 ? end : min(max(found, position), end)
        guard start < end else { return end..<end }
        let hole = Int64(lseek(file, off_t(start), seekHole))
        let stop = hole > start ? min(hole, end) : end
        return (start - position < shortest ? position : start)..<stop
    }

    /// Puts the names in a folder on the disk. Returns the error number, or 0.
    public static func synchronizeNames(in descriptor: Int32) -> Int32 {
        // Some file systems have no fsync of folders, and say so.
        fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }
}
