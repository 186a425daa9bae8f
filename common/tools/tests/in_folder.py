"""A test case with a folder of its own."""

import tempfile
import unittest
from pathlib import Path


class InFolder(unittest.TestCase):
    """`folder` is empty when a test begins, and goes when it ends."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        """Writes a text or bytes to a file of the folder, and returns its path."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file
