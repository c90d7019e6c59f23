// What programs say in words of their own, and what it means. All that explain knows about single programs stands in
// this table.
#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "explain/configuration_text.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"
#include "explain/value_source.h"

namespace tracer::explain::rules {

namespace {

enum class About : std::uint8_t {
  anything,
  clock,
  file,     ///< the file that the program opened last stands before the cause
  setting,  ///< applies if the word stands in the command line or in a configuration file
  server,   ///< applies if the program, or one that it started, has connected to one
};

struct Saying {
  std::string_view words;   ///< part of a message; `{}` stands for a word, which ends before what follows it
  std::string_view cause;   ///< `{}`: that word
  std::string_view remedy;  ///< the same
  std::string_view rule;
  About about = About::anything;  ///< what to look at
};

constexpr std::string_view unknown_authority =
    "the certificate of the other end is signed by no authority that it knows (or by itself)";
constexpr std::string_view trust_it =
    "if it is the right server, name its certificate or its authority (curl --cacert FILE, SSL_CERT_FILE=FILE)";
constexpr std::string_view not_yet_valid = "the certificate is not valid yet at the time that its clock shows";
constexpr std::string_view set_clock =
    "set the clock right (date; timedatectl), or get a certificate that is valid now";
constexpr std::string_view expired = "the certificate has expired";
constexpr std::string_view renew =
    "renew the certificate; if it has not expired, set the clock right (date; timedatectl)";
constexpr std::string_view other_name = "the certificate of the other end is for another host name";
constexpr std::string_view right_name = "use a name that is in the certificate, or get one for this name";
constexpr std::string_view no_tls = "the other end does not speak TLS: it seems to be a plain server, such as of http";
constexpr std::string_view plain_address = "use the address for plain connections (http://), or the port for TLS";
constexpr std::string_view refuses_root = "it refuses to run as root";
constexpr std::string_view other_user =
    "run it as another user: setpriv --reuid=USER --regid=USER --init-groups COMMAND";
constexpr std::string_view newer_java =
    "it was built for a newer Java (class file version {}) than the one that runs it";
constexpr std::string_view update_java = "run it with a newer Java, or build it with javac --release";
constexpr std::string_view as_tls = "certificate-not-trusted";

// Special ones before general ones.
constexpr Saying sayings[] = {
    {"certificate is not yet valid", not_yet_valid, set_clock, "certificate-not-valid-now", About::clock},
    {"not yet activated", not_yet_valid, set_clock, "certificate-not-valid-now", About::clock},
    {"NotYetValid", not_yet_valid, set_clock, "certificate-not-valid-now", About::clock},
    {"CERT_NOT_YET_VALID", not_yet_valid, set_clock, "certificate-not-valid-now", About::clock},
    {"certificate has expired", expired, renew, "certificate-not-valid-now", About::clock},
    {"certificate expired", expired, renew, "certificate-not-valid-now", About::clock},
    {"CERT_HAS_EXPIRED", expired, renew, "certificate-not-valid-now", About::clock},
    {"CertificateExpired", expired, renew, "certificate-not-valid-now", About::clock},
    {"no alternative certificate subject name", other_name, right_name, "certificate-of-another-host"},
    {"certificate subject name", other_name, right_name, "certificate-of-another-host"},
    {"Hostname mismatch", other_name, right_name, "certificate-of-another-host"},
    {"IP address mismatch", other_name, right_name, "certificate-of-another-host"},
    {"ERR_TLS_CERT_ALTNAME_INVALID", other_name, right_name, "certificate-of-another-host"},
    {"x509: certificate is valid for", other_name, right_name, "certificate-of-another-host"},
    {"self-signed certificate", unknown_authority, trust_it, as_tls},
    {"self signed certificate", unknown_authority, trust_it, as_tls},
    {"unable to get local issuer certificate", unknown_authority, trust_it, as_tls},
    {"unable to get issuer certificate", unknown_authority, trust_it, as_tls},
    {"unable to verify the first certificate", unknown_authority, trust_it, as_tls},
    {"UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknown_authority, trust_it, as_tls},
    {"certificate signed by unknown authority", unknown_authority, trust_it, as_tls},
    {"unable to find valid certification path", unknown_authority, trust_it, as_tls},
    {"certificate verify failed", unknown_authority, trust_it, as_tls},
    {"The certificate is not trusted", unknown_authority, trust_it, as_tls},
    {"server certificate verification failed", unknown_authority, trust_it, as_tls},
    {"wrong version number", no_tls, plain_address, "not-tls"},
    {"WRONG_VERSION_NUMBER", no_tls, plain_address, "not-tls"},
    {"first record does not look like a TLS handshake", no_tls, plain_address, "not-tls"},
    {"Unsupported or unrecognized SSL message", no_tls, plain_address, "not-tls"},
    {"key values mismatch", "the private key does not belong to the certificate",
     "name the key that the certificate was made with (openssl pkey -pubout and openssl x509 -pubkey show both)",
     "key-of-another-certificate"},
    {"KEY_VALUES_MISMATCH", "the private key does not belong to the certificate",
     "name the key that the certificate was made with", "key-of-another-certificate"},
    {"Bad owner or permissions on {}\n", "ssh refuses {}, as others may write it", "chmod 600 {}",
     "permissions-too-open"},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", "the host key of the server is not the one that known_hosts has for it",
     "if the server was really set up anew: ssh-keygen -R HOST, then connect again and compare the key",
     "host-key-changed"},
    {"Host key verification failed",
     "the host key of the server is not known here, and it may not ask whether to trust it",
     "connect once by hand and compare the key, or add it to known_hosts", "host-key-unknown"},
    {"Permission denied (publickey", "the server accepts none of the keys that it was offered",
     "name the right key (ssh -i), and see that its public half is in authorized_keys on the server",
     "key-not-accepted"},
    {"Permission denied, please try again", "the server did not accept the password",
     "give the right password or a key", "key-not-accepted"},
    {"password authentication failed for user \"{}\"", "the database does not accept the password of {}",
     "give the right password (~/.pgpass), or set it anew: ALTER USER", "password-not-accepted", About::server},
    {"no pg_hba.conf entry", "pg_hba.conf lets this user and host not connect", "add a line for it to pg_hba.conf",
     "connection-not-allowed", About::server},
    {"database \"{}\" does not exist", "the database {} does not exist on that server", "createdb {}, or name another",
     "no-such-database", About::server},
    {"role \"{}\" does not exist", "the role {} does not exist on that server", "createuser {}, or name another",
     "no-such-role", About::server},
    {"Access denied for user {}", "the database does not let {} in", "give the right user and password",
     "password-not-accepted", About::server},
    {"NOAUTH Authentication required", "the server wants a password, and it gave none",
     "give it: redis-cli -a, REDISCLI_AUTH", "password-not-accepted", About::server},
    {"\"root\" execution of the", refuses_root, other_user, "refuses-root"},
    {"cannot be run as root", refuses_root, other_user, "refuses-root"},
    {"can not be run as root", refuses_root, other_user, "refuses-root"},
    {"must not be run as root", refuses_root, other_user, "refuses-root"},
    {"should not be run as root", refuses_root, other_user, "refuses-root"},
    {"can't be run as root", refuses_root, other_user, "refuses-root"},
    {"not supposed to be run as root", refuses_root, other_user, "refuses-root"},
    {"on't run as root", refuses_root, other_user, "refuses-root"},
    {"run as root without", refuses_root, other_user, "refuses-root"},
    {"as root without --no-sandbox", refuses_root, "run it as another user, or with --no-sandbox", "refuses-root"},
    {"can't run as root without", refuses_root, "name the user that it changes to: -u USER", "refuses-root"},
    {"must be run as root", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"must be root", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"you need to be root", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"only root can", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"requires superuser privilege", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"Operation not permitted while setting flags on {}\n",
     "only its owner may set attributes of {}, and only root (CAP_LINUX_IMMUTABLE) immutable and append-only",
     "sudo, or run it as root", "missing-capability"},
    {"superuser only", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"directory \"{}\" is not a database cluster directory", "the directory {} holds no database cluster",
     "initdb -D {}, or name the right directory", "not-initialised"},
    {"ERROR: not a btrfs filesystem: {}\n", "{} is not in a btrfs file system", "findmnt -t btrfs lists them",
     "unknown-file-system"},
    {"does not contain PG_VERSION", "the database was not initialised", "initdb -D DIRECTORY", "not-initialised"},
    {"is not a valid data directory", "the data directory holds no database", "initdb -D DIRECTORY", "not-initialised"},
    {"initialized by PostgreSQL version {},", "the database was made by another version of the server: {}",
     "start that version, or move the data over with pg_upgrade", "data-of-another-version"},
    {"directory \"{}\" exists but is not empty", "the directory {} is not empty",
     "name an empty one, or use what is in it", "folder-not-empty"},
    {"No MPM loaded", "no MPM (multi-processing module) is loaded, which apache needs",
     "LoadModule mpm_event_module …, or include mods-enabled (a2enmod mpm_event)", "module-not-loaded"},
    {"fatal: '{}' does not appear to be a git repository", "{} is no git repository at the other end",
     "correct the address, or make the repository there", "no-repository"},
    {"_COMPILER:\n\n    {}\n", "the compiler {} is in none of the directories of PATH",
     "install it, or name another one (CC, CXX)", "command-not-found"},
    {"Can't locate loadable object for module {} in @INC",
     "the compiled part of the Perl module {} is missing: its shared library is in no directory of @INC",
     "install the module again, for this Perl", "missing-library"},
    {"collect2: fatal error: cannot find ‘{}’",
     "the linker {} is in none of the directories that the compiler looks in",
     "install it, or name another one: -fuse-ld", "command-not-found"},
    {"Allowed memory size of {} bytes exhausted", "the memory that PHP may use is used up: memory_limit is {} bytes",
     "raise memory_limit in php.ini, or php -d memory_limit=512M", "heap-used-up"},
    {"Cannot access {} in offline mode", "Maven works offline, and its local repository lacks what it needs from {}",
     "run it once without -o, or fill ~/.m2/repository", "missing-module"},
    {"@ERROR: chdir failed",
     "the rsync server cannot enter the directory of the module: it does not exist there, or is closed",
     "correct the module's path in rsyncd.conf of the server, or make the directory", "missing-at-other-end"},
    {"AF_UNIX path too long", "the path of a Unix socket is too long: it may have 107 bytes at most",
     "use a shorter path, such as one below /run or /tmp", "name-too-long"},
    {" is not a block device; try \"-o loop\"", "what it is to mount is a file and no block device",
     "mount -o loop, or name a device (lsblk lists them)", "not-a-device"},
    {"sudo: a password is required", "sudo asks for a password, and may not ask here (-n, or no terminal)",
     "run it on a terminal, or allow the command without a password (NOPASSWD in sudoers)", "not-authenticated"},
    {"This account is currently not available", "the account has no login shell: /etc/passwd names nologin for it",
     "su -s /bin/sh USER, or runuser -u USER -- COMMAND", "no-login-shell"},
    {"user '{}' already exists", "the user {} exists already", "usermod changes it, or choose another name",
     "name-taken"},
    {"group '{}' already exists", "the group {} exists already", "groupmod changes it, or choose another name",
     "name-taken"},
    {"Nexthop has invalid gateway", "the gateway is in none of the networks that its interfaces are in",
     "ip route get GATEWAY and ip address show what is reachable; onlink forces it", "unreachable"},
    {"Unknown device type", "the kernel knows no links of that type: it is misspelt, or its module is not loaded",
     "ip link help lists the types; modprobe loads the module", "unknown-type"},
    {"Empty reply from server", "the server closed the connection and did not answer",
     "see what the server says (its log): it may have crashed, or speak another protocol", "connection-closed"},
    {"gpg: {}: skipped: No", "gpg has no public key of {}", "gpg --import FILE, or correct the name (gpg --list-keys)",
     "missing-key"},
    {"fatal: repository '{}' not found", "the server has no repository {}", "correct the address", "no-repository"},
    {"destination path '{}' already exists and is not an empty directory",
     "the directory {} is there already, and it is not empty", "name another one, or use what is in it",
     "folder-not-empty"},
    {"codec can't decode byte", "is no text in the encoding that the program expects",
     "convert it (iconv -t UTF-8), or give the program its encoding", "wrong-encoding", About::file},
    {"subprocess.TimeoutExpired: Command '{}' timed out after",
     "the command {} did not end in the time that it was given",
     "see what it does (tracer --explain-after=5s COMMAND), or give it more time", "child-too-slow"},
    {"pg_hba.conf\" contains no entries", "its pg_hba.conf has no entries, so that nobody could connect",
     "add a line for each user and host that may connect, see pg_hba.conf", "configuration-error"},
    {"Load key \"{}\": incorrect passphrase", "the passphrase of the key {} is another one", "give the right one",
     "not-authenticated"},
    {"git: 'remote-{}' is not a git command", "git has no transport {}://", "correct the address (https://, ssh://)",
     "unknown-type"},
    {"RTNETLINK answers: No such process", "there is no such route", "ip route lists those that there are",
     "no-such-route"},
    {"RTNETLINK answers: File exists", "the network has that already: an address, a route or a link of that name",
     "ip address, ip route and ip link list them", "name-taken"},
    {"Address already assigned", "the interface has that address already", "ip address lists them", "name-taken"},
    {"connect to bus: No medium found",
     "there is no session's D-Bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to one",
     "run it in a session of that user, or set XDG_RUNTIME_DIR=/run/user/UID", "server-not-running"},
    {"$DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined",
     "there is no session's D-Bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to one",
     "run it in a session of that user, or set XDG_RUNTIME_DIR=/run/user/UID", "server-not-running"},
    {"‘{}’ is not the name of a known user", "the user {} does not exist on this machine",
     "name a user that exists (getent passwd lists them)", "unknown-user"},
    {"invalid user name or UID argument to -user: ‘{}’", "the user {} does not exist on this machine",
     "name a user that exists (getent passwd lists them)", "unknown-user"},
    {"invalid group name or GID argument to -group: ‘{}’", "the group {} does not exist on this machine",
     "name a group that exists (getent group lists them)", "unknown-user"},
    {"‘{}’ is not the name of an existing group", "the group {} does not exist on this machine",
     "name a group that exists (getent group lists them)", "unknown-user"},
    {"Operation not supported while reading flags on {}\n", "the file system of {} has no such attributes",
     "chattr needs ext4, btrfs, XFS or the like", "not-supported"},
    {"error: externally-managed-environment", "this Python belongs to the system, and pip may install nothing into it",
     "python3 -m venv DIRECTORY, then DIRECTORY/bin/pip install; or the package of the distribution",
     "managed-environment"},
    {"Not superuser", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"may not view or modify", "it must run as root, or as the user whose account it is about",
     "sudo, or run it as root", "needs-root"},
    {"not have permission to use at.", "/etc/at.allow and /etc/at.deny do not let this user use at",
     "let root add the user to /etc/at.allow, or remove it from /etc/at.deny", "not-allowed"},
    {"svn: E155004: Working copy '{}' locked", "another svn works in {}, or one that was ended there left its lock",
     "svn cleanup {}, if no other svn runs", "lock-held"},
    {"package {} is not in GOROOT", "neither go.mod nor the standard library of Go has the package {}",
     "correct the import, or go get the module that has it", "missing-module"},
    {"package {} is not in std", "neither go.mod nor the standard library of Go has the package {}",
     "correct the import, or go get the module that has it", "missing-module"},
    {"must be privileged to", "it must run as root", "sudo, or run it as root", "needs-root"},
    {"definition of service \"{}\" not found", "no pg_service.conf defines the service {} (PGSERVICE)",
     "correct the name, or define it in ~/.pg_service.conf", "no-such-service"},
    {"src refspec {} does not match any", "this repository has no branch, tag or commit {} to push",
     "git branch lists them; commit first in a new repository", "no-such-reference"},
    {"Error: ipv4: Address not found", "the interface has no such address", "ip address lists them", "no-such-address"},
    {"Identity file {} not accessible", "the key file {} does not exist", "name the right file: ssh -i FILE",
     "missing-file"},
    {"no hostkeys available", "sshd has no host key that it may use", "ssh-keygen -A makes them", "not-initialised"},
    {"Missing privilege separation directory: {}", "the directory {} does not exist, which sshd needs",
     "mkdir -m 755 {}", "missing-file"},
    {"DefaultRuntimeDir directory '{}'", "the directory {} does not exist (DefaultRuntimeDir)",
     "mkdir {}; systemctl and apache2ctl do that", "missing-file"},
    {"file is not a database", "is no database of SQLite", "name the right file", "not-a-database", About::file},
    {"file is encrypted or is not a database", "is no database of SQLite", "name the right file", "not-a-database",
     About::file},
    {"database disk image is malformed", "is a database of SQLite that is damaged",
     "restore it from a backup, or save what can be read: sqlite3 FILE .recover", "damaged-database", About::file},
    {"Wrong signature trying to load DB", "is no dump of a Redis database", "restore it from a backup, or name another",
     "damaged-database", About::file},
    {"Can't handle RDB format version", "is no dump of a Redis database, or one of a newer Redis",
     "restore it from a backup, or name another", "damaged-database", About::file},
    {"Fatal error loading the DB", "is a dump of a Redis database that is damaged",
     "restore it from a backup (redis-check-rdb checks it), or name another", "damaged-database", About::file},
    {"Bad file format reading the append only file", "is damaged, the append-only file of Redis",
     "restore it from a backup, or redis-check-aof --fix", "damaged-database", About::file},
    {"to run mariadbd as root", refuses_root, "run it as another user: --user=mysql", "refuses-root"},
    {"to run mysqld as root", refuses_root, "run it as another user: --user=mysql", "refuses-root"},
    {"Can't change to run as user '{}'", "the user {} does not exist on this machine",
     "name a user that exists (getent passwd lists them)", "unknown-user"},
    {"bad user name {}\n", "the user {} does not exist on this machine",
     "name a user that exists (getent passwd lists them)", "unknown-user"},
    {"bad group name {}\n", "the group {} does not exist on this machine",
     "name a group that exists (getent group lists them)", "unknown-user"},
    {"unknown variable '{}'", "its configuration sets {}, which it does not know",
     "correct the name in its configuration or on the command line, or remove it", "unknown-setting", About::setting},
    {"context \"{}\": context not found", "docker has no context {}", "docker context ls lists them",
     "no-such-context"},
    {"mount: {}: can't find in /etc/fstab", "/etc/fstab does not say what is to be mounted at {}",
     "name the device, too (mount DEVICE DIRECTORY), or add a line to /etc/fstab", "not-configured"},
    {"unknown option '{}'", "its configuration or command line has {}, which it does not know",
     "correct the name, or remove it", "unknown-setting", About::setting},
    {"Can't open and lock privilege tables", "the database was not initialised: it has no system tables",
     "mariadb-install-db --datadir=DIRECTORY", "not-initialised"},
    {"mysql.user' doesn't exist", "the database was not initialised: it has no system tables",
     "mariadb-install-db --datadir=DIRECTORY", "not-initialised"},
    {"Unknown database '{}'", "the database {} does not exist on that server", "create it, or name another",
     "no-such-database", About::server},
    {"unknown interface {}\n", "this machine has no network interface {}", "correct its name (ip link lists them)",
     "no-such-interface"},
    {"Device \"{}\" does not exist", "this machine has no network interface {}",
     "correct its name (ip link lists them)", "no-such-interface"},
    {"Cannot find device \"{}\"", "this machine has no network interface {}", "correct its name (ip link lists them)",
     "no-such-interface"},
    {"error: patch failed: {}\n", "the patch does not fit {}: the file has other lines there than the patch expects",
     "make the patch anew for this version of the file, or try git apply --3way", "patch-does-not-fit"},
    {"Couldn't bind to interface '{}'", "this machine has no network interface {}",
     "correct its name (ip link lists them)", "no-such-interface"},
    {"cannot load certificate \"{}\"", "{} is no certificate that it can read (PEM)",
     "name the right file; openssl x509 -in FILE -noout -text shows one", "not-a-certificate"},
    {"cannot load certificate key \"{}\"", "{} is no private key that it can read (PEM)",
     "name the right file; openssl pkey -in FILE -noout shows one", "not-a-certificate"},
    {"ould not load private key from {}\n", "{} is no private key that it can read", "name the right file",
     "not-a-certificate"},
    {"Could not find private key from {}\n", "{} is no private key that it can read", "name the right file",
     "not-a-certificate"},
    {"bad minute", "a line of the crontab is wrong: its first field, the minute", "correct it, see crontab(5)",
     "configuration-error"},
    {"bad hour", "a line of the crontab is wrong: its second field, the hour", "correct it, see crontab(5)",
     "configuration-error"},
    {"bad day-of-", "a line of the crontab is wrong: a field for the day", "correct it, see crontab(5)",
     "configuration-error"},
    {"bad month", "a line of the crontab is wrong: its fourth field, the month", "correct it, see crontab(5)",
     "configuration-error"},
    {"bad command", "a line of the crontab has no command", "correct it, see crontab(5)", "configuration-error"},
    {"destination must be a directory", "its destination is no directory, and it copies several files",
     "name a directory as the last argument", "file-as-folder"},
    {"Could not find agent library {} on", "the agent library {} is in none of the directories that Java looks in",
     "correct -agentlib, or give its whole path: -agentpath:PATH", "missing-library"},
    {"error: package {} does not exist", "the Java package {} is in no directory and no archive of the class path",
     "javac -cp PATH:ARCHIVE.jar, or correct the import", "missing-module"},
    {"go.mod file not found", "there is no go.mod in this directory or above: go wants a module",
     "go mod init NAME, or run it in the directory of the module", "missing-file"},
    {"cannot find module providing package {}:", "no module of go.mod has the package {}", "go get {}",
     "missing-module"},
    {"no required module provides package {};", "no module of go.mod has the package {}", "go get {}",
     "missing-module"},
    {"could not find `Cargo.toml` in", "there is no Cargo.toml in this directory or above",
     "run it in the directory of the package, or cargo init", "missing-file"},
    {"mount point is not a directory", "the mount point is a file, and this can only be mounted on a directory",
     "name a directory", "file-as-folder"},
    {"could not find requested file:\n\n    {}\n", "the file {}, which CMakeLists.txt includes, does not exist",
     "correct its name, or CMAKE_MODULE_PATH", "missing-file"},
    {"invalid value for parameter \"{}\"", "the value of {} is none that the server takes", "correct it",
     "wrong-value"},
    {"given source\n\n    \"{}\"\n\n  which is not an existing", "the directory {} does not exist",
     "correct the name in CMakeLists.txt, or make the directory", "missing-file"},
    {"given source \"{}\" which is not an existing", "the directory {} does not exist",
     "correct the name in CMakeLists.txt, or make the directory", "missing-file"},
    {"Invalid or corrupt jarfile {}\n", "{} is no Java archive, or a damaged one", "get or build it again",
     "damaged-archive"},
    {"adding an object to repository database {}\n", "it may not write to a directory of the repository below {}",
     "run it as the owner of the repository (ls -ld {} shows who)", "folder-not-writable"},
    {"subsystem request failed on channel", "the server has no sftp subsystem, which scp and sftp need",
     "Subsystem sftp in sshd_config there, or scp -O", "missing-at-other-end"},
    {">>> '{}'\n", "its configuration or command line has a value that it does not take: {}", "correct it",
     "wrong-value"},
    {"error reading information on service", "there is no such service", "correct its name", "no-such-service"},
    {"invalid reference: {}\n", "git knows no branch, tag or commit {}", "git branch -a lists them",
     "no-such-reference"},
    {"(class file version {})", newer_java, update_java, "newer-class-file"},
    {"Unsupported major.minor version {}", newer_java, update_java, "newer-class-file"},
    {"java.lang.OutOfMemoryError: {}", "Java's own memory is used up: {}", "give it more: java -Xmx2g", "heap-used-up"},
    {"JavaScript heap out of memory", "the memory that Node.js may use is used up",
     "give it more: NODE_OPTIONS=--max-old-space-size=4096", "heap-used-up"},
    {"Please tell me who you are", "git does not know who commits: user.name and user.email are not set",
     "git config --global user.email ADDRESS, and user.name NAME", "not-configured"},
    {"no email was given", "git does not know who commits: user.email is not set",
     "git config --global user.email ADDRESS, and user.name NAME", "not-configured"},
    {"no name was given", "git does not know who commits: user.name is not set",
     "git config --global user.name NAME, and user.email ADDRESS", "not-configured"},
    {"appear to contain CMakeLists.txt", "the directory has no CMakeLists.txt", "name the directory of the project",
     "missing-file"},
    {"TERM environment variable not set", "the environment variable TERM is not set", "TERM=xterm-256color",
     "unset-variable"},
    {"No value for $TERM", "the environment variable TERM is not set", "TERM=xterm-256color", "unset-variable"},
    {"'ascii' codec can't encode",
     "its output may be ASCII only (LC_ALL, PYTHONIOENCODING), and it writes other characters",
     "LC_ALL=C.UTF-8, or PYTHONIOENCODING=utf-8", "ascii-only"},
    {"No time zone found with key {}\n", "there is no time zone {}", "correct its name (ls /usr/share/zoneinfo)",
     "no-such-time-zone"},
    {"Unknown or invalid time zone: {}\n", "there is no time zone {}", "correct its name (ls /usr/share/zoneinfo)",
     "no-such-time-zone"},
    {"Could not open a connection to your authentication agent",
     "no ssh-agent can be asked: SSH_AUTH_SOCK is not set, or names none that runs", "eval \"$(ssh-agent)\"; ssh-add",
     "server-not-running"},
    {"init_fs_encoding: failed to get the Python codec",
     "Python does not find its standard library: PYTHONHOME or PYTHONPATH leads elsewhere",
     "unset PYTHONHOME and PYTHONPATH, or set them right", "wrong-variable"},
    {"swapon: {}: read swap header failed", "{} holds no swap area",
     "mkswap {} makes one, if nothing in it is needed (it overwrites the start)", "no-swap-header"},
    {"umount: {}: no mount point specified", "{} is not a mount point: nothing is mounted there",
     "findmnt lists what is mounted", "not-mounted"},
    {"umount: {}: not mounted", "{} is not a mount point: nothing is mounted there", "findmnt lists what is mounted",
     "not-mounted"},
    {"unknown filesystem type '{}'", "the kernel does not know the file system type {}",
     "modprobe {}, or correct the type", "unknown-file-system"},
};

/// Returns the word at `from` that ends before `after`, or with the line; nullopt if there is none.
std::optional<std::string> word_at(const std::string& messages, std::size_t from, std::string_view after) {
  const std::size_t line_end = std::min(messages.find('\n', from), messages.size());
  const std::size_t end = after.empty() ? line_end : messages.find(after, from);
  constexpr std::size_t longest = 200;
  return end == std::string::npos || end > line_end || end == from || end - from > longest
             ? std::nullopt
             : std::optional(messages.substr(from, end - from));
}

/// Returns the word that stands for `{}`; nullopt if the messages do not have the words.
std::optional<std::string> word_in(const std::string& messages, std::string_view words) {
  const std::size_t hole = words.find("{}");
  const std::string_view before = words.substr(0, hole);
  if (hole == std::string_view::npos) {
    return contains(messages, before) ? std::optional(std::string()) : std::nullopt;
  }
  const std::string_view after = words.substr(hole + 2);
  // The last one: a traceback shows the source before the message.
  for (std::size_t at = messages.rfind(before); at != std::string::npos;
       at = at == 0 ? std::string::npos : messages.rfind(before, at - 1)) {
    if (auto word = word_at(messages, at + before.size(), after)) {
      return word;
    }
  }
  return std::nullopt;
}
std::string filled(std::string_view sentence, const std::string& word) {
  std::string text(sentence);
  for (std::size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}", at + word.size())) {
    text.replace(at, 2, word);
  }
  return text;
}

void look_at_clock(const Case& facts, Finding& finding) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) != nullptr && std::strftime(text.data(), text.size(), "%F %R", &parts) != 0) {
    finding.looked_at.push_back("the clock of this machine says " + std::string(text.data()) + " UTC");
  }
  if (const std::string other = environment_value(facts.process, "FAKETIME"); !other.empty()) {
    finding.looked_at.push_back("libfaketime shows it another one (FAKETIME=" + other + ')');
  }
}

