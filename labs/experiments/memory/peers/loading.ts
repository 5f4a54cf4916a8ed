import dns from 'node:dns';
import { createRequire, registerHooks } from 'node:module';
import { isIP } from 'node:net';
import { join } from 'node:path';

/**
 * Loads an installed library of a folder into this process. Node's SQLite replaces the SQLite
 * driver. If `stands` is true, a stub replaces an absent library. From then on no host name is
 * resolved, so only this machine is reached.
 */
export function load(folder: string, name: string, stands: boolean): any {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === 'better-sqlite3')
        return { url: beside('sqlite-driver'), shortCircuit: true };
      try {
        return next(specifier, context);
      } catch (error) {
        if (!stands || (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
        return { url: beside('absent'), shortCircuit: true };
      }
    },
  });
  const lookup = dns.lookup as (name: string, ...rest: unknown[]) => void;
  const addressesOnly: typeof lookup = (name, ...rest) => {
    if (isIP(name) === 0) throw new Error(`${name} is not resolved: peers run without a network.`);
    lookup(name, ...rest);
  };
  dns.lookup = addressesOnly as typeof dns.lookup;
  return createRequire(join(folder, 'package.json'))(name);
}

/** A module of this folder: a source in the repository, JavaScript in the package. */
export function beside(name: string): string {
  return new URL(
    `./${name}${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`,
    import.meta.url,
  ).href;
}
