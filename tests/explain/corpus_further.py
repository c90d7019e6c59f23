"""Failures of many kinds of programs whose first explanation was wrong; and errors that a language's runtime reports,
which nothing outside the program has to answer for."""

from corpus_data import OWN


def java(body):
    return f"printf '%s\\n' 'class V {{ public static void main(String[] a) throws Exception {{ {body} }} }}' > V.java; javac V.java"


CASES = [
    ('script_long_first_line', "{ printf '#!/'; head -c 5000 /dev/zero | tr '\\0' a; echo; } > s; chmod +x s", './s',
     'first line of the script .* is too long'),
    ('linker_of_option_missing', "echo 'int main(){}' > x.c", 'gcc -fuse-ld=mold x.c -o x', 'linker'),
    ('own_audit_library_ignored', '', "env LD_AUDIT=/nosuch-dir/a.so sh -c 'echo wrong total >&2; exit 3'", OWN),
    ('perl_compiled_part_missing', "mkdir -p l/auto/Foo; printf 'package Foo; require XSLoader; XSLoader::load(\"Foo\"); 1;' > l/Foo.pm",
     'perl -Il -MFoo -e 1', 'Perl module Foo', '/usr/local/lib'),
    ('bus_unknown_element', "echo '<busconfig><nosuch/></busconfig>' > b.conf", 'dbus-daemon --nofork --config-file=$PWD/b.conf',
     r'b\.conf, line 1'),
    ('postgres_not_ready', '', 'pg_isready -h 127.0.0.1 -p PORT', r'nobody listens at 127\.0\.0\.1:PORT'),
    ('own_go_compile', "printf 'module m\\ngo 1.18\\n' > go.mod; printf 'package main\\nfunc main() { x := 1 }\\n' > a.go",
     'env GOCACHE=$PWD/cache go build .', OWN),
    ('node_child_without_directory', '', "node -e 'require(\"child_process\").execFileSync(\"ls\",[],{cwd:\"/nosuch-dir\"})'",
     '/nosuch-dir does not exist'),
    ('node_missing_package', 'echo "import x from \\"nosuch-esm\\"" > m.mjs', 'node m.mjs', 'nosuch-esm is not installed'),
    ('ruby_bundle_gem', "echo 'gem \"nosuchgem\"' > Gemfile", "ruby -e 'require \"bundler/setup\"'", 'nosuchgem'),
    ('php_memory_limit', '', "php -d memory_limit=2M -r 'str_repeat(\"x\",1<<24);'", 'memory_limit is 2097152'),
    ('maven_offline', "echo '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId><version>1</version>"
     "</project>' > pom.xml", 'mvn -q -o compile', 'offline'),
    ('fish_command_missing', '', "fish -c nosuchcommand", 'nosuchcommand is in none'),
    ('lld_library_missing', "echo 'int main(){}' > x.c", 'clang -fuse-ld=lld x.c -lnosuchlib', 'no library nosuchlib'),
    ('own_node_assertion', "printf 'const a=require(\"assert\"); a.strictEqual(1,2)' > t.js", 'node t.js', OWN),
    ('own_node_json', "echo '{bad' > d.json", "node -e 'JSON.parse(require(\"fs\").readFileSync(\"d.json\",\"utf8\"))'", OWN),
    ('own_python_zero', '', "python3 -c 'def f(x): return 1/x\nf(0)'", OWN),
    ('own_python_key', '', "python3 -c 'print({\"a\":1}[\"b\"])'", OWN),
    ('own_python_circular', 'echo "import b; x=1" > a.py; echo "from a import x" > b.py', "python3 -c 'import a'", OWN),
    ('own_python_syntax', 'echo "def f(:" > m.py', "python3 -c 'import m'", OWN),
    ('own_ruby_nil', '', "ruby -e 'nil.upcase'", OWN),
    ('own_php_type', '', "php -r 'function f(int $x){} f(\"abc\");'", OWN),
    ('own_java_null', java('String s=null; s.length();'), 'java -cp . V', OWN),
    ('own_java_state', java('throw new IllegalStateException("order 7 is closed");'), 'java -cp . V', OWN),
]