/// Returns the file that the program opened last, but for those of the system; empty if there is none.
std::string file_opened_last(const Process& process) {
  const auto at = std::find_if(process.opened.rbegin(), process.opened.rend(), [&](const Opened& one) {
    constexpr std::array<std::string_view, 6> of_system = {"/etc/", "/proc/", "/sys/", "/dev/", "/usr/", "/lib"};
    return one.order >= process.last_exec &&
           std::none_of(of_system.begin(), of_system.end(), [&](auto part) { return one.path.starts_with(part); });
  });
  return at == process.opened.rend() ? std::string() : at->path;
}

/// Appends what the user sees of the words of all descendants of the process.
void append_words_of_children(const Story& story, const Process& process, std::string& words) {
  constexpr std::size_t max_words = 65536;
  std::multimap<pid_t, const Process*> children;
  for (const auto& [pid, child] : story.processes()) {
    if (pid > child.parent) {
      children.emplace(child.parent, &child);
    }
  }
  std::vector<const Process*> rest;  // the next one last; a chain of processes may be longer than a stack is deep
  const auto add_children_of = [&](const Process& parent) {
    const auto [first, end] = children.equal_range(parent.pid);
    const std::size_t before = rest.size();
    std::for_each(first, end, [&](const auto& entry) { rest.push_back(entry.second); });
    std::reverse(rest.begin() + static_cast<std::ptrdiff_t>(before), rest.end());
  };
  add_children_of(process);
  while (!rest.empty() && words.size() <= max_words) {
    const Process& child = *rest.back();
    rest.pop_back();
    for (const Step& step : child.steps) {
      words += step.kind == Step::Kind::message && !step.is_hidden ? step.text : std::string();
    }
    add_children_of(child);
  }
}

