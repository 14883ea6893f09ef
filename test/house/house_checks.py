#!/usr/bin/env python3
"""The house's checks against small trees that are wrong in one way each: a check that cannot fail is no check."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import compile_time
import floors
import words

HERE = pathlib.Path(__file__).parent
BASE = "// Floor 0.\n#pragma once\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = pathlib.Path(self.folder.name)

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Floors(Tree):
    def complaints(self, upper):
        self.write("octep/base.hpp", BASE)
        self.write("octep/peer.hpp", "// Floor 1.\n#pragma once\n")
        self.write("octep/upper.hpp", upper)
        return floors.check(self.top)[1]

    def refused(self, upper, why):
        complaints = self.complaints(upper)
        self.assertEqual(len(complaints), 1, complaints)
        self.assertIn(why, complaints[0])

    def test_lower_floor_is_allowed(self):
        self.assertEqual(self.complaints("// Floor 1.\n#include <octep/base.hpp>\n"), [])

    def test_words_in_comments_and_texts_are_allowed(self):
        self.assertEqual(self.complaints('// Floor 1.\n// a new try\nconst char* x = "new"; /* throw */\n'), [])

    def test_deleted_functions_are_allowed(self):
        self.assertEqual(self.complaints("// Floor 1.\nstruct x { x(const x&) = delete; };\n"), [])

    def test_same_floor_is_refused(self):
        self.refused("// Floor 1.\n#include <octep/peer.hpp>\n", "floor 1, includes octep/peer.hpp of floor 1")

    def test_missing_floor_is_refused(self):
        self.refused("#pragma once\n", "has 0 lines")

    def test_two_floors_are_refused(self):
        self.refused("// Floor 1.\n// Floor 2.\n", "has 2 lines")

    def test_standard_header_is_refused(self):
        self.refused("// Floor 1.\n  #  include <cstdint>  // for u32\n", "includes <cstdint>")

    def test_hosted_header_is_refused(self):
        self.write("octep/host/simd.hpp", "#include <immintrin.h>\n")
        self.refused("// Floor 1.\n#include <octep/host/simd.hpp>\n", "not in the core")

    def test_words_of_a_host_are_refused(self):
        for code in ["#ifdef __FreeBSD__", "__atomic_thread_fence(5);", "auto operator<=>(x) = default;",
                     "new (p) T{};", "throw 1;", "delete p;"]:
            with self.subTest(code):
                self.assertEqual(len(self.complaints(f"// Floor 1.\n{code}\n")), 1)


class Words(Tree):
    def complaints(self, line):
        self.write("file.txt", f"first\n{line}\n")
        return words.check(self.top)[1]

    def test_marks_are_refused(self):
        for mark in ["TO" + "DO", "FIX" + "ME:", "(X" + "XX)"]:
            with self.subTest(mark):
                self.assertEqual(len(self.complaints(f"// {mark} later")), 1)

    def test_machine_paths_are_refused(self):
        for path in ["/wo" + "rk/main/x", "cd /wo" + "rk/x", '"/ho' + 'me/me/x"', "/ro" + "ot/x"]:
            with self.subTest(path):
                self.assertEqual(len(self.complaints(path)), 1)

    def test_other_words_pass(self):
        for line in ["method", "a/work/b", "docs/work/x", "/usr/include", "network/", "$x/work/y", "/rootless"]:
            with self.subTest(line):
                self.assertEqual(self.complaints(line), [])


class HeadersAlone(Tree):
    def passes(self, text):
        self.write("octep/x.hpp", text)
        command = [HERE / "headers_alone.sh", str(self.top), "g++"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def test_good_header_passes(self):
        self.assertTrue(self.passes("#pragma once\nstruct x {};\n"))

    def test_bad_headers_are_refused(self):
        for text in ["struct x {};\n", "#pragma once\n#include <stddef.h>\n", "#pragma once\ny z;\n",
                     "#pragma once\ninline char f(int i) { return i; }\n"]:
            with self.subTest(text):
                self.assertFalse(self.passes(text))

    def test_no_header_is_refused(self):
        (self.top / "octep").mkdir()
        command = [HERE / "headers_alone.sh", str(self.top), "g++"]
        self.assertNotEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)


class CompileTime(Tree):
    def test_limit_is_kept_and_broken(self):
        self.write("octep/octep.hpp", "#pragma once\n")
        self.assertTrue(compile_time.check(str(self.top), ["g++"])[1])
        self.assertFalse(compile_time.check(str(self.top), ["g++"], limit_s=0.0)[1])

    def test_missing_header_and_missing_compiler_are_refused(self):
        self.assertFalse(compile_time.check(str(self.top), ["g++"])[1])
        self.assertFalse(compile_time.check(str(self.top), [])[1])


if __name__ == "__main__":
    unittest.main(verbosity=1)
