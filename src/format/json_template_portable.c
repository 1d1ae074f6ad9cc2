/* format/json_template_portable.c: the templates' loop for any machine. */
#define RUN_NAME fm_json_run_portable
#include "format/json_template_body.h"