/// What ssh prints comes from the shell at the other end, if its status is that of a shell that found no command.
std::optional<Finding> missing_at_other_end(const Case& facts, const std::string& words) {
  constexpr int not_found = 127;
  const auto is_ssh = [](const Process& process) {
    return process.name() == "ssh" && process.exit && !process.exit->by_signal;
  };
  const bool by_itself = is_ssh(facts.process) && facts.process.exit->status == not_found;
  const bool by_child = std::any_of(facts.story.processes().begin(), facts.story.processes().end(),
                                    [&](const auto& entry) { return entry.second.name() == "ssh"; });
  std::string name;
  for (const std::string_view end : {": command not found", ": not found", ": No such file or directory"}) {
    const std::string line = line_with(words, end);
    name = name.empty() && contains(line, "sh: ") ? word_before(line, end) : name;
  }
  if (name.empty() || !(by_itself || by_child)) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "missing-at-other-end";
  finding.cause = "the command " + name + " does not exist at the other end";
  finding.remedy = "install it there, or correct its name";
  return finding;
}

bool has_argument(const Process& process, const std::string& wanted) {
  const auto words = process.words();
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return word.starts_with(wanted); });
}

/// True if the process was refused a file: it calls some files damaged that it could not read.
bool was_refused(const Process& process) {
  return std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::failure && step.order >= process.last_exec && step.call.error == "EACCES" &&
           step.call.name.starts_with("open");
  });
}

