"""Failures of many kinds of programs whose first explanation was wrong; and errors that a language's runtime reports,
which nothing outside the program has to answer for."""

from corpus_data import OWN


def java(body):
    return f"printf '%s\\n' 'class V {{ public static void main(String[] a) throws Exception {{ {body} }} }}' > V.java; javac V.java"


def python(code):
    return f"python3 -c '{code}'"


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
    ('own_code_without_file', '', "perl -e 'open(my $f, q(<), q(<string>)); print STDERR qq(<string>: cannot import name x\\n); exit 1'", OWN),
    ('file_in_angle_brackets', '', "cat '<string>'", r'/<string> does not exist'),
    ('own_python_syntax', 'echo "def f(:" > m.py', "python3 -c 'import m'", OWN),
    ('own_ruby_nil', '', "ruby -e 'nil.upcase'", OWN),
    ('own_php_type', '', "php -r 'function f(int $x){} f(\"abc\");'", OWN),
    ('own_java_null', java('String s=null; s.length();'), 'java -cp . V', OWN),
    ('own_java_state', java('throw new IllegalStateException("order 7 is closed");'), 'java -cp . V', OWN),
    # Limits and settings of the kernel.
    ('limit_pending_signals', '', python('import os,signal,resource,ctypes,sys\nresource.setrlimit(resource.RLIMIT_SIGPENDING,(0,0))\n'
     'l=ctypes.CDLL(None,use_errno=True)\nr=l.sigqueue(os.getpid(),40,None)\nif r: sys.exit("sigqueue: "+os.strerror(ctypes.get_errno()))'),
     'pending signals.*|ulimit -i'),
    ('limit_memory_to_start', "echo 'int main(){}' > x.c", 'prlimit --as=20000000 gcc x.c', r'19\.1 MiB.*ulimit -v|no more than'),
    ('limit_mappings', '[ "$(cat /proc/sys/vm/max_map_count)" -lt 100000 ]',
     python('import mmap\nm=[]\nwhile True: m.append(mmap.mmap(-1,4096,prot=1 if len(m)%2 else 3))'), r'max_map_count'),
    ('limit_recursion_is_its_own', '', python('f=lambda n: f(n+1)\nf(0)'), OWN),
    ('protected_hard_link', '[ "$(cat /proc/sys/fs/protected_hardlinks)" = 1 ]; touch f; chmod 600 f; mkdir -m 777 d', 'NOBODY ln f d/g',
     'protected_hardlinks'),
    ('protected_symbolic_link', '[ "$(cat /proc/sys/fs/protected_symlinks)" = 1 ]; mkdir -m 1777 s; echo x > t; chmod 644 t; '
     'setpriv --reuid=33 --clear-groups ln -s $PWD/t s/l', 'NOBODY cat s/l', 'protected_symlinks'),
    ('perf_paranoid', '[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]', 'NOBODY perf stat -a true', r'perf_event_paranoid is \d'),
    ('oom_score_refused', '', "NOBODY sh -c 'echo -500 > /proc/self/oom_score_adj'", 'may not write that value to .*oom_score_adj'),
    ('mount_file_without_loop', 'echo hi > f; mkdir m', 'mount -t ext4 f m', 'no block device'),
    ('sudo_no_password', '', 'NOBODY sudo -n true', 'password|set-user-ID'),
    ('user_exists', '', 'useradd nobody', 'the user nobody exists already'),
    ('route_gateway', '', 'ip route add 10.9.0.0/24 via 10.255.1.1', 'gateway'),
    ('link_type_unknown', '', 'ip link add hx1 type nosuchtype', 'no links of that type'),
    ('vim_script_missing', 'touch f', 'vim -es -u NONE -S /nosuch-dir/x.vim f', '/nosuch-dir'),
    ('vim_settings_missing', '', 'vim -es -u none-such -c q', r'/none-such does not exist'),
    ('taskset_no_process', '', 'taskset -p 4194299', 'no process 4194299'),
    ('flock_gives_up', 'touch l; (flock l sleep 9 >/dev/null 2>&1 &); until ! flock -n l true; do :; done', 'flock -w 0.3 l true',
     r'/l is locked by .*(sleep|flock) \(pid'),
    ('curl_no_reply', "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",PORT)); c,_=s.accept(); c.close()' >/dev/null 2>&1 & "
     "until ss -Hltn 'sport = :PORT' | grep -q .; do sleep 0.05; done", 'curl -sS http://127.0.0.1:PORT/', 'closed the connection|broke the connection off'),
    ('gpg_no_public_key', 'mkdir -m 700 g; echo a > a', 'env GNUPGHOME=$PWD/g gpg --batch -e -r nosuch@x a', 'no public key of nosuch@x'),
    ('git_clone_not_empty', 'mkdir d; touch d/f; git init -q s', 'git clone -q s d', 'the directory d is there already'),
    ('broadcast_without_option', '', python('import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); '
     's.sendto(b"x",("255.255.255.255",9))'), 'SO_BROADCAST'),
    ('python_connect_without_waiting', 'printf "import select, socket, sys\\ns = socket.socket(); s.setblocking(False); s.connect_ex((\\"127.0.0.1\\", 1))\\n'
     'select.select([], [s], []); sys.exit(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0)\\n" > t.py', 'python3 t.py',
     r'nobody listens at 127\.0\.0\.1:1'),
    # Words of the system's tools.
    ('ssh_wrong_passphrase', "ssh-keygen -q -N secret -f k", 'ssh-keygen -y -P wrong -f k', 'the passphrase of the key k'),
    ('git_unknown_transport', '', 'git clone -q nosuchproto://x/y z', 'no transport nosuchproto'),
    ('route_missing', '', 'ip route del 203.0.113.0/24', 'no such route'),
    ('address_assigned', '', 'ip addr add 127.0.0.1/8 dev lo', 'has that address already'),
    ('mount_file_on_directory', 'mkdir m; touch f', 'mount --bind f m', 'of the other kind'),
    ('no_session_bus', '', 'env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS systemd-run --user true', 'XDG_RUNTIME_DIR'),
    ('own_localedef_option', '', 'localedef --nosuchoption', OWN),
    ('password_of_unknown_user', '', "sh -c 'echo nosuchuser:x | chpasswd'", 'the user nosuchuser does not exist', 'pam.d'),
    ('find_unknown_group', '', 'find . -group nosuchgroup', 'the group nosuchgroup does not exist'),
    ('find_unknown_user', '', 'find . -user nosuchuser', 'the user nosuchuser does not exist'),
    ('own_gpg_no_data', 'mkdir -m 700 g; echo x > a', 'env GNUPGHOME=$PWD/g gpg --batch -d a', OWN),
    ('attributes_unsupported', '', 'chattr +i /proc/version', 'no such attributes'),
    ('number_of_error_only', "printf '#include <stdio.h>\\n#include <errno.h>\\nint main(){if(!fopen(\"/var/lib/myapp/state\",\"r+\")){"
     "fprintf(stderr,\"init failed (errno=%%d)\\\\n\",errno);return 3;}}' > x.c; gcc x.c -o x", './x', '/var/lib/myapp'),
    ('crontab_of_another', '', 'NOBODY crontab -u root -l', 'root'),
    ('address_missing', '', 'ip addr del 203.0.113.9/32 dev lo', 'no such address'),
    ('wget_posts_missing_file', '', 'wget -q --post-file=/nosuch-dir/p http://127.0.0.1:PORT/', '/nosuch-dir'),
    ('git_nothing_to_push', 'git init -q r', 'git -C r push origin HEAD', 'no branch, tag or commit HEAD', 'refs/remotes'),
    ('own_git_no_stash', 'git init -q r', 'git -C r stash pop', OWN),
    ('psql_service', '', 'env PGSERVICE=nosuchservice psql', 'the service nosuchservice'),
    ('words_on_output_in_pieces', '', "perl -e '$|=1; open(F,\"none.ps\"); print for \"Error: /undefinedfilename\", \" in (none.ps)\", \"\\nOS error: No such file or directory\\n\"; exit 1'",
     r'/none\.ps does not exist'),
    ('words_on_both_outputs', '', "perl -e '$|=1; open(F,\"none.zone\"); print \"loading from none.zone failed: file not found\\n\"; warn \"zone: failure\\n\"; exit 1'",
     r'/none\.zone does not exist'),
    ('output_flushed_after_error', '', "python3 -c 'import subprocess,sys\ntry: subprocess.run([\"nosuchtool\"])\nexcept OSError: pass\nprint(\"ERROR: unit 7 is invalid\", flush=True); sys.stdout.flush(); sys.exit(1)'",
     OWN),
    ('given_file_is_unsupported', '', "perl -e '-e $ARGV[0] or print STDERR \"Unsupported file $ARGV[0] given\\n\" and exit 1' ./none.deb", r'/none\.deb does not exist'),
    ('given_branch_is_unsupported', '', "perl -e '-e $ARGV[0] or print STDERR \"pathspec $ARGV[0] matches nothing\\n\" and exit 1' topic", OWN),
    ('file_of_option', '', "perl -e 'open(F,$ARGV[1]); print STDERR \"Unable to use the credentials\\n\"; exit 1' -- -A none.auth", r'/none\.auth does not exist'),
    ('folder_of_missing_file_named', '', "perl -e 'stat(\"/nosuch-dir/repo/format\"); print STDERR \"Unable to open repository file:///nosuch-dir/repo\\n\"; exit 1'",
     r'/nosuch-dir'),
    ('own_folder_not_unlinked', 'mkdir d', "perl -e 'unlink(\"d\"); rmdir(\"d\"); print STDERR \"the unit x is not one of ours\\n\"; exit 1'", OWN),
    ('own_name_looked_up', '', "perl -e 'readlink(\"perl\"); print STDERR \"types do not match; perl --explain 7 says more; type not found\\n\"; exit 1'", OWN),
    ('own_usage_names_servers', '', "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(\"/run/nosuch/request\"); print STDERR \"usage: x [--remote-path PATH] [--server HOST]\\nx: error: invalid choice\\n\"; exit 2'",
     OWN),
    ('status_is_errno', '', "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr=>\"127.0.0.1\",PeerPort=>PORT) or die \"queue is down\\n\"'", r'127\.0\.0\.1:PORT'),
    ('refused_address_given', '', "perl -MIO::Socket::INET -e 'IO::Socket::INET->new($ARGV[0]) or print STDERR \"no such printer\\n\" and exit 1' 127.0.0.1:PORT", r'127\.0\.0\.1:PORT'),
    ('silent_curl_timeout', 'LISTEN', 'curl -s -m 1 http://127.0.0.1:PORT/', r'did not answer in time.*status 28 of curl'),
    ('user_refused_by_program', '', "NOBODY perl -e 'print STDERR \"tool: Permission denied.\\n\"; exit 1'", r'user nobody may not do this, as perl says'),
    ('attribute_of_another', 'touch f', 'NOBODY setfacl -m u:nobody:r f', r'/f belongs to root'),
    ('set_user_id_granted', 'echo true > j', 'at -f j blursday', OWN),
]
