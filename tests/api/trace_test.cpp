// What a traced entry point prints, and that it passes everything on.
#include "api/trace.h"

#include <gtest/gtest.h>

#include <regex>

namespace weft::api {
namespace {

using Callback = void(CL_CALLBACK*)(cl_int, void*);

cl_int CL_API_CALL takesAll(cl_context context, cl_int number, size_t size, const char* text,
                            const void* data, Callback callback) {
  if (callback) callback(number, const_cast<void*>(data));
  return context ? static_cast<cl_int>(size) : text ? CL_INVALID_CONTEXT : CL_SUCCESS;
}
void* CL_API_CALL makes(size_t size, cl_int* code) {
  if (code) *code = size ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
  return size ? reinterpret_cast<void*>(0x1000 + size) : nullptr;
}
void* CL_API_CALL finds(const char* name) { return name ? reinterpret_cast<void*>(0x20) : nullptr; }
void CL_API_CALL frees(void* pointer) { *static_cast<int*>(pointer) = 1; }

template <class F>
std::string printed(F&& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

void expectLine(const std::string& line, const std::string& call) {
  const std::string start = "weft: " + call;
  EXPECT_EQ(line.substr(0, start.size()), start) << line;
  const std::string rest = line.substr(std::min(line.size(), start.size()));
  EXPECT_TRUE(std::regex_match(rest, std::regex("  [0-9]+\\.[0-9] us\n"))) << rest;
}

TEST(Trace, PrintsArgumentsAndCode) {
  cl_int result = 1;
  int seen = 0;
  const auto context = reinterpret_cast<cl_context>(0x40);
  const Callback note = [](cl_int number, void* user) { *static_cast<int*>(user) = number; };
  EXPECT_NE(printed([&] { Traced<takesAll>::call(context, -7, 1, nullptr, &seen, note); }), "");
  expectLine(printed([&] {
               result = Traced<takesAll>::call(context, -7, 4096, "a name", nullptr, nullptr);
             }),
             "takesAll(0x40, -7, 4096, \"a name\", NULL, NULL) = 4096");
  EXPECT_EQ(result, 4096);
  EXPECT_EQ(seen, -7);
  expectLine(printed([&] { result = Traced<takesAll>::call(nullptr, 1, 0, "", nullptr, nullptr); }),
             "takesAll(NULL, 1, 0, \"\", NULL, NULL) = -34");
  EXPECT_EQ(result, CL_INVALID_CONTEXT);
}

TEST(Trace, CutsLongTexts) {
  const std::string name(1000, 'x');
  expectLine(printed([&] { Traced<finds>::call(name.c_str()); }),
             "finds(\"" + std::string(80, 'x') + "...\") = 0x20");
  expectLine(printed([] { Traced<finds>::call(nullptr); }), "finds(NULL) = NULL");
}

TEST(Trace, TellsTheCodeOfACreatorWantedOrNot) {
  cl_int code = 1;
  void* made = nullptr;
  expectLine(printed([&] { made = Traced<makes>::call(5, nullptr); }),
             "makes(5, NULL) = 0x1005, code 0");
  EXPECT_EQ(made, reinterpret_cast<void*>(0x1005));
  EXPECT_NE(printed([&] { made = Traced<makes>::call(0, &code); }).find(") = NULL, code -61"),
            std::string::npos);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
}

TEST(Trace, FunctionsWithoutAResult) {
  int freed = 0;
  const std::string line = printed([&] { Traced<frees>::call(&freed); });
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(line.find(" = "), std::string::npos);
  EXPECT_EQ(line.find("weft: frees(0x"), 0u);
}

TEST(Trace, ATableWithoutTraceHoldsTheEntryPointsThemselves) {
  EXPECT_EQ((entry<false, finds>()), &finds);
  EXPECT_NE((entry<true, finds>()), &finds);
}

}  // namespace
}  // namespace weft::api
