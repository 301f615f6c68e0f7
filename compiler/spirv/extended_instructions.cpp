// The OpenCL extended instruction set: functions of OpenCL C by number.
#include <algorithm>

#include "compiler/spirv/function_reader.h"

// Its C++ form has the names in a namespace, without prefix.
#include <spirv/unified1/OpenCL.std.h>

namespace weft::compiler::spirv {
namespace {

using namespace OpenCLLIB;  // NOLINT(google-build-using-namespace): that header's only content

// How the operands turn into arguments.
enum class Form : uint8_t {
  plain,
  upsample,  // the upper half keeps the sign, the lower has none
  shuffle,   // the mask is unsigned
  load,      // offset, pointer to constant
  load_n,    // the same and the number of elements
  store,     // data, offset, pointer
  store_n,   // the same, the number of elements in the name
  prefetch,
  print,
};

struct Row {
  uint32_t number;
  const char* name;
  Sign sign = Sign::signed_;
  Form form = Form::plain;
};

constexpr Sign u = Sign::unsigned_, s = Sign::signed_;

constexpr Row rows[] = {
    {Acos, "acos"},
    {Acosh, "acosh"},
    {Acospi, "acospi"},
    {Asin, "asin"},
    {Asinh, "asinh"},
    {Asinpi, "asinpi"},
    {Atan, "atan"},
    {Atan2, "atan2"},
    {Atanh, "atanh"},
    {Atanpi, "atanpi"},
    {Atan2pi, "atan2pi"},
    {Cbrt, "cbrt"},
    {Ceil, "ceil"},
    {Copysign, "copysign"},
    {Cos, "cos"},
    {Cosh, "cosh"},
    {Cospi, "cospi"},
    {Erfc, "erfc"},
    {Erf, "erf"},
    {Exp, "exp"},
    {Exp2, "exp2"},
    {Exp10, "exp10"},
    {Expm1, "expm1"},
    {Fabs, "fabs"},
    {Fdim, "fdim"},
    {Floor, "floor"},
    {Fma, "fma"},
    {Fmax, "fmax"},
    {Fmin, "fmin"},
    {Fmod, "fmod"},
    {Fract, "fract"},
    {Frexp, "frexp"},
    {Hypot, "hypot"},
    {Ilogb, "ilogb"},
    {Ldexp, "ldexp"},
    {Lgamma, "lgamma"},
    {Lgamma_r, "lgamma_r"},
    {Log, "log"},
    {Log2, "log2"},
    {Log10, "log10"},
    {Log1p, "log1p"},
    {Logb, "logb"},
    {Mad, "mad"},
    {Maxmag, "maxmag"},
    {Minmag, "minmag"},
    {Modf, "modf"},
    {Nan, "nan", u},
    {Nextafter, "nextafter"},
    {Pow, "pow"},
    {Pown, "pown"},
    {Powr, "powr"},
    {Remainder, "remainder"},
    {Remquo, "remquo"},
    {Rint, "rint"},
    {Rootn, "rootn"},
    {Round, "round"},
    {Rsqrt, "rsqrt"},
    {Sin, "sin"},
    {Sincos, "sincos"},
    {Sinh, "sinh"},
    {Sinpi, "sinpi"},
    {Sqrt, "sqrt"},
    {Tan, "tan"},
    {Tanh, "tanh"},
    {Tanpi, "tanpi"},
    {Tgamma, "tgamma"},
    {Trunc, "trunc"},
    {Half_cos, "half_cos"},
    {Half_divide, "half_divide"},
    {Half_exp, "half_exp"},
    {Half_exp2, "half_exp2"},
    {Half_exp10, "half_exp10"},
    {Half_log, "half_log"},
    {Half_log2, "half_log2"},
    {Half_log10, "half_log10"},
    {Half_powr, "half_powr"},
    {Half_recip, "half_recip"},
    {Half_rsqrt, "half_rsqrt"},
    {Half_sin, "half_sin"},
    {Half_sqrt, "half_sqrt"},
    {Half_tan, "half_tan"},
    {Native_cos, "native_cos"},
    {Native_divide, "native_divide"},
    {Native_exp, "native_exp"},
    {Native_exp2, "native_exp2"},
    {Native_exp10, "native_exp10"},
    {Native_log, "native_log"},
    {Native_log2, "native_log2"},
    {Native_log10, "native_log10"},
    {Native_powr, "native_powr"},
    {Native_recip, "native_recip"},
    {Native_rsqrt, "native_rsqrt"},
    {Native_sin, "native_sin"},
    {Native_sqrt, "native_sqrt"},
    {Native_tan, "native_tan"},
    {FClamp, "clamp"},
    {Degrees, "degrees"},
    {FMax_common, "max"},
    {FMin_common, "min"},
    {Mix, "mix"},
    {Radians, "radians"},
    {Step, "step"},
    {Smoothstep, "smoothstep"},
    {OpenCLLIB::Sign, "sign"},
    {Cross, "cross"},
    {Distance, "distance"},
    {Length, "length"},
    {Normalize, "normalize"},
    {Fast_distance, "fast_distance"},
    {Fast_length, "fast_length"},
    {Fast_normalize, "fast_normalize"},
    {SAbs, "abs"},
    {UAbs, "abs", u},
    {SAbs_diff, "abs_diff"},
    {UAbs_diff, "abs_diff", u},
    {SAdd_sat, "add_sat"},
    {UAdd_sat, "add_sat", u},
    {SHadd, "hadd"},
    {UHadd, "hadd", u},
    {SRhadd, "rhadd"},
    {URhadd, "rhadd", u},
    {SClamp, "clamp"},
    {UClamp, "clamp", u},
    {Clz, "clz"},
    {Ctz, "ctz"},
    {SMad_hi, "mad_hi"},
    {UMad_hi, "mad_hi", u},
    {SMad_sat, "mad_sat"},
    {UMad_sat, "mad_sat", u},
    {SMax, "max"},
    {UMax, "max", u},
    {SMin, "min"},
    {UMin, "min", u},
    {SMul_hi, "mul_hi"},
    {UMul_hi, "mul_hi", u},
    {Rotate, "rotate"},
    {SSub_sat, "sub_sat"},
    {USub_sat, "sub_sat", u},
    {U_Upsample, "upsample", u},
    {S_Upsample, "upsample", s, Form::upsample},
    {Popcount, "popcount"},
    {SMad24, "mad24"},
    {UMad24, "mad24", u},
    {SMul24, "mul24"},
    {UMul24, "mul24", u},
    {Bitselect, "bitselect"},
    {Select, "select"},
    {Vloadn, "vload", s, Form::load_n},
    {Vstoren, "vstore", s, Form::store_n},
    {Vload_half, "vload_half", s, Form::load},
    {Vload_halfn, "vload_half", s, Form::load_n},
    {Vloada_halfn, "vloada_half", s, Form::load_n},
    {Vstore_half, "vstore_half", s, Form::store},
    {Vstore_half_r, "vstore_half", s, Form::store},
    {Vstore_halfn, "vstore_half", s, Form::store_n},
    {Vstore_halfn_r, "vstore_half", s, Form::store_n},
    {Vstorea_halfn, "vstorea_half", s, Form::store_n},
    {Vstorea_halfn_r, "vstorea_half", s, Form::store_n},
    {Shuffle, "shuffle", s, Form::shuffle},
    {Shuffle2, "shuffle2", s, Form::shuffle},
    {Prefetch, "prefetch", s, Form::prefetch},
    {Printf, "printf", s, Form::print},
};

std::string elements(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? std::to_string(vector->getNumElements()) : "";
}

}  // namespace

llvm::Value* FunctionReader::emitOpenCl(const Instruction& instruction) {
  const auto set = module_.instructions().instruction_sets.find(instruction.operands.at(0));
  if (set == module_.instructions().instruction_sets.end() || set->second != "OpenCL.std")
    throw Failure("an extended instruction of a set that is not supported");
  const auto found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& candidate) {
    return candidate.number == instruction.operands.at(1);
  });
  if (found == std::end(rows)) throw Failure("an extended instruction that is not known");
  const Row& row = *found;
  const std::span<const uint32_t> operands(instruction.operands.begin() + 2,
                                           instruction.operands.end());
  const auto at = [&](size_t i) {
    if (i >= operands.size()) throw Failure("an extended instruction with too few operands");
    return operands[i];
  };
  std::string name = row.name;
  Arguments arguments;
  switch (row.form) {
    case Form::plain:
      for (const Id operand : operands) arguments.push_back(argument(operand, row.sign));
      break;
    case Form::upsample:
      arguments = {argument(at(0), s), argument(at(1), u)};
      break;
    case Form::shuffle:
      for (const Id operand : operands) arguments.push_back(argument(operand, s));
      arguments.back() = argument(operands.back(), u);
      break;
    case Form::load:
    case Form::load_n:
      if (row.form == Form::load_n) name += elements(llvmType(instruction));
      arguments = {size(at(0)), constantPointer(at(1))};
      break;
    case Form::store:
    case Form::store_n:
      if (row.form == Form::store_n) name += elements(value(at(0))->getType());
      if (operands.size() > 3) {
        constexpr const char* modes[] = {"_rte", "_rtz", "_rtp", "_rtn"};
        if (at(3) >= std::size(modes)) throw Failure("a rounding mode");
        name += modes[at(3)];
      }
      arguments = {argument(at(0)), size(at(1)), argument(at(2))};
      break;
    case Form::prefetch:
      arguments = {constantPointer(at(0)), size(at(1))};
      break;
    case Form::print:
      return emitPrintf(instruction);
  }
  return call(name, instruction.type, arguments);
}

// Variable arguments are promoted as C demands.
llvm::Value* FunctionReader::emitPrintf(const Instruction& instruction) {
  std::vector<llvm::Value*> arguments;
  for (size_t i = 2; i < instruction.operands.size(); ++i) {
    llvm::Value* given = value(instruction.operands[i]);
    llvm::Type* type = given->getType();
    if (type->isHalfTy() || type->isFloatTy())
      given = builder_.CreateFPExt(given, builder_.getDoubleTy());
    else if (type->isIntegerTy() && type->getIntegerBitWidth() < 32)
      given = builder_.CreateSExt(given, builder_.getInt32Ty());
    arguments.push_back(given);
  }
  if (arguments.empty()) throw Failure("printf without a format");
  llvm::Type* format[] = {arguments.front()->getType()};
  llvm::Function* print =
      module_.function("printf", llvm::FunctionType::get(builder_.getInt32Ty(), format, true));
  llvm::CallInst* made = builder_.CreateCall(print, arguments);
  made->setCallingConv(print->getCallingConv());
  return made;
}

}  // namespace weft::compiler::spirv