/// True if the word stands in the command line or in a configuration file that the program has read.
bool is_set_up(const Case& facts, const std::string& word) {
  const auto words = facts.process.words();
  return std::any_of(
             words.begin(), words.end(),
             [&](const std::string& one) { return one.find(' ') == std::string::npos && is_named(word, one); }) ||
         std::any_of(facts.process.opened.begin(), facts.process.opened.end(), [&](const Opened& one) {
           return one.order >= facts.process.last_exec && is_configuration_name(one.path) &&
                  ConfigurationText(facts.prober, one.path).line_with_value(word.substr(0, word.find('='))) != 0;
         });
}

/// True if the process, or one that descends from it, has connected to a server.
bool has_connected(const Story& story, const Process& process) {
  const auto connects = [](const Step& step) {
    return step.call.name == "connect" && (step.kind == Step::Kind::other || step.call.error == "EINPROGRESS");
  };
  return std::any_of(story.processes().begin(), story.processes().end(), [&](const auto& entry) {
    const Process& one = entry.second;
    return one.pid >= process.pid && std::any_of(one.steps.begin(), one.steps.end(), connects);
  });
}

/// True if what the saying is about is there.
bool applies(const Case& facts, const Saying& one, const std::string& word) {
  return (one.about != About::setting || is_set_up(facts, word)) &&
         (one.about != About::server || has_connected(facts.story, facts.process));
}

