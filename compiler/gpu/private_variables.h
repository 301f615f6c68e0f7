// The variables of one work-item, for targets that have a space of their own for them.
#pragma once

namespace llvm {
class Function;
}

namespace weft::compiler {

// Puts the variables of `function` into `space`; who uses them reaches them through a cast. Marks
// of where their lives begin and end go, since those may not be made through a cast.
void moveVariables(llvm::Function& function, unsigned space);

// Says of the variables of `function`, which stay where they are, that they are in `space`, and has
// all who use them reach them through generic pointers made of that. What a pointer that is one of
// several variables' refers to can be inferred then.
void nameVariables(llvm::Function& function, unsigned space);

}  // namespace weft::compiler
