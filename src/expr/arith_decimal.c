/* expr/arith_decimal.c: arithmetic on decimals: exact, then rounded half up to the scale of the result.
 *
 * Rule  Spark, DecimalPrecision: when a result would take more than 38 digits, digits behind the point are given
 *       up, down to six, so that those before the point stay. */
#include "base/limits.h"
#include "expr/arith.h"
#include "expr/cast.h"
#include "expr/decimal.h"

static int max(int a, int b) { return a > b ? a : b; }
static int min(int a, int b) { return a < b ? a : b; }

void fm_decimal_result(fm_arith_op op, int p1, int s1, int p2, int s2, int *precision, int *scale)
{
    enum { SCALE_KEPT = 6 };
    int p, s, whole;
    switch (op) {
    case FM_ADD:
    case FM_SUB:
        s = max(s1, s2);
        p = max(p1 - s1, p2 - s2) + s + 1;
        break;
    case FM_MUL:
        s = s1 + s2;
        p = p1 + p2 + 1;
        break;
    case FM_DIV:
        s = max(6, s1 + p2 + 1);
        p = p1 - s1 + s2 + s;
        break;
    case FM_INT_DIV:
        s = 0;
        p = p1 - s1 + s2;
        if (p == 0) p = 1;
        break;
    default:
        s = max(s1, s2);
        p = min(p1 - s1, p2 - s2) + s;
        break;
    }
    if (p > FM_DECIMAL_PRECISION_MAX) {
        whole = p - s;
        s = max(FM_DECIMAL_PRECISION_MAX - whole, min(s, SCALE_KEPT));
        p = FM_DECIMAL_PRECISION_MAX;
    }
    *precision = p;
    *scale = s;
}

/* a % b at result scale. */
static bool remainder_of(fm_i128 a, int sa, fm_i128 b, int sb, bool positive, int scale, fm_i128 *out)
{
    int wide = max(sa, sb);
    fm_i128 x, y, r;
    if (__builtin_mul_overflow(b, fm_pow10_i128(wide - sb), &y)) {
        /* b is larger than any a. */
        return fm_decimal_rescale(a, sa, scale, out);
    }
    if (__builtin_mul_overflow(a, fm_pow10_i128(wide - sa), &x)) {
        /* a * 10^k mod b, digit by digit. */
        fm_u128 m = (fm_u128)(y < 0 ? -y : y), v = (fm_u128)(a < 0 ? -a : a) % m;
        for (int i = 0; i < wide - sa; i++) {
            fm_u128 by_ten = 0;
            for (int k = 0; k < 10; k++) by_ten = by_ten >= m - v ? by_ten - (m - v) : by_ten + v;
            v = by_ten;
        }
        r = a < 0 ? -(fm_i128)v : (fm_i128)v;
    } else {
        r = x % y;
    }
    if (positive && r < 0) r = (r + y) % y;
    return fm_decimal_rescale(r, wide, scale, out);
}

/* The quotient without its fraction; false: beyond BIGINT is not looked at, the low bits are taken. */
static fm_i128 whole_quotient(fm_i128 a, int sa, fm_i128 b, int sb, bool *fits)
{
    fm_i128 x, y;
    int wide = max(sa, sb);
    *fits = true;
    if (!__builtin_mul_overflow(a, fm_pow10_i128(wide - sa), &x) &&
        !__builtin_mul_overflow(b, fm_pow10_i128(wide - sb), &y))
        return x / y;
    if (sa > sb) return 0; /* b outgrew 128 bits: it is larger than a */
    *fits = false;
    return 0;
}

