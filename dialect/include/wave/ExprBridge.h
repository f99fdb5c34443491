//===- ExprBridge.h - expressions for the Python extension --------------------===//
// See Bridge.h for why. Attributes given must be #wave.expr; kinds are those of wave::ExprKind.
#ifndef WAVE_EXPR_BRIDGE_H
#define WAVE_EXPR_BRIDGE_H
#include "mlir-c/IR.h"
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum { WaveExprOk, WaveExprDivisionByZero, WaveExprOverflow, WaveExprMissingSymbol, WaveExprTooLarge } WaveExprStatus;
typedef enum {
  WaveExprConstant, WaveExprSymbol, WaveExprAdd, WaveExprMul, WaveExprFloorDiv, WaveExprCeilDiv, WaveExprMod,
  WaveExprMin, WaveExprMax, WaveExprXor, WaveExprEq, WaveExprNe, WaveExprLt, WaveExprLe, WaveExprAnd, WaveExprOr,
  WaveExprSelect
} WaveExprKind;

bool waveAttributeIsAExpr(MlirAttribute attr);
MlirTypeID waveExprAttrGetTypeID(void);

MlirAttribute waveExprConstant(MlirContext ctx, int64_t value);
bool waveExprIsSymbolName(MlirStringRef name);
MlirAttribute waveExprSymbol(MlirContext ctx, MlirStringRef name);
/// Null after an error; then `message(column, text)` was called, column counted from 0 in `text`.
MlirAttribute waveExprParse(MlirContext ctx, MlirStringRef text,
                            void (*message)(int64_t column, MlirStringRef text, void *user), void *user);
void waveExprPrint(MlirAttribute e, MlirStringCallback callback, void *user);

WaveExprStatus waveExprBuild(WaveExprKind kind, intptr_t n, const MlirAttribute *operands, MlirAttribute *result);
WaveExprStatus waveExprDifference(MlirAttribute a, MlirAttribute b, MlirAttribute *result);
MlirAttribute waveExprNot(MlirAttribute e);
WaveExprStatus waveExprSubstitute(MlirAttribute e, intptr_t n, const MlirAttribute *from, const MlirAttribute *to,
                                  MlirAttribute *result);
WaveExprStatus waveExprExpand(MlirAttribute e, MlirAttribute *result);

WaveExprKind waveExprKind(MlirAttribute e);
int64_t waveExprValue(MlirAttribute e);
MlirStringRef waveExprName(MlirAttribute e);
intptr_t waveExprNumOperands(MlirAttribute e);
MlirAttribute waveExprOperand(MlirAttribute e, intptr_t i);
int waveExprCompare(MlirAttribute a, MlirAttribute b);
uint64_t waveExprStableHash(MlirAttribute e);
void waveExprSymbols(MlirAttribute e, void (*each)(MlirAttribute symbol, void *user), void *user);

/// each(factor, coefficient) over the terms, then each(null, constant). False: a coefficient does not fit.
bool waveExprLinear(MlirAttribute e, void (*each)(MlirAttribute factor, int64_t coefficient, void *user), void *user);
void waveExprSplit(MlirAttribute e, intptr_t n, const MlirAttribute *symbols, MlirAttribute *only, MlirAttribute *rest);
/// Null: not linear in the symbol.
MlirAttribute waveExprCoefficient(MlirAttribute e, MlirAttribute symbol);

/// `missing` is set for WaveExprMissingSymbol.
WaveExprStatus waveExprEvaluate(MlirAttribute e, intptr_t n, const MlirStringRef *names, const int64_t *values,
                                int64_t *result, MlirAttribute *missing);
/// inputs[i]: an array of `points` values, of one where uniform[i].
WaveExprStatus waveExprEvaluateMany(MlirAttribute e, intptr_t n, const MlirAttribute *symbols,
                                    const int64_t *const *inputs, const bool *uniform, size_t points, int64_t *output);

typedef struct { void *ptr; } WaveFacts;
typedef struct {
  MlirAttribute symbol;
  bool hasLo, hasHi;
  int64_t lo, hi, modulus, remainder;
} WaveSymbolFact;
WaveFacts waveFactsCreate(MlirContext ctx, intptr_t n, const WaveSymbolFact *symbols, intptr_t numAssumptions,
                          const MlirAttribute *assumptions);
void waveFactsDestroy(WaveFacts facts);
MlirAttribute waveFactsSimplify(WaveFacts facts, MlirAttribute e);
void waveFactsRange(WaveFacts facts, MlirAttribute e, bool *hasLo, int64_t *lo, bool *hasHi, int64_t *hi);
void waveFactsCongruence(WaveFacts facts, MlirAttribute e, int64_t *modulus, int64_t *remainder);
int64_t waveFactsDivisor(WaveFacts facts, MlirAttribute e);
/// 1: always true, 0: always false, -1: not decided.
int waveFactsProve(WaveFacts facts, MlirAttribute condition, size_t budget);
#ifdef __cplusplus
}
#endif
#endif
