#!/usr/bin/env python3
"""Writes the documents as they are installed: in one folder, their pictures beside them.

    scripts/installed_documents.py SOURCE FOLDER

A link to a document of the folder loses its path. A link to what stays in the source tree becomes its text alone.
"""
import pathlib
import re
import shutil
import sys

LINK = re.compile(r"(?P<sign>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?\)")


def documents_of(source):
    return [source / "README.md", source / "CHANGELOG.md", *sorted((source / "docs").glob("*.md"))]


def installed(text, names):
    def mended(link):
        name = pathlib.PurePosixPath(link["target"]).name
        if "://" in link["target"]:
            return link[0]
        if name in names and "results/" not in link["target"]:
            return f"{link['sign']}[{link['text']}]({name}{link['anchor'] or ''})"
        return link["text"]

    return LINK.sub(mended, text)


def main():
    source, folder = map(pathlib.Path, sys.argv[1:])
    documents = documents_of(source)
    pictures = sorted((source / "docs").glob("*.png"))
    names = {path.name for path in documents + pictures}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in documents:
        (folder / path.name).write_text(installed(path.read_text(), names))
    for path in pictures:
        shutil.copyfile(path, folder / path.name)


if __name__ == "__main__":
    main()
