/* What libxcrypt's crypt-bcrypt.c needs of libxcrypt's own header of this name. That file is in the public domain, and so
   the program contains nothing of libxcrypt that is under the LGPL. Only x86-64 and aarch64: little-endian. */
#pragma once
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INCLUDE_bcrypt 1
#define CRYPT_OUTPUT_SIZE 384
#define ALG_SPECIFIC_SIZE 32000
#define XCRYPT_USE_BIGENDIAN 0
#define ARG_UNUSED(name) name __attribute__((unused))

void crypt_bcrypt_rn(const char* phrase, size_t phr_size, const char* setting, size_t set_size, uint8_t* output,
                     size_t out_size, void* scratch, size_t scr_size);
void gensalt_bcrypt_rn(unsigned long count, const uint8_t* rbytes, size_t nrbytes, uint8_t* output, size_t o_size);
