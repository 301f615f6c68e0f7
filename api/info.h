// clGet*Info: tables of rows {token, getter}, and the one place where the rules about sizes and
// null pointers are written.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.h"

namespace weft::api {

// Where the answer to a query goes.
class Answer {
 public:
  Answer(size_t capacity, void* destination, size_t* size_ret)
      : capacity_(capacity), destination_(destination), size_ret_(size_ret) {}

  size_t capacity() const { return capacity_; }

  // "CL_INVALID_VALUE if size in bytes specified by param_value_size is < size of return type and
  // param_value is not NULL."
  void bytes(const void* data, size_t size) {
    void* destination = reserve(size);
    if (destination && size) std::memcpy(destination, data, size);
  }
  // For answers that are more than bytes: announces the size and returns where to write, or nullptr
  // when only the size is wanted.
  void* reserve(size_t size) {
    if (size_ret_) *size_ret_ = size;
    if (!destination_) return nullptr;
    require(capacity_ >= size, CL_INVALID_VALUE, "param_value_size is too small");
    return destination_;
  }

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    bytes(&value, sizeof value);
  }
  void put(std::string_view text) {
    if (char* destination = static_cast<char*>(reserve(text.size() + 1))) {
      std::copy(text.begin(), text.end(), destination);
      destination[text.size()] = '\0';
    }
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const char* text) { put(std::string_view(text)); }
  template <class T>
  void put(const std::vector<T>& values) {
    bytes(values.data(), values.size() * sizeof(T));
  }

 private:
  size_t capacity_;
  void* destination_;
  size_t* size_ret_;
};

// One query of an object. The getter is a lambda without captures: `T(Object&)`, whose result is
// the answer (a value, a string, a vector of values), or `void(Object&, Answer&)`.
template <class Object>
struct InfoRow {
  template <class Getter>
  constexpr InfoRow(cl_uint token_, Getter) : token(token_), answer(&run<Getter>) {
    static_assert(std::is_empty_v<Getter>, "a function is wrapped in by<>");
  }

  cl_uint token;
  void (*answer)(Object& object, Answer& answer);

 private:
  template <class Getter>
  static void run(Object& object, Answer& answer) {
    if constexpr (std::invocable<Getter, Object&, Answer&>)
      Getter{}(object, answer);
    else
      answer.put(Getter{}(object));
  }
};

// A getter that is a function.
template <auto function>
inline constexpr auto by = [](auto& object) { return function(object); };

// A getter whose answer is the same for every object.
template <auto value>
inline constexpr auto always = [](const auto&) { return value; };

template <class Object>
using InfoTable = std::span<const InfoRow<Object>>;

// Answers a query. "CL_INVALID_VALUE if param_name is not one of the supported values."
template <class Object>
void query(std::type_identity_t<InfoTable<Object>> table, Object& object, cl_uint token,
           size_t capacity, void* destination, size_t* size_ret) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const InfoRow<Object>& r) { return r.token == token; });
  require(row != table.end(), CL_INVALID_VALUE, "param_name is not a query of this object");
  Answer answer(capacity, destination, size_ret);
  row->answer(object, answer);
}

}  // namespace weft::api
