import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { openSqlite } from '#stores';
import { counted } from '#views';
import { EXIT } from '../errors.ts';
import { withSharedOptions } from '../files/options.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { requireFilePath, requireSqlite, requireSqlitePath } from '../store/sqlite-store.ts';
import { line } from '../terminal/printable.ts';

export function backup(program: Command): void {
  withSharedOptions(
    program
      .command('backup')
      .description('copy a SQLite store as of one moment into a new file, while processes write to it')
      .argument('<file>', 'path of the new file'),
  )
    .addHelpText(
      'after',
      'The file has its name only when it is complete. The keys, anchors and checkpoints next to the store are not copied.\n' +
        'PostgreSQL: use pg_dump, as docs/guide/backups.md describes.',
    )
    .action(
      inSession(({ json, out, storeUrl, withStore }, _options: SharedOptions, file: string) => {
        requireSqlitePath(storeUrl, 'backup');
        requireFilePath(file, 'backup');
        return withStore(
          'readonly',
          async (store) => {
            await requireSqlite(store, 'backup').copyInto(file);
            const said = { file, bytes: statSync(file).size, entries: await entriesIn(file) };
            if (json) out.document(said);
            else out.line(line`${file}: ${counted(said.entries, 'entry')}, ${counted(said.bytes, 'byte')}`);
            return EXIT.ok;
          },
          { checkpoint: false },
        );
      }),
    );
}

async function entriesIn(path: string): Promise<number> {
  const copy = await openSqlite({ path, mode: 'readonly' });
  try {
    return (await copy.trajectories()).reduce((sum, { entries }) => sum + entries, 0);
  } finally {
    await copy.close();
  }
}
