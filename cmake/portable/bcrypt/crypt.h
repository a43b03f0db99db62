/* The part of libxcrypt's interface that gpu-profile uses, for bcrypt alone ($2a$, $2b$, $2x$, $2y$). */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

struct crypt_data {
    char output[384];
    unsigned long scratch[4000];
};

/* The hash of a password with the settings of `setting`, in data->output; NULL with errno if bcrypt did not make `setting`. */
char* crypt_rn(const char* password, const char* setting, void* data, int size);

#ifdef __cplusplus
}
#endif
