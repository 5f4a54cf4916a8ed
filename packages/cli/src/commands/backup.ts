import { statSync } from 'node:fs';
import {
  EXIT,
  inSession,
  line,
  type SharedOptions,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { openSqlite } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { requireFilePath, requireSqlite, requireSqlitePath } from '../store/sqlite-store.ts';

export function backup(program: Command): void {
  withSharedOptions(
    program
      .command('backup')
      .description(
        'copy a SQLite store as of one moment into a new file, while processes write to it',
      )
      .argument('<file>', 'path of the new file'),
  )
    .addHelpText(
      'after',
      'The file has its name only when it is complete. The keys, anchors, checkpoints and the archive next to the store are not copied.\n' +
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
            const { entries, archived } = await contentOf(file);
            const said = {
              file,
              bytes: statSync(file).size,
              entries,
              ...(archived !== undefined && { archived }),
            };
            if (json) out.document(said);
            else
              out.line(line`${file}: ${counted(entries, 'entry')}, ${counted(said.bytes, 'byte')}`);
            if (!json && archived !== undefined)
              out.line(
                yellow(
                  line`The texts of its first ${counted(archived.entries, 'entry')} are in ${archived.archive}: back that up as well.`,
                ),
              );
            return EXIT.ok;
          },
          { checkpoint: false },
        );
      }),
    );
}

/** The entries of a copy, and those of them whose texts are in the store's archive. */
interface Content {
  readonly entries: number;
  readonly archived: { readonly entries: number; readonly archive: string } | undefined;
}

async function contentOf(path: string): Promise<Content> {
  const copy = await openSqlite({ path, mode: 'readonly' });
  try {
    const entries = (await copy.trajectories()).reduce((sum, info) => sum + info.entries, 0);
    const state = await copy.archiveState();
    const archived = state && { entries: state.segments * 2 ** state.level, archive: state.place };
    return { entries, archived: archived?.entries === 0 ? undefined : archived };
  } finally {
    await copy.close();
  }
}
