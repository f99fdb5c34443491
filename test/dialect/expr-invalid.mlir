// RUN: wave-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a symbol, an integer or '(' in an expression}}
module attributes {t.a = #wave.expr<x + >} {}

// -----
// expected-error @+1 {{'wg.q' is no symbol: a user's symbol is an identifier without a dot and no operator; reserved are wg.x}}
module attributes {t.a = #wave.expr<wg.q>} {}

// -----
// expected-error @+1 {{'mod' is no symbol}}
module attributes {t.a = #wave.expr<mod>} {}

// -----
// expected-error @+1 {{division by zero in an expression}}
module attributes {t.a = #wave.expr<x floordiv (y - y)>} {}

// -----
// expected-error @+1 {{division by zero in an expression}}
module attributes {t.a = #wave.expr<x mod 0>} {}

// -----
// expected-error @+1 {{integer of an expression does not fit 64 bits}}
module attributes {t.a = #wave.expr<9223372036854775808>} {}

// -----
// expected-error @+1 {{min takes at least 2 operands, got 1}}
module attributes {t.a = #wave.expr<min(x)>} {}

// -----
// expected-error @+1 {{select takes 3 operands, got 2}}
module attributes {t.a = #wave.expr<select(x, y)>} {}

// -----
// expected-error @+1 {{comparisons of an expression are words: lt, le, gt, ge, eq, ne}}
module attributes {t.a = #wave.expr<x < y >>} {}

// -----
// expected-error @+1 {{expected '>'}}
module attributes {t.a = #wave.expr<x y>} {}

// -----
// expected-error @+1 {{expected '>'}}
module attributes {t.a = #wave.expr<x lt y lt z>} {}
