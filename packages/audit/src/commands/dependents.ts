import {
  bold,
  dim,
  ENTRY_HELP,
  EXIT,
  entryNamed,
  inSession,
  line,
  type Output,
  readingAssize,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import type { DependentEntry } from 'assize/internal/runtime';
import { shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';

export function dependents(program: Command): void {
  withSharedOptions(
    program
      .command('dependents')
      .description('list the entries that depend on an entry, through facts or recalls')
      .argument('<entry>', ENTRY_HELP),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize blast dependents 1f0c8a77\n  assize blast dependents 1f0c8a77 --json\n\n' +
        'belief: the entry states a fact that the entry above it also states. recall: the entry used a recall of such facts.\n' +
        'The command reads the whole store and needs no domain. It cannot find an entry by an erased recall.',
    )
    .action(
      inSession(({ json, out, withStore }, _options: SharedOptions, text: string) =>
        withStore('readonly', async (store) => {
          const { id, trajectory_id, seq } = await entryNamed(store, text);
          const found = await readingAssize(store).dependents(id);
          if (json)
            out.document({
              entry_id: id,
              dependents: found.map(({ trajectoryId, ...entry }) => ({
                trajectory_id: trajectoryId,
                ...entry,
              })),
            });
          else {
            out.line(line`${bold(shortId(id))} ${trajectory_id} seq ${seq}`);
            if (found.length === 0) out.line(line`  no dependent entries`);
            printTree(out, id, found);
          }
          return EXIT.ok;
        }),
      ),
    );
}

/** Below each fact its direct derivations. A fact with several sources is shown in full once. */
function printTree(out: Output, root: string, found: readonly DependentEntry[]): void {
  const below = new Map<string, DependentEntry[]>();
  for (const entry of found)
    for (const from of entry.from) below.set(from, [...(below.get(from) ?? []), entry]);
  const shown = new Set<string>();
  const levels: { readonly entries: DependentEntry[] }[] = [
    { entries: [...(below.get(root) ?? [])] },
  ];
  // Not recursive: a chain of facts may be as long as the ledger.
  while (levels.length > 0) {
    const entry = levels.at(-1)!.entries.shift();
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const { id, trajectoryId, seq, at, action, how } = entry;
    const indent = '  '.repeat(levels.length);
    const isShown = shown.has(id);
    out.line(
      line`${indent}${bold(shortId(id))} ${trajectoryId} seq ${seq} ${action} ${dim(shortTime(at))} ${how.join(', ')}${isShown ? dim(' (above)') : ''}`,
    );
    if (isShown) continue;
    shown.add(id);
    levels.push({ entries: [...(below.get(id) ?? [])] });
  }
}
