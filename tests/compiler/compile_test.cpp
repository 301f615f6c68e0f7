// The front end and the linker through the compiler's process: what programs see of them.
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;

class CompileTest : public test::CompilerTest {
 protected:
  Image object(const std::string& source, const std::string& options = {}) {
    const auto result = compile(source, options);
    EXPECT_TRUE(result.ok) << result.log;
    return readImage(result.image).value_or(Image{});
  }
  // Compiles only when the preprocessor's condition holds.
  bool holds(const std::string& condition, const std::string& options = {}) {
    return compile("#if !(" + condition + ")\n#error no\n#endif\n", options).ok;
  }
};

TEST_F(CompileTest, GivesAnObject) {
  const Image image = object("kernel void f(global int* p) { p[0] = 1; }");
  EXPECT_EQ(image.kind, ImageKind::object);
  EXPECT_FALSE(image.payload.empty());
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].name, "f");
}

TEST_F(CompileTest, ErrorsAreAsClangPrintsThem) {
  const auto result = compile("kernel void f(global int* p) {\n  p[0] = missing;\n}\n");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(result.image.empty());
  EXPECT_TRUE(contains(result.log, "<source>:2:10: error: use of undeclared identifier 'missing'"))
      << result.log;
  EXPECT_TRUE(contains(result.log, "    2 |   p[0] = missing;")) << result.log;
  EXPECT_TRUE(contains(result.log, "1 error generated.")) << result.log;
}

TEST_F(CompileTest, WarningsAreInTheLogOfASuccess) {
  const char* source = "#warning look here\nkernel void f() {}\n";
  const auto result = compile(source);
  EXPECT_TRUE(result.ok);
  EXPECT_TRUE(contains(result.log, "<source>:1:2: warning: look here")) << result.log;
  EXPECT_EQ(compile(source, "-w").log, "");
  EXPECT_FALSE(compile(source, "-Werror").ok);
}

TEST_F(CompileTest, StopsAtTwentyErrors) {
  std::string source;
  for (int i = 0; i < 100; ++i) source += "int a" + std::to_string(i) + " = nope;\n";
  const auto result = compile(source);
  EXPECT_TRUE(contains(result.log, "too many errors")) << result.log;
}

TEST_F(CompileTest, BadOptionsFailWithTheirName) {
  const auto result = compile("kernel void f() {}", "-bogus");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "'-bogus'")) << result.log;
}

TEST_F(CompileTest, TheStandardFollowsTheOption) {
  EXPECT_TRUE(holds("__OPENCL_C_VERSION__ == 120"));
  EXPECT_TRUE(holds("__OPENCL_C_VERSION__ == 100", "-cl-std=CL1.0"));
  EXPECT_TRUE(holds("__OPENCL_C_VERSION__ == 110", "-cl-std=CL1.1"));
  EXPECT_TRUE(holds("__OPENCL_C_VERSION__ == 300", "-cl-std=CL3.0"));
  EXPECT_TRUE(holds("__OPENCL_CPP_VERSION__ == 100", "-cl-std=CLC++"));
  EXPECT_TRUE(holds("__OPENCL_VERSION__ == 300 && CL_VERSION_3_0 == 300"));
}

TEST_F(CompileTest, TheNewestStandardIsForDevicesThatHaveIt) {
  auto program = request(
      "#if __OPENCL_C_VERSION__ != 310 || __OPENCL_VERSION__ != 310 || CL_VERSION_3_1 != 310\n"
      "#error another version\n#endif\n",
      "-cl-std=CL3.1");
  program.features.version = 310;
  const auto result = compiler().compile(program);
  EXPECT_TRUE(result.ok) << result.log;
  EXPECT_EQ(result.log, "");
  program.features.version = 300;
  const auto refused = compiler().compile(program);
  EXPECT_FALSE(refused.ok);
  EXPECT_TRUE(contains(refused.log, "-cl-std=CL3.1")) << refused.log;
}

