/* crypt_rn for bcrypt alone, over libxcrypt's implementation. */
#include "crypt.h"
#include <errno.h>
#include "crypt-port.h"

char* crypt_rn(const char* password, const char* setting, void* data, int size) {
    struct crypt_data* space = data;
    if (size < (int)sizeof *space) {
        errno = ERANGE;
        return NULL;
    }
    if (strncmp(setting, "$2", 2) != 0 || setting[2] == '\0' || strchr("abxy", setting[2]) == NULL || setting[3] != '$') {
        errno = EINVAL;
        return NULL;
    }
    space->output[0] = '\0';
    crypt_bcrypt_rn(password, strlen(password), setting, strlen(setting), (uint8_t*)space->output, sizeof space->output,
                    space->scratch, sizeof space->scratch);
    memset(space->scratch, 0, sizeof space->scratch);
    return space->output[0] == '\0' ? NULL : space->output;
}
