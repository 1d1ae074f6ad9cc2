/* base/seal.h: a checksum inside a text of JSON.
 *
 * The logs of a checkpoint are text, in Spark's form, and a flipped bit in a number or a path is a number or a path, too.
 * So what we write has a field more, which Spark's readers pass over: the checksum of the text before and behind its
 * own digits. A text without the field, as Spark writes it, has nothing to check. */
#ifndef FM_BASE_SEAL_H
#define FM_BASE_SEAL_H

#include "base/str.h"

#define FM_SEAL_KEY "floodmarkChecksum"
/* With the comma before it, which within a string never stands before a quotation mark: so it is not mistaken for part of one. */
#define FM_SEAL_NAME ",\"" FM_SEAL_KEY "\":\""
/* The field as it is put behind the others of an object before fm_seal. */
#define FM_SEAL_FIELD FM_SEAL_NAME "0000000000000000\""

/* Fills in the field, of which the text has one. */
void fm_seal(char *text, size_t len);
/* False: the text has the field, and is another than was sealed. */
bool fm_seal_holds(fm_str text);

#endif
