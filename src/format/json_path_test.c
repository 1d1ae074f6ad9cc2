/* format/json_path_test.c: what get_json_object finds. */
#include "format/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char doc1[] = "{\"a\":{\"b\":\"x y\"},\"l\":[1,\"two\",{\"x\":3}],\"z\":null}";
static const char doc2[] =
    "{\"a\":[{\"b\":1},{\"b\":2}],\"l\":[{\"x\":\"p\"},{\"x\":\"q\"}],\"z\":1.50}";
static const char nest[] = "[[1,2],[3,[4,5]],[]]";

static void test_found(void **state)
{
    static const struct {
        const char *text, *path, *found; /* NULL: nothing */
    } cases[] = {
        {doc1, "$.a.b", "x y"},
        {doc1, "$.l[1]", "two"},
        {doc1, "$.l[*].x", "3"},
        {doc1, "$", doc1},
        {doc1, "$.z", NULL},
        {doc1, "$.l[7]", NULL},
        {doc1, "$['a']['b']", "x y"},
        {doc1, "$.  a.b", "x y"},
        {doc1, " $.a.b", NULL},
        {doc1, "$ .a.b", NULL},
        {doc1, "$.a .b", NULL},
        {doc1, "a", NULL},
        {doc1, "$.a.b.", NULL},
        {doc1, "$.*", NULL},
        {doc1, "$[0]", NULL},
        {doc2, "$.a.b", NULL},
        {doc2, "$.l[1]", "{\"x\":\"q\"}"},
        {doc2, "$.l[*].x", "[\"p\",\"q\"]"},
        {doc2, "$", "{\"a\":[{\"b\":1},{\"b\":2}],\"l\":[{\"x\":\"p\"},{\"x\":\"q\"}],\"z\":1.5}"},
        {doc2, "$.l[0].x", "p"},
        {"not json", "$.a", NULL},
        {"{\"a\":1", "$.a", NULL},
        {"{\"a\":1} rest", "$.a", "1"},
        {"{\"a\":1,\"a\":2}", "$.a", "1"},
        {"{\"a\":\"x\\ny\"}", "$.a", "x\ny"},
        {"{\"a\":[\"x\\ny\"]}", "$.a", "[\"x\\ny\"]"},
        {"[1,2,3]", "$[*]", "[1,2,3]"},
        {"[1]", "$[*]", "1"},
        {"[\"s\"]", "$[*]", "\"s\""},
        {"[\"s\"]", "$[0]", "s"},
        {"[]", "$[*]", NULL},
        {nest, "$[*][*]", "[1,2,3,4,5]"},
        {nest, "$[1][*]", "[3,[4,5]]"},
        {nest, "$[*][0]", "[1,3]"},
        {"{'a':'q'}", "$.a", "q"},
        {"{\"a\":NaN}", "$.a", NULL},
        {"", "$", NULL},
        {"5", "$", "5"},
        {"\"\xff\"", "$", "\xef\xbf\xbd"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        const fm_json_path *path;
        fm_strbuf out = {0};
        fm_strbuf_add_c(&out, ">");
        assert_int_equal(fm_json_path_new(arena, fm_str_c(cases[i].path), &path, &err), FM_OK);
        bool found = fm_json_path_get(path, fm_str_c(cases[i].text), &out);
        if (found != (cases[i].found != NULL))
            fail_msg("%s %s: %d", cases[i].text, cases[i].path, found);
        assert_string_equal(out.ptr + 1, found ? cases[i].found : "");
        fm_strbuf_fini(&out);
        fm_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