TEST_F(CompileTest, MacrosTellTheDevicesFeatures) {
  EXPECT_TRUE(holds("defined(cl_khr_byte_addressable_store) && defined(cl_khr_fp64)"));
  EXPECT_TRUE(holds("!defined(cl_khr_fp16) && !defined(cl_khr_subgroups)"));
  EXPECT_TRUE(holds("!defined(__IMAGE_SUPPORT__) && defined(__ENDIAN_LITTLE__)"));
  EXPECT_TRUE(holds("__opencl_c_int64 == 1 && __opencl_c_fp64 == 1", "-cl-std=CL3.0"));
  EXPECT_TRUE(
      holds("!defined(__opencl_c_images) && !defined(__opencl_c_pipes) && "
            "!defined(__opencl_c_read_write_images) && "
            "!defined(__opencl_c_work_group_collective_functions)",
            "-cl-std=CL3.0"));
  EXPECT_TRUE(holds("defined(__FAST_RELAXED_MATH__)", "-cl-fast-relaxed-math"));
  EXPECT_TRUE(holds("!defined(__FAST_RELAXED_MATH__)"));
}

TEST_F(CompileTest, DefinitionsReachTheProgram) {
  EXPECT_TRUE(holds("A == 1 && B == 7", "-DA -D B=7"));
  EXPECT_TRUE(compile("constant char s[] = TEXT;", R"(-DTEXT=\"two\ words\")").ok);
}

TEST_F(CompileTest, AFunctionThatTheDeviceLacksIsUnknown) {
  const auto result =
      compile("kernel void f(global half* p, global float* q) { half h = *p; *q = h; }");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "half")) << result.log;
}

TEST_F(CompileTest, HeadersOfTheRequest) {
  auto program = request("#include \"dir/a.h\"\n#include <b.h>\nint x = A + B;\n");
  program.headers = {{"dir/a.h", "#include \"c.h\"\n"},
                     {"dir/c.h", "#define A 1\n"},
                     {"b.h", "#error the last of two wins\n"},
                     {"b.h", "#define B 2\n"}};
  program.source = "#include \"dir/a.h\"\n#include <b.h>\n#if A + B != 3\n#error no\n#endif\n";
  const auto result = compiler().compile(program);
  EXPECT_TRUE(result.ok) << result.log;
}

TEST_F(CompileTest, HeadersOnDiskAreWatched) {
  write("inc/v.h", "#define V 1\n");
  const std::string options = "-I " + directory() + "/inc";
  const char* source = "#include \"v.h\"\n#if V != 1\n#error changed\n#endif\n";
  EXPECT_TRUE(compile(source, options).ok);
  EXPECT_TRUE(compile(source, options).ok);
  write("inc/v.h", "#define V 2\n");
  EXPECT_FALSE(compile(source, options).ok);
}

