"""The oracle of hit sets: Python's sqlite3 with FTS5, and nothing of the samples.

    oracle.py build DATABASE FOLDER EXTENSION   indexes the files with this extension
    oracle.py ask DATABASE COUNT SEED           writes COUNT questions with their answers, one object of JSON a line
"""
import json
import os
import random
import re
import sqlite3
import sys


def text(path):
    with open(path, "rb") as file:
        data = file.read()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def build(database, folder, extension):
    if os.path.exists(database):
        os.remove(database)
    store = sqlite3.connect(database)
    store.execute("CREATE VIRTUAL TABLE document USING fts5 (path, body, tokenize = 'unicode61 remove_diacritics 2')")
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = os.path.join(parent, name)
            if os.path.islink(path) or not os.path.isfile(path) or not name.endswith("." + extension):
                continue
            body = text(path)
            if body is not None:
                store.execute("INSERT INTO document VALUES (?, ?)", (os.path.relpath(path, folder), body))
    store.commit()


def ask(database, count, seed):
    store = sqlite3.connect(database)
    chance = random.Random(seed)
    rows = store.execute("SELECT count(*) FROM document").fetchone()[0]
    asked = 0
    while asked < count:
        row = store.execute("SELECT body FROM document LIMIT 1 OFFSET ?", (chance.randrange(rows),)).fetchone()
        words = re.findall(r"[A-Za-z]{3,}", row[0])
        if not words:
            continue
        query = [[chance.choice(words)], chance.choices(words, k=2), [chance.choice(words)[:4]]][asked % 3]
        # Ours takes the last word as the beginning of one.
        expression = " ".join('"%s"' % word for word in query) + "*"
        hits = [hit[0] for hit in store.execute("SELECT path FROM document WHERE document MATCH ?", (expression,))]
        if len(hits) > 900:
            continue
        print(json.dumps({"query": " ".join(query), "hits": sorted(hits)}))
        asked += 1


if sys.argv[1] == "build":
    build(*sys.argv[2:])
else:
    ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
