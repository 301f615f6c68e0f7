"""The style checks find what they are for, and only that."""

import unittest

import layers
import sizes
import words
import tree


def problems(module, name, content):
    return list(module.check([tree.File(name, content)]))


class Layers(unittest.TestCase):
    def expect(self, name, header, good):
        self.assertEqual(not problems(layers, name, f'#include "{header}"\n'), good, (name, header))

    def test_dependency_rule(self):
        self.expect("core/a.h", "core/b.h", True)
        self.expect("core/a.h", "scheduler/b.h", False)
        self.expect("scheduler/a.cpp", "partition/b.h", True)
        self.expect("scheduler/a.cpp", "backends/cpu/b.h", False)
        self.expect("partition/a.cpp", "scheduler/b.h", False)
        self.expect("backends/cpu/a.cpp", "backends/common/b.h", True)
        self.expect("backends/cpu/a.cpp", "backends/hip/b.h", False)
        self.expect("api/a.cpp", "backends/cpu/b.h", True)
        self.expect("tools/a.cpp", "api/cl_weft_ext.h", True)
        self.expect("tools/a.cpp", "api/other.h", False)
        self.expect("tools/a.cpp", "core/error.h", False)
        self.expect("tests/x/a.cpp", "scheduler/b.h", True)

    def test_third_parties(self):
        self.expect("compiler/a.cpp", "llvm/IR/Module.h", True)
        self.expect("compiler/client/a.cpp", "llvm/IR/Module.h", False)
        self.expect("api/a.cpp", "llvm/IR/Module.h", False)
        self.expect("scheduler/a.cpp", "hip/hip_runtime.h", False)

    def test_relative_includes(self):
        self.expect("core/a.cpp", "../core/b.h", False)


class Sizes(unittest.TestCase):
    def sizes_of(self, content):
        return [(name, size) for name, _, size in sizes.functions(content)]

    def test_functions_are_found(self):
        body = "  f();\n" * 3
        self.assertEqual(self.sizes_of("int f(int a) {\n" + body + "}\n"), [("f", 5)])
        self.assertEqual(
            self.sizes_of("namespace a {\nclass B : C {\n  B() noexcept : c_(1) {\n" + body +
                          "  }\n  int x() const { return 1; }\n};\n}\n"), [("B", 5), ("x", 1)])
        self.assertEqual(self.sizes_of("A::A(int b) : b_{b}, c_{1} {\n" + body + "}\n"), [("A::A", 5)])
        self.assertEqual(self.sizes_of("struct A f(B b) {\n}\n"), [("f", 2)])
        self.assertEqual(self.sizes_of("auto f(int a) -> std::vector<int> {\n}\n"), [("f", 2)])

    def test_data_is_no_function(self):
        self.assertEqual(self.sizes_of("constexpr int a[] = {\n1,\n2,\n};\nenum E { x, y };\n"), [])

    def test_lambdas_in_tables(self):
        self.assertEqual(
            [size for _, size in self.sizes_of("Row r[] = {\n{1, [](int a) {\n f();\n}},\n};\n")], [3])

    def test_braces_in_literals_and_comments(self):
        self.assertEqual(self.sizes_of('void f() {\n  g("}", \'{\');  // }\n  int n = 1\'000;\n}\n'),
                         [("f", 4)])

    def test_limits(self):
        long = "void f() {\n" + "  g();\n" * 60 + "}\n"
        self.assertEqual(len(problems(sizes, "core/a.cpp", long)), 1)
        entry = "cl_int clFinish(cl_command_queue q) {\n" + "  g();\n" * 30 + "}\n"
        self.assertEqual(len(problems(sizes, "api/queue.cpp", entry)), 1)
        self.assertEqual(len(problems(sizes, "core/queue.cpp", entry)), 0)
        self.assertEqual(len(problems(sizes, "core/a.cpp", "int a;\n" * 501)), 1)
        self.assertEqual(len(problems(sizes, "core/a.def", "X(a)\n" * 501)), 0)


class Text(unittest.TestCase):
    def test_macros(self):
        macro = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
        self.assertEqual(len(problems(words, "core/a.h", macro)), 1)
        self.assertEqual(len(problems(words, "core/a.def", macro)), 0)
        row = "#define ROW(a) a,\n"
        self.assertEqual(len(problems(words, "core/a.h", row + "#include \"core/rows.def\"\n")), 0)
        self.assertEqual(len(problems(words, "core/a.h", row + "#include \"core/rows.h\"\n")), 1)
        self.assertEqual(len(problems(words, "core/a.h", "#define WIDTH (1)\n")), 0)

    def test_notes_and_paths(self):
        self.assertEqual(len(problems(words, "core/a.h", "// TO" "DO: more\n")), 1)
        self.assertEqual(len(problems(words, "docs/a.md", "see /ro" "ot/x\n")), 1)
        self.assertEqual(len(problems(words, "docs/a.md", "see build/wo" "rk/x\n")), 0)

    def test_blanks(self):
        self.assertEqual(len(problems(words, "core/a.h", "int a; \n")), 1)
        self.assertEqual(len(problems(words, "core/a.h", "int a;")), 1)


if __name__ == "__main__":
    unittest.main()