TEST_F(CompileTest, RelativeIncludesStartInTheWorkingDirectory) {
  write("here/local.h", "#define V 1\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory());
  EXPECT_TRUE(compile("#include \"local.h\"\n", "-Ihere").ok);
  EXPECT_TRUE(compile("#include \"here/local.h\"\n").ok);
  std::filesystem::current_path(before);
  EXPECT_FALSE(compile("#include \"local.h\"\n", "-Ihere").ok);
}

TEST_F(CompileTest, DescribesArguments) {
  const Image image = object(
      "typedef struct { int a; float4 b; } S;\n"
      "kernel void f(int a, const global float4* restrict p, local short* q, S s,\n"
      "              constant unsigned int* c, float3 v, volatile global uchar* w) {}\n");
  ASSERT_EQ(image.kernels.size(), 1u);
  const auto& arguments = image.kernels[0].arguments;
  ASSERT_EQ(arguments.size(), 7u);
  struct Expected {
    const char *name, *type;
    ArgumentKind kind;
    AddressQualifier address;
    uint8_t qualifiers;
    uint32_t size, alignment;
  };
  const Expected expected[] = {
      {"a", "int", ArgumentKind::value, AddressQualifier::private_, 0, 4, 4},
      {"p", "float4*", ArgumentKind::global_pointer, AddressQualifier::global,
       qualifier_const | qualifier_restrict, 8, 8},
      {"q", "short*", ArgumentKind::local_pointer, AddressQualifier::local, 0, 8, 2},
      {"s", "S", ArgumentKind::value, AddressQualifier::private_, 0, 32, 16},
      {"c", "uint*", ArgumentKind::constant_pointer, AddressQualifier::constant, qualifier_const, 8,
       8},
      {"v", "float3", ArgumentKind::value, AddressQualifier::private_, 0, 16, 16},
      {"w", "uchar*", ArgumentKind::global_pointer, AddressQualifier::global, qualifier_volatile, 8,
       8},
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    EXPECT_EQ(arguments[i].name, expected[i].name);
    EXPECT_EQ(arguments[i].type_name, expected[i].type) << expected[i].name;
    EXPECT_EQ(arguments[i].kind, expected[i].kind) << expected[i].name;
    EXPECT_EQ(arguments[i].address, expected[i].address) << expected[i].name;
    EXPECT_EQ(arguments[i].type_qualifiers, expected[i].qualifiers) << expected[i].name;
    EXPECT_EQ(arguments[i].size, expected[i].size) << expected[i].name;
    EXPECT_EQ(arguments[i].alignment, expected[i].alignment) << expected[i].name;
  }
}

TEST_F(CompileTest, DescribesAttributes) {
  const Image image = object(
      "kernel __attribute__((reqd_work_group_size(8, 4, 1))) "
      "__attribute__((vec_type_hint(uint4)))\n"
      "void f() {}\n"
      "kernel __attribute__((work_group_size_hint(64, 1, 1))) void g() {}\n"
      "kernel void h() {}\n");
  ASSERT_EQ(image.kernels.size(), 3u);
  EXPECT_EQ(image.kernels[0].attributes, "reqd_work_group_size(8,4,1) vec_type_hint(uint4)");
  EXPECT_EQ(image.kernels[0].required_local_size, (std::array<uint64_t, 3>{8, 4, 1}));
  EXPECT_EQ(image.kernels[1].attributes, "work_group_size_hint(64,1,1)");
  EXPECT_EQ(image.kernels[1].hinted_local_size, (std::array<uint64_t, 3>{64, 1, 1}));
  EXPECT_EQ(image.kernels[2].attributes, "");
}

class LinkTest : public CompileTest {
 protected:
  port::CompileResult link(const std::vector<std::string>& sources, bool library = false) {
    port::LinkRequest request;
    for (const std::string& source : sources) {
      auto result = compile(source);
      EXPECT_TRUE(result.ok) << result.log;
      request.objects.push_back(std::move(result.image));
    }
    return link(std::move(request), library);
  }
  port::CompileResult link(port::LinkRequest linking, bool library) {
    linking.target = request({}).target;
    linking.make_library = library;
    return compiler().link(linking);
  }
};

TEST_F(LinkTest, MakesALibraryThatLinksAgain) {
  auto library = link({"int one() { return 1; }", "int two() { return 2; }"}, true);
  ASSERT_TRUE(library.ok) << library.log;
  EXPECT_EQ(readImage(library.image)->kind, ImageKind::library);
  auto user = compile("int one(); int two(); kernel void f(global int* p) { *p = one() + two(); }");
  ASSERT_TRUE(user.ok) << user.log;
  port::LinkRequest request;
  request.objects = {user.image, library.image};
  const auto program = link(std::move(request), false);
  EXPECT_TRUE(program.ok) << program.log;
}

TEST_F(LinkTest, ReportsSymbolsDefinedTwice) {
  const auto result = link({"int one() { return 1; }", "int one() { return 2; }"}, true);
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "'one'")) << result.log;
}

TEST_F(LinkTest, ReportsMissingSymbols) {
  const auto result = link({"int absent(int x); kernel void f(global int* p) { *p = absent(1); }"});
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "absent")) << result.log;
}

TEST_F(LinkTest, RejectsWhatIsNoObject) {
  port::LinkRequest request;
  request.objects = {port::Bytes(100, std::byte{1})};
  const auto result = link(std::move(request), false);
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "not a compiled object")) << result.log;
}

