/* expr/base64_text.c: bytes as base64, as Java's MIME coders write and read it. */
#include "expr/base64_text.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { LINE_LEN = 76 };

/* 0..63, -1 for '=', -2 for what is none of them. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : c == '=' ? -1 : -2;
}

void fm_base64_add(fm_strbuf *out, fm_str bytes)
{
    size_t in_line = 0;
    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t left = bytes.len - at;
        uint32_t x = (uint32_t)(unsigned char)bytes.ptr[at] << 16;
        char four[4];
        if (left > 1) x |= (uint32_t)(unsigned char)bytes.ptr[at + 1] << 8;
        if (left > 2) x |= (unsigned char)bytes.ptr[at + 2];
        four[0] = alphabet[x >> 18];
        four[1] = alphabet[x >> 12 & 63];
        four[2] = left > 1 ? alphabet[x >> 6 & 63] : '=';
        four[3] = left > 2 ? alphabet[x & 63] : '=';
        if (in_line == LINE_LEN) {
            fm_strbuf_add_c(out, "\r\n");
            in_line = 0;
        }
        fm_strbuf_add(out, (fm_str){four, 4});
        in_line += 4;
    }
}

const char *fm_base64_read(fm_strbuf *out, fm_str text)
{
    uint32_t bits = 0;
    int n = 0; /* characters of the group of four that is being read */
    size_t at = 0;
    for (; at < text.len; at++) {
        int v = value_of(text.ptr[at]);
        if (v == -2) continue;
        if (v == -1) {
            at++;
            if (n == 0 || (n == 2 && (at == text.len || text.ptr[at++] != '=')))
                return "Input byte array has wrong 4-byte ending unit";
            break;
        }
        bits = bits << 6 | (uint32_t)v;
        if (++n < 4) continue;
        fm_strbuf_add_char(out, (char)(bits >> 16));
        fm_strbuf_add_char(out, (char)(bits >> 8));
        fm_strbuf_add_char(out, (char)bits);
        bits = 0;
        n = 0;
    }
    if (n == 1) return "Last unit does not have enough valid bits";
    if (n >= 2) fm_strbuf_add_char(out, (char)(n == 2 ? bits >> 4 : bits >> 10));
    if (n == 3) fm_strbuf_add_char(out, (char)(bits >> 2));
    for (; at < text.len; at++)
        if (value_of(text.ptr[at]) != -2) return "Input byte array has characters behind its padding";
    return NULL;
}

bool fm_base64_is_strict(fm_str text)
{
    size_t n = 0, padding = 0;
    for (size_t at = 0; at < text.len; at++) {
        int v = value_of(text.ptr[at]);
        if (v == -2) {
            if (padding || !strchr(" \t\n\v\f\r", text.ptr[at]) || !text.ptr[at]) return false;
        } else if (v == -1) {
            if (++padding > 2) return false;
        } else {
            if (padding) return false;
            n++;
        }
    }
    return padding ? (n + padding) % 4 == 0 : n % 4 != 1;
}