std::optional<Finding> saying(const Case& facts) {
  std::string words = facts.messages;
  append_words_of_children(facts.story, facts.process, words);
  if (auto finding = missing_at_other_end(facts, words)) {
    return finding;
  }
  for (const Saying& one : sayings) {
    auto word = word_in(words, one.words);
    if (!word || !applies(facts, one, *word)) {
      continue;
    }
    word = without_secrets(*word);
    if (one.rule == "unknown-setting" && word->starts_with('-') && has_argument(facts.process, *word)) {
      continue;  // its own words say what is wrong with the command line
    }
    Finding finding;
    finding.rule = one.rule;
    finding.cause = filled(one.cause, *word);
    finding.remedy = filled(one.remedy, word->empty() ? *word : shell_word(escape_unprintable(*word)));
    // A call that was refused, or the line of a configuration file, says more.
    const bool is_general = is_listed(one.rule, "needs-root wrong-value unknown-setting missing-key") ||
                            (is_listed(one.rule, "damaged-database not-a-certificate") && was_refused(facts.process));
    finding.weight = is_general ? -50 : 0;
    if (one.about == About::file) {
      const std::string file = file_opened_last(facts.process);
      finding.cause = (file.empty() ? "the file" : file) + ' ' + finding.cause;
    }
    if (one.about == About::clock) {
      look_at_clock(facts, finding);
    }
    return finding;
  }
  return std::nullopt;
}

constexpr Rule sayings_table[] = {
    {"saying", 85, "", "", "", "exit", saying},
};

}  // namespace

std::span<const Rule> saying_rules() {
  return sayings_table;
}

}  // namespace tracer::explain::rules