static bool lane(const fm_arith *a, const fm_vec *args, int64_t i, fm_i128 *out)
{
    fm_i128 x = fm_vec_decimal(&args[0])[i], y = fm_vec_decimal(&args[1])[i];
    int sx = args[0].type->scale, sy = args[1].type->scale, raise;
    switch (a->op) {
    case FM_ADD:
    case FM_SUB: return fm_decimal_add(x, sx, y, sy, a->op == FM_SUB, a->scale, out);
    case FM_MUL: return fm_decimal_mul(x, y, sx + sy - a->scale, out);
    case FM_DIV:
        /* x / 10^sx / (y / 10^sy) * 10^scale = x * 10^(scale - sx + sy) / y */
        raise = a->scale - sx + sy;
        if (raise >= 0) return fm_decimal_div(x, raise, y, out);
        /* Scale is given up below what x has: divide by more. */
        if (-raise > FM_DECIMAL_PRECISION_MAX) return false;
        if (__builtin_mul_overflow(y, fm_pow10_i128(-raise), &y)) {
            *out = 0;
            return true;
        }
        return fm_decimal_div(x, 0, y, out);
    default: return remainder_of(x, sx, y, sy, a->op == FM_PMOD, a->scale, out);
    }
}

static fm_status fault(fm_call *call, const fm_vec *args, fm_vec *out, uint64_t **own, int64_t i)
{
    /* The exact value may need more digits than there is room for: the operands are named. */
    char text[2][FM_DECIMAL_TEXT_SIZE], whole[2 * FM_DECIMAL_TEXT_SIZE + 8];
    static const char symbols[] = "+-*/%%/";
    const fm_arith *a = call->bound;
    size_t n = 0, len;
    for (int k = 0; k < 2; k++) {
        len = fm_decimal_text(fm_vec_decimal(&args[k])[i], args[k].type->scale, text[k]);
        if (k) {
            whole[n++] = ' ';
            whole[n++] = symbols[a->op];
            whole[n++] = ' ';
        }
        memcpy(whole + n, text[k], len);
        n += len;
    }
    return fm_arith_range(call, out, own, i, (fm_str){whole, n}, call->expr->type);
}

static fm_status integral(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_i128 *x = fm_vec_decimal(&args[0]), *y = fm_vec_decimal(&args[1]);
    const fm_arith *a = call->bound;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        bool fits;
        fm_i128 q;
        if (fm_call_lane_null(out, i)) continue;
        if (y[i] == 0) {
            FM_TRY(fm_arith_zero(call, out, &own, i));
            continue;
        }
        q = whole_quotient(x[i], args[0].type->scale, y[i], args[1].type->scale, &fits);
        if (!fits || (a->on_fault != FM_FAULT_WRAP && q != (int64_t)q)) {
            FM_TRY(fm_arith_overflow(call, NULL, out, &own, i));
            continue;
        }
        fm_vec_i64_out(out)[i] = (int64_t)(uint64_t)(fm_u128)q;
    }
    return FM_OK;
}

/* The everyday case: both scales equal the result's and no sum can pass 38 digits. */
static bool add_plain(const fm_arith *a, const fm_vec *args, fm_vec *out)
{
    const fm_i128 *restrict x = fm_vec_decimal(&args[0]), *restrict y = fm_vec_decimal(&args[1]);
    fm_i128 *restrict to = fm_vec_decimal_out(out);
    if (a->op > FM_SUB || args[0].type->scale != a->scale || args[1].type->scale != a->scale ||
        args[0].type->precision >= a->precision || args[1].type->precision >= a->precision)
        return false;
    if (a->op == FM_ADD)
        for (int64_t i = 0; i < out->len; i++) to[i] = x[i] + y[i];
    else
        for (int64_t i = 0; i < out->len; i++) to[i] = x[i] - y[i];
    return true;
}

fm_status fm_arith_decimal(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    fm_i128 *to;
    uint64_t *own = NULL;
    if (a->op == FM_INT_DIV) return integral(call, args, out);
    if (add_plain(a, args, out)) return FM_OK;
    to = fm_vec_decimal_out(out);
    for (int64_t i = 0; i < out->len; i++) {
        if (fm_call_lane_null(out, i)) continue;
        if (a->op >= FM_DIV && fm_vec_decimal(&args[1])[i] == 0) {
            FM_TRY(fm_arith_zero(call, out, &own, i));
            continue;
        }
        if (lane(a, args, i, &to[i]) && fm_decimal_fits(to[i], a->precision)) continue;
        to[i] = 0;
        FM_TRY(fault(call, args, out, &own, i));
    }
    return FM_OK;
}
