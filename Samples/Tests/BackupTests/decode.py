#!/usr/bin/env python3
"""Restores the last snapshot of a repository, written from the page on the format alone.

    decode.py REPOSITORY PASSWORD-FILE TARGET

Exits with 77 if a library is missing. Needs `cryptography`, and the C library of zstd.
"""
import ctypes
import ctypes.util
import hashlib
import hmac
import json
import os
import stat
import sys

try:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
except (ImportError, OSError) as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
zstd.ZSTD_decompress.restype = ctypes.c_size_t


def unpack(packed):
    if packed[0] == 0:
        return packed[1:]
    assert packed[0] == 1, "unknown compression"
    data = packed[1:]
    size = zstd.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    plain = ctypes.create_string_buffer(size or 1)
    got = zstd.ZSTD_decompress(plain, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size, "bad zstd frame"
    return plain.raw[:size]


def unseal(key, sealed, label):
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], label)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def raw(self, count):
        assert self.at + count <= len(self.data), "truncated"
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def content(self):
        return self.raw(self.number())

    def chunks(self):
        return [(self.raw(32), self.number()) for _ in range(self.number())]

    @property
    def more(self):
        return self.at < len(self.data)


def node(reader):
    kind = reader.number()
    entry = {"kind": kind, "name": reader.content()}
    for field in ("mode", "owner", "group"):
        entry[field] = reader.number()
    entry["modified"], entry["changed"] = reader.signed(), reader.signed()
    for field in ("device", "inode", "links", "reread"):
        entry[field] = reader.number()
    entry["attributes"] = [(reader.content(), reader.content()) for _ in range(reader.number())]
    if kind == 1:
        entry["size"] = reader.number()
        count = reader.number()
        if count:
            end, extents = 0, []
            for _ in range(count - 1):
                start = end + reader.number()
                end = start + reader.number()
                extents.append((start, end))
        else:
            extents = [(0, entry["size"])]
        entry["extents"] = extents
    if kind in (1, 2):
        entry["chunks"] = reader.chunks()
    if kind == 3:
        entry["target"] = reader.content()
    return entry


class Repository:
    def __init__(self, path, passphrase):
        self.path = path
        line, checksum, _ = open(f"{path}/repository", "rb").read().split(b"\n")
        assert hashlib.sha256(line).hexdigest().encode() == checksum, "damaged header"
        header = json.loads(line)
        assert (header["format"], header["version"]) == ("qos-backup", 1)
        wrapping = hashlib.scrypt(
            passphrase, salt=bytes.fromhex(header["salt"]), n=header["n"], r=header["r"], p=header["p"],
            maxmem=1 << 30, dklen=32)
        label = "{format} {version} key {salt} {n} {r} {p}".format(**header).encode()
        master = unseal(wrapping, bytes.fromhex(header["key"]), label)
        derive = lambda text: hmac.digest(master, text, "sha256")
        self.sealing = derive(b"qos-backup 1 sealing")
        self.naming = derive(b"qos-backup 1 naming")
        self.places = {}
        for name in os.listdir(f"{path}/index"):
            reader = Reader(self.file(f"index/{name}", b"index"))
            while reader.more:
                pack = reader.raw(32).hex()
                reader.number()
                for _ in range(reader.number()):
                    blob = reader.raw(32)
                    self.places[blob] = (pack, reader.number(), reader.number())

    def file(self, name, label):
        data = open(f"{self.path}/{name}", "rb").read()
        assert hashlib.sha256(data).hexdigest() == os.path.basename(name), f"damaged: {name}"
        return unpack(unseal(self.sealing, data, label))

    def blob(self, blob):
        pack, offset, length = self.places[blob]
        with open(f"{self.path}/packs/{pack[:2]}/{pack}", "rb") as file:
            file.seek(offset)
            sealed = file.read(length)
        plain = unpack(unseal(self.sealing, sealed, b"blob" + blob))
        assert hmac.digest(self.naming, plain, "sha256") == blob, "another blob"
        return plain

    def content(self, chunks):
        return b"".join(self.blob(blob) for blob, _ in chunks)

    def latest(self):
        names = os.listdir(f"{self.path}/snapshots")
        return max((json.loads(self.file(f"snapshots/{name}", b"snapshot")) for name in names), key=lambda s: s["time"])


def finish(path, entry):
    follow = entry["kind"] != 3
    if os.geteuid() == 0:
        os.chown(path, entry["owner"], entry["group"], follow_symlinks=False)
    for name, value in entry["attributes"]:
        os.setxattr(path, name, value)
    if follow:
        os.chmod(path, entry["mode"])
    os.utime(path, ns=(entry["modified"], entry["modified"]), follow_symlinks=False)


def restore(repository, entry, path, linked):
    kind = entry["kind"]
    if kind == 2:
        os.makedirs(path, exist_ok=True)
        reader = Reader(repository.content(entry["chunks"]))
        while reader.more:
            below = node(reader)
            restore(repository, below, os.path.join(path, below["name"]), linked)
    elif kind == 3:
        os.symlink(entry["target"], path)
    elif kind == 4:
        os.mkfifo(path)
    else:
        key = (entry["device"], entry["inode"])
        if entry["links"] > 1 and key in linked:
            os.link(linked[key], path)
            return
        linked[key] = path
        data = repository.content(entry["chunks"])
        with open(path, "wb") as file:
            file.truncate(entry["size"])
            for start, end in entry["extents"]:
                file.seek(start)
                file.write(data[:end - start])
                data = data[end - start:]
    finish(path, entry)


def main():
    path, password, target = sys.argv[1:]
    passphrase = open(password, "rb").read().split(b"\n")[0]
    repository = Repository(path, passphrase)
    snapshot = repository.latest()
    root = node(Reader(repository.content((bytes.fromhex(c["blob"]), c["length"]) for c in snapshot["root"])))
    restore(repository, root, os.fsencode(target), {})


main()
