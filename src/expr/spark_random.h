/* expr/spark_random.h: the random numbers of Spark's rand(), randn(), uniform() and randstr(): equal seeds, equal values.
 *
 * Rule  Spark, XORShiftRandom under java.util.Random's nextDouble and nextGaussian. */
#ifndef FM_EXPR_SPARK_RANDOM_H
#define FM_EXPR_SPARK_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fm_spark_random {
    uint64_t state;
    bool has_gaussian; /* the second of the pair that was drawn last */
    double gaussian;
} fm_spark_random;

void fm_spark_random_init(fm_spark_random *r, int64_t seed);
int32_t fm_spark_random_i32(fm_spark_random *r);       /* nextInt() */
double fm_spark_random_f64(fm_spark_random *r);        /* [0, 1) */
double fm_spark_random_gaussian(fm_spark_random *r);   /* mean 0, deviation 1 */

#endif
