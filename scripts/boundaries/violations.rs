// Forbidden calls. `scripts/check_boundaries.py` copies this file into a copy of `src/checks/` and
// requires that clippy refuses each line that begins with `let _`. The project itself never
// compiles this file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;

#[rustfmt::skip]
pub(super) fn files(p: &Path, file: &File, builder: &DirBuilder) {
    let _ = std::fs::read(p);
    let _ = std::fs::read_to_string(p);
    let _ = std::fs::read_dir(p);
    let _ = std::fs::read_link(p);
    let _ = std::fs::canonicalize(p);
    let _ = std::fs::metadata(p);
    let _ = std::fs::symlink_metadata(p);
    let _ = std::fs::exists(p);
    let _ = File::open(p);
    let _ = File::options();
    let _ = OpenOptions::new();
    let _ = |options: &OpenOptions| options.open(p).is_ok();
    let _ = p.exists();
    let _ = p.try_exists();
    let _ = p.is_file();
    let _ = p.is_dir();
    let _ = p.is_symlink();
    let _ = p.metadata();
    let _ = p.symlink_metadata();
    let _ = p.canonicalize();
    let _ = p.read_link();
    let _ = p.read_dir();
    let _ = p.to_path_buf().exists();
    let _ = [p].map(Path::exists);
    let _ = std::path::absolute(p);
    let _ = walkdir::WalkDir::new(p);

    let _ = std::fs::write(p, "");
    let _ = std::fs::copy(p, p);
    let _ = std::fs::rename(p, p);
    let _ = std::fs::hard_link(p, p);
    let _ = std::fs::remove_file(p);
    let _ = std::fs::remove_dir(p);
    let _ = std::fs::remove_dir_all(p);
    let _ = std::fs::create_dir(p);
    let _ = std::fs::create_dir_all(p);
    let _ = |mode| std::fs::set_permissions(p, mode).is_ok();
    let _ = DirBuilder::new();
    let _ = builder.create(p);
    let _ = File::create(p);
    let _ = File::create_new(p);
    let _ = file.set_len(0);
    let _ = |mode| file.set_permissions(mode).is_ok();
    let _ = |time| file.set_modified(time).is_ok();
    let _ = |times| file.set_times(times).is_ok();
    let _ = std::os::unix::fs::symlink(p, p);
    let _ = std::os::unix::fs::chown(p, None, None);
    let _ = std::os::unix::fs::lchown(p, None, None);
    let _ = std::os::unix::fs::fchown(file, None, None);
    let _ = std::os::unix::fs::chroot(p);
    let _ = tempfile::tempfile();
    let _ = tempfile::tempfile_in(p);
    let _ = tempfile::tempdir();
    let _ = tempfile::tempdir_in(p);
    let _ = tempfile::spooled_tempfile(1);
    let _ = tempfile::TempDir::new();
    let _ = tempfile::TempDir::new_in(p);
    let _ = tempfile::NamedTempFile::new();
    let _ = tempfile::NamedTempFile::new_in(p);
    let _ = tempfile::Builder::default().tempfile();
    let _ = tempfile::Builder::default().tempfile_in(p);
    let _ = tempfile::Builder::default().tempdir();
    let _ = tempfile::Builder::default().tempdir_in(p);
}

