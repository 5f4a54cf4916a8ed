import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const git = (...args: string[]): string =>
  execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/**
 * The seed of the properties. Without local changes it derives from the committed tree: each commit
 * tries its own cases, and a result repeats wherever that commit is checked out. Otherwise it is
 * random. `ASSIZE_SEED` overrides it.
 */
export default function seedProperties(): void {
  const seed =
    process.env['ASSIZE_SEED'] ?? String(seedOfTree() ?? Math.floor(Math.random() * 2 ** 31));
  if (!/^-?\d{1,10}$/.test(seed))
    throw new Error(`ASSIZE_SEED is a whole number, not ${JSON.stringify(seed)}.`);
  process.env['ASSIZE_SEED'] = seed;
  console.log(`The seed of properties is ${seed} (ASSIZE_SEED).`);
}

function seedOfTree(): number | undefined {
  try {
    if (git('status', '--porcelain', '--untracked-files=no') !== '') return undefined;
    return Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 7), 16);
  } catch {
    // No repository, or no git: an archive of the sources is tested as well.
    return undefined;
  }
}
