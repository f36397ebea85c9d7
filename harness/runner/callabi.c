/*
 * callabi.c - see callabi.h; the only file that includes libffi.
 */
#include "callabi.h"

#include <string.h>

static ffi_type *type_of(const struct command_param *p)
{
    if (!p->scalar)
        return &ffi_type_pointer;
    switch ((enum record_type)p->type) {
    case RECORD_F64:
        return &ffi_type_double;
    case RECORD_F32:
        return &ffi_type_float;
    case RECORD_I64:
        return &ffi_type_sint64;
    case RECORD_I32:
        return &ffi_type_sint32;
    case RECORD_U32:
        return &ffi_type_uint32;
    case RECORD_I8:
        return &ffi_type_sint8;
    case RECORD_U8:
        return &ffi_type_uint8;
    case RECORD_F16: /* no C type to pass them by value */
    case RECORD_BF16:
    case RECORD_TYPE_COUNT:
        break;
    }
    return NULL;
}

const char *callabi_prepare(struct callabi *abi, const struct command_param *params, unsigned count)
{
    bool same = abi->prepared && abi->count == count;

    if (count > RECORD_MAX_PARAMS)
        return "too many parameters";
    for (unsigned i = 0; i < count; i++) {
        ffi_type *type = type_of(&params[i]);
        if (type == NULL)
            return "a 16-bit float cannot be passed by value";
        same = same && abi->types[i] == type;
        abi->types[i] = type;
    }
    if (same)
        return NULL;
    abi->count = count;
    abi->prepared =
        ffi_prep_cif(&abi->cif, FFI_DEFAULT_ABI, count, &ffi_type_void, abi->types) == FFI_OK;
    return abi->prepared ? NULL : "libffi refuses the signature";
}

void callabi_solve(struct callabi *abi, solve_function solve, const struct command_param *params,
                   void *const pointers[RECORD_MAX_PARAMS])
{
    /* Copies: libffi takes addresses of values, and a solve() may not reach the originals. */
    void *values[RECORD_MAX_PARAMS], *addresses[RECORD_MAX_PARAMS];
    uint64_t scalars[RECORD_MAX_PARAMS];

    for (unsigned i = 0; i < abi->count; i++) {
        values[i] = pointers[i];
        scalars[i] = params[i].value; /* little-endian: the low bytes are the value */
        addresses[i] = params[i].scalar ? (void *)&scalars[i] : (void *)&values[i];
    }
    ffi_call(&abi->cif, solve, NULL, addresses);
}