#[rustfmt::skip]
pub(super) fn system_calls(p: &Path, file: &File) {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
    let _ = rustix::fs::open(p, OFlags::RDONLY, Mode::empty());
    let _ = rustix::fs::openat(CWD, p, OFlags::RDONLY, Mode::empty());
    let _ = rustix::fs::openat2(CWD, p, OFlags::RDONLY, Mode::empty(), ResolveFlags::empty());
    let _ = rustix::fs::readlink(p, Vec::new());
    let _ = rustix::fs::readlinkat(CWD, p, Vec::new());
    let _ = rustix::fs::stat(p);
    let _ = rustix::fs::lstat(p);
    let _ = rustix::fs::statat(CWD, p, AtFlags::empty());
    let _ = rustix::fs::statx(CWD, p, AtFlags::empty(), rustix::fs::StatxFlags::ALL);
    let _ = rustix::fs::access(p, rustix::fs::Access::EXISTS);
    let _ = rustix::fs::accessat(CWD, p, rustix::fs::Access::EXISTS, AtFlags::empty());
    let _ = rustix::fs::statfs(p);
    let _ = rustix::fs::statvfs(p);
    let _ = |fd: std::os::fd::OwnedFd| rustix::fs::Dir::new(fd).is_ok();
    let _ = rustix::fs::Dir::read_from(file);
    let _ = rustix::fs::mkdir(p, Mode::empty());
    let _ = rustix::fs::mkdirat(CWD, p, Mode::empty());
    let _ = rustix::fs::mknodat(CWD, p, FileType::Fifo, Mode::empty(), 0);
    let _ = rustix::fs::rename(p, p);
    let _ = rustix::fs::renameat(CWD, p, CWD, p);
    let _ = rustix::fs::renameat_with(CWD, p, CWD, p, rustix::fs::RenameFlags::empty());
    let _ = rustix::fs::unlink(p);
    let _ = rustix::fs::unlinkat(CWD, p, AtFlags::empty());
    let _ = rustix::fs::rmdir(p);
    let _ = rustix::fs::link(p, p);
    let _ = rustix::fs::linkat(CWD, p, CWD, p, AtFlags::empty());
    let _ = rustix::fs::symlink(p, p);
    let _ = rustix::fs::symlinkat(p, CWD, p);
    let _ = rustix::fs::chmod(p, Mode::empty());
    let _ = rustix::fs::chmodat(CWD, p, Mode::empty(), AtFlags::empty());
    let _ = rustix::fs::chown(p, None, None);
    let _ = rustix::fs::chownat(CWD, p, None, None, AtFlags::empty());
    let _ = rustix::process::getuid();
    let _ = rustix::process::geteuid();
    let _ = rustix::process::getgid();
    let _ = rustix::process::getegid();
    let _ = rustix::process::getgroups();
    let _ = rustix::process::getcwd(Vec::new());
    let _ = rustix::process::chdir(p);
    let _ = rustix::process::fchdir(file);
    let _ = rustix::system::uname();
    let _ = sysinfo::System::new();
    let _ = sysinfo::System::new_all();
    let _ = sysinfo::System::new_with_specifics(sysinfo::RefreshKind::nothing());
    let _ = sysinfo::System::name();
    let _ = sysinfo::System::host_name();
    let _ = sysinfo::System::kernel_version();
    let _ = sysinfo::System::os_version();
    let _ = sysinfo::System::long_os_version();
    let _ = sysinfo::System::cpu_arch();
}

#[rustfmt::skip]
pub(super) fn process(p: &Path) {
    let _ = std::env::var("HOME");
    let _ = std::env::var_os("HOME");
    let _ = std::env::vars();
    let _ = std::env::vars_os();
    let _ = || unsafe { std::env::set_var("A", "B") };
    let _ = || unsafe { std::env::remove_var("A") };
    let _ = std::env::current_dir();
    let _ = std::env::set_current_dir(p);
    let _ = std::env::current_exe();
    let _ = std::env::home_dir();
    let _ = std::env::temp_dir();
    let _ = std::env::args();
    let _ = std::env::args_os();
    let _ = std::process::Command::new("ls");
    let _ = || std::thread::spawn(|| ());
    let _ = || std::thread::scope(|scope| _ = scope.spawn(|| ()));
    let _ = std::process::id();
    let _ = || std::process::exit(0);
    let _ = || std::process::abort();
}

#[rustfmt::skip]
pub(super) fn network(p: &Path) {
    let _ = TcpStream::connect("[::1]:80");
    let _ = |at| TcpStream::connect_timeout(&at, std::time::Duration::from_secs(1)).is_ok();
    let _ = TcpListener::bind("[::1]:80");
    let _ = UdpSocket::bind("[::1]:80");
    let _ = "localhost:80".to_socket_addrs();
    let _ = UnixStream::connect(p);
    let _ = |at| UnixStream::connect_addr(at).is_ok();
    let _ = UnixStream::pair();
    let _ = UnixListener::bind(p);
    let _ = |at| UnixListener::bind_addr(at).is_ok();
    let _ = UnixDatagram::bind(p);
    let _ = |at| UnixDatagram::bind_addr(at).is_ok();
    let _ = UnixDatagram::unbound();
    let _ = UnixDatagram::pair();
}

#[rustfmt::skip]
pub(super) fn doors(p: &Path) {
    let _ = machine::sysroot::Sysroot::live();
    let _ = machine::sysroot::Sysroot::tree(p);
    let _ = machine::sysroot::Sysroot::of_process(1);
    let _ = std::io::stdin();
    let _ = std::io::stdout();
    let _ = std::io::stderr();
    let _ = anstream::stdout();
    let _ = anstream::stderr();
    let _ = indicatif::ProgressBar::new(1);
    let _ = indicatif::ProgressBar::new_spinner();
    let _ = indicatif::ProgressBar::no_length();
    let _ = |target| indicatif::ProgressBar::with_draw_target(None, target);
    let _ = || print!("x");
    let _ = || println!("x");
    let _ = || eprint!("x");
    let _ = || eprintln!("x");
    let _ = dbg!(1);
    let _ = |pointer: *const u8| unsafe { *pointer };
}
