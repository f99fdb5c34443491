#ifndef WAVE_ELEMENTWISE_OPS_TD
#define WAVE_ELEMENTWISE_OPS_TD
// Maths on each element. All operands and the result have one type.
include "wave/WaveBase.td"

class Wave_Unary<string mnemonic, string text, Type type = Wave_FloatValue, list<Trait> traits = []>
    : Wave_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let summary = text # " of each element";
  let description = text # " of each element.\n\n```mlir\n%y = wave." # mnemonic # " %x : !wave.tile<[M, N], " #
                    !if(!eq(type, Wave_FloatValue), "f32", "i32") # ">\n```";
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}
class Wave_Binary<string mnemonic, string text, Type type = Wave_Value, list<Trait> traits = []>
    : Wave_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let summary = text;
  let description = text # ", of each element.\n\n```mlir\n%z = wave." # mnemonic # " %x, %y : !wave.tile<[M, N], " #
                    !if(!eq(type, Wave_IntValue), "i32", "f32") # ">\n```";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Wave_AddOp : Wave_Binary<"add", "sum", Wave_Value, [Commutative]> { let hasFolder = 1; }
def Wave_SubOp : Wave_Binary<"sub", "difference"> { let hasFolder = 1; }
def Wave_MulOp : Wave_Binary<"mul", "product", Wave_Value, [Commutative]> { let hasFolder = 1; }
def Wave_DivOp : Wave_Binary<"div", "quotient; of integers its floor"> { let hasFolder = 1; }
def Wave_ModOp : Wave_Binary<"mod", "lhs - floor(lhs / rhs) * rhs, with the sign of rhs">;
def Wave_RemOp : Wave_Binary<"rem", "lhs - trunc(lhs / rhs) * rhs, with the sign of lhs">;
def Wave_MinimumOp : Wave_Binary<"minimum", "the lesser; NaN if either is, signed", Wave_Value, [Commutative]>;
def Wave_MaximumOp : Wave_Binary<"maximum", "the greater; NaN if either is, signed", Wave_Value, [Commutative]>;
def Wave_PowOp : Wave_Binary<"pow", "lhs to the power rhs", Wave_FloatValue>;
def Wave_Atan2Op : Wave_Binary<"atan2", "the angle of the point (rhs, lhs)", Wave_FloatValue>;
def Wave_AndOp : Wave_Binary<"and", "bitwise and", Wave_IntValue, [Commutative]> { let hasFolder = 1; }
def Wave_OrOp : Wave_Binary<"or", "bitwise or", Wave_IntValue, [Commutative]> { let hasFolder = 1; }
def Wave_XorOp : Wave_Binary<"xor", "bitwise exclusive or", Wave_IntValue, [Commutative]>;
def Wave_ShlOp : Wave_Binary<"shl", "lhs shifted left by rhs bits", Wave_IntValue>;
def Wave_ShrOp : Wave_Binary<"shr", "lhs shifted right by rhs bits, the sign kept", Wave_IntValue>;

def Wave_NegOp : Wave_Unary<"neg", "negative", Wave_Value, [Involution]>;
def Wave_AbsOp : Wave_Unary<"abs", "absolute value", Wave_Value, [Idempotent]>;
def Wave_NotOp : Wave_Unary<"not", "bitwise complement", Wave_IntValue, [Involution]>;
def Wave_ExpOp : Wave_Unary<"exp", "e to the power">;
def Wave_Exp2Op : Wave_Unary<"exp2", "2 to the power">;
def Wave_LogOp : Wave_Unary<"log", "natural logarithm">;
def Wave_Log2Op : Wave_Unary<"log2", "logarithm to base 2">;
def Wave_Log10Op : Wave_Unary<"log10", "logarithm to base 10">;
def Wave_SqrtOp : Wave_Unary<"sqrt", "square root">;
def Wave_RsqrtOp : Wave_Unary<"rsqrt", "1 over the square root">;
def Wave_CbrtOp : Wave_Unary<"cbrt", "cube root">;
def Wave_ReciprocalOp : Wave_Unary<"reciprocal", "reciprocal">;
def Wave_SinOp : Wave_Unary<"sin", "sine">;
def Wave_CosOp : Wave_Unary<"cos", "cosine">;
def Wave_TanOp : Wave_Unary<"tan", "tangent">;
def Wave_SinhOp : Wave_Unary<"sinh", "hyperbolic sine">;
def Wave_CoshOp : Wave_Unary<"cosh", "hyperbolic cosine">;
def Wave_TanhOp : Wave_Unary<"tanh", "hyperbolic tangent">;
def Wave_TanhApproxOp : Wave_Unary<"tanh_approx", "hyperbolic tangent, fast and less exact,">;
def Wave_SoftsignOp : Wave_Unary<"softsign", "x / (1 + abs(x))">;
def Wave_RoundOp : Wave_Unary<"round", "nearest integer, halves away from zero,", Wave_FloatValue, [Idempotent]>;
def Wave_RoundevenOp : Wave_Unary<"roundeven", "nearest integer, halves to even,", Wave_FloatValue, [Idempotent]>;
def Wave_FloorOp : Wave_Unary<"floor", "greatest integer not above", Wave_FloatValue, [Idempotent]>;
def Wave_CeilOp : Wave_Unary<"ceil", "least integer not below", Wave_FloatValue, [Idempotent]>;
def Wave_TruncOp : Wave_Unary<"trunc", "integer part", Wave_FloatValue, [Idempotent]>;

def Wave_CompareOp : Wave_Op<"compare", [Pure, AllTypesMatch<["lhs", "rhs"]>,
    TypesMatchWith<"the result has i1 elements and the operands' shape and layout", "lhs", "result",
                   "::wave::getMaskType($_self)">]> {
  let summary = "compares each element";
  let description = [{
    Integers compare as signed. With a NaN only `ne` holds.

    ```mlir
    %m = wave.compare lt %x, %y : !wave.tile<[M], f32>
    ```
  }];
  let arguments = (ins Wave_PredicateAttr:$predicate, Wave_Value:$lhs, Wave_Value:$rhs);
  let results = (outs Wave_BoolValue:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Wave_SelectOp : Wave_Op<"select", [Pure, AllTypesMatch<["if_true", "if_false", "result"]>]> {
  let summary = "chooses for each element";
  let description = [{
    The condition is of i1, with the values' shape and layout, or one scalar.

    ```mlir
    %z = wave.select %m, %x, %y : !wave.tile<[M], i1>, !wave.tile<[M], f32>
    ```
  }];
  let arguments = (ins Wave_BoolValue:$condition, Wave_Value:$if_true, Wave_Value:$if_false);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = "$condition `,` $if_true `,` $if_false attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
#endif