TEST_F(LinkTest, PlainInlineFunctionsLink) {
  const auto result =
      link({"inline float sq(float x) { return x * x; }\n"
            "kernel void f(global float* p) { *p = sq(*p); }"});
  EXPECT_TRUE(result.ok) << result.log;
}

// Either by lanes or by the loop vectoriser, with the functions' vector forms.
TEST_F(CompileTest, MathFunctionsBecomeVectors) {
  for (const std::string call : {"exp(x)", "log(x)", "sin(x)", "cos(x)", "tan(x)", "pow(x, 0.3f)",
                                 "erf(x)", "cbrt(x)", "atan2(x, 0.3f)", "tanh(x)"}) {
    const auto result = build(
        "kernel void f(global float* p) {\n"
        "  const float x = p[get_global_id(0)];\n"
        "  p[get_global_id(0)] = " +
            call + ";\n}\n",
        "-Rweft");
    ASSERT_TRUE(result.ok) << result.log;
    EXPECT_TRUE(contains(result.log, "lanes at once") ||
                contains(result.log, "vectorized loop (vectorization width"))
        << call << "\n"
        << result.log;
  }
}

// LLVM unrolls the loop before it would make vectors of lanes that store under a condition.
TEST_F(CompileTest, ReductionsInLocalMemoryBecomeVectors) {
  const auto result = build(
      "kernel void f(global int* p, local int* s) {\n"
      "  const int i = get_local_id(0);\n"
      "  s[i] = p[get_global_id(0)];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  for (int k = 32; k > 0; k >>= 1) {\n"
      "    if (i < k) s[i] = min(s[i], s[i + k]);\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  }\n"
      "  p[get_global_id(0)] = s[0];\n}\n",
      "-Rweft");
  ASSERT_TRUE(result.ok) << result.log;
  size_t vectors = 0;
  for (size_t at = 0; (at = result.log.find("lanes at once", at)) != std::string::npos; ++at)
    ++vectors;
  EXPECT_GE(vectors, 2u) << result.log;  // of the loop, and of what is behind it
}

// What is cached under one setting of the vectoriser is not taken for what another asks for.
TEST_F(CompileTest, SaysWhatBecameVectors) {
  const std::string source =
      "kernel void f(global float* p, int n) {\n"
      "  float sum = 0;\n"
      "  for (int k = 0; k < n; ++k) sum += p[k] * get_global_id(0);\n"
      "  p[get_global_id(0)] = sum;\n"
      "}\n";
  for (const char* setting : {"never", "always", "never", "always"}) {
    set("WEFT_VECTORIZE", setting);
    const auto result = build(source, "-Rweft");
    ASSERT_TRUE(result.ok) << result.log;
    EXPECT_EQ(contains(result.log, "lanes at once"), setting[0] == 'a') << result.log;
  }
  EXPECT_TRUE(contains(build(source, "-Rweft").log, "<source>:3:3: remark: f: all lanes take"));
  EXPECT_EQ(build(source).log, "");
}

// Those of the form along dimension 1 are marked.
TEST_F(CompileTest, SaysWhatIsTurned) {
  const auto log = [&](const std::string& lines) {
    const auto result = build(
        "kernel void f(global const float* a, global float* c, int n) {\n"
        "  const int row = get_global_id(0), column = get_global_id(1);\n"
        "  float sum = 0;\n"
        "  for (int k = 0; k < n; ++k) sum += a[k * n + column];\n" +
            lines + "  c[row * n + column] = sum;\n}\n",
        "-Rweft");
    EXPECT_TRUE(result.ok) << result.log;
    return result.log;
  };
  const std::string brief = log("");
  EXPECT_TRUE(contains(brief, "remark: f: turned, its lanes along dimension 1"));
  EXPECT_TRUE(contains(brief, "<source>:4:3: remark: f: turned: all lanes take"));
  // Long code is not compiled twice.
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "  sum = sum * sum + column;\n";
  EXPECT_FALSE(contains(log(lines), "turned"));
}

}  // namespace
}  // namespace weft
