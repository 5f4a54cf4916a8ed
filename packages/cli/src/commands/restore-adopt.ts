import {
  CliError,
  EXIT,
  inSession,
  line,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { wasImported } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import type { Command } from 'commander';

interface AdoptOptions extends SharedOptions {
  readonly reason: string;
}

export function adopt(program: Command): void {
  withSharedOptions(
    program
      .command('adopt')
      .description(
        'let a copied store, or imported trajectories, call tools in place of the original',
      )
      .argument('[trajectories...]', 'imported trajectories (default: the whole store, as a copy)')
      .requiredOption('--reason <text>', 'reason, such as the end of the original'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize restore adopt --reason "restored after a disk failure"\n  assize restore adopt orders --reason "moved from the old server"\n\n' +
        'Retire the original first (assize restore retire): two stores with the same entries make the same calls.\n' +
        'A file that was moved within its file system is not a copy.',
    )
    .action(
      inSession(
        ({ json, out, withStore }, { reason }: AdoptOptions, trajectories: readonly string[]) =>
          withStore('existing', async (store) => {
            const adoption = { at: systemClock.now(), reason };
            if (trajectories.length > 0) {
              await store.adopt({ ...adoption, roots: await importedRoots(store, trajectories) });
              if (json) out.document({ ...adoption, trajectories });
              else
                out.line(
                  line`Adopted: this store calls the tools of ${trajectories.join(', ')} from now on.`,
                );
              return EXIT.ok;
            }
            const wasCopied = await isCopied(store);
            if (wasCopied) {
              await store.adopt(adoption);
              // A file with a second name is refused even now.
              await raiseLease(store);
            }
            const idle = await idleTrajectories(store);
            if (json) {
              out.document({
                ...adoption,
                trajectories,
                adopted: wasCopied,
                imported_without_tools: idle,
              });
              return EXIT.ok;
            }
            if (wasCopied) out.line(line`Adopted: this store calls tools from now on.`);
            else out.line(line`This store is in its place. It needs no adoption.`);
            for (const name of idle)
              out.line(
                line`The imported trajectory ${name} still calls none: assize restore adopt ${name}`,
              );
            return EXIT.ok;
          }),
      ),
    );
}

/** The first entries of imported trajectories. */
async function importedRoots(store: Store, trajectories: readonly string[]): Promise<string[]> {
  const roots: string[] = [];
  for (const name of trajectories) {
    const [first] = await store.entries(name, { limit: 1 });
    if (first === undefined)
      throw new CliError(
        'not_found',
        `The store has no trajectory ${name}. List them with assize log.`,
      );
    if (!(await wasImported(store, first.id)))
      throw new CliError('usage', `The trajectory ${name} was not imported. It needs no adoption.`);
    roots.push(first.id);
  }
  return roots;
}

/** The imported trajectories that the store has not adopted. */
async function idleTrajectories(store: Store): Promise<string[]> {
  const idle: string[] = [];
  for (const { trajectory_id } of await store.trajectories()) {
    const [first] = await store.entries(trajectory_id, { limit: 1 });
    if (
      first !== undefined &&
      (await wasImported(store, first.id)) &&
      !(await store.adopted(first.id))
    )
      idle.push(trajectory_id);
  }
  return idle;
}

async function isCopied(store: Store): Promise<boolean> {
  try {
    await raiseLease(store);
    return false;
  } catch (error) {
    if (isAssizeError(error, 'store_copied')) return true;
    throw error;
  }
}

/** Time for another process to hand over the lease. The store of its holder is in its place. */
const PATIENCE_MS = 2_000;

/** Takes the lease of the effect log for a moment. A store that is a copy refuses this. */
async function raiseLease(store: Store): Promise<void> {
  const waiting = AbortSignal.timeout(PATIENCE_MS);
  try {
    await (await store.leaseEffects(waiting)).release();
  } catch (error) {
    if (!waiting.aborted || isAssizeError(error, 'store_copied')) throw error;
  }
}
