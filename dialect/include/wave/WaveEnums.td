#ifndef WAVE_ENUMS_TD
#define WAVE_ENUMS_TD
include "wave/WaveDialect.td"
include "mlir/IR/EnumAttr.td"

class Wave_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::wave";
  let genSpecializedAttr = 0;
}
class Wave_EnumAttr<EnumAttrInfo info, string text> : EnumAttr<Wave_Dialect, info, text>;

def Wave_AddressSpace : Wave_Enum<"AddressSpace", "where a memory lives",
    [I32EnumAttrCase<"Global", 0, "global">, I32EnumAttrCase<"Shared", 1, "shared">,
     I32EnumAttrCase<"Register", 2, "register">]>;

def Wave_ReduceKind : Wave_Enum<"ReduceKind", "what a reduction combines elements with",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]>;
def Wave_ReduceKindAttr : Wave_EnumAttr<Wave_ReduceKind, "reduce_kind">;

def Wave_AtomicKind : Wave_Enum<"AtomicKind", "what an atomic update does",
    [I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">,
     I32EnumAttrCase<"And", 3, "and">, I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Xor", 5, "xor">,
     I32EnumAttrCase<"Exchange", 6, "exchange">]>;
def Wave_AtomicKindAttr : Wave_EnumAttr<Wave_AtomicKind, "atomic_kind">;

def Wave_Predicate : Wave_Enum<"Predicate", "an order relation",
    [I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">, I32EnumAttrCase<"Lt", 2, "lt">,
     I32EnumAttrCase<"Le", 3, "le">, I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def Wave_PredicateAttr : Wave_EnumAttr<Wave_Predicate, "predicate">;

def Wave_ShuffleMode : Wave_Enum<"ShuffleMode", "which lane a shuffle reads",
    [I32EnumAttrCase<"Xor", 0, "xor">, I32EnumAttrCase<"Up", 1, "up">, I32EnumAttrCase<"Down", 2, "down">,
     I32EnumAttrCase<"Idx", 3, "idx">]>;
def Wave_ShuffleModeAttr : Wave_EnumAttr<Wave_ShuffleMode, "shuffle_mode">;

// The classes of instructions that scheduling ops speak of.
def Wave_InstructionClass : Wave_Enum<"InstructionClass", "a class of machine instructions",
    [I32EnumAttrCase<"Alu", 0, "alu">, I32EnumAttrCase<"Valu", 1, "valu">, I32EnumAttrCase<"Salu", 2, "salu">,
     I32EnumAttrCase<"Mma", 3, "mma">, I32EnumAttrCase<"GlobalAll", 4, "global_all">,
     I32EnumAttrCase<"GlobalRead", 5, "global_read">, I32EnumAttrCase<"GlobalWrite", 6, "global_write">,
     I32EnumAttrCase<"SharedAll", 7, "shared_all">, I32EnumAttrCase<"SharedRead", 8, "shared_read">,
     I32EnumAttrCase<"SharedWrite", 9, "shared_write">, I32EnumAttrCase<"Transcendental", 10, "transcendental">]>;
def Wave_InstructionClassAttr : Wave_EnumAttr<Wave_InstructionClass, "instructions">;
#endif
